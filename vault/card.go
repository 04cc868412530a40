package vault

import (
	"context"
	"slices"
	"strings"
	"time"

	"golang.org/x/text/unicode/norm"

	"kb/gitstore"
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
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.cards != nil && !w.partial.Load() {
		return w.cards, nil
	}
	byBlob, err := w.v.store.cards(ctx, w.v.cfg.Language, w.blobs(), w.load)
	if err != nil {
		return nil, err
	}
	cards := make([]*card, len(w.docs))
	for i, d := range w.docs {
		cards[i] = byBlob[d.blob]
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
func (w *view) titleOf(i int, c *card) string {
	if c.title != "" {
		return c.title
	}
	return fileTitle(w.docs[i].path)
}

// docNames is what a note is called, each name in the form in which names are
// compared.
type docNames struct {
	title string
	all   []string // title, file name and aliases; none empty, each once
}

// titles maps folded titles and aliases to docs.
func (w *view) titles(ctx context.Context) (map[string][]int, error) {
	cards, err := w.allCards(ctx)
	if err != nil {
		return nil, err
	}
	var was []docNames
	s := w.earlier(func(c *contents) bool { was = c.called; return was != nil })
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.names != nil && !w.partial.Load() {
		return w.names, nil
	}
	called := make([]docNames, len(w.docs))
	for i, c := range cards {
		if s != nil && s.was[i] >= 0 {
			called[i] = was[s.was[i]]
		} else {
			called[i] = w.namesOf(i, c)
		}
	}
	w.called, w.names = called, mapNames(called)
	return w.names, nil
}

func (w *view) namesOf(i int, c *card) docNames {
	title := w.titleOf(i, c)
	n := docNames{title: foldName(title)}
	for _, name := range append([]string{title, fileTitle(w.docs[i].path)}, c.aliases...) {
		if key := foldName(name); key != "" && !slices.Contains(n.all, key) {
			n.all = append(n.all, key)
		}
	}
	return n
}

func mapNames(called []docNames) map[string][]int {
	names := make(map[string][]int, len(called))
	for i, n := range called {
		for _, key := range n.all {
			names[key] = append(names[key], i)
		}
	}
	return names
}

// foldName is the form in which names are compared: without differences of case,
// spaces, and how accents are composed, which file systems change.
func foldName(s string) string {
	return norm.NFC.String(strings.ToLower(strings.Join(strings.Fields(s), " ")))
}

// dated is when a note was created and last changed, as YYYY-MM-DD, and who
// last changed it.
type dated struct {
	created, updated string
	author           string
}

// datesOf returns a function that dates a doc: by its frontmatter, else by
// history. A note that is not committed yet is dated by the view's clock.
func (w *view) datesOf(ctx context.Context) (func(i int, c *card) dated, error) {
	history, err := w.history(ctx)
	if err != nil {
		return nil, err
	}
	today := w.clock().Format(time.DateOnly)
	return func(i int, c *card) dated {
		d := w.docs[i]
		var out dated
		if h := history[d.col.repo]; h != nil {
			if f, ok := h.At(d.col.full(d.path)); ok {
				out = dated{created: day(f.Created), updated: day(f.Updated), author: f.Author}
			}
		}
		if d.uncommitted {
			out.updated = today
			if out.created == "" {
				out.created = today
			}
		}
		if t, ok := note.ParseDate(c.created); ok {
			out.created = day(t)
		}
		if t, ok := note.ParseDate(c.updated); ok {
			out.updated = day(t)
		}
		return out
	}, nil
}

func day(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.DateOnly)
}

// history returns the dates of every path in each repository at the view's
// commits, from one walk of the commits, kept by commit.
func (w *view) history(ctx context.Context) (map[*repo]*gitstore.Dates, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.dates != nil {
		return w.dates, nil
	}
	all := map[*repo]*gitstore.Dates{}
	for _, b := range w.bases {
		if b.commit.IsZero() {
			continue
		}
		w.v.report(0, 0, "reading history")
		d, err := w.v.store.dates(ctx, b.repo, b.commit)
		if err != nil {
			return nil, errorf(Internal, "read the history of %s: %w", b.commit, err)
		}
		all[b.repo] = d
	}
	w.dates = all
	return all, nil
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
