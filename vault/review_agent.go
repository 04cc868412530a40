package vault

import (
	"context"
	"strings"

	"kb/gitstore"
)

// mayDecide says why the caller may not merge or reject the draft, if it may
// not. People may. An agent needs leave, must say which commit it read, and
// decides about no draft in which it has a part, nor about notes that it does not see.
func (v *Vault) mayDecide(ctx context.Context, d draftOf, commit string) error {
	if v.audience != Agent {
		return nil
	}
	if !v.caller.Reviews {
		return errorf(Forbidden, "drafts are merged and rejected by people").hint("kb_drafts tells what became of a draft")
	}
	seen, err := d.seen(ctx, v)
	switch {
	case err != nil:
		return err
	case !seen:
		return noDraft(d.Name, nil)
	case d.hidden:
		return errorf(Forbidden, "draft %s also changes notes that agents do not see", v.draftName(d)).hint("a person decides about it")
	case strings.TrimSpace(commit) == "":
		return errorf(Usage, "commit is missing: the draft's commit that you read").hint("kb_drafts name=%s names it", v.draftName(d))
	}
	name, err := v.ownPart(ctx, d)
	if err == nil && name != "" {
		return errorf(Forbidden, "draft %s is by %s, as whom you call: others decide about it", v.draftName(d), name)
	}
	return err
}

// ownPart returns the caller's name when a commit of the draft is by it: by its
// name, or by its address.
func (v *Vault) ownPart(ctx context.Context, d draftOf) (string, error) {
	name, address := v.caller.identity()
	commits := []gitstore.CommitID{d.Tip}
	if !d.Base.IsZero() {
		parted, err := d.repo.Diverge(ctx, d.Base, d.Tip)
		if err != nil {
			return "", errorf(Internal, "read draft %s: %w", d.Name, err)
		}
		commits = append(commits, parted.Theirs...)
	}
	for _, id := range commits {
		c, err := d.repo.Commit(id)
		if err != nil {
			return "", errorf(Internal, "read draft %s: %w", d.Name, err)
		}
		if strings.EqualFold(c.Author.Email, address) || sameName(c.Author.Name, name) || isAgent(c, name) {
			return name, nil
		}
	}
	return "", nil
}

func sameName(a, b string) bool {
	return strings.EqualFold(strings.Join(strings.Fields(a), " "), strings.Join(strings.Fields(b), " "))
}

// isAgent reports whether a commit says that an agent of that name made it.
func isAgent(c *gitstore.Commit, name string) bool {
	for _, t := range c.Trailers {
		if t.Key == "Kb-Agent" && sameName(t.Value, name) {
			return true
		}
	}
	return false
}
