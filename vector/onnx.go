package vector

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strings"
)

// onnxGraph is what the native engine wants of an ONNX file: the constants, and
// which of them are the two sides of a linear map. It shares the file's memory.
type onnxGraph struct {
	tensors  map[string]tensor
	producer map[string]onnxNode // by output
	weightOf map[string]string   // bias → the matrix of Add(bias, MatMul(x, matrix))
}

type onnxNode struct {
	op              string
	inputs, outputs []string
	constant        []byte // the tensor of a Constant node
}

var errProtobuf = errors.New("malformed protocol buffer: the file is truncated or no ONNX")

// eachField calls f for every field of a protocol buffer message: with the
// number of one that is stored as an integer, with the bytes of any other.
func eachField(msg []byte, f func(field int, number uint64, data []byte) error) error {
	for len(msg) > 0 {
		tag, n := binary.Uvarint(msg)
		if n <= 0 || tag>>3 == 0 || tag>>3 > math.MaxInt32 {
			return errProtobuf
		}
		msg = msg[n:]
		number, data, rest, err := fieldValue(int(tag&7), msg)
		if err != nil {
			return err
		}
		if err := f(int(tag>>3), number, data); err != nil {
			return err
		}
		msg = rest
	}
	return nil
}

func fieldValue(wire int, msg []byte) (number uint64, data, rest []byte, err error) {
	size := uint64(0)
	switch wire {
	case 0:
		number, n := binary.Uvarint(msg)
		if n <= 0 {
			return 0, nil, nil, errProtobuf
		}
		return number, nil, msg[n:], nil
	case 1:
		size = 8
	case 2:
		n := 0
		if size, n = binary.Uvarint(msg); n <= 0 {
			return 0, nil, nil, errProtobuf
		}
		msg = msg[n:]
	case 5:
		size = 4
	default:
		return 0, nil, nil, errProtobuf
	}
	if size > uint64(len(msg)) {
		return 0, nil, nil, errProtobuf
	}
	return 0, msg[:size:size], msg[size:], nil
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

func parseONNX(src []byte) (*onnxGraph, error) {
	g := &onnxGraph{tensors: make(map[string]tensor), producer: make(map[string]onnxNode), weightOf: make(map[string]string)}
	found := false
	err := eachField(src, func(field int, _ uint64, data []byte) error {
		if field != modelGraph {
			return nil
		}
		found = true
		return eachField(data, g.readField)
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

func (g *onnxGraph) readField(field int, _ uint64, data []byte) error {
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
	if n.op == "Constant" && n.constant != nil && len(n.outputs) == 1 {
		_, t, err := readTensor(n.constant)
		if err != nil {
			return fmt.Errorf("constant %q: %w", n.outputs[0], err)
		}
		g.tensors[n.outputs[0]] = t
	}
	return nil
}

func readNode(msg []byte) (n onnxNode, err error) {
	err = eachField(msg, func(field int, _ uint64, data []byte) error {
		switch field {
		case nodeInput:
			n.inputs = append(n.inputs, string(data))
		case nodeOutput:
			n.outputs = append(n.outputs, string(data))
		case nodeOp:
			n.op = string(data)
		case nodeAttribute:
			return eachField(data, func(field int, _ uint64, data []byte) error {
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

// readTensor returns no data for a type that we do not read.
func readTensor(msg []byte) (name string, t tensor, err error) {
	external := false
	kind := uint64(0)
	err = eachField(msg, func(field int, number uint64, data []byte) error {
		switch field {
		case tensorDims:
			return t.addDims(number, data)
		case tensorType:
			kind = number
		case tensorName:
			name = string(data)
		case tensorFloats, tensorDoubles, tensorRaw:
			t.data = append(t.data, data...)
			if len(t.data) == len(data) {
				t.data = data // in one piece: no copy
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
	t.dtype = onnxTypes[kind]
	if !t.isFloat() {
		t.data = nil
		return name, t, nil
	}
	return name, t, t.check()
}

// addDims adds a dimension, or several packed into data.
func (t *tensor) addDims(number uint64, data []byte) error {
	if data == nil {
		t.shape = append(t.shape, int(min(number, math.MaxInt32)))
		return nil
	}
	for len(data) > 0 {
		d, n := binary.Uvarint(data)
		if n <= 0 {
			return errProtobuf
		}
		t.shape, data = append(t.shape, int(min(d, math.MaxInt32))), data[n:]
	}
	return nil
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

// numbers returns the numbers of a tensor of the given shape.
func (g *onnxGraph) numbers(name string, shape ...int) ([]float32, error) {
	t, ok := g.tensors[name]
	if !ok || t.data == nil {
		return nil, fmt.Errorf("%w: %q is not made of floats", ErrUnsupported, name)
	}
	if fmt.Sprint(t.shape) != fmt.Sprint(shape) {
		return nil, fmt.Errorf("%w: %q has the shape %v, but config.json means %v", ErrModel, name, t.shape, shape)
	}
	if err := t.finite(); err != nil {
		return nil, fmt.Errorf("%w: %q: %w", ErrModel, name, err)
	}
	out := make([]float32, t.len())
	for i := range out {
		out[i] = float32(t.at(i))
	}
	return out, nil
}

// vector returns the numbers of the tensor that ends in suffix.
func (g *onnxGraph) vector(suffix string, shape ...int) ([]float32, error) {
	name, err := g.name(suffix)
	if err != nil {
		return nil, err
	}
	return g.numbers(name, shape...)
}

// matrix returns the matrix that is applied before the bias of a linear map.
func (g *onnxGraph) matrix(layer string, in, out int) (weight, bias []float32, err error) {
	name, err := g.name(layer + ".bias")
	if err != nil {
		return nil, nil, err
	}
	if bias, err = g.numbers(name, out); err != nil {
		return nil, nil, err
	}
	matrix, ok := g.weightOf[name]
	if !ok {
		return nil, nil, fmt.Errorf("%w: no matrix is multiplied before %q is added", ErrUnsupported, name)
	}
	weight, err = g.numbers(matrix, in, out)
	return weight, bias, err
}
