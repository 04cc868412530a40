package vector

import "sync"

// The matrix kernels work on tiles of tileRows × tileCols.
const (
	tileRows = 6
	tileCols = 16
)

// panels is a matrix of rows × cols, stored as panels of tileCols columns, the
// last one padded with anything: what a kernel reads in a row stands in a row.
type panels struct {
	rows, cols int
	data       []float32
}

// pack sets p to a matrix whose number (i, j) is src[i*rowStep+j*colStep]. It
// reuses p's memory.
func (p *panels) pack(rows, cols int, src []float32, rowStep, colStep int) {
	p.rows, p.cols = rows, cols
	p.data = resize(p.data, (cols+tileCols-1)/tileCols*tileCols*rows)
	for j0 := 0; j0 < cols; j0 += tileCols {
		panel := p.data[j0*rows:][:tileCols*rows]
		width := min(tileCols, cols-j0)
		for i := range rows {
			line, at := panel[i*tileCols:][:width], i*rowStep+j0*colStep
			for j := range line {
				line[j] = src[at+j*colStep]
			}
		}
	}
}

// resize returns a slice of n numbers, in the memory of s if that is enough.
// What they are is not said.
func resize(s []float32, n int) []float32 {
	if cap(s) < n {
		return make([]float32, n)
	}
	return s[:n]
}

// A gemm multiplies matrices. It keeps its buffer from one call to the next and
// may use several workers, on which the result does not depend: every number is
// one chain of multiplications and additions in the order of the columns of a,
// beginning with its bias.
type gemm struct {
	workers int
	buf     []float32
}

// mul sets c, of m × b.cols, to a × b + bias. a has m × b.rows numbers. A nil
// bias is zero.
func (g *gemm) mul(c, a []float32, m int, b *panels, bias []float32) {
	g.buf = resize(g.buf, (m+tileRows-1)/tileRows*tileRows*b.rows)
	packRows(g.buf, a, m, b.rows)
	parallel((b.cols+tileCols-1)/tileCols, g.workers, func(lo, hi int) {
		for p := lo; p < hi; p++ {
			mulPanel(c, g.buf, m, b, p*tileCols, bias)
		}
	})
}

// packRows stores a in strips of tileRows rows, column after column.
func packRows(dst, a []float32, m, k int) {
	for i0 := 0; i0 < m; i0 += tileRows {
		strip := dst[i0*k:][:tileRows*k]
		for i := range tileRows {
			if i0+i >= m {
				for l := range k {
					strip[l*tileRows+i] = 0
				}
				continue
			}
			for l, x := range a[(i0+i)*k:][:k] {
				strip[l*tileRows+i] = x
			}
		}
	}
}

// mulPanel computes the columns of c from j0, as many as a panel has.
func mulPanel(c, strips []float32, m int, b *panels, j0 int, bias []float32) {
	var tile [tileRows * tileCols]float32
	var start [tileCols]float32
	if bias != nil {
		copy(start[:], bias[j0:])
	}
	width := min(tileCols, b.cols-j0)
	panel := b.data[j0*b.rows:][:tileCols*b.rows]
	for i0 := 0; i0 < m; i0 += tileRows {
		for i := range tileRows {
			copy(tile[i*tileCols:], start[:])
		}
		mulTile(b.rows, strips[i0*b.rows:][:tileRows*b.rows], panel, &tile)
		for i := range min(tileRows, m-i0) {
			copy(c[(i0+i)*b.cols+j0:][:width], tile[i*tileCols:])
		}
	}
}

// mulTileGo adds the product of a strip and a panel to the tile, rounding every
// product. Kernels that fuse multiplication and addition give other bits.
func mulTileGo(k int, a, b []float32, tile *[tileRows * tileCols]float32) {
	for i := range tileRows {
		for j := 0; j < tileCols; j += 4 {
			t := tile[i*tileCols+j:][:4:4]
			s0, s1, s2, s3 := t[0], t[1], t[2], t[3]
			for l := range k {
				x, y := a[l*tileRows+i], b[l*tileCols+j:][:4:4]
				s0 += float32(x * y[0])
				s1 += float32(x * y[1])
				s2 += float32(x * y[2])
				s3 += float32(x * y[3])
			}
			t[0], t[1], t[2], t[3] = s0, s1, s2, s3
		}
	}
}

// parallel calls work for ranges that make up 0 to n, on several workers.
func parallel(n, workers int, work func(lo, hi int)) {
	workers = max(1, min(workers, n))
	per := (n + workers - 1) / workers
	var wg sync.WaitGroup
	for lo := per; lo < n; lo += per {
		wg.Go(func() { work(lo, min(lo+per, n)) })
	}
	work(0, min(per, n))
	wg.Wait()
}
