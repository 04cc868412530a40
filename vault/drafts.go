package vault

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"kb/draft"
	"kb/gitstore"
)

// DraftsParams asks what became of drafts.
type DraftsParams struct {
	Name       string `json:"name,omitempty" arg:"" help:"only this draft"`
	State      string `json:"state,omitempty" enum:"open,merged,rejected" help:"only these"`
	MaxResults int    `json:"max_results,omitempty" also:"limit" default:"20" min:"1" max:"500" help:"drafts"`
	MaxTokens  int    `json:"max_tokens,omitempty" default:"6000" min:"100" help:"budget"`
	Cursor     string `json:"cursor,omitempty" help:"next of an answer"`
}

// DraftsResult lists drafts: open ones first, the newest first.
type DraftsResult struct {
	Drafts []DraftInfo `json:"drafts"`
	Total  int         `json:"total"`

	Truncated bool   `json:"truncated,omitempty" schema:"-"` // of one of the drafts, not all is listed
	Next      string `json:"next,omitempty"`
}

// DraftInfo is a draft as it is now. Paths are relative to their collection.
type DraftInfo struct {
	Name      string          `json:"name"`
	Title     string          `json:"title"` // of its newest commit
	Branch    string          `json:"branch"`
	Base      string          `json:"base"` // where it left the branch that it is for
	Commit    string          `json:"commit"`
	Author    string          `json:"author"`
	Agent     string          `json:"agent,omitempty"`
	Client    string          `json:"client,omitempty"`
	Remote    string          `json:"remote,omitempty"` // where it was fetched from
	Date      string          `json:"date"`
	State     string          `json:"state"`
	Ahead     int             `json:"ahead"`
	Behind    int             `json:"behind"`
	Mergeable bool            `json:"mergeable"` // open, and without conflicts
	Conflicts []DraftConflict `json:"conflicts"`
	Checks    []CheckFinding  `json:"checks"`
	Reason    string          `json:"reason,omitempty"` // why it was rejected, or what was said at the merge
	By        string          `json:"by,omitempty"`     // who decided
	Merge     string          `json:"merge,omitempty"`  // the commit of the merge
	Checked   int             `json:"check_count"`      // checks that failed, listed or not
	Changed   int             `json:"changed"`          // notes and files, listed or not
	Changes   []DraftChange   `json:"changes"`
	Review    string          `json:"review,omitempty"`
}

// DraftConflict is where a draft and the branch that it is for disagree.
type DraftConflict struct {
	Path    string `json:"path"`
	Kind    string `json:"kind"`
	Message string `json:"message"`
}

var draftsOp = define(Op{
	Name:        "kb_drafts",
	Title:       "See what became of drafts",
	Summary:     "List drafts, and what became of them",
	Description: "Drafts and what became of them: open, merged, or rejected with the reason. name tells all that one changes, whether it merges, and its checks.",
	Examples:    []string{"kb drafts", "kb drafts retry-notes", "kb drafts --state rejected"},
	Drafts:      true,
}, (*Vault).Drafts)

// Drafts lists the drafts of every repository of the vault.
func (v *Vault) Drafts(ctx context.Context, p DraftsParams) (*DraftsResult, error) {
	offset := 0
	if p.Cursor != "" {
		var err error
		if offset, err = strconv.Atoi(p.Cursor); err != nil || offset < 0 {
			return nil, errorf(Usage, "cursor %q", clip(p.Cursor, 40)).hint("a cursor is the next of the answer before")
		}
	}
	found, err := v.findDrafts(ctx, p)
	if err != nil {
		return nil, err
	}
	if p.Name != "" && len(found) == 1 {
		return v.oneDraft(ctx, found[0], offset, p.MaxTokens)
	}
	r := &DraftsResult{Drafts: []DraftInfo{}, Total: len(found)}
	end := min(len(found), offset)
	for budget := p.MaxTokens; end < len(found) && len(r.Drafts) < p.MaxResults; end++ {
		info, _, err := found[end].info(ctx, v, p.Name != "")
		if err != nil {
			return nil, err
		}
		r.Truncated = info.fit(0, p.MaxTokens) > 0 || r.Truncated
		if budget -= info.tokens(); budget < 0 && len(r.Drafts) > 0 {
			break
		}
		r.Drafts = append(r.Drafts, *info)
	}
	if end < len(found) {
		r.Next = strconv.Itoa(end)
	}
	return r, nil
}

