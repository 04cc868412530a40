package draft

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"kb/gitstore"
)

// MergeRequest says what of a draft is to be merged, and how.
type MergeRequest struct {
	Name   string
	Tip    gitstore.CommitID // what the reviewer saw; zero for whatever is there
	Into   string            // a branch in full; "" for the base
	Squash bool              // one commit, without the draft's own in its history

	// Only are the files to merge, or directories, as Edits leave them; nil for
	// all. A renamed file goes by either name. The rest stays as the draft: one
	// commit on top of what was merged or, if the rest is in conflict, where the
	// draft had left its base.
	Only []string
	// Edits are made to what is merged: a note that is to be at another place.
	Edits []gitstore.Edit
	// Parts are files of which not all is merged: the bytes are what the branch
	// gets, and what that leaves of the draft's change stays as the draft. With
	// Only, they must be among its files.
	Parts []gitstore.Edit

	Reviewer gitstore.Signature // zero: the user
	Subject  string             // of the commit; "" for "Merge draft NAME"
	Message  string             // the rest of it
	Trailers []gitstore.Trailer // besides Kb-Draft and Reviewed-by

	// Check sees the commit that the branch is to have, before it has it; an
	// error is returned, and nothing was merged. It is called again if the branch
	// moved meanwhile.
	Check func(ctx context.Context, merged gitstore.CommitID) error
}

// Merge is what a merge did.
type Merge struct {
	Draft     string
	Into      string
	Before    gitstore.CommitID // where the branch was
	Commit    gitstore.CommitID // where it is
	Tip       gitstore.CommitID // of the draft, as it was merged
	Rest      gitstore.CommitID // where the draft is now; zero: all of it was merged
	Kept      string            // the ref that keeps Tip
	Changes   []gitstore.Change // of the branch
	Worktrees []string          // directories that followed
}

// ConflictError says that a draft and a branch do not merge by themselves.
type ConflictError struct {
	Draft, Into string
	Conflicts   []gitstore.Conflict
}

func (e *ConflictError) Error() string {
	paths := make([]string, 0, len(e.Conflicts))
	for _, c := range e.Conflicts {
		paths = append(paths, c.Path)
	}
	return fmt.Sprintf("drafts/%s changes %s, and so did %s", e.Draft, strings.Join(slices.Compact(paths), ", "), shortBranch(e.Into))
}

// DirtyError says which files of a work tree are in the way of a merge.
type DirtyError = gitstore.DirtyError

func shortBranch(ref string) string { return strings.TrimPrefix(ref, "refs/heads/") }

