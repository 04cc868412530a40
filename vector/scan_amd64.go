//go:build !noasm

package vector

import "golang.org/x/sys/cpu"

var hasAVX2 = cpu.X86.HasAVX2

// dotRowsAVX2 does what dotRowsGo does. n, a multiple of block, is the length
// of q and of each row; there is at least one row.
//
//go:noescape
func dotRowsAVX2(q *int16, rows *byte, n int, out *int32, count int)

func dotRows(q []int16, rows []byte, out []int32) {
	if !hasAVX2 || len(out) == 0 {
		dotRowsGo(q, rows, out)
		return
	}
	rows = rows[:len(q)*len(out)]
	dotRowsAVX2(&q[0], &rows[0], len(q), &out[0], len(out))
}
