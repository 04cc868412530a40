package vault

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"

	"kb/draft"
	"kb/gitstore"
	"kb/internal/diff"
	"kb/note"
)

// ReviewEditParams asks for the notes of a draft to edit or, with files, brings
// them back.
type ReviewEditParams struct {
	draftParam
	Only    []string     `json:"only,omitempty" help:"only these notes, or directories"`
	Commit  string       `json:"commit,omitempty" help:"the draft's commit that the files were made of"`
	Base    string       `json:"base,omitempty" help:"the branch's commit that was merged into them"`
	Files   []EditedFile `json:"files,omitempty" help:"the files as they are now"`
	Message string       `json:"message,omitempty" help:"what was changed, and why"`
}

// EditedFile is a file of a draft, by its path in the repository.
type EditedFile struct {
	Path     string `json:"path"`
	Text     string `json:"text"`
	Conflict bool   `json:"conflict,omitempty"` // markers in the text show what is to be decided
	Delete   bool   `json:"delete,omitempty"`
}

// ReviewEdited is the notes of a draft to edit, or what became of them.
type ReviewEdited struct {
	Name   string       `json:"name"`
	Commit string       `json:"commit"`         // of the draft: what is to be edited, or was made
	Base   string       `json:"base,omitempty"` // the branch's commit that was merged in, since the two conflict
	Into   string       `json:"into"`
	Files  []EditedFile `json:"files"`
	Saved  bool         `json:"saved,omitempty"`

	Conflicts []DraftConflict `json:"conflicts"` // what is to be decided
}

var reviewEditOp = define(Op{
	Name:     "review_edit",
	Under:    "review",
	Summary:  "Edit the notes of a draft, and decide its conflicts",
	Examples: []string{"kb review edit retry-notes", "EDITOR='code --wait' kb review edit retry-notes --only guides/retry.md"},
	People:   true,
	Writes:   true,
}, (*Vault).ReviewEdit)

// ReviewEdit gives the files of a draft to edit; where the draft conflicts with
// its branch, as merging the branch into the draft leaves them, with conflict
// markers. With files, it commits these on the draft.
func (v *Vault) ReviewEdit(ctx context.Context, p ReviewEditParams) (*ReviewEdited, error) {
	d, err := v.reviewOpen(ctx, p.Name)
	if err != nil {
		return nil, err
	}
	if d.Remote != "" {
		return nil, errorf(Conflict, "draft %s is of another repository", d.Name).
			hint("git branch drafts/%s %s makes it one of this", strings.TrimPrefix(d.Name, d.Remote+"/"), short(d.Tip))
	}
	if err := d.at(p.Commit); err != nil {
		return nil, err
	}
	ref, into, err := d.target("")
	if err != nil {
		return nil, err
	}
	if p.Base != "" {
		if into, err = gitstore.ParseCommitID(p.Base); err != nil {
			return nil, errorf(Usage, "base: %w", err)
		}
	}
	x, err := v.propose(ctx, d.repo, into, d.Tip)
	if err != nil {
		return nil, err
	}
	r := &ReviewEdited{Name: v.draftName(d), Commit: d.Tip.String(), Into: branchName(ref), Files: []EditedFile{}, Conflicts: x.conflictList()}
	if len(r.Conflicts) > 0 {
		r.Base = into.String()
	}
	if len(p.Files) > 0 {
		return r, v.saveEdited(ctx, d, x, p, r)
	}
	r.Files, err = x.editable(ctx, p.Only)
	for i := range r.Files {
		r.Files[i].Text = nameSides(r.Files[i].Text, x, r)
	}
	x.undecided(r.Files, r.Into, r.Name)
	return r, err
}

// nameSides names the sides in conflict markers by the branch and the draft, not
// by their commits.
func nameSides(text string, x *proposal, r *ReviewEdited) string {
	return strings.NewReplacer(
		"<<<<<<< "+x.into.String(), "<<<<<<< "+r.Into,
		">>>>>>> "+x.tip.String(), ">>>>>>> draft "+r.Name,
	).Replace(text)
}

// editable are the files that a person may edit, those in conflict first.
func (p *proposal) editable(ctx context.Context, only []string) ([]EditedFile, error) {
	chosen, err := p.choose(only)
	if err != nil {
		return nil, err
	}
	files := map[string]note.ID{}
	if len(p.merge.Conflicts) > 0 {
		list, _, err := p.repo.TreeFiles(ctx, p.merge.Tree, "")
		if err != nil {
			return nil, errorf(Internal, "list the merged files: %w", err)
		}
		for _, f := range list {
			files[f.Path] = f.Blob
		}
	}
	out := []EditedFile{}
	add := func(full string, text []byte) {
		if bytes.IndexByte(text, 0) < 0 && !slices.ContainsFunc(out, func(f EditedFile) bool { return f.Path == full }) {
			out = append(out, EditedFile{Path: full, Text: string(text), Conflict: hasMarkers(text)})
		}
	}
	for _, c := range p.merge.Conflicts {
		for _, full := range []string{c.Path, c.Also} {
			if id, ok := files[full]; ok {
				text, err := p.repo.Blob(id)
				if err != nil {
					return nil, errorf(Internal, "read %s: %w", full, err)
				}
				add(full, text)
			}
		}
	}
	for _, e := range chosen {
		text := e.now
		if id, ok := files[e.full()]; ok {
			if text, err = p.repo.Blob(id); err != nil {
				return nil, errorf(Internal, "read %s: %w", e.path, err)
			}
		}
		if e.now != nil {
			add(e.full(), text)
		}
	}
	return out, nil
}

