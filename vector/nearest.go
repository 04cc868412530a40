package vector

import (
	"errors"
	"math"
)

// A Searcher finds the vectors of a [Pack] nearest to a query. A Pack is one
// itself, and exact; [Approximate] returns another.
type Searcher interface {
	// Search returns up to k vectors of keep - of all if keep is nil - with
	// their exact scores, the largest first, equal ones by key.
	Search(query []float32, k int, keep *Set) ([]Hit, error)
}

// ErrRecall is wrapped by the error of [Approximate] about a graph that misses
// too many of the neighbours that an exact search finds.
var ErrRecall = errors.New("too many neighbours are missed")

// MinRecall is the share of the ten nearest neighbours that a graph must find
// in its own check to be used.
const MinRecall = 0.95

// Approximate returns a Searcher that walks a graph over p instead of scanning
// it. Making the graph takes seconds for 10,000 vectors and minutes for
// 100,000, and it holds the vectors in memory a second time. It is compared
// with p while it is made: an error wraps ErrRecall as soon as it finds less
// than MinRecall, and [ErrUnsupported] where there is no such graph. p is the
// Searcher to use then.
//
// Scores are exact and in order, but a neighbour may be missing, and not the
// same one in every graph of the same vectors. A search for more than a few
// neighbours, or in a small Set, scans p.
func Approximate(p *Pack) (Searcher, error) { return approximate(p) }

// rescored returns the k best of the given rows by their exact scores.
func (p *Pack) rescored(query []float32, k int, rows []int) ([]Hit, error) {
	found := make([]candidate, len(rows))
	for i, row := range rows {
		found[i] = candidate{row, math.Inf(1)}
	}
	return p.rescore(query, k, found)
}
