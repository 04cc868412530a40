package site

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kb/note"
)

// vaultOf makes a set of notes given as path and text in turn; what has no .md is
// an attachment.
func vaultOf(files ...string) *Set {
	s := &Set{Title: "Garden", Language: "en", Commit: Commit{ID: strings.Repeat("1", 40), Date: "2024-01-02T00:00:00Z"},
		Collections: []Collection{{Name: "notes", Description: "All of it", Sections: map[string]string{"guides": "How to"}}}}
	blobs := map[note.ID][]byte{}
	for i := 0; i < len(files); i += 2 {
		path, src := files[i], []byte(files[i+1])
		id := note.Hash(src)
		blobs[id] = src
		if !strings.HasSuffix(path, ".md") {
			s.Files = append(s.Files, File{Collection: "notes", Path: path, Blob: id})
			continue
		}
		n, _ := note.Parse(src)
		s.Docs = append(s.Docs, &Doc{Collection: "notes", Path: path, Title: n.TitleAt(path), Tags: n.Tags, Aliases: n.Aliases, Language: n.String("lang"),
			Updated: fmt.Sprintf("2024-01-%02d", i/2+1), Author: "Ada", Commit: strings.Repeat("2", 40), Blob: id, Note: n})
	}
	slices.SortFunc(s.Docs, func(a, b *Doc) int { return strings.Compare(a.Path, b.Path) })
	s.Read = func(_ context.Context, _ string, id note.ID) ([]byte, error) {
		src, ok := blobs[id]
		if !ok {
			return nil, fs.ErrNotExist
		}
		return src, nil
	}
	return s
}

func garden() []string {
	return []string{
		"README.md", "# Garden\n\nBegin with [[Retry Policy]].\n",
		"guides/Retry Policy.md", "---\ntags: [howto/net]\naliases: [Backoff]\n---\n# Retry Policy\n\nSee [limits](limits.md#quota) and ![pic](../pic.png), not [[nowhere]].\n",
		"guides/limits.md", "# Limits\n\n## Quota\n\nTen a second, says [[Retry Policy]].\n\n## Burst\n\nNone.\n",
		"pic.png", "not really a picture",
	}
}

// made builds a site and returns its files.
func made(t *testing.T, set *Set, out string) map[string]string {
	t.Helper()
	if _, err := Build(context.Background(), set, Options{Out: out}); err != nil {
		t.Fatal(err)
	}
	return filesIn(t, out)
}

func filesIn(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		raw, err := os.ReadFile(name)
		rel, _ := filepath.Rel(dir, name)
		files[filepath.ToSlash(rel)] = string(raw)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// A site has a page for each note that leads where the note does, and back.
func TestBuild(t *testing.T) {
	files := made(t, vaultOf(garden()...), filepath.Join(t.TempDir(), "out"))
	for name, wants := range map[string][]string{
		"index.html":               {`<a href="guides/retry-policy.html"`, "<title>Garden</title>"},
		"guides/retry-policy.html": {`href="limits.html#quota"`, `class="broken"`, `<img src="../kb/files/`, `href="../tags/howto-net.html"`, "says <mark>Retry Policy</mark>", `<a rel="prev" href="limits.html">`, `href="retry-policy.md"`},
		"guides/index.html":        {`<h1>guides</h1>`, "How to", `<a href="limits.html">Limits</a>`},
		"tags/howto.html":          {`<a href="../guides/retry-policy.html">Retry Policy</a>`},
		"guides/backoff.html":      {`content="0; url=retry-policy.html"`},
		"_redirects":               {"/guides/backoff.html /guides/retry-policy.html 301"},
		"all.html":                 {`<h2>L</h2>`, `<a href="guides/limits.html">Limits</a>`},
		"recent.html":              {`<time>2024-01-03</time>`},
		"feed.xml":                 {"<title>Limits</title>"},
		"sitemap.xml":              {"<loc>/guides/limits.html</loc>"},
		"llms.txt":                 {"- [Limits](guides/limits.md)"},
		"search.html":              {`id="kb-search"`},
		"404.html":                 {"Not found"},
		"manifest.json":            {`"generator": "kb"`, `"guides/limits.md": "`, strings.Repeat("1", 40)},
	} {
		for _, want := range wants {
			if !strings.Contains(files[name], want) {
				t.Errorf("%s lacks %s:\n%s", name, want, files[name])
			}
		}
	}
	if files["guides/limits.md"] != garden()[5] {
		t.Errorf("the Markdown of a note is %q", files["guides/limits.md"])
	}
}

// A page tells its history and its citation; what else changes the site's commit
// does not change it.
func TestHistoryOfANote(t *testing.T) {
	set := vaultOf(garden()...)
	d := set.Docs[2]
	d.Versions = []Version{
		{Commit: strings.Repeat("3", 40), Date: "2024-01-02", Author: "Ada", Subject: "A <b>better</b> name", Path: d.Path},
		{Commit: strings.Repeat("4", 40), Date: "2024-01-01", Author: "Bob", Subject: "First", Path: "guides/quota.md"},
	}
	d.MoreVersions = true
	out := filepath.Join(t.TempDir(), "out")
	page := made(t, set, out)["guides/limits.html"]
	for _, want := range []string{`<time>2024-01-02</time>`, "A &lt;b&gt;better&lt;/b&gt; name", "<code>44444444</code> as guides/quota.md", "and older ones", `data-citation="kb://notes@/guides/limits.md"`} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %s:\n%s", want, page)
		}
	}
	set.Commit.ID = strings.Repeat("5", 40)
	if made(t, set, out)["guides/limits.html"] != page {
		t.Error("another commit of the site changes the page")
	}
	d.Versions = d.Versions[:1]
	if strings.Contains(made(t, set, out)["guides/limits.html"], "History") {
		t.Error("a history of one version is shown, or the page was kept")
	}
}

