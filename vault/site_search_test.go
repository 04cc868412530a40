package vault_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"

	"kb/internal/vaulttest"
	"kb/note"
	"kb/vault"
)

// answer is what one side finds: notes, by the bytes they are, with their scores.
type answer []scored

type scored struct {
	Blob  string
	Score float64
}

// many is how many queries are asked: all when there is time.
func many(all int) int {
	if os.Getenv("KB_LONG") != "" {
		return all
	}
	return all / 10
}

// A site's search, which runs in the reader's browser on the site's files, finds
// the notes that the vault's own search finds, with the same scores to the bit.
func TestSiteSearch(t *testing.T) {
	dir := vaulttest.Repo(t, manyScripts)
	compareSearch(t, dir, slices.Concat(handmade, queriesOf(notesIn(t, dir), 300)))
}

func TestSiteSearchVaults(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "rfcs")
	vaulttest.Git(t, ".", "clone", "-q", vaulttest.Shared(t, "data/vaults/rust-rfcs.bundle"), dir)
	compareSearch(t, dir, queriesOf(notesIn(t, dir), many(2000)))
}

func TestSiteSearchLanguages(t *testing.T) {
	data := vaulttest.Shared(t, "data/ir/xquad")
	for _, language := range []string{"en", "zh", "de", "ru", "th"} {
		t.Run(language, func(t *testing.T) {
			dir := vaulttest.Repo(t, "")
			own := language
			if own == "zh" || own == "th" {
				own = "en"
			}
			vaulttest.Write(t, dir, "kb.yaml", "language: "+own+"\ncollections: [{name: notes, path: .}]\n")
			for _, d := range readLines(t, filepath.Join(data, language, "corpus.jsonl.gz")) {
				vaulttest.Write(t, dir, d.ID+".md", "# "+d.Title+"\n\n"+d.Text+"\n")
			}
			vaulttest.Commit(t, dir, "2024-01-01", "notes")
			var asked []string
			for _, q := range readLines(t, filepath.Join(data, language, "queries.jsonl.gz")) {
				asked = append(asked, q.Text)
			}
			compareSearch(t, dir, slices.Concat(asked[:many(len(asked))], queriesOf(notesIn(t, dir), many(800))))
		})
	}
}

type line struct {
	ID    string `json:"_id"`
	Title string `json:"title"`
	Text  string `json:"text"`
}

func readLines(t *testing.T, file string) (out []line) {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	for dec := json.NewDecoder(z); ; {
		var l line
		if err := dec.Decode(&l); err == io.EOF {
			return out
		} else if err != nil {
			t.Fatal(err)
		}
		out = append(out, l)
	}
}

// compareSearch builds the site of s and asks both sides.
func compareSearch(t *testing.T, dir string, queries []string) {
	t.Helper()
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("no node: a site's search cannot be run")
	}
	ctx, out := context.Background(), filepath.Join(t.TempDir(), "site")
	v := openVault(t, dir)
	if _, err := v.SiteBuild(ctx, vault.SiteBuildParams{Out: out}); err != nil {
		t.Fatal(err)
	}
	got := siteAnswers(t, node, dir, out, queries)
	wrong := 0
	for i, q := range queries {
		want := serverAnswer(t, v, q)
		if slices.Equal(got[i], want) {
			continue
		}
		if wrong++; wrong <= 20 {
			t.Errorf("%q:\nsite  %v\nvault %v", q, got[i], want)
		}
	}
	t.Logf("%d of %d queries answered otherwise", wrong, len(queries))
}

