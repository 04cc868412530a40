package vector

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
)

// An onnxWriter writes a graph, node by node.
type onnxWriter struct {
	b     *tinyBERT
	graph []byte
	nodes int
}

// onnx writes the model as exporters do: matrices have names of no meaning, and
// layers a prefix. Any engine can run it.
func (b *tinyBERT) onnx() []byte {
	w := &onnxWriter{b: b}
	for name, v := range b.weights {
		if !slices.Contains(b.linears, trimWeight(name)) {
			w.initializer(onnxTensor("bert."+name, b.shapes[name], v))
		}
	}
	states := w.encoder()
	if b.edit != nil {
		states = b.edit(w, states)
	}
	w.graph = field(w.graph, graphNode, onnxOp("Identity", "last_hidden_state", states))
	for _, in := range append([]string{"input_ids", "attention_mask", "token_type_ids"}, b.inputs...) {
		w.graph = field(w.graph, 11, onnxValue(in, 7, "batch", "length"))
	}
	outputShape := []any{"batch", "length", b.config.Hidden}
	if b.pooled {
		outputShape = []any{"batch", b.config.Hidden}
	}
	w.graph = field(w.graph, 12, onnxValue("last_hidden_state", 1, outputShape...))
	opset := append([]byte{2 << 3}, 14)
	return field(field([]byte{1 << 3, 8}, 8, opset), modelGraph, field(w.graph, 2, []byte("tiny")))
}

func trimWeight(name string) string {
	if n := len(name) - len(".weight"); n > 0 && name[n:] == ".weight" {
		return name[:n]
	}
	return name
}

// onnxValue is an input or output: a dimension is a number, or a name.
func onnxValue(name string, kind byte, dims ...any) []byte {
	var shape []byte
	for _, d := range dims {
		switch d := d.(type) {
		case int:
			shape = field(shape, 1, binary.AppendUvarint([]byte{1 << 3}, uint64(d)))
		case string:
			shape = field(shape, 1, field(nil, 2, []byte(d)))
		}
	}
	tensor := field([]byte{1 << 3, kind}, 2, shape)
	return field(field(nil, 1, []byte(name)), 2, field(nil, 1, tensor))
}

func (w *onnxWriter) initializer(tensor []byte) {
	w.graph = field(w.graph, graphInitializer, tensor)
}

// integers adds a constant; no shape makes it a scalar.
func (w *onnxWriter) integers(name string, shape []int, v ...int64) string {
	w.initializer(onnxIntegers(name, shape, v...))
	return name
}

func onnxIntegers(name string, shape []int, v ...int64) []byte {
	var msg []byte
	for _, d := range shape {
		msg = binary.AppendUvarint(append(msg, tensorDims<<3), uint64(d))
	}
	raw, _ := binary.Append(nil, binary.LittleEndian, v)
	return field(field(append(msg, tensorType<<3, 7), tensorName, []byte(name)), tensorRaw, raw)
}

func (w *onnxWriter) float(name string, v float32) string {
	w.initializer(onnxTensor(name, nil, []float32{v}))
	return name
}

// op adds a node and returns the name of what it gives.
func (w *onnxWriter) op(op string, inputs ...string) string { return w.opWith(op, nil, inputs...) }

func (w *onnxWriter) opWith(op string, attributes [][]byte, inputs ...string) string {
	w.nodes++
	out := fmt.Sprintf("%s_%d", op, w.nodes)
	msg := onnxOp(op, out, inputs...)
	for _, a := range attributes {
		msg = field(msg, nodeAttribute, a)
	}
	w.graph = field(w.graph, graphNode, msg)
	return out
}

func onnxInt(name string, v int64) []byte {
	return append(binary.AppendUvarint(append(field(nil, 1, []byte(name)), 3<<3), uint64(v)), 0xA0, 1, 2)
}

func onnxInts(name string, list ...int64) []byte {
	msg := field(nil, 1, []byte(name))
	for _, v := range list {
		msg = binary.AppendUvarint(append(msg, 8<<3), uint64(v))
	}
	return append(msg, 0xA0, 1, 7)
}

