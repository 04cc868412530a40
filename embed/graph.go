package embed

import (
	"sync"

	"kb/vector"
)

// Approximate makes x search its file of vectors by a graph, when there is one:
// it is made in the background, and log is told how that ends. Until then, and
// for good if the graph finds too little, the search is exact.
//
// With a graph the answers of a View are no longer a function of its notes
// alone.
func (x *Index) Approximate(log func(format string, args ...any)) {
	x.graphs.mu.Lock()
	defer x.graphs.mu.Unlock()
	x.graphs.log = log
}

// graphs has the graph of one pack.
type graphs struct {
	mu   sync.Mutex
	log  func(format string, args ...any) // nil when no graphs are wanted
	of   *vector.Pack
	made vector.Searcher // nil while it is being made, and when it is no good
}

// searcher returns how to search p.
func (x *Index) searcher(p *vector.Pack) vector.Searcher {
	g := &x.graphs
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case g.log == nil || !x.packs.isCurrent(p):
	case g.of != p:
		g.of, g.made = p, nil
		go g.make(p, g.log)
	case g.made != nil:
		return g.made
	}
	return p
}

func (g *graphs) make(p *vector.Pack, log func(format string, args ...any)) {
	made, err := vector.Approximate(p)
	g.mu.Lock()
	if g.of == p && err == nil {
		g.made = made
	}
	g.mu.Unlock()
	if err != nil {
		log("vector.ann: the search stays exact: %v", err)
	} else {
		log("vector.ann: %d vectors are searched by a graph", p.Len())
	}
}
