package site

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestNatural(t *testing.T) {
	want := []string{"", "01", "1", "2 b", "2-a", "10", "0010x", "A", "a", "a2", "a10", "B", "ß", "中2", "中10"}
	got := slices.Clone(want)
	slices.Reverse(got)
	slices.SortFunc(got, natural)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("order (-want +got):\n%s", diff)
	}
}

func FuzzNatural(f *testing.F) {
	f.Add("a2", "a10", "a010")
	f.Fuzz(func(t *testing.T, a, b, c string) {
		if natural(a, b) != -natural(b, a) || (natural(a, b) == 0) != (a == b) {
			t.Errorf("%q and %q: %d and %d", a, b, natural(a, b), natural(b, a))
		}
		if natural(a, b) < 0 && natural(b, c) < 0 && natural(a, c) >= 0 {
			t.Errorf("%q < %q < %q, but not the first and the last", a, b, c)
		}
	})
}

// Navigation, folder pages and the links to the next note count as people do;
// folders stand before notes, and a folder's own note before the others.
func TestFoldersAreInNaturalOrder(t *testing.T) {
	files := made(t, vaultOf("README.md", "# Home\n", "part 10.md", "# Ten\n", "part 2.md", "# Two\n", "Part 1.md", "# One\n",
		"part 3/x.md", "# X\n", "part 3/README.md", "# Three\n", "part 20/y.md", "# Y\n"), filepath.Join(t.TempDir(), "out"))
	inOrder := func(name string, parts ...string) {
		t.Helper()
		rest := files[name]
		for _, part := range parts {
			_, after, ok := strings.Cut(rest, part)
			if !ok {
				t.Fatalf("%s lacks %s, or has it too early:\n%s", name, part, files[name])
			}
			rest = after
		}
	}
	for name := range files {
		if strings.HasPrefix(name, "kb/nav.") {
			inOrder(name, `"part 3"`, `"part 20"`, `"One"`, `"Two"`, `"Ten"`)
		}
	}
	inOrder("index.html", `rel="next"`, "One")
	inOrder("part-2.html", `rel="prev"`, "One", `rel="next"`, "Ten")
	inOrder("part-3/index.html", `rel="next"`, ">X")
}
