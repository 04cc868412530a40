package vault

import (
	"context"
	"math"

	"kb/index"
)

// How many near notes are asked, and when they agree. The same for every vault;
// docs/guides/tending.md has what they were measured to give.
const (
	mostAsked    = 10
	leastVotes   = 3   // notes that have a value
	leastShare   = 0.6 // of the weight of all that are asked
	mostVerdicts = 5
)

// Who a verdict is from.
const (
	fromNear      = "near notes"
	fromDirectory = "directory"
)

// nearby is the notes that are near one.
type nearby struct {
	w        *view
	hits     []index.Hit // nearest first
	compared string
	degraded string
}

// nearby finds the notes of its collection that are nearest to doc i. What the
// doc is filed as has no part in it when notes are compared by words.
func (w *view) nearby(ctx context.Context, i int) (*nearby, error) {
	self, unfiled := w.docs[i], *w.cards[i]
	unfiled.tags = nil
	q := index.Query{Max: mostAsked, NoExcerpt: true, Finished: true, Keep: func(j int) bool { return w.docs[j].col == self.col && w.docs[j].blob != self.blob }}
	k, found, err := w.searchLike(ctx, self.blob, q, w.gist(i, &unfiled))
	if err != nil {
		return nil, err
	}
	return &nearby{w, found.Hits, k.mode, k.degraded}, nil
}

// agree lists what enough of the notes have that the doc has not, the surest first.
// A note counts by its score; one without any value is against each.
func (n *nearby) agree(values func(i int) []string, has func(string) bool, most int) []Verdict {
	votes, all := map[string]*vote{}, 0.0
	for _, h := range n.hits {
		own := map[string]bool{}
		for _, value := range values(h.Member) {
			key := foldName(value)
			if own[key] {
				continue
			}
			own[key] = true
			if votes[key] == nil {
				votes[key] = &vote{spelt: map[string]int{}}
			}
			votes[key].add(value, h)
		}
		all += h.Score
	}
	out := []Verdict{}
	for _, v := range votes {
		share, value := v.weight/all, v.spelling()
		if len(v.by) < leastVotes || share < leastShare || has(value) {
			continue
		}
		verdict := Verdict{Value: value, Share: math.Round(share*100) / 100, Count: len(v.by), Of: len(n.hits), From: fromNear}
		for _, i := range v.by {
			verdict.Notes = append(verdict.Notes, n.w.docs[i].path)
		}
		out = append(out, verdict)
	}
	return ranked(out)[:min(len(out), most)]
}

// vote is what near notes say for one value.
type vote struct {
	weight float64
	by     []int          // docs, the nearest first
	spelt  map[string]int // how often in each spelling
}

func (v *vote) add(value string, h index.Hit) {
	v.weight += h.Score
	v.by = append(v.by, h.Member)
	v.spelt[value]++
}

// spelling is how most write the value.
func (v *vote) spelling() (best string) {
	for s, n := range v.spelt {
		if best == "" || n > v.spelt[best] || n == v.spelt[best] && s < best {
			best = s
		}
	}
	return best
}
