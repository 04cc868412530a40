package vector

// Dot is the portable dot product: products and sums in float64, in a fixed
// order. The product of two float32 is exact in float64, so that every
// processor gives the same bits whether or not it fuses the operations. For
// vectors of length 1 it is the cosine. b must not be shorter than a.
func Dot(a, b []float32) float64 {
	var s0, s1, s2, s3 float64
	n := len(a) &^ 3
	b = b[:len(a)]
	for i := 0; i < n; i += 4 {
		s0 += float64(a[i]) * float64(b[i])
		s1 += float64(a[i+1]) * float64(b[i+1])
		s2 += float64(a[i+2]) * float64(b[i+2])
		s3 += float64(a[i+3]) * float64(b[i+3])
	}
	for i := n; i < len(a); i++ {
		s0 += float64(a[i]) * float64(b[i])
	}
	return (s0 + s1) + (s2 + s3)
}
