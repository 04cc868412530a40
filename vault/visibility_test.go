package vault_test

import (
	"bytes"
	"compress/flate"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kb/internal/vaulttest"
	"kb/vault"
)

// sighted are callers, by what [vaulttest.Hidden] calls them.
var sighted = map[string]vault.Caller{
	"public": {Sees: vault.Public},
	"team":   {Agent: "bot"}, // an agent of which nothing else is said
	"bob":    {Sees: vault.Private, User: "Bob <bob@example.org>"},
}

// probe is a call, and whether it names what is hidden itself: then its answer
// may repeat that, and is only compared with what a vault without it answers.
type probe struct {
	op    string
	args  map[string]any
	names bool
	alone bool // a vault without what is hidden has nothing to compare
}

func probes() []probe {
	list := []probe{
		{op: "search", args: map[string]any{"query": "calls that fail", "explain": true, "max_results": 50}},
		{op: "search", args: map[string]any{"query": "calls", "at": "HEAD~2"}},
		{op: "search", args: map[string]any{"query": "calls", "at": "2024-01-05"}},
		{op: "search", args: map[string]any{"query": "calls", "mode": "literal"}},
		{op: "search", args: map[string]any{"query": "[a-z]+@example", "mode": "regex"}},
		{op: "search", args: map[string]any{"query": "tag:qwfpkeytag OR qwfpwas*"}, names: true},
		{op: "search", args: map[string]any{"query": "qwfpkez qwfpteem qwfpwax"}, names: true}, // to be corrected
		{op: "search", args: map[string]any{"query": "qwfpkey", "entity": []string{"qwfpkey@example.org"}}, names: true},
		{op: "kb_brief", args: map[string]any{"query": "calls that fail"}},
		{op: "kb_brief", args: map[string]any{"query": "Title qwfpkey of calls"}, names: true},
		{op: "get_document", args: map[string]any{"path": "guides/retry.md"}},
		{op: "get_document", args: map[string]any{"path": "guides/opened.md"}},
		{op: "get_document", args: map[string]any{"path": "plan"}},
		{op: "get_document", args: map[string]any{"path": "guides/x.md"}},
		{op: "kb_context", args: map[string]any{"path": []string{"guides/retry.md", "guides/limits.md"}, "depth": "deep"}},
		{op: "kb_digest", args: map[string]any{"days": 3650}},
		{op: "list_sections"},
		{op: "list_sections", args: map[string]any{"at": "HEAD"}},
		{op: "kb_query", args: map[string]any{"max_results": 500}},
		{op: "kb_query", args: map[string]any{"max_results": 500, "at": "HEAD~2"}},
		{op: "kb_query", args: map[string]any{"where": []string{"qwfpkeyfield=x"}}, names: true},
		{op: "kb_query", args: map[string]any{"collection": "inner"}},
		{op: "kb_similar", args: map[string]any{"path": "guides/retry.md"}},
		{op: "kb_classify", args: map[string]any{"collection": "notes", "most": 500}},
		{op: "kb_classify", args: map[string]any{"measure": true, "most": 500}},
		{op: "kb_prompts"},
		{op: "kb_links"},
		{op: "kb_links", args: map[string]any{"path": "guides/retry.md", "depth": 3}},
		{op: "kb_entities", args: map[string]any{"max_results": 500}},
		{op: "kb_entities", args: map[string]any{"name": "qwfpkeytag"}, names: true},
		{op: "kb_history", args: map[string]any{"path": "guides/limits.md"}},
		{op: "kb_history", args: map[string]any{"from": "HEAD~2"}},
		{op: "kb_health"},
		{op: "kb_health", args: map[string]any{"against": "HEAD~2"}},
		{op: "kb_export"},
		{op: "kb_export", args: map[string]any{"format": "jsonl", "at": "worktree"}},
		{op: "kb_export", args: map[string]any{"format": "llms-full", "at": "HEAD~2"}},
		{op: "kb_drafts"},
		{op: "kb_drafts", args: map[string]any{"name": "qwfpdraft"}, names: true},
		{op: "kb_query", args: map[string]any{"at": "drafts/qwfpdraft"}, alone: true},
		{op: "kb_history", args: map[string]any{"from": "main", "to": "drafts/qwfpdraft"}, alone: true},
		{op: "kb_stats"},
		{op: "reindex"},
		{op: "kb_blame", args: map[string]any{"path": "guides/limits.md"}},
		{op: "review_list"},
		{op: "review_show", args: map[string]any{"name": "qwfpdraft"}, names: true},
		{op: "review_diff", args: map[string]any{"name": "qwfpdraf"}, names: true},
		{op: "kb_write", args: map[string]any{"title": "Repeated calls that fail", "body": "Calls that fail are repeated after a while.", "collection": "notes", "draft": "d"}},
		{op: "kb_edit", args: map[string]any{"path": "guides/retry.md", "rename": "guides/again.md", "draft": "e"}},
		{op: "kb_edit", args: map[string]any{"tag": []string{"howto"}, "set": map[string]any{"status": "old"}, "draft": "f"}},
		{op: "kb_edit", args: map[string]any{"path": "guides/limits.md", "append": "![[qwfppath.png]] [[qwfpmoved]]", "draft": "h"}, names: true},
		{op: "kb_write", args: map[string]any{"title": "Cites", "body": "x, much of it.", "collection": "notes", "draft": "i", "source": "kb://notes@HEAD~2/guides/qwfpwas.md"}, names: true},
		{op: "kb_drafts", args: map[string]any{"name": "h"}, names: true},
		{op: "kb_drafts", args: map[string]any{"name": "i"}, names: true},
		{op: "kb_write", args: map[string]any{"title": "Title qwfpkey of calls", "body": "x", "collection": "notes", "draft": "g"}, names: true},
	}
	for _, path := range []string{"guides/qwfpkey.md", "Title qwfpwas of calls", "qwfpbrokenalias", "kb://notes/plan.md", "kb://notes@HEAD~2/guides/qwfpwas.md",
		"kb://inner/qwfpinner.md", "journal/qwfppath.md", "qwfpad", "kb://notes/qwfpada/deep/qwfpada.md", "kb://notes@HEAD~2/howto/qwfpmoved.md", "howto/qwfpmoved.md"} {
		for _, op := range []string{"get_document", "kb_similar", "kb_history", "kb_links", "kb_blame"} {
			list = append(list, probe{op: op, args: map[string]any{"path": path}, names: true})
		}
		list = append(list, probe{op: "kb_context", args: map[string]any{"path": []string{path}}, names: true},
			probe{op: "kb_export", args: map[string]any{"path": path}, names: true},
			probe{op: "kb_edit", args: map[string]any{"path": path, "append": "x"}, names: true},
			probe{op: "kb_edit", args: map[string]any{"path": path, "restore": "HEAD~2"}, names: true})
	}
	return list
}

