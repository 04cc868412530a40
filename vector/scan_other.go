//go:build !amd64 || noasm

package vector

func dotRows(q []int16, rows []byte, out []int32) { dotRowsGo(q, rows, out) }
