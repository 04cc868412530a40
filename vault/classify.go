package vault

import (
	"context"
	"fmt"
	"path"
	"strings"
)

// ClassifyParams names the notes to classify: by name, or by what selects them.
type ClassifyParams struct {
	Path []string `json:"path,omitempty" arg:"" help:"notes: path, title, alias or citation; without any, those that the flags select"`
	Selection
	Untagged bool   `json:"untagged,omitempty" help:"only notes without tags"`
	Most     int    `json:"most,omitempty" default:"50" min:"1" max:"10000" help:"notes"`
	Measure  bool   `json:"measure,omitempty" help:"instead: how often the suggestions would be what notes have already"`
	Apply    bool   `json:"apply,omitempty" help:"propose the tags and types, as a draft"`
	Move     bool   `json:"move,omitempty" help:"with apply: also move notes to the suggested sections, links follow"`
	Draft    string `json:"draft,omitempty" help:"draft to add to (default: a new one)"`
	atParam
}

// writes reports whether p adds to the repository.
func (p ClassifyParams) writes() bool { return p.Apply }

// Classified is what notes could be filed as.
type Classified struct {
	Notes     []Classification `json:"notes"`
	Total     int              `json:"total"` // notes that were asked about
	Truncated bool             `json:"truncated,omitempty"`
	Degraded  string           `json:"degraded,omitempty"` // why notes were compared by words
	Measured  *Measured        `json:"measured,omitempty"`
	Applied   *Filed           `json:"applied,omitempty"`
	Seen
}

// Filed is the draft that files notes as suggested; without a name nothing was to be
// changed.
type Filed struct {
	Draft  string   `json:"draft,omitempty"`
	Branch string   `json:"branch,omitempty"`
	Commit string   `json:"commit,omitempty"`
	Review string   `json:"review,omitempty"`
	Left   []string `json:"left"` // notes that it leaves as they are in spite of a suggestion, and why
}

// Classification is what one note could be filed as, in the opinion of its
// neighbours: the notes near it in meaning or words, and those of its directory. What the note has is never suggested.
type Classification struct {
	Collection string    `json:"collection"`
	Path       string    `json:"path"`
	Title      string    `json:"title"`
	Compared   string    `json:"compared"` // how neighbours were found: vector or text
	Tags       []Verdict `json:"tags"`     // the surest first
	Type       *Verdict  `json:"type,omitempty"`
	Section    *Verdict  `json:"section,omitempty"` // a directory
}

// Verdict is a value that near notes agree on.
type Verdict struct {
	Value string   `json:"value"`
	Share float64  `json:"share"` // of its neighbours, the nearer counting for more
	Count int      `json:"count"` // neighbours that have this one
	Of    int      `json:"of"`    // neighbours
	From  string   `json:"from"`  // who they are: near notes, or directory: the other notes of the note's own
	Notes []string `json:"notes"` // paths of those that have it, the nearest first; of a directory ten at most
}

var classifyOp = define(Op{
	Name:     "kb_classify",
	Summary:  "Suggest tags, type and section of notes, from near notes",
	Examples: []string{"kb classify inbox/retry.md", "kb classify --untagged --scope inbox", "kb classify --scope inbox --apply --move --draft filing", "kb classify --measure --most 500"},
	People:   true,
}, (*Vault).Classify)

// Classify suggests how notes could be filed; apply proposes it.
func (v *Vault) Classify(ctx context.Context, p ClassifyParams) (*Classified, error) {
	if err := p.check(); err != nil {
		return nil, err
	}
	if p.Apply {
		return v.applyClasses(ctx, p)
	}
	w, err := v.read(ctx, p.At)
	if err != nil {
		return nil, err
	}
	r := &Classified{Notes: []Classification{}, Seen: w.seen()}
	if p.Measure {
		return r, w.measureClasses(ctx, p, r)
	}
	return r, w.classify(ctx, p, r)
}

// check refuses parameters that do not go together.
func (p *ClassifyParams) check() error {
	selects := p.Untagged || p.Collection != "" || len(p.Scope)+len(p.Tag)+len(p.Where) > 0 || p.Status != "" || p.CreatedAfter != "" || p.UpdatedAfter != ""
	switch {
	case p.Apply && p.At != "":
		return errorf(Usage, "apply and at are both given").hint("a draft starts from the base branch")
	case p.Apply && p.Measure:
		return errorf(Usage, "apply and measure are both given").hint("measure only reads")
	case p.Move && !p.Apply:
		return errorf(Usage, "move is given without apply").hint("kb classify NOTE --apply --move")
	case len(p.Path) > 0 && (selects && p.Collection == "" || p.Measure):
		return errorf(Usage, "notes are named and selected").hint("name notes, or select them with untagged, scope, tag, where")
	case len(p.Path) == 0 && !selects && !p.Measure:
		return errorf(Usage, "no note is named").hint("kb classify NOTE…, or --untagged, --scope, --tag, --where")
	}
	return nil
}

