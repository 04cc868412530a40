package vault

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"kb/gitstore"
	"kb/internal/diff"
	"kb/note"
)

// proposal is what a draft changes, beside the branch that it is for: what
// people review.
type proposal struct {
	v     *Vault
	sight *sight
	repo  *repo
	into  gitstore.CommitID // the branch's tip
	tip   gitstore.CommitID // the draft's
	from  gitstore.CommitID // what both have in common
	edits []*proposedEdit   // by path
	merge *gitstore.MergeResult

	placing []gitstore.Edit // what merging does beside: notes that go to their target
	tree    gitstore.TreeID // what the branch would have after merging
	view    *view           // of tree; see merged

	squashed bool // the branch gets one commit, not those of the draft
}

// proposedEdit is one file that a draft changes. Its paths are relative to its
// collection.
type proposedEdit struct {
	kind  gitstore.ChangeKind
	col   *collection // nil for a file outside every collection: paths are the repository's
	path  string
	was   string // its former path, when that is another
	oldID note.ID
	newID note.ID
	old   []byte // nil for an added file
	now   []byte // nil for a removed one

	placed    string // where merging puts it, when that is elsewhere
	misplaced error  // why it cannot go where it asks to
	skip      bool   // not merged this time

	note     *note.Note // of now; nil when removed or no note
	previous *note.Note // of old
}

// propose compares a draft with the branch that it is for, and merges them on
// trial. Nothing but objects is written.
func (v *Vault) propose(ctx context.Context, r *repo, into, tip gitstore.CommitID) (*proposal, error) {
	s, err := v.sight(ctx)
	if err != nil {
		return nil, err
	}
	p := &proposal{v: v, sight: s, repo: r, into: into, tip: tip}
	bases, err := r.MergeBases(ctx, into, tip)
	if err != nil {
		return nil, errorf(Internal, "compare %s with %s: %w", short(tip), short(into), err)
	}
	if len(bases) == 0 {
		return nil, errorf(Conflict, "the draft has no commit in common with the branch").hint("it was made in another repository")
	}
	p.from = bases[0]
	changes, err := r.Diff(ctx, p.from, tip, "")
	if err != nil {
		return nil, errorf(Internal, "list what the draft changes: %w", err)
	}
	if err := p.load(ctx, changes); err != nil {
		return nil, err
	}
	if p.merge, err = r.Merge(ctx, into, tip); err != nil {
		return nil, mergeError(err)
	}
	return p, p.place(ctx)
}

// mergeError is what git's store says of a merge, in our words.
func mergeError(err error) error {
	switch {
	case errors.Is(err, gitstore.ErrUnsafePath):
		return errorf(Protected, "the draft adds a path that is never written: %w", err)
	case errors.Is(err, gitstore.ErrUnrelated):
		return errorf(Conflict, "the draft has no commit in common with the branch")
	}
	return errorf(Internal, "merge on trial: %w", err)
}

// load reads the texts of what changed.
func (p *proposal) load(ctx context.Context, changes []gitstore.Change) error {
	for _, c := range changes {
		e := &proposedEdit{kind: c.Kind, oldID: c.Old, newID: c.New}
		e.col, e.path = p.repo.locate(c.Path)
		if c.From != "" {
			_, e.was = p.repo.locate(c.From)
		}
		seen, err := p.sight.change(ctx, p.repo, c)
		if err != nil {
			return err
		}
		if !seen && e.col != nil {
			continue
		}
		if !c.Old.IsZero() {
			if e.old, err = p.repo.Blob(c.Old); err != nil {
				return errorf(Internal, "read %s: %w", c.Path, err)
			}
		}
		if !c.New.IsZero() {
			if e.now, err = p.repo.Blob(c.New); err != nil {
				return errorf(Internal, "read %s: %w", c.Path, err)
			}
		}
		e.parse()
		p.edits = append(p.edits, e)
	}
	p.pairMoved()
	slices.SortFunc(p.edits, func(a, b *proposedEdit) int {
		return cmp.Or(strings.Compare(a.collection(), b.collection()), strings.Compare(a.path, b.path))
	})
	return nil
}

