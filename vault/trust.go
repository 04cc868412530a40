package vault

import (
	"errors"
	"strings"

	"kb/gitstore"
)

// onlyDrafted reports whether a commit of the view is reached by drafts, open
// or kept, but not by the branch that people publish on: its text was not
// reviewed, whatever name it was asked for by.
func (w *view) onlyDrafted() (bool, error) {
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
		drafted, err := b.repo.reaches(tips, b.commit)
		if err != nil || !drafted {
			return false, err
		}
		base, err := w.v.baseBranch(b.repo)
		if errors.Is(err, gitstore.ErrUnborn) {
			return true, nil
		}
		if err != nil {
			return false, noRevision(w.v.cfg.DraftBase, err)
		}
		published, err := b.repo.reaches([]gitstore.CommitID{base}, b.commit)
		if err != nil || !published {
			return !published, err
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

// reaches reports whether id is one of tips or an ancestor of one.
func (r *repo) reaches(tips []gitstore.CommitID, id gitstore.CommitID) (bool, error) {
	want, err := r.Commit(id)
	if err != nil {
		return false, err
	}
	queue := append([]gitstore.CommitID(nil), tips...)
	seen := map[gitstore.CommitID]bool{}
	for len(queue) > 0 {
		at := queue[len(queue)-1]
		queue = queue[:len(queue)-1]
		if at == id {
			return true, nil
		}
		if seen[at] {
			continue
		}
		seen[at] = true
		c, err := r.Commit(at)
		if errors.Is(err, gitstore.ErrNotFound) {
			continue // beyond a shallow boundary
		}
		if err != nil {
			return false, err
		}
		// Clocks may be wrong by a day; nothing older than that has id as an ancestor.
		const skew = 24 * 3600
		if c.Committer.When.Unix()+skew >= want.Committer.When.Unix() {
			queue = append(queue, c.Parents...)
		}
	}
	return false, nil
}
