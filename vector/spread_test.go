package vector

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// cloud is n unrelated vectors of dim numbers.
func cloud(n, dim int) []row {
	r := rand.New(rand.NewPCG(3, uint64(dim)))
	var rows []row
	for range n {
		v := make([]float64, dim)
		var squares float64
		for i := range v {
			v[i] = r.NormFloat64()
			squares += v[i] * v[i]
		}
		out := make([]float32, 64)
		for i := range v {
			out[i] = float32(v[i] / math.Sqrt(squares))
		}
		key := Key{}
		for i := range key {
			key[i] = byte(r.Uint32())
		}
		rows = append(rows, row{key, out})
	}
	slices.SortFunc(rows, func(a, b row) int { return slices.Compare(a.key[:], b.key[:]) })
	return rows
}

func spreadOf(t testing.TB, packs ...[]row) Spread {
	t.Helper()
	var sets []*Set
	for _, rows := range packs {
		p := mustPack(t, rows)
		s := p.Set(func(yield func(int) bool) {
			for i := range p.Len() {
				if !yield(i) {
					return
				}
			}
		})
		sets = append(sets, s)
	}
	s, err := SpreadOf(Mean(64, sets...), sets...)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestSpreadCountsDimensions(t *testing.T) {
	for _, dim := range []int{4, 16, 64} {
		if s := spreadOf(t, cloud(1000, dim)); s.Texts != 1000 || math.Abs(s.Dimensions-float64(dim)) > float64(dim)/10 {
			t.Errorf("%d dimensions: %v of %d texts", dim, s.Dimensions, s.Texts)
		}
	}
	if s := spreadOf(t, cloud(20, 64)); s.Dimensions != 19 {
		t.Errorf("20 texts fill %v dimensions", s.Dimensions)
	}
	for _, n := range []int{1, 2} {
		if s := spreadOf(t, cloud(n, 64)); s.Dimensions > 1 || s.Weight(make([]float32, 64), 1, 1) != VectorWeight {
			t.Errorf("%d texts: %+v", n, s)
		}
	}
}

// Texts of which the model knows nothing, and all alike, fill no dimensions.
func TestSpreadOfNothing(t *testing.T) {
	rows := cloud(500, 16)
	for i := range rows[:400] {
		rows[i].v = make([]float32, 64)
	}
	if s := spreadOf(t, rows); s.Dimensions > 20 {
		t.Errorf("with zeros: %v dimensions", s.Dimensions)
	}
	alike := cloud(500, 64)
	for i := range alike[:499] {
		alike[i].v = alike[499].v
	}
	if s := spreadOf(t, alike); s.Dimensions > 2 {
		t.Errorf("all alike: %v dimensions", s.Dimensions)
	}
}

// However the vectors of a view are divided among packs, the spread is the same.
func TestSpreadIsOfTheView(t *testing.T) {
	rows := cloud(900, 64)
	to := rows[0].v
	whole := spreadOf(t, rows)
	var odd, even []row
	for i, r := range rows {
		if i%2 == 0 {
			even = append(even, r)
		} else {
			odd = append(odd, r)
		}
	}
	for _, packs := range [][][]row{{odd, even}, {rows[:10], rows[10:]}, {rows[700:], rows[:700]}} {
		s := spreadOf(t, packs...)
		if s.Dimensions != whole.Dimensions || s.Texts != whole.Texts || s.Weight(to, 0.7, 0.3) != whole.Weight(to, 0.7, 0.3) {
			t.Errorf("in parts: %v, %v of %d texts", s.Dimensions, whole.Dimensions, s.Texts)
		}
	}
}

func TestWeight(t *testing.T) {
	wide, narrow := spreadOf(t, cloud(2000, 64)), spreadOf(t, cloud(2000, 16))
	to := cloud(2001, 64)[1000].v
	mean, deviation := wide.cosines(to)
	chance := mean + largestOf(2000)*deviation
	most := VectorWeight + mostTrust/deviation
	for _, c := range []struct {
		name               string
		s                  Spread
		nearest, agreement float64
		want               float64
	}{
		{"nothing is near", wide, chance * 0.6, 0, VectorWeight},
		{"the nearest is as near as by chance", wide, chance, 0, VectorWeight + 0.12/deviation},
		{"the nearest are the best by words", wide, chance * 0.6, 1, most},
		{"words agree a little", wide, chance * 0.6, 0.25, VectorWeight + 0.1125/deviation},
		{"the nearest stands out", wide, 0.95, 0, most},
		{"a space without room", narrow, 0.95, 1, VectorWeight},
	} {
		if got := c.s.Weight(to, c.nearest, c.agreement); math.Abs(got-c.want) > 1e-6 {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
	last := 0.0
	for _, cos := range []float64{0.1, 0.5, 0.52, 0.54, 0.56, 0.9} {
		w := wide.Weight(to, cos, 0)
		if w < last {
			t.Errorf("nearer, yet it weighs less: %v at %v", w, cos)
		}
		last = w
	}
	if last != math.Round(last*1e6)/1e6 {
		t.Errorf("%v is off the grid", last)
	}
}