// What a caller does not see is in no answer, and no answer tells that it is
// there: each is what a vault without it would say.
func TestHidden(t *testing.T) {
	for name, who := range sighted {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			with, without := hiddenBot(t, "", who), hiddenBot(t, name, who)
			for _, p := range probes() {
				got, want := with.ask(t, p), without.ask(t, p)
				if diff := cmp.Diff(want, got); diff != "" && !p.alone {
					t.Errorf("%s %v tells of what is hidden (-without +with it):\n%s", p.op, p.args, diff)
				}
				if i := strings.Index(got, vaulttest.Canary); i >= 0 && !p.names && !mayName(got[i:], name) {
					t.Errorf("%s %v: …%.200s", p.op, p.args, got[max(0, i-100):])
				}
			}
		})
	}
}

// mayName reports whether a canary is of a note that the caller sees: then the
// comparison alone tells.
func mayName(s, who string) bool {
	return who == "team" && (strings.HasPrefix(s, "qwfpteam") || strings.HasPrefix(s, "qwfpcrew")) || who == "bob" && !strings.HasPrefix(s, "qwfpada") && !strings.HasPrefix(s, "qwfpmine")
}

type hidden struct {
	*vault.Service
	who     vault.Caller
	commits []string // newest first
}

func hiddenBot(t *testing.T, without string, who vault.Caller) *hidden {
	dir := vaulttest.Hidden(t, without)
	s := vaulttest.ServiceIn(t, dir, t.TempDir(), vault.Agent)
	return &hidden{s, who, strings.Fields(vaulttest.Git(t, dir, "rev-list", "main"))}
}

