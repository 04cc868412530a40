package vault

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"kb/embed"
	"kb/index"
	"kb/note"
)

// alike is how much two notes have in common for a new one to be worth a second
// look.
const alike = 0.5

// mostAlike is how many notes of each kind are shown.
const mostAlike = 3

// alikeInMeaning is what a note must have in common with a new one for that.
var alikeInMeaning = embed.Bar{Match: 0.7, Apart: 0.5}

// resembling returns the notes that may say what n says, which is new at p: near
// duplicates first, in the draft too, then those that mean the same, and those
// that have the words of its title. How they were compared is by.
func (g *ground) resembling(ctx context.Context, p string, n *note.Note, src []byte) (hits []Hit, by *comparison, err error) {
	if hits, err = g.draftedLike(p, n); err != nil {
		return nil, nil, err
	}
	cards, err := g.allCards(ctx)
	if err != nil {
		return nil, nil, err
	}
	members := g.sketchedLike(cards, p, n)
	by = g.comparison(ctx)
	meant, err := g.meantLike(ctx, by, p, src)
	if err != nil {
		return nil, nil, err
	}
	worded, err := g.wordedLike(ctx, p, n.TitleAt(p))
	if err != nil {
		return nil, nil, err
	}
	for _, h := range slices.Concat(members, meant, worded) {
		hit, err := g.hit(h)
		if err != nil {
			return nil, nil, err
		}
		if hit.Excerpt == "" {
			hit.Excerpt = oneLine(cards[h.Member].summary, 300)
		}
		if !slices.ContainsFunc(hits, func(o Hit) bool { return o.Path == hit.Path && o.Collection == hit.Collection }) {
			hits = append(hits, hit)
		}
	}
	return hits, by, nil
}

// untouched reports whether the draft left doc i as it is, which is not at p.
func (g *ground) untouched(i int, p string) bool {
	_, changed := g.drafted[g.docs[i].path]
	return g.docs[i].col != g.col || !changed && g.docs[i].path != p
}

// sketchedLike compares sketches with every note that the draft left as it is.
func (g *ground) sketchedLike(cards []*card, p string, n *note.Note) (hits []index.Hit) {
	for i, c := range cards {
		if !g.untouched(i, p) {
			continue
		}
		if s := c.sketch.Similar(n.Sketch); s >= alike {
			hits = append(hits, index.Hit{Member: i, Score: s})
		}
	}
	slices.SortStableFunc(hits, func(a, b index.Hit) int { return cmp.Compare(b.Score, a.Score) })
	return hits[:min(len(hits), mostAlike)]
}

// meantLike compares what a note means with every note that the draft left as it
// is. The note is embedded for that, unless it is long or the model is busy.
func (g *ground) meantLike(ctx context.Context, by *comparison, p string, src []byte) (hits []index.Hit, err error) {
	m := by.meaning
	if m == nil {
		return nil, nil
	}
	own, err := m.index.Now(ctx, src, fewTexts)
	if err == nil && own == nil {
		by.words("the note is long, or the model busy: compared by words")
		return nil, nil
	}
	var twins []embed.Twin
	if err == nil {
		keep := func(id note.ID) bool { return g.untouched(g.where()[id], p) }
		twins, err = m.view.Resembling(ctx, own, alikeInMeaning, keep)
	}
	if err != nil {
		if err = m.fail(ctx, err); errors.Is(err, errMeaning) {
			g.v.store.log("%v", err)
			by.words("the embedding model or its vectors failed: compared by words")
			err = nil
		}
		return nil, err
	}
	for _, t := range twins[:min(len(twins), mostAlike)] {
		hits = append(hits, index.Hit{Member: g.where()[t.ID], Score: t.Match})
	}
	return hits, nil
}

// wordedLike searches for a title, and keeps what has half of its words, and two.
func (g *ground) wordedLike(ctx context.Context, p, title string) ([]index.Hit, error) {
	text, err := g.textView(ctx)
	if err != nil {
		return nil, err
	}
	words := plainWords(title)
	found, err := text.Search(ctx, index.Query{Text: strings.Join(words, " "), Max: mostAlike, NoExcerpt: true, Finished: true, Keep: func(i int) bool {
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
			Tags: fewTags(other.Tags), Also: []string{}, Trust: "draft",
		})
	}
	slices.SortFunc(hits, func(a, b Hit) int { return cmp.Or(cmp.Compare(b.Score, a.Score), strings.Compare(a.Path, b.Path)) })
	return hits[:min(len(hits), mostAlike)], nil
}