// Merge merges a draft into a branch. If the branch moved meanwhile, it merges
// again.
//
// Work trees that have the branch checked out follow, in exactly the files that
// the merge changes; what else is changed or staged there stays. Without the git
// program a branch that is checked out cannot be merged into.
//
// Errors wrap [ErrNotFound], [ErrClosed], [ErrMoved] when the draft is not at
// Tip, [ErrNoChange] when Only names what the draft does not change,
// [ErrCheckedOut], [gitstore.ErrNoGit]; or are a *[ConflictError] or a
// *[DirtyError].
func (s *Store) Merge(ctx context.Context, req MergeRequest) (*Merge, error) {
	for range tries {
		m, err := s.mergeOnce(ctx, &req)
		if !errors.Is(err, gitstore.ErrMoved) || errors.Is(err, errTip) {
			return m, err
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
	return nil, fmt.Errorf("merge draft %s: %w: other writers were faster %d times", req.Name, gitstore.ErrLocked, tries)
}

// errTip is the one ErrMoved that is the caller's business.
var errTip = fmt.Errorf("the draft %w", gitstore.ErrMoved)

func (s *Store) mergeOnce(ctx context.Context, req *MergeRequest) (*Merge, error) {
	snap, err := s.snapshot()
	if err != nil {
		return nil, err
	}
	p := &merging{Store: s, ctx: ctx, req: req, snap: snap, batch: s.Repo.Batch()}
	for _, step := range [...]func() error{p.find, p.mergeTrees, p.pick, p.commit, p.check, p.rest, p.move} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	return &p.done, nil
}

// merging is one attempt to merge.
type merging struct {
	*Store
	ctx   context.Context
	req   *MergeRequest
	snap  *snapshot
	batch *gitstore.Batch

	draft     *Draft
	committer gitstore.Signature
	reviewer  gitstore.Signature
	onto      *gitstore.Commit
	conflicts []gitstore.Conflict
	bases     []gitstore.CommitID
	whole     gitstore.TreeID // what merging all of the draft gives, Edits made
	chosen    []string        // the paths that are merged; nil: all
	picked    gitstore.TreeID // what is merged of it
	done      Merge
}

func (p *merging) find() (err error) {
	if p.draft, err = p.openDraft(p.ctx, p.snap, p.req.Name, p.req.Tip); err != nil {
		return err
	}
	if err := p.notInUse(); err != nil {
		return err
	}
	into := cmp.Or(p.req.Into, p.Base)
	before, err := p.branch(into)
	if err != nil {
		return err
	}
	p.done = Merge{Draft: p.draft.Name, Into: into, Before: before, Tip: p.draft.Tip, Changes: []gitstore.Change{}, Worktrees: []string{}}
	if p.onto, err = p.Repo.Commit(before); err != nil {
		return err
	}
	if p.committer, err = p.Store.committer(p.ctx); err != nil {
		return err
	}
	p.reviewer = orElse(p.req.Reviewer, p.committer)
	return nil
}

// notInUse refuses to move or make a branch that is in use.
func (p *merging) notInUse() error {
	name := p.draft.localName()
	if p.draft.Remote == "" {
		return p.notCheckedOut(p.draft.Ref)
	}
	if _, taken := p.snap.tips[name]; taken && len(p.req.Only)+len(p.req.Parts) > 0 {
		return fmt.Errorf("%w: the rest of %s would become drafts/%s, which exists", ErrNameTaken, p.draft.Name, name)
	}
	return nil
}

// openDraft finds a draft that is open and at tip, if that is not zero.
func (s *Store) openDraft(ctx context.Context, snap *snapshot, name string, tip gitstore.CommitID) (*Draft, error) {
	d, err := s.find(ctx, snap, name)
	switch {
	case err != nil:
		return nil, err
	case d.State != Open && d.By.Name != "":
		return nil, fmt.Errorf("%w: %s was %s", ErrClosed, name, d.State)
	case !tip.IsZero() && d.Tip != tip:
		return nil, fmt.Errorf("draft %s: %w: it is at %s, not at %s", name, errTip, d.Tip, tip)
	}
	return d, nil
}

func (p *merging) mergeTrees() error {
	res, err := p.batch.Merge(p.ctx, p.done.Before, p.draft.Tip)
	if err != nil {
		return fmt.Errorf("merge draft %s: %w", p.draft.Name, err)
	}
	p.conflicts, p.bases = res.Conflicts, res.Bases
	if len(res.Conflicts) > 0 && len(p.req.Only) == 0 {
		return p.conflict()
	}
	if p.whole, err = p.batch.EditTree(p.ctx, res.Tree, p.req.Edits); err != nil {
		return fmt.Errorf("merge draft %s: %w", p.draft.Name, err)
	}
	return p.batch.Flush()
}

func (p *merging) conflict() error { return &ConflictError{p.draft.Name, p.done.Into, p.conflicts} }

func (p *merging) commit() (err error) {
	if p.picked == p.onto.Tree {
		if done, err := p.Repo.IsAncestor(p.ctx, p.draft.Tip, p.done.Before); err != nil || done {
			p.done.Commit = p.done.Before // somebody merged it with git
			return err
		}
	}
	c := &gitstore.Commit{Tree: p.picked, Parents: []gitstore.CommitID{p.done.Before, p.draft.Tip}, Author: p.reviewer, Committer: p.committer}
	name := p.draft.localName()
	list := append([]gitstore.Trailer{{Key: trailerDraft, Value: name}}, p.req.Trailers...)
	body := p.req.Message
	if p.req.Squash || p.picked != p.whole {
		own, err := p.ownOfPart()
		if err != nil {
			return err
		}
		c.Parents = c.Parents[:1]
		c.Author = author(own, p.draft)
		body = strings.TrimSpace(body + "\n\n" + subjects(own))
		list = append(list, credits(own)...)
	}
	list = append(list, gitstore.Trailer{Key: trailerReview, Value: ident(p.reviewer)})
	c.Message = gitstore.CommitMessage(cmp.Or(p.req.Subject, "Merge draft "+name), body, list)
	if p.done.Commit, err = p.batch.WriteCommit(p.ctx, c); err != nil {
		return err
	}
	p.done.Changes, err = p.Repo.DiffTrees(p.ctx, p.onto.Tree, p.picked)
	return err
}

// subjects lists what commits say, oldest first.
func subjects(own []*gitstore.Commit) string {
	var b strings.Builder
	for _, c := range slices.Backward(own) {
		b.WriteString("- " + c.Subject + "\n")
	}
	return b.String()
}

// credits are the trailers of commits that say who made them of what.
func credits(own []*gitstore.Commit) []gitstore.Trailer {
	var list []gitstore.Trailer
	for _, c := range slices.Backward(own) {
		for _, t := range c.Trailers {
			if slices.Contains(creditKeys, t.Key) && !slices.Contains(list, t) {
				list = append(list, t)
			}
		}
	}
	return list
}

var creditKeys = []string{trailerAgent, trailerClient, trailerSource, trailerCoAuthor}

func ident(s gitstore.Signature) string { return s.Name + " <" + s.Email + ">" }

// check shows the commit to who has to agree.
func (p *merging) check() error {
	if p.req.Check == nil {
		return nil
	}
	if err := p.batch.Flush(); err != nil {
		return err
	}
	return p.req.Check(p.ctx, p.done.Commit)
}

// move moves all refs.
func (p *merging) move() error {
	e := ending{draft: p.draft, state: Merged, by: p.reviewer, reason: p.req.Message, trailers: []gitstore.Trailer{
		{Key: trailerInto, Value: p.done.Into}, {Key: trailerMerge, Value: p.done.Commit.String()}, {Key: trailerReview, Value: ident(p.reviewer)},
	}}
	if !p.done.Rest.IsZero() {
		e.trailers = append(e.trailers, gitstore.Trailer{Key: trailerRest, Value: p.done.Rest.String()})
	}
	updates, err := p.close(p.ctx, p.batch, p.snap, e)
	if err != nil {
		return err
	}
	p.done.Kept = updates[0].Name
	if p.done.Worktrees, err = p.Repo.CheckedOut(p.done.Into); err != nil {
		return err
	}
	why := "kb: merge draft " + p.draft.Name
	updates = append(updates, gitstore.RefUpdate{Name: p.done.Into, Old: p.done.Before, New: p.done.Commit, Message: why, Checkout: true})
	if branch := p.branchUpdate(); p.draft.Remote == "" || !p.done.Rest.IsZero() {
		updates = append(updates, branch)
	}
	return p.batch.UpdateRefs(p.ctx, p.committer, updates)
}

// branchUpdate makes the rest the draft's branch, or removes that. The rest of
// another repository's draft becomes one of this repository.
func (p *merging) branchUpdate() gitstore.RefUpdate {
	u := gitstore.RefUpdate{Name: branchPrefix + p.draft.localName(), New: p.done.Rest, Message: "kb: the rest of a merge in part"}
	if p.draft.Remote == "" {
		u.Old = p.draft.Tip
	}
	return u
}
