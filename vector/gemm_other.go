//go:build (!amd64 && !arm64) || noasm

package vector

const hasFMA = false

func mulTile(k int, a, b []float32, tile *[tileRows * tileCols]float32) { mulTileGo(k, a, b, tile) }
