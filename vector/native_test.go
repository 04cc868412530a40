package vector

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
)

var bertTexts = []string{"", "dog", "dog cat", "a dog, a cat and é", strings.Repeat("tax law ", 30), "中", "CAFÉ Dog"}

func TestNativeEqualsReference(t *testing.T) {
	b := newTinyBERT()
	tok := mustParse(t, wordPieceJSON(b.vocab, true))
	for _, family := range []string{"bert", "xlm-roberta"} {
		b.config.Type, b.config.Pad = family, 3
		for _, pooling := range []string{"cls", "mean"} {
			e := b.open(t, pooling, Options{})
			got, err := e.Embed(context.Background(), bertTexts, Passage)
			if err != nil {
				t.Fatal(err)
			}
			for i, text := range bertTexts {
				states := b.reference(tok.framed(text, 32))
				if pooling == "cls" {
					states = states[:1]
				}
				sum := make([]float64, b.config.Hidden)
				for _, row := range states {
					for j, x := range row {
						sum[j] += x
					}
				}
				want, err := unit(sum)
				if err != nil {
					t.Fatal(err)
				}
				if cos := Dot(got[i], want); cos < 1-1e-6 {
					t.Errorf("%s, %s: the vector of %q has the cosine %v with the reference", family, pooling, text, cos)
				}
			}
		}
	}
}

// TestNativeBits holds vectors to the bit: on every processor that fuses, for
// any number of workers, alone or among others.
func TestNativeBits(t *testing.T) {
	b := newTinyBERT()
	want, err := b.open(t, "mean", Options{Workers: 1}).Embed(context.Background(), bertTexts, Passage)
	if err != nil {
		t.Fatal(err)
	}
	for _, workers := range []int{2, 3, 16} {
		e := b.open(t, "mean", Options{Workers: workers})
		for range 2 {
			got, err := e.Embed(context.Background(), bertTexts, Passage)
			if err != nil || !reflect.DeepEqual(got, want) {
				t.Fatalf("%d workers give other vectors (%v)", workers, err)
			}
		}
		for i, text := range bertTexts {
			if got := embed1(t, e, text); !slices.Equal(got, want[i]) {
				t.Fatalf("%d workers: %q alone has another vector", workers, text)
			}
		}
	}
	raw, _ := binary.Append(nil, binary.LittleEndian, slices.Concat(want...))
	sum := map[string]string{
		"f32-fma": "9bbae446dccebd0ccf84059c8252b8d187081154d0cbb9c49043845cb45baedb",
		"f32":     "4ac194035bb439abeae9cfbd390dfae59e6c13a2d3577dd07b39dd68cd951782",
	}[numerics()]
	if got := fmt.Sprintf("%x", sha256.Sum256(raw)); got != sum {
		t.Errorf("vectors with numerics %s hash to %s; if they should change, so must the engine's version in fingerprints", numerics(), got)
	}
}

func TestNativeConfiguration(t *testing.T) {
	b := newTinyBERT()
	e := b.open(t, "cls", Options{})
	for _, part := range []string{"native/1", "pooling=cls", "tokens=32", `query="tax "`, `passage=""`, numerics()} {
		if !strings.Contains(e.Fingerprint(), part) {
			t.Errorf("the fingerprint %s lacks %s", e.Fingerprint(), part)
		}
	}
	query, err := e.Embed(context.Background(), []string{"law"}, Query)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(query[0], embed1(t, e, "tax law")) {
		t.Error("a query has not the prefix of config_sentence_transformers.json")
	}
	long, cut := embed1(t, e, strings.Repeat("dog ", 100000)), embed1(t, e, strings.Repeat("dog ", 30))
	if !slices.Equal(long, cut) {
		t.Error("a long text is not cut at max_seq_length")
	}
	mean := b.open(t, "cls", Options{Pooling: "mean", MaxTokens: 8, QueryPrefix: "q", PassagePrefix: "p"})
	for _, part := range []string{"pooling=mean", "tokens=8", `query="q"`, `passage="p"`} {
		if !strings.Contains(mean.Fingerprint(), part) {
			t.Errorf("the options do not win: the fingerprint %s lacks %s", mean.Fingerprint(), part)
		}
	}
	e.Close()
	if _, err := e.Embed(context.Background(), []string{"a"}, Passage); !errors.Is(err, ErrClosed) {
		t.Errorf("Embed after Close: %v, want ErrClosed", err)
	}
}