// oneDraft tells all of a draft, in pages of its lists.
func (v *Vault) oneDraft(ctx context.Context, d draftOf, offset, budget int) (*DraftsResult, error) {
	info, _, err := d.info(ctx, v, true)
	if err != nil {
		return nil, err
	}
	r := &DraftsResult{Total: 1}
	if next := info.fit(offset, budget); next > 0 {
		r.Truncated, r.Next = true, strconv.Itoa(next)
	}
	r.Drafts = []DraftInfo{*info}
	return r, nil
}

// draftTokens is what a draft costs without its texts and lists.
const draftTokens = 150

func (i *DraftInfo) tokens() int {
	n := draftTokens + Tokens(i.Title) + Tokens(i.Reason)
	for _, c := range i.Conflicts {
		n += c.tokens()
	}
	for _, c := range i.Checks {
		n += c.tokens()
	}
	for _, c := range i.Changes {
		n += c.tokens()
	}
	return n
}

func (c DraftConflict) tokens() int { return 12 + Tokens(c.Path) + Tokens(c.Message) }
func (c CheckFinding) tokens() int {
	return 25 + Tokens(c.Path) + Tokens(c.Message) + Tokens(c.Mend)
}
func (c DraftChange) tokens() int { return 20 + Tokens(c.Path) + Tokens(c.From) }

// fit cuts the lists to the page of a budget that begins at an offset, and returns
// where the next begins, 0 if there is none. The counts stay whole.
func (i *DraftInfo) fit(offset, budget int) (next int) {
	i.Checked = len(i.Checks)
	budget -= draftTokens + Tokens(i.Title) + Tokens(i.Reason)
	return page([]pile{pileOf(&i.Conflicts, DraftConflict.tokens), pileOf(&i.Checks, CheckFinding.tokens), pileOf(&i.Changes, DraftChange.tokens)}, offset, budget)
}

// draftOf is a draft and where it is kept.
type draftOf struct {
	*draft.Draft
	repo  *repo
	store *draft.Store

	hidden bool  // it changes notes that the caller does not see
	unsure error // why it is not known which branch the draft is for, if it is not
}

// findDrafts returns those that are asked for, of all repositories.
func (v *Vault) findDrafts(ctx context.Context, p DraftsParams) (found []draftOf, err error) {
	name := strings.TrimPrefix(strings.TrimSpace(p.Name), "drafts/")
	o := draft.ListOptions{States: []draft.State{draft.Open, draft.Merged, draft.Rejected}, Remotes: true}
	if p.State != "" {
		o.States = []draft.State{draft.State(p.State)}
	}
	var names []string
	for _, r := range v.repos {
		store, unsure, err := v.draftsToRead(r)
		if err != nil {
			return nil, err
		}
		list, err := store.List(ctx, o)
		if err != nil {
			return nil, errorf(Internal, "list drafts: %w", err)
		}
		for i := range list {
			d := draftOf{Draft: &list[i], repo: r, store: store, unsure: unsure}
			seen, err := d.seen(ctx, v)
			if err != nil {
				return nil, err
			}
			if !seen {
				continue
			}
			names = append(names, d.Name)
			if name == "" || d.Name == name {
				found = append(found, d)
			}
		}
	}
	if name != "" && len(found) == 0 {
		return nil, noDraft(name, names)
	}
	slices.SortStableFunc(found, func(a, b draftOf) int {
		if (a.State == draft.Open) != (b.State == draft.Open) {
			return map[bool]int{true: -1, false: 1}[a.State == draft.Open]
		}
		return b.when().Compare(a.when())
	})
	return found, nil
}

// hiddenTitle stands for what a draft says of notes that a caller does not see.
const hiddenTitle = "changes to notes you do not see"

// seen reports whether v's caller may know of the draft: not where it changes
// nothing but what the caller does not see.
func (d *draftOf) seen(ctx context.Context, v *Vault) (bool, error) {
	s, err := v.sight(ctx)
	if err != nil || s.all {
		return s != nil && s.all, err
	}
	hidden, all, err := d.hidesNotes(ctx, s)
	d.hidden = hidden
	return !all, err
}

