package vault

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"kb/draft"
	"kb/gitstore"
	"kb/internal/diff"
)

// ReviewMergeParams says what of a draft to merge, and how.
type ReviewMergeParams struct {
	draftParam
	Commit   string   `json:"commit,omitempty" help:"fail if the draft is not at this commit: the one that you read"`
	Into     string   `json:"into,omitempty" hidden:"" help:"a branch (default: the one that drafts are for)"`
	Only     []string `json:"only,omitempty" help:"only these notes, or directories; the rest stays as the draft"`
	Hunks    []string `json:"hunks,omitempty" hidden:"" help:"only these places of a note, PATH:0,2 as review diff --json counts them, or PATH:all"`
	Strategy string   `json:"strategy,omitempty" enum:"merge,squash" default:"merge" help:"merge keeps the draft's commits, squash makes one of them"`
	Message  string   `json:"message,omitempty" help:"what the merge says, for whoever reads its history"`
	NoCheck  bool     `json:"no_check,omitempty" hidden:"" help:"merge although checks of its notes fail; protected paths stay refused"`
	Imports  bool     `json:"imports,omitempty" hidden:"" help:"only if the draft holds nothing but what people imported: kb add and kb sync"`
	Push     string   `json:"push,omitempty" hidden:"" help:"then push the branch to this remote"`
}

// ReviewMerged is what a merge did.
type ReviewMerged struct {
	Name     string        `json:"name"`
	Into     string        `json:"into"`
	Commit   string        `json:"commit"` // where the branch is now
	Before   string        `json:"before"` // and was
	Tip      string        `json:"tip"`    // of the draft
	Strategy string        `json:"strategy"`
	Changes  []DraftChange `json:"changes"`
	Worktree bool          `json:"worktree"`       // files on disk followed, since the branch is checked out
	Rest     string        `json:"rest,omitempty"` // the draft's commit, when a part of it stays
	Kept     string        `json:"kept,omitempty"` // the ref under which citations of the draft stay valid
	Pushed   string        `json:"pushed,omitempty"`
}

var reviewMergeOp = define(Op{
	Name:        "review_merge",
	Under:       "review",
	Title:       "Merge a draft",
	Summary:     "Merge a draft: publish it on its branch",
	Description: "Publish somebody else's draft on its branch, whole or the notes in only. Read it first: kb_drafts name, get_document at=drafts/NAME; give the commit that you read.",
	Examples: []string{
		"kb review merge retry-notes",
		"kb review merge retry-notes --only guides/retry.md --strategy squash",
		"kb review merge retry-notes --push origin",
	},
	People: true,
	Review: true,
	Writes: true,
}, (*Vault).ReviewMerge)

// errBaseMoved says that the branch moved between the proposal and the merge.
var errBaseMoved = errors.New("the branch moved")

// ReviewMerge merges a draft. What it checks is the very commit that the branch
// gets. A conflict, a failed check, or files on disk in the way: nothing changed.
func (v *Vault) ReviewMerge(ctx context.Context, p ReviewMergeParams) (*ReviewMerged, error) {
	if len(p.Hunks) > 0 && len(p.Only) > 0 {
		return nil, errorf(Usage, "only and hunks are both given").hint("a note of which no hunk is named is left out: hunks alone say it all")
	}
	p.Name, p.Only = moreNames(p.Name, p.Only)
	for {
		r, err := v.mergeOnce(ctx, p)
		if !errors.Is(err, errBaseMoved) {
			return r, err
		}
		if err := ctxErr(ctx); err != nil {
			return nil, err
		}
	}
}

func (v *Vault) mergeOnce(ctx context.Context, p ReviewMergeParams) (*ReviewMerged, error) {
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
	if err := v.onlyImports(ctx, d, p); err != nil {
		return nil, err
	}
	ref, into, err := d.target(p.Into)
	if err != nil {
		return nil, err
	}
	who, err := v.author(ctx, d.repo)
	if err != nil {
		return nil, err
	}
	req := draft.MergeRequest{Name: d.Name, Tip: d.Tip, Into: ref, Squash: p.Strategy == "squash", Reviewer: who, Message: p.Message}
	x, err := v.proposePart(ctx, d, into, p, &req)
	if err != nil {
		return nil, err
	}
	req.Edits = x.placing
	req.Check = func(ctx context.Context, merged gitstore.CommitID) error { return x.agree(ctx, d, merged, p.NoCheck) }
	done, err := d.store.Merge(ctx, req)
	if err != nil {
		return nil, v.mergeFailed(d, ref, err)
	}
	r := v.mergedResult(d, done, p)
	if p.Push != "" {
		if err := d.store.Push(ctx, p.Push, ref); err != nil {
			return nil, errorf(Internal, "merged into %s as %s, but not pushed: %w", r.Into, r.Commit[:12], err).hint("git push %s %s", p.Push, r.Into)
		}
		r.Pushed = p.Push
	}
	return r, nil
}