func TestNativeRefuses(t *testing.T) {
	for _, c := range []struct {
		name  string
		model func(b *tinyBERT)
		files func(f map[string][]byte)
		want  error
		says  string
	}{
		{"no config", nil, func(f map[string][]byte) { delete(f, "config.json") }, ErrModel, "config.json is missing"},
		{"no tokenizer", nil, func(f map[string][]byte) { delete(f, "tokenizer.json") }, ErrModel, "tokenizer.json is missing"},
		{"no pooling", nil, func(f map[string][]byte) { delete(f, "1_Pooling/config.json") }, ErrModel, "pool"},
		{"broken pooling", nil, func(f map[string][]byte) { f["1_Pooling/config.json"] = []byte("{") }, ErrModel, "1_Pooling"},
		{"truncated", nil, func(f map[string][]byte) { f["onnx/model.onnx"] = f["onnx/model.onnx"][:5000] }, ErrModel, "truncated"},
		{"not ONNX", nil, func(f map[string][]byte) { f["onnx/model.onnx"] = []byte("version https://git-lfs") }, ErrModel, "ONNX"},
		{"empty", nil, func(f map[string][]byte) { f["onnx/model.onnx"] = nil }, ErrModel, "no graph"},
		{"wrong tokenizer", nil, func(f map[string][]byte) {
			f["tokenizer.json"] = wordPieceJSON(append(newTinyBERT().vocab, "x1"), true)
		}, ErrModel, "not of one model"},
		{"no frame", nil, func(f map[string][]byte) {
			f["tokenizer.json"] = []byte(strings.Replace(string(f["tokenizer.json"]), "BertProcessing", "", 1))
		}, ErrModel, "frame"},
		{"another family", func(b *tinyBERT) { b.config.Type = "nomic_bert" }, nil, ErrUnsupported, "nomic_bert"},
		{"another activation", func(b *tinyBERT) { b.config.Act = "silu" }, nil, ErrUnsupported, "silu"},
		{"other positions", func(b *tinyBERT) { b.config.Position = "rotary" }, nil, ErrUnsupported, "rotary"},
		{"another dimension", func(b *tinyBERT) { b.config.Hidden = 48 }, nil, ErrModel, "shape"},
		{"huge dimension", func(b *tinyBERT) { b.config.Hidden = 1 << 30 }, nil, ErrModel, "impossible"},
		{"uneven heads", func(b *tinyBERT) { b.config.Heads = 5 }, nil, ErrModel, "impossible"},
		{"one position", func(b *tinyBERT) {
			b.config.Positions = 1
			b.random("embeddings.position_embeddings.weight", 1, 1, b.config.Hidden)
		}, nil, ErrModel, "no room"},
		{"too many layers", func(b *tinyBERT) { b.layers = 2; b.config.Layers = 3 }, nil, ErrUnsupported, "encoder.layer.2"},
		{"NaN", func(b *tinyBERT) {
			b.weights["encoder.layer.1.output.dense.weight"][7] = float32(math.NaN())
		}, nil, ErrModel, "number 7 is NaN"},
		{"infinity", func(b *tinyBERT) {
			b.weights["embeddings.LayerNorm.bias"][3] = float32(math.Inf(1))
		}, nil, ErrModel, "number 3 is +Inf"},
		{"huge shape", func(b *tinyBERT) {
			b.shapes["encoder.layer.0.output.dense.weight"] = []int{1 << 30, 1 << 30}
		}, nil, ErrModel, "shape"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newTinyBERT()
			if c.model != nil {
				c.model(b)
			}
			files := make(map[string][]byte)
			for list := b.files("cls"); len(list) > 0; list = list[2:] {
				files[list[0].(string)] = list[1].([]byte)
			}
			if c.files != nil {
				c.files(files)
			}
			var list []any
			for name, src := range files {
				list = append(list, name, src)
			}
			_, err := Open(modelDir(t, list...), Options{Engine: "native"})
			if !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("got %v; want %v saying %q", err, c.want, c.says)
			}
		})
	}
}

// TestNativeOverflow has finite weights whose states are not.
func TestNativeOverflow(t *testing.T) {
	b := newTinyBERT()
	for _, name := range []string{"encoder.layer.0.intermediate.dense.weight", "encoder.layer.0.attention.self.query.weight", "encoder.layer.0.attention.self.value.weight"} {
		for i := range b.weights[name] {
			b.weights[name][i] = math.MaxFloat32
		}
	}
	_, err := b.open(t, "mean", Options{}).Embed(context.Background(), []string{"dog"}, Passage)
	if err == nil || !strings.Contains(err.Error(), "not finite") {
		t.Errorf("got %v, want an error saying that the vector is not finite", err)
	}
}

