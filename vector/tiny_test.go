package vector

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"testing"
)

// tinyBERT is a random encoder: enough to run everything, and its vectors tell
// texts with common words from others.
type tinyBERT struct {
	config bertConfig
	vocab  []string
	state  uint64
	// weights by name, matrices as rows of inputs
	weights map[string][]float32
	shapes  map[string][]int
	linears []string

	// What the graph has otherwise than config says.
	layers int
	pooled bool
	inputs []string
	edit   func(w *onnxWriter, states string) string
}

func newTinyBERT() *tinyBERT {
	b := &tinyBERT{weights: make(map[string][]float32), shapes: make(map[string][]int), vocab: slices.Clone(specials), state: 1}
	for c := 'a'; c <= 'z'; c++ {
		b.vocab = append(b.vocab, string(c), "##"+string(c))
	}
	b.vocab = append(b.vocab, "dog", "cat", "tax", "law", "é", ",")
	b.config = bertConfig{Type: "bert", Hidden: 24, Layers: 2, Heads: 3, Inter: 40, Positions: 40, Types: 2, Vocab: len(b.vocab), Act: "gelu"}
	b.fill(0.5)
	return b
}

// fill makes the weights, those of matrices up to scale.
func (b *tinyBERT) fill(scale float32) {
	h := b.config.Hidden
	b.random("embeddings.word_embeddings.weight", 1, len(b.vocab), h)
	b.random("embeddings.position_embeddings.weight", 0.02, b.config.Positions, h)
	b.random("embeddings.token_type_embeddings.weight", 0.02, 2, h)
	b.norm("embeddings.LayerNorm")
	for l := range b.config.Layers {
		p := fmt.Sprintf("encoder.layer.%d.", l)
		for _, name := range []string{"query", "key", "value"} {
			b.linear(p+"attention.self."+name, scale, h, h)
		}
		b.linear(p+"attention.output.dense", scale, h, h)
		b.norm(p + "attention.output.LayerNorm")
		b.linear(p+"intermediate.dense", scale, h, b.config.Inter)
		b.linear(p+"output.dense", scale, b.config.Inter, h)
		b.norm(p + "output.LayerNorm")
	}
}

func (b *tinyBERT) random(name string, scale float32, shape ...int) {
	n := 1
	for _, d := range shape {
		n *= d
	}
	v := make([]float32, n)
	for i := range v {
		b.state = b.state*6364136223846793005 + 1442695040888963407
		v[i] = scale * float32(int32(b.state>>32)) / (1 << 31)
	}
	b.weights[name], b.shapes[name] = v, shape
}

func (b *tinyBERT) norm(name string) {
	b.random(name+".bias", 0.1, b.config.Hidden)
	b.random(name+".weight", 0.1, b.config.Hidden)
	for i := range b.weights[name+".weight"] {
		b.weights[name+".weight"][i]++
	}
}

func (b *tinyBERT) linear(name string, scale float32, in, out int) {
	b.random(name+".bias", 0.1, out)
	b.random(name+".weight", scale, in, out)
	b.linears = append(b.linears, name)
}

// field appends a field of bytes to a protocol buffer message.
func field(msg []byte, number int, data []byte) []byte {
	msg = binary.AppendUvarint(msg, uint64(number)<<3|2)
	return append(binary.AppendUvarint(msg, uint64(len(data))), data...)
}

func onnxTensor(name string, shape []int, v []float32) []byte {
	var msg []byte
	for _, d := range shape {
		msg = binary.AppendUvarint(append(msg, tensorDims<<3), uint64(d))
	}
	msg = append(msg, tensorType<<3, 1)
	raw, _ := binary.Append(nil, binary.LittleEndian, v)
	return field(field(msg, tensorName, []byte(name)), tensorRaw, raw)
}

func onnxOp(op, output string, inputs ...string) []byte {
	var msg []byte
	for _, in := range inputs {
		msg = field(msg, nodeInput, []byte(in))
	}
	return field(field(msg, nodeOutput, []byte(output)), nodeOp, []byte(op))
}

