package note

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestResolve(t *testing.T) {
	r := NewResolver([]string{
		"README.md", "Home.md", "a/Note.md", "b/note.md", "a/deep/x/Note.md", "a/Other.md", "b/only here.md", "img/pic.png", "a/pic.png", "b/Data.base",
		"docs/index.md", "docs/guide/README.md", "docs/setup.markdown", "Café.md", "v1.2.md", "b/sub/Home.md", "case.md", "Case.md", "c/dup.md", "d/dup.md", "d/e.md", "q?.md",
	})
	wiki := func(s string) Link { l, _, _ := wikiLink([]byte("[[" + s + "]]")); return l }
	md := func(s string) Link { return markdownTarget([]byte(s)) }
	tests := []struct {
		from string
		link Link
		want Target
	}{
		{"a/Note.md", wiki("Home"), Target{Path: "Home.md"}},
		{"a/Note.md", wiki("home"), Target{Path: "Home.md"}},
		{"b/sub/q.md", wiki("Home"), Target{Path: "Home.md"}},
		{"a/Note.md", wiki("only here#H"), Target{Path: "b/only here.md", Fragment: "H"}},
		{"a/Note.md", wiki("b/note"), Target{Path: "b/note.md"}},
		{"Home.md", wiki("sub/Home"), Target{Path: "b/sub/Home.md"}},
		{"Home.md", wiki("Note"), Target{Path: "a/Note.md", Ambiguous: []string{"a/Note.md", "b/note.md", "a/deep/x/Note.md"}}},
		{"b/only here.md", wiki("Note"), Target{Path: "b/note.md", Ambiguous: []string{"a/Note.md", "b/note.md", "a/deep/x/Note.md"}}},
		{"a/deep/x/q.md", wiki("Note.md"), Target{Path: "a/deep/x/Note.md", Ambiguous: []string{"a/Note.md", "b/note.md", "a/deep/x/Note.md"}}},
		{"d/e.md", wiki("dup"), Target{Path: "d/dup.md", Ambiguous: []string{"c/dup.md", "d/dup.md"}}},
		{"Home.md", wiki("x/Note"), Target{Path: "a/deep/x/Note.md"}},
		{"Home.md", wiki("pic.png"), Target{Path: "a/pic.png", Ambiguous: []string{"a/pic.png", "img/pic.png"}}},
		{"Home.md", wiki("Data.base#View"), Target{Path: "b/Data.base", Fragment: "View"}},
		{"Home.md", wiki("v1.2"), Target{Path: "v1.2.md"}},
		{"Home.md", wiki("setup"), Target{Path: "docs/setup.markdown"}},
		{"Home.md", wiki("Cafe\u0301"), Target{Path: "Café.md"}},
		{"Home.md", wiki("case"), Target{Path: "case.md"}},
		{"Home.md", wiki("Case"), Target{Path: "Case.md"}},
		{"a/Note.md", wiki("#H"), Target{Path: "a/Note.md", Fragment: "H"}},
		{"a/Note.md", wiki("./Other"), Target{Path: "a/Other.md"}},
		{"a/Note.md", wiki("../b/note"), Target{Path: "b/note.md"}},
		{"a/Note.md", wiki("../../etc/passwd"), Target{}},
		{"a/Note.md", wiki("/Home"), Target{Path: "Home.md"}},
		{"a/Note.md", wiki("missing#H"), Target{Fragment: "H"}},
		{"a/Note.md", wiki("te"), Target{}},
		{"a/Note.md", wiki("https://x.y"), Target{External: true}},
		{"a/Note.md", md("Other.md#h"), Target{Path: "a/Other.md", Fragment: "h"}},
		{"a/Note.md", md("Other"), Target{Path: "a/Other.md"}},
		{"a/Note.md", md("../b/only%20here.md"), Target{Path: "b/only here.md"}},
		{"a/Note.md", md("/docs/guide/"), Target{Path: "docs/guide/README.md"}},
		{"a/Note.md", md("../docs"), Target{Path: "docs/index.md"}},
		{"docs/index.md", md("guide"), Target{Path: "docs/guide/README.md"}},
		{"docs/guide/README.md", md("."), Target{Path: "docs/guide/README.md"}},
		{"docs/guide/README.md", md("./"), Target{Path: "docs/guide/README.md"}},
		{"docs/guide/README.md", md("../"), Target{Path: "docs/index.md"}},
		{"Home.md", md("/"), Target{Path: "README.md"}},
		{"a/Note.md", md("/Home.md"), Target{Path: "Home.md"}},
		{"a/Note.md", md("../HOME.md"), Target{Path: "Home.md"}},
		{"a/Note.md", md("Other.md?plain=1"), Target{Path: "a/Other.md"}},
		{"a/Note.md", md("../q%3F.md"), Target{Path: "q?.md"}},
		{"a/Note.md", md("b/note.md"), Target{Path: "b/note.md"}},
		{"a/Note.md", md("only%20here.md"), Target{Path: "b/only here.md"}},
		{"a/Note.md", md("./Home.md"), Target{}},
		{"a/Note.md", md("deep"), Target{Folder: true}},
		{"a/Note.md", md("../B/"), Target{Folder: true}},
		{"Home.md", md("/a/deep/x#y"), Target{Folder: true, Fragment: "y"}},
		{"Home.md", md("a/dee"), Target{}},
		{"a/Note.md", md("../.."), Target{}},
		{"a/Note.md", wiki("deep"), Target{}},
		{"a/Note.md", md("../../x.md"), Target{}},
		{"a/Note.md", md("../../../../Home.md"), Target{}},
		{"a/Note.md", md("#frag"), Target{Path: "a/Note.md", Fragment: "frag"}},
		{"a/Note.md", md("https://x.y/z#f"), Target{External: true, Fragment: "f"}},
		{"a/Note.md", md("mailto:a@b.c"), Target{External: true}},
		{"a/Note.md", md("obsidian://open?vault=x"), Target{External: true}},
		{"a/Note.md", md("//cdn.x/y.js"), Target{External: true}},
		{"a/Note.md", md("C:/x.md"), Target{}},
		{"a/Note.md", Link{Kind: AutoLink, Target: "https://x.y"}, Target{External: true}},
	}
	for _, tt := range tests {
		if diff := cmp.Diff(tt.want, r.Resolve(tt.from, tt.link)); diff != "" {
			t.Errorf("Resolve(%q, %+v) (-want +got):\n%s", tt.from, tt.link, diff)
		}
	}
}

