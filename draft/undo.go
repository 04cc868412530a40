package draft

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"kb/gitstore"
)

// Undo makes a draft that takes back what merging a draft did: what later commits
// changed stays. Of several merges of a name it is the last, whatever became of
// the rest; NAME@2 is the second. The draft is called undo-NAME. Errors are a *[ConflictError] when
// later commits changed the same lines; else as Append's.
func (s *Store) Undo(ctx context.Context, name string, who gitstore.Signature) (*Written, error) {
	for range tries {
		w, err := s.undoOnce(ctx, name, who)
		if !errors.Is(err, gitstore.ErrMoved) {
			return w, err
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
	return nil, fmt.Errorf("undo draft %s: %w: other writers were faster %d times", name, gitstore.ErrLocked, tries)
}

func (s *Store) undoOnce(ctx context.Context, name string, who gitstore.Signature) (*Written, error) {
	snap, err := s.snapshot()
	if err != nil {
		return nil, err
	}
	last, local := snap.merged(name)
	if last == nil {
		return nil, fmt.Errorf("undo %s: %w: no draft of that name was merged", name, ErrNotFound)
	}
	d, err := s.closed(ctx, last)
	if err != nil {
		return nil, err
	}
	merge, err := s.Repo.Commit(d.Merge)
	if err != nil {
		return nil, fmt.Errorf("undo draft %s: %w", name, err)
	}
	if len(merge.Parents) == 0 {
		return nil, fmt.Errorf("undo draft %s: %w: %s has no parent", name, gitstore.ErrUnrelated, merge.ID)
	}
	b := s.Repo.Batch()
	tree, err := s.revert(ctx, b, d, merge, snap.base)
	if err != nil {
		return nil, err
	}
	w := &Written{Draft: snap.freeName(undoName(local)), Parent: snap.base, Base: snap.base, Created: true}
	w.Ref = branchPrefix + w.Draft
	w.ended.Name = closedPrefix + w.Draft
	list := []gitstore.Trailer{{Key: trailerDraft, Value: w.Draft}}
	return w, s.addCommit(ctx, b, w, &gitstore.Commit{Tree: tree, Author: who,
		Message: gitstore.CommitMessage(fmt.Sprintf("Revert %q", merge.Subject), "This reverts commit "+merge.ID.String()+".", list)})
}

// revert returns what the base is without what a merge did.
func (s *Store) revert(ctx context.Context, b *gitstore.Batch, d *Draft, merge *gitstore.Commit, base gitstore.CommitID) (gitstore.TreeID, error) {
	now, err := s.Repo.Commit(base)
	if err != nil {
		return gitstore.TreeID{}, fmt.Errorf("undo draft %s: %w", d.Name, err)
	}
	before, err := s.Repo.Commit(merge.Parents[0])
	if err != nil {
		return gitstore.TreeID{}, fmt.Errorf("undo draft %s: %w", d.Name, err)
	}
	res, err := b.MergeTrees(ctx, merge.Tree, now.Tree, before.Tree)
	switch {
	case err != nil:
		return gitstore.TreeID{}, fmt.Errorf("undo draft %s: %w", d.Name, err)
	case len(res.Conflicts) > 0:
		return res.Tree, &ConflictError{d.Name, s.Base, res.Conflicts}
	case res.Tree == now.Tree:
		return res.Tree, fmt.Errorf("undo draft %s: %w: the base has nothing of it any more", d.Name, ErrNoChange)
	}
	return res.Tree, nil
}

func undoName(name string) string {
	name = strings.ReplaceAll(name, "@", "-")
	return strings.TrimRight(("undo-" + name)[:min(maxName, len("undo-"+name))], "-._")
}

// Push sends a ref, in full, to a remote that git knows, with the git program:
// the user's credentials, no hooks. The branch there has the same name.
func (s *Store) Push(ctx context.Context, remote, ref string) error {
	return s.Repo.Push(ctx, remote, ref)
}