func (b *tinyBERT) files(pooling string) []any {
	config, err := json.Marshal(b.config)
	if err != nil {
		panic(err)
	}
	return []any{
		"onnx/model.onnx", b.onnx(), "config.json", config, "tokenizer.json", wordPieceJSON(b.vocab, true),
		"1_Pooling/config.json", fmt.Appendf(nil, `{"pooling_mode_cls_token":%v,"pooling_mode_mean_tokens":%v}`, pooling == "cls", pooling == "mean"),
		"sentence_bert_config.json", []byte(`{"max_seq_length":32}`),
		"config_sentence_transformers.json", []byte(`{"prompts":{"query":"tax ","document":""}}`),
	}
}

// reference computes the states in the plainest way, in float64.
func (b *tinyBERT) reference(tokens []int32) [][]float64 {
	c, h := b.config, b.config.Hidden
	first := 0
	if c.Type == "xlm-roberta" {
		first = c.Pad + 1
	}
	x := make([][]float64, len(tokens))
	for t, id := range tokens {
		x[t] = make([]float64, h)
		for i := range h {
			x[t][i] = float64(b.weights["embeddings.word_embeddings.weight"][int(id)*h+i]) +
				float64(b.weights["embeddings.position_embeddings.weight"][(first+t)*h+i]) + float64(b.weights["embeddings.token_type_embeddings.weight"][i])
		}
	}
	b.refNorm(x, "embeddings.LayerNorm")
	for l := range c.Layers {
		p := fmt.Sprintf("encoder.layer.%d.", l)
		q, k, v := b.refLinear(x, p+"attention.self.query"), b.refLinear(x, p+"attention.self.key"), b.refLinear(x, p+"attention.self.value")
		b.refAdd(x, b.refLinear(refAttention(q, k, v, c.Heads), p+"attention.output.dense"), p+"attention.output.LayerNorm")
		mid := b.refLinear(x, p+"intermediate.dense")
		for _, row := range mid {
			for i, v := range row {
				row[i] = v * 0.5 * (1 + math.Erf(v/math.Sqrt2))
			}
		}
		b.refAdd(x, b.refLinear(mid, p+"output.dense"), p+"output.LayerNorm")
	}
	return x
}

func refAttention(q, k, v [][]float64, heads int) [][]float64 {
	out := make([][]float64, len(q))
	d := len(q[0]) / heads
	for t := range q {
		out[t] = make([]float64, len(q[0]))
		for h := range heads {
			weights, sum := make([]float64, len(k)), 0.0
			for s := range k {
				for i := h * d; i < (h+1)*d; i++ {
					weights[s] += q[t][i] * k[s][i] / math.Sqrt(float64(d))
				}
				weights[s] = math.Exp(weights[s])
				sum += weights[s]
			}
			for s := range k {
				for i := h * d; i < (h+1)*d; i++ {
					out[t][i] += weights[s] / sum * v[s][i]
				}
			}
		}
	}
	return out
}

func (b *tinyBERT) refLinear(x [][]float64, name string) [][]float64 {
	w, bias := b.weights[name+".weight"], b.weights[name+".bias"]
	out := make([][]float64, len(x))
	for t, row := range x {
		out[t] = make([]float64, len(bias))
		for j := range bias {
			out[t][j] = float64(bias[j])
			for i, v := range row {
				out[t][j] += v * float64(w[i*len(bias)+j])
			}
		}
	}
	return out
}

func (b *tinyBERT) refAdd(x, y [][]float64, norm string) {
	for t := range x {
		for i := range x[t] {
			x[t][i] += y[t][i]
		}
	}
	b.refNorm(x, norm)
}

func (b *tinyBERT) refNorm(x [][]float64, name string) {
	for _, row := range x {
		mean, variance := 0.0, 0.0
		for _, v := range row {
			mean += v / float64(len(row))
		}
		for _, v := range row {
			variance += (v - mean) * (v - mean) / float64(len(row))
		}
		for i, v := range row {
			row[i] = (v-mean)/math.Sqrt(variance+1e-12)*float64(b.weights[name+".weight"][i]) + float64(b.weights[name+".bias"][i])
		}
	}
}

func (b *tinyBERT) open(tb testing.TB, pooling string, opts Options) Embedder {
	tb.Helper()
	e, err := Open(modelDir(tb, b.files(pooling)...), opts)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { e.Close() })
	return e
}
