package vector

// queryRange is the largest number of a query in the integer scan: products
// with int8 over maxDim dimensions still fit int32.
const queryRange = 4095

// block is how many bytes a kernel reads at a time; rows are padded to it.
const block = 32

// dotRowsGo sets out[i] to the product of q and row i of rows, for every i.
// Rows are int8, as long as q. It is what dotRows does on every processor.
func dotRowsGo(q []int16, rows []byte, out []int32) {
	for i := range out {
		row := rows[i*len(q):][:len(q)]
		var s0, s1, s2, s3 int32
		for j := 0; j+4 <= len(q); j += 4 {
			a, b := q[j:j+4:j+4], row[j:j+4:j+4]
			s0 += int32(a[0]) * int32(int8(b[0]))
			s1 += int32(a[1]) * int32(int8(b[1]))
			s2 += int32(a[2]) * int32(int8(b[2]))
			s3 += int32(a[3]) * int32(int8(b[3]))
		}
		out[i] = s0 + s1 + s2 + s3
	}
}
