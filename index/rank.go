package index

import (
	"cmp"
	"context"
	"math"
	"math/bits"
	"slices"
)

// found is a note that matches, before it is a hit.
type found struct {
	doc    int32
	member int32 // the first that is kept
	score  float64
	words  float64 // by words alone
	near   *Near   // in meaning
}

func (v *View) searchText(ctx context.Context, q Query) (*Result, error) {
	p, remark := v.plan(q.Text)
	p.finished = q.Finished
	s := v.segs.scratches.Get().(*scratch)
	s.grow(len(v.docs), len(v.parts))
	e := &evaluation{scratch: s, v: v, ctx: ctx}
	defer func() {
		s.reset()
		v.segs.scratches.Put(s)
	}()
	res := &Result{Note: remark}
	if err := e.evaluate(p, res); err != nil {
		return nil, err
	}
	total := p.wanted()
	top, err := e.rank(p, q, total, res)
	if err != nil {
		return nil, err
	}
	top = top[min(q.Offset, len(top)):]
	return res, e.hits(p, q, top, total, res)
}

// evaluate looks up every unit and adds up scores.
func (e *evaluation) evaluate(p *plan, res *Result) error {
	for i := 0; i < len(p.units); i++ {
		u := p.units[i]
		if err := e.collect(u); err != nil {
			return err
		}
		if len(e.touched) > 0 && u.last && u.open && !p.finished && p.words <= shortQuery {
			p.units = append(p.units, e.completions(u)...)
		}
		if len(e.touched) == 0 && u.open && !u.neg {
			if err := e.otherwise(u, res); err != nil {
				return err
			}
		}
		if len(e.touched) == 0 && !u.extra && !slices.Contains(res.Missing, u.word) && !u.neg {
			res.Missing = append(res.Missing, u.word)
		}
		if p.sets {
			u.set = newBitset(len(e.v.docs))
			for _, d := range e.touched {
				u.set.add(d)
			}
		}
		if u.scored {
			e.apply(u, i)
		}
	}
	return nil
}

// wanted is the idf of everything that the query asks for.
func (p *plan) wanted() float64 {
	var sum float64
	for _, u := range p.units {
		if u.scored && !u.extra {
			sum += u.idf
		}
	}
	return sum
}

// final is a note's score.
func (e *evaluation) final(p *plan, d int32, wanted float64) float64 {
	s := e.score[d]
	s *= e.coverage(p, d, wanted)
	if e.v.docs[d].obsolete {
		s *= obsoleteFactor
	}
	return roundScore(s)
}

func (e *evaluation) coverage(p *plan, d int32, wanted float64) float64 {
	if wanted == 0 {
		return 1
	}
	return coordination(p.words, e.cover[d]/wanted)
}

// rank returns the best Offset+Max notes in order, and counts all.
func (e *evaluation) rank(p *plan, q Query, wanted float64, res *Result) ([]found, error) {
	matches := e.matches(p, wanted)
	if q.Meaning != nil {
		return e.fuse(p, q, matches, res)
	}
	best := topList{v: e.v, max: q.Offset + q.Max}
	for _, f := range matches {
		if f.score = e.v.raised(q, f.doc, f.score); f.score < q.MinScore {
			continue
		}
		if f.member = e.v.firstKept(f.doc, q.Keep); f.member >= 0 {
			res.Total++
			best.offer(f)
		}
	}
	top := best.sorted()
	res.LowConfidence = e.lowConfidence(p, q, top)
	return top, nil
}

// matches returns every note that has words of the query, as far as its
// structure allows, with its score.
func (e *evaluation) matches(p *plan, wanted float64) []found {
	if p.sets {
		p.allowed = e.set(p.root, false)
		for d := range e.v.docs {
			if p.allowed.has(int32(d)) {
				e.see(int32(d))
			}
		}
	}
	all := make([]found, 0, len(e.seen))
	for _, d := range e.seen {
		if p.allowed == nil || p.allowed.has(d) {
			score := e.final(p, d, wanted)
			all = append(all, found{doc: d, score: score, words: score})
		}
	}
	return all
}

// boosted is the part of its size by which the score of note d is raised.
func (v *View) boosted(q Query, d int32) float64 {
	if q.Boost == nil || !slices.ContainsFunc(v.docs[d].members, func(m int32) bool { return q.Boost(int(m)) }) {
		return 0
	}
	return boostPart
}

// raised is the score of note d as q.Boost raises it: a negative one, too.
func (v *View) raised(q Query, d int32, score float64) float64 {
	if part := v.boosted(q, d); part > 0 {
		return roundScore(score + float64(part*math.Abs(score)))
	}
	return score
}

