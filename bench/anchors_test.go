package main

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestAnchors(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"text/0001-a.md": "See [how traits are resolved](0002-b.md), [RFC 2](0002-b.md), [here](0002-b.md), `[in code](0002-b.md)` and [myself again](0001-a.md).",
		"text/0002-b.md": "[the older idea][old], [one more idea](https://github.com/rust-lang/rfcs/pull/1), [nobody knows](https://github.com/rust-lang/rfcs/pull/9)\n\n[old]: https://github.com/rust-lang/rfcs/blob/master/text/0001-a.md\n",
		"Note.md":        "[[0001-a|an old text]] [[0001-a]] [[0001-a|see 0001-a]]",
	} {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := anchors(dir)
	want := []anchor{
		{"an old text", "Note.md", "text/0001-a.md"},
		{"how traits are resolved", "text/0001-a.md", "text/0002-b.md"},
		{"one more idea", "text/0002-b.md", "text/0001-a.md"},
		{"the older idea", "text/0002-b.md", "text/0001-a.md"},
	}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, %v, want %v", got, err, want)
	}
}

func TestPageRank(t *testing.T) {
	edges := []anchor{{"", "a", "c"}, {"", "b", "c"}, {"", "c", "a"}}
	rank := pageRank(edges, anchor{})
	if !(rank["c"] > rank["a"] && rank["a"] > rank["b"]) {
		t.Errorf("%v", rank)
	}
	if without := pageRank(edges, edges[2]); without["a"] != without["b"] {
		t.Errorf("without c's link: %v", without)
	}
}
