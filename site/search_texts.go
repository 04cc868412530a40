package site

import (
	"context"
	"encoding/json"
	"path"
	"slices"
)

// rowsShard is how many results' rows share a file, twice that in a large site,
// whose list of files would be long; textShard is about the bytes of a file of texts.
const (
	rowsShard  = 16
	largeSite  = 16 << 10
	textsShard = 8 << 10
)

// row is a note as a result shows it.
type row struct {
	Title string   `json:"t"`
	Page  string   `json:"p"`
	Path  string   `json:"f,omitempty"` // collection, where there are several, and folder: a/b
	Date  string   `json:"d,omitempty"`
	Tags  []string `json:"g,omitempty"`
}

func (b *builder) searchRows(x *searchIndex) error {
	notes := b.set.Search.Notes
	x.Each = rowsShard
	if len(notes) > largeSite {
		x.Each = 2 * rowsShard
	}
	for part := range slices.Chunk(notes, x.Each) {
		rows := make([]row, len(part))
		for k, i := range part {
			d := b.set.Docs[i]
			rows[k] = row{Title: d.Title, Page: b.graph.pages[i], Path: path.Join(b.graph.prefix(d.Collection), folderOf(d)), Date: d.Updated, Tags: d.Tags}
		}
		name, err := b.putJSON("rows", rows)
		if err != nil {
			return err
		}
		x.Rows += name
	}
	return nil
}

// putJSON writes data as putPart does.
func (b *builder) putJSON(function string, data any) (fileList, error) {
	raw, err := json.Marshal(data)
	if err != nil {
		return "", err
	}
	return b.putPart(function, raw)
}

// textList is the file that says where texts are.
type textList struct {
	From  []int    `json:"from"` // the first note of each file
	Files fileList `json:"files"`
}

// noteText is what excerpts are made of: the headings with their anchors, and the
// text below each, as a reader sees it.
type noteText struct {
	Summary string     `json:"s,omitempty"`
	Parts   []textPart `json:"p"`
}

type textPart struct {
	Heading string `json:"h,omitempty"`
	Anchor  string `json:"a,omitempty"`
	Text    string `json:"t"`
}

func (b *builder) searchTexts(ctx context.Context, x *searchIndex) (err error) {
	w := textWriter{b: b, list: textList{From: []int{}}}
	for k := range b.set.Search.Notes {
		if err := w.add(ctx, k); err != nil {
			return err
		}
	}
	x.Texts, err = b.putJSON("textList", w.list)
	return err
}

// textWriter makes files of texts of notes as they come, in their order.
type textWriter struct {
	b     *builder
	list  textList
	texts []noteText
	size  int
}

func (w *textWriter) add(ctx context.Context, k int) error {
	notes := w.b.set.Search.Notes
	d := w.b.set.Docs[notes[k]]
	t, n, err := w.b.noteText(ctx, d)
	if err != nil {
		return err
	}
	if len(w.texts) == 0 {
		w.list.From = append(w.list.From, k)
	}
	w.texts = append(w.texts, t)
	w.size += n
	if k+1 < len(notes) && !shardEnds(w.size, n, textsShard, d.Path) {
		return nil
	}
	name, err := w.b.putJSON("texts", w.texts)
	w.list.Files += name
	w.texts, w.size = nil, 0
	return err
}

// noteText returns a note's text by its headings, and its size.
func (b *builder) noteText(ctx context.Context, d *Doc) (t noteText, size int, err error) {
	text, err := b.text(ctx, d)
	if err != nil {
		return t, 0, err
	}
	t.Summary, t.Parts = d.Note.Summary, []textPart{}
	add := func(heading, anchor string, from, to int) {
		s := tidy(plain(d.Note, text, from, to))
		if s != "" || heading != "" {
			t.Parts = append(t.Parts, textPart{heading, anchor, s})
			size += len(s) + len(heading) + len(anchor)
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
	return t, size, nil
}
