package embed

import (
	"sync"

	"kb/vector"
)

// Approximate returns the same vectors, searched in their file by a graph when
// there is one: it is made in the background, and log is told how that ends. Until
// then, and for good if the graph finds too little, the search is exact. What
// one of the two embeds, both have.
//
// With a graph the answers of a View are no longer a function of its notes
// alone.
func (x *Index) Approximate(log func(format string, args ...any)) *Index {
	return &Index{stored: x.stored, graphs: &graphs{log: log}}
}

// graphs has the graph of one pack.
type graphs struct {
	log  func(format string, args ...any)
	mu   sync.Mutex
	of   *vector.Pack
	made vector.Searcher // nil while it is being made, and when it is no good
}

// searcher returns how to search p.
func (x *Index) searcher(p *vector.Pack) vector.Searcher {
	g := x.graphs
	if g == nil || !x.packs.isCurrent(p) {
		return p
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.of != p {
		g.of, g.made = p, nil
		go g.make(p)
	}
	if g.made != nil {
		return g.made
	}
	return p
}

func (g *graphs) make(p *vector.Pack) {
	made, err := vector.Approximate(p)
	g.mu.Lock()
	if g.of == p && err == nil {
		g.made = made
	}
	g.mu.Unlock()
	if err != nil {
		g.log("vector.ann: the search stays exact: %v", err)
	} else {
		g.log("vector.ann: %d vectors are searched by a graph", p.Len())
	}
}
