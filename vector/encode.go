package vector

import "math"

// An encoding is one run of an encoder on one text, with its memory, which the
// next run uses again. All arithmetic but that of the kernels rounds every
// operation, so that processors agree to the bit.
type encoding struct {
	m                     *bert
	gemm                  gemm
	x, qkv, mixed, y, mid []float32
	heads                 []headRun
}

// A headRun is the memory of one attention head.
type headRun struct {
	gemm         gemm
	q, score     []float32
	keys, values panels
	out          []float32
}

// run returns the states of the last layer, a row of m.hidden numbers for each
// token. They are valid until the next run. There must be a token, at most
// m.maxTokens() of them, each in the vocabulary.
func (e *encoding) run(tokens []int32) []float32 {
	m, n := e.m, len(tokens)
	e.x = resize(e.x, n*m.hidden)
	for t, id := range tokens {
		row, word, place := e.x[t*m.hidden:][:m.hidden], m.words[int(id)*m.hidden:], m.places[t*m.hidden:]
		for i := range row {
			row[i] = word[i] + place[i]
		}
	}
	m.norm.apply(e.x)
	e.y = resize(e.y, n*m.hidden)
	for i := range m.layers {
		e.layer(&m.layers[i], n)
	}
	return e.x
}

func (e *encoding) layer(l *bertLayer, n int) {
	m := e.m
	e.qkv = resize(e.qkv, n*3*m.hidden)
	e.mixed = resize(e.mixed, n*m.hidden)
	e.mid = resize(e.mid, n*m.inter)
	e.gemm.mul(e.qkv, e.x, n, &l.qkv.weight, l.qkv.bias)
	parallel(m.heads, e.gemm.workers, func(lo, hi int) {
		for h := lo; h < hi; h++ {
			e.attend(h, n)
		}
	})
	e.gemm.mul(e.y, e.mixed, n, &l.out.weight, l.out.bias)
	e.addNorm(l.outNorm)
	e.gemm.mul(e.mid, e.x, n, &l.up.weight, l.up.bias)
	parallel(n, e.gemm.workers, func(lo, hi int) { gelu(e.mid[lo*m.inter : hi*m.inter]) })
	e.gemm.mul(e.y, e.mid, n, &l.down.weight, l.down.bias)
	e.addNorm(l.downNorm)
}

// addNorm adds y to x and normalizes the sum.
func (e *encoding) addNorm(norm layerNorm) {
	for i, y := range e.y {
		e.x[i] += y
	}
	norm.apply(e.x)
}

// attend computes one head: each token's mixture of all values, by how its
// query fits their keys.
func (e *encoding) attend(h, n int) {
	hidden, d, r := e.m.hidden, e.m.hidden/e.m.heads, &e.heads[h]
	queries, keys, values := e.qkv[h*d:], e.qkv[hidden+h*d:], e.qkv[2*hidden+h*d:]
	r.q = resize(r.q, n*d)
	for t := range n {
		copy(r.q[t*d:][:d], queries[t*3*hidden:])
	}
	r.keys.pack(d, n, keys, 1, 3*hidden)
	r.values.pack(n, d, values, 3*hidden, 1)
	r.score, r.out = resize(r.score, n*n), resize(r.out, n*d)
	r.gemm.mul(r.score, r.q, n, &r.keys, nil)
	for t := range n {
		softmax(r.score[t*n:][:n])
	}
	r.gemm.mul(r.out, r.score, n, &r.values, nil)
	for t := range n {
		copy(e.mixed[t*hidden+h*d:], r.out[t*d:][:d])
	}
}

// apply normalizes every row of x to mean 0 and variance 1, then scales and
// moves it.
func (l layerNorm) apply(x []float32) {
	width := float32(len(l.gain))
	for ; len(x) > 0; x = x[len(l.gain):] {
		row := x[:len(l.gain)]
		var sum, squares float32
		for _, v := range row {
			sum += v
		}
		mean := sum / width
		for _, v := range row {
			squares += float32((v - mean) * (v - mean))
		}
		inverse := float32(1 / math.Sqrt(float64(squares/width)+l.eps))
		for i, v := range row {
			row[i] = float32((v-mean)*inverse*l.gain[i]) + l.bias[i]
		}
	}
}

func softmax(x []float32) {
	largest := x[0]
	for _, v := range x {
		if v > largest { // max would look for what is not a number, slowly
			largest = v
		}
	}
	expAll(x, largest)
	var sum float32
	for _, v := range x {
		sum += v
	}
	scaleAll(x, 1/sum)
}

// expAll replaces every number by e to the power of itself minus largest, which
// none exceeds: two to the whole part, times a polynomial for the rest. It errs
// by a few 1e-7 of the result, and by as much again for every unit of the power.
func expAll(x []float32, largest float32) {
	for i, v := range x {
		v -= largest
		if !(v > -87) {
			x[i] = 0
			if v != v {
				x[i] = v // what is not a number stays so
			}
			continue
		}
		t := float32(v * 1.44269504)
		whole := int32(t - 0.5)
		f := t - float32(whole)
		p := float32(1.535336188319500e-4)
		p = float32(p*f) + 1.339887440266574e-3
		p = float32(p*f) + 9.618437357674640e-3
		p = float32(p*f) + 5.550332471162809e-2
		p = float32(p*f) + 2.402264791363012e-1
		p = float32(p*f) + 6.931472028550421e-1
		p = float32(p*f) + 1
		x[i] = math.Float32frombits(math.Float32bits(p) + uint32(whole)<<23)
	}
}

// The normal distribution's cumulative function from -geluRange to geluRange in
// steps of 1/geluSteps. Between them a straight line errs by less than 4e-7.
const (
	geluSteps = 512
	geluRange = 8
)

var normalCDF = func() (table [2*geluRange*geluSteps + 2]float32) {
	for i := range table {
		table[i] = float32(0.5 * (1 + math.Erf((float64(i)/geluSteps-geluRange)/math.Sqrt2)))
	}
	return table
}()

// gelu replaces every number by itself times the probability that a normal
// variable is less.
func gelu(x []float32) {
	for i, v := range x {
		switch {
		case v >= geluRange:
		case v > -geluRange:
			at := float32((v + geluRange) * geluSteps)
			k := int(at)
			low, high := normalCDF[k], normalCDF[k+1]
			x[i] = v * (low + float32((high-low)*(at-float32(k))))
		default:
			x[i] = v * 0 // what is not a number stays so
		}
	}
}
