package vector

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"sync"

	gomlx "github.com/gomlx/gomlx/backends"
	_ "github.com/gomlx/gomlx/backends/simplego" // the backend "go"
	gomlxgraph "github.com/gomlx/gomlx/pkg/core/graph"
	"github.com/gomlx/gomlx/pkg/core/tensors"
	gomlxcontext "github.com/gomlx/gomlx/pkg/ml/context"
	"github.com/knights-analytics/hugot/backends"
	"github.com/knights-analytics/hugot/options"
)

// hugot runs any graph of floats with the library of that name, in Go alone. It
// gives the graph our tokens and pools what comes back itself: the library's
// tokenizer drops accents, and it cannot pool by the first token.
//
// Texts run one at a time, padded to a length that depends on the text alone.
type hugot struct {
	tokenizer *tokenizer
	dim       int
	pad       uint32
	print     string
	opts      Options
	output    int  // which of the graph's outputs is used
	pooled    bool // it is one vector a text, rather than one a token

	mu    sync.Mutex      // the library's runs must not overlap
	model *backends.Model // nil once closed
}

// What one operation, and all of a run together, may give, in bytes.
const (
	maxOperation = 1 << 29
	maxRun       = 1 << 33
)

func openHugot(f modelFiles, file *modelFile, opts Options) (Embedder, error) {
	var c bertConfig
	if found, err := f.config("config.json", &c); err != nil {
		return nil, err
	} else if !found {
		return nil, fmt.Errorf("%w: config.json is missing", ErrModel)
	}
	tok, err := f.tokenizer()
	if err != nil {
		return nil, err
	}
	if err := matchTokenizer(tok, c.Vocab); err != nil {
		return nil, err
	}
	src, err := file.read()
	if err != nil {
		return nil, err
	}
	if err := checkGraph(src); err != nil {
		return nil, fmt.Errorf("ONNX file: %w", err)
	}
	h := &hugot{tokenizer: tok, pad: uint32(max(0, c.Pad))}
	if err := h.load(src); err != nil {
		return nil, fmt.Errorf("%w: ONNX file: %w", ErrUnsupported, err)
	}
	if err := h.settle(f, c, opts); err != nil {
		return nil, errors.Join(err, h.Close())
	}
	h.print = fmt.Sprintf("hugot/1 model=%x tokenizer=%x/%d output=%d pooling=%s norm=l2 tokens=%d query=%q passage=%q numerics=gomlx-f32",
		sha256.Sum256(src), tok.hash, tokenizerVersion, h.output, h.opts.Pooling, h.opts.MaxTokens, h.opts.QueryPrefix, h.opts.PassagePrefix)
	return h, nil
}

// settle chooses the options and learns, from a first run, what vectors come.
func (h *hugot) settle(f modelFiles, c bertConfig, opts Options) (err error) {
	h.opts = opts
	if h.pooled {
		h.opts.Pooling = "mean" // of one vector
	}
	positions := c.Positions - c.firstPosition()
	if positions < 1 || positions > maxPositions {
		positions = defaultPositions
	}
	if h.opts, err = f.settle(h.opts, positions); err != nil {
		return err
	}
	if h.opts.MaxTokens <= len(h.tokenizer.before)+len(h.tokenizer.after) {
		return fmt.Errorf("%w: no room for text in %d tokens", ErrModel, h.opts.MaxTokens)
	}
	states, err := h.run(h.tokenizer.framed("", h.opts.MaxTokens))
	if err != nil {
		return fmt.Errorf("%w: first run: %w", ErrUnsupported, err)
	}
	h.dim = len(states[0])
	if _, err := h.pool(states); err != nil {
		return fmt.Errorf("%w: first run: %w", ErrModel, err)
	}
	return nil
}

// The positions of a model that does not say how many it has, and the most that
// are believed.
const (
	defaultPositions = 512
	maxPositions     = 1 << 14
)

// guard turns a panic of the library into an error.
func guard(err *error) {
	if r := recover(); r != nil {
		*err = fmt.Errorf("hugot: %v", r)
	}
}

// load prepares the graph. The library's own way to run it, operations in
// parallel, stops for ever on one processor: it is replaced.
func (h *hugot) load(src []byte) (err error) {
	defer guard(&err)
	o := options.Defaults()
	o.Backend = "GO"
	m := &backends.Model{OnnxBytes: src}
	if err := backends.CreateModelBackend(m, o); err != nil {
		return err
	}
	if err := h.chooseOutput(m); err != nil {
		m.GoMLXModel.Destroy()
		return err
	}
	be, err := gomlx.NewWithConfig("go:ops_sequential")
	if err != nil {
		m.GoMLXModel.Destroy()
		return err
	}
	g := m.GoMLXModel
	exec, err := gomlxcontext.NewExec(be, g.Ctx, func(ctx *gomlxcontext.Context, inputs []*gomlxgraph.Node) []*gomlxgraph.Node {
		outputs := g.Call(ctx, inputs)
		boundRun(inputs[0].Graph())
		return outputs
	})
	if err != nil {
		m.GoMLXModel.Destroy()
		return err
	}
	exec.SetMaxCache(-1) // paddedLength has few values
	oldExec, oldBackend := g.Exec, g.Backend
	g.Exec, g.Backend = exec, be
	g.Destroy = func() { exec.Finalize(); oldExec.Finalize(); g.Ctx.Finalize(); be.Finalize(); oldBackend.Finalize() }
	h.model = m
	return nil
}

