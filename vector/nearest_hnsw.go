//go:build !windows

package vector

import (
	"fmt"
	"math/rand"
	"slices"

	"github.com/coder/hnsw"
)

// The shape of a graph. More links find more, and take longer to make: with
// these the graphs of a few thousand vectors pass their check.
const (
	graphLinks = 64
	graphDepth = 200 // how many candidates a search looks for, at least
)

// A graph is a navigable small world over the vectors of a pack that have a
// length, named by their numbers. It is never changed once made: the library
// loses nodes when it deletes and panics when it adds one again.
type graph struct {
	pack *Pack
	size int // how many vectors of the pack it has seen
	hnsw *hnsw.Graph[int]
}

func newGraph(p *Pack) *graph {
	g := &graph{pack: p, hnsw: hnsw.NewGraph[int]()}
	g.hnsw.M, g.hnsw.EfSearch, g.hnsw.Rng = graphLinks, graphDepth, rand.New(rand.NewSource(1))
	return g
}

func approximate(p *Pack) (Searcher, error) {
	const checkFirst = 500
	g := newGraph(p)
	for n := checkFirst; n < p.Len(); n *= 10 { // most bad graphs are known early
		if err := g.grow(n); err != nil {
			return nil, err
		}
		if err := g.check(); err != nil {
			return nil, err
		}
	}
	if err := g.grow(p.Len()); err != nil {
		return nil, err
	}
	return g, g.check()
}

// grow adds vectors until g has the first n of its pack.
func (g *graph) grow(n int) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("make graph: %v", r)
		}
	}()
	rows := newRowReader(g.pack)
	for ; g.size < n; g.size++ {
		if err := rows.read(g.size); err != nil {
			return err
		}
		if Dot(rows.row, rows.row) > 0 { // zeros have no direction
			g.hnsw.Add(hnsw.MakeNode(g.size, slices.Clone(rows.row)))
		}
	}
	return nil
}

// check compares the ten neighbours that g finds of some vectors with those
// that a scan finds.
func (g *graph) check() error {
	const queries, k = 64, 10
	n, first := g.size, g.pack.first(g.size)
	found, wanted := 0, 0
	for i := range min(queries, n) {
		query, err := g.pack.between(i*n/min(queries, n), (i*n/queries+n/2)%n)
		if err != nil {
			return err
		}
		want, err := g.pack.Search(query, k, first)
		if err != nil {
			return err
		}
		got, err := g.walk(query, k, nil)
		if err != nil {
			return err
		}
		wanted += len(want)
		found += common(got, want)
	}
	if recall := float64(found) / float64(max(1, wanted)); wanted > 0 && recall < MinRecall {
		return fmt.Errorf("%w: %.2f of ten neighbours found among %d vectors, less than %.2f", ErrRecall, recall, n, MinRecall)
	}
	return nil
}

// first returns the set of the first n vectors.
func (p *Pack) first(n int) *Set {
	s := &Set{p, make([]uint64, (p.Len()+63)/64)}
	for i := range n {
		s.words[i/64] |= 1 << (i % 64)
	}
	return s
}

// between returns a direction from which vector a is nearer than vector b: like
// a query, it is no vector of the pack.
func (p *Pack) between(a, b int) ([]float32, error) {
	v, err := p.Vector(a)
	if err != nil {
		return nil, err
	}
	w, err := p.Vector(b)
	if err != nil {
		return nil, err
	}
	sum := make([]float64, len(v))
	for i := range v {
		sum[i] = float64(v[i]) + float64(w[i])/2
	}
	return unit(sum)
}

func common(got, want []Hit) (n int) {
	for _, h := range got {
		if slices.ContainsFunc(want, func(w Hit) bool { return w.Key == h.Key }) {
			n++
		}
	}
	return n
}

// Search implements [Searcher]. A walk that finds fewer than k of keep gives
// way to a scan, as do sets and numbers for which a scan is quicker anyway.
func (g *graph) Search(query []float32, k int, keep *Set) ([]Hit, error) {
	const few = 5 // a smaller share of the vectors than one in few is scanned
	if k > graphDepth/2 || keep != nil && (keep.pack != g.pack || few*keep.len() < g.pack.Len()) {
		return g.pack.Search(query, k, keep)
	}
	hits, err := g.walk(query, k, keep)
	if err != nil || len(hits) < k {
		return g.pack.Search(query, k, keep)
	}
	return hits, nil
}

// walk returns the k best of what the graph finds.
func (g *graph) walk(query []float32, k int, keep *Set) (_ []Hit, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("search graph: %v", r)
		}
	}()
	if err := g.pack.checkQuery(query); err != nil {
		return nil, err
	}
	if k <= 0 || g.hnsw.Len() == 0 || Dot(query, query) == 0 {
		return nil, nil
	}
	var rows []int
	for _, n := range g.hnsw.Search(query, graphDepth) {
		if keep.has(n.Key) {
			rows = append(rows, n.Key)
		}
	}
	return g.pack.rescored(query, k, rows)
}
