package vector

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp/cmpopts"

	gocmp "github.com/google/go-cmp/cmp"
)

// row is a vector with its key.
type row struct {
	key Key
	v   []float32
}

func keyOf(i int) Key { return sha256.Sum256(binary.LittleEndian.AppendUint64(nil, uint64(i))) }

// inOrder gives rows as WritePack wants them.
func inOrder(rows []row) iter.Seq2[Key, []float32] {
	slices.SortFunc(rows, func(a, b row) int { return bytes.Compare(a.key[:], b.key[:]) })
	return func(yield func(Key, []float32) bool) {
		for _, r := range rows {
			if !yield(r.key, r.v) {
				return
			}
		}
	}
}

func mustPack(tb testing.TB, rows []row) *Pack {
	tb.Helper()
	p, err := NewPack("test", len(rows[0].v), inOrder(rows))
	if err != nil {
		tb.Fatal(err)
	}
	return p
}

func unit32(v []float32) []float32 {
	w := make([]float64, len(v))
	for i, x := range v {
		w[i] = float64(x)
	}
	out, err := unit(w)
	if err != nil {
		panic(err)
	}
	return out
}

func randomUnit(r *rand.Rand, dim int) []float32 {
	v := make([]float32, dim)
	for i := range v {
		v[i] = float32(r.NormFloat64())
	}
	return unit32(v)
}

// near returns v moved by about eps.
func near(r *rand.Rand, v []float32, eps float64) []float32 {
	w := slices.Clone(v)
	for i := range w {
		w[i] += float32(eps * r.NormFloat64())
	}
	return unit32(w)
}

// bruteForce scores every row.
func bruteForce(rows []row, query []float32, k int, keep func(Key) bool) []Hit {
	var hits []Hit
	for _, r := range rows {
		if keep(r.key) {
			hits = append(hits, Hit{r.key, Dot(query, r.v)})
		}
	}
	slices.SortFunc(hits, func(a, b Hit) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), bytes.Compare(a.Key[:], b.Key[:]))
	})
	return hits[:min(k, len(hits))]
}

// adversarial returns rows that int8 cannot tell apart, or only just, in the
// way that shape names.
func adversarial(r *rand.Rand, shape string, n, dim int) (rows []row, query []float32) {
	query = randomUnit(r, dim)
	base := randomUnit(r, dim)
	for i := range n {
		var v []float32
		switch shape {
		case "random":
			v = randomUnit(r, dim)
		case "equal":
			v = base
		case "near the query":
			v = near(r, query, 1e-6)
		case "near each other":
			v = near(r, base, 1e-4)
		case "a step of int8 apart":
			v = near(r, base, 0.3/127/math.Sqrt(float64(dim)))
		case "one large number":
			v = randomUnit(r, dim)
			v[0] = 300 // everything else vanishes in int8
			v = unit32(v)
		case "halves of a step":
			v = make([]float32, dim)
			v[0] = 127
			for j := 1; j < dim; j++ {
				v[j] = float32(r.IntN(3)) + 0.5
			}
			v = unit32(v)
		case "zeros among them":
			if v = randomUnit(r, dim); i%3 == 0 {
				clear(v)
			}
		}
		rows = append(rows, row{keyOf(i), v})
	}
	return rows, query
}

func TestSearchIsExact(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, shape := range []string{"random", "equal", "near the query", "near each other", "a step of int8 apart", "one large number", "halves of a step", "zeros among them"} {
		for _, dim := range []int{3, 100} {
			rows, query := adversarial(r, shape, 300, dim)
			p := mustPack(t, rows)
			for _, k := range []int{1, 10, 5000} {
				for _, share := range []float64{1, 0.3, 0} {
					live := make(map[Key]bool)
					var keys []Key
					for _, row := range rows {
						if r.Float64() < share {
							live[row.key], keys = true, append(keys, row.key)
						}
					}
					keep, missing := p.Select(slices.Values(append(keys, Key{1})))
					if missing != 1 {
						t.Fatalf("Select misses %d keys, want 1", missing)
					}
					if share == 1 {
						keep = nil
					}
					got, err := p.Search(query, k, keep)
					if err != nil {
						t.Fatal(err)
					}
					want := bruteForce(rows, query, k, func(key Key) bool { return keep == nil || live[key] })
					if diff := gocmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
						t.Fatalf("%s, %d dimensions, %d best of %v (-want +got):\n%s", shape, dim, k, share, diff)
					}
				}
			}
		}
	}
}

// TestSearchInShards has several workers, more than rows too, and ties across them.
func TestSearchInShards(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, shape := range []string{"random", "equal", "near the query"} {
		for _, n := range []int{1, 5, 900} {
			rows, query := adversarial(r, shape, n, 32)
			p := mustPack(t, rows)
			for _, workers := range []int{1, 2, 3, 7} {
				q, _ := p.newQuery(query)
				k := min(20, n)
				got, err := p.rescore(query, k, p.scan(q, k, nil, workers))
				if err != nil {
					t.Fatal(err)
				}
				if diff := gocmp.Diff(bruteForce(rows, query, k, func(Key) bool { return true }), got); diff != "" {
					t.Fatalf("%d rows, %s, %d workers (-want +got):\n%s", n, shape, workers, diff)
				}
			}
		}
	}
}

