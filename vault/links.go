package vault

import (
	"context"

	"kb/note"
)

// linkGraph is how the docs of a view link to each other.
type linkGraph struct {
	out [][]linkTo
	in  [][]linkTo
}

// linkTo is one link, seen from one of its ends: doc is the other end.
type linkTo struct {
	doc  int
	link *note.Link
}

// Linked is a note at the other end of a link.
type Linked struct {
	Path       string `json:"path"`
	Title      string `json:"title"`
	Collection string `json:"collection"`
	Line       int    `json:"line"` // of the link, in the note that has it
	Text       string `json:"text"`
}

// graph resolves every link of the view, once.
func (w *view) graph(ctx context.Context) (*linkGraph, error) {
	cards, err := w.allCards(ctx)
	if err != nil {
		return nil, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.links != nil {
		return w.links, nil
	}
	g := &linkGraph{out: make([][]linkTo, len(w.docs)), in: make([][]linkTo, len(w.docs))}
	paths := map[*collection][]string{}
	for _, d := range w.docs {
		paths[d.col] = append(paths[d.col], d.path)
	}
	resolvers := map[*collection]*note.Resolver{}
	for c, p := range paths {
		resolvers[c] = note.NewResolver(p)
	}
	for i, d := range w.docs {
		for k := range cards[i].links {
			l := &cards[i].links[k]
			t := resolvers[d.col].Resolve(d.path, *l)
			if t.External || t.Path == "" {
				continue
			}
			if j, ok := w.docAt(d.col.Name, t.Path); ok && j != i {
				g.out[i] = append(g.out[i], linkTo{j, l})
				g.in[j] = append(g.in[j], linkTo{i, l})
			}
		}
	}
	w.links = g
	return g, nil
}

// linked lists the other ends, each note once, at its first link.
func (w *view) linked(ends []linkTo) []Linked {
	out := []Linked{}
	seen := map[int]bool{}
	for _, e := range ends {
		if seen[e.doc] {
			continue
		}
		seen[e.doc] = true
		d := w.docs[e.doc]
		out = append(out, Linked{Path: d.path, Title: w.titleOf(e.doc, w.cards[e.doc]), Collection: d.col.Name,
			Line: e.link.Line, Text: e.link.Text})
	}
	return out
}
