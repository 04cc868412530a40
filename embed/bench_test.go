package embed

import (
	"encoding/binary"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"kb/cas"
	"kb/note"
	"kb/vector"
)

const (
	benchNotes  = 33_000
	benchChunks = 3 // a note
	benchDim    = 384
)

// wide is an embedder whose vectors are as long as those of real models.
type wide struct{ vector.Letters }

func (wide) Fingerprint() string { return "wide/1" }
func (wide) Dim() int            { return benchDim }

// filled makes an index of random vectors, with its pack.
func filled(b testing.TB) (m *Model, facts *cas.Store, dir string, ids []note.ID) {
	b.Helper()
	dir = b.TempDir()
	m = NewModel(func() (vector.Embedder, error) { return wide{}, nil }, "", time.Hour)
	facts = openStore(b, dir)
	x, err := New(facts, filepath.Join(dir, "vec"), m)
	if err != nil {
		b.Fatal(err)
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range benchNotes / 1000 {
		lists, vectors := map[note.ID][]cas.Hash{}, map[cas.Hash][]float32{}
		for range 1000 {
			id := note.Hash(binary.BigEndian.AppendUint64(nil, r.Uint64()))
			ids = append(ids, id)
			for range benchChunks {
				h := hashOf(string(binary.BigEndian.AppendUint64(nil, r.Uint64())))
				lists[id], vectors[h] = append(lists[id], h), randomUnit(r)
			}
		}
		if err := facts.PutChunks(x.chunks, lists); err != nil {
			b.Fatal(err)
		}
		if err := facts.PutVectors(x.vectors, vectors); err != nil {
			b.Fatal(err)
		}
	}
	if err := x.repack(b.Context()); err != nil {
		b.Fatal(err)
	}
	if err := x.Close(); err != nil {
		b.Fatal(err)
	}
	slices.SortFunc(ids, func(a, b note.ID) int { return slices.Compare(a[:], b[:]) })
	return m, facts, dir, ids
}

func randomUnit(r *rand.Rand) Direction {
	v := make([]float64, benchDim)
	for i := range v {
		v[i] = r.NormFloat64() + 0.3
	}
	return unit(v)
}

// BenchmarkCold opens 100,000 vectors and asks one question.
func BenchmarkCold(b *testing.B) {
	m, facts, dir, ids := filled(b)
	query := randomUnit(rand.New(rand.NewPCG(3, 4)))
	for b.Loop() {
		x, err := New(facts, filepath.Join(dir, "vec"), m)
		if err != nil {
			b.Fatal(err)
		}
		v, _, err := x.View(b.Context(), ids)
		if err != nil || v == nil {
			b.Fatal("no view", err)
		}
		if _, err := v.Nearest(b.Context(), v.Toward(query), 200, nil, nil); err != nil {
			b.Fatal(err)
		}
		x.Close()
	}
}

func BenchmarkNearest(b *testing.B) {
	m, facts, dir, ids := filled(b)
	x, err := New(facts, filepath.Join(dir, "vec"), m)
	if err != nil {
		b.Fatal(err)
	}
	defer x.Close()
	v, _, err := x.View(b.Context(), ids)
	if err != nil || v == nil {
		b.Fatal("no view", err)
	}
	to := v.Toward(randomUnit(rand.New(rand.NewPCG(3, 4))))
	even := func(id note.ID) bool { return id[0]%2 == 0 }
	for name, keep := range map[string]func(note.ID) bool{"all": nil, "half": even} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := v.Nearest(b.Context(), to, 200, ids[:200], keep); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkTwins compares 6,000 notes of three chunks, each with each.
func BenchmarkTwins(b *testing.B) {
	m, facts, dir, ids := filled(b)
	x, err := New(facts, filepath.Join(dir, "vec"), m)
	if err != nil {
		b.Fatal(err)
	}
	defer x.Close()
	v, _, err := x.View(b.Context(), ids)
	if err != nil || v == nil {
		b.Fatal("no view", err)
	}
	for b.Loop() {
		if _, err := v.Twins(b.Context(), ids[:6000], Bar{0.8, 0.4}); err != nil {
			b.Fatal(err)
		}
	}
}
