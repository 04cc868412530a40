package gitstore

import (
	"cmp"
	"container/heap"
	"context"
	"fmt"
	"path"
	"strings"

	"github.com/go-git/go-git/v5/plumbing/filemode"

	"kb/note"
)

// Version is one state of a file in history.
type Version struct {
	Commit *Commit
	Path   string  // where the file was in that commit
	Blob   note.ID // zero: the commit removed the file
}

// Log returns the versions of the file at a path (from the repository's root)
// as of a commit, newest first, at most limit unless that is 0. It shows the
// commits that git log shows, and where the file was renamed, with changes that
// leave at least half of it or without, also those under its old path. A file that
// the commit does not have may have versions from before it was removed. No version
// at all is [ErrNotFound].
func (r *Repo) Log(ctx context.Context, id CommitID, path string, limit int) ([]Version, error) {
	if err := CheckPath(path, false); err != nil {
		return nil, err
	}
	shallow, err := r.shallow()
	if err != nil {
		return nil, err
	}
	w := logWalk{ctx: ctx, repo: r, shallow: shallow, seen: map[logKey]bool{}}
	if err := w.give(id, path); err != nil {
		return nil, fmt.Errorf("log of %s at %s: %w", path, id, err)
	}
	for len(w.heap) > 0 && (limit <= 0 || len(w.versions) < limit) {
		if err := w.visit(heap.Pop(&w.heap).(logPoint)); err != nil {
			return nil, fmt.Errorf("log of %s at %s: %w", path, id, err)
		}
	}
	if len(w.versions) == 0 {
		return nil, fmt.Errorf("log of %s at %s: %w", path, id, ErrNotFound)
	}
	return w.versions, nil
}

// logWalk follows one file, under one or more names, newest commit first.
type logWalk struct {
	ctx      context.Context
	repo     *Repo
	shallow  map[CommitID]bool
	heap     logHeap
	seen     map[logKey]bool
	versions []Version
}

// logKey is a commit and the path under which the file is followed there.
type logKey struct {
	id   CommitID
	path string
}

type logPoint struct {
	commit *graphCommit
	path   string
}

func (w *logWalk) give(id CommitID, path string) error {
	if key := (logKey{id, path}); w.seen[key] {
		return nil
	} else {
		w.seen[key] = true
	}
	c, err := w.repo.node(id)
	if err == nil {
		heap.Push(&w.heap, logPoint{c, path})
	}
	return err
}

// visit follows the file to a parent that has it in the same state, or records
// a version and follows it to every parent.
func (w *logWalk) visit(p logPoint) error {
	if err := w.ctx.Err(); err != nil {
		return err
	}
	file, err := w.repo.fileAt(p.commit, p.path)
	if err != nil {
		return err
	}
	parents := p.commit.parents
	if w.shallow[p.commit.id] {
		parents = nil
	}
	older := make([]*treeEntry, len(parents))
	for i, parent := range parents {
		c, err := w.repo.node(parent)
		if err != nil {
			return err
		}
		if older[i], err = w.repo.fileAt(c, p.path); err != nil {
			return err
		}
		if sameFile(older[i], file) {
			return w.give(parent, p.path)
		}
	}
	if len(parents) == 0 && file == nil {
		return nil
	}
	return w.record(p, file, parents, older)
}

// sameFile compares what two commits have at one path, nil being nothing.
func sameFile(a, b *treeEntry) bool {
	return a == nil && b == nil || a != nil && b != nil && *a == *b
}

func (w *logWalk) record(p logPoint, file *treeEntry, parents []CommitID, older []*treeEntry) error {
	c, err := w.repo.Commit(p.commit.id)
	if err != nil {
		return err
	}
	v := Version{Commit: c, Path: p.path}
	if file != nil {
		v.Blob = note.ID(file.id)
	}
	w.versions = append(w.versions, v)
	for i, parent := range parents {
		if err := w.give(parent, p.path); err != nil {
			return err
		}
		if older[i] != nil || file == nil {
			continue
		}
		from, err := w.repo.renamedFrom(w.ctx, parent, p.commit.id, p.path)
		if err != nil {
			return err
		}
		if err := w.give(parent, from); err != nil {
			return err
		}
	}
	return nil
}

// renamedFrom returns the path in parent from which a file that child added was
// renamed, or its path now if it was not.
func (r *Repo) renamedFrom(ctx context.Context, parent, child CommitID, path string) (string, error) {
	changes, err := r.Diff(ctx, parent, child, "")
	if err != nil {
		return "", err
	}
	left := map[string]change{} // what may be renames with changes
	for _, c := range changes {
		switch {
		case c.Path == path && c.Kind == Renamed:
			return c.From, nil
		case c.Kind == Removed:
			left[c.Path] = change{old: rawEntry{oid(c.Old), filemode.Regular}}
		case c.Kind == Added:
			left[c.Path] = change{now: rawEntry{oid(c.New), filemode.Regular}}
		}
	}
	names, _, err := r.renamesAmong(ctx, left)
	for was, now := range names {
		if now == path {
			return was, err
		}
	}
	return path, err
}

// fileAt returns the regular file at a path of a commit, nil if there is none.
func (r *Repo) fileAt(c *graphCommit, name string) (*treeEntry, error) {
	dir, base := path.Split(name)
	top, _, err := r.subtree(oid(c.tree), strings.TrimSuffix(dir, "/"))
	if err != nil {
		return nil, err
	}
	t, err := r.treeOf(top)
	if err != nil {
		return nil, err
	}
	if e := t.find(base); e != nil && e.mode.isFile() {
		return e, nil
	}
	return nil, nil
}

// logHeap orders points newest first.
type logHeap []logPoint

func (h logHeap) Len() int      { return len(h) }
func (h logHeap) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *logHeap) Push(x any)   { *h = append(*h, x.(logPoint)) }
func (h *logHeap) Pop() any {
	old := *h
	p := old[len(old)-1]
	*h = old[:len(old)-1]
	return p
}

func (h logHeap) Less(i, j int) bool {
	a, b := h[i], h[j]
	c := cmp.Or(cmp.Compare(b.commit.when, a.commit.when),
		cmp.Compare(string(a.commit.id[:]), string(b.commit.id[:])), cmp.Compare(a.path, b.path))
	return c < 0
}
