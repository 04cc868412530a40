package vault

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"kb/internal/diff"
)

// ReviewDiffParams names a draft, and maybe some of its notes.
type ReviewDiffParams struct {
	draftParam
	Only   []string `json:"only,omitempty" help:"only these notes, or directories"`
	Commit string   `json:"commit,omitempty" help:"fail if the draft is not at this commit"`
	Stat   bool     `json:"stat,omitempty" hidden:"" help:"only how much changes in each note"`
	NoPage bool     `json:"no_pager,omitempty" hidden:"" help:"print all at once"`
}

// ReviewDiff is what a draft changes: from where it left its branch to its tip.
type ReviewDiff struct {
	Name    string     `json:"name"`
	Commit  string     `json:"commit"` // of the draft
	Base    string     `json:"base"`   // where it left the branch
	Notes   []NoteDiff `json:"notes"`
	Added   int        `json:"added"` // lines
	Removed int        `json:"removed"`
	Diff    string     `json:"diff"` // all of it, as a patch
	Stat    bool       `json:"stat,omitempty"`
}

// NoteDiff is what changes in a note.
type NoteDiff struct {
	DraftChange
	Binary bool       `json:"binary,omitempty"`
	Hunks  []HunkDiff `json:"hunks"`
}

// HunkDiff is a place at which a note changes. Its position in the list, from 0,
// names it to review_merge.
type HunkDiff struct {
	Old     []int      `json:"old"` // first line and how many, before
	New     []int      `json:"new"` // and after
	Heading string     `json:"heading,omitempty"`
	Lines   []LineDiff `json:"lines"`
}

// LineDiff is a line of a hunk. Marks are the bytes of it that changed, as pairs of
// offsets.
type LineDiff struct {
	Op    string  `json:"op"` // " ", "-" or "+"
	Text  string  `json:"text"`
	Marks [][]int `json:"marks,omitempty"`
	Open  bool    `json:"open,omitempty"` // the note ends here, without a line end
}

var reviewDiffOp = define(Op{
	Name:     "review_diff",
	Under:    "review",
	Summary:  "Show what a draft changes, word by word; a patch when piped",
	Examples: []string{"kb review diff retry-notes", "kb review diff retry-notes --stat", "kb review diff retry-notes --only guides | git apply --check"},
	People:   true,
	Raw:      true,
	Pages:    true,
}, (*Vault).ReviewDiff)

// ReviewDiff compares a draft, also one that was merged or rejected, with where it
// left its branch.
func (v *Vault) ReviewDiff(ctx context.Context, p ReviewDiffParams) (*ReviewDiff, error) {
	p.Name, p.Only = moreNames(p.Name, p.Only)
	d, err := v.review(ctx, p.Name)
	if err != nil {
		return nil, err
	}
	if err := d.at(p.Commit); err != nil {
		return nil, err
	}
	s, err := v.sight(ctx)
	if err != nil {
		return nil, err
	}
	x := &proposal{v: v, sight: s, repo: d.repo, tip: d.Tip, from: d.Base}
	changes, err := d.store.Changes(ctx, d.Draft)
	if err != nil {
		return nil, errorf(Internal, "%w", err)
	}
	if err := x.load(ctx, changes); err != nil {
		return nil, err
	}
	chosen, err := x.choose(p.Only)
	if err != nil {
		return nil, err
	}
	r := &ReviewDiff{Name: v.draftName(d), Commit: d.Tip.String(), Base: d.Base.String(), Notes: []NoteDiff{}, Stat: p.Stat}
	var all strings.Builder
	for _, e := range chosen {
		n := e.diff(v)
		r.Notes = append(r.Notes, n)
		r.Added, r.Removed = r.Added+n.Added, r.Removed+n.Removed
		all.WriteString(e.unified())
	}
	r.Diff = all.String()
	return r, nil
}

// choose returns the edits that names mean: paths of notes, or directories. None
// means all.
func (p *proposal) choose(names []string) ([]*proposedEdit, error) {
	if len(names) == 0 {
		return p.edits, nil
	}
	chosen := map[*proposedEdit]bool{}
	for _, name := range names {
		found := false
		for _, e := range p.edits {
			if e.goesBy(name) {
				found, chosen[e] = true, true
			}
		}
		if !found {
			return nil, errorf(NotFound, "the draft does not change %s", clip(name, 200)).hint("it changes %s", clip(strings.Join(p.names(), ", "), 400))
		}
	}
	return slices.DeleteFunc(slices.Clone(p.edits), func(e *proposedEdit) bool { return !chosen[e] }), nil
}

func (p *proposal) names() (names []string) {
	for _, e := range p.edits {
		names = append(names, e.name())
	}
	return names
}

// moreNames takes words behind a draft's name for notes, when some are named:
// `--only a.md b.md`. A draft's name has no spaces.
func moreNames(name string, only []string) (string, []string) {
	words := strings.Fields(name)
	if len(words) < 2 || len(only) == 0 {
		return name, only
	}
	return words[0], append(slices.Clone(only), words[1:]...)
}

