package vector

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"strings"
)

// A tensor is a block of numbers as a model file holds them: little-endian, row
// after row.
type tensor struct {
	dtype string // as safetensors names it: F64, F32, F16, BF16, I8, I32, I64
	shape []int
	data  []byte
}

// elementSize gives the bytes of a number of each type that we read.
var elementSize = map[string]int{"F64": 8, "F32": 4, "F16": 2, "BF16": 2, "I8": 1, "I32": 4, "I64": 8}

// len returns how many numbers t holds.
func (t tensor) len() int { return len(t.data) / elementSize[t.dtype] }

// at returns number i of a tensor of floats, or of I8.
func (t tensor) at(i int) float64 {
	switch t.dtype {
	case "F64":
		return math.Float64frombits(binary.LittleEndian.Uint64(t.data[8*i:]))
	case "F32":
		return float64(math.Float32frombits(binary.LittleEndian.Uint32(t.data[4*i:])))
	case "F16":
		return float64(halfToFloat(binary.LittleEndian.Uint16(t.data[2*i:])))
	case "BF16":
		return float64(math.Float32frombits(uint32(binary.LittleEndian.Uint16(t.data[2*i:])) << 16))
	case "I8":
		return float64(int8(t.data[i]))
	}
	panic("vector: not a tensor of floats: " + t.dtype)
}

// index returns number i of a tensor of I32 or I64.
func (t tensor) index(i int) int64 {
	if t.dtype == "I64" {
		return int64(binary.LittleEndian.Uint64(t.data[8*i:]))
	}
	return int64(int32(binary.LittleEndian.Uint32(t.data[4*i:])))
}

func (t tensor) isFloat() bool {
	return strings.HasPrefix(t.dtype, "F") || t.dtype == "BF16" || t.dtype == "I8"
}

// finite returns an error if a number of t is none.
func (t tensor) finite() error {
	if t.dtype == "I8" {
		return nil
	}
	for i := range t.len() {
		if x := t.at(i); math.IsNaN(x) || math.IsInf(x, 0) {
			return fmt.Errorf("number %d is %v", i, x)
		}
	}
	return nil
}

// check returns an error unless so many bytes of data are what the shape says.
func (t tensor) check(bytes int64) error {
	size := elementSize[t.dtype]
	for _, d := range t.shape {
		if d < 0 || d > 0 && size > math.MaxInt/d {
			return fmt.Errorf("shape %v is too large", t.shape)
		}
		size *= d
	}
	if int64(size) != bytes {
		return fmt.Errorf("shape %v of %s has %d bytes, not %d", t.shape, t.dtype, size, bytes)
	}
	return nil
}

// halfToFloat converts IEEE 754 binary16.
func halfToFloat(h uint16) float32 {
	sign, exp, frac := uint32(h>>15)<<31, uint32(h>>10)&0x1F, uint32(h)&0x3FF
	switch exp {
	case 0: // zero or subnormal: frac × 2⁻²⁴, exactly
		return math.Float32frombits(math.Float32bits(float32(frac)/(1<<24)) | sign)
	case 0x1F:
		return math.Float32frombits(sign | 0xFF<<23 | frac<<13)
	}
	return math.Float32frombits(sign | (exp+127-15)<<23 | frac<<13)
}

// parseSafetensors reads the tensors of a safetensors file. They share its memory.
func parseSafetensors(src []byte) (map[string]tensor, error) {
	if len(src) < 8 {
		return nil, fmt.Errorf("file of %d bytes is truncated", len(src))
	}
	n, src := binary.LittleEndian.Uint64(src), src[8:]
	if n > uint64(len(src)) {
		return nil, fmt.Errorf("header of %d bytes in %d: the file is truncated or no safetensors", n, len(src))
	}
	var header map[string]json.RawMessage
	if err := json.Unmarshal(src[:n], &header); err != nil {
		return nil, fmt.Errorf("header: %w", err)
	}
	delete(header, "__metadata__")
	tensors := make(map[string]tensor, len(header))
	for name, raw := range header {
		t, err := parseTensor(raw, src[n:])
		if err != nil {
			return nil, fmt.Errorf("tensor %q: %w", name, err)
		}
		if t.data != nil {
			tensors[name] = t
		}
	}
	return tensors, nil
}

// parseTensor returns no data for a type that we do not read.
func parseTensor(raw json.RawMessage, body []byte) (tensor, error) {
	var j struct {
		DType   string    `json:"dtype"`
		Shape   []int     `json:"shape"`
		Offsets [2]uint64 `json:"data_offsets"`
	}
	if err := json.Unmarshal(raw, &j); err != nil {
		return tensor{}, err
	}
	lo, hi := j.Offsets[0], j.Offsets[1]
	if lo > hi || hi > uint64(len(body)) {
		return tensor{}, fmt.Errorf("bytes %d to %d of %d: the file is truncated", lo, hi, len(body))
	}
	if _, ok := elementSize[j.DType]; !ok {
		return tensor{}, nil
	}
	t := tensor{dtype: j.DType, shape: j.Shape, data: body[lo:hi:hi]}
	return t, t.check(int64(len(t.data)))
}
