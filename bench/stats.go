package main

import (
	"math"
	"slices"
	"time"
)

// sample is a series of measurements of one thing.
type sample []float64

func (s *sample) add(d time.Duration) { *s = append(*s, d.Seconds()) }

// quantile is the value that a fraction q of the sample does not exceed, by the
// nearest rank; NaN of an empty sample.
func (s sample) quantile(q float64) float64 {
	if len(s) == 0 {
		return math.NaN()
	}
	sorted := slices.Sorted(slices.Values(s))
	rank := int(math.Ceil(q*float64(len(sorted)))) - 1
	return sorted[min(max(rank, 0), len(sorted)-1)]
}

func (s sample) median() float64 { return s.quantile(0.5) }

// ratio is a/b, NaN when b is nothing to compare with.
func ratio(a, b float64) float64 {
	if b <= 0 {
		return math.NaN()
	}
	return a / b
}

// medians is the sample of each column's median: rounds of the same queries
// become one figure a query, so that p95 is of queries and not of noise.
func medians(rounds []sample) sample {
	if len(rounds) == 0 {
		return nil
	}
	out := make(sample, len(rounds[0]))
	for i := range out {
		var column sample
		for _, r := range rounds {
			column = append(column, r[i])
		}
		out[i] = column.median()
	}
	return out
}

// inTurn runs each of fns once a round: A B A B …
func inTurn(rounds int, fns ...func() error) error {
	for range rounds {
		for _, fn := range fns {
			if err := fn(); err != nil {
				return err
			}
		}
	}
	return nil
}

// spread returns n of the items at even distances, the first and last among
// them.
func spread[T any](items []T, n int) []T {
	if len(items) <= n {
		return items
	}
	out := make([]T, 0, n)
	for i := range n {
		out = append(out, items[i*(len(items)-1)/max(n-1, 1)])
	}
	return out
}
