package gitstore

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"kb/note"
)

// Each benchmark of ours has one of git doing the same, so that one run on one
// machine gives the ratio.

var benchVaults = []string{"rust-rfcs", "tldr"}

func benchGit(b *testing.B, dir, stdin string, args ...string) {
	for b.Loop() {
		cmd := exec.Command("git", args...)
		cmd.Dir, cmd.Stdin = dir, strings.NewReader(stdin)
		if err := cmd.Run(); err != nil {
			b.Fatal(err)
		}
	}
}

func mustHead(b *testing.B, r *Repo) CommitID {
	_, id, err := r.Head()
	if err != nil {
		b.Fatal(err)
	}
	return id
}

// BenchmarkFiles opens the repository each time: nothing is cached.
func BenchmarkFiles(b *testing.B) {
	for _, name := range benchVaults {
		d := vault(b, name)
		b.Run(name+"/ours", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				r := mustOpen(b, d)
				if _, _, err := r.Files(context.Background(), mustHead(b, r), ""); err != nil {
					b.Fatal(err)
				}
				r.Close()
			}
		})
		b.Run(name+"/cached", func(b *testing.B) {
			r := mustOpen(b, d)
			for b.Loop() {
				if _, _, err := r.Files(context.Background(), mustHead(b, r), ""); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(name+"/git", func(b *testing.B) { benchGit(b, d, "", "ls-tree", "-r", "-z", "HEAD") })
	}
}

func BenchmarkBlobs(b *testing.B) {
	for _, name := range benchVaults {
		d := vault(b, name)
		var ids []note.ID
		var names strings.Builder
		for _, id := range lsTree(b, d, "HEAD") {
			ids = append(ids, blobID(b, id))
			names.WriteString(id + "\n")
		}
		b.Run(name+"/ours", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				r := mustOpen(b, d)
				size := 0
				err := r.Blobs(context.Background(), ids, func(_ note.ID, src []byte, err error) error {
					size += len(src)
					return err
				})
				if err != nil {
					b.Fatal(err)
				}
				b.SetBytes(int64(size))
				r.Close()
			}
		})
		b.Run(name+"/git", func(b *testing.B) { benchGit(b, d, names.String(), "cat-file", "--batch") })
	}
}

func BenchmarkDates(b *testing.B) {
	for _, name := range benchVaults {
		d := vault(b, name)
		b.Run(name+"/ours", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				r := mustOpen(b, d)
				if _, err := r.Dates(context.Background(), mustHead(b, r), nil); err != nil {
					b.Fatal(err)
				}
				r.Close()
			}
		})
		b.Run(name+"/incremental", func(b *testing.B) {
			r := mustOpen(b, d)
			old, err := r.Resolve("HEAD~10")
			if err != nil {
				b.Fatal(err)
			}
			dates, err := r.Dates(context.Background(), old, nil)
			if err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				known := func(id CommitID) (*Dates, bool) { return dates, id == old }
				if _, err := r.Dates(context.Background(), mustHead(b, r), known); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(name+"/git", func(b *testing.B) { benchGit(b, d, "", "log", "--name-only", "--format=%H %ct", "HEAD") })
	}
}

var tldrWorktree = sync.OnceValue(func() string {
	dir := filepath.Join(shared, "tldr-worktree")
	if err := exec.Command("git", "-C", filepath.Join(shared, "tldr.git"), "worktree", "add", "-q", "--detach", dir).Run(); err != nil {
		return ""
	}
	return dir
})

func BenchmarkWorktree(b *testing.B) {
	for _, name := range benchVaults {
		d := vault(b, name)
		if name == "tldr" {
			if d = tldrWorktree(); d == "" {
				b.Fatal("git worktree add failed")
			}
		}
		git(b, d, "status") // refreshes git's index
		r := mustOpen(b, d)
		r.now = func() time.Time { return time.Now().Add(time.Hour) }
		cache := &Stats{}
		scan := func(b *testing.B, c StatCache) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := r.Worktree(context.Background(), Options{Cache: c}); err != nil {
					b.Fatal(err)
				}
			}
		}
		b.Run(name+"/cold", func(b *testing.B) { scan(b, nil) })
		b.Run(name+"/ours", func(b *testing.B) {
			if _, err := r.Worktree(context.Background(), Options{Cache: cache}); err != nil {
				b.Fatal(err)
			}
			b.ResetTimer()
			scan(b, cache)
		})
		b.Run(name+"/git", func(b *testing.B) { benchGit(b, d, "", "status", "--porcelain", "-uall") })
	}
}

// BenchmarkCommit adds a note to a vault of many and commits it to a branch, every
// step durable. git's way is the plumbing that does the same, without a sync.
func BenchmarkCommit(b *testing.B) {
	for _, notes := range []int{100, 40000} {
		d := newRepo(b, nil)
		r := mustOpen(b, d)
		blob := mustBlob(b, r, "x")
		var edits []Edit
		for i := range notes {
			edits = append(edits, Edit{Path: fmt.Sprintf("notes/d%d/n%d.md", i%200, i), Blob: blob})
		}
		base := mustEdit(b, r, TreeID{}, edits...)
		tip := mustWriteCommit(b, r, base, "base")
		git(b, d, "update-ref", "refs/heads/x", tip.String())
		b.Run(fmt.Sprintf("%d/ours", notes), func(b *testing.B) {
			b.ReportAllocs()
			n := 0
			for b.Loop() {
				n++
				edit := put(b, r, fmt.Sprintf("notes/d1/new%d.md", n), fmt.Sprint(b.N, n, time.Now()))
				id := mustWriteCommit(b, r, mustEdit(b, r, base, edit), "m", tip)
				if err := r.UpdateRef("refs/heads/x", id, tip, somebody, "m"); err != nil {
					b.Fatal(err)
				}
				tip = id
			}
		})
		git(b, d, "update-ref", "refs/heads/y", tip.String())
		b.Run(fmt.Sprintf("%d/git", notes), func(b *testing.B) {
			n := 0
			for b.Loop() {
				n++
				gitIn(b, d, []byte(fmt.Sprint(n, time.Now())), "hash-object", "-w", "--stdin")
				id := git(b, d, "commit-tree", "-p", "refs/heads/y", "-m", fmt.Sprint(n), base.String())
				git(b, d, "update-ref", "refs/heads/y", id)
			}
		})
	}
}

// BenchmarkMerge does one merge after the other of those that people did.
func BenchmarkMerge(b *testing.B) {
	d := vault(b, "rust-rfcs")
	r := mustOpen(b, d)
	var pairs [][2]CommitID
	for line := range strings.Lines(git(b, d, "rev-list", "--merges", "--max-parents=2", "--parents", "-n", "100", "HEAD")) {
		f := strings.Fields(line)
		pairs = append(pairs, [2]CommitID{mustCommitID(b, f[1]), mustCommitID(b, f[2])})
	}
	b.Run("ours", func(b *testing.B) {
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			if _, err := mergeInMemory(r, pairs[i%len(pairs)][0], pairs[i%len(pairs)][1]); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("git", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			gitMerge(b, d, pairs[i%len(pairs)][0], pairs[i%len(pairs)][1])
		}
	})
}
