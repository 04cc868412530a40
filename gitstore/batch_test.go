package gitstore

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// fill makes a commit of one note in a batch.
func fill(t testing.TB, r *Repo, text string) (*Batch, CommitID) {
	t.Helper()
	b := r.Batch()
	tree, err := b.EditTree(context.Background(), treeAt(t, r, "HEAD"), []Edit{{Path: "dir/note.md", Src: []byte(text)}})
	if err != nil {
		t.Fatal(err)
	}
	_, head, _ := r.Head()
	id, err := b.WriteCommit(context.Background(), &Commit{Tree: tree, Parents: []CommitID{head}, Author: somebody, Committer: somebody, Message: text})
	if err != nil {
		t.Fatal(err)
	}
	return b, id
}

func TestBatchMovesAllRefsOrNone(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	d := newRepo(t, map[string]string{"a": "1"})
	r := mustOpen(t, d)
	_, head, _ := r.Head()
	git(t, d, "branch", "old")
	git(t, d, "branch", "packed")
	git(t, d, "pack-refs", "--all")
	git(t, d, "branch", "loose")
	b, id := fill(t, r, "x")
	before := git(t, d, "for-each-ref")
	good := []RefUpdate{{Name: "refs/kb/new", New: id}, {Name: "refs/heads/old", Old: head, New: id}, {Name: "refs/heads/packed", Old: head}, {Name: "refs/heads/loose", Old: head}}
	for name, c := range map[string]struct {
		bad  RefUpdate
		want error
	}{
		"moved":          {RefUpdate{Name: "refs/heads/main", Old: id, New: head}, ErrMoved},
		"exists":         {RefUpdate{Name: "refs/heads/main", New: head}, ErrMoved},
		"gone":           {RefUpdate{Name: "refs/heads/none", Old: head}, ErrMoved},
		"is not there":   {RefUpdate{Name: "refs/heads/none", Old: head, New: head}, ErrMoved},
		"is there":       {RefUpdate{Name: "refs/heads/main"}, ErrMoved},
		"name":           {RefUpdate{Name: "refs/heads/../x", New: head}, ErrBadRef},
		"in the way":     {RefUpdate{Name: "refs/heads/main/below", New: head}, ErrRefConflict},
		"not a commit":   {RefUpdate{Name: "refs/heads/x", New: CommitID{1}}, ErrNotFound},
		"the same twice": {RefUpdate{Name: "refs/kb/new", New: id}, ErrLocked},
	} {
		r.patience = 500 * time.Millisecond
		if err := b.UpdateRefs(ctx, somebody, append(slices.Clone(good), c.bad)); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
		if after := git(t, d, "for-each-ref"); after != before {
			t.Fatalf("%s: refs:\n%s\nwere:\n%s", name, after, before)
		}
	}
	r.patience = lockPatience
	stays := []RefUpdate{{Name: "refs/heads/main", Old: head, New: head}, {Name: "refs/heads/none"}}
	if err := b.UpdateRefs(ctx, somebody, append(stays, good...)); err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf("%s refs/heads/main\n%s refs/heads/old\n%s refs/kb/new", head, id, id)
	if got := git(t, d, "for-each-ref", "--format=%(objectname) %(refname)"); got != want {
		t.Errorf("refs:\n%s\nwant:\n%s", got, want)
	}
	fsck(t, d)
}

