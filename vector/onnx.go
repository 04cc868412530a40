package vector

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
)

// onnxGraph is what the native engine wants of an ONNX file: the constants, and
// which of them are the two sides of a linear map. Their numbers are in the file.
type onnxGraph struct {
	tensors  map[string]onnxNumbers
	producer map[string]onnxNode // by output
	weightOf map[string]string   // bias → the matrix of Add(bias, MatMul(x, matrix))
	block    []byte              // to read numbers
}

type onnxNode struct {
	op              string
	inputs, outputs []string
	constant        section // the tensor of a Constant node
}

// onnxNumbers is a tensor whose numbers are in a file, one part after the other.
// It has no dtype if it is none of floats.
type onnxNumbers struct {
	dtype string
	shape []int
	parts []section
}

// The fields of ModelProto, GraphProto, NodeProto, AttributeProto and
// TensorProto that we read.
const (
	modelGraph = 7

	graphNode        = 1
	graphInitializer = 5

	nodeInput     = 1
	nodeOutput    = 2
	nodeOp        = 4
	nodeAttribute = 5

	attributeTensor = 5

	tensorDims      = 1
	tensorType      = 2
	tensorFloats    = 4
	tensorName      = 8
	tensorRaw       = 9
	tensorDoubles   = 10
	tensorExternal  = 13
	tensorPlacement = 14
)

// onnxTypes names the types of numbers that we read, as [tensor] does.
var onnxTypes = map[uint64]string{1: "F32", 6: "I32", 7: "I64", 10: "F16", 11: "F64", 16: "BF16"}

func parseONNX(src section) (*onnxGraph, error) {
	g := &onnxGraph{tensors: make(map[string]onnxNumbers), producer: make(map[string]onnxNode), weightOf: make(map[string]string)}
	found := false
	err := src.each(func(field int, _ uint64, data section) error {
		if field != modelGraph {
			return nil
		}
		found = true
		return data.each(g.readField)
	})
	if err == nil && !found {
		err = errors.New("it holds no graph")
	}
	if err != nil {
		return nil, err
	}
	g.findLinears()
	return g, nil
}

func (g *onnxGraph) readField(field int, _ uint64, data section) error {
	switch field {
	case graphInitializer:
		name, t, err := readTensor(data)
		if err != nil {
			return fmt.Errorf("tensor %q: %w", name, err)
		}
		g.tensors[name] = t
	case graphNode:
		n, err := readNode(data)
		if err != nil {
			return err
		}
		return g.addNode(n)
	}
	return nil
}

func (g *onnxGraph) addNode(n onnxNode) error {
	for _, out := range n.outputs {
		g.producer[out] = n
	}
	if n.op == "Constant" && n.constant.file != nil && len(n.outputs) == 1 {
		_, t, err := readTensor(n.constant)
		if err != nil {
			return fmt.Errorf("constant %q: %w", n.outputs[0], err)
		}
		g.tensors[n.outputs[0]] = t
	}
	return nil
}

func readNode(msg section) (n onnxNode, err error) {
	err = msg.each(func(field int, _ uint64, data section) error {
		switch field {
		case nodeInput:
			return data.addTo(&n.inputs)
		case nodeOutput:
			return data.addTo(&n.outputs)
		case nodeOp:
			op, err := data.bytes()
			n.op = string(op)
			return err
		case nodeAttribute:
			if data.file == nil {
				return errProtobuf
			}
			return data.each(func(field int, _ uint64, data section) error {
				if field == attributeTensor {
					n.constant = data
				}
				return nil
			})
		}
		return nil
	})
	return n, err
}

// addTo appends a name to names.
func (s section) addTo(names *[]string) error {
	name, err := s.bytes()
	*names = append(*names, string(name))
	return err
}

// maxParts is of how many parts a tensor may be. Exporters write one.
const maxParts = 1 << 10

// readTensor returns no dtype for a type that we do not read.
func readTensor(msg section) (name string, t onnxNumbers, err error) {
	external := false
	kind := uint64(0)
	err = msg.each(func(field int, number uint64, data section) error {
		switch field {
		case tensorDims:
			return t.addDims(number, data)
		case tensorType:
			kind = number
		case tensorName:
			b, err := data.bytes()
			name = string(b)
			return err
		case tensorFloats, tensorDoubles, tensorRaw:
			if t.parts = append(t.parts, data); data.file == nil || len(t.parts) > maxParts {
				return errProtobuf
			}
		case tensorExternal:
			external = true
		case tensorPlacement:
			external = external || number != 0
		}
		return nil
	})
	if err != nil {
		return name, t, err
	}
	if external {
		return name, t, errors.New("its numbers are in another file")
	}
	if like := (tensor{dtype: onnxTypes[kind], shape: t.shape}); like.isFloat() {
		t.dtype, err = like.dtype, like.check(t.size())
	}
	return name, t, err
}

