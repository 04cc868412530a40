package vault

import (
	"context"
	"strings"

	"golang.org/x/text/unicode/norm"

	"kb/note"
)

// card is what lists and filters need of a note: its parse without headings,
// links and chunks.
type card struct {
	title      string // as the note itself says; "" when it does not
	aliases    []string
	tags       []string
	fields     []note.Field
	summary    string
	status     string
	created    string
	updated    string
	superseded string
	obsolete   bool
	words      int
	chunks     int
	links      []note.Link // those that may lead to a note
	headings   []string
	slugs      []string // of the headings
	blocks     []string
	anchors    []string // ids of HTML elements
	entities   []note.Entity
	sketch     note.Sketch
	problems   []note.Problem
	bytes      int // of the decoded text
}

func newCard(n *note.Note) *card {
	var links []note.Link
	for _, l := range n.Links {
		if l.Kind != note.AutoLink && !strings.Contains(l.Target, "://") {
			links = append(links, l)
		}
	}
	c := &card{
		title:      n.Title,
		aliases:    n.Aliases,
		tags:       n.Tags,
		fields:     n.Fields,
		summary:    n.Summary,
		status:     linkText(n.Status()),
		created:    n.Created(),
		updated:    n.Updated(),
		superseded: linkText(n.Superseded()),
		obsolete:   n.Obsolete(),
		words:      n.Words,
		chunks:     len(n.Chunks),
		bytes:      textEnd(n),
		links:      links,
		problems:   n.Problems,
		entities:   n.Entities,
		sketch:     n.Sketch,
		anchors:    n.Anchors,
	}
	for _, h := range n.Headings {
		c.headings, c.slugs = append(c.headings, h.Text), append(c.slugs, h.Slug)
	}
	for _, b := range n.Blocks {
		c.blocks = append(c.blocks, b.ID)
	}
	return c
}

// unreadable reports whether c stands for a note whose bytes could not be read.
func (c *card) unreadable() bool {
	return len(c.problems) == 1 && c.problems[0].Code == "unreadable"
}

// field returns the property of that name as a list of texts.
func (c *card) field(key string) []string {
	n := note.Note{Fields: c.fields}
	return n.Strings(key)
}

// allCards returns the card of every doc, in their order. Docs with the same
// bytes share one.
func (w *view) allCards(ctx context.Context) ([]*card, error) {
	if err := w.sync(ctx); err != nil {
		return nil, err
	}
	var was []*card
	s := w.earlier(func(c *contents) bool { was = c.cards; return was != nil })
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.cards != nil {
		return w.cards, nil
	}
	blobs := w.blobsSince(s)
	byBlob, err := w.v.store.cards(ctx, w.v.cfg.Language, blobs.ids(), blobs.load)
	if err != nil {
		return nil, err
	}
	cards := make([]*card, len(w.docs))
	if s != nil {
		cards = carried(s, was, len(w.docs))
	}
	for i, d := range w.docs {
		if cards[i] == nil {
			cards[i] = byBlob[d.blob]
		}
	}
	w.cards = cards
	return cards, nil
}

// readCards returns the view that at means, the collections that are asked for,
// and the card of every doc.
func (v *Vault) readCards(ctx context.Context, at, collection string) (*view, []*collection, []*card, error) {
	w, err := v.read(ctx, at)
	if err != nil {
		return nil, nil, nil, err
	}
	cols, err := v.collections(collection)
	if err != nil {
		return nil, nil, nil, err
	}
	cards, err := w.allCards(ctx)
	return w, cols, cards, err
}

// titleOf is a doc's title: the note's own, else its file's name.
func (w *view) titleOf(i int, c *card) string { return c.titleAt(w.docs[i].path) }

func (c *card) titleAt(p string) string {
	if c.title != "" {
		return c.title
	}
	return fileTitle(p)
}

// foldName is the form in which names are compared: without differences of case,
// spaces, and how accents are composed, which file systems change.
func foldName(s string) string {
	return norm.NFC.String(strings.ToLower(strings.Join(strings.Fields(s), " ")))
}

// textEnd is the length of a note's text: its chunks tile the body.
func textEnd(n *note.Note) int {
	if len(n.Chunks) == 0 {
		return n.Body
	}
	return n.Chunks[len(n.Chunks)-1].End
}

// linkText is a property's value without the brackets that make it a link.
func linkText(s string) string {
	inner, ok := strings.CutPrefix(s, "[[")
	if inner, ok2 := strings.CutSuffix(inner, "]]"); ok && ok2 {
		_, text, found := strings.Cut(inner, "|")
		if found {
			return text
		}
		return inner
	}
	return s
}
