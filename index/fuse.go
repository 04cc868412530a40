package index

import (
	"context"
	"slices"
	"strings"

	"kb/note"
)

// Meaning ranks notes by their nearness to the query as well as by its words.
// With words alone a note scores as ever; here it scores
//
//	words / (the best score by words in the view) + Weight × cosine
//
// and with Alone the cosine. A cosine that is not known counts as 0; an obsolete
// note keeps part of one that is positive. Scores by words that are compared are
// those of the whole view: what Keep leaves out changes no score.
type Meaning struct {
	Weight float64
	// Weigh returns the weight for text, instead of Weight, if it is not nil.
	// words gives the score of a note by words, as part of the best in the view.
	Weigh func(ctx context.Context, text string, words func(note.ID) float64) (float64, error)
	Alone bool // words count only where the query says that they must or must not be there
	// Near returns how near notes are to text, which is the query without its
	// operators: those of best, which are the best by words, and the nearest of
	// those that keep keeps. It is called once.
	Near func(ctx context.Context, text string, best []note.ID, keep func(note.ID) bool) (map[note.ID]Near, error)
	// Reorder returns the best notes in the order in which they are shown; nil
	// leaves them.
	Reorder func(best []Ranked) ([]int, error)
}

// Near is how near a note is: the cosine of its nearest chunk.
type Near struct {
	Cosine float64
	Chunk  int // index into the note's Chunks
}

// Ranked is a note in its place.
type Ranked struct {
	Blob  note.ID
	Score float64
	Near  *Near // nil when it is not known
}

// Depths of a ranking by meaning: how many of the best by words are compared with
// the query, and how many of the best by both are reordered.
const (
	compareDepth = 200
	reorderDepth = 100
)

// fuse is rank with q.Meaning.
func (e *evaluation) fuse(p *plan, q Query, matches []found, res *Result) ([]found, error) {
	byWords := topList{v: e.v, max: compareDepth}
	for i := range matches {
		f := &matches[i]
		p.best = max(p.best, f.words)
		if f.member = e.v.firstKept(f.doc, q.Keep); f.member >= 0 && !q.Meaning.Alone {
			byWords.offer(*f)
		}
	}
	near, err := e.near(p, q, byWords.sorted())
	if err != nil {
		return nil, err
	}
	if p.weight, err = e.cosineWeight(p, q, matches); err != nil {
		return nil, err
	}
	top := topList{v: e.v, max: q.Offset + q.Max}
	if q.Meaning.Reorder != nil {
		top.max = max(top.max, reorderDepth)
	}
	for _, f := range e.candidates(p, q, matches, near) {
		f.near = near[f.doc]
		if f.score = e.v.raised(q, f.doc, p.fused(q.Meaning, f)); q.MinScore <= 0 || f.score >= q.MinScore {
			res.Total++
			top.offer(f)
		}
	}
	all := top.sorted()
	res.LowConfidence = e.lowConfidence(p, q, all[:min(len(all), q.Offset+q.Max)])
	if all, err = e.reorder(q, all); err != nil {
		return nil, err
	}
	return all[:min(len(all), q.Offset+q.Max)], nil
}

// cosineWeight is how much a cosine counts for this query.
func (e *evaluation) cosineWeight(p *plan, q Query, matches []found) (float64, error) {
	if q.Meaning.Alone || q.Meaning.Weigh == nil {
		return q.Meaning.Weight, nil
	}
	return q.Meaning.Weigh(e.ctx, p.text(q.Text), func(id note.ID) float64 {
		d, ok := e.v.note(id)
		i := slices.IndexFunc(matches, func(f found) bool { return ok && f.doc == d })
		if i < 0 {
			return 0
		}
		return p.share(matches[i])
	})
}

// share is a note's score by words, as part of the best.
func (p *plan) share(f found) float64 {
	if p.best <= 0 {
		return 0
	}
	return f.words / p.best
}

