package vector

// Vectors of one embedder have much in common: a direction that says only that
// they are of that embedder. Taking the mean of a view's vectors away leaves
// what tells its texts apart, and makes cosines worth more in [Fuse].

// Mean returns the mean of the vectors of keep - of all if keep is nil - as
// their int8 form has them. It is added up in the order of the keys: two packs
// give the same bits for the same vectors. The mean of nothing is zeros.
func (p *Pack) Mean(keep *Set) []float64 {
	sum, n := make([]float64, p.dim), 0
	for i := range p.Len() {
		if !keep.has(i) {
			continue
		}
		n++
		row, factor := p.quantized[i*p.stride:][:p.dim], float64(p.scales[i].factor)
		for j, b := range row {
			sum[j] += float64(int8(b)) * factor // exact, so that it may be fused
		}
	}
	for j := range sum {
		sum[j] /= float64(max(n, 1))
	}
	return sum
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
