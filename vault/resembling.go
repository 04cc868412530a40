package vault

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"kb/index"
	"kb/note"
)

// alike is how much two notes have in common for a new one to be worth a second
// look.
const alike = 0.5

// mostAlike is how many notes of each kind are shown.
const mostAlike = 3

// resembling returns the notes that may say what n says, which is new at p: near
// duplicates first, in the draft too, then those that have the words of its title.
func (g *ground) resembling(ctx context.Context, p string, n *note.Note) ([]Hit, error) {
	hits, err := g.draftedLike(p, n)
	if err != nil {
		return nil, err
	}
	cards, err := g.allCards(ctx)
	if err != nil {
		return nil, err
	}
	members := g.sketchedLike(cards, p, n)
	worded, err := g.wordedLike(ctx, p, n.TitleAt(p))
	if err != nil {
		return nil, err
	}
	for _, h := range append(members, worded...) {
		hit, err := g.hit(h)
		if err != nil {
			return nil, err
		}
		if hit.Excerpt == "" {
			hit.Excerpt = oneLine(cards[h.Member].summary, 300)
		}
		if !slices.ContainsFunc(hits, func(o Hit) bool { return o.Path == hit.Path && o.Collection == hit.Collection }) {
			hits = append(hits, hit)
		}
	}
	return hits, nil
}

// sketchedLike compares sketches with every note that the draft left as it is.
func (g *ground) sketchedLike(cards []*card, p string, n *note.Note) (hits []index.Hit) {
	for i, c := range cards {
		if _, changed := g.drafted[g.docs[i].path]; g.docs[i].col == g.col && (changed || g.docs[i].path == p) {
			continue
		}
		if s := c.sketch.Similar(n.Sketch); s >= alike {
			hits = append(hits, index.Hit{Member: i, Score: s})
		}
	}
	slices.SortStableFunc(hits, func(a, b index.Hit) int { return cmp.Compare(b.Score, a.Score) })
	return hits[:min(len(hits), mostAlike)]
}

// wordedLike searches for a title, and keeps what has half of its words, and two.
func (g *ground) wordedLike(ctx context.Context, p, title string) ([]index.Hit, error) {
	text, err := g.textView(ctx)
	if err != nil {
		return nil, err
	}
	words := plainWords(title)
	found, err := text.Search(ctx, index.Query{Text: strings.Join(words, " "), Max: mostAlike, NoExcerpt: true, Keep: func(i int) bool {
		return g.docs[i].col != g.col || g.docs[i].path != p && !g.gone(g.docs[i].path)
	}})
	if err != nil {
		return nil, err
	}
	few := min(2, len(words))
	return slices.DeleteFunc(found.Hits, func(h index.Hit) bool { return len(h.Terms) < few || 2*len(h.Terms) < len(words) }), nil
}

// draftedLike compares with the notes that the draft added or changed.
func (g *ground) draftedLike(p string, n *note.Note) (hits []Hit, err error) {
	hits = []Hit{}
	for at, id := range g.drafted {
		if id.IsZero() || at == p {
			continue
		}
		other, err := g.parsed(id)
		if err != nil {
			return nil, err
		}
		s := other.Sketch.Similar(n.Sketch)
		if s < alike {
			continue
		}
		hits = append(hits, Hit{
			Path: at, Title: other.TitleAt(at), Section: section(at), Collection: g.col.Name, Score: s,
			Excerpt: oneLine(other.Summary, 300), Lines: []int{0, 0}, Blob: id.String(),
			URI:  citation{Collection: g.col.Name, Commit: g.on.String(), Path: at}.String(),
			Tags: append([]string{}, other.Tags...), Also: []string{}, Trust: "draft",
		})
	}
	slices.SortFunc(hits, func(a, b Hit) int { return cmp.Or(cmp.Compare(b.Score, a.Score), strings.Compare(a.Path, b.Path)) })
	return hits[:min(len(hits), mostAlike)], nil
}