// near asks how near notes are, by note of the view.
func (e *evaluation) near(p *plan, q Query, best []found) (map[int32]*Near, error) {
	ids := make([]note.ID, len(best))
	for i, f := range best {
		ids[i] = e.v.docs[f.doc].blob
	}
	keep := e.keepsByMeaning(p, q)
	found, err := q.Meaning.Near(e.ctx, p.text(q.Text), ids, keep)
	if err != nil {
		return nil, err
	}
	out := make(map[int32]*Near, len(found))
	for id, n := range found {
		if d, ok := e.v.note(id); ok {
			if e.v.docs[d].obsolete && n.Cosine > 0 {
				n.Cosine = roundScore(n.Cosine * obsoleteFactor)
			}
			out[d] = &n
		}
	}
	return out, nil
}

// keepsByMeaning returns which notes may be found although they have no word of
// the query; nil for all.
func (e *evaluation) keepsByMeaning(p *plan, q Query) func(note.ID) bool {
	allowed := e.allowedByMeaning(p)
	exact := p.exact() && !q.Meaning.Alone
	if q.Keep == nil && allowed == nil && !exact {
		return nil
	}
	return func(id note.ID) bool {
		d, ok := e.v.note(id)
		return ok && (allowed == nil || allowed.has(d)) && (!exact || e.matched(p, d)) && e.v.firstKept(d, q.Keep) >= 0
	}
}

// allowedByMeaning is what the structure of a query allows when the words that it
// does not insist on may be missing; nil for all.
func (e *evaluation) allowedByMeaning(p *plan) bitset {
	if p.allowed == nil || p.root.op != opList {
		return p.allowed
	}
	strict := &node{op: opList}
	for _, k := range p.root.kids {
		if k.must || k.not {
			strict.kids = append(strict.kids, k)
		}
	}
	return e.listSet(strict, false)
}

// matched reports whether note d is among the matches.
func (e *evaluation) matched(p *plan, d int32) bool {
	return e.inSeen.has(d) && (p.allowed == nil || p.allowed.has(d))
}

// candidates are the notes to rank: those with words of the query, and of the
// others those that are on the query's side of the view's middle. By meaning
// alone they are those that are near.
func (e *evaluation) candidates(p *plan, q Query, matches []found, near map[int32]*Near) []found {
	var all []found
	for _, f := range matches {
		if f.member >= 0 && (!q.Meaning.Alone || near[f.doc] != nil) {
			all = append(all, f)
		}
	}
	for d, n := range near {
		if !e.matched(p, d) && (q.Meaning.Alone || n.Cosine > 0) {
			all = append(all, found{doc: d, member: e.v.firstKept(d, q.Keep)})
		}
	}
	return all
}

// fused is a note's score.
func (p *plan) fused(m *Meaning, f found) float64 {
	cosine := 0.0
	if f.near != nil {
		cosine = f.near.Cosine
	}
	if m.Alone {
		return cosine
	}
	return roundScore(p.share(f) + float64(p.weight*cosine))
}

// reorder lets q.Meaning put the best notes into another order.
func (e *evaluation) reorder(q Query, all []found) ([]found, error) {
	if q.Meaning.Reorder == nil || len(all) == 0 {
		return all, nil
	}
	best := make([]Ranked, min(len(all), reorderDepth))
	for i := range best {
		best[i] = Ranked{e.v.docs[all[i].doc].blob, all[i].score, all[i].near}
	}
	order, err := q.Meaning.Reorder(best)
	if err != nil {
		return nil, err
	}
	out := make([]found, 0, len(all))
	for _, i := range order {
		out = append(out, all[i])
	}
	return append(out, all[len(best):]...), nil
}

// exact reports that the query asks for a phrase or a beginning: it is about
// words, and a note without them is no answer.
func (p *plan) exact() bool {
	for _, k := range append([]*node{p.root}, p.root.kids...) {
		if k.leaf != nil && (k.leaf.phrase || k.leaf.prefix) {
			return true
		}
	}
	return false
}

// text is a query without its operators: as it is when it has none, else the
// words that it asks for.
func (p *plan) text(query string) string {
	if !p.sets && !p.exact() {
		return query
	}
	var words []string
	var walk func(n *node)
	walk = func(n *node) {
		if n.not {
			return
		}
		if n.leaf != nil {
			words = append(words, n.leaf.text)
		}
		for _, k := range n.kids {
			walk(k)
		}
	}
	walk(p.root)
	return strings.Join(words, " ")
}
