package vector

import (
	"math"
	"sync"
)

// Vectors of one embedder have much in common: a direction that says only that
// they are of that embedder. Taking the mean of a view's vectors away leaves
// what tells its texts apart, and makes cosines worth more in [Fuse].

// meanScale is the grid on which factors are added up: 2⁴⁰ of them fit in 1.
const meanScale = 1 << 40

// Mean returns the mean of the vectors of sets, which are of dim numbers, as their
// int8 form has them. It is added up in integers: the same vectors have the same
// mean to the bit, however they are divided among packs. The mean of nothing is
// zeros.
func Mean(dim int, sets ...*Set) []float64 {
	total := sum{numbers: make([]int64, dim)}
	for _, s := range sets {
		workers := max(1, min(workersOr(0), len(s.pack.quantized)/shardBytes))
		parts := make([]sum, workers)
		per := (s.pack.Len() + workers - 1) / workers
		var wg sync.WaitGroup
		for i := range parts {
			parts[i].numbers = make([]int64, dim)
			wg.Go(func() { parts[i].add(s, i*per, min((i+1)*per, s.pack.Len())) })
		}
		wg.Wait()
		for _, p := range parts {
			total.n += p.n
			for j, x := range p.numbers {
				total.numbers[j] += x
			}
		}
	}
	mean := make([]float64, dim)
	for j, x := range total.numbers {
		mean[j] = float64(x) / meanScale / float64(max(total.n, 1))
	}
	return mean
}

// sum is the sum of n vectors, in meanScale.
type sum struct {
	numbers []int64
	n       int
}

// add adds the vectors of s from lo to hi.
func (t *sum) add(s *Set, lo, hi int) {
	p := s.pack
	for i := lo; i < hi; i++ {
		if !s.has(i) {
			continue
		}
		t.n++
		factor := int64(math.RoundToEven(float64(p.scales[i].factor) * meanScale)) // below 2³⁴
		row := p.quantized[i*p.stride:][:p.dim]
		numbers := t.numbers[:len(row)]
		for j, b := range row {
			numbers[j] += int64(int8(b)) * factor
		}
	}
}

// CenteredCosine returns the product of to, which is of length 1 or 0, and
// Centered(v, mean), in one pass. The conversions keep processors from fusing a
// product and a sum.
func CenteredCosine(to, v []float32, mean []float64) float64 {
	var product, length, any float64
	for i, x := range v {
		less := float64(x) - mean[i]
		product += float64(float64(to[i]) * less)
		length += float64(less * less)
		any += math.Abs(float64(x))
	}
	if any == 0 || length == 0 {
		return 0
	}
	return product / math.Sqrt(length)
}

// Centered returns v less the mean, scaled to length 1. What has no length, or
// is the mean itself, becomes zeros. mean must be as long as v.
func Centered(v []float32, mean []float64) []float32 {
	less := make([]float64, len(v))
	if Dot(v, v) != 0 {
		for i, x := range v {
			less[i] = float64(x) - mean[i]
		}
	}
	out, err := unit(less)
	if err != nil { // not finite: it has no direction
		clear(less)
		out, _ = unit(less)
	}
	return out
}