// proposePart compares the draft with the branch, as far as it is to be merged.
func (v *Vault) proposePart(ctx context.Context, d draftOf, into gitstore.CommitID, p ReviewMergeParams, req *draft.MergeRequest) (*proposal, error) {
	x, err := v.propose(ctx, d.repo, into, d.Tip)
	if err != nil {
		return nil, err
	}
	only := p.Only
	if len(p.Hunks) > 0 {
		if only, err = x.parts(p.Hunks, req); err != nil {
			return nil, err
		}
	}
	if len(only) == 0 {
		return x, nil
	}
	chosen, err := x.choose(only)
	if err != nil {
		return nil, err
	}
	for _, e := range x.edits {
		e.skip = !slices.Contains(chosen, e)
	}
	for _, e := range chosen {
		req.Only = append(req.Only, e.full())
	}
	return x, x.place(ctx) // again: what is left out is not placed
}

// parts reads "PATH:0,2" or "PATH:all" and adds what these hunks make of each note to the
// request. It returns the paths.
func (p *proposal) parts(hunks []string, req *draft.MergeRequest) (only []string, err error) {
	for _, spec := range hunks {
		name, list, ok := cutLast(spec, ":")
		if !ok {
			return nil, errorf(Usage, "hunks: %q", clip(spec, 100)).hint("PATH:0,2: positions in the hunks of review diff --json; or PATH:all")
		}
		i := slices.IndexFunc(p.edits, func(e *proposedEdit) bool {
			return e.collection()+":"+e.path == name || e.full() == name || e.path == name
		})
		if i < 0 {
			return nil, errorf(NotFound, "the draft does not change %s", clip(name, 200))
		}
		e := p.edits[i]
		only = append(only, e.full())
		text, all, err := p.part(e, list)
		if err != nil {
			return nil, err
		}
		if !all {
			req.Parts = append(req.Parts, gitstore.Edit{Path: e.full(), Src: text})
		}
	}
	return only, nil
}

func cutLast(s, sep string) (before, after string, found bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(sep):], true
}

// part makes some hunks of an edit, and reports whether these are all.
func (p *proposal) part(e *proposedEdit, list string) (text []byte, all bool, err error) {
	if list == "all" {
		return nil, true, nil
	}
	hunks := diff.Hunks(e.old, e.now, hunkContext)
	take := map[int]bool{}
	for _, s := range strings.Split(list, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(s))
		if err != nil || n < 0 || n >= len(hunks) {
			return nil, false, errorf(Usage, "hunks: %s of %s", clip(s, 40), e.path).hint("%s has hunks 0 to %d", e.path, len(hunks)-1)
		}
		take[n] = true
	}
	if len(take) == len(hunks) {
		return nil, true, nil
	}
	if e.kind != gitstore.Changed {
		return nil, false, errorf(Usage, "%s is %s: it is merged whole or not at all", e.path, kindText[e.kind])
	}
	chosen := diff.Apply(e.old, e.now, hunks, func(i int) bool { return take[i] })
	now, err := p.repo.File(p.into, e.full())
	if err != nil {
		return nil, false, errorf(Conflict, "the branch does not have %s any more", e.path)
	}
	if now.Blob == e.oldID {
		return chosen, false, nil
	}
	ours, err := p.repo.Blob(now.Blob)
	if err != nil {
		return nil, false, errorf(Internal, "read %s: %w", e.path, err)
	}
	merged, clashes := gitstore.MergeText(e.old, ours, chosen)
	if len(clashes) > 0 {
		return nil, false, errorf(Conflict, "both changed %s where these hunks are", e.path).hint("kb review edit decides")
	}
	return merged, false, nil
}

// agree checks the commit that the branch is to get.
func (p *proposal) agree(ctx context.Context, d draftOf, merged gitstore.CommitID, noCheck bool) error {
	if merged == p.into {
		return nil // it was merged already, with git
	}
	c, err := p.repo.Commit(merged)
	if err != nil {
		return errorf(Internal, "read the merge: %w", err)
	}
	if len(c.Parents) == 0 || c.Parents[0] != p.into {
		return errBaseMoved
	}
	p.tree, p.view, p.squashed = c.Tree, nil, len(c.Parents) == 1
	p.edits = slices.DeleteFunc(slices.Clone(p.edits), func(e *proposedEdit) bool { return e.skip })
	found, err := p.check(ctx)
	if err != nil {
		return err
	}
	found = append(found, announces(c.Message)...)
	if noCheck {
		found = slices.DeleteFunc(found, func(f CheckFinding) bool { return !f.unmergeable() })
	} else if p.v.cfg.Review.Online && !p.v.cfg.Offline {
		unreachable, err := p.reach(ctx)
		if err != nil {
			return err
		}
		found = append(found, unreachable...)
	}
	return failedChecks(p.v.draftName(d), found)
}