// asked are the docs that p means, in the order of the view or of their naming.
func (w *view) asked(ctx context.Context, p ClassifyParams) (docs []int, err error) {
	cards, err := w.allCards(ctx)
	if err != nil {
		return nil, err
	}
	for _, name := range p.Path {
		i, err := w.findDoc(ctx, name)
		if err != nil {
			return nil, err
		}
		docs = append(docs, i)
	}
	if len(p.Path) > 0 {
		return docs, nil
	}
	keep, err := Filter{Selection: p.Selection}.keep(ctx, w)
	if err != nil {
		return nil, err
	}
	for i := range w.docs {
		if (keep == nil || keep(i)) && (!p.Untagged || len(cards[i].tags) == 0) {
			docs = append(docs, i)
		}
	}
	return docs, nil
}

// classify adds to r what the docs that p means could be filed as.
func (w *view) classify(ctx context.Context, p ClassifyParams, r *Classified) error {
	docs, err := w.asked(ctx, p)
	if err != nil {
		return err
	}
	r.Total, r.Truncated = len(docs), len(docs) > p.Most
	d := w.directories()
	for _, i := range docs[:min(len(docs), p.Most)] {
		n, err := w.nearby(ctx, i)
		if err != nil {
			return err
		}
		c := w.cards[i]
		one := Classification{Collection: w.docs[i].col.Name, Path: w.docs[i].path, Title: w.titleOf(i, c), Compared: n.compared}
		one.Tags = either(d.agree(i, "tags", w.tagsOf, c.hasTag), n.agree(w.tagsOf, c.hasTag, mostVerdicts), mostVerdicts)
		if len(c.field("type")) == 0 {
			one.Type = first(either(d.agree(i, "type", w.typesOf, never), n.agree(w.typesOf, never, 1), 1))
		}
		own := directory(w.docs[i].path)
		one.Section = first(n.agree(w.directoriesOf, func(dir string) bool { return dir == "" || dir == own }, 1))
		r.Notes, r.Degraded = append(r.Notes, one), n.degraded
	}
	return nil
}

func never(string) bool { return false }

func first(list []Verdict) *Verdict {
	if len(list) == 0 {
		return nil
	}
	return &list[0]
}

func (w *view) tagsOf(i int) []string { return w.cards[i].tags }

func (w *view) typesOf(i int) []string { return w.cards[i].field("type") }

func (w *view) directoriesOf(i int) []string { return []string{directory(w.docs[i].path)} }

// directory is that of a path, "" for the root.
func directory(p string) string {
	if dir := path.Dir(p); dir != "." {
		return dir
	}
	return ""
}

// Text writes each note with its suggestions and their evidence.
func (r *Classified) Text(t *Text) {
	if r.Applied != nil {
		r.Applied.text(t)
	}
	if r.Measured != nil {
		r.Measured.text(t)
	}
	for _, c := range r.Notes {
		t.Printf("%s %s\n", t.Accent(c.Path), t.Dim("compared by "+howCompared[c.Compared]))
		for _, v := range c.Tags {
			v.text(t, "tag", v.Value)
		}
		if c.Type != nil {
			c.Type.text(t, "type", c.Type.Value)
		}
		if c.Section != nil {
			c.Section.text(t, "section", c.Section.Value+"/")
		}
		if len(c.Tags) == 0 && c.Type == nil && c.Section == nil {
			t.Printf("  %s\n", t.Dim("nothing that its neighbours agree on"))
		}
	}
	if r.Truncated {
		t.Printf("%s\n", t.Dim(fmt.Sprintf("of %s: --most shows more", plural(r.Total, "note"))))
	}
	t.Printf("%s\n", t.Dim(r.Seen.text()))
}

func (f *Filed) text(t *Text) {
	if f.Draft == "" {
		t.Printf("nothing to propose\n")
	} else {
		t.Printf("%s\n%s %s\n", t.Strong("draft "+f.Draft), t.Dim("review:"), t.Plain(f.Review))
	}
	for _, left := range f.Left {
		t.Hang("", "  ", t.Plain("left as it is: "+left))
	}
}

var howCompared = map[string]string{"vector": "meaning", "text": "words"}

func (v *Verdict) text(t *Text, kind, value string) {
	const shown = 3
	notes := strings.Join(v.Notes[:min(len(v.Notes), shown)], ", ")
	if len(v.Notes) > shown {
		notes += ", …"
	}
	of := plural(v.Of, "near note")
	if v.From == fromDirectory {
		of = plural(v.Of, "other note") + " of its directory"
	}
	t.Printf("  %s %s  %s\n", kind, t.Strong(value), t.Dim(fmt.Sprintf("%.0f %%, %d of %s", 100*v.Share, v.Count, of)))
	t.Wrap("    ", t.Plain(notes))
}
