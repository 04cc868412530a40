package gitstore

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"kb/note"
)

// ChangeKind tells what happened to a file between two commits.
type ChangeKind string

const (
	Added   ChangeKind = "added"
	Removed ChangeKind = "removed"
	Changed ChangeKind = "changed"
	Renamed ChangeKind = "renamed" // the same bytes at another path
)

// Change is one difference between two commits.
type Change struct {
	Kind ChangeKind
	Path string  // where the file is; for Removed, where it was
	From string  // for Renamed, where it was
	Old  note.ID // zero for Added
	New  note.ID // zero for Removed
}

// Diff lists how the regular files below dir ("" for all) differ between a and
// b, sorted by path; the zero CommitID has no files. A removed and an added
// file with the same bytes are one Renamed. Paths are relative to dir.
// What listings leave out is no file here either, and modes do not matter.
func (r *Repo) Diff(ctx context.Context, a, b CommitID, dir string) ([]Change, error) {
	dir, err := cleanDir(dir)
	if err != nil {
		return nil, err
	}
	var tops [2]oid
	for i, id := range [...]CommitID{a, b} {
		if tops[i], err = r.commitDir(id, dir); err != nil {
			return nil, fmt.Errorf("compare %s with %s: %w", a, b, err)
		}
	}
	changes, err := r.diffTrees(ctx, tops[0], tops[1])
	if err != nil {
		return nil, fmt.Errorf("compare %s with %s: %w", a, b, err)
	}
	return changes, nil
}

// DiffTrees is Diff of whole trees.
func (r *Repo) DiffTrees(ctx context.Context, a, b TreeID) ([]Change, error) {
	changes, err := r.diffTrees(ctx, oid(a), oid(b))
	if err != nil {
		return nil, fmt.Errorf("compare trees %s and %s: %w", a, b, err)
	}
	return changes, nil
}

func (r *Repo) diffTrees(ctx context.Context, a, b oid) ([]Change, error) {
	changes := []Change{}
	d := treeDiff{ctx: ctx, repo: r, found: func(c Change) { changes = append(changes, c) }}
	if err := d.trees(a, b, "", 1); err != nil {
		return nil, err
	}
	changes = pairRenames(changes)
	slices.SortFunc(changes, func(x, y Change) int { return strings.Compare(x.Path, y.Path) })
	return changes, nil
}

// commitDir returns the tree of dir at a commit; the zero commit has none.
func (r *Repo) commitDir(id CommitID, dir string) (oid, error) {
	if id.IsZero() {
		return oid{}, nil
	}
	c, err := r.node(id)
	if err != nil {
		return oid{}, err
	}
	top, _, err := r.subtree(oid(c.tree), dir)
	return top, err
}

// treeDiff compares trees and reports regular files only, as Added, Removed and
// Changed. Equal subtrees are not opened.
type treeDiff struct {
	ctx     context.Context
	repo    *Repo
	found   func(Change)
	modes   bool // report a changed executable bit, as Changed
	omits   bool // the trees differ, or may, in what listings leave out
	entries int
}

func (d *treeDiff) trees(a, b oid, prefix string, depth int) error {
	if a == b {
		return nil
	}
	if depth > MaxDepth {
		d.omits = true
		return nil
	}
	if err := d.ctx.Err(); err != nil {
		return err
	}
	old, err := d.repo.treeOf(a)
	if err != nil {
		return err
	}
	now, err := d.repo.treeOf(b)
	if err != nil {
		return err
	}
	if d.entries += len(old.entries) + len(now.entries); d.entries > 2*maxEntries {
		return fmt.Errorf("%w: more than %d entries", ErrTooLarge, 2*maxEntries)
	}
	d.omits = d.omits || !slices.Equal(old.problems, now.problems)
	return d.merge(old.entries, now.entries, prefix, depth)
}

// merge goes through two sorted lists of entries side by side.
func (d *treeDiff) merge(old, now []treeEntry, prefix string, depth int) error {
	for len(old) > 0 || len(now) > 0 {
		if len(old) > 0 && len(now) > 0 && old[0] == now[0] {
			old, now = old[1:], now[1:]
			continue
		}
		order := 0
		switch {
		case len(old) == 0:
			order = 1
		case len(now) == 0:
			order = -1
		default:
			order = old[0].compare(&now[0])
		}
		var x, y *treeEntry
		if order <= 0 {
			x, old = &old[0], old[1:]
		}
		if order >= 0 {
			y, now = &now[0], now[1:]
		}
		if err := d.pair(x, y, prefix, depth); err != nil {
			return err
		}
	}
	return nil
}

// pair compares two entries of one name, either of which may be missing.
func (d *treeDiff) pair(x, y *treeEntry, prefix string, depth int) error {
	var oldDir, newDir oid
	c := Change{}
	for _, e := range [...]*treeEntry{x, y} {
		if e == nil {
			continue
		}
		c.Path = prefix + e.name
		switch {
		case e.mode == modeDir && e == x:
			oldDir = e.id
		case e.mode == modeDir:
			newDir = e.id
		case e.mode.isFile() && e == x:
			c.Old = note.ID(e.id)
		case e.mode.isFile():
			c.New = note.ID(e.id)
		default:
			d.omits = true
		}
	}
	switch {
	case c.Old == c.New: // directories, nothing that is a file, or only the mode
		if d.modes && !c.Old.IsZero() {
			c.Kind = Changed
		}
	case c.Old.IsZero():
		c.Kind = Added
	case c.New.IsZero():
		c.Kind = Removed
	default:
		c.Kind = Changed
	}
	if c.Kind != "" {
		d.found(c)
	}
	return d.trees(oldDir, newDir, c.Path+"/", depth+1)
}

// pairRenames joins removals and additions of the same bytes: first those that
// keep their file name, then the rest in order of path.
func pairRenames(changes []Change) []Change {
	removed := map[note.ID][]int{}
	for i, c := range changes {
		if c.Kind == Removed {
			removed[c.Old] = append(removed[c.Old], i)
		}
	}
	if len(removed) == 0 {
		return changes
	}
	for _, sameName := range [...]bool{true, false} {
		for i := range changes {
			if c := &changes[i]; c.Kind == Added {
				c.joinRemoved(changes, removed, sameName)
			}
		}
	}
	return slices.DeleteFunc(changes, func(c Change) bool { return c.Kind == "" })
}

// joinRemoved makes an addition a rename if a removal is left for it.
func (c *Change) joinRemoved(changes []Change, removed map[note.ID][]int, sameName bool) {
	left := removed[c.New]
	for k, i := range left {
		old := &changes[i]
		if sameName && path.Base(old.Path) != path.Base(c.Path) {
			continue
		}
		c.Kind, c.From, c.Old = Renamed, old.Path, c.New
		old.Kind = ""
		removed[c.New] = slices.Delete(left, k, k+1)
		return
	}
}