// ask returns the whole of an answer, or of an error, without what two vaults
// never have in common: commits, times and sizes.
func (h *hidden) ask(t *testing.T, p probe) string {
	t.Helper()
	op, ok := vault.FindOp(p.op)
	if !ok {
		t.Fatalf("no operation %s", p.op)
	}
	raw, err := json.Marshal(p.args)
	if err != nil {
		t.Fatal(err)
	}
	args := string(raw)
	if p.args == nil {
		args = "{}"
	}
	for i, c := range h.commits {
		args = strings.ReplaceAll(args, "@HEAD~"+fmt.Sprint(i)+"/", "@"+c+"/")
	}
	r, err := h.DoAs(context.Background(), h.who, op, json.RawMessage(args), nil)
	var b bytes.Buffer
	if err != nil {
		e := vault.AsError(err)
		if e.Code == vault.Internal {
			t.Errorf("%s %s: %v", p.op, args, e)
		}
		fmt.Fprintf(&b, "%s: %s: %s", e.Code, e.Message, e.Hint)
	} else {
		raw, err := vault.MarshalResult(r)
		if err != nil {
			t.Fatal(err)
		}
		b.Write(raw)
		if x, ok := r.(vault.Texter); ok {
			x.Text(vault.NewText(&b))
		}
	}
	return h.alike(b.String())
}

var unlike = regexp.MustCompile(`"(seconds|disk_bytes|next|index|owner)":("[^"]*"|[0-9.]+|\{[^{}]*\})|[0-9.]+ (s|kB|MB)\b|T[0-9]{2}(:[0-9]{2}){2}Z|[0-9a-f]{12,40}\b`)

func (h *hidden) alike(s string) string {
	for i, c := range h.commits {
		s = strings.ReplaceAll(strings.ReplaceAll(s, c, fmt.Sprint("COMMIT", i)), c[:12], fmt.Sprint("COMMIT", i))
	}
	return strings.ReplaceAll(unlike.ReplaceAllString(s, "…"), `\n`, "\n")
}

// A person at the terminal, and ada with her token, see all.
func TestHiddenFromNobody(t *testing.T) {
	dir := vaulttest.Hidden(t, "")
	op, _ := vault.FindOp("kb_query")
	count := func(a vault.Audience, who vault.Caller) int {
		s := vaulttest.ServiceIn(t, dir, t.TempDir(), a)
		r, err := s.DoAs(context.Background(), who, op, json.RawMessage(`{"max_results":500}`), nil)
		if err != nil {
			t.Fatal(err)
		}
		return r.(*vault.QueryResult).Total
	}
	all := count(vault.Person, vault.Caller{})
	for _, user := range []string{"ada <ada@example.org>", "Ada Byron <ada@example.org>"} {
		want := all
		if strings.HasPrefix(user, "Ada Byron") {
			want -= 2 // those of "Ada", who might be another
		}
		if n := count(vault.Agent, vault.Caller{Sees: vault.Private, User: user}); n != want {
			t.Errorf("%s sees %d notes, want %d", user, n, want)
		}
	}
	s := vaulttest.ServiceIn(t, dir, t.TempDir(), vault.Person)
	if _, err := s.DoAs(context.Background(), vault.Caller{Sees: "everything"}, op, nil, nil); err == nil {
		t.Error("a word that is no visibility lets somebody see")
	}
}

