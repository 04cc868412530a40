package gitstore

import (
	"context"
	"fmt"

	"kb/note"
)

// Batch makes objects that become durable together, which costs hardly more
// than one, and moves refs to them. It has the bytes of all that it made, so
// that a garbage collection at a bad moment takes nothing away. A Batch is for
// one goroutine.
type Batch struct {
	repo   *Repo
	made   map[oid]object
	order  []oid // what was made, each after what it is made of
	stored int   // so many of them are durable
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

// Flush makes everything durable that the batch has made.
func (b *Batch) Flush() error {
	for ; b.stored < len(b.order); b.stored++ {
		if _, err := b.repo.writeObject(b.made[b.order[b.stored]]); err != nil {
			return err
		}
	}
	return nil
}

// RefUpdate is one ref's move among several.
type RefUpdate struct {
	Name    string
	Old     CommitID // where it is; zero: it must not exist
	New     CommitID // where it goes; zero: it is removed
	Message string   // for its reflog
}

// UpdateRefs makes the batch durable and moves refs to what it made.
func (b *Batch) UpdateRefs(ctx context.Context, who Signature, list []RefUpdate) error {
	if err := b.Flush(); err != nil {
		return err
	}
	for _, u := range list {
		var err error
		if u.New.IsZero() {
			err = b.repo.DeleteRef(u.Name, u.Old)
		} else {
			err = b.repo.UpdateRef(u.Name, u.New, u.Old, who, u.Message)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
