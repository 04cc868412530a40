package vector

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"sync"
	"sync/atomic"
)

// Kind says which side of a search a text stands on. Some models want a
// different prefix on each.
type Kind int

const (
	Passage Kind = iota // a text to be found
	Query               // a text that looks for others
)

// An Embedder turns texts into vectors of one length. It is safe for concurrent
// use.
type Embedder interface {
	// Embed returns one vector for each text, in order. Each has length 1,
	// but that of a text in which the model knows nothing is all zeros. Text
	// beyond the model's length is ignored.
	Embed(ctx context.Context, texts []string, kind Kind) ([][]float32, error)
	// Dim is the length of every vector.
	Dim() int
	// Fingerprint names everything that vectors depend on: engine and
	// numerics, model, tokenizer, pooling, length, prefixes. Vectors compare
	// only with vectors of an equal fingerprint.
	Fingerprint() string
	// Close frees the model. Embed fails with ErrClosed afterwards.
	Close() error
}

var (
	// ErrModel is wrapped by errors about a model directory that is
	// incomplete, damaged, or contradicts itself.
	ErrModel = errors.New("unusable model")
	// ErrUnsupported is wrapped by errors about a model that may be in order
	// but needs what no engine here offers.
	ErrUnsupported = errors.New("unsupported model")
	// ErrClosed is returned by an embedder that has been closed.
	ErrClosed = errors.New("embedder is closed")
)

// maxText is how many bytes of a text are looked at. It bounds time and memory
// for texts that no model can read to the end anyway.
const maxText = 1 << 20

// maxDim bounds the length of vectors. The integer scan of a Pack relies on it.
const maxDim = 4096

// clip returns at most the first maxText bytes of s, cut between characters.
func clip(s string) string {
	if len(s) <= maxText {
		return s
	}
	end := maxText
	for end > maxText-4 && s[end]&0xC0 == 0x80 {
		end--
	}
	return s[:end]
}

// unit returns v scaled to length 1 in float32, or zeros if v has no length.
// It fails if v is not finite.
func unit(v []float64) ([]float32, error) {
	var sum float64
	for _, x := range v {
		sum += float64(x * x) // converted, so that no processor fuses it
	}
	if math.IsNaN(sum) || math.IsInf(sum, 0) {
		return nil, errors.New("vector is not finite")
	}
	out := make([]float32, len(v))
	if sum == 0 {
		return out, nil
	}
	norm := math.Sqrt(sum)
	for i, x := range v {
		out[i] = float32(x / norm)
	}
	return out, nil
}

// workersOr returns n, or the number of processors in use if n is not positive.
func workersOr(n int) int {
	if n > 0 {
		return n
	}
	return runtime.GOMAXPROCS(0)
}

// embedEach calls embed for every text on several workers. The first text that
// fails, in order, names the error.
func embedEach(ctx context.Context, texts []string, workers int, embed func(string) ([]float32, error)) ([][]float32, error) {
	out := make([][]float32, len(texts))
	errs := make([]error, len(texts))
	var next atomic.Int64
	work := func() {
		for {
			i := int(next.Add(1)) - 1
			if i >= len(texts) || ctx.Err() != nil {
				return
			}
			out[i], errs[i] = embed(texts[i])
		}
	}
	var wg sync.WaitGroup
	for range min(workers, len(texts)) - 1 {
		wg.Go(work)
	}
	work()
	wg.Wait()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	for i, err := range errs {
		if err != nil {
			return nil, fmt.Errorf("embed text %d: %w", i, err)
		}
	}
	return out, nil
}
