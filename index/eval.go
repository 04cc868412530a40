package index

import (
	"context"
	"fmt"
	"slices"

	segment "github.com/blevesearch/scorch_segment_api/v2"
)

// scratch is what one search needs of memory, reused from search to search. Its
// arrays are by note of the view, and all zero between uses.
type scratch struct {
	weight  []float64 // of the unit in hand
	touched []int32   // notes with a weight
	score   []float64
	cover   []float64 // idf of the words that the note has
	mask    []uint64  // the first 64 units that it has
	seen    []int32   // notes with a mask, a score or a cover
	inSeen  bitset
	counts  []uint8
	dicts   []segment.TermDictionary
	list    segment.PostingsList
	iter    segment.PostingsIterator
}

func (s *scratch) grow(n, parts int) {
	if len(s.weight) < n {
		s.weight = make([]float64, n)
		s.score = make([]float64, n)
		s.cover = make([]float64, n)
		s.mask = make([]uint64, n)
		s.counts = make([]uint8, n)
		s.inSeen = newBitset(n)
	}
	s.dicts = slices.Grow(s.dicts[:0], parts)[:parts]
	clear(s.dicts)
}

// reset zeroes what the search has touched, so that the cost is the search's.
func (s *scratch) reset() {
	s.clearUnit()
	for _, d := range s.seen {
		s.score[d], s.cover[d], s.mask[d] = 0, 0, 0
		s.inSeen.remove(d)
	}
	s.seen = s.seen[:0]
	clear(s.dicts)
	s.list, s.iter = nil, nil // they refer to a segment that may go away
}

func (s *scratch) clearUnit() {
	for _, d := range s.touched {
		s.weight[d] = 0
	}
	s.touched = s.touched[:0]
}

func (s *scratch) add(d int32, w float64) {
	if s.weight[d] == 0 {
		s.touched = append(s.touched, d)
	}
	s.weight[d] += w
}

// run is one evaluation: a view, a plan and scratch memory.
type evaluation struct {
	*scratch
	v   *View
	ctx context.Context
}

// dict returns a dictionary of a part for this search alone: a dictionary's
// reader is not safe for concurrent use.
func (e *evaluation) dict(part int) (segment.TermDictionary, error) {
	if e.dicts[part] == nil {
		d, err := e.v.parts[part].seg.Dictionary(zapTerms)
		if err != nil {
			return nil, err
		}
		e.dicts[part] = d
	}
	return e.dicts[part], nil
}

// collect finds the notes that have u, with their weights, in e.touched and e.weight.
func (e *evaluation) collect(u *unit) error {
	e.clearUnit()
	if err := e.ctx.Err(); err != nil {
		return err
	}
	if u.phrase != nil {
		return e.collectPhrase(u)
	}
	if u.prefix {
		return e.collectPrefix(u)
	}
	for _, t := range u.terms {
		if _, err := e.collectTerm(t, u.fields); err != nil {
			return err
		}
	}
	return nil
}

// collectTerm adds a term's weights, and returns how many notes have it in any field.
func (e *evaluation) collectTerm(text string, fields fieldSet) (int, error) {
	n := 0
	for i := range e.v.parts {
		if err := e.postings(text, i, func(num uint32, d int32, freq uint64) {
			n++
			if w := e.v.weighPacked(freq, &e.v.parts[i].entries[num].lens, fields); w > 0 {
				e.add(d, w)
			}
		}); err != nil {
			return 0, err
		}
	}
	named := e.v.names.lookup(text)
	if fields.has(fieldName) {
		for _, n := range named {
			e.add(n.doc(), n.weight())
		}
	}
	return n + len(named), nil
}

// weighPacked is weigh of a packed tally, quick where only the body has the term.
func (v *View) weighPacked(freq uint64, lens *[storedFields]uint32, fields fieldSet) float64 {
	if freq&1 == 1 {
		if !fields.has(fieldBody) {
			return 0
		}
		return v.weighField(fieldBody, uint32((freq+1)/2), lens[fieldBody])
	}
	var t tally
	unpack(freq, &t)
	return v.weigh(&t, lens, fields)
}

// postings calls fn for the view's notes in part i that have the term.
func (e *evaluation) postings(text string, i int, fn func(num uint32, d int32, freq uint64)) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("read segment: %v", p)
		}
	}()
	dict, err := e.dict(i)
	if err != nil {
		return fmt.Errorf("read segment: %w", err)
	}
	if e.list, err = dict.PostingsList([]byte(text), nil, e.list); err != nil {
		return fmt.Errorf("read segment: %w", err)
	}
	e.iter = e.list.Iterator(true, false, false, e.iter)
	docOf := e.v.parts[i].docOf
	for {
		p, err := e.iter.Next()
		if err != nil {
			return fmt.Errorf("read segment: %w", err)
		}
		if p == nil {
			return nil
		}
		num := uint32(p.Number())
		if d := docOf[num]; d >= 0 {
			fn(num, d, p.Frequency())
		}
	}
}

// apply adds what collect has found to the notes' scores.
func (e *evaluation) apply(u *unit, bit int) {
	u.df = len(e.touched)
	u.idf = idfOf(u.df, len(e.v.docs))
	factor := u.factor * repeated(u.times)
	for _, d := range e.touched {
		e.see(d)
		e.score[d] += float64(factor * saturate(u.idf, e.weight[d]))
		if !u.extra {
			e.cover[d] += float64(u.factor * u.idf)
		}
		if bit < 64 {
			e.mask[d] |= 1 << bit
		}
	}
}

func (e *evaluation) see(d int32) {
	if !e.inSeen.has(d) {
		e.inSeen.add(d)
		e.seen = append(e.seen, d)
	}
}

// bitset is a set of notes of a view.
type bitset []uint64

func newBitset(n int) bitset      { return make(bitset, (n+63)/64) }
func (b bitset) add(d int32)      { b[d>>6] |= 1 << (d & 63) }
func (b bitset) remove(d int32)   { b[d>>6] &^= 1 << (d & 63) }
func (b bitset) has(d int32) bool { return b[d>>6]&(1<<(d&63)) != 0 }

func (b bitset) or(o bitset) {
	for i := range o {
		b[i] |= o[i]
	}
}

func (b bitset) and(o bitset) {
	for i := range o {
		b[i] &= o[i]
	}
}

func (b bitset) andNot(o bitset) {
	for i := range o {
		b[i] &^= o[i]
	}
}

func allOf(n int) bitset {
	b := newBitset(n)
	for d := range n {
		b.add(int32(d))
	}
	return b
}
