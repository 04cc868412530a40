package vector

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestMean(t *testing.T) {
	r := rand.New(rand.NewPCG(19, 20))
	rows, _ := adversarial(r, "random", 200, 24)
	p := mustPack(t, rows)
	keys := []Key{rows[3].key, rows[150].key}
	some, _ := p.Select(slices.Values(keys))
	for name, c := range map[string]struct {
		keep *Set
		rows []row
	}{
		"all":  {nil, rows},
		"some": {some, []row{rows[3], rows[150]}},
	} {
		want := make([]float64, 24)
		for _, row := range c.rows {
			for j, x := range row.v {
				want[j] += float64(x) / float64(len(c.rows))
			}
		}
		for j, x := range p.Mean(c.keep) {
			if math.Abs(x-want[j]) > 1.0/127 {
				t.Errorf("%s: number %d is %v, want about %v", name, j, x, want[j])
			}
		}
	}
	only := mustPack(t, []row{rows[3], rows[150]})
	if got, want := only.Mean(nil), p.Mean(some); !slices.Equal(got, want) {
		t.Errorf("the mean depends on what else is in the pack: %v and %v", got, want)
	}
	none, _ := p.Select(slices.Values([]Key(nil)))
	if got := p.Mean(none); !slices.Equal(got, make([]float64, 24)) {
		t.Errorf("the mean of nothing is %v", got)
	}
}

func TestCentered(t *testing.T) {
	for _, c := range []struct {
		v    []float32
		mean []float64
		want []float32
	}{
		{[]float32{1, 0}, []float64{0, 0}, []float32{1, 0}},
		{[]float32{1, 0}, []float64{0.4, 0.8}, []float32{0.6, -0.8}},
		{[]float32{1, 0}, []float64{1, 0}, []float32{0, 0}},
		{[]float32{0, 0}, []float64{0.5, 0.5}, []float32{0, 0}},
		{[]float32{1, 0}, []float64{math.NaN(), 0}, []float32{0, 0}},
	} {
		if got := Centered(c.v, c.mean); !slices.Equal(got, c.want) {
			t.Errorf("Centered(%v, %v) = %v, want %v", c.v, c.mean, got, c.want)
		}
	}
}
