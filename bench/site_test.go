package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The known items are a hundred queries of four kinds, each another.
func TestKnownItems(t *testing.T) {
	items, err := parseKnownItems(knownItems)
	if err != nil {
		t.Fatal(err)
	}
	kinds, queries := map[string]int{}, map[string]bool{}
	for _, item := range items {
		kinds[item.kind]++
		queries[item.query] = true
		if words(item.query) == nil || !strings.HasPrefix(item.path, "text/") || !strings.HasSuffix(item.path, ".md") {
			t.Errorf("%+v", item)
		}
	}
	if diff := cmp.Diff(map[string]int{"title": 34, "typo": 33, "prefix": 17, "question": 16}, kinds); diff != "" {
		t.Errorf("kinds (-want +got):\n%s", diff)
	}
	if len(queries) != len(items) {
		t.Errorf("%d different queries of %d", len(queries), len(items))
	}
	if _, err := parseKnownItems("title\tno path\n"); err == nil {
		t.Error("a line without a path is an item")
	}
}

func TestReciprocalRank(t *testing.T) {
	items := []knownItem{{"title", "a", "text/0001-A_b.md"}, {"typo", "b", "text/2.md"}, {"typo", "c", "text/3.md"}}
	found := [][]string{{"/text/x.html", "/text/0001-a_b.html"}, {"/text/2/"}, {"/text/4/"}}
	for kind, want := range map[string]float64{"": 0.5, "title": 0.5, "typo": 0.5, "prefix": 0} {
		if got := reciprocalRank(items, found, kind); got != want {
			t.Errorf("kind %q: %v, want %v", kind, got, want)
		}
	}
}

func TestShared(t *testing.T) {
	head := strings.Repeat("<link of every page>", 5)
	for _, c := range []struct {
		a, b string
		want float64
	}{
		{head + strings.Repeat("a", 100), head + strings.Repeat("b", 100), 0.5},
		{head, head, 1},
		{"<p>short</p>", "<p>short</p>", 0}, // shorter than what counts
		{"", "", 0},
	} {
		if got := shared([]byte(c.a), []byte(c.b)); got != c.want {
			t.Errorf("shared(%.20q…, %.20q…) = %v, want %v", c.a, c.b, got, c.want)
		}
	}
}

func TestChanged(t *testing.T) {
	dir := t.TempDir()
	note := filepath.Join(dir, "sub", "note.md")
	if err := write(note, "# A title of words\n\nSome words of text.\n"); err != nil {
		t.Fatal(err)
	}
	if err := write(filepath.Join(dir, "same.md"), "text"); err != nil {
		t.Fatal(err)
	}
	before, err := siteFiles(dir)
	if err != nil {
		t.Fatal(err)
	}
	if ok, err := changeWord(note, "other"); !ok || err != nil {
		t.Fatal(ok, err)
	}
	if text, err := os.ReadFile(note); err != nil || string(text) != "# A title of words\n\nSome other of text.\n" {
		t.Errorf("after the change: %q, %v", text, err)
	}
	now, err := siteFiles(dir)
	if err != nil {
		t.Fatal(err)
	}
	names := changed(before, now)
	if diff := cmp.Diff([]string{"sub/note.md"}, names); diff != "" {
		t.Errorf("changed (-want +got):\n%s", diff)
	}
	delete(now, "same.md")
	if n := differ(before, now); n != 2 || sizeOf(now, names) != 40 {
		t.Errorf("%d files differ, of %v bytes", n, sizeOf(now, names))
	}
}

// A project for Hugo has the notes with titles, and nothing that Hugo would run.
func TestHugoCopy(t *testing.T) {
	l := &lab{dir: t.TempDir()}
	h := &hugo{l: l, dir: filepath.Join(l.dir, "project")}
	for name, text := range map[string]string{
		"0001-a-note.md": "No title. {{< run >}}\n", "index.md": "# One\n\nText.\n", "own.md": "---\nlang: de\n---\nText.\n", "two.md": "# One\n\n# Two\n",
	} {
		path := filepath.Join(l.dir, name)
		if err := write(path, text); err != nil {
			t.Fatal(err)
		}
		if err := h.copy(path, name); err != nil {
			t.Fatal(err)
		}
	}
	got := map[string]string{}
	for _, name := range []string{"0001-a-note.md", "_index.md", "own.md", "two.md"} {
		text, err := os.ReadFile(filepath.Join(h.dir, "content", name))
		if err != nil {
			t.Fatal(err)
		}
		got[name] = string(text)
	}
	want := map[string]string{
		"0001-a-note.md": "---\ntitle: \"0001 a note\"\n---\nNo title. {{ < run >}}\n",
		"_index.md":      "---\ntitle: \"One\"\n---\n\n\nText.\n",
		"own.md":         "---\nlang: de\n---\nText.\n",
		"two.md":         "---\ntitle: \"two\"\n---\n# One\n\n# Two\n",
	}
	if diff := cmp.Diff(want, got); diff != "" || h.strange != 1 {
		t.Errorf("%d strange (-want +got):\n%s", h.strange, diff)
	}
}
