package vault

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"

	"kb/gitstore"
	"kb/note"
)

// listSince lists w as git says that a view in memory changed since. It is false
// where there is none like w, or more changed than notes and files.
func (w *view) listSince(ctx context.Context, s *sight) (bool, error) {
	if !s.all || w.worktree {
		return false, nil
	}
	w.v.mu.Lock()
	views := slices.Clone(w.v.views)
	w.v.mu.Unlock()
	for _, old := range slices.Backward(views) {
		if !old.whole || old.worktree || !sameRepos(old.bases, w.bases) {
			continue
		}
		changes, others, ok, err := w.changesSince(ctx, old)
		if err != nil {
			return false, ctx.Err() // git may have pruned the other; if this one is damaged, listing it says so
		}
		if ok && len(changes) <= 16+len(old.docs)/20 {
			w.problems = old.problems
			w.v.relate(w.contents, w.patch(old, changes, others))
			return true, nil
		}
		return false, nil // the others have even less in common, as a rule
	}
	return false, nil
}

func sameRepos(a, b []base) bool {
	return slices.EqualFunc(a, b, func(a, b base) bool { return a.repo == b.repo })
}

// docChange is a doc that came, with its bytes, or went.
type docChange struct {
	doc
	gone bool
}

// otherChange is a file that is no note, and came or went.
type otherChange struct {
	col  *collection
	path string
	gone bool
}

// changesSince compares w's commits with those of an earlier view. The changes of
// docs are in their order.
func (w *view) changesSince(ctx context.Context, old *contents) (docs []docChange, others []otherChange, ok bool, err error) {
	for i, b := range w.bases {
		then, err := old.bases[i].treeID()
		if err != nil {
			return nil, nil, false, err
		}
		now, err := b.treeID()
		if err != nil {
			return nil, nil, false, err
		}
		for _, c := range b.repo.cols {
			changes, ok, err := b.repo.FilesSince(ctx, then, now, c.dir)
			if err != nil {
				return nil, nil, false, errorf(Internal, "list %s at %s: %w", c.Name, b.commit, err)
			}
			if !ok {
				return nil, nil, false, nil
			}
			for _, x := range changes {
				if c.holds(x.Path) {
					docs = append(docs, docChange{doc{col: c, path: x.Path, blob: x.New}, x.Kind == gitstore.Removed})
				} else if !c.names(x.Path) && x.Kind != gitstore.Changed {
					others = append(others, otherChange{c, x.Path, x.Kind == gitstore.Removed})
				}
			}
		}
	}
	slices.SortFunc(docs, func(a, b docChange) int { return a.compare(b.doc) })
	return docs, others, true, nil
}

// treeID is the tree that b reads; zero where the branch is unborn.
func (b base) treeID() (gitstore.TreeID, error) {
	if !b.tree.IsZero() || b.commit.IsZero() {
		return b.tree, nil
	}
	c, err := b.repo.Commit(b.commit)
	if err != nil {
		return gitstore.TreeID{}, errorf(Internal, "read commit %s: %w", b.commit, err)
	}
	return c.Tree, nil
}

// patch makes w's docs and other files of those of an earlier view, and tells how
// the two differ.
func (w *view) patch(old *contents, changes []docChange, others []otherChange) *since {
	s := &since{then: old, placed: len(others) == 0}
	w.docs = make([]doc, 0, len(old.docs)+len(changes))
	from := 0
	for _, c := range changes {
		at, there := old.find(c.col, c.path)
		w.docs = append(w.docs, old.docs[from:at]...)
		from = at
		if there {
			s.gone = append(s.gone, at)
			from++
		}
		if !c.gone {
			s.fresh = append(s.fresh, len(w.docs))
			w.docs = append(w.docs, c.doc)
		}
		s.placed = s.placed && there && !c.gone
	}
	w.docs = append(w.docs, old.docs[from:]...)
	w.others = patchOthers(old.others, others)
	s.number(len(w.docs))
	return s
}

func patchOthers(old map[*collection][]string, changes []otherChange) map[*collection][]string {
	out := make(map[*collection][]string, len(old))
	for c, paths := range old {
		out[c] = slices.Clip(paths)
	}
	for i, x := range changes {
		paths := out[x.col]
		if i == 0 || changes[i-1].col != x.col {
			paths = slices.Clone(paths)
		}
		at, there := slices.BinarySearch(paths, x.path)
		switch {
		case x.gone && there:
			paths = slices.Delete(paths, at, at+1)
		case !x.gone && !there:
			paths = slices.Insert(paths, at, x.path)
		}
		if out[x.col] = paths; len(paths) == 0 {
			delete(out, x.col)
		}
	}
	return out
}

// find is the place of the doc at a path, and whether it is there.
func (w *contents) find(c *collection, p string) (int, bool) {
	return slices.BinarySearchFunc(w.docs, doc{col: c, path: p}, doc.compare)
}

// same finds a doc of another view: the same bytes at the same path.
func (w *contents) same(d doc) (int, bool) {
	i, ok := w.find(d.col, d.path)
	return i, ok && w.docs[i].blob == d.blob
}

// of is where the docs of a collection are.
func (w *contents) of(c *collection) (from, to int) {
	from, _ = w.find(c, "")
	n, _ := slices.BinarySearchFunc(w.docs[from:], c.Name, func(d doc, name string) int {
		if strings.Compare(d.col.Name, name) > 0 {
			return 0
		}
		return -1
	})
	return from, from + n
}

// where maps each blob to its first doc, to read it.
func (w *contents) where() map[note.ID]int {
	w.placing.Do(func() {
		w.firsts = make(map[note.ID]int, len(w.docs))
		for i, d := range w.docs {
			if _, ok := w.firsts[d.blob]; !ok {
				w.firsts[d.blob] = i
			}
		}
	})
	return w.firsts
}

// blobSet is blobs of a view, and a doc of each.
type blobSet struct {
	*view
	where map[note.ID]int
}

// blobsSince are those of the docs that an earlier view has not; with nil, all.
func (w *view) blobsSince(s *since) blobSet {
	if s == nil {
		return blobSet{w, w.where()}
	}
	where := make(map[note.ID]int, len(s.fresh))
	for _, i := range s.fresh {
		if _, ok := where[w.docs[i].blob]; !ok {
			where[w.docs[i].blob] = i
		}
	}
	return blobSet{w, where}
}

// ids are the blobs, in the order of their docs.
func (b blobSet) ids() []note.ID {
	docs := slices.Sorted(maps.Values(b.where))
	ids := make([]note.ID, len(docs))
	for k, i := range docs {
		ids[k] = b.docs[i].blob
	}
	return ids
}

// load reads the bytes of blobs, wherever they are: in a repository's objects or,
// not yet committed, in its work tree.
func (b blobSet) load(ctx context.Context, ids []note.ID, fn func(note.ID, []byte, error) error) error {
	w := b.view
	for _, base := range w.bases {
		var mine []note.ID
		for _, id := range ids {
			i := b.where[id]
			if w.docs[i].col.repo != base.repo {
				continue
			}
			if !w.docs[i].uncommitted {
				mine = append(mine, id)
				continue
			}
			src, err := w.bytes(i)
			if errors.Is(err, gitstore.ErrChanged) {
				return err // the view is out of date
			}
			if err := w.pass(fn, id, src, err); err != nil {
				return err
			}
		}
		err := base.repo.Blobs(ctx, mine, func(id note.ID, src []byte, err error) error { return w.pass(fn, id, src, err) })
		if err != nil {
			return err
		}
	}
	return nil
}