func (e *proposedEdit) parse() {
	if e.col == nil || !e.col.holds(e.path) {
		return
	}
	if e.now != nil {
		e.note, _ = note.Parse(e.now)
	}
	if e.old != nil {
		e.previous, _ = note.Parse(e.old)
	}
}

// pairMoved makes one of a note that was removed and one that was added with
// nearly the same text: a note that was renamed and edited.
func (p *proposal) pairMoved() {
	const alike, most = 0.5, 64
	var gone []*proposedEdit
	for _, e := range p.edits {
		if e.kind == gitstore.Removed && e.previous != nil && len(gone) < most {
			gone = append(gone, e)
		}
	}
	for _, e := range p.edits {
		if e.kind != gitstore.Added || e.note == nil {
			continue
		}
		i := slices.IndexFunc(gone, func(g *proposedEdit) bool {
			return g.col == e.col && g.kind == gitstore.Removed && e.note.Sketch.Similar(g.previous.Sketch) >= alike
		})
		if i >= 0 {
			g := gone[i]
			e.kind, e.was, e.old, e.oldID, e.previous = gitstore.Renamed, g.path, g.old, g.oldID, g.previous
			g.kind = "" // told with the other
		}
	}
	p.edits = slices.DeleteFunc(p.edits, func(e *proposedEdit) bool { return e.kind == "" })
}

func (e *proposedEdit) collection() string {
	if e.col == nil {
		return ""
	}
	return e.col.Name
}

// full is where the file is in the repository.
func (e *proposedEdit) full() string { return e.fullOf(e.path) }

func (e *proposedEdit) fullOf(p string) string {
	if e.col == nil {
		return p
	}
	return e.col.full(p)
}

// destination is the path that the file will have after merging.
func (e *proposedEdit) destination() string { return cmp.Or(e.placed, e.path) }

// former is the path that the file had before the draft.
func (e *proposedEdit) former() string { return cmp.Or(e.was, e.path) }

// name is the file's path for a person, with its collection where the vault has
// several.
func (e *proposedEdit) name() string {
	if e.col == nil || len(e.col.repo.cols) == 1 {
		return e.path
	}
	return e.col.Name + ":" + e.path
}

// hunks are the differences, with context, words marked.
func (e *proposedEdit) hunks(context int) []diff.Hunk {
	if e.binary() {
		return nil
	}
	hunks := diff.Hunks(e.old, e.now, context)
	for i := range hunks {
		hunks[i].Words()
	}
	return hunks
}

// binary reports whether the file is no text.
func (e *proposedEdit) binary() bool {
	return bytes.IndexByte(e.old, 0) >= 0 || bytes.IndexByte(e.now, 0) >= 0
}

// unified is the difference as a patch.
func (e *proposedEdit) unified() string {
	from, to := e.fullOf(e.former()), e.full()
	switch e.kind {
	case gitstore.Added:
		from = ""
	case gitstore.Removed:
		to = ""
	}
	return diff.Unified(from, to, e.old, e.now)
}

// addedLines are the numbers of the lines of the new text that the draft wrote.
func (e *proposedEdit) addedLines() map[int]bool {
	lines := map[int]bool{}
	for _, h := range diff.Hunks(e.old, e.now, 0) {
		for _, l := range h.Lines {
			if l.Kind == diff.Added {
				lines[l.New] = true
			}
		}
	}
	return lines
}

// merged returns the view that merging would give, of the draft's repository.
func (p *proposal) merged(ctx context.Context) (*view, error) {
	if p.view != nil {
		return p.view, nil
	}
	w, err := p.v.readBases(ctx, []base{{repo: p.repo, commit: p.into, tree: p.tree}})
	if err != nil {
		return nil, err
	}
	p.view = w
	return w, nil
}

// before returns the view of the branch as it is.
func (p *proposal) before(ctx context.Context) (*view, error) {
	return p.v.readBases(ctx, []base{{repo: p.repo, commit: p.into}})
}

// conflicting reports whether a path cannot be merged.
func (p *proposal) conflicting(full string) bool {
	return slices.ContainsFunc(p.merge.Conflicts, func(c gitstore.Conflict) bool {
		return c.Path == full || c.From == full || c.Also == full
	})
}
