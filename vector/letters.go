package vector

import (
	"context"
	"unicode"
)

// Letters is an Embedder for tests: a text's vector counts its letters from a
// to z in either case, and all others together. It is completely pointless for
// real use.
type Letters struct{}

// Embed implements [Embedder].
func (Letters) Embed(ctx context.Context, texts []string, _ Kind) ([][]float32, error) {
	return embedEach(ctx, texts, 1, func(text string) ([]float32, error) {
		var counts [27]float64
		for _, r := range text {
			switch r = unicode.ToLower(r); {
			case 'a' <= r && r <= 'z':
				counts[r-'a']++
			case unicode.IsLetter(r):
				counts[26]++
			}
		}
		return unit(counts[:])
	})
}

// Dim implements [Embedder].
func (Letters) Dim() int { return 27 }

// Fingerprint implements [Embedder].
func (Letters) Fingerprint() string { return "letters/1" }

// Close implements [Embedder]. Letters can be used afterwards.
func (Letters) Close() error { return nil }
