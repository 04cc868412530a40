package vault

import (
	"cmp"
	"context"
	"math"
	"path"
	"slices"
	"strings"

	"kb/index"
)

// Neighbours are looked for of so many notes, and so many of each.
const (
	mostLonely    = 200
	neighboursOf  = 2
	leastLikeness = 0.5 // of the nearest note's score, in text; a cosine in vectors
)

// neighbours adds the near notes of those docs that have the fewest links, where
// nothing links the two.
func (w *view) neighbours(ctx context.Context, p LinksParams, keep func(i int) bool, s *Suggestions) error {
	g, err := w.graph(ctx)
	if err != nil {
		return err
	}
	told := map[[2]int]bool{}
	for _, i := range w.lonely(g, func(i int) bool { return keep(i) && !w.form(i) }) {
		near, mode, degraded, err := w.nearest(ctx, i, neighboursOf)
		if err != nil {
			return err
		}
		s.Compared, s.Degraded = mode, degraded
		for _, h := range near {
			pair := [2]int{min(i, h.Member), max(i, h.Member)}
			if told[pair] || w.form(h.Member) || h.Score < leastLikeness || g.joined(i, h.Member) {
				continue
			}
			told[pair] = true
			u := w.suggestion(unlinked{mention: mention{doc: h.Member}, from: i})
			u.Score = math.Round(h.Score*1000) / 1000
			s.Neighbours = append(s.Neighbours, u)
		}
	}
	slices.SortStableFunc(s.Neighbours, func(a, b Suggestion) int { return cmp.Compare(b.Score, a.Score) })
	s.Neighbours = s.Neighbours[:min(len(s.Neighbours), p.Most)]
	return nil
}

// lonely are the docs with the fewest links, in the order of their number.
func (w *view) lonely(g *linkGraph, keep func(i int) bool) (docs []int) {
	for i := range w.docs {
		if keep(i) {
			docs = append(docs, i)
		}
	}
	slices.SortStableFunc(docs, func(a, b int) int {
		return cmp.Compare(len(g.out(a))+len(g.in(a)), len(g.out(b))+len(g.in(b)))
	})
	return docs[:min(len(docs), mostLonely)]
}

// form reports whether doc i is to be filled in: every note that was resembles it.
func (w *view) form(i int) bool {
	for dir := range strings.SplitSeq(strings.ToLower(path.Dir(w.docs[i].path)), "/") {
		if dir = strings.Trim(dir, "_"); dir == "template" || dir == "templates" {
			return true
		}
	}
	return false
}

// joined reports whether a link leads from one doc to the other, either way.
func (g *linkGraph) joined(i, j int) bool {
	leads := func(l linkTo) bool { return l.doc == j }
	return slices.ContainsFunc(g.out(i), leads) || slices.ContainsFunc(g.in(i), leads)
}

// nearest returns the notes of its collection that are nearest to doc i, each with a
// score from 0 to 1: by vectors, else by the words of its gist, where the note
// itself would score 1.
func (w *view) nearest(ctx context.Context, i, most int) ([]index.Hit, string, string, error) {
	self := w.docs[i]
	q := index.Query{Max: most, NoExcerpt: true, Finished: true, Keep: func(j int) bool { return w.docs[j].col == self.col && w.docs[j].blob != self.blob }}
	k, found, err := w.searchLike(ctx, self.blob, q, w.gist(i, w.cards[i]))
	if err != nil {
		return nil, "", "", err
	}
	if k.mode == "vector" || len(found.Hits) == 0 {
		return found.Hits, k.mode, k.degraded, nil
	}
	text, err := w.textView(ctx)
	if err != nil {
		return nil, "", "", err
	}
	q.Text, q.Max, q.Keep = w.gist(i, w.cards[i]), 1, func(j int) bool { return w.docs[j].blob == self.blob }
	own, err := text.Search(ctx, q)
	if err != nil || len(own.Hits) == 0 || own.Hits[0].Score <= 0 {
		return nil, k.mode, k.degraded, err
	}
	for h := range found.Hits {
		found.Hits[h].Score = min(1, found.Hits[h].Score/own.Hits[0].Score)
	}
	return found.Hits, k.mode, k.degraded, nil
}
