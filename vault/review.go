package vault

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"kb/draft"
	"kb/gitstore"
)

// draftParam names a draft.
type draftParam struct {
	Name string `json:"name" arg:"" required:"" help:"draft; of several repositories collection:NAME, of a remote one REMOTE/NAME"`
}

// review finds the draft that name means. With several repositories a name may
// occur in more than one: collection:name says which is meant.
func (v *Vault) review(ctx context.Context, name string) (draftOf, error) {
	name = strings.TrimSpace(name)
	repos := v.repos
	if col, rest, ok := strings.Cut(name, ":"); ok {
		c, err := v.collection(col)
		if err != nil {
			return draftOf{}, err
		}
		repos, name = []*repo{c.repo}, rest
	}
	name = strings.TrimPrefix(strings.TrimPrefix(name, draftRefs), "drafts/")
	var found []draftOf
	for _, r := range repos {
		store, _, err := v.draftStore(r)
		if err != nil {
			return draftOf{}, err
		}
		d, err := store.Find(ctx, name)
		switch {
		case err == nil:
			one := draftOf{Draft: d, repo: r, store: store}
			if seen, err := one.seen(ctx, v); err != nil {
				return draftOf{}, err
			} else if seen {
				found = append(found, one)
			}
		case !errors.Is(err, draft.ErrNotFound):
			return draftOf{}, errorf(Internal, "%w", err)
		}
	}
	switch len(found) {
	case 0:
		all, err := v.findDrafts(ctx, DraftsParams{})
		if err != nil {
			return draftOf{}, err
		}
		var names []string
		for _, d := range all {
			names = append(names, v.draftName(d))
		}
		return draftOf{}, noDraft(name, names)
	case 1:
		if found[0].hidden {
			return draftOf{}, errorf(Forbidden, "draft %s also changes notes that you do not see", found[0].Name).hint("somebody who sees all of it decides about it")
		}
		return found[0], nil
	}
	var names []string
	for _, d := range found {
		names = append(names, v.draftName(d))
	}
	return draftOf{}, errorf(Usage, "%q names %d drafts", name, len(found)).hint("one of: %s", strings.Join(names, ", "))
}

// reviewOpen is review of a draft that can still be merged or rejected.
func (v *Vault) reviewOpen(ctx context.Context, name string) (draftOf, error) {
	d, err := v.review(ctx, name)
	if err == nil && d.State != draft.Open {
		e := errorf(Conflict, "draft %s was %s", d.Name, d.State)
		if d.State == draft.Rejected {
			return d, e.hint("kb review reopen %s", d.Name)
		}
		return d, e.hint("kb review undo %s makes a draft that takes it back", d.Name)
	}
	return d, err
}

// draftName is the name under which review finds d.
func (v *Vault) draftName(d draftOf) string {
	if len(v.repos) == 1 {
		return d.Name
	}
	return d.repo.cols[0].Name + ":" + d.Name
}

// at checks that the draft is where the reviewer saw it: commit is a hash, or the
// first digits of one; "" is anywhere.
func (d draftOf) at(commit string) error {
	commit = strings.ToLower(strings.TrimSpace(commit))
	switch {
	case commit == "":
		return nil
	case len(commit) < 7 || strings.Trim(commit, "0123456789abcdef") != "":
		return errorf(Usage, "commit: %q", clip(commit, 60)).hint("at least seven digits of the draft's commit: %s", d.Tip)
	case !strings.HasPrefix(d.Tip.String(), commit):
		return errorf(Stale, "draft %s moved: it is at %s, not at %s", d.Name, short(d.Tip), clip(commit, 12)).
			hint("kb review diff %s shows it as it is now", d.Name)
	}
	return nil
}

// target is the branch, in full, that a draft is merged into, and its commit: the
// one that drafts are for, unless another is named.
func (d draftOf) target(name string) (string, gitstore.CommitID, error) {
	ref := d.store.Base
	if name == "" && d.unsure != nil {
		return "", gitstore.CommitID{}, d.unsure
	}
	if name != "" {
		ref = "refs/heads/" + strings.TrimPrefix(name, "refs/heads/")
	}
	if strings.HasPrefix(ref, draftRefs) {
		return "", gitstore.CommitID{}, errorf(Usage, "%s is itself a draft", branchName(ref)).hint("--into names a branch")
	}
	if err := gitstore.CheckRefName(ref); err != nil {
		return "", gitstore.CommitID{}, errorf(Usage, "%w", err).hint("--into names a branch, such as main")
	}
	tip, err := d.repo.Resolve(ref)
	if errors.Is(err, gitstore.ErrNoRevision) {
		return "", tip, errorf(NotFound, "no branch %s", branchName(ref)).hint("--into names a branch, such as main")
	}
	if err != nil {
		return "", tip, errorf(Internal, "find %s: %w", branchName(ref), err)
	}
	return ref, tip, nil
}

func branchName(ref string) string { return strings.TrimPrefix(ref, "refs/heads/") }

// proposal compares the draft with the branch that it is for, or another.
func (d draftOf) proposal(ctx context.Context, v *Vault, into string) (*proposal, error) {
	_, tip, err := d.target(into)
	if err != nil {
		return nil, err
	}
	return v.propose(ctx, d.repo, tip, d.Tip)
}

// conflictList says where a draft and the branch disagree.
func (p *proposal) conflictList() []DraftConflict {
	list := []DraftConflict{}
	for _, c := range p.merge.Conflicts {
		col, path := p.repo.locate(c.Path)
		if !p.sight.all && (col == nil || !p.loaded(c)) {
			continue
		}
		list = append(list, DraftConflict{Path: path, Kind: string(c.Kind), Message: conflictText(c)})
	}
	return list
}

// loaded reports whether a conflict is of an edit that the caller sees.
func (p *proposal) loaded(c gitstore.Conflict) bool {
	return slices.ContainsFunc(p.edits, func(e *proposedEdit) bool {
		return e.full() == c.Path || e.full() == c.From || e.full() == c.Also || e.fullOf(e.former()) == c.Path
	})
}

// reviewFindings writes conflicts and failed checks.
func reviewFindings(t *Text, conflicts []DraftConflict, checks []CheckFinding) {
	for _, c := range conflicts {
		t.Hang("", "    ", strings.Join(nonEmpty([]string{t.Warn("conflict"), t.Accent(c.Path), t.Plain(c.Message)}), " "))
	}
	for _, f := range checks {
		t.Hang("", "    ", strings.Join(nonEmpty([]string{t.Accent(f.place()), t.Plain(f.Message), t.Dim("- " + f.Mend)}), " "))
	}
}

// place is where a finding is: "guides/retry.md:12".
func (f CheckFinding) place() string {
	if f.Path == "" {
		return ""
	}
	return fmt.Sprintf("%s:%d", f.Path, f.Line)
}