// chooseOutput takes the states of the tokens if the graph gives them, else
// one vector a text.
func (h *hugot) chooseOutput(m *backends.Model) error {
	for _, in := range m.InputsMeta {
		if !slices.Contains([]string{"input_ids", "attention_mask", "token_type_ids"}, in.Name) {
			return fmt.Errorf("the graph wants the input %q", in.Name)
		}
	}
	for _, rank := range []int{3, 2} {
		i := slices.IndexFunc(m.OutputsMeta, func(out backends.InputOutputInfo) bool { return len(out.Dimensions) == rank })
		if i >= 0 {
			h.output, h.pooled = i, rank == 2
			return nil
		}
	}
	return errors.New("the graph has no output of vectors")
}

// boundRun panics if a run of g would take too much memory.
func boundRun(g *gomlxgraph.Graph) {
	total := 0.0
	for _, n := range g.Nodes() {
		if n.NumOutputs() != 1 {
			continue
		}
		size := float64(n.DType().Memory())
		for _, d := range n.Shape().Dimensions {
			size *= float64(d)
		}
		if total += size; size > maxOperation || total > maxRun {
			panic(fmt.Sprintf("an operation gives %v, and all up to it %.0f bytes: too much", n.Shape(), total))
		}
	}
}

// paddedLength rounds a number of tokens up: every length is a graph of its own
// for the library.
func paddedLength(n, limit int) int {
	step := 16
	switch {
	case n > 128:
		step = 64
	case n > 64:
		step = 32
	}
	return max(n, min(limit, (n+step-1)/step*step))
}

// run returns the states of the tokens, or the one vector of the text.
func (h *hugot) run(tokens []int32) (states [][]float32, err error) {
	defer guard(&err)
	n := paddedLength(len(tokens), h.opts.MaxTokens)
	in := backends.TokenizedInput{TokenIDs: make([]uint32, n), TypeIDs: make([]uint32, n), AttentionMask: make([]uint32, n), MaxAttentionIndex: n - 1}
	for i := range in.TokenIDs {
		in.TokenIDs[i] = h.pad
		if i < len(tokens) {
			in.TokenIDs[i], in.AttentionMask[i] = uint32(tokens[i]), 1
		}
	}
	b := backends.NewBatch(1)
	b.Input, b.MaxSequenceLength = []backends.TokenizedInput{in}, n
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.model == nil {
		return nil, ErrClosed
	}
	if err := backends.CreateInputTensors(b, h.model, "GO"); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, b.Destroy()) }()
	outputs, err := h.model.GoMLXModel.Exec.Exec(b.InputValues.([]*tensors.Tensor))
	if err != nil {
		return nil, err
	}
	defer func() {
		for _, out := range outputs {
			err = errors.Join(err, out.FinalizeAll())
		}
	}()
	return h.states(outputs, len(tokens), n)
}

// states takes the rows of a text's tokens out of the graph's outputs.
func (h *hugot) states(outputs []*tensors.Tensor, tokens, padded int) ([][]float32, error) {
	if h.output >= len(outputs) {
		return nil, fmt.Errorf("the graph has %d outputs", len(outputs))
	}
	shape := outputs[h.output].Shape().Dimensions
	rows, want := tokens, []int{1, padded}
	if h.pooled {
		rows, want = 1, []int{1}
	}
	dim := shape[len(shape)-1]
	if !slices.Equal(shape[:len(shape)-1], want) || dim < 1 || dim > maxDim || h.dim != 0 && dim != h.dim {
		return nil, fmt.Errorf("the graph gives %v for %d tokens", shape, padded)
	}
	flat, err := tensors.CopyFlatData[float32](outputs[h.output])
	if err != nil {
		return nil, err
	}
	states := make([][]float32, rows)
	for i := range states {
		states[i] = flat[i*dim:][:dim]
	}
	return states, nil
}

// Embed implements [Embedder].
func (h *hugot) Embed(ctx context.Context, texts []string, kind Kind) ([][]float32, error) {
	prefix := h.opts.prefix(kind)
	return embedEach(ctx, texts, 1, func(text string) ([]float32, error) {
		states, err := h.run(h.tokenizer.framed(prefix+text, h.opts.MaxTokens))
		if err != nil {
			return nil, err
		}
		return h.pool(states)
	})
}

// pool makes one vector of the states of a text's tokens.
func (h *hugot) pool(states [][]float32) ([]float32, error) {
	if h.opts.Pooling == "cls" {
		states = states[:1]
	}
	sum := make([]float64, h.dim)
	for _, row := range states {
		for i, x := range row {
			sum[i] += float64(x)
		}
	}
	return unit(sum)
}

// Dim implements [Embedder].
func (h *hugot) Dim() int { return h.dim }

// Fingerprint implements [Embedder].
func (h *hugot) Fingerprint() string { return h.print }

// Close implements [Embedder].
func (h *hugot) Close() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.model != nil {
		h.model.GoMLXModel.Destroy()
		h.model = nil
	}
	return nil
}