// size returns how many bytes the numbers are.
func (t *onnxNumbers) size() (n int64) {
	for _, p := range t.parts {
		n += p.size
	}
	return n
}

// addDims adds a dimension, or several packed into data.
func (t *onnxNumbers) addDims(number uint64, data section) (err error) {
	var packed []byte
	if data.file != nil {
		if packed, err = data.bytes(); err != nil {
			return err
		}
	}
	t.shape, err = appendDims(t.shape, number, packed)
	return err
}

// appendDims adds a dimension to a shape, or if there are any those in packed.
func appendDims(shape []int, number uint64, packed []byte) ([]int, error) {
	if packed == nil {
		return append(shape, int(min(number, math.MaxInt32))), nil
	}
	for len(packed) > 0 {
		d, n := binary.Uvarint(packed)
		if n <= 0 {
			return shape, errProtobuf
		}
		shape, packed = append(shape, int(min(d, math.MaxInt32))), packed[n:]
	}
	return shape, nil
}

// findLinears looks for Add(bias, MatMul(x, matrix)), whichever comes first.
func (g *onnxGraph) findLinears() {
	for _, add := range g.producer {
		if add.op != "Add" || len(add.inputs) != 2 {
			continue
		}
		for i, bias := range add.inputs {
			product := g.producer[add.inputs[1-i]]
			if strings.HasSuffix(bias, ".bias") && product.op == "MatMul" && len(product.inputs) == 2 {
				g.weightOf[bias] = product.inputs[1]
			}
		}
	}
}

// name returns the full name of the one tensor that ends in suffix: exports
// differ in what they put before the names of the layers.
func (g *onnxGraph) name(suffix string) (string, error) {
	found := ""
	for name := range g.tensors {
		if name != suffix && !strings.HasSuffix(name, "."+suffix) {
			continue
		}
		if found != "" {
			return "", fmt.Errorf("%w: both %q and %q may be %s", ErrUnsupported, min(name, found), max(name, found), suffix)
		}
		found = name
	}
	if found == "" {
		return "", fmt.Errorf("%w: no tensor %q in the graph", ErrUnsupported, suffix)
	}
	return found, nil
}

// numbers returns the numbers of a tensor of the given shape, in the memory of
// dst if that is enough.
func (g *onnxGraph) numbers(dst []float32, name string, shape ...int) ([]float32, error) {
	t, ok := g.tensors[name]
	if !ok || t.dtype == "" {
		return nil, fmt.Errorf("%w: %q is not made of floats", ErrUnsupported, name)
	}
	if !slices.Equal(t.shape, shape) {
		return nil, fmt.Errorf("%w: %q has the shape %v, but config.json means %v", ErrModel, name, t.shape, shape)
	}
	dst = resize(dst, int(t.size())/elementSize[t.dtype])
	at := 0
	for _, part := range t.parts {
		n, err := g.convert(dst[at:], t.dtype, part)
		if err != nil {
			return nil, fmt.Errorf("%w: %q: %w", ErrModel, name, err)
		}
		at += n
	}
	return dst, nil
}

// convert reads the numbers of part into dst, and returns how many they are.
func (g *onnxGraph) convert(dst []float32, dtype string, part section) (n int, err error) {
	const blockSize = 1 << 16
	if g.block == nil {
		g.block = make([]byte, blockSize)
	}
	if part.size%int64(elementSize[dtype]) != 0 {
		return 0, errProtobuf
	}
	for off := int64(0); off < part.size; off += blockSize {
		t := tensor{dtype: dtype, data: g.block[:min(blockSize, part.size-off)]}
		if err := part.read(t.data, off); err != nil {
			return n, err
		}
		if err := t.finite(); err != nil {
			return n, err
		}
		for i := range t.len() {
			dst[n] = float32(t.at(i))
			n++
		}
	}
	return n, nil
}

// vector returns the numbers of the tensor that ends in suffix.
func (g *onnxGraph) vector(suffix string, shape ...int) ([]float32, error) {
	name, err := g.name(suffix)
	if err != nil {
		return nil, err
	}
	return g.numbers(nil, name, shape...)
}

// matrix returns the matrix that is applied before the bias of a linear map, in
// the memory of dst if that is enough.
func (g *onnxGraph) matrix(dst []float32, layer string, in, out int) (weight, bias []float32, err error) {
	name, err := g.name(layer + ".bias")
	if err != nil {
		return dst, nil, err
	}
	if bias, err = g.numbers(nil, name, out); err != nil {
		return dst, nil, err
	}
	matrix, ok := g.weightOf[name]
	if !ok {
		return dst, nil, fmt.Errorf("%w: no matrix is multiplied before %q is added", ErrUnsupported, name)
	}
	weight, err = g.numbers(dst, matrix, in, out)
	return weight, bias, err
}