// hasMarkers reports whether a text has conflict markers.
func hasMarkers(text []byte) bool { return markerLine(text) > 0 }

// markerLine is the line of the first conflict marker, 0 for none.
func markerLine(text []byte) int {
	for i, line := range diff.Lines(text) {
		if isMarker(line) {
			return i + 1
		}
	}
	return 0
}

// saveEdited commits the files on the draft. Where the branch had to be merged in,
// the commit has it as its second parent, so that the draft merges from then on.
func (v *Vault) saveEdited(ctx context.Context, d draftOf, x *proposal, p ReviewEditParams, r *ReviewEdited) error {
	tree := map[string]note.ID{}
	list, _, err := d.repo.TreeFiles(ctx, x.merge.Tree, "")
	if err != nil {
		return errorf(Internal, "list the merged files: %w", err)
	}
	for _, f := range list {
		tree[f.Path] = f.Blob
	}
	edits, err := v.editedFiles(d, x, p.Files, tree)
	if err != nil {
		return err
	}
	who, err := v.author(ctx, d.repo)
	if err != nil {
		return err
	}
	c := draft.Change{Name: d.Name, Author: who, Subject: "Edit draft " + d.Name}
	if subject, body, _ := strings.Cut(strings.TrimSpace(p.Message), "\n"); subject != "" {
		c.Subject, c.Body = oneLine(subject, 100), strings.TrimSpace(body)
	}
	if r.Base != "" {
		c.With, c.Tree = x.into, x.merge.Tree
	}
	c.Edits = func(_ context.Context, on gitstore.CommitID, _ bool) ([]gitstore.Edit, error) {
		if on != d.Tip {
			return nil, errorf(Stale, "draft %s moved while it was edited: it is at %s, not at %s", d.Name, short(on), short(d.Tip)).
				hint("kb review edit %s shows it as it is now", d.Name)
		}
		return edits, nil
	}
	written, err := d.store.Append(ctx, c)
	if err != nil {
		return draftError(err)
	}
	r.Commit, r.Files, r.Saved = written.Commit.String(), []EditedFile{}, true
	return nil
}

// editedFiles are the edits that make the files what they were made by hand. Text
// that still has conflict markers is refused, and so is what a draft may not
// touch.
func (v *Vault) editedFiles(d draftOf, x *proposal, files []EditedFile, tree map[string]note.ID) ([]gitstore.Edit, error) {
	given := map[string]bool{}
	var edits []gitstore.Edit
	for _, f := range files {
		given[f.Path] = true
		if line := markerLine([]byte(f.Text)); line > 0 && !f.Delete {
			return nil, errorf(Conflict, "%s:%d still has a conflict marker", f.Path, line).hint("decide which text stays, and remove the lines that begin with <<<<<<<, ======= and >>>>>>>; a file that is to go is deleted")
		}
		was, exists := tree[f.Path]
		c, path := d.repo.locate(f.Path)
		if c == nil {
			return nil, errorf(Protected, "%s is outside every collection", f.Path).hint("a draft changes the notes of a collection")
		}
		switch {
		case f.Delete && exists:
			edits = append(edits, gitstore.Edit{Path: f.Path, Delete: true})
		case f.Delete, exists && was == note.Hash([]byte(f.Text)):
		default:
			if err := v.checkTarget(c, path, !exists); err != nil {
				return nil, err
			}
			edits = append(edits, gitstore.Edit{Path: f.Path, Src: []byte(f.Text)})
		}
	}
	return edits, x.decided(d, given)
}

// decided refuses to leave a conflict as it is.
func (p *proposal) decided(d draftOf, given map[string]bool) error {
	for _, c := range p.merge.Conflicts {
		if !given[c.Path] && !given[c.Also] {
			_, path := d.repo.locate(c.Path)
			return errorf(Conflict, "%s: %s, which is not decided", path, conflictText(c)).
				hint("bring the file, or say that it is to be deleted")
		}
	}
	return nil
}

// Text says what was saved.
func (r *ReviewEdited) Text(t *Text) {
	if !r.Saved {
		for _, f := range r.Files {
			mark := ""
			if f.Conflict {
				mark = t.Warn("conflict")
			}
			t.Printf("%s %s\n", t.Accent(f.Path), mark)
		}
		return
	}
	with := ""
	if r.Base != "" {
		with = fmt.Sprintf(", with %s merged into it", r.Into)
	}
	t.Printf("saved on draft %s%s %s\n", t.Strong(r.Name), with, t.Dim(r.Commit[:12]+" - kb review diff "+r.Name))
}
