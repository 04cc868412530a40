package vector

import (
	"context"
	"errors"
	"io/fs"
	"math"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
)

// TestHugotEqualsNative compares two implementations that share nothing but
// the tokenizer.
func TestHugotEqualsNative(t *testing.T) {
	for _, family := range []string{"bert", "xlm-roberta"} {
		for _, pooling := range []string{"cls", "mean"} {
			b := newTinyBERT()
			b.config.Type, b.config.Pad = family, 3
			native, general := b.open(t, pooling, Options{}), b.open(t, pooling, Options{Engine: "hugot"})
			if native.Dim() != general.Dim() || native.Fingerprint() == general.Fingerprint() {
				t.Errorf("dimensions %d and %d, fingerprints %s and %s", native.Dim(), general.Dim(), native.Fingerprint(), general.Fingerprint())
			}
			for _, kind := range []Kind{Passage, Query} {
				want, err := native.Embed(context.Background(), bertTexts, kind)
				if err != nil {
					t.Fatal(err)
				}
				got, err := general.Embed(context.Background(), bertTexts, kind)
				if err != nil {
					t.Fatal(err)
				}
				for i := range got {
					if cos := Dot(got[i], want[i]); cos < 1-1e-6 {
						t.Errorf("%s, %s: the vectors of %q have the cosine %v", family, pooling, bertTexts[i], cos)
					}
				}
			}
		}
	}
}

func TestHugotBits(t *testing.T) {
	b := newTinyBERT()
	e := b.open(t, "mean", Options{Engine: "hugot"})
	want, err := e.Embed(context.Background(), bertTexts, Passage)
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() {
			for i, text := range bertTexts {
				got, err := e.Embed(context.Background(), []string{text}, Passage)
				if err != nil || !slices.Equal(got[0], want[i]) {
					t.Errorf("%q alone, among others at work: another vector, %v", text, err)
				}
			}
		})
	}
	wg.Wait()
}

// TestHugotOneProcessor runs where the library, as it comes, stops for ever.
func TestHugotOneProcessor(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	embed1(t, newTinyBERT().open(t, "cls", Options{Engine: "hugot"}), "a dog")
}

// TestHugotOtherGraphs has what the native engine leaves to the general one.
func TestHugotOtherGraphs(t *testing.T) {
	b := newTinyBERT()
	b.config.Type = "nomic_bert"
	e := b.open(t, "cls", Options{})
	if !strings.HasPrefix(e.Fingerprint(), "hugot/1 ") {
		t.Errorf("another family is run by %s", e.Fingerprint())
	}
	b = newTinyBERT()
	want := embed1(t, b.open(t, "cls", Options{}), "a dog, a cat")
	b.pooled = true
	b.edit = func(w *onnxWriter, states string) string {
		w.integers("firstToken", nil, 0)
		return w.opWith("Gather", [][]byte{onnxInt("axis", 1)}, states, "firstToken")
	}
	pooled := b.open(t, "", Options{Engine: "hugot"})
	if cos := Dot(embed1(t, pooled, "a dog, a cat"), want); cos < 1-1e-6 {
		t.Errorf("a graph that pools itself gives a vector with the cosine %v", cos)
	}
}

func TestHugotLongTexts(t *testing.T) {
	e := newTinyBERT().open(t, "mean", Options{Engine: "hugot"})
	long, cut := embed1(t, e, strings.Repeat("dog ", 100000)), embed1(t, e, strings.Repeat("dog ", 30))
	if !slices.Equal(long, cut) {
		t.Error("a text of 100,000 words is not cut")
	}
	if v := embed1(t, e, ""); len(v) != 24 {
		t.Errorf("the vector of nothing is %v", v)
	}
	e.Close()
	if _, err := e.Embed(context.Background(), []string{"a"}, Passage); !errors.Is(err, ErrClosed) {
		t.Errorf("Embed after Close: %v, want ErrClosed", err)
	}
	if err := e.Close(); err != nil {
		t.Errorf("the second Close: %v", err)
	}
}