// failedChecks is the error of a draft that should be mended first, nil for none.
func failedChecks(name string, found []CheckFinding) error {
	if len(found) == 0 {
		return nil
	}
	const most = 3
	var lines []string
	for _, f := range found[:min(most, len(found))] {
		lines = append(lines, strings.TrimSpace(f.place()+" "+f.Message))
	}
	if n := len(found) - most; n > 0 {
		lines = append(lines, fmt.Sprintf("and %d more", n))
	}
	if found[0].unmergeable() {
		return errorf(Protected, "draft %s has %s to mend: %s", name, plural(len(found), "thing"), strings.Join(lines, "; ")).
			hint("no merge takes the first: leave it out with --only, or change it with git; kb review check %s lists all", name)
	}
	return errorf(Failed, "draft %s has %s to mend: %s", name, plural(len(found), "thing"), strings.Join(lines, "; ")).
		hint("kb review check %s lists them, kb review edit %s mends them, --no-check merges all the same", name, name)
}

// mergeFailed is what the drafts' store says of a merge, in our words.
func (v *Vault) mergeFailed(d draftOf, ref string, err error) error {
	var conflict *draft.ConflictError
	var dirty *draft.DirtyError
	name := v.draftName(d)
	switch {
	case errors.As(err, &conflict):
		return conflictError(d, name, branchName(ref), conflict.Conflicts)
	case errors.As(err, &dirty):
		return dirtyError(branchName(ref), dirty)
	case errors.Is(err, draft.ErrMoved):
		return errorf(Stale, "draft %s moved while it was merged", name).hint("kb review diff %s shows it as it is now", name)
	case errors.Is(err, draft.ErrNoChange):
		return errorf(Conflict, "merging draft %s would change nothing", name).hint("kb review reject %s --reason 'is there already'", name)
	case errors.Is(err, errBaseMoved):
		return errBaseMoved
	}
	return draftError(err)
}

// dirtyError says what is in the way in a work tree, and what helps.
func dirtyError(branch string, e *draft.DirtyError) error {
	list := func(paths []string) string { return clip(strings.Join(paths, ", "), 300) }
	switch {
	case len(e.InTheWay) > 0:
		return errorf(Conflict, "%s is checked out in %s, where git does not track what is in the way: %s", branch, e.Dir, list(e.InTheWay)).
			hint("move it away, or commit it")
	case len(e.Paths) > 0:
		return errorf(Conflict, "%s is checked out, and has uncommitted changes in %s", branch, list(e.Paths)).
			hint("commit or stash them first: git stash; if git status does not show them: git update-index --no-assume-unchanged --no-skip-worktree FILE")
	}
	return errorf(Conflict, "%s is checked out, and its work tree %s %s", branch, e.Dir, e.Why).hint("finish or abort that first")
}

// conflictError names what both sides changed, and where.
func conflictError(d draftOf, name, into string, conflicts []gitstore.Conflict) error {
	const most = 4
	var where []string
	for _, c := range conflicts[:min(most, len(conflicts))] {
		_, path := d.repo.locate(c.Path)
		where = append(where, path+": "+conflictText(c))
	}
	if n := len(conflicts) - most; n > 0 {
		where = append(where, fmt.Sprintf("and %d more", n))
	}
	return errorf(Conflict, "draft %s and %s changed the same: %s", name, into, strings.Join(where, "; ")).
		hint("kb review edit %s merges %s into the draft and opens what is to be decided", name, into)
}

func (v *Vault) mergedResult(d draftOf, done *draft.Merge, p ReviewMergeParams) *ReviewMerged {
	r := &ReviewMerged{Name: v.draftName(d), Into: branchName(done.Into), Commit: done.Commit.String(), Before: done.Before.String(), Tip: done.Tip.String(),
		Strategy: p.Strategy, Changes: []DraftChange{}, Worktree: len(done.Worktrees) > 0, Kept: done.Kept}
	if !done.Rest.IsZero() {
		r.Rest = done.Rest.String()
	}
	for _, c := range done.Changes {
		col, path := d.repo.locate(c.Path)
		shown, _ := d.repo.shown(c) // it is merged, whatever the counts
		change := DraftChange{Path: path, Kind: string(c.Kind), Added: shown.change.Added, Removed: shown.change.Removed}
		if col != nil && len(v.cols) > 1 {
			change.Collection = col.Name
		}
		if c.From != "" {
			_, change.From = d.repo.locate(c.From)
		}
		r.Changes = append(r.Changes, change)
	}
	return r
}

// Text says what was merged.
func (r *ReviewMerged) Text(t *Text) {
	t.Printf("merged %s into %s %s\n", t.Strong(r.Name), t.Strong(r.Into), t.Dim(r.Before[:12]+" → "+r.Commit[:12]))
	for _, c := range r.Changes {
		name := t.Accent(c.Path)
		if c.From != "" {
			name = t.Accent(c.From) + " → " + name
		}
		t.Printf("  %s %s\n", name, t.Dim(kindTextOf(c.Kind)))
	}
	switch {
	case r.Worktree:
		t.Printf("%s\n", t.Dim("the files of the work tree follow"))
	default:
		t.Printf("%s\n", t.Dim(r.Into+" is not checked out: no file on disk changed"))
	}
	if r.Rest != "" {
		t.Printf("the rest stays as the draft %s\n", t.Strong(r.Name))
	}
	if r.Pushed != "" {
		t.Printf("pushed to %s\n", t.Strong(r.Pushed))
	}
}