// A site and an export to a file hold what is public, unless more is asked for.
func TestHiddenFiles(t *testing.T) {
	dir := vaulttest.Hidden(t, "")
	s := vaulttest.ServiceIn(t, dir, t.TempDir(), vault.Person)
	for _, level := range []string{"", "public", "team", "private"} {
		out := t.TempDir()
		makes := map[string]map[string]any{"kb_site_build": {"out": filepath.Join(out, "site")}}
		for _, format := range []string{"markdown", "jsonl", "llms", "llms-full", "bundle"} {
			makes["kb_export "+format] = map[string]any{"format": format, "output": filepath.Join(out, format)}
		}
		for name, args := range makes {
			if level != "" {
				args["visibility"] = level
			}
			raw, err := json.Marshal(args)
			if err != nil {
				t.Fatal(err)
			}
			op, _ := vault.FindOp(strings.Fields(name)[0])
			if _, err := s.Do(context.Background(), op, raw, nil); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
		found := canaries(t, out)
		for word, from := range map[string]string{"team": "team", "crew": "team", "key": "private", "path": "private", "ada": "private", "was": "private"} {
			want := level == from || level == "private"
			if slices.Contains(found, word) != want {
				t.Errorf("visibility %q: %s is there: %v", level, word, !want)
			}
		}
	}
}

// unpacked is what a part of a site's search data holds, read from its beginning and,
// since words are kept by their ends, too, from its end.
func unpacked(t *testing.T, script []byte) []byte {
	m := packedScript.FindSubmatch(script)
	if m == nil {
		return nil
	}
	raw, err := base64.StdEncoding.DecodeString(string(m[1]))
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(flate.NewReader(bytes.NewReader(raw)))
	if err != nil {
		t.Fatal(err)
	}
	backwards := slices.Clone(text)
	slices.Reverse(backwards)
	return slices.Concat([]byte(" "), text, []byte(" "), backwards)
}

var packedScript = regexp.MustCompile(`^kb\.[a-zA-Z]+\("([A-Za-z0-9+/=]+)"\)\n$`)

// withholding are properties of notes that are not to be published, or may not be.
var withholding = []string{
	"<<: {publish: false}", "<<: {draft: true}", "publish:\n  - false", "publish: n", "publish: nope", "publish: never", "publish: 否",
	"publish: 2099-01-01", "publish: \"\"", "publish: null", "publish:", "draft: y", "draft: maybe",
	"meta: {publish: false}", "kb: {draft: true}", "site:\n  publish: no", "published: false",
}

// What says that it is not to be published, now or then, and what is excluded is in
// no file of a site, not even its name.
func TestSiteWithheld(t *testing.T) {
	dir := vaulttest.Repo(t, `
-- kb.yaml --
site: {exclude: ["private/**"]}
-- index.md --
# Home
[one](one.md) ![[two]] [[three]] [[Aliased]] #qwfpshown
-- one.md --
---
title: qwfponetitle
publish: false
tags: [qwfponetag]
aliases: [Aliased, qwfponealias]
---
# qwfponeheading
qwfponebody, to [[index]] and [[four]]. ![](qwfponepicture.png) #qwfponeinline
-- two.md --
---
draft: true
---
# qwfptwotitle
qwfptwobody of [[index]].
-- private/qwfppath.md --
# Three
qwfpthreebody
-- qwfponepicture.png --
no picture
-- four.md --
---
publish: false
---
# Four
qwfpfourbody, once.
-- private/qwfpformer.md --
# Five
Five is public, but under its old name it was not.
-- @commit 2024-01-01 first --
-- four.md --
# Four
Four is public now.
-- @rename private/qwfpformer.md five.md --
-- @commit 2024-01-02 second --
`)
	for i, properties := range withholding {
		src := fmt.Sprintf("---\n%s\n---\n# qwfpsaid%c\nqwfpsaidbody of [[index]].\n", properties, 'a'+i)
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("qwfpsaid%c.md", 'a'+i)), []byte(src), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	vaulttest.Git(t, dir, "add", ".")
	vaulttest.Git(t, dir, "commit", "-m", "third")
	s := vaulttest.ServiceIn(t, dir, t.TempDir(), vault.Person)
	out := filepath.Join(t.TempDir(), "site")
	built := do[vault.SiteBuilt](t, s, "kb_site_build", map[string]any{"out": out, "visibility": "private"})
	if built.Pages != 3 || built.Left != 3+len(withholding) {
		t.Errorf("%d pages, %d left out", built.Pages, built.Left)
	}
	found := canaries(t, out)
	if others := slices.DeleteFunc(slices.Clone(found), func(word string) bool { return word == "shown" }); len(others) > 0 {
		t.Errorf("the site tells of %v", others)
	}
	if inSearch := canaries(t, filepath.Join(out, "kb", "q")); len(inSearch) < 3 { // terms, words and texts
		t.Errorf("what is shown stands in %d parts of the search data", len(inSearch))
	}
}

var canaryWord = regexp.MustCompile(vaulttest.Canary + `[a-z]+`)

// canaries lists the hidden notes that files tell of, in their names or contents.
func canaries(t *testing.T, dir string) (found []string) {
	err := fs.WalkDir(os.DirFS(dir), ".", func(p string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		text := []byte(p)
		if !e.IsDir() {
			src, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(p)))
			if err != nil {
				return err
			}
			text = append(append(append(text, ' '), src...), unpacked(t, src)...)
		}
		for _, w := range canaryWord.FindAll(text, -1) {
			found = append(found, strings.TrimPrefix(string(w), vaulttest.Canary))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}
