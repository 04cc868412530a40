package gitstore

import (
	"context"
	"path/filepath"
	"sync"
)

// Flush makes everything durable that the batch has made.
func (b *Batch) Flush() error {
	todo := b.order[b.stored:]
	b.stored = len(b.order)
	if b.repo.collecting() {
		return b.flushPack()
	}
	if err := b.flushLoose(todo); err != nil {
		return err
	}
	for _, id := range todo {
		if o := b.made[id]; o.kind == kindTree {
			b.repo.fresh.put(id, o, len(o.data))
		}
	}
	return nil
}

// flushLoose writes objects as files of their own. What makes the files durable
// is done for all at once: the disk needs hardly longer than for one.
func (b *Batch) flushLoose(ids []oid) error {
	files := make([]looseWrite, 0, len(ids))
	for _, id := range ids {
		if !b.repo.freshen(id) {
			files = append(files, looseWrite{id: id, object: b.made[id]})
		}
	}
	err := inParallel(len(files), func(i int) error { return files[i].write(b.repo) })
	for i := range files {
		if e := files[i].name(b.repo, err); err == nil {
			err = e
		}
	}
	if err != nil {
		return err
	}
	dirs := map[string]bool{}
	for i := range files {
		dirs[filepath.Dir(files[i].file)] = true
	}
	list := make([]string, 0, len(dirs))
	for dir := range dirs {
		list = append(list, dir)
	}
	return inParallel(len(list), func(i int) error { return syncLeft(list[i]) })
}

// inParallel calls fn with 0 to n-1, some at a time, and returns an error of one.
func inParallel(n int, fn func(i int) error) error {
	const most = 8
	var wait sync.WaitGroup
	free := make(chan struct{}, most)
	errs := make([]error, n)
	for i := range n {
		free <- struct{}{}
		wait.Go(func() {
			errs[i] = fn(i)
			<-free
		})
	}
	wait.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// UpdateRefs makes the batch durable and moves refs to what it made, all of them
// or none, whenever the process dies. Errors are those of [Repo.UpdateRef]; of an
// update with Checkout, a *[DirtyError] when files of a work tree are in the way,
// and one that wraps [ErrNoGit].
//
// Of two writers of this package the one that comes later finds out before it has
// written anything.
func (b *Batch) UpdateRefs(ctx context.Context, who Signature, list []RefUpdate) error {
	err := b.repo.checkUpdates(who, list, func(id CommitID) error {
		_, err := b.read(kindCommit, oid(id))
		return err
	})
	if err != nil {
		return err
	}
	err = b.repo.guarded(func(g *guard) error {
		var moves []RefUpdate
		for i, u := range list {
			if err := b.repo.compareRef(u.Name, u.Old); err != nil {
				return refError(&list[i], err)
			}
			if u.New != u.Old {
				moves = append(moves, u)
			}
		}
		if err := b.Flush(); err != nil {
			return err
		}
		return g.moveRefs(ctx, who, moves)
	})
	b.release()
	if err != nil {
		return err
	}
	return b.secure()
}

// secure makes sure that everything the batch made is there, now that refs lead
// to it. A garbage collection that read the refs before they moved took it for
// left over, and may go on removing it; but only what lies loose.
func (b *Batch) secure() error {
	if len(b.kept) == 0 && b.repo.collecting() {
		defer b.release()
		return b.flushPack()
	}
	var gone []oid
	for _, id := range b.order {
		if !b.repo.has(id) {
			gone = append(gone, id)
		}
	}
	return b.flushLoose(gone)
}
