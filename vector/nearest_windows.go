package vector

import "fmt"

// approximate has no library to build on: coder/hnsw does not compile here.
func approximate(*Pack) (Searcher, error) {
	return nil, fmt.Errorf("%w: no approximate search on Windows", ErrUnsupported)
}
