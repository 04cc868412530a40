package vector

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"math"
	"math/bits"
	"slices"
	"sync"
)

// A Hit is a vector of a pack and its product with the query.
type Hit struct {
	Key   Key
	Score float64
}

// A Set is some of the vectors of one pack.
type Set struct {
	pack  *Pack
	words []uint64
}

// Select returns the set of the vectors with the given keys, and how many of
// the keys p lacks.
func (p *Pack) Select(keys iter.Seq[Key]) (s *Set, missing int) {
	s = &Set{p, make([]uint64, (p.Len()+63)/64)}
	for key := range keys {
		if i, ok := p.Find(key); ok {
			s.words[i/64] |= 1 << (i % 64)
		} else {
			missing++
		}
	}
	return s, missing
}

// Set returns the set of the vectors with the given numbers.
func (p *Pack) Set(numbers iter.Seq[int]) *Set {
	s := &Set{p, make([]uint64, (p.Len()+63)/64)}
	for i := range numbers {
		s.words[i/64] |= 1 << (i % 64)
	}
	return s
}

func (s *Set) has(i int) bool { return s == nil || s.words[i/64]>>(i%64)&1 == 1 }

// len returns how many vectors s has.
func (s *Set) len() (n int) {
	for _, w := range s.words {
		n += bits.OnesCount64(w)
	}
	return n
}

// shardBytes is how much of a pack is worth a worker of its own.
const shardBytes = 4 << 20

// Search returns the k vectors of keep - of all if keep is nil - whose [Dot]
// with the query is largest, the largest first, equal ones by key. It is exact:
// the answer is what scoring every vector would give. A query of zeros finds
// nothing.
func (p *Pack) Search(query []float32, k int, keep *Set) ([]Hit, error) {
	if err := p.checkQuery(query); err != nil {
		return nil, err
	}
	if keep != nil && keep.pack != p {
		return nil, errors.New("search pack: the set is of another pack")
	}
	k = min(k, p.Len())
	q, ok := p.newQuery(query)
	if k <= 0 || !ok {
		return nil, nil
	}
	workers := max(1, min(workersOr(0), len(p.quantized)/shardBytes))
	return p.rescore(query, k, p.scan(q, k, keep, workers))
}

func (p *Pack) checkQuery(query []float32) error {
	if len(query) != p.dim {
		return fmt.Errorf("search pack: a query of %d dimensions, not %d", len(query), p.dim)
	}
	if err := checkUnit(query); err != nil {
		return fmt.Errorf("search pack: query: %w", err)
	}
	return nil
}

// An intQuery is a query as int16: query = factor × numbers + e.
type intQuery struct {
	numbers []int16
	factor  float64
	length  float64 // of factor × numbers
	err     float64 // covers |e · row|, and the rounding of all that is computed
}

// newQuery returns false for a query of zeros.
func (p *Pack) newQuery(query []float32) (q intQuery, ok bool) {
	largest := 0.0
	for _, x := range query {
		largest = max(largest, math.Abs(float64(x)))
	}
	if largest == 0 {
		return q, false
	}
	q = intQuery{numbers: make([]int16, p.stride), factor: largest / queryRange}
	var length, lost float64
	for i, x := range query {
		n := math.RoundToEven(float64(x) / q.factor)
		e := float64(x) - n*q.factor
		q.numbers[i] = int16(n)
		length, lost = length+n*n, lost+e*e
	}
	q.length = math.Sqrt(length) * q.factor * (1 + 1e-9)
	q.err = math.Sqrt(lost)*(1+2*lengthSlack) + 1e-9
	return q, true
}

// A candidate is a row that may be among the best: its score is at most high.
type candidate struct {
	row  int
	high float64
}

// scan returns every row that may be among the k best of keep.
func (p *Pack) scan(q intQuery, k int, keep *Set, workers int) []candidate {
	shards := make([]shard, workers)
	per := (p.Len() + workers - 1) / workers
	var wg sync.WaitGroup
	for i := range shards {
		s := &shards[i]
		*s = shard{pack: p, query: q, keep: keep, lows: lowest{k: k}}
		lo, hi := min(i*per, p.Len()), min((i+1)*per, p.Len())
		if i == workers-1 {
			s.scan(lo, hi)
		} else {
			wg.Go(func() { s.scan(lo, hi) })
		}
	}
	wg.Wait()
	all := shards[0]
	for _, s := range shards[1:] {
		for _, low := range s.lows.heap {
			all.lows.push(low)
		}
		all.found = append(all.found, s.found...)
	}
	floor := all.lows.floor()
	return slices.DeleteFunc(all.found, func(c candidate) bool { return c.high < floor })
}

// A shard scans some of the rows.
type shard struct {
	pack  *Pack
	query intQuery
	keep  *Set
	lows  lowest // of the k scores that are at least
	found []candidate
}

func (s *shard) scan(lo, hi int) {
	var products [256]int32
	p := s.pack
	for ; lo < hi; lo += len(products) {
		out := products[:min(len(products), hi-lo)]
		dotRows(s.query.numbers, p.quantized[lo*p.stride:], out)
		for i, n := range out {
			if s.keep.has(lo + i) {
				s.consider(lo+i, n)
			}
		}
	}
}

// consider keeps the row unless k others are certainly better.
func (s *shard) consider(row int, product int32) {
	at := &s.pack.scales[row]
	score := float64(product) * s.query.factor * float64(at.factor)
	err := s.query.length*float64(at.err) + s.query.err
	if score+err < s.lows.floor() {
		return
	}
	s.found = append(s.found, candidate{row, score + err})
	s.lows.push(score - err)
}

// lowest keeps the k largest numbers pushed, as a heap with the least in front.
type lowest struct {
	k    int
	heap []float64
}

// floor returns the k-th largest number so far.
func (l *lowest) floor() float64 {
	if len(l.heap) < l.k {
		return math.Inf(-1)
	}
	return l.heap[0]
}

func (l *lowest) push(x float64) {
	h := l.heap
	if len(h) < l.k {
		h = append(h, x)
		for i := len(h) - 1; i > 0 && h[i] < h[(i-1)/2]; i = (i - 1) / 2 {
			h[i], h[(i-1)/2] = h[(i-1)/2], h[i]
		}
		l.heap = h
		return
	}
	if x <= h[0] {
		return
	}
	h[0] = x
	for i := 0; 2*i+1 < len(h); {
		c := 2*i + 1
		if c+1 < len(h) && h[c+1] < h[c] {
			c++
		}
		if h[i] <= h[c] {
			return
		}
		h[i], h[c] = h[c], h[i]
		i = c
	}
}

// rescore returns the k best candidates by their exact scores. It reads them in
// the order of what they may reach, and ends when no other can be among the k.
func (p *Pack) rescore(query []float32, k int, found []candidate) ([]Hit, error) {
	slices.SortFunc(found, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(b.high, a.high), cmp.Compare(a.row, b.row))
	})
	type exact struct {
		row   int
		score float64
	}
	better := func(a, b exact) int { return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.row, b.row)) }
	best := make([]exact, 0, k+1)
	rows := newRowReader(p)
	for _, c := range found {
		if len(best) == k && c.high < best[k-1].score {
			break
		}
		if err := rows.read(c.row); err != nil {
			return nil, err
		}
		e := exact{c.row, Dot(query, rows.row)}
		i, _ := slices.BinarySearchFunc(best, e, better)
		if best = slices.Insert(best, i, e); len(best) > k {
			best = best[:k]
		}
	}
	hits := make([]Hit, len(best))
	for i, e := range best {
		hits[i] = Hit{p.Key(e.row), e.score}
	}
	return hits, nil
}
