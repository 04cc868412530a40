package vector

import "math"

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
	sum, n := make([]int64, dim), 0
	for _, s := range sets {
		p := s.pack
		for i := range p.Len() {
			if !s.has(i) {
				continue
			}
			n++
			factor := int64(math.RoundToEven(float64(p.scales[i].factor) * meanScale)) // below 2³⁴
			for j, b := range p.quantized[i*p.stride:][:dim] {
				sum[j] += int64(int8(b)) * factor
			}
		}
	}
	mean := make([]float64, dim)
	for j, x := range sum {
		mean[j] = float64(x) / meanScale / float64(max(n, 1))
	}
	return mean
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