func TestHugotRefuses(t *testing.T) {
	edit := func(f func(w *onnxWriter, states string) string) func(*tinyBERT) {
		return func(b *tinyBERT) { b.edit = f }
	}
	bomb := func(shape ...int64) func(*tinyBERT) {
		return edit(func(w *onnxWriter, states string) string {
			w.integers("bomb", []int{len(shape)}, shape...)
			value := append(field(field(nil, 1, []byte("value")), attributeTensor, onnxTensor("", []int{1}, []float32{1})), 0xA0, 1, 4)
			return w.op("Add", states, w.op("ReduceMean", w.opWith("ConstantOfShape", [][]byte{value}, "bomb")))
		})
	}
	for name, c := range map[string]struct {
		model func(b *tinyBERT)
		want  error
		says  string
	}{
		"other inputs":   {func(b *tinyBERT) { b.inputs = []string{"past_key_values"} }, ErrUnsupported, "past_key_values"},
		"NaN":            {func(b *tinyBERT) { b.weights["encoder.layer.1.output.dense.weight"][7] = float32(math.NaN()) }, ErrModel, "not finite"},
		"huge numbers":   {bomb(1 << 40), ErrUnsupported, "1099511627776"},
		"to the end":     {bomb(math.MaxInt64), ErrUnsupported, "hugot"},
		"huge shape":     {bomb(1<<14, 1<<14, 1<<14), ErrUnsupported, "16384"},
		"large and many": {bomb(1<<14, 1<<14), ErrUnsupported, "too much"},
		"grown in steps": {edit(func(w *onnxWriter, states string) string {
			w.integers("times", []int{3}, 1, 1<<12, 1)
			return w.op("Tile", w.op("Tile", states, "times"), "times")
		}), ErrUnsupported, "too much"},
		"a shape of lies": {func(b *tinyBERT) {
			b.shapes["embeddings.word_embeddings.weight"] = []int{1 << 30, 24}
		}, ErrModel, "bytes"},
		"quantized": {edit(func(w *onnxWriter, states string) string {
			return w.op("DequantizeLinear", w.op("MatMulInteger", states))
		}), ErrUnsupported, "quantized"},
		"unknown operation": {edit(func(w *onnxWriter, states string) string { return w.op("Frobnicate", states) }), ErrUnsupported, "Frobnicate"},
		"a missing input":   {edit(func(w *onnxWriter, states string) string { return w.op("Add", states, "nowhere") }), ErrUnsupported, "nowhere"},
		"shapes at odds": {edit(func(w *onnxWriter, states string) string {
			w.initializer(onnxTensor("seven", []int{7}, make([]float32, 7)))
			return w.op("Add", states, "seven")
		}), ErrUnsupported, "first run"},
		"control flow": {edit(func(w *onnxWriter, states string) string {
			return w.opWith("If", [][]byte{field(nil, attributeGraph, nil)}, states)
		}), ErrUnsupported, "graphs within graphs"},
		"another file": {edit(func(w *onnxWriter, states string) string {
			w.initializer(field(onnxTensor("far", []int{1}, []float32{1}), tensorExternal, nil))
			return states
		}), ErrUnsupported, "another file"},
		"one vector for all": {edit(func(w *onnxWriter, states string) string {
			return w.opWith("ReduceMean", [][]byte{onnxInts("axes", 1)}, states)
		}), ErrUnsupported, "the graph gives [1 1 24]"},
		"wrong tokenizer": {func(b *tinyBERT) { b.config.Vocab = 20 }, ErrModel, "not of one model"},
		"one position":    {func(b *tinyBERT) { b.config.Positions = 2 }, ErrModel, "no room"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newTinyBERT()
			c.model(b)
			_, err := Open(modelDir(t, b.files("mean")...), Options{Engine: "hugot"})
			if !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("got %v; want %v saying %q", err, c.want, c.says)
			}
		})
	}
}

// TestHugotDamage cuts and flips the file everywhere: errors, no more.
func TestHugotDamage(t *testing.T) {
	src := newTinyBERT().onnx()
	for i := 0; i < len(src); i += 1 + len(src)/40 {
		h := &hugot{}
		flipped := slices.Clone(src)
		flipped[i] ^= 0x55
		for _, damaged := range [][]byte{src[:i], flipped} {
			if checkGraph(damaged) == nil && h.load(damaged) == nil {
				h.Close()
			}
		}
	}
}

func TestEngineByLock(t *testing.T) {
	for engine, want := range map[string]string{"": "native/1", "native": "native/1", "hugot": "hugot/1", "static": "native/1", "torch": ""} {
		files := append(newTinyBERT().files("cls"), LockName, []byte(`{"engine":"`+engine+`"}`))
		e, err := Open(modelDir(t, files...), Options{})
		if want == "" {
			if !errors.Is(err, ErrUnsupported) {
				t.Errorf("%s: %v", engine, err)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(e.Fingerprint(), want) {
			t.Errorf("the engine %q is %s", engine, e.Fingerprint())
		}
		e.Close()
	}
}

func TestCompare(t *testing.T) {
	b := newTinyBERT()
	cosine, err := Compare(context.Background(), modelDir(t, b.files("cls")...), Options{})
	if err != nil || cosine < MinAgreement || cosine > 1+1e-6 {
		t.Errorf("the engines agree to %v, %v", cosine, err)
	}
	cosine, err = Compare(context.Background(), modelDir(t, TinyFiles(true)...), Options{})
	if err != nil || cosine >= MinAgreement {
		t.Errorf("a graph that native gets wrong: %v, %v", cosine, err)
	}
	b.config.Type = "nomic_bert"
	if _, err := Compare(context.Background(), modelDir(t, b.files("cls")...), Options{}); !errors.Is(err, ErrNothingToCompare) {
		t.Errorf("a graph for the general engine alone: %v", err)
	}
	if _, err := Compare(context.Background(), t.TempDir(), Options{}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no model: %v", err)
	}
}

func FuzzCheckGraph(f *testing.F) {
	f.Add(newTinyBERT().onnx())
	f.Add(field(nil, modelGraph, field(nil, graphInitializer, onnxIntegers("x", []int{2}, 1<<20, 1<<20))))
	f.Fuzz(func(t *testing.T, src []byte) { checkGraph(src) })
}
