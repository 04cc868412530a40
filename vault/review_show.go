package vault

import (
	"context"
	"strings"

	"kb/gitstore"
)

// ReviewShowParams names a draft and the branch to read it in.
type ReviewShowParams struct {
	draftParam
	Into   string `json:"into,omitempty" help:"the branch that it would be merged into (default: the one it is for)"`
	NoPage bool   `json:"no_pager,omitempty" hidden:"" help:"print all at once"`
}

// ReviewShow is the notes of a draft as they would read.
type ReviewShow struct {
	ReviewItem
	Documents []ReviewDocument `json:"documents"`
}

// ReviewDocument is a note as merging would leave it.
type ReviewDocument struct {
	DraftChange
	Title   string `json:"title"`
	Target  string `json:"target,omitempty"` // where merging puts it, if that is elsewhere
	Content string `json:"content"`          // "" for a removed note and for what is no text
}

var reviewShowOp = define(Op{
	Name:     "review_show",
	Under:    "review",
	Summary:  "Show the notes of a draft as they would read, with checks and conflicts",
	Examples: []string{"kb review show retry-notes"},
	People:   true,
	Pages:    true,
}, (*Vault).ReviewShow)

// ReviewShow reads the notes that a draft changes, in the view that merging would
// give. Text that conflicts is the draft's.
func (v *Vault) ReviewShow(ctx context.Context, p ReviewShowParams) (*ReviewShow, error) {
	d, err := v.reviewOpen(ctx, p.Name)
	if err != nil {
		return nil, err
	}
	x, err := d.proposal(ctx, v, p.Into)
	if err != nil {
		return nil, err
	}
	item, err := v.reviewItem(ctx, d)
	if err != nil {
		return nil, err
	}
	r := &ReviewShow{ReviewItem: *item, Documents: []ReviewDocument{}}
	w, err := x.merged(ctx)
	if err != nil {
		return nil, err
	}
	for _, e := range x.edits {
		doc := ReviewDocument{DraftChange: e.change(v), Target: e.placed}
		if e.note != nil {
			doc.Title = e.note.TitleAt(e.destination())
		}
		if i, ok := w.docOfEdit(e); ok && !x.conflicting(e.full()) {
			src, err := w.bytes(i)
			if err != nil {
				return nil, err
			}
			doc.Content = string(src)
		} else if !e.binary() {
			doc.Content = string(e.now)
		}
		r.Documents = append(r.Documents, doc)
	}
	return r, nil
}

// docOfEdit is the doc that an edit gives in the view that merging would give.
func (w *view) docOfEdit(e *proposedEdit) (int, bool) {
	if e.note == nil {
		return 0, false
	}
	return w.docAt(e.col.Name, e.destination())
}

// Text writes a head for the draft, and its notes one after the other.
func (r *ReviewShow) Text(t *Text) {
	r.head(t)
	for _, d := range r.Documents {
		t.Printf("\n")
		ruled(t, d.heading(t))
		switch {
		case d.Kind == string(gitstore.Removed):
			t.Printf("%s\n", t.Dim("(removed)"))
		case d.Content == "":
			t.Printf("%s\n", t.Dim("(no text)"))
		default:
			for line := range strings.SplitSeq(strings.TrimRight(d.Content, "\n"), "\n") {
				t.flow(styled{}, []styled{{line, ""}})
			}
		}
	}
}

// head says what a reviewer asks first of a draft.
func (d *ReviewItem) head(t *Text) {
	t.Printf("%s  %s\n", t.Strong(d.Name), t.Plain(d.Subject))
	who := d.Author
	if d.Agent != "" && d.Agent != d.Author {
		who += " with " + d.Agent
	}
	line := []string{who, ageText(d.AgeDays), strings.TrimSpace(d.sizeText(&Text{})), d.Commit[:12]}
	if d.Into != "" {
		line = append(line, "for "+d.Into)
	}
	if d.Behind > 0 {
		line = append(line, plural(d.Behind, "commit")+" behind")
	}
	t.Hang("", "  ", t.Dim(strings.Join(line, " · ")))
	reviewFindings(t, d.Conflicts, d.Checks)
}

// heading names a changed note.
func (d *DraftChange) heading(t *Text) string {
	name := t.Accent(d.Path)
	if d.From != "" {
		name = t.Accent(d.From) + " → " + name
	}
	return name + " " + t.Dim(kindTextOf(d.Kind)) + " " + changeText(t, d.Added, d.Removed)
}

func kindTextOf(kind string) string { return kindText[gitstore.ChangeKind(kind)] }

// kindText is what happened to a note, to a person.
var kindText = map[gitstore.ChangeKind]string{
	gitstore.Added: "new", gitstore.Changed: "changed", gitstore.Removed: "removed", gitstore.Renamed: "renamed",
}

// ruled writes a line that parts one note from the next.
func ruled(t *Text, s string) {
	width := t.Width
	if width <= 0 {
		t.Printf("## %s\n", s)
		return
	}
	t.Printf("%s %s %s\n", t.Dim("──"), s, t.Dim(strings.Repeat("─", max(0, width-printedWidth(s)-5))))
}