func TestSearchOddQueries(t *testing.T) {
	rows, query := adversarial(rand.New(rand.NewPCG(5, 6)), "random", 5, 4)
	p, other := mustPack(t, rows), mustPack(t, rows)
	if hits, err := p.Search(make([]float32, 4), 3, nil); err != nil || len(hits) != 0 {
		t.Errorf("a query of zeros: %v, %v", hits, err)
	}
	if hits, err := p.Search(query, -1, nil); err != nil || len(hits) != 0 {
		t.Errorf("k = -1: %v, %v", hits, err)
	}
	set, _ := other.Select(slices.Values([]Key{rows[0].key}))
	nan := slices.Clone(query)
	nan[2] = float32(math.NaN())
	for name, err := range map[string]error{
		"short query":        second(p.Search(query[:3], 1, nil)),
		"long query":         second(p.Search(append(query, 0), 1, nil)),
		"NaN":                second(p.Search(nan, 1, nil)),
		"length 2":           second(p.Search([]float32{2, 0, 0, 0}, 1, nil)),
		"another pack's set": second(p.Search(query, 1, set)),
	} {
		if err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	empty, err := NewPack("test", 4, inOrder(nil))
	if err != nil {
		t.Fatal(err)
	}
	if hits, err := empty.Search(query, 3, nil); err != nil || len(hits) != 0 {
		t.Errorf("an empty pack: %v, %v", hits, err)
	}
}

func second[A any](_ A, err error) error { return err }

// TestKernelsAgree compares the processor's kernel with the plain one, at the
// largest numbers too.
func TestKernelsAgree(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for _, n := range []int{block, 3 * block, 384, maxDim} {
		for _, count := range []int{0, 1, 2, 7} {
			q, rows := make([]int16, n), make([]byte, n*count)
			for round := range 4 {
				for i := range q {
					q[i] = []int16{queryRange, -queryRange, int16(r.IntN(2*queryRange+1) - queryRange)}[min(round, 2)]
				}
				for i := range rows {
					rows[i] = byte(int8([]int{127, 127, r.IntN(256) - 128}[min(round, 2)]))
				}
				got, want := make([]int32, count), make([]int32, count)
				dotRows(q, rows, got)
				dotRowsGo(q, rows, want)
				if !slices.Equal(got, want) {
					t.Fatalf("%d numbers, %d rows: got %v, want %v", n, count, got, want)
				}
				for i := range want {
					var exact int64
					for j := range q {
						exact += int64(q[j]) * int64(int8(rows[i*n+j]))
					}
					if int64(want[i]) != exact {
						t.Fatalf("product %d overflows to %d", exact, want[i])
					}
				}
			}
		}
	}
}

// TestFindUnevenKeys has keys whose first bits say nothing of where they stand.
func TestFindUnevenKeys(t *testing.T) {
	var rows []row
	for i := range 600 {
		key := Key{31: byte(i), 30: byte(i >> 8)}
		if i >= 300 {
			key[0] = 0xFF
		}
		rows = append(rows, row{key, []float32{1}})
	}
	p := mustPack(t, rows)
	for i := range p.Len() {
		key := p.Key(i)
		if at, ok := p.Find(key); !ok || at != i {
			t.Fatalf("Find(key %d) = %d, %v", i, at, ok)
		}
		key[1] = 1
		if at, ok := p.Find(key); ok {
			t.Fatalf("Find finds a key that is not there, at %d", at)
		}
	}
}

func TestPackFile(t *testing.T) {
	rows, query := adversarial(rand.New(rand.NewPCG(9, 10)), "random", 300, 100)
	p := mustPack(t, rows)
	name := filepath.Join(t.TempDir(), "p.kbv")
	var b bytes.Buffer
	if _, err := p.WriteTo(&b); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	f, err := OpenPack(name, "test")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if f.Len() != 300 || f.Dim() != 100 {
		t.Fatalf("%d vectors of %d dimensions", f.Len(), f.Dim())
	}
	want, err := p.Search(query, 20, nil)
	if err != nil {
		t.Fatal(err)
	}
	got, err := f.Search(query, 20, nil)
	if diff := gocmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("the file answers otherwise: %v\n%s", err, diff)
	}
	for _, r := range rows {
		i, ok := f.Find(r.key)
		if !ok || f.Key(i) != r.key {
			t.Fatalf("Find(%x) = %d, %v", r.key, i, ok)
		}
		if v, err := f.Vector(i); err != nil || !slices.Equal(v, r.v) {
			t.Fatalf("Vector(%d) = %v, %v; want %v", i, v, err, r.v)
		}
	}
	for i := range 1000 {
		if at, ok := f.Find(keyOf(300 + i)); ok {
			t.Fatalf("Find finds a key that is not there, at %d", at)
		}
	}
	if _, err := OpenPack(name, "another"); !errors.Is(err, ErrPack) {
		t.Errorf("opened as another model's: %v", err)
	}
}