// hidesNotes reports whether a draft changes notes that a caller does not see, at its
// end or in a commit of its own, and whether it changes no others.
func (d draftOf) hidesNotes(ctx context.Context, s *sight) (hidden, all bool, err error) {
	changes, err := d.store.Changes(ctx, d.Draft)
	if err != nil {
		return false, false, errorf(Internal, "%w", err)
	}
	n, err := d.concealed(ctx, s, changes)
	if err != nil {
		return false, false, err
	}
	all = n > 0 && n == len(changes)
	if n > 0 || d.Base.IsZero() {
		return n > 0, all, nil
	}
	parted, err := d.repo.Diverge(ctx, d.Base, d.Tip)
	if err != nil {
		return false, false, errorf(Internal, "read draft %s: %w", d.Name, err)
	}
	for _, id := range parted.Theirs {
		c, err := d.repo.Commit(id)
		if err != nil || len(c.Parents) != 1 {
			continue
		}
		own, err := d.repo.Diff(ctx, c.Parents[0], id, "")
		if err != nil {
			return false, false, errorf(Internal, "read draft %s: %w", d.Name, err)
		}
		if n, err := d.concealed(ctx, s, own); err != nil || n > 0 {
			return true, false, err
		}
	}
	return false, false, nil
}

// concealed counts the changes that a caller does not see, beside those of files
// outside every collection.
func (d draftOf) concealed(ctx context.Context, s *sight, changes []gitstore.Change) (n int, err error) {
	for _, change := range changes {
		if c, _ := d.repo.locate(change.Path); c == nil && change.From == "" {
			continue
		}
		seen, err := s.change(ctx, d.repo, change)
		if err != nil {
			return 0, err
		}
		if !seen {
			n++
		}
	}
	return n, nil
}

// noDraft says that there is no such draft, and which there are.
func noDraft(name string, names []string) error {
	err := errorf(NotFound, "no draft %q", clip(name, 100))
	if near := nearest(name, names, 3); len(near) > 0 {
		return err.hint("did you mean %s?", strings.Join(near, ", "))
	}
	return err.hint("kb_drafts without a name lists all")
}

// when is the time of the last thing that happened to the draft.
func (d draftOf) when() time.Time {
	if d.State != draft.Open && !d.By.When.IsZero() {
		return d.By.When
	}
	return d.Date
}

// mostChanges is how many changes are listed of a draft among others.
const mostChanges = 10

// info describes d, in whole or as one of many. An open draft comes with what it
// proposes.
func (d draftOf) info(ctx context.Context, v *Vault, whole bool) (*DraftInfo, *proposal, error) {
	tip, err := d.repo.Commit(d.Tip)
	if err != nil {
		return nil, nil, errorf(Internal, "read draft %s: %w", d.Name, err)
	}
	i := &DraftInfo{
		Name: d.Name, Title: tip.Subject, Branch: "drafts/" + d.Name, Commit: d.Tip.String(),
		Author: d.Author.Name, Agent: d.Agent, Client: d.Client, Remote: d.Remote, Date: d.Date.UTC().Format(time.RFC3339),
		State: string(d.State), Ahead: d.Ahead, Behind: d.Behind, Reason: d.Reason, By: d.By.Name,
		Conflicts: []DraftConflict{}, Checks: []CheckFinding{}, Changes: []DraftChange{},
	}
	if d.hidden {
		i.Title = hiddenTitle
	}
	if !d.Base.IsZero() {
		i.Base = d.Base.String()
	}
	if !d.Merge.IsZero() {
		i.Merge = d.Merge.String()
	}
	if d.Remote != "" {
		i.Branch = strings.TrimPrefix(d.Ref, "refs/remotes/")
	}
	var p *proposal
	if d.State == draft.Open {
		i.Review = "kb review diff " + d.Name
		if p, err = d.judge(ctx, v, i); err != nil {
			return nil, nil, err
		}
	}
	if p != nil {
		p.changes(i, whole)
		return i, p, nil
	}
	return i, nil, d.changes(ctx, v, i, whole)
}

// changes lists what the draft changes, as far as v's caller may know.
func (d draftOf) changes(ctx context.Context, v *Vault, i *DraftInfo, whole bool) error {
	changes, err := d.store.Changes(ctx, d.Draft)
	if err != nil {
		return errorf(Internal, "%w", err)
	}
	s, err := v.sight(ctx)
	if err != nil {
		return err
	}
	for _, change := range changes {
		c, p := d.repo.locate(change.Path)
		if seen, err := s.change(ctx, d.repo, change); err != nil {
			return err
		} else if !seen {
			continue
		}
		if i.Changed++; !whole && len(i.Changes) == mostChanges {
			continue
		}
		shown, err := d.repo.shown(change)
		if err != nil {
			return err
		}
		shown.change.Path = p
		if c != nil && len(v.cols) > 1 {
			shown.change.Collection = c.Name
		}
		if change.From != "" {
			_, shown.change.From = d.repo.locate(change.From)
		}
		i.Changes = append(i.Changes, shown.change)
	}
	return nil
}

