//go:build !noasm

package vector

// hasFMA: every arm64 processor has it.
const hasFMA = true

// mulTileFMA does what mulTileGo does, but rounds only once for a product and
// its addition. k is positive.
//
//go:noescape
func mulTileFMA(k int, a, b, tile *float32)

func mulTile(k int, a, b []float32, tile *[tileRows * tileCols]float32) {
	if k == 0 {
		mulTileGo(k, a, b, tile)
		return
	}
	a, b = a[:k*tileRows], b[:k*tileCols]
	mulTileFMA(k, &a[0], &b[0], &tile[0])
}