// A garbage collection that looked before the refs moved removes what was made for
// them. It is written again.
func TestBatchSurvivesPrune(t *testing.T) {
	t.Parallel()
	for name, running := range map[string]bool{"unseen": false, "seen": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newRepo(t, map[string]string{"a": "1"})
			r := mustOpen(t, d)
			host, _ := os.Hostname()
			if running {
				write(t, d, ".git/gc.pid", fmt.Sprintf("%d %s", os.Getpid(), host))
			}
			b, id := fill(t, r, "note")
			r.fault = func(step string) {
				if step == "locked" {
					git(t, d, "repack", "-adq")
					git(t, d, "prune", "--expire=now")
				}
				if gone := tryGit(d, "cat-file", "-t", id.String()) == ""; step == "ref moved" && gone == running {
					t.Errorf("when the ref moved, the commit was gone: %v", gone)
				}
			}
			if err := b.UpdateRefs(context.Background(), somebody, []RefUpdate{{Name: "refs/heads/x", New: id}}); err != nil {
				t.Fatal(err)
			}
			r.fault = nil
			if got := git(t, d, "show", "x:dir/note.md"); got != "note" {
				t.Errorf("the note is %q", got)
			}
			fsck(t, d)
			keeps, _ := filepath.Glob(filepath.Join(d, ".git/objects/pack/*.keep"))
			packs, _ := filepath.Glob(filepath.Join(d, ".git/objects/pack/*.pack"))
			if len(keeps) > 0 || len(packs) != map[bool]int{false: 1, true: 2}[running] {
				t.Errorf("packs: %v %v", packs, keeps)
			}
			for _, pack := range packs {
				git(t, d, "verify-pack", pack)
			}
			git(t, d, "repack", "-adq")
			if packs, _ = filepath.Glob(filepath.Join(d, ".git/objects/pack/*.pack")); len(packs) != 1 {
				t.Errorf("git keeps off: %v", packs)
			}
		})
	}
}

func TestCollecting(t *testing.T) {
	t.Parallel()
	d := newRepo(t, map[string]string{"a": "1"})
	r := mustOpen(t, d)
	host, _ := os.Hostname()
	for content, want := range map[string]bool{
		fmt.Sprintf("%d %s", os.Getpid(), host): true, "999999999 " + host: false, "1 elsewhere": true, "": true,
	} {
		write(t, d, ".git/gc.pid", content)
		if got := r.collecting(); got != want {
			t.Errorf("%q: %v", content, got)
		}
	}
	old := time.Now().Add(-13 * time.Hour)
	if err := os.Chtimes(filepath.Join(d, ".git/gc.pid"), old, old); err != nil || r.collecting() {
		t.Errorf("an old one counts (%v)", err)
	}
	os.Remove(filepath.Join(d, ".git/gc.pid"))
	if r.collecting() {
		t.Error("none counts")
	}
}

func TestTakeFiles(t *testing.T) {
	t.Parallel()
	d := newRepo(t, map[string]string{"a": "1", "dir/b": "1", "dir/c": "1", "gone": "1", "x/y": "1"})
	if err := os.Symlink("a", filepath.Join(d, "link")); err != nil {
		t.Fatal(err)
	}
	write(t, d, "run", "#!")
	if err := os.Chmod(filepath.Join(d, "run"), 0o777); err != nil {
		t.Fatal(err)
	}
	git(t, d, "rm", "-q", "x/y")
	commit(t, d, "second", map[string]string{"a": "2", "dir/b": "2", "dir/c": "2", "gone": "-", "x": "now a file"})
	r := mustOpen(t, d)
	from, to := treeAt(t, r, "HEAD"), treeAt(t, r, "HEAD~1")
	for _, c := range []struct {
		paths []string
		want  string
		err   error
	}{
		{nil, "", nil},
		{[]string{"a"}, "M a", nil},
		{[]string{"dir/b", "link", "run", "gone"}, "M dir/b, D gone, A link, A run", nil},
		{[]string{"x/y", "x"}, "A x, D x/y", nil},
		{[]string{"x"}, "", ErrPathConflict},
		{[]string{"none", "dir"}, "", nil},
	} {
		b := r.Batch()
		got, err := b.TakeFiles(context.Background(), from, to, c.paths)
		if !errors.Is(err, c.err) {
			t.Errorf("%v: %v, want %v", c.paths, err, c.err)
		}
		if err != nil {
			continue
		}
		if err := b.Flush(); err != nil {
			t.Fatal(err)
		}
		diff := strings.NewReplacer("\t", " ", "\n", ", ").Replace(git(t, d, "diff", "--no-renames", "--name-status", to.String(), got.String()))
		if diff != c.want {
			t.Errorf("%v: %s, want %s", c.paths, diff, c.want)
		}
	}
	b := r.Batch()
	all, err := b.TakeFiles(context.Background(), from, to, []string{"a", "dir/b", "dir/c", "gone", "x", "x/y", "link", "run"})
	if err != nil || all != from {
		t.Errorf("all: %s, want %s: %v", all, from, err)
	}
}

