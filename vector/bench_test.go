package vector

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func BenchmarkTokenizer(b *testing.B) {
	text := strings.Repeat("abba aba, Größe 中文 unaffable! ", 40)
	for name, src := range map[string][]byte{
		"wordpiece": wordPieceJSON(append(slices.Clone(specials), "a", "##b", "##a", "gro", "##ße"), true),
		"unigram":   unigramJSON(false, scored{"▁a", -1}, scored{"b", -2}, scored{"a", -2}),
	} {
		tok := mustParse(b, src)
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				tok.tokens(text, 512)
			}
		})
	}
}

func BenchmarkStatic(b *testing.B) {
	e := m2v(b, Options{Workers: 1})
	text := strings.Repeat("the quick brown fox jumps over the lazy dog, and writes kubernetes manifests. ", 13)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		embed1(b, e, text)
	}
}

// BenchmarkNative has the sizes of bge-small-en-v1.5.
func BenchmarkNative(b *testing.B) {
	m := newTinyBERT()
	const h = 384
	m.config.Hidden, m.config.Layers, m.config.Heads, m.config.Inter, m.config.Positions = h, 12, 12, 1536, 512
	model := benchBERT(m)
	for _, n := range []int{16, 128, 256} {
		for _, workers := range []int{1, 2} {
			b.Run(fmt.Sprintf("tokens=%d/workers=%d", n, workers), func(b *testing.B) {
				e := encoding{m: model, heads: make([]headRun, model.heads), gemm: gemm{workers: workers}}
				tokens := make([]int32, n)
				for i := range tokens {
					tokens[i] = int32(i % len(m.vocab))
				}
				b.ReportAllocs()
				for b.Loop() {
					e.run(tokens)
				}
			})
		}
	}
}

// benchBERT fills an encoder of m's sizes with small numbers.
func benchBERT(m *tinyBERT) *bert {
	c, r := m.config, uint32(1)
	random := func(n int) []float32 {
		v := make([]float32, n)
		for i := range v {
			r = r*1664525 + 1013904223
			v[i] = float32(int32(r)) / (1 << 35)
		}
		return v
	}
	lin := func(in, out int) linear {
		w, l := random(in*out), linear{bias: random(out)}
		l.weight.pack(in, out, w, out, 1)
		return l
	}
	norm := func() layerNorm { return layerNorm{random(c.Hidden), random(c.Hidden), 1e-12} }
	h := c.Hidden
	b := &bert{hidden: h, heads: c.Heads, inter: c.Inter, words: random(c.Vocab * h), places: random(c.Positions * h), norm: norm()}
	for range c.Layers {
		b.layers = append(b.layers, bertLayer{lin(h, 3*h), lin(h, h), lin(h, c.Inter), lin(c.Inter, h), norm(), norm()})
	}
	return b
}

// clustered returns vectors as embedders make them: a common direction, groups
// of about forty, noise.
func clustered(n, dim int) (rows []row, queries [][]float32) {
	r := rand.New(rand.NewPCG(17, 18))
	mean := randomUnit(r, dim)
	groups := make([][]float32, n/40+8)
	for i := range groups {
		groups[i] = randomUnit(r, dim)
	}
	make1 := func() []float32 {
		v, g := randomUnit(r, dim), groups[r.IntN(len(groups))]
		for j := range v {
			v[j] = mean[j] + 0.9*g[j] + 0.7*v[j]
		}
		return unit32(v)
	}
	for i := range n {
		rows = append(rows, row{keyOf(i), make1()})
	}
	for range 50 {
		queries = append(queries, make1())
	}
	return rows, queries
}

func BenchmarkSearch(b *testing.B) {
	const n, dim = 100_000, 384
	rows, queries := clustered(n, dim)
	p := mustPack(b, rows)
	name := filepath.Join(b.TempDir(), "p.kbv")
	f, err := os.Create(name)
	if err != nil {
		b.Fatal(err)
	}
	_, err = p.WriteTo(f)
	if err := errors.Join(err, f.Close()); err != nil {
		b.Fatal(err)
	}
	half := make([]Key, 0, n)
	for i := 0; i < n; i += 2 {
		half = append(half, rows[i*7%n].key)
	}
	b.Run("open", func(b *testing.B) {
		for b.Loop() {
			p, err := OpenPack(name, "test")
			if err != nil {
				b.Fatal(err)
			}
			p.Close()
		}
	})
	disk, err := OpenPack(name, "test")
	if err != nil {
		b.Fatal(err)
	}
	defer disk.Close()
	set, _ := disk.Select(slices.Values(half))
	run := func(name string, keep *Set) {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(n * dim))
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				if _, err := disk.Search(queries[i%len(queries)], 10, keep); err != nil {
					b.Fatal(err)
				}
				i++
			}
		})
	}
	run("all", nil)
	run("half", set)
	b.Run("select", func(b *testing.B) {
		for b.Loop() {
			disk.Select(slices.Values(half))
		}
	})
	b.Run("bandwidth", func(b *testing.B) { // what reading the bytes alone costs
		b.SetBytes(int64(n * dim))
		other := make([]byte, n*dim)
		for b.Loop() {
			copy(other, disk.quantized)
		}
	})
	b.Run("candidates", func(b *testing.B) {
		found := 0
		for b.Loop() {
			q, _ := disk.newQuery(queries[0])
			found = len(disk.scan(q, 10, nil, 1))
		}
		b.ReportMetric(float64(found), "rows")
	})
}
