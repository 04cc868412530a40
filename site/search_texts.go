package site

import (
	"cmp"
	"context"
	"encoding/json"
	"path"
	"slices"
	"strconv"
	"strings"
)

// rowsShard is how many results' rows share a file, twice that in a large site,
// whose rows are many; textsShard is about the bytes of a file of texts.
const (
	rowsShard  = 16
	largeSite  = 16 << 10
	textsShard = 6 << 10
)

// row is a note as a result shows it.
type row struct {
	Title string   `json:"t"`
	Page  string   `json:"p"`
	Path  string   `json:"f,omitempty"` // collection, where there are several, and folder: a/b
	Tags  []string `json:"g,omitempty"`
}

// rowsOf is a file of rows. Rows and texts say whose numbers they have, and no
// index lists what is in them: one that is newer than the index shows a newer
// title, not another note's.
type rowsOf struct {
	Numbers string   `json:"of"`
	Texts   [][2]int `json:"x"` // where files of texts begin: the last at the first note or before it, and those that begin in the notes
	Rows    []row    `json:"r"`
}

func (b *builder) searchRows(x *searchIndex, texts []textAt) error {
	notes := b.set.Search.Notes
	x.Each = rowsShard
	if len(notes) > largeSite {
		x.Each = 2 * rowsShard
	}
	for from := 0; from < len(notes); from += x.Each {
		to := min(from+x.Each, len(notes))
		if err := b.putRows(x, from, to, textsAt(texts, from, to)); err != nil {
			return err
		}
	}
	return nil
}

// putRows writes the file of the rows of notes.
func (b *builder) putRows(x *searchIndex, from, to int, texts [][2]int) error {
	rows := rowsOf{Numbers: x.Numbers, Texts: texts}
	for _, i := range b.set.Search.Notes[from:to] {
		d := b.set.Docs[i]
		rows.Rows = append(rows.Rows, row{Title: d.Title, Page: b.graph.pages[i], Path: path.Join(b.graph.prefix(d.Collection), folderOf(d)), Tags: d.Tags})
	}
	raw, err := json.Marshal(rows)
	if err != nil {
		return err
	}
	_, err = b.putPart("rows", strconv.Itoa(from/x.Each), raw)
	return err
}

// textAt is where a file of texts begins: with a part of a note.
type textAt struct{ note, part int }

func (a textAt) compare(b textAt) int {
	return cmp.Or(cmp.Compare(a.note, b.note), cmp.Compare(a.part, b.part))
}

func (a textAt) name() string { return strconv.Itoa(a.note) + "-" + strconv.Itoa(a.part) }

func textNamed(name string) (a textAt, ok bool) {
	note, part, _ := strings.Cut(name, "-")
	var err, err2 error
	a.note, err = strconv.Atoi(note)
	a.part, err2 = strconv.Atoi(part)
	return a, err == nil && err2 == nil
}

// textsAt are the files that have the texts of notes.
func textsAt(texts []textAt, from, to int) (out [][2]int) {
	first, exact := slices.BinarySearchFunc(texts, textAt{note: from}, textAt.compare)
	if !exact {
		first-- // none begins with the first note
	}
	for _, a := range texts[max(0, first):] {
		if a.note >= to {
			break
		}
		out = append(out, [2]int{a.note, a.part})
	}
	return out
}

// textsOf is a file of texts. The first note may have parts in files before it.
type textsOf struct {
	Numbers string     `json:"of"`
	Texts   []noteText `json:"t"`
}

// noteText is what excerpts are made of: the headings with their anchors, and the
// text below each, as a reader sees it. The date changes when the text does.
type noteText struct {
	Date    string     `json:"d,omitempty"`
	Summary string     `json:"s,omitempty"`
	Parts   []textPart `json:"p"`
}

type textPart struct {
	Heading string `json:"h,omitempty"`
	Anchor  string `json:"a,omitempty"`
	Text    string `json:"t"`
}

func (p *textPart) size() int { return len(p.Text) + len(p.Heading) + len(p.Anchor) }

