package vector

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// shared returns the path of a file of the shared data, or skips the test.
func shared(tb testing.TB, path ...string) string {
	tb.Helper()
	root := os.Getenv("KB_SHARED")
	if root == "" {
		root = filepath.Join("..", "..", "shared")
	}
	name := filepath.Join(append([]string{root, "data"}, path...)...)
	if _, err := os.Stat(name); err != nil {
		tb.Skipf("needs the shared data: set KB_SHARED (%v)", err)
	}
	return name
}

// m2v opens the real model of the shared data.
func m2v(tb testing.TB, opts Options) Embedder {
	tb.Helper()
	e, err := Open(shared(tb, "models", "m2v-bge64-vq128"), opts)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { e.Close() })
	return e
}

func embed1(tb testing.TB, e Embedder, text string) []float32 {
	tb.Helper()
	out, err := e.Embed(context.Background(), []string{text}, Passage)
	if err != nil {
		tb.Fatal(err)
	}
	return out[0]
}

func TestStaticEqualsItsAuthors(t *testing.T) {
	e := m2v(t, Options{})
	src, err := os.ReadFile(shared(t, "models", "m2v-bge64-vq128", "expected_hello_x1000.json"))
	if err != nil {
		t.Fatal(err)
	}
	var want [][]float64
	if err := json.Unmarshal(src, &want); err != nil {
		t.Fatal(err)
	}
	got := embed1(t, e, strings.Repeat("hello ", 1000))
	for i, x := range want[0] {
		if math.Abs(x-float64(got[i])) > 1e-7 {
			t.Errorf("dimension %d: got %v, want %v", i, got[i], x)
		}
	}
	if got, want := e.Dim(), len(want[0]); got != want {
		t.Errorf("Dim() = %d, want %d", got, want)
	}
}

func TestStaticKnowsWhatIsAlike(t *testing.T) {
	e := m2v(t, Options{})
	vecs, err := e.Embed(context.Background(), []string{"the dog sleeps", "a cat is sleeping", "interest rates and inflation"}, Passage)
	if err != nil {
		t.Fatal(err)
	}
	if near, far := Dot(vecs[0], vecs[1]), Dot(vecs[0], vecs[2]); near < far+0.1 {
		t.Errorf("dog and cat %.3f, dog and inflation %.3f", near, far)
	}
}

// safetensors writes a file of tensors; build lists name, type, shape and numbers.
func safetensors(build ...any) []byte {
	header, body := map[string]any{"__metadata__": map[string]string{"format": "pt"}}, []byte{}
	for i := 0; i < len(build); i += 4 {
		start := len(body)
		body, _ = binary.Append(body, binary.LittleEndian, build[i+3])
		header[build[i].(string)] = map[string]any{"dtype": build[i+1], "shape": build[i+2], "data_offsets": [2]int{start, len(body)}}
	}
	head, err := json.Marshal(header)
	if err != nil {
		panic(err)
	}
	return append(append(binary.LittleEndian.AppendUint64(nil, uint64(len(head))), head...), body...)
}

// modelDir writes the files of a model: names and contents in turn.
func modelDir(tb testing.TB, files ...any) string {
	tb.Helper()
	dir := tb.TempDir()
	for i := 0; i < len(files); i += 2 {
		name := filepath.Join(dir, filepath.FromSlash(files[i].(string)))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			tb.Fatal(err)
		}
		if err := os.WriteFile(name, files[i+1].([]byte), 0o644); err != nil {
			tb.Fatal(err)
		}
	}
	return dir
}

// abJSON knows the words a (token 1) and b (token 2).
var abJSON = unigramJSON(false, scored{"▁a", -1}, scored{"▁b", -1})

func TestStaticLayouts(t *testing.T) {
	shape := []int{3, 2}
	for _, c := range []struct {
		name string
		file []byte
		want []float32 // of "a b x"
	}{
		{"F32", safetensors("embeddings", "F32", shape, []float32{9, 9, 1, 0, 0, 1}), []float32{1, 1}},
		{"F64", safetensors("embeddings", "F64", shape, []float64{9, 9, 1, 0, 0, 1}), []float32{1, 1}},
		{"F16", safetensors("embeddings", "F16", shape, []uint16{0, 0, 0x3C00, 0, 0, 0xC000}), []float32{1, -2}},
		{"F16 subnormal", safetensors("embeddings", "F16", shape, []uint16{0, 0, 1, 0, 0, 0x8003}), []float32{1, -3}},
		{"BF16", safetensors("embeddings", "BF16", shape, []uint16{0, 0, 0x3F80, 0, 0, 0xC040}), []float32{1, -3}},
		{"I8", safetensors("embeddings", "I8", shape, []int8{9, 9, 127, 0, 0, -127}), []float32{1, -1}},
		{"Sentence Transformers", safetensors("embedding.weight", "F32", shape, []float32{9, 9, 1, 0, 0, 1}), []float32{1, 1}},
		{"weights", safetensors("embeddings", "F32", shape, []float32{9, 9, 1, 0, 0, 1}, "weights", "F64", []int{3}, []float64{5, 3, 4}), []float32{3, 4}},
		{"mapping", safetensors("embeddings", "F32", []int{2, 2}, []float32{0, 1, 1, 0}, "mapping", "I32", []int{3}, []int32{0, 1, 0},
			"weights", "F32", []int{3}, []float32{5, 3, 4}), []float32{3, 4}},
		{"mapping I64", safetensors("embeddings", "F32", []int{2, 2}, []float32{0, 1, 1, 0}, "mapping", "I64", []int{3}, []int64{0, 0, 0}), []float32{0, 1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			e, err := Open(modelDir(t, "model.safetensors", c.file, "tokenizer.json", abJSON), Options{})
			if err != nil {
				t.Fatal(err)
			}
			want, err := unit([]float64{float64(c.want[0]), float64(c.want[1])})
			if err != nil {
				t.Fatal(err)
			}
			if got := embed1(t, e, "a b x"); !slices.Equal(got, want) {
				t.Errorf("got %v, want %v", got, want)
			}
			if got := embed1(t, e, "x"); !slices.Equal(got, []float32{0, 0}) {
				t.Errorf("unknown text: got %v, want zeros", got)
			}
		})
	}
}

