package vector

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"sync"
	"sync/atomic"
)

// native runs an encoder of the BERT family on one text at a time, without
// padding, so that a vector cannot depend on its neighbours.
type native struct {
	model atomic.Pointer[nativeModel]
	dim   int
	print string
	opts  Options
}

type nativeModel struct {
	bert      *bert
	tokenizer *tokenizer
	spare     sync.Pool // of *encoding
}

// numerics names how products are rounded: vectors made with and without a
// fused kernel differ in the last bits.
func numerics() string {
	if hasFMA {
		return "f32-fma"
	}
	return "f32"
}

func openNative(f modelFiles, src *modelFile, opts Options) (Embedder, error) {
	var c bertConfig
	if found, err := f.config("config.json", &c); err != nil {
		return nil, err
	} else if !found {
		return nil, fmt.Errorf("%w: config.json is missing", ErrModel)
	}
	if err := c.check(); err != nil {
		return nil, err
	}
	tok, err := f.tokenizer()
	if err != nil {
		return nil, err
	}
	if err := matchTokenizer(tok, c.Vocab); err != nil {
		return nil, err
	}
	g, err := parseONNX(src.all())
	if err != nil {
		return nil, fmt.Errorf("%w: ONNX file: %w", ErrModel, err)
	}
	m, err := newBERT(g, c)
	if err != nil {
		return nil, fmt.Errorf("ONNX file: %w", err)
	}
	if opts, err = f.settle(opts, m.maxTokens()); err != nil {
		return nil, err
	}
	if opts.MaxTokens <= len(tok.before)+len(tok.after) {
		return nil, fmt.Errorf("%w: no room for text in %d tokens", ErrModel, opts.MaxTokens)
	}
	hash, err := src.hash()
	if err != nil {
		return nil, err
	}
	n := &native{dim: c.Hidden, opts: opts}
	n.print = fmt.Sprintf("native/1 model=%x tokenizer=%x/%d pooling=%s norm=l2 tokens=%d query=%q passage=%q heads=%d first=%d eps=%g numerics=%s",
		hash, tok.hash, tokenizerVersion, opts.Pooling, opts.MaxTokens, opts.QueryPrefix, opts.PassagePrefix,
		c.Heads, c.firstPosition(), m.norm.eps, numerics())
	n.model.Store(&nativeModel{bert: m, tokenizer: tok})
	return n, nil
}

// matchTokenizer refuses a tokenizer that is not the model's, as far as that
// shows. Models may have a few more rows than tokens, to fill a block.
func matchTokenizer(tok *tokenizer, vocab int) error {
	const spare = 1024
	if tok.size > vocab || tok.size < vocab-spare {
		return fmt.Errorf("%w: config.json has %d tokens, but tokenizer.json %d: they are not of one model", ErrModel, vocab, tok.size)
	}
	if len(tok.before) == 0 || len(tok.after) == 0 {
		return fmt.Errorf("%w: tokenizer.json does not frame texts as an encoder needs it", ErrModel)
	}
	return nil
}

// settle fills in from the model's files what the caller left open.
func (f modelFiles) settle(o Options, positions int) (Options, error) {
	var pooling struct {
		CLS  bool `json:"pooling_mode_cls_token"`
		Mean bool `json:"pooling_mode_mean_tokens"`
	}
	var length struct {
		Max int `json:"max_seq_length"`
	}
	var prompts struct {
		Prompts map[string]string `json:"prompts"`
	}
	_, err1 := f.config("1_Pooling/config.json", &pooling)
	_, err2 := f.config("sentence_bert_config.json", &length)
	_, err3 := f.config("config_sentence_transformers.json", &prompts)
	if err := errors.Join(err1, err2, err3); err != nil {
		return o, err
	}
	switch {
	case o.Pooling != "":
	case pooling.CLS && !pooling.Mean:
		o.Pooling = "cls"
	case pooling.Mean && !pooling.CLS:
		o.Pooling = "mean"
	}
	if o.Pooling != "cls" && o.Pooling != "mean" {
		return o, fmt.Errorf("%w: neither 1_Pooling/config.json nor the caller says whether to pool by cls or mean", ErrModel)
	}
	if o.MaxTokens <= 0 {
		o.MaxTokens = length.Max
	}
	if o.MaxTokens <= 0 || o.MaxTokens > positions {
		o.MaxTokens = positions
	}
	if o.QueryPrefix == "" {
		o.QueryPrefix = prompts.Prompts["query"]
	}
	if o.PassagePrefix == "" {
		o.PassagePrefix = firstOf(prompts.Prompts, "document", "passage")
	}
	return o, nil
}

func firstOf(m map[string]string, keys ...string) string {
	for _, k := range keys {
		if s, ok := m[k]; ok {
			return s
		}
	}
	return ""
}

// openONNX opens the graph of a model directory, if it has one.
func (f modelFiles) openONNX() (*modelFile, error) {
	src, err := f.open("model.onnx", maxModelFile)
	if errors.Is(err, fs.ErrNotExist) {
		src, err = f.open("onnx/model.onnx", maxModelFile)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return src, err
}

// Embed implements [Embedder]. Texts run side by side; if there are fewer than
// workers, the workers share each.
func (n *native) Embed(ctx context.Context, texts []string, kind Kind) ([][]float32, error) {
	m := n.model.Load()
	if m == nil {
		return nil, ErrClosed
	}
	prefix, workers := n.opts.prefix(kind), workersOr(n.opts.Workers)
	side := max(1, min(workers, len(texts)))
	return embedEach(ctx, texts, side, func(text string) ([]float32, error) {
		e := m.take(workers / side)
		defer m.spare.Put(e)
		tokens := m.tokenizer.framed(prefix+text, n.opts.MaxTokens)
		return unit(n.pool(e.run(tokens)))
	})
}

// take returns memory for a run.
func (m *nativeModel) take(workers int) *encoding {
	e, ok := m.spare.Get().(*encoding)
	if !ok {
		e = &encoding{m: m.bert, heads: make([]headRun, m.bert.heads)}
	}
	e.gemm.workers = workers
	return e
}

// pool makes one vector of the states of a text's tokens.
func (n *native) pool(states []float32) []float64 {
	out := make([]float64, n.dim)
	if n.opts.Pooling == "cls" {
		states = states[:n.dim]
	}
	for i, x := range states {
		out[i%n.dim] += float64(x)
	}
	return out
}

// Dim implements [Embedder].
func (n *native) Dim() int { return n.dim }

// Fingerprint implements [Embedder].
func (n *native) Fingerprint() string { return n.print }

// Close implements [Embedder].
func (n *native) Close() error {
	n.model.Store(nil)
	return nil
}