// TestDiverge compares with git on random histories.
func TestDiverge(t *testing.T) {
	t.Parallel()
	d := newRepo(t, map[string]string{"a": "1"})
	r := mustOpen(t, d)
	tree := treeAt(t, r, "HEAD")
	_, first, _ := r.Head()
	ids := []CommitID{first}
	for i := range 60 {
		parents := []CommitID{ids[(i*7+3)%len(ids)]}
		if other := ids[len(ids)-1]; i%3 == 0 && other != parents[0] {
			parents = append(parents, other)
		}
		ids = append(ids, mustWriteCommit(t, r, tree, fmt.Sprint(i), parents...)) // all of the same second
	}
	for i := range 40 {
		a, b := ids[(i*11+5)%len(ids)], ids[(i*17+30)%len(ids)]
		got, err := r.Diverge(context.Background(), a, b)
		if err != nil {
			t.Fatal(err)
		}
		for side, list := range map[string][]CommitID{a.String() + " ^" + b.String(): got.Ours, b.String() + " ^" + a.String(): got.Theirs} {
			var names, want []string
			for _, id := range list {
				names = append(names, id.String())
			}
			want = strings.Fields(git(t, d, append([]string{"rev-list", "--topo-order"}, strings.Fields(side)...)...))
			position := map[string]int{}
			for i, name := range names {
				position[name] = i
			}
			for _, line := range strings.Split(git(t, d, append([]string{"rev-list", "--parents"}, strings.Fields(side)...)...), "\n") {
				ids := strings.Fields(line)
				for _, parent := range ids[min(1, len(ids)):] {
					if at, ok := position[parent]; ok && at < position[ids[0]] {
						t.Errorf("%s comes before its child %s", parent, ids[0])
					}
				}
			}
			slices.Sort(names)
			slices.Sort(want)
			if !slices.Equal(names, want) {
				t.Errorf("%s: %d commits, git has %d", side, len(names), len(want))
			}
		}
	}
}

func TestCheckedOut(t *testing.T) {
	t.Parallel()
	root := tempDir(t)
	d := newRepo(t, map[string]string{"a": "1"})
	linked, gone, locked := filepath.Join(root, "linked"), filepath.Join(root, "gone"), filepath.Join(root, "locked")
	for _, dir := range []string{linked, gone, locked} {
		git(t, d, "worktree", "add", "-q", "--force", dir, "main")
	}
	git(t, d, "worktree", "lock", locked)
	os.RemoveAll(gone)
	os.RemoveAll(locked)
	inRepo := filepath.Join(d, ".git/worktrees/locked")
	for _, dir := range []string{d, linked} {
		got, err := mustOpen(t, dir).CheckedOut("refs/heads/main")
		if want := []string{d, linked, inRepo}; err != nil || !slices.Equal(got, want) {
			t.Errorf("from %s: %v, want %v: %v", dir, got, want, err)
		}
	}
	git(t, d, "switch", "-q", "-c", "other")
	git(t, linked, "switch", "-q", "--detach")
	if got, err := mustOpen(t, d).CheckedOut("refs/heads/main"); err != nil || !slices.Equal(got, []string{inRepo}) {
		t.Errorf("%v, %v", got, err)
	}
	bare := filepath.Join(root, "bare.git")
	git(t, d, "clone", "-q", "--bare", "-b", "main", d, bare)
	if got, err := mustOpen(t, bare).CheckedOut("refs/heads/main"); err != nil || len(got) > 0 {
		t.Errorf("bare: %v, %v", got, err)
	}
}
