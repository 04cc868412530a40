package vector

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"sync/atomic"
)

// staticTokens is how many tokens of a text count, unless the caller says
// otherwise: what Model2Vec itself does.
const staticTokens = 512

// static is a Model2Vec model: a vector for each token, and a text's is their
// weighted sum. Tokens may share vectors. Whatever the model's configuration
// says, the sum is scaled to length 1.
//
// The sums are made in float64, in the order of the text, without fused
// operations: every processor gives the same bits.
type static struct {
	table atomic.Pointer[staticTable]
	dim   int
	print string
	opts  Options
}

type staticTable struct {
	tokenizer *tokenizer
	rows      tensor
	row       []int32   // of a token; nil if they are the same
	weight    []float64 // of a token; nil if all are 1
}

// staticRows returns the tensor of a Model2Vec table, under the names that
// Model2Vec and Sentence Transformers give it.
func staticRows(tensors map[string]tensor) (tensor, bool) {
	for _, name := range []string{"embeddings", "embedding.weight"} {
		if t, ok := tensors[name]; ok && len(t.shape) == 2 {
			return t, true
		}
	}
	return tensor{}, false
}

func openStatic(f modelFiles, tensors map[string]tensor, model [sha256.Size]byte, opts Options) (Embedder, error) {
	tok, err := f.tokenizer()
	if err != nil {
		return nil, err
	}
	table, err := newStaticTable(tensors, tok)
	if err != nil {
		return nil, fmt.Errorf("%w: model.safetensors: %w", ErrModel, err)
	}
	if opts.MaxTokens <= 0 {
		opts.MaxTokens = staticTokens
	}
	s := &static{dim: table.rows.shape[1], opts: opts}
	s.print = fmt.Sprintf("static/1 model=%x tokenizer=%x/%d pooling=sum norm=l2 tokens=%d query=%q passage=%q numerics=f64",
		model, tok.hash, tokenizerVersion, opts.MaxTokens, opts.QueryPrefix, opts.PassagePrefix)
	s.table.Store(table)
	return s, nil
}

func newStaticTable(tensors map[string]tensor, tok *tokenizer) (*staticTable, error) {
	rows, _ := staticRows(tensors)
	if !rows.isFloat() {
		return nil, fmt.Errorf("embeddings are %s", rows.dtype)
	}
	if d := rows.shape[1]; d < 1 || d > maxDim {
		return nil, fmt.Errorf("vectors of %d dimensions", d)
	}
	if err := rows.finite(); err != nil {
		return nil, fmt.Errorf("embeddings: %w", err)
	}
	t := &staticTable{tokenizer: tok, rows: rows}
	if err := t.readMapping(tensors); err != nil {
		return nil, fmt.Errorf("mapping: %w", err)
	}
	tokens := rows.shape[0]
	if t.row != nil {
		tokens = len(t.row)
	}
	if tok.size != tokens {
		return nil, fmt.Errorf("it has vectors for %d tokens, but tokenizer.json has %d: they are not of one model", tokens, tok.size)
	}
	if err := t.readWeights(tensors, tokens); err != nil {
		return nil, fmt.Errorf("weights: %w", err)
	}
	return t, nil
}

func (t *staticTable) readMapping(tensors map[string]tensor) error {
	m, ok := tensors["mapping"]
	if !ok {
		return nil
	}
	if m.isFloat() {
		return fmt.Errorf("they are %s", m.dtype)
	}
	t.row = make([]int32, m.len())
	for i := range t.row {
		r := m.index(i)
		if r < 0 || r >= int64(t.rows.shape[0]) {
			return fmt.Errorf("token %d has vector %d of %d", i, r, t.rows.shape[0])
		}
		t.row[i] = int32(r)
	}
	return nil
}

func (t *staticTable) readWeights(tensors map[string]tensor, tokens int) error {
	w, ok := tensors["weights"]
	if !ok {
		return nil
	}
	if !w.isFloat() || w.len() != tokens {
		return fmt.Errorf("%d numbers of type %s for %d tokens", w.len(), w.dtype, tokens)
	}
	if err := w.finite(); err != nil {
		return err
	}
	t.weight = make([]float64, tokens)
	for i := range t.weight {
		t.weight[i] = w.at(i)
	}
	return nil
}

// Embed implements [Embedder].
func (s *static) Embed(ctx context.Context, texts []string, kind Kind) ([][]float32, error) {
	table := s.table.Load()
	if table == nil {
		return nil, ErrClosed
	}
	prefix := s.opts.prefix(kind)
	return embedEach(ctx, texts, workersOr(s.opts.Workers), func(text string) ([]float32, error) {
		return unit(table.sum(table.tokenizer.tokens(prefix+text, s.opts.MaxTokens)))
	})
}

// sum adds up the vectors of the tokens, but of the unknown one.
func (t *staticTable) sum(tokens []int32) []float64 {
	acc := make([]float64, t.rows.shape[1])
	for _, id := range tokens {
		if id == t.tokenizer.unknown {
			continue
		}
		row, weight := id, 1.0
		if t.row != nil {
			row = t.row[id]
		}
		if t.weight != nil {
			weight = t.weight[id]
		}
		t.addRow(acc, int(row), weight)
	}
	return acc
}

// addRow adds weight times row to acc.
func (t *staticTable) addRow(acc []float64, row int, weight float64) {
	n := len(acc)
	if t.rows.dtype != "F32" {
		for i := range acc {
			acc[i] += float64(weight * t.rows.at(row*n+i))
		}
		return
	}
	data := t.rows.data[4*row*n:][:4*n]
	for i := range acc {
		x := math.Float32frombits(binary.LittleEndian.Uint32(data[4*i : 4*i+4]))
		acc[i] += float64(weight * float64(x)) // converted, so that nothing is fused
	}
}

// Dim implements [Embedder].
func (s *static) Dim() int { return s.dim }

// Fingerprint implements [Embedder].
func (s *static) Fingerprint() string { return s.print }

// Close implements [Embedder].
func (s *static) Close() error {
	s.table.Store(nil)
	return nil
}