// changes lists what an open draft changes: of one that was moved and edited it
// knows that it was.
func (p *proposal) changes(i *DraftInfo, whole bool) {
	for _, e := range p.edits {
		if !p.sight.all && e.col == nil {
			continue
		}
		if i.Changed++; whole || len(i.Changes) < mostChanges {
			i.Changes = append(i.Changes, e.change(p.v))
		}
	}
}

// judge merges the draft on trial and checks it. Without anything in common with
// its branch it has no proposal.
func (d draftOf) judge(ctx context.Context, v *Vault, i *DraftInfo) (*proposal, error) {
	p, err := d.proposal(ctx, v, "")
	if err != nil {
		e := AsError(err)
		if e.Code == Internal {
			return nil, err
		}
		i.Conflicts = []DraftConflict{{Kind: string(e.Code), Message: e.Message}}
		return nil, nil
	}
	i.Conflicts = p.conflictList()
	i.Mergeable = len(p.merge.Conflicts) == 0
	i.Checks, err = p.check(ctx)
	return p, err
}

// conflictText says where both sides changed the same.
func conflictText(c gitstore.Conflict) string {
	var where []string
	for _, clash := range c.Clashes {
		where = append(where, fmt.Sprintf("%s of the branch and %s of the draft", lineRange(clash.Ours), lineRange(clash.Theirs)))
	}
	if len(where) == 0 {
		return "both changed it: " + string(c.Kind)
	}
	const most = 5
	if n := len(where) - most; n > 0 {
		where = append(where[:most], fmt.Sprintf("%d more places", n))
	}
	return "both changed " + strings.Join(where, "; ")
}

func lineRange(r gitstore.LineRange) string {
	switch r.Count {
	case 0:
		return fmt.Sprintf("before line %d", r.First)
	case 1:
		return fmt.Sprintf("line %d", r.First)
	}
	return fmt.Sprintf("lines %d-%d", r.First, r.First+r.Count-1)
}

// Text lists the drafts, one in whole when there is one.
func (r *DraftsResult) Text(t *Text) {
	if len(r.Drafts) == 0 {
		t.Printf("No drafts.\n")
	}
	for i := range r.Drafts {
		r.Drafts[i].text(t)
	}
	if r.Next != "" {
		t.Printf("%s\n", t.Dim(fmt.Sprintf("%d of %s; more: --cursor %s", len(r.Drafts), plural(r.Total, "draft"), r.Next)))
	}
}

func (d *DraftInfo) text(t *Text) {
	state := d.State
	switch {
	case d.State == string(draft.Open) && d.Mergeable:
		state = "open, merges"
	case d.State == string(draft.Open):
		state = t.Warn("open, conflicts")
	}
	t.Printf("%s  %s  %s\n", t.Strong(d.Name), state, t.Dim(strings.Join(nonEmpty([]string{d.Date[:len("2006-01-02")], d.Author,
		fmt.Sprintf("%d ahead, %d behind", d.Ahead, d.Behind)}), " · ")))
	if d.Reason != "" {
		t.Wrap("  ", t.Warn(strings.Join(nonEmpty([]string{d.By, d.Reason}), ": ")))
	}
	for i := range d.Changes {
		d.Changes[i].text(t)
	}
	if n := d.Changed - len(d.Changes); n > 0 {
		t.Printf("  %s\n", t.Dim(fmt.Sprintf("and %d more", n)))
	}
	for _, c := range d.Conflicts {
		t.Wrap("  ", t.Warn(strings.Join(nonEmpty([]string{c.Path, c.Message}), ": ")))
	}
	for _, c := range d.Checks {
		t.Wrap("  ", strings.Join(nonEmpty([]string{t.Warn(c.place()), t.Plain(c.Message)}), ": "))
	}
	if d.Review != "" {
		t.Printf("  %s\n", t.Dim(d.Review))
	}
}