// goesBy reports whether a name means the edit: a path of the collection, with the
// collection, or of the repository; or a directory above.
func (e *proposedEdit) goesBy(name string) bool {
	want := strings.TrimPrefix(path.Clean("/"+name), "/")
	for _, p := range []string{e.path, e.former(), e.full(), e.fullOf(e.former()), e.collection() + ":" + e.path} {
		if p == want || want == "" || strings.HasPrefix(p, want+"/") {
			return true
		}
	}
	return false
}

// change is the edit in an answer.
func (e *proposedEdit) change(v *Vault) DraftChange {
	c := DraftChange{Path: e.path, Kind: string(e.kind), From: e.was}
	if e.col != nil && len(v.cols) > 1 {
		c.Collection = e.col.Name
	}
	c.Added, c.Removed = e.size()
	return c
}

// size counts the lines that were added and removed.
func (e *proposedEdit) size() (added, removed int) {
	if e.binary() {
		return 0, 0
	}
	return diff.Stat(diff.Hunks(e.old, e.now, 0))
}

// hunkContext is how many lines stand around a change. The numbers of hunks
// depend on it.
const hunkContext = 3

func (e *proposedEdit) diff(v *Vault) NoteDiff {
	n := NoteDiff{DraftChange: e.change(v), Binary: e.binary(), Hunks: []HunkDiff{}}
	for _, h := range e.hunks(hunkContext) {
		d := HunkDiff{Old: []int{h.OldFirst, h.OldCount}, New: []int{h.NewFirst, h.NewCount}, Heading: e.headingAt(h), Lines: []LineDiff{}}
		for _, l := range h.Lines {
			line := LineDiff{Op: string(l.Kind), Text: strings.ToValidUTF8(l.Text, "\ufffd"), Open: l.Open}
			if line.Text == l.Text {
				for _, m := range l.Marks {
					line.Marks = append(line.Marks, []int{m.Start, m.End})
				}
			}
			d.Lines = append(d.Lines, line)
		}
		n.Hunks = append(n.Hunks, d)
	}
	return n
}

// headingAt is the heading that the first change of a hunk stands under.
func (e *proposedEdit) headingAt(h diff.Hunk) (text string) {
	i := slices.IndexFunc(h.Lines, func(l diff.Line) bool { return l.Kind != diff.Same })
	n, line := e.note, h.Lines[i].New
	if line == 0 {
		n, line = e.previous, h.Lines[i].Old
	}
	if n == nil {
		return ""
	}
	for _, heading := range n.Headings {
		if heading.Line < line {
			text = heading.Text
		}
	}
	return text
}

// Text writes a patch, or for a terminal the differences word by word.
func (r *ReviewDiff) Text(t *Text) {
	switch {
	case r.Stat:
		r.stat(t)
	case t.Width == 0 && !t.Color:
		t.Printf("%s", r.Diff)
	default:
		for i, n := range r.Notes {
			if i > 0 {
				t.Printf("\n")
			}
			n.text(t)
		}
	}
}

// stat writes how much changes in each note.
func (r *ReviewDiff) stat(t *Text) {
	var rows [][]string
	for _, n := range r.Notes {
		name := n.Path
		if n.From != "" {
			name = n.From + " → " + n.Path
		}
		rows = append(rows, []string{t.Accent(name), t.Dim(kindTextOf(n.Kind)), changeText(t, n.Added, n.Removed)})
	}
	t.Table(rows)
	t.Printf("%s %s\n", plural(len(r.Notes), "note"), changeText(t, r.Added, r.Removed))
}

func (n *NoteDiff) text(t *Text) {
	ruled(t, n.heading(t))
	if n.Binary {
		t.Printf("%s\n", t.Dim("(no text)"))
	}
	for _, h := range n.Hunks {
		where := fmt.Sprintf("line %d", max(h.New[0], 1))
		if h.Heading != "" {
			where += " · " + h.Heading
		}
		t.Printf("%s\n", t.Dim(clipColumns(visible(where), t.Width)))
		for _, l := range h.Lines {
			l.text(t)
		}
	}
}

// colours of what was added and removed, and of the words that differ in it.
var diffStyles = map[string][2]string{"+": {"32", "1;4;32"}, "-": {"31", "1;4;31"}}

// text writes a line with its changed words marked: by colour, or between
// brackets where there is none.
func (l *LineDiff) text(t *Text) {
	styles, changed := diffStyles[l.Op]
	var words []styled
	at := 0
	for _, m := range l.Marks {
		words = append(words, styled{l.Text[at:m[0]], styles[0]}, l.marked(t, l.Text[m[0]:m[1]], styles[1]))
		at = m[1]
	}
	words = append(words, styled{l.Text[at:], styles[0]})
	mark := styled{l.Op + " ", styles[0]}
	if !changed {
		mark.code = ""
	}
	t.flow(mark, words)
}

func (l *LineDiff) marked(t *Text, text, code string) styled {
	if !t.Color {
		text = map[string]string{"+": "{+", "-": "[-"}[l.Op] + text + map[string]string{"+": "+}", "-": "-]"}[l.Op]
	}
	return styled{text, code}
}