func (w *onnxWriter) norm(name, x string) string {
	last := onnxInts("axes", -1)
	off := w.op("Sub", x, w.opWith("ReduceMean", [][]byte{last}, x))
	variance := w.opWith("ReduceMean", [][]byte{last}, w.op("Pow", off, "two"))
	unit := w.op("Div", off, w.op("Sqrt", w.op("Add", variance, "eps")))
	return w.op("Add", w.op("Mul", unit, "bert."+name+".weight"), "bert."+name+".bias")
}

func (w *onnxWriter) linear(name, x string) string {
	i := slices.Index(w.b.linears, name)
	matrix := fmt.Sprintf("onnx::MatMul_%d", i)
	w.initializer(onnxTensor(matrix, w.b.shapes[name+".weight"], w.b.weights[name+".weight"]))
	sides := []string{"bert." + name + ".bias", w.op("MatMul", x, matrix)}
	if i%2 == 1 {
		slices.Reverse(sides)
	}
	return w.op("Add", sides...)
}

func (w *onnxWriter) encoder() string {
	c := w.b.config
	w.float("one", 1)
	w.float("half", 0.5)
	w.float("two", 2)
	w.float("eps", 1e-12)
	w.float("root2", math.Sqrt2)
	w.float("lowest", -math.MaxFloat32)
	w.float("rootD", float32(math.Sqrt(float64(c.Hidden/c.Heads))))
	w.integers("axis0", []int{1}, 0)
	w.integers("axis1", []int{1}, 1)
	w.integers("axis2", []int{1}, 2)
	w.integers("second", nil, 1)
	w.integers("byHead", []int{4}, 0, 0, int64(c.Heads), int64(c.Hidden/c.Heads))
	w.integers("whole", []int{3}, 0, 0, int64(c.Hidden))
	x := w.norm("embeddings.LayerNorm", w.embeddings())
	mask := w.opWith("Cast", [][]byte{onnxInt("to", 1)}, "attention_mask")
	mask = w.op("Mul", w.op("Sub", "one", w.op("Unsqueeze", w.op("Unsqueeze", mask, "axis1"), "axis2")), "lowest")
	for l := range cmp.Or(w.b.layers, c.Layers) {
		x = w.layer(fmt.Sprintf("encoder.layer.%d.", l), x, mask)
	}
	return x
}

func (w *onnxWriter) embeddings() string {
	c := w.b.config
	places := make([]int64, c.Positions)
	for i := range places {
		places[i] = int64(i)
	}
	w.integers("places", []int{1, c.Positions}, places...)
	first := w.integers("first", []int{1}, int64(c.firstPosition()))
	length := w.op("Unsqueeze", w.op("Gather", w.op("Shape", "input_ids"), "second"), "axis0")
	place := w.op("Slice", "places", first, w.op("Add", length, first), "axis1", "axis1")
	sum := w.op("Add", w.op("Gather", "bert.embeddings.word_embeddings.weight", "input_ids"),
		w.op("Gather", "bert.embeddings.token_type_embeddings.weight", "token_type_ids"))
	return w.op("Add", sum, w.op("Gather", "bert.embeddings.position_embeddings.weight", place))
}

func (w *onnxWriter) layer(p, x, mask string) string {
	part := func(name string, order ...int64) string {
		return w.opWith("Transpose", [][]byte{onnxInts("perm", order...)}, w.op("Reshape", w.linear(p+"attention.self."+name, x), "byHead"))
	}
	q, k, v := part("query", 0, 2, 1, 3), part("key", 0, 2, 3, 1), part("value", 0, 2, 1, 3)
	score := w.op("Add", w.op("Div", w.op("MatMul", q, k), "rootD"), mask)
	mixed := w.op("MatMul", w.opWith("Softmax", [][]byte{onnxInt("axis", -1)}, score), v)
	mixed = w.op("Reshape", w.opWith("Transpose", [][]byte{onnxInts("perm", 0, 2, 1, 3)}, mixed), "whole")
	x = w.norm(p+"attention.output.LayerNorm", w.op("Add", w.linear(p+"attention.output.dense", mixed), x))
	mid := w.linear(p+"intermediate.dense", x)
	wide := w.op("Add", w.op("Erf", w.op("Div", mid, "root2")), "one")
	mid = w.op("Mul", w.op("Mul", mid, wide), "half")
	return w.norm(p+"output.LayerNorm", w.op("Add", w.linear(p+"output.dense", mid), x))
}
