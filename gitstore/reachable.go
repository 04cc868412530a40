package gitstore

import (
	"context"
	"fmt"

	"kb/note"
)

// EachBlob calls fn with every regular file's blob in every commit that is
// reachable from tips, once. It reads each tree once, whatever the number of
// commits that share it, and ends where a shallow clone does.
func (r *Repo) EachBlob(ctx context.Context, tips []CommitID, fn func(note.ID)) error {
	shallow, err := r.shallow()
	if err != nil {
		return fmt.Errorf("walk history: %w", err)
	}
	w := blobWalk{ctx: ctx, repo: r, fn: fn, seen: map[oid]bool{}}
	queue := append([]CommitID(nil), tips...)
	for len(queue) > 0 {
		id := queue[len(queue)-1]
		queue = queue[:len(queue)-1]
		if w.seen[oid(id)] {
			continue
		}
		w.seen[oid(id)] = true
		c, err := r.node(id)
		if err != nil {
			return fmt.Errorf("walk history: %w", err)
		}
		if err := w.tree(oid(c.tree), 1); err != nil {
			return fmt.Errorf("walk history at %s: %w", id, err)
		}
		if !shallow[id] {
			queue = append(queue, c.parents...)
		}
	}
	return nil
}

// blobWalk goes through trees that it has not seen yet.
type blobWalk struct {
	ctx  context.Context
	repo *Repo
	fn   func(note.ID)
	seen map[oid]bool
}

func (w *blobWalk) tree(id oid, depth int) error {
	if err := w.ctx.Err(); err != nil || w.seen[id] || depth > MaxDepth {
		return err
	}
	w.seen[id] = true
	t, err := w.repo.treeOf(id)
	if err != nil {
		return err
	}
	for i := range t.entries {
		e := &t.entries[i]
		switch {
		case e.mode == modeDir:
			if err := w.tree(e.id, depth+1); err != nil {
				return err
			}
		case e.mode.isFile() && !w.seen[e.id]:
			w.seen[e.id] = true
			w.fn(note.ID(e.id))
		}
	}
	return nil
}
