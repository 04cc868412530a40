package draft

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"kb/gitstore"
)

// tldr unpacks a vault of 38,000 notes.
func tldr(b *testing.B) string {
	b.Helper()
	root := os.Getenv("KB_SHARED")
	if root == "" {
		root = filepath.Join("..", "..", "shared")
	}
	file, err := filepath.Abs(filepath.Join(root, "data", "vaults", "tldr.git.tar.gz"))
	if err == nil {
		_, err = os.Stat(file)
	}
	if err != nil {
		b.Skipf("no %s: set KB_SHARED to the directory that holds data/vaults", file)
	}
	dir := b.TempDir()
	if out, err := exec.Command("tar", "-xzf", file, "-C", dir).CombinedOutput(); err != nil {
		b.Fatalf("tar: %v\n%s", err, out)
	}
	return filepath.Join(dir, "tldr.git")
}

// BenchmarkAppend compares one note added to a draft with what git needs for the
// same: hash-object, commit-tree and update-ref, and the tree between them by
// read-tree and write-tree of an index of its own.
func BenchmarkAppend(b *testing.B) {
	large := tldr(b)
	small := b.TempDir()
	git(b, small, "init", "-q")
	commit(b, small, "first", map[string]string{"pages/common/a.md": "a\n"})
	branch := strings.TrimPrefix(git(b, large, "symbolic-ref", "HEAD"), "refs/heads/")
	for _, c := range []struct{ name, dir, base string }{{"38000 notes", large, branch}, {"1 note", small, "main"}} {
		b.Run("draft/"+c.name, func(b *testing.B) {
			s := open(b, c.dir)
			s.Base = "refs/heads/" + c.base
			report(b, func(i int) {
				w := put("bench", nil)
				w.Edits = func(context.Context, gitstore.CommitID, bool) ([]gitstore.Edit, error) {
					return []gitstore.Edit{{Path: fmt.Sprintf("pages/common/bench-%d.md", i), Src: fmt.Appendf(nil, "# note %d of %d\n", i, b.N)}}, nil
				}
				mustAppend(b, s, w)
			})
		})
		b.Run("keyed/"+c.name, func(b *testing.B) {
			s := open(b, c.dir)
			s.Base = "refs/heads/" + c.base
			report(b, func(i int) {
				w := put("keyed", nil)
				w.Key = fmt.Sprint("key-", b.N, "-", i)
				w.Edits = func(context.Context, gitstore.CommitID, bool) ([]gitstore.Edit, error) {
					return []gitstore.Edit{{Path: fmt.Sprintf("pages/common/bench-%d.md", i), Src: fmt.Appendf(nil, "# note %d of %d\n", i, b.N)}}, nil
				}
				mustAppend(b, s, w)
			})
		})
		b.Run("git/"+c.name, func(b *testing.B) {
			tip := git(b, c.dir, "rev-parse", c.base)
			report(b, func(i int) {
				file := filepath.Join(b.TempDir(), "note")
				write(b, filepath.Dir(file), "note", fmt.Sprintf("# note %d\n", i))
				git(b, c.dir, "hash-object", "-w", file)
				id := git(b, c.dir, "commit-tree", "-p", tip, "-m", "add", tip+"^{tree}")
				git(b, c.dir, "update-ref", "refs/heads/drafts/git", id)
				tip = id
			})
		})
	}
}

// report runs fn b.N times and reports the median.
func report(b *testing.B, fn func(i int)) {
	times := make([]time.Duration, 0, b.N)
	for i := range b.N {
		start := time.Now()
		fn(i)
		times = append(times, time.Since(start))
	}
	slices.Sort(times)
	b.ReportMetric(float64(times[len(times)/2].Microseconds())/1000, "p50-ms")
	b.ReportMetric(float64(times[len(times)*9/10].Microseconds())/1000, "p90-ms")
}