// firstKept returns the first member of note d that keep keeps, or -1.
func (v *View) firstKept(d int32, keep func(int) bool) int32 {
	for _, m := range v.docs[d].members {
		if keep == nil || keep(int(m)) {
			return m
		}
	}
	return -1
}

// topList keeps the best max notes: a heap whose root is the worst of them.
type topList struct {
	v    *View
	max  int
	heap []found
}

// compare orders by score, then by collection and path.
func (t *topList) compare(a, b found) int {
	if a.score != b.score {
		return cmp.Compare(b.score, a.score)
	}
	return compareMembers(&t.v.members[a.member], &t.v.members[b.member])
}

func (t *topList) offer(f found) {
	if len(t.heap) < t.max {
		t.heap = append(t.heap, f)
		for i := len(t.heap) - 1; i > 0; {
			up := (i - 1) / 2
			if t.compare(t.heap[i], t.heap[up]) <= 0 {
				break
			}
			t.heap[i], t.heap[up] = t.heap[up], t.heap[i]
			i = up
		}
		return
	}
	if t.max == 0 || t.compare(f, t.heap[0]) >= 0 {
		return
	}
	t.heap[0] = f
	for i := 0; ; {
		worst := i
		for c := 2*i + 1; c <= 2*i+2 && c < len(t.heap); c++ {
			if t.compare(t.heap[c], t.heap[worst]) > 0 {
				worst = c
			}
		}
		if worst == i {
			return
		}
		t.heap[i], t.heap[worst] = t.heap[worst], t.heap[i]
		i = worst
	}
}

func (t *topList) sorted() []found {
	slices.SortFunc(t.heap, t.compare)
	return t.heap
}

// confidentPart is the part of the query's words, by idf, that a note must have
// for an answer to be taken for one. Measured on queries asked of their own
// collection and of others: docs/reference/ranking.md.
const confidentPart = 0.4

// lowConfidence reports that none of the best notes has enough of the query's
// words - by idf, or two thirds of them, for in a small view idf says little - and
// none is so near that its cosine alone counts as much as having the words best.
func (e *evaluation) lowConfidence(p *plan, q Query, top []found) bool {
	wanted, words := p.wanted(), p.wordMask()
	weighed := q.Meaning != nil && q.Meaning.Weigh != nil && !q.Meaning.Alone
	for _, f := range top {
		most := 3*bits.OnesCount64(e.mask[f.doc]&words) >= 2*bits.OnesCount64(words)
		near := weighed && f.near != nil && p.weight*f.near.Cosine >= 1
		if most || near || e.cover[f.doc] >= confidentPart*wanted {
			return false
		}
	}
	return true
}

// wordMask has a bit for each word of the query, as far as there is room.
func (p *plan) wordMask() (mask uint64) {
	for i, u := range p.units[:min(64, len(p.units))] {
		if u.scored && !u.extra {
			mask |= 1 << i
		}
	}
	return mask
}

// set returns the notes that n allows. Strict means that a leaf of several
// terms must have all of them.
func (e *evaluation) set(n *node, strict bool) bitset {
	switch n.op {
	case opLeaf:
		return e.leafSet(n.leaf, strict)
	case opOr:
		all := newBitset(len(e.v.docs))
		for _, k := range n.kids {
			all.or(e.set(k, strict))
		}
		return all
	case opAnd:
		all := e.set(n.kids[0], true)
		for _, k := range n.kids[1:] {
			all.and(e.set(k, true))
		}
		return all
	}
	return e.listSet(n, strict)
}

func (e *evaluation) listSet(n *node, strict bool) bitset {
	any := newBitset(len(e.v.docs))
	var must bitset
	shoulds := 0
	for _, k := range n.kids {
		switch {
		case k.not:
		case k.must:
			if s := e.set(k, true); must == nil {
				must = s
			} else {
				must.and(s)
			}
		default:
			shoulds++
			any.or(e.set(k, strict && len(n.kids) == 1))
		}
	}
	all := any
	if must != nil {
		all = must
	} else if shoulds == 0 {
		all = allOf(len(e.v.docs))
	}
	for _, k := range n.kids {
		if k.not {
			all.andNot(e.set(k, true))
		}
	}
	return all
}

// leafSet is the notes with any of a leaf's terms; strict: with all its main
// terms, or with the whole (foobar for foo-bar).
func (e *evaluation) leafSet(l *leaf, strict bool) bitset {
	any := newBitset(len(e.v.docs))
	var all bitset
	for _, u := range l.units {
		any.or(u.set)
		if u.extra {
			continue
		}
		if all == nil {
			all = slices.Clone(u.set)
		} else {
			all.and(u.set)
		}
	}
	if !strict || all == nil {
		return any
	}
	for _, u := range l.units {
		if u.whole {
			all.or(u.set)
		}
	}
	return all
}
