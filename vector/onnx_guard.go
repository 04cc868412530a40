package vector

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strings"
)

// More fields of the ONNX messages, for checkGraph.
const (
	modelFunctions = 25

	graphSparse = 15

	attributeGraph  = 6
	attributeGraphs = 11

	tensorInt32s = 5
	tensorInt64s = 7
)

// checkGraph returns an error about a graph on which the general engine would
// fail in a way that cannot be caught, or run out of memory: one of integers, of
// parts that it does not have in the file, with control flow, or whose constants
// ask for tensors of absurd sizes.
func checkGraph(src []byte) error {
	found := false
	err := eachField(src, func(field int, _ uint64, data []byte) error {
		switch field {
		case modelGraph:
			found = true
			return eachField(data, checkGraphField)
		case modelFunctions:
			return fmt.Errorf("%w: it defines functions", ErrUnsupported)
		}
		return nil
	})
	switch {
	case errors.Is(err, errProtobuf):
		return fmt.Errorf("%w: %w", ErrModel, err)
	case err == nil && !found:
		return fmt.Errorf("%w: it holds no graph", ErrModel)
	}
	return err
}

func checkGraphField(field int, _ uint64, data []byte) error {
	switch field {
	case graphNode:
		return checkNode(data)
	case graphInitializer:
		return checkTensor(data)
	case graphSparse:
		return fmt.Errorf("%w: it holds sparse tensors", ErrUnsupported)
	}
	return nil
}

func checkNode(msg []byte) error {
	return eachField(msg, func(field int, _ uint64, data []byte) error {
		switch {
		case field == nodeAttribute:
			return eachField(data, checkAttribute)
		case field != nodeOp:
			return nil
		}
		for _, part := range []string{"Quant", "QLinear", "Integer"} {
			if strings.Contains(string(data), part) {
				return fmt.Errorf("%w: the model is quantized (%s): take the one of 32-bit floats", ErrUnsupported, data)
			}
		}
		return nil
	})
}

func checkAttribute(field int, _ uint64, data []byte) error {
	switch field {
	case attributeTensor:
		return checkTensor(data)
	case attributeGraph, attributeGraphs:
		return fmt.Errorf("%w: it holds graphs within graphs", ErrUnsupported)
	}
	return nil
}

// checkTensor compares a tensor's shape with its bytes, and looks at integers,
// which are sizes more often than not.
func checkTensor(msg []byte) error {
	var shape tensor
	var stored uint64 // bytes of numbers, at least one each
	var kind uint64
	var raw []byte
	var numbers []int64
	var name string
	err := eachField(msg, func(field int, number uint64, data []byte) (err error) {
		switch field {
		case tensorDims:
			shape.shape, err = appendDims(shape.shape, number, data)
			return err
		case tensorType:
			kind = number
		case tensorName:
			name = string(data)
		case tensorExternal:
			return fmt.Errorf("%w: its numbers are in another file", ErrUnsupported)
		case tensorPlacement:
			if number != 0 {
				return fmt.Errorf("%w: its numbers are in another file", ErrUnsupported)
			}
		case tensorRaw:
			stored += uint64(len(data))
			raw = data // the last one counts
		case tensorInt32s, tensorInt64s:
			stored += max(1, uint64(len(data)))
			return appendVarints(&numbers, number, data)
		default:
			stored += uint64(len(data))
		}
		return nil
	})
	if err == nil {
		err = checkShape(shape.shape, stored)
	}
	if err == nil {
		err = checkIntegers(append(numbers, rawIntegers(raw, kind)...))
	}
	if err != nil {
		return fmt.Errorf("tensor %q: %w", name, err)
	}
	return nil
}

func checkShape(shape []int, stored uint64) error {
	n := 1.0
	for _, d := range shape {
		n *= float64(d)
	}
	if n > float64(stored) {
		return fmt.Errorf("%w: shape %v with %d bytes", ErrModel, shape, stored)
	}
	return nil
}

// rawIntegers returns the numbers of a tensor of int64 or int32.
func rawIntegers(data []byte, kind uint64) (numbers []int64) {
	switch onnxTypes[kind] {
	case "I64":
		for ; len(data) >= 8; data = data[8:] {
			numbers = append(numbers, int64(binary.LittleEndian.Uint64(data)))
		}
	case "I32":
		for ; len(data) >= 4; data = data[4:] {
			numbers = append(numbers, int64(int32(binary.LittleEndian.Uint32(data))))
		}
	}
	return numbers
}

func appendVarints(numbers *[]int64, number uint64, packed []byte) error {
	if packed == nil {
		*numbers = append(*numbers, int64(number))
		return nil
	}
	for len(packed) > 0 {
		v, n := binary.Uvarint(packed)
		if n <= 0 {
			return errProtobuf
		}
		*numbers, packed = append(*numbers, int64(v)), packed[n:]
	}
	return nil
}

// checkIntegers refuses numbers that make a tensor of absurd size, alone or as
// a shape. The largest integer stands for «to the end», alone.
func checkIntegers(numbers []int64) error {
	const largest, rank = 1 << 28, 8
	product := 1.0
	for _, n := range numbers {
		if n > largest && !(len(numbers) == 1 && (n == math.MaxInt32 || n == math.MaxInt64)) {
			return fmt.Errorf("%w: a size of %d", ErrUnsupported, n)
		}
		product *= float64(max(1, n))
	}
	if len(numbers) > 1 && len(numbers) <= rank && product > largest {
		return fmt.Errorf("%w: a shape of %v", ErrUnsupported, numbers)
	}
	return nil
}