// What pages do not show is in no file; a note is set in its own direction and
// language; index.md is its folder's page before README.md; configuration is no
// attachment; redirects know where the site is served.
func TestBuildDetails(t *testing.T) {
	set := vaultOf(
		"README.md", "# Read me\n", "index.md", "# Begin\n",
		"note.md", "---\nlang: ar\naliases: [other]\n---\n# Note\n\nSeen %%walrus%% and <!-- penguin --> text, [k](kb.yaml), [t](t.txt).\n\n%%\nbadger\n%%\n",
		"kb.yaml", "private", "t.txt", "public",
	)
	set.BaseURL = "https://example.org/notes/"
	files := made(t, set, filepath.Join(t.TempDir(), "out"))
	for name, text := range files {
		for _, secret := range []string{"walrus", "penguin", "badger", "private"} {
			if strings.Contains(text, secret) {
				t.Errorf("%s has %s", name, secret)
			}
		}
	}
	for name, want := range map[string]string{
		"note.html": `<html lang="ar"`, "note.md": "Seen  and  text", "index.html": `<h1 id="begin">`,
		"_redirects": "/notes/other.html /notes/note.html 301\n",
	} {
		if !strings.Contains(files[name], want) {
			t.Errorf("%s lacks %s:\n%s", name, want, files[name])
		}
	}
}

// The same notes give the same bytes, whatever the number of processors.
func TestBuildIsDeterministic(t *testing.T) {
	dir := t.TempDir()
	first := made(t, vaultOf(garden()...), filepath.Join(dir, "a"))
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	if diff := cmp.Diff(first, made(t, vaultOf(garden()...), filepath.Join(dir, "b"))); diff != "" {
		t.Error(diff)
	}
}

// A rebuild gives what a build in a new place gives, whatever changed, and writes
// only that.
func TestRebuild(t *testing.T) {
	dir := t.TempDir()
	out := filepath.Join(dir, "out")
	made(t, vaultOf(garden()...), out)
	set := vaultOf(garden()...)
	r, err := Build(context.Background(), set, Options{Out: out})
	if err != nil || r.Written != 0 || r.Removed != 0 {
		t.Fatalf("nothing changed: %+v, %v", r, err)
	}
	steps := map[string][]string{
		"a word":                    slices.Concat(garden()[:5], []string{garden()[5] + "\nMore.\n"}, garden()[6:]),
		"a note goes":               garden()[:4],
		"a new note":                append(garden(), "guides/new.md", "# New\n\n[[limits]]\n"),
		"a folder called as a page": append(garden()[:2], "guides.md", "# G\n", "guides.html/x.md", "# X\n"),
	}
	for _, name := range slices.Sorted(maps.Keys(steps)) {
		files := steps[name]
		got := made(t, vaultOf(files...), out)
		want := made(t, vaultOf(files...), filepath.Join(dir, name))
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		made(t, vaultOf(garden()...), out)
	}
	r, err = Build(context.Background(), vaultOf(steps["a word"]...), Options{Out: out})
	if err != nil || r.Written > 9 {
		t.Errorf("after one word: %+v, %v", r, err)
	}
}

