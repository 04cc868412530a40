package gitstore

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"kb/note"
)

// Batch makes objects that become durable together, which costs hardly more
// than one, and moves refs to them. It has the bytes of all that it made, so
// that a garbage collection at a bad moment takes nothing away. A Batch is for
// one goroutine.
type Batch struct {
	repo   *Repo
	made   map[oid]object
	order  []oid    // what was made, each after what it is made of
	stored int      // so many of them are durable
	kept   []string // the files that hold git off the batch's packs
}

// Batch returns an empty batch.
func (r *Repo) Batch() *Batch { return &Batch{repo: r, made: map[oid]object{}} }

func (b *Batch) put(o object) (oid, error) {
	id := hashObject(o)
	if _, ok := b.made[id]; !ok {
		b.made[id] = o
		b.order = append(b.order, id)
	}
	return id, nil
}

func (b *Batch) read(k kind, id oid) ([]byte, error) {
	if o, ok := b.made[id]; ok && o.kind == k {
		return o.data, nil
	}
	o, err := b.repo.objectOf(k, id)
	return o.data, err
}

// Commit is [Repo.Commit], for commits of the batch too.
func (b *Batch) Commit(id CommitID) (*Commit, error) {
	data, err := b.read(kindCommit, oid(id))
	if err != nil {
		return nil, err
	}
	c, err := parseCommit(data)
	if err == nil {
		c.ID = id
	}
	return c, err
}

// EditTree is [Repo.EditTree], in the batch.
func (b *Batch) EditTree(ctx context.Context, base TreeID, edits []Edit) (TreeID, error) {
	for _, e := range edits {
		if e.Delete || e.Src != nil {
			continue
		}
		if o, err := b.repo.objectOf(kindBlob, oid(e.Blob)); err == nil {
			b.put(o) // it may be just written, and as much in danger as what is new
		}
	}
	return b.repo.editTree(ctx, base, edits, b.put, func(id oid) ([]byte, error) { return b.read(kindTree, id) })
}

// Merge is [Repo.Merge], in the batch.
func (b *Batch) Merge(ctx context.Context, ours, theirs CommitID) (*MergeResult, error) {
	return b.repo.merge(ctx, ours, theirs, b.put)
}

// MergeTrees merges what two trees made of a third, as [Repo.Merge] does. What
// theirs takes back of base is taken back in ours, if base is what a commit made
// and theirs what it was made of.
func (b *Batch) MergeTrees(ctx context.Context, base, ours, theirs TreeID) (*MergeResult, error) {
	m := newMerger(ctx, b.repo)
	m.ours, m.names = oid(ours), labels{"ours", "theirs"}
	tree, conflicts, err := m.mergeTrees(oid(base), oid(ours), oid(theirs))
	if err == nil {
		err = m.flush(tree, kindTree, b.put)
	}
	if err != nil {
		return nil, fmt.Errorf("merge trees %s and %s: %w", ours, theirs, err)
	}
	return &MergeResult{Tree: TreeID(tree), Conflicts: conflicts}, nil
}

// TakeFiles returns the tree to with the paths, whatever they are, as they are in
// from; one that from lacks is removed. Errors wrap [ErrPathConflict] where to has
// a file in the place of a directory, or the reverse.
func (b *Batch) TakeFiles(ctx context.Context, from, to TreeID, paths []string) (TreeID, error) {
	w := treeWriter{ctx: ctx, repo: b.repo, put: b.put, read: func(id oid) ([]byte, error) { return b.read(kindTree, id) },
		clash: func(path, why string) error { return fmt.Errorf("%w: %s %s", ErrPathConflict, path, why) }}
	edits := make([]pathEdit, 0, len(paths))
	for _, p := range slices.Compact(slices.Sorted(slices.Values(paths))) {
		e, err := w.find(oid(from), p)
		if err != nil {
			return TreeID{}, fmt.Errorf("take %s: %w", p, err)
		}
		edits = append(edits, pathEdit{p, e, e.isZero()})
	}
	id, err := w.edit(oid(to), "", edits)
	if err == nil && id == (oid{}) {
		id, err = b.put(object{kind: kindTree})
	}
	return TreeID(id), err
}

// find returns what a tree has at a path; zero for nothing, or a directory.
func (w *treeWriter) find(tree oid, path string) (rawEntry, error) {
	for {
		name, rest, below := strings.Cut(path, "/")
		t, _, err := w.load(tree)
		if err != nil {
			return rawEntry{}, err
		}
		e := t[name]
		switch isDir := !e.isZero() && e.mode() == modeDir; {
		case below && isDir:
			tree, path = e.id, rest
		case below || isDir:
			return rawEntry{}, nil
		default:
			return e, nil
		}
	}
}

// WriteCommit is [Repo.WriteCommit], in the batch; what is to be signed is stored
// at once.
func (b *Batch) WriteCommit(ctx context.Context, c *Commit) (CommitID, error) {
	if err := c.check(b.read); err != nil {
		return CommitID{}, fmt.Errorf("write commit: %w", err)
	}
	sign, err := b.repo.mustSign(ctx)
	if err != nil {
		return CommitID{}, fmt.Errorf("write commit: %w", err)
	}
	if sign {
		return b.signCommit(ctx, c)
	}
	data, err := encodeCommit(c)
	if err != nil {
		return CommitID{}, fmt.Errorf("write commit: %w", err)
	}
	id, err := b.put(object{kindCommit, data})
	return CommitID(id), err
}

func (b *Batch) signCommit(ctx context.Context, c *Commit) (CommitID, error) {
	if err := b.Flush(); err != nil {
		return CommitID{}, err
	}
	id, err := b.repo.signCommit(ctx, c)
	if err != nil {
		return id, err
	}
	o, err := b.repo.objectOf(kindCommit, oid(id))
	if err == nil {
		_, err = b.put(o)
	}
	return id, err
}

// Blob stores a blob in the batch.
func (b *Batch) Blob(src []byte) (note.ID, error) {
	if len(src) > MaxBlob {
		return note.ID{}, fmt.Errorf("write blob: %w: %d bytes, the limit is %d", ErrTooLarge, len(src), MaxBlob)
	}
	id, err := b.put(object{kindBlob, src})
	return note.ID(id), err
}
