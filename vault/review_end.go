package vault

import (
	"context"
	"errors"
	"strings"

	"kb/draft"
)

// ReviewRejectParams says why a draft is not wanted.
type ReviewRejectParams struct {
	draftParam
	Reason string `json:"reason" required:"" help:"why, for whoever wrote it"`
	Commit string `json:"commit,omitempty" help:"fail if the draft is not at this commit"`
}

// ReviewEnded is a draft after it was rejected, reopened or taken back.
type ReviewEnded struct {
	Name   string `json:"name"`
	State  string `json:"state"`
	Branch string `json:"branch,omitempty"` // of an open draft
	Commit string `json:"commit"`
	Kept   string `json:"kept,omitempty"` // the ref that keeps a rejected draft
	Reason string `json:"reason,omitempty"`
	Undoes string `json:"undoes,omitempty"` // the draft that this one takes back
}

var reviewRejectOp = define(Op{
	Name:        "review_reject",
	Under:       "review",
	Title:       "Reject a draft",
	Summary:     "Reject a draft, with a reason that the agent can read",
	Description: "End somebody else's draft, with a reason that its author reads in kb_drafts. Give the commit that you read.",
	Examples:    []string{"kb review reject retry-notes --reason 'the limits are in limits.md already'"},
	People:      true,
	Review:      true,
	Writes:      true,
}, (*Vault).ReviewReject)

// ReviewReject ends a draft; it stays readable under refs/kb/rejected.
func (v *Vault) ReviewReject(ctx context.Context, p ReviewRejectParams) (*ReviewEnded, error) {
	d, err := v.reviewOpen(ctx, p.Name)
	if err != nil {
		return nil, err
	}
	if err := v.mayDecide(ctx, d, p.Commit); err != nil {
		return nil, err
	}
	if err := d.at(p.Commit); err != nil {
		return nil, err
	}
	who, err := v.author(ctx, d.repo)
	if err != nil {
		return nil, err
	}
	done, err := d.store.Reject(ctx, d.Name, strings.TrimSpace(p.Reason), who)
	if err != nil {
		return nil, draftError(err)
	}
	return &ReviewEnded{Name: v.draftName(d), State: string(done.State), Commit: done.Tip.String(), Kept: done.Kept, Reason: done.Reason}, nil
}

// ReviewReopenParams names a rejected draft.
type ReviewReopenParams struct{ draftParam }

var reviewReopenOp = define(Op{
	Name:     "review_reopen",
	Under:    "review",
	Summary:  "Make a rejected draft an open one again",
	Examples: []string{"kb review reopen retry-notes"},
	People:   true,
	Writes:   true,
}, (*Vault).ReviewReopen)

// ReviewReopen opens a rejected draft again.
func (v *Vault) ReviewReopen(ctx context.Context, p ReviewReopenParams) (*ReviewEnded, error) {
	d, err := v.review(ctx, p.Name)
	if err != nil {
		return nil, err
	}
	switch d.State {
	case draft.Open:
		return nil, errorf(Conflict, "draft %s is open", d.Name)
	case draft.Merged:
		return nil, errorf(Conflict, "draft %s was merged", d.Name).hint("kb review undo %s makes a draft that takes it back", d.Name)
	}
	who, err := v.author(ctx, d.repo)
	if err != nil {
		return nil, err
	}
	done, err := d.store.Reopen(ctx, d.Name, who)
	if err != nil {
		return nil, draftError(err)
	}
	return &ReviewEnded{Name: v.draftName(draftOf{Draft: done, repo: d.repo, store: d.store}), State: string(done.State), Branch: branchName(done.Ref), Commit: done.Tip.String()}, nil
}

// ReviewUndoParams names a merged draft.
type ReviewUndoParams struct{ draftParam }

var reviewUndoOp = define(Op{
	Name:     "review_undo",
	Under:    "review",
	Summary:  "Make a draft that takes back what merging another one did",
	Examples: []string{"kb review undo retry-notes", "kb review merge undo-retry-notes"},
	People:   true,
	Writes:   true,
}, (*Vault).ReviewUndo)

// ReviewUndo reverts a merge, as a draft: what later commits changed stays.
func (v *Vault) ReviewUndo(ctx context.Context, p ReviewUndoParams) (*ReviewEnded, error) {
	d, err := v.review(ctx, p.Name)
	if err != nil {
		return nil, err
	}
	who, err := v.author(ctx, d.repo)
	if err != nil {
		return nil, err
	}
	made, err := d.store.Undo(ctx, d.Name, who)
	var conflict *draft.ConflictError
	if errors.As(err, &conflict) {
		return nil, errorf(Conflict, "later commits changed what draft %s did: %s", d.Name, conflictPaths(d, conflict)).
			hint("revert it with git, and decide there: kb review list --state merged --json names its merge")
	}
	if errors.Is(err, draft.ErrNotFound) {
		return nil, nothingMerged(v.draftName(d), d.State)
	}
	if err != nil {
		return nil, draftError(err)
	}
	name := v.draftName(draftOf{Draft: &draft.Draft{Name: made.Draft}, repo: d.repo, store: d.store})
	return &ReviewEnded{Name: name, State: string(draft.Open), Branch: branchName(made.Ref), Commit: made.Commit.String(), Undoes: v.draftName(d)}, nil
}

// nothingMerged says why there is nothing to take back.
func nothingMerged(name string, state draft.State) error {
	switch state {
	case draft.Merged:
		return errorf(Conflict, "draft %s was merged with git, not with kb: which commit did it is not on record", name).
			hint("git log --merges finds it, git revert -m 1 takes it back")
	case draft.Rejected:
		return errorf(Conflict, "draft %s was rejected: there is no merge to take back", name)
	}
	return errorf(Conflict, "draft %s is open, and nothing of it was merged: there is no merge to take back", name)
}

func conflictPaths(d draftOf, e *draft.ConflictError) string {
	var paths []string
	for _, c := range e.Conflicts {
		_, p := d.repo.locate(c.Path)
		paths = append(paths, p+": "+conflictText(c))
	}
	return clip(strings.Join(paths, "; "), 400)
}

// Text says what became of the draft.
func (r *ReviewEnded) Text(t *Text) {
	switch {
	case r.Undoes != "":
		t.Printf("draft %s takes back %s %s\n", t.Strong(r.Name), t.Strong(r.Undoes), t.Dim("- kb review merge "+r.Name))
	case r.State == string(draft.Rejected):
		t.Printf("rejected %s: %s %s\n", t.Strong(r.Name), t.Plain(r.Reason), t.Dim("- kb review reopen "+r.Name))
	default:
		t.Printf("draft %s is open again %s\n", t.Strong(r.Name), t.Dim("- "+r.Branch))
	}
}