// TestMatrixKernels compares the processor's kernel with the plain one.
func TestMatrixKernels(t *testing.T) {
	b := newTinyBERT()
	for _, k := range []int{0, 1, 7, 384} {
		b.random("a", 1, max(k, 1), tileRows)
		b.random("b", 1, max(k, 1), tileCols)
		b.random("c", 1, tileRows, tileCols)
		got, want := [tileRows * tileCols]float32(b.weights["c"]), [tileRows * tileCols]float32(b.weights["c"])
		mulTile(k, b.weights["a"], b.weights["b"], &got)
		mulTileGo(k, b.weights["a"], b.weights["b"], &want)
		for i := range want {
			if math.Abs(float64(got[i]-want[i])) > 1e-4 {
				t.Fatalf("%d steps, number %d: got %v, want %v", k, i, got[i], want[i])
			}
		}
	}
}

func TestFunctions(t *testing.T) {
	nan := []float32{0, float32(math.NaN()), -100}
	if expAll(nan, 0); nan[0] != 1 || nan[1] == nan[1] || nan[2] != 0 {
		t.Errorf("e to the powers of 0, NaN and -100: %v", nan)
	}
	for x := -90.0; x <= 12; x += 0.0137 {
		f := float32(x)
		v := []float32{f - 12}
		expAll(v, 0)
		if want := math.Exp(float64(f - 12)); math.Abs(float64(v[0])-want) > (3e-7-1.5e-7*(x-12))*want+1e-37 {
			t.Fatalf("e to the power of %v: got %v, want %v", f-12, v[0], want)
		}
		v = []float32{f}
		gelu(v)
		if want := float64(f) * 0.5 * (1 + math.Erf(float64(f)/math.Sqrt2)); math.Abs(float64(v[0])-want) > 4e-6 {
			t.Fatalf("gelu(%v) = %v, want %v", f, v[0], want)
		}
	}
}

func TestONNXTensors(t *testing.T) {
	whole := onnxTensor("x", []int{2}, []float32{1, 2})
	packed := field(field([]byte{tensorType << 3, 1}, tensorDims, []byte{2}), tensorFloats, whole[len(whole)-8:])
	for name, msg := range map[string][]byte{"raw": whole, "packed": packed} {
		_, got, err := readTensor(sectionOf(msg))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		g := onnxGraph{tensors: map[string]onnxNumbers{"x": got}}
		if v, err := g.numbers(nil, "x", 2); err != nil || !slices.Equal(v, []float32{1, 2}) {
			t.Errorf("%s: %v, %v", name, v, err)
		}
	}
	for name, msg := range map[string][]byte{
		"external data":  field(slices.Clone(whole), tensorExternal, nil),
		"external place": append(slices.Clone(whole), tensorPlacement<<3, 1),
	} {
		if _, _, err := readTensor(sectionOf(msg)); err == nil || !strings.Contains(err.Error(), "another file") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, got, err := readTensor(sectionOf(append(slices.Clone(whole), tensorType<<3, 9))); err != nil || got.dtype != "" {
		t.Errorf("a tensor of booleans: %v, %v", got, err)
	}
}

// What a hostile file claims is compared with what it has before memory is taken
// for it.
func TestONNXClaims(t *testing.T) {
	whole := onnxTensor("x", []int{2}, []float32{1, 2})
	pieces := slices.Clone(whole[:len(whole)-10])
	for range maxParts + 1 {
		pieces = field(pieces, tensorFloats, nil)
	}
	for name, msg := range map[string][]byte{
		"a shape of 2⁶² numbers": onnxTensor("x", []int{1 << 31, 1 << 31}, []float32{1}),
		"a shape beyond count":   onnxTensor("x", []int{1 << 31, 1 << 31, 1 << 31, 1 << 31}, []float32{1}),
		"more than there is":     onnxTensor("x", []int{3}, []float32{1}),
		"less than there is":     onnxTensor("x", nil, []float32{1, 2}),
		"many pieces":            pieces,
		"a length of 2⁶⁰":        binary.AppendUvarint(append(slices.Clone(whole[:2]), tensorRaw<<3|2), 1<<60),
		"a name of a megabyte":   field(nil, tensorName, make([]byte, 1<<20)),
	} {
		if _, _, err := readTensor(sectionOf(msg)); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	model := newTinyBERT().onnx()
	short := section{bytes.NewReader(model[:len(model)/2]), 0, int64(len(model))} // truncated since it was opened
	if _, err := parseONNX(short); !errors.Is(err, io.EOF) {
		t.Errorf("a file that shrinks: %v", err)
	}
}

func sectionOf(b []byte) section { return section{bytes.NewReader(b), 0, int64(len(b))} }

func FuzzONNX(f *testing.F) {
	b := newTinyBERT()
	f.Add(b.onnx())
	f.Add(field(nil, modelGraph, field(nil, graphNode, field(onnxOp("Constant", "x.bias"), nodeAttribute, field(nil, attributeTensor, onnxTensor("", []int{1}, []float32{1}))))))
	f.Fuzz(func(t *testing.T, src []byte) {
		if g, err := parseONNX(sectionOf(src)); err == nil {
			newBERT(g, b.config)
		}
	})
}
