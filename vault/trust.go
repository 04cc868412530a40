package vault

import (
	"context"
	"errors"
	"strings"

	"kb/gitstore"
)

// onlyDrafted reports whether a commit of the view is reached by drafts, open
// or kept, but not by the branch that people publish on: its text was not
// reviewed, whatever name it was asked for by.
func (w *view) onlyDrafted(ctx context.Context) (bool, error) {
	for _, b := range w.bases {
		if b.commit.IsZero() || b.worktree {
			continue
		}
		tips, err := b.repo.draftTips()
		if err != nil {
			return false, errorf(Internal, "read the drafts of %s: %w", b.repo.GitDir(), err)
		}
		if len(tips) == 0 {
			continue
		}
		drafted, err := b.repo.ReachedBy(ctx, tips, b.commit)
		if err != nil {
			return false, errorf(Internal, "read the history of %s: %w", b.repo.GitDir(), err)
		}
		if !drafted {
			continue
		}
		base, err := w.v.baseBranch(b.repo)
		if errors.Is(err, gitstore.ErrUnborn) {
			return true, nil
		}
		if err != nil {
			return false, noRevision(w.v.cfg.DraftBase, err)
		}
		published, err := b.repo.ReachedBy(ctx, []gitstore.CommitID{base}, b.commit)
		if err != nil {
			return false, errorf(Internal, "read the history of %s: %w", b.repo.GitDir(), err)
		}
		if !published {
			return true, nil
		}
	}
	return false, nil
}

// draftTips are the commits of open drafts, of those that came from a remote,
// and of those that were merged or rejected.
func (r *repo) draftTips() ([]gitstore.CommitID, error) {
	refs, err := r.Refs("")
	if err != nil {
		return nil, err
	}
	var tips []gitstore.CommitID
	for _, ref := range refs {
		name := ref.Name
		if strings.HasPrefix(name, "refs/heads/drafts/") || strings.HasPrefix(name, "refs/kb/") ||
			strings.HasPrefix(name, "refs/remotes/") && strings.Contains(name, "/drafts/") {
			if ref.Err == nil {
				tips = append(tips, ref.Commit)
			}
		}
	}
	return tips, nil
}