// TestPackBytes holds the format, and what it computes, to the bit on every
// processor.
func TestPackBytes(t *testing.T) {
	var rows []row
	state := uint64(1)
	for i := range 50 {
		v := make([]float32, 48)
		for j := range v {
			state = state*6364136223846793005 + 1442695040888963407
			v[j] = float32(int32(state>>32)) / (1 << 31)
		}
		rows = append(rows, row{keyOf(i), unit32(v)})
	}
	var b bytes.Buffer
	if err := WritePack(&b, "test", 48, inOrder(rows)); err != nil {
		t.Fatal(err)
	}
	hits, err := mustPack(t, rows).Search(rows[7].v, 5, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range hits {
		fmt.Fprintf(&b, "%x %b\n", h.Key, h.Score)
	}
	const want = "82bfab5b37b827eda50e6016ca6e8a5b3ac8efc2b432ea08a0f1f7e42b05bc8b"
	if got := fmt.Sprintf("%x", sha256.Sum256(b.Bytes())); got != want {
		t.Errorf("the bytes of a pack changed: %s; if they should, change the version in packMagic", got)
	}
}

// TestPackDamage flips every byte of a small pack, and cuts it everywhere:
// nothing wrong is ever answered.
func TestPackDamage(t *testing.T) {
	rows, query := adversarial(rand.New(rand.NewPCG(11, 12)), "random", 6, 5)
	var b bytes.Buffer
	p := mustPack(t, rows)
	if _, err := p.WriteTo(&b); err != nil {
		t.Fatal(err)
	}
	good := b.Bytes()
	ask := func(src []byte) error {
		p, err := ReadPack(bytes.NewReader(src), int64(len(src)), "test")
		if err == nil {
			_, err = p.Search(query, len(rows), nil)
		}
		return err
	}
	if err := ask(good); err != nil {
		t.Fatal(err)
	}
	for i := range good {
		bad := slices.Clone(good)
		bad[i] ^= 1 << (i % 8)
		if err := ask(bad); !errors.Is(err, ErrPack) {
			t.Errorf("byte %d of %d flipped: %v", i, len(good), err)
		}
		if err := ask(good[:i]); !errors.Is(err, ErrPack) {
			t.Errorf("cut to %d bytes: %v", i, err)
		}
	}
}

type failingWriter struct{ left int }

var errFull = errors.New("disk full")

func (w *failingWriter) Write(b []byte) (int, error) {
	if w.left -= len(b); w.left < 0 {
		return 0, errFull
	}
	return len(b), nil
}

func TestWritePackFails(t *testing.T) {
	rows, _ := adversarial(rand.New(rand.NewPCG(13, 14)), "random", 6, 5)
	size := 6*(4*5+32+scaleSize+block) + trailerSize
	for left := range size {
		if err := WritePack(&failingWriter{left}, "test", 5, inOrder(rows)); !errors.Is(err, errFull) {
			t.Fatalf("room for %d bytes of %d: %v", left, size, err)
		}
	}
	if err := WritePack(&failingWriter{size}, "test", 5, inOrder(rows)); err != nil {
		t.Fatal(err)
	}
	v := randomUnit(rand.New(rand.NewPCG(1, 1)), 5)
	for name, seq := range map[string]iter.Seq2[Key, []float32]{
		"another dimension": inOrder([]row{{Key{1}, v[:4]}}),
		"not length 1":      inOrder([]row{{Key{1}, []float32{1, 1, 0, 0, 0}}}),
		"NaN":               inOrder([]row{{Key{1}, []float32{1, 0, 0, 0, float32(math.NaN())}}}),
		"the same key":      inOrder([]row{{Key{1}, v}, {Key{1}, v}}),
		"descending keys": func(yield func(Key, []float32) bool) {
			_ = yield(Key{2}, v) && yield(Key{1}, v)
		},
	} {
		if err := WritePack(&failingWriter{1 << 20}, "test", 5, seq); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if err := WritePack(&failingWriter{1 << 20}, "test", maxDim+1, inOrder(nil)); err == nil {
		t.Error("too many dimensions: no error")
	}
}

func FuzzReadPack(f *testing.F) {
	rows, query := adversarial(rand.New(rand.NewPCG(15, 16)), "random", 3, 4)
	var b bytes.Buffer
	if err := WritePack(&b, "test", 4, inOrder(rows)); err != nil {
		f.Fatal(err)
	}
	f.Add(b.Bytes())
	f.Add(b.Bytes()[3:])
	f.Fuzz(func(t *testing.T, src []byte) {
		if p, err := ReadPack(bytes.NewReader(src), int64(len(src)), "test"); err == nil && p.Dim() == len(query) {
			p.Search(query, 2, nil)
		}
	})
}