func (b *builder) searchTexts(ctx context.Context, x *searchIndex) ([]textAt, error) {
	w := textWriter{b: b, numbers: x.Numbers}
	for k := range b.set.Search.Notes {
		if err := w.add(ctx, textAt{note: k}, func(textAt) bool { return false }); err != nil {
			return nil, err
		}
	}
	return w.starts, w.flush()
}

// textWriter makes files of texts of notes as they come, in their order.
type textWriter struct {
	b       *builder
	numbers string
	starts  []textAt
	texts   []noteText
	size    int
}

// add adds the text of a note from a part on. It asks stop after each file that
// ends whether what comes next is not to be added.
func (w *textWriter) add(ctx context.Context, from textAt, stop func(next textAt) bool) error {
	i := w.b.set.Search.Notes[from.note]
	d := w.b.set.Docs[i]
	t, err := w.b.noteText(ctx, i)
	if err != nil {
		return err
	}
	for at := from; at == from || at.part < len(t.Parts); at.part++ {
		var part textPart
		if at.part < len(t.Parts) {
			part = t.Parts[at.part]
		}
		if len(w.texts) == 0 {
			w.starts = append(w.starts, at)
		}
		if len(w.texts) == 0 || at == from {
			w.texts = append(w.texts, noteText{Parts: []textPart{}})
		}
		last := &w.texts[len(w.texts)-1]
		if at.part == 0 {
			last.Date, last.Summary = t.Date, t.Summary
		}
		if at.part < len(t.Parts) {
			last.Parts = append(last.Parts, part)
		}
		w.size += part.size()
		if !shardEnds(w.size, part.size(), textsShard, d.Path+"#"+part.Anchor) {
			continue
		}
		if err := w.flush(); err != nil {
			return err
		}
		next := textAt{at.note, at.part + 1}
		if next.part >= len(t.Parts) {
			next = textAt{note: at.note + 1}
		}
		if stop(next) {
			return nil
		}
	}
	return nil
}

func (w *textWriter) flush() error {
	if len(w.texts) == 0 {
		return nil
	}
	from := w.starts[len(w.starts)-1]
	raw, err := json.Marshal(textsOf{w.numbers, w.texts})
	if err != nil {
		return err
	}
	_, err = w.b.putPartOf("texts", from.name(), w.b.datesOf(from, textAt{from.note + len(w.texts) - 1, 1}), raw)
	w.texts, w.size = nil, 0
	return err
}

// datesOf is a hash of the dates that are in a file of texts. They may change when
// what the notes say does not.
func (b *builder) datesOf(from, to textAt) string {
	k := keyer{}
	for n := from.note; (textAt{note: n}).compare(to) < 0; n++ {
		if n > from.note || from.part == 0 {
			k.put(b.set.Docs[b.set.Search.Notes[n]].Updated)
		}
	}
	return k.sum()
}

// noteText returns a doc's text by its headings.
func (b *builder) noteText(ctx context.Context, i int) (t noteText, err error) {
	if err := b.load(ctx, i); err != nil {
		return t, err
	}
	d := b.set.Docs[i]
	text, err := b.text(ctx, d)
	if err != nil {
		return t, err
	}
	t.Date, t.Summary = d.Updated, d.Note.Summary
	add := func(heading, anchor string, from, to int) {
		s := tidy(plain(d.Note, text, from, to))
		if s != "" || heading != "" {
			t.Parts = append(t.Parts, textPart{heading, anchor, s})
		}
	}
	starts := make([]int, 0, len(d.Note.Headings)+1)
	for _, h := range d.Note.Headings {
		starts = append(starts, h.Start)
	}
	starts = append(starts, len(text))
	slices.Sort(starts)
	add("", "", d.Note.Body, starts[0])
	for k, h := range d.Note.Headings {
		line := h.Start + len(lineOf(text, h.Start))
		add(h.Text, h.Slug, min(line, starts[k+1]), starts[k+1])
	}
	return t, nil
}