// Of files that differ by case alone the one that is spelled like the link is
// meant; without one the link is ambiguous.
func TestResolveTwinsByCase(t *testing.T) {
	twins := []string{"Case.md", "case.md"}
	r := NewResolver([]string{"Case.md", "case.md", "other.md"})
	for target, want := range map[string]Target{
		"Case": {Path: "Case.md"}, "case": {Path: "case.md"}, "case.md": {Path: "case.md"},
		"CASE": {Path: "Case.md", Ambiguous: twins}, "CASE.md": {Path: "Case.md", Ambiguous: twins}, "OTHER": {Path: "other.md"},
	} {
		if diff := cmp.Diff(want, r.Resolve("other.md", Link{Kind: WikiLink, Target: target})); diff != "" {
			t.Errorf("[[%s]]: %s", target, diff)
		}
	}
}

func TestResolveAliasIsNoName(t *testing.T) {
	n, _ := Parse([]byte("---\naliases: [Nick]\n---\n"))
	r := NewResolver([]string{"full name.md"})
	if got := r.Resolve("x.md", Link{Kind: WikiLink, Target: n.Aliases[0]}); got.Path != "" {
		t.Errorf("alias resolves to %q", got.Path)
	}
}

func TestResolveOrderOfPathsDoesNotMatter(t *testing.T) {
	a := NewResolver([]string{"x/n.md", "y/n.md", "n/n.md", "zz/n.md", "x/n.md"})
	b := NewResolver([]string{"zz/n.md", "n/n.md", "y/n.md", "x/n.md"})
	for _, from := range []string{"q.md", "y/q.md"} {
		l := Link{Kind: WikiLink, Target: "n"}
		if diff := cmp.Diff(a.Resolve(from, l), b.Resolve(from, l)); diff != "" {
			t.Errorf("from %s:\n%s", from, diff)
		}
	}
}

func BenchmarkResolve(b *testing.B) {
	var paths []string
	for i := range 40_000 {
		paths = append(paths, fmt.Sprintf("dir%d/sub%d/README.md", i%50, i), fmt.Sprintf("dir%d/note %d.md", i%50, i))
	}
	b.Run("New", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			NewResolver(paths)
		}
	})
	r := NewResolver(paths)
	for _, target := range []string{"note 77", "README", "missing", "sub7/README"} {
		b.Run(strings.ReplaceAll(target, " ", "_"), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				r.Resolve("dir3/note 3.md", Link{Kind: WikiLink, Target: target})
			}
		})
	}
}

func FuzzResolve(f *testing.F) {
	f.Add("a/Note.md", "[[Other#h|x]] [y](../b.md) ![[z]] [w](/c/)", "a/Other.md\nb.md\nc/index.md\nz.png")
	f.Add("", "[[../..]] [a](..) [b](.) [c](/) [[.]] [[/]]", "..\n.\n/\n\n//")
	f.Fuzz(func(t *testing.T, from, text, paths string) {
		known := map[string]bool{from: true, "": true}
		all := strings.Split(paths, "\n")
		for _, p := range all {
			known[p] = true
		}
		r := NewResolver(all)
		n, _ := Parse([]byte(text))
		for _, l := range n.Links {
			got := r.Resolve(from, l)
			if !known[got.Path] {
				t.Errorf("Resolve(%q, %+v) = %+v, which is no path of the collection", from, l, got)
			}
			if len(got.Ambiguous) == 1 {
				t.Errorf("Resolve(%q, %+v) is ambiguous with itself", from, l)
			}
		}
	})
}
