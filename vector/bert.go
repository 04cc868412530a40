package vector

import (
	"errors"
	"fmt"
	"math"
)

// bertConfig is what config.json says of an encoder.
type bertConfig struct {
	Type      string   `json:"model_type"`
	Hidden    int      `json:"hidden_size"`
	Layers    int      `json:"num_hidden_layers"`
	Heads     int      `json:"num_attention_heads"`
	Inter     int      `json:"intermediate_size"`
	Positions int      `json:"max_position_embeddings"`
	Types     int      `json:"type_vocab_size"`
	Vocab     int      `json:"vocab_size"`
	Act       string   `json:"hidden_act"`
	Eps       *float64 `json:"layer_norm_eps"`
	Position  string   `json:"position_embedding_type"`
	Pad       int      `json:"pad_token_id"`
}

// check refuses what the encoder would compute otherwise, and sizes that no
// model has.
func (c *bertConfig) check() error {
	switch {
	case c.Type != "bert" && c.Type != "roberta" && c.Type != "xlm-roberta":
		return fmt.Errorf("%w: config.json: a model of type %q", ErrUnsupported, c.Type)
	case c.Act != "" && c.Act != "gelu":
		return fmt.Errorf("%w: config.json: activation %q", ErrUnsupported, c.Act)
	case c.Position != "" && c.Position != "absolute":
		return fmt.Errorf("%w: config.json: %q positions", ErrUnsupported, c.Position)
	case c.Hidden < 1 || c.Hidden > maxDim, c.Heads < 1 || c.Hidden%c.Heads != 0, c.Layers < 1 || c.Layers > 1000,
		c.Inter < 1 || c.Inter > 1<<16, c.Positions < 1 || c.Positions > 1<<16, c.Vocab < 1 || c.Vocab > maxVocab,
		c.Types < 0 || c.Types > 1<<10, c.Pad < 0 || c.Pad >= c.Positions:
		return fmt.Errorf("%w: config.json: impossible sizes", ErrModel)
	}
	if c.Types == 0 {
		c.Types = 2
	}
	return nil
}

// firstPosition is the position of a text's first token: RoBERTa counts from
// behind the padding.
func (c *bertConfig) firstPosition() int {
	if c.Type == "bert" {
		return 0
	}
	return c.Pad + 1
}

// bert holds the weights of an encoder as the forward pass wants them.
type bert struct {
	hidden, heads, inter int
	words                []float32 // a row of hidden numbers for each token
	places               []float32 // a row for each position, with that of type 0 added
	norm                 layerNorm
	layers               []bertLayer
}

type bertLayer struct {
	qkv, out, up, down linear // qkv: queries, keys and values side by side
	outNorm, downNorm  layerNorm
}

type linear struct {
	weight panels
	bias   []float32
}

type layerNorm struct {
	gain, bias []float32
	eps        float64
}

// maxTokens is how many tokens the model has positions for.
func (m *bert) maxTokens() int { return len(m.places) / m.hidden }

// newBERT reads the weights of a graph, each matrix into its place: the file need
// not fit into memory beside them.
func newBERT(g *onnxGraph, c bertConfig) (*bert, error) {
	l := bertLoader{g: g, hidden: c.Hidden, eps: 1e-12}
	if c.Eps != nil {
		l.eps = *c.Eps
	}
	m := &bert{hidden: c.Hidden, heads: c.Heads, inter: c.Inter}
	m.words = l.vector("embeddings.word_embeddings.weight", c.Vocab, c.Hidden)
	places := l.vector("embeddings.position_embeddings.weight", c.Positions, c.Hidden)
	types := l.vector("embeddings.token_type_embeddings.weight", c.Types, c.Hidden)
	m.norm = l.norm("embeddings.LayerNorm")
	if l.err == nil {
		m.places = places[c.firstPosition()*c.Hidden:]
		for i := range m.places {
			m.places[i] += types[i%c.Hidden]
		}
	}
	for i := 0; i < c.Layers && l.err == nil; i++ {
		m.layers = append(m.layers, l.layer(fmt.Sprintf("encoder.layer.%d.", i), c))
	}
	return m, l.err
}

// bertLoader remembers the first error.
type bertLoader struct {
	g      *onnxGraph
	hidden int
	eps    float64
	matrix []float32 // as the file has it, for one after the other
	joined []float32
	err    error
}

func (l *bertLoader) vector(suffix string, shape ...int) []float32 {
	v, err := l.g.vector(suffix, shape...)
	l.err = errors.Join(l.err, err)
	return v
}

func (l *bertLoader) norm(name string) layerNorm {
	return layerNorm{l.vector(name+".weight", l.hidden), l.vector(name+".bias", l.hidden), l.eps}
}

func (l *bertLoader) linear(name string, in, out int) linear {
	var err error
	m := linear{}
	if l.matrix, m.bias, err = l.g.matrix(l.matrix, name, in, out); err != nil {
		l.err = errors.Join(l.err, err)
		return linear{}
	}
	m.weight.pack(in, out, l.matrix, out, 1)
	return m
}

func (l *bertLoader) layer(p string, c bertConfig) bertLayer {
	h := c.Hidden
	m := bertLayer{outNorm: l.norm(p + "attention.output.LayerNorm"), downNorm: l.norm(p + "output.LayerNorm")}
	m.qkv = l.qkv(p+"attention.self.", c)
	m.out = l.linear(p+"attention.output.dense", h, h)
	m.up = l.linear(p+"intermediate.dense", h, c.Inter)
	m.down = l.linear(p+"output.dense", c.Inter, h)
	return m
}

// qkv joins the maps to queries, keys and values. Queries are scaled here, once.
func (l *bertLoader) qkv(p string, c bertConfig) linear {
	h := c.Hidden
	scale := float32(1 / math.Sqrt(float64(h/c.Heads)))
	m := linear{}
	l.joined = resize(l.joined, 3*h*h)
	for which, name := range []string{"query", "key", "value"} {
		var bias []float32
		var err error
		if l.matrix, bias, err = l.g.matrix(l.matrix, p+name, h, h); err != nil {
			l.err = errors.Join(l.err, err)
			return m
		}
		if which == 0 {
			scaleAll(l.matrix, scale)
			scaleAll(bias, scale)
		}
		m.bias = append(m.bias, bias...)
		for i := range h {
			copy(l.joined[(3*i+which)*h:], l.matrix[i*h:][:h])
		}
	}
	m.weight.pack(h, 3*h, l.joined, 3*h, 1)
	return m
}

func scaleAll(x []float32, by float32) {
	for i := range x {
		x[i] *= by
	}
}