func openVault(t *testing.T, dir string) *vault.Vault {
	t.Helper()
	cfg, err := vault.LoadConfig(vault.Locate{Dir: dir, CacheDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	store, err := vault.OpenStore(t.TempDir(), t.Logf)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	v, err := vault.Open(cfg, store, vault.Person)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func serverAnswer(t *testing.T, v *vault.Vault, query string) (a answer) {
	t.Helper()
	r, err := v.Search(context.Background(), vault.SearchParams{Query: query, Mode: "text", MaxResults: 10, MaxTokens: 1 << 20})
	if err != nil {
		t.Fatalf("%q: %v", query, err)
	}
	for _, h := range r.Results {
		a = append(a, scored{h.Blob, h.Score})
	}
	return a
}

// siteAnswers asks the site in out, which was made of a vault.
func siteAnswers(t *testing.T, node, vaultDir, out string, queries []string) []answer {
	t.Helper()
	var in, stderr bytes.Buffer
	for _, q := range queries {
		raw, err := json.Marshal(q)
		if err != nil {
			t.Fatal(err)
		}
		in.Write(append(raw, '\n'))
	}
	cmd := exec.Command(node, filepath.Join("..", "site", "testdata", "search.js"), out)
	cmd.Stdin, cmd.Stderr = &in, &stderr
	raw, err := cmd.Output()
	if err != nil {
		t.Fatalf("node: %v\n%s", err, &stderr)
	}
	blobs, sources := blobsIn(t, vaultDir), sourcesIn(t, out)
	var answers []answer
	for l := range bytes.Lines(raw) {
		var found []struct {
			Note  int
			Page  string
			Score float64
		}
		if err := json.Unmarshal(l, &found); err != nil {
			t.Fatalf("%s: %v", l, err)
		}
		var a answer
		for _, f := range found {
			a = append(a, scored{blobs[f.Note], f.Score})
			source := sources[strings.TrimSuffix(f.Page, ".html")]
			if source != blobs[f.Note] && slices.Contains(blobs, source) {
				t.Fatalf("the row of note %d leads to %s, which is another's page", f.Note, f.Page)
			}
		}
		answers = append(answers, a)
	}
	if len(answers) != len(queries) {
		t.Fatalf("%d answers to %d queries\n%s", len(answers), len(queries), &stderr)
	}
	return answers
}

// blobsIn returns the distinct notes of a vault in the order of their first paths.
func blobsIn(t *testing.T, dir string) (blobs []string) {
	t.Helper()
	files := map[string]string{}
	for name, raw := range markdownIn(t, dir) {
		files[name] = note.Hash(raw).String()
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if !slices.Contains(blobs, files[name]) {
			blobs = append(blobs, files[name])
		}
	}
	return blobs
}

// sourcesIn returns which note each page of a site is of, by the source beside it,
// unless that lacks a comment of the note.
func sourcesIn(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	for name, raw := range markdownIn(t, dir) {
		out[strings.TrimSuffix(name, ".md")] = note.Hash(raw).String()
	}
	return out
}

// markdownIn reads the Markdown files below dir.
func markdownIn(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	out := map[string][]byte{}
	err := filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(name, ".md") {
			return err
		}
		raw, err := os.ReadFile(name)
		rel, _ := filepath.Rel(dir, name)
		out[filepath.ToSlash(rel)] = raw
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// notesIn returns the texts of the vault's notes, by path.
func notesIn(t *testing.T, dir string) (texts []string) {
	files := markdownIn(t, dir)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		texts = append(texts, string(files[name]))
	}
	return texts
}

// queriesOf makes n queries of the words of notes, in every form there is.
func queriesOf(texts []string, n int) (queries []string) {
	r := rand.New(rand.NewPCG(1, 2))
	for len(queries) < n {
		text := texts[r.IntN(len(texts))]
		words := strings.Fields(text)
		if len(words) == 0 {
			continue
		}
		some := func(n int) []string {
			from := r.IntN(len(words))
			return words[from:min(from+n, len(words))]
		}
		one := func() string { return window(r, some(1)[0]) }
		run := strings.Join(some(1+r.IntN(5)), " ")
		field := []string{"title", "heading", "body", "tag", "path", "name", "alias", "meta"}[r.IntN(8)]
		forms := []func() string{
			func() string { return heading(r, text) },
			func() string { return one() },
			func() string { return run },
			func() string { return typo(r, one()) },
			func() string { return one() + " " + typo(r, one()) },
			func() string { return run + " " + beginning(r, one()) },
			func() string { return `"` + strings.ReplaceAll(run, `"`, "") + `"` },
			func() string { return one() + ` "` + strings.Join(some(2), " ") + `"` },
			func() string { return field + ":" + one() + " " + one() },
			func() string { return field + `:"` + run + `"` },
			func() string { return "+" + one() + " -" + one() + " " + one() },
			func() string { return one() + " AND " + one() + " OR " + one() },
			func() string { return "(" + run + ") NOT " + one() },
			func() string { return beginning(r, one()) + "*" },
			func() string { return "tag:" + one() },
			func() string { return strings.ToUpper(run) },
		}
		queries = append(queries, strings.ToValidUTF8(forms[r.IntN(len(forms))](), ""))
	}
	return queries
}

// window is a word, or a part of what has no spaces.
func window(r *rand.Rand, word string) string {
	rs := []rune(word)
	if len(rs) < 20 {
		return word
	}
	from := r.IntN(len(rs) - 8)
	return string(rs[from : from+1+r.IntN(8)])
}

func heading(r *rand.Rand, text string) string {
	var all []string
	for l := range strings.Lines(text) {
		if h := strings.TrimLeft(l, "#"); h != l {
			all = append(all, strings.TrimSpace(h))
		}
	}
	if len(all) == 0 {
		return strings.TrimSpace(text[:min(30, len(text))])
	}
	return all[r.IntN(len(all))]
}

func beginning(r *rand.Rand, word string) string {
	rs := []rune(word)
	return string(rs[:1+r.IntN(len(rs))])
}

// typo changes one character of a word, or two of a long one.
func typo(r *rand.Rand, word string) string {
	rs := []rune(word)
	for range 1 + len(rs)/10 {
		if len(rs) < 2 || !unicode.IsLetter(rs[0]) {
			break
		}
		i := 1 + r.IntN(len(rs)-1)
		switch r.IntN(4) {
		case 0:
			rs = slices.Delete(rs, i, i+1)
		case 1:
			rs = slices.Insert(rs, i, rs[r.IntN(len(rs))])
		case 2:
			rs[i] = rs[r.IntN(len(rs))]
		default:
			rs[i-1], rs[i] = rs[i], rs[i-1]
		}
	}
	return string(rs)
}

var handmade = []string{
	"", " ", "+", "-", "()", `"`, `""`, "NOT", "a AND", "((((", "retry)", "-retry", "tag:", "tag:#howto", "tag:howto/net/", "TAG:Howto",
	"C++", "c#", "fooBar", "HTTPServer", "foo-bar", "foo_bar", "foobar", "std::vector", "2024-01-31", "1,000", "1000",
	"wi-fi's", "don't", "don’t", "rock'n'roll", "naïve CAFÉ", "STRASSE", "ＦＵＬＬ", "sof\u00adt", "zero\u200bwidth",
	"title:retry body:quota", `name:"retry policy"`, `"retry policy"`, `"policy retry"`, "retr*", "the retry of the", "the of", "of the a*",
	"\u00a0retry\u3000policy", "\ufeffretry", "retry\x00policy", "retry\u0085policy", "retry AND (quota OR burst) NOT limits",
	"東京", "京", "東京都の", "ガラス", "ｶﾞﾗｽ", "한국어", "ภาษาไทย", "ไทย", "Привет мира", "ёлка елка", "العربية", "हिन्दी", "Ελλάδα ελλαδα",
	"İstanbul", "ırmak", "łódź", "Đà Nẵng", "𝒳 math", "e\u0301tude", "étude", "🙂", "🙂 retry", "x" + strings.Repeat("y", 300), strings.Repeat("word ", 600),
	"retry retry policy", "obsolete thing", "duplicate bytes", "polciy", "qouta", "configuraiton", "configration", "zzzzzzzz", "hello/world", "--flag", "a-b",
}

// manyScripts is a vault with something of everything that is read in a way of its own.
var manyScripts = fmt.Sprintf(`
-- README.md --
# Garden

Begin with [[Retry Policy]]. Don't miss the naïve café in the Straße, or the étude (C++, C#, fooBar, HTTPServer, std::vector).
-- guides/Retry Policy.md --
---
tags: [howto/net, Howto]
aliases: [Backoff, "wi-fi's end"]
owner: Ada
---
# Retry Policy

Retries back off: 1,000 ms, then 2024-01-31. See foo-bar, foo_bar and foobar; rock'n'roll.

## Quota

The policy of the retry is a quota of configuration.
-- guides/limits.md --
# Limits

## Quota

Ten a second, says the policy.

## Burst

None, see the configuration of the quotas. Soft%chyphen and zero%cwidth.
-- guides/old.md --
---
status: obsolete
tags: [howto]
---
# Obsolete thing

The retry policy that was: quota.
-- copies/a.md --
Duplicate bytes at two places.
-- copies/b.md --
Duplicate bytes at two places.
-- 日本/東京.md --
# 東京都のガラス

東京は日本の首都です。ｶﾞﾗｽとガラス。ＦＵＬＬ width。 학교에서 한국어를 배웁니다.
-- ไทย.md --
# ภาษาไทย

ภาษาไทยเป็นภาษาราชการของประเทศไทย
-- Привет.md --
---
tags: [Русский]
---
# Привет, мир

Ёлка стоит в лесу; мира и миров больше, чем ёлок.
-- more.md --
# العربية हिन्दी Ελλάδα

اللغة العربية جميلة. हिन्दी भाषा। Η Ελλάδα είναι όμορφη. İstanbul'da ırmak, łódź, Đà Nẵng, 𝒳 math 🙂.
-- empty.md --
-- @commit 2024-01-01 notes --
`, '\u00ad', '\u200b')