func TestHalfToFloat(t *testing.T) {
	for half, want := range map[uint16]float32{0: 0, 1: 1.0 / (1 << 24), 0x0400: 1.0 / (1 << 14), 0x3C00: 1, 0x3555: 0.33325195, 0x7BFF: 65504, 0xC000: -2, 0xFC00: float32(math.Inf(-1))} {
		if got := halfToFloat(half); got != want {
			t.Errorf("halfToFloat(%#x) = %v, want %v", half, got, want)
		}
	}
	if got := halfToFloat(0x7E00); got == got {
		t.Errorf("halfToFloat(NaN) = %v", got)
	}
}

func TestOpenRefuses(t *testing.T) {
	nan := float32(math.NaN())
	rows, three := []float32{9, 9, 1, 0, 0, 1}, []int{3, 2}
	good := safetensors("embeddings", "F32", three, rows)
	huge := []byte(`{"embeddings":{"dtype":"F32","shape":[4611686018427387904,4],"data_offsets":[0,0]}}`)
	for _, c := range []struct {
		name  string
		files []any
		want  error
		says  string
	}{
		{"nothing", nil, fs.ErrNotExist, "model"},
		{"no tokenizer", []any{"model.safetensors", good}, ErrModel, "tokenizer.json is missing"},
		{"empty", []any{"model.safetensors", []byte{}}, ErrModel, "truncated"},
		{"truncated header", []any{"model.safetensors", good[:40]}, ErrModel, "truncated"},
		{"truncated rows", []any{"model.safetensors", good[:len(good)-1]}, ErrModel, "truncated"},
		{"not safetensors", []any{"model.safetensors", []byte("version https://git-lfs.github.com/spec/v1\n")}, ErrModel, "no safetensors"},
		{"huge shape", []any{"model.safetensors", append(binary.LittleEndian.AppendUint64(nil, uint64(len(huge))), huge...)}, ErrModel, `"embeddings"`},
		{"wrong shape", []any{"model.safetensors", safetensors("embeddings", "F32", []int{3, 3}, rows)}, ErrModel, "bytes"},
		{"an encoder's weights", []any{"model.safetensors", safetensors("encoder.weight", "F32", three, rows)}, ErrUnsupported, "no table"},
		{"NaN", []any{"model.safetensors", safetensors("embeddings", "F32", three, []float32{9, 9, 1, nan, 0, 1}), "tokenizer.json", abJSON}, ErrModel, "number 3 is NaN"},
		{"NaN weight", []any{"model.safetensors", safetensors("embeddings", "F32", three, rows, "weights", "F32", []int{3}, []float32{1, nan, 1}), "tokenizer.json", abJSON}, ErrModel, "number 1 is NaN"},
		{"few weights", []any{"model.safetensors", safetensors("embeddings", "F32", three, rows, "weights", "F32", []int{2}, []float32{1, 1}), "tokenizer.json", abJSON}, ErrModel, "2 numbers"},
		{"mapping out of range", []any{"model.safetensors", safetensors("embeddings", "F32", three, rows, "mapping", "I32", []int{3}, []int32{0, 3, 0}), "tokenizer.json", abJSON}, ErrModel, "vector 3 of 3"},
		{"mapping of floats", []any{"model.safetensors", safetensors("embeddings", "F32", three, rows, "mapping", "F32", []int{3}, []float32{0, 0, 0}), "tokenizer.json", abJSON}, ErrModel, "mapping"},
		{"rows of integers", []any{"model.safetensors", safetensors("embeddings", "I32", three, []int32{0, 1, 2, 3, 4, 5}), "tokenizer.json", abJSON}, ErrModel, "I32"},
		{"no dimensions", []any{"model.safetensors", safetensors("embeddings", "F32", []int{3, 0}, []float32{}), "tokenizer.json", abJSON}, ErrModel, "0 dimensions"},
		{"wrong tokenizer", []any{"model.safetensors", good, "tokenizer.json", unigramJSON(false, scored{"▁a", -1})}, ErrModel, "not of one model"},
		{"broken tokenizer", []any{"model.safetensors", good, "tokenizer.json", abJSON[:50]}, ErrModel, "tokenizer.json"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Open(modelDir(t, c.files...), Options{})
			if !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("got %v; want %v saying %q", err, c.want, c.says)
			}
		})
	}
}