// A build that died is finished by the next, and what somebody put beside the
// site stays.
func TestInterrupted(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out")
	made(t, vaultOf(garden()...), out)
	if err := os.WriteFile(filepath.Join(out, "CNAME"), []byte("example.org"), 0o644); err != nil {
		t.Fatal(err)
	}
	later := vaultOf(append(garden(), "new.md", "# New\n")...)
	read := later.Read
	reads := 0
	ctx, cancel := context.WithCancel(context.Background())
	later.Read = func(c context.Context, col string, id note.ID) ([]byte, error) {
		if reads++; reads > 1 {
			cancel()
			return nil, errors.New("the disk is gone")
		}
		return read(c, col, id)
	}
	if _, err := Build(ctx, later, Options{Out: out}); err == nil {
		t.Fatal("the build did not fail")
	}
	got := made(t, vaultOf(garden()...), out)
	if got["CNAME"] != "example.org" {
		t.Error("CNAME is gone")
	}
	delete(got, "CNAME")
	if diff := cmp.Diff(made(t, vaultOf(garden()...), filepath.Join(t.TempDir(), "x")), got); diff != "" {
		t.Error(diff)
	}
}

// Of two builds into one directory at once, one is refused and changes nothing.
func TestBuildsAtOnce(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out")
	made(t, vaultOf(garden()...), out)
	slow := vaultOf(append(garden(), "new.md", "# New\n")...)
	read := slow.Read
	slow.Read = func(ctx context.Context, col string, id note.ID) ([]byte, error) {
		if _, err := Build(ctx, vaultOf("other.md", "x"), Options{Out: out}); !errors.Is(err, ErrBusy) {
			t.Errorf("a second build: %v", err)
		}
		return read(ctx, col, id)
	}
	got := made(t, slow, out)
	if got["new.html"] == "" || got["other.html"] != "" {
		t.Error("the site is not the first build's")
	}
}

// A new site that fails leaves nothing behind; a directory of something else is
// not touched.
func TestBuildRefuses(t *testing.T) {
	dir := t.TempDir()
	bad := vaultOf(garden()...)
	bad.Read = func(context.Context, string, note.ID) ([]byte, error) { return nil, errors.New("no") }
	if _, err := Build(context.Background(), bad, Options{Out: filepath.Join(dir, "out")}); err == nil {
		t.Error("a site of notes that cannot be read")
	}
	if files := filesIn(t, dir); len(files) > 0 {
		t.Errorf("left behind: %v", slices.Sorted(maps.Keys(files)))
	}
	theirs := filepath.Join(dir, "theirs")
	if err := os.Mkdir(theirs, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(theirs, "thesis.txt"), []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	_, err := Build(context.Background(), vaultOf(garden()...), Options{Out: theirs})
	if files := filesIn(t, theirs); !errors.Is(err, ErrNotOurs) || len(files) != 1 {
		t.Errorf("%v, %v", err, files)
	}
}

// Many notes are listed on several pages, each once.
func TestAllNotes(t *testing.T) {
	var files []string
	for i := range 2*allNotesPage + 1 {
		files = append(files, fmt.Sprintf("n%04d.md", i), "x")
	}
	files = append(files, "all/2.md", "# A note of that name\n")
	out := filepath.Join(t.TempDir(), "out")
	got := made(t, vaultOf(files...), out)
	listed := strings.Count(got["all/1.html"], "<li><a href=\"../n") + strings.Count(got["all/3.html"], "<li><a href=\"../n")
	for name, text := range got {
		if strings.HasPrefix(name, "all/2-") {
			listed += strings.Count(text, "<li><a href=\"../n")
		}
	}
	if want := `<a href="all/1.html">A note of that name – n0498</a> <small>500 notes</small>`; !strings.Contains(got["all.html"], want) || listed != 2*allNotesPage+1 {
		t.Errorf("%d notes listed, and no %s in\n%s", listed, want, got["all.html"])
	}
	if r, err := Check(out); err != nil || len(r.Faults) > 0 {
		t.Error(r, err)
	}
}
