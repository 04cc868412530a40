package gitstore

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// What a sparse checkout leaves out is not deleted; what was deleted is.
func TestSparseWorktree(t *testing.T) {
	t.Parallel()
	d := newRepo(t, map[string]string{"in/a.md": "a", "in/gone.md": "gone", "out/b.md": "b", "out/pic.png": "p", "top.md": "t"})
	git(t, d, "sparse-checkout", "set", "in")
	if _, err := os.Stat(filepath.Join(d, "out")); err == nil {
		t.Fatal("out/ is there")
	}
	if err := os.Remove(filepath.Join(d, "in", "gone.md")); err != nil {
		t.Fatal(err)
	}
	r := mustOpen(t, d)
	list := func(dir string) (paths []string) {
		w, err := r.Worktree(context.Background(), Options{Dir: dir, Keep: func(p string) bool { return filepath.Ext(p) == ".md" }})
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range w.Files {
			paths = append(paths, f.Path)
			if _, err := r.Blob(f.Blob); err != nil {
				t.Error(f.Path, err)
			}
		}
		for _, p := range w.Others {
			paths = append(paths, "other "+p)
		}
		return paths
	}
	if got, want := list(""), []string{"in/a.md", "out/b.md", "top.md", "other out/pic.png"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if got, want := list("out"), []string{"b.md", "other pic.png"}; !slices.Equal(got, want) {
		t.Errorf("out: %q, want %q", got, want)
	}
	git(t, d, "sparse-checkout", "reapply", "--sparse-index")
	w, err := r.Worktree(context.Background(), Options{})
	if err != nil || len(w.Problems) != 1 || w.Problems[0].Code != ProblemSparse {
		t.Errorf("of a sparse index: %+v, %v", w.Problems, err)
	}
	git(t, d, "sparse-checkout", "disable")
	if got := list("out"); len(got) != 2 {
		t.Errorf("whole again: %q", got)
	}
}