func TestEmbedderContract(t *testing.T) {
	file := safetensors("embeddings", "F32", []int{3, 2}, []float32{9, 9, 1, 0, 0, 1})
	e, err := Open(modelDir(t, "model.safetensors", file, "tokenizer.json", abJSON), Options{QueryPrefix: "b ", MaxTokens: 2})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		kind Kind
		text string
		want []float32
	}{
		{Passage, "a", []float32{1, 0}},
		{Query, "a", []float32{0.70710677, 0.70710677}},
		{Passage, "a a b b b", []float32{1, 0}},
		{Passage, "", []float32{0, 0}},
	} {
		out, err := e.Embed(context.Background(), []string{c.text}, c.kind)
		if err != nil || !slices.Equal(out[0], c.want) {
			t.Errorf("Embed(%q, %d) = %v, %v; want %v", c.text, c.kind, out, err, c.want)
		}
	}
	if out, err := e.Embed(context.Background(), nil, Passage); err != nil || len(out) != 0 {
		t.Errorf("Embed of nothing = %v, %v", out, err)
	}
	stopped, stop := context.WithCancel(context.Background())
	stop()
	if _, err := e.Embed(stopped, []string{"a"}, Passage); !errors.Is(err, context.Canceled) {
		t.Errorf("Embed after its context ended: %v", err)
	}
	if err := errors.Join(e.Close(), e.Close()); err != nil {
		t.Fatal(err)
	}
	if _, err := e.Embed(context.Background(), []string{"a"}, Passage); !errors.Is(err, ErrClosed) {
		t.Errorf("Embed after Close: %v, want ErrClosed", err)
	}
}

// TestFingerprintsDiffer changes each thing that vectors depend on.
func TestFingerprintsDiffer(t *testing.T) {
	file := func(x float32) []byte {
		return safetensors("embeddings", "F32", []int{3, 2}, []float32{9, 9, 1, 0, 0, x})
	}
	other := unigramJSON(false, scored{"▁a", -1}, scored{"▁c", -1})
	seen := make(map[string]int)
	for i, c := range []struct {
		model, tokenizer []byte
		opts             Options
	}{
		{file(1), abJSON, Options{}},
		{file(2), abJSON, Options{}},
		{file(1), other, Options{}},
		{file(1), abJSON, Options{MaxTokens: 7}},
		{file(1), abJSON, Options{QueryPrefix: "q "}},
		{file(1), abJSON, Options{PassagePrefix: "q "}},
	} {
		dir := modelDir(t, "model.safetensors", c.model, "tokenizer.json", c.tokenizer)
		for _, workers := range []int{1, 3} {
			c.opts.Workers = workers
			e, err := Open(dir, c.opts)
			if err != nil {
				t.Fatal(err)
			}
			if j, ok := seen[e.Fingerprint()]; ok && j != i {
				t.Errorf("cases %d and %d have the fingerprint %s", i, j, e.Fingerprint())
			} else if !ok && workers > 1 {
				t.Errorf("case %d: the number of workers changes the fingerprint", i)
			}
			seen[e.Fingerprint()] = i
		}
	}
}

func TestWorkersDoNotMatter(t *testing.T) {
	var texts []string
	for i := range 50 {
		texts = append(texts, strings.Repeat("abc xyz ", i)+strings.Repeat("é", i%3))
	}
	want, err := Letters{}.Embed(context.Background(), texts, Passage)
	if err != nil {
		t.Fatal(err)
	}
	for _, workers := range []int{2, 7, 100} {
		got, err := embedEach(context.Background(), texts, workers, func(s string) ([]float32, error) {
			out, err := Letters{}.Embed(context.Background(), []string{s}, Passage)
			return out[0], err
		})
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%d workers: the vectors differ (%v)", workers, err)
		}
	}
}

func FuzzSafetensors(f *testing.F) {
	f.Add(safetensors("embeddings", "F16", []int{1, 2}, []uint16{0x7C00, 1}, "mapping", "I64", []int{1}, []int64{-1}))
	f.Add(safetensors("embeddings", "F32", []int{3, 2}, []float32{9, 9, 1, 0, 0, 1}, "weights", "F64", []int{3}, []float64{1, 2, 3}))
	tok := mustParse(f, abJSON)
	f.Fuzz(func(t *testing.T, src []byte) {
		tensors, err := parseSafetensors(src)
		if err != nil {
			return
		}
		if _, ok := staticRows(tensors); !ok {
			return
		}
		if table, err := newStaticTable(tensors, tok); err == nil {
			table.sum([]int32{0, 1, 2})
		}
	})
}
