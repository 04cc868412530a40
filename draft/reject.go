package draft

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"kb/gitstore"
)

// Reject ends an open draft without merging it: its branch goes, its tip stays
// under refs/kb/rejected, with the reason. who is the one who decided; the zero
// Signature is the user.
func (s *Store) Reject(ctx context.Context, name, reason string, who gitstore.Signature) (*Draft, error) {
	return s.retry(ctx, "reject draft "+name, func(snap *snapshot) error {
		d, err := s.openDraft(ctx, snap, name, gitstore.CommitID{})
		if err != nil {
			return err
		}
		by, err := s.committer(ctx)
		if err != nil {
			return err
		}
		b := s.Repo.Batch()
		updates, err := s.close(ctx, b, snap, ending{draft: d, state: Rejected, by: orElse(who, by), reason: reason})
		if err != nil {
			return err
		}
		if d.Remote == "" {
			if err := s.notCheckedOut(d.Ref); err != nil {
				return err
			}
			updates = append(updates, gitstore.RefUpdate{Name: d.Ref, Old: d.Tip})
		}
		return b.UpdateRefs(ctx, by, updates)
	}, name)
}

// Reopen makes a rejected draft an open one again. That it was rejected stays on
// record. NAME@2 is the second draft of the name that ended.
func (s *Store) Reopen(ctx context.Context, name string, who gitstore.Signature) (*Draft, error) {
	now, _, numbered := strings.Cut(name, "@")
	return s.retry(ctx, "reopen draft "+name, func(snap *snapshot) error {
		d, err := s.find(ctx, snap, name)
		if err != nil {
			return err
		}
		switch d.State {
		case Open:
			return fmt.Errorf("%w: %s", ErrNotClosed, name)
		case Merged:
			return fmt.Errorf("%w: %s was merged; undo that instead", ErrClosed, name)
		}
		by, err := s.committer(ctx)
		if err != nil {
			return err
		}
		b := s.Repo.Batch()
		last := snap.last(d.localName())
		if numbered {
			last = snap.at(name)
		}
		if _, taken := snap.tips[last.name]; taken && d.Remote == "" {
			return fmt.Errorf("%w: drafts/%s is open: merge or reject it first", ErrNameTaken, last.name)
		}
		updates, err := s.reopen(ctx, b, last, d, orElse(who, by), by)
		if err != nil {
			return err
		}
		return b.UpdateRefs(ctx, by, updates)
	}, now)
}

func (s *Store) reopen(ctx context.Context, b *gitstore.Batch, last *closing, d *Draft, who, committer gitstore.Signature) ([]gitstore.RefUpdate, error) {
	list := []gitstore.Trailer{{Key: trailerDraft, Value: last.name}, {Key: trailerState, Value: string(Open)}, {Key: trailerBase, Value: trailer(last.commit, trailerBase)}}
	id, err := b.WriteCommit(ctx, &gitstore.Commit{
		Tree: last.commit.Tree, Parents: []gitstore.CommitID{last.id, last.tip}, Author: who, Committer: committer,
		Message: gitstore.CommitMessage("Reopen draft "+last.name, "", list),
	})
	if err != nil {
		return nil, err
	}
	updates := []gitstore.RefUpdate{
		{Name: closedPrefix + last.place, Old: last.id, New: id, Message: "kb: reopened"},
		{Name: rejectedPrefix + last.place, Old: last.tip},
	}
	if d.Remote == "" {
		updates = append(updates, gitstore.RefUpdate{Name: branchPrefix + last.name, New: last.tip, Message: "kb: reopened"})
	}
	return updates, nil
}

// retry does something with the refs as they are until nobody else moves them
// meanwhile, and returns the draft as it then is.
func (s *Store) retry(ctx context.Context, what string, try func(*snapshot) error, name string) (*Draft, error) {
	for range tries {
		snap, err := s.snapshot()
		if err != nil {
			return nil, err
		}
		err = try(snap)
		if err == nil {
			return s.Find(ctx, name)
		}
		if !errors.Is(err, gitstore.ErrMoved) {
			return nil, fmt.Errorf("%s: %w", what, err)
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
	return nil, fmt.Errorf("%s: %w: other writers were faster %d times", what, gitstore.ErrLocked, tries)
}
