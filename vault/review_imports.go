package vault

import (
	"context"

	"kb/draft"
	"kb/gitstore"
)

// onlyImports refuses a draft with anything that was not imported by a person,
// where only imports are to be merged: somebody has to read it.
func (v *Vault) onlyImports(ctx context.Context, d draftOf, p ReviewMergeParams) error {
	if !p.Imports {
		return nil
	}
	commits, err := d.repo.ownCommits(ctx, d.Base, d.Tip)
	if err != nil {
		return err
	}
	for _, c := range commits {
		if !draft.Imported(c) {
			return errorf(Conflict, "draft %s also holds what was not imported: %s, by %s", v.draftName(d), clip(oneLine(c.Subject, 100), 100), oneLine(c.Author.Name, mostName)).
				hint("read it first: kb review diff %s; kb review merge %s publishes all of it", d.Name, d.Name)
		}
	}
	return nil
}

// ownCommits are the commits that tip has and base lacks; tip's alone without a
// base.
func (r *repo) ownCommits(ctx context.Context, base, tip gitstore.CommitID) (list []*gitstore.Commit, err error) {
	ids := []gitstore.CommitID{tip}
	if !base.IsZero() {
		parted, err := r.Diverge(ctx, base, tip)
		if err != nil {
			return nil, errorf(Internal, "list the draft's commits: %w", err)
		}
		ids = parted.Theirs
	}
	for _, id := range ids {
		c, err := r.Commit(id)
		if err != nil {
			return nil, errorf(Internal, "list the draft's commits: %w", err)
		}
		list = append(list, c)
	}
	return list, nil
}
