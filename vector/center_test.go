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
	some, _ := p.Select(slices.Values([]Key{rows[3].key, rows[150].key}))
	all := p.Set(func(yield func(int) bool) {
		for i := range p.Len() {
			if !yield(i) {
				return
			}
		}
	})
	for name, c := range map[string]struct {
		keep *Set
		rows []row
	}{
		"all":  {all, rows},
		"some": {some, []row{rows[3], rows[150]}},
	} {
		want := make([]float64, 24)
		for _, row := range c.rows {
			for j, x := range row.v {
				want[j] += float64(x) / float64(len(c.rows))
			}
		}
		for j, x := range Mean(24, c.keep) {
			if math.Abs(x-want[j]) > 1.0/127 {
				t.Errorf("%s: number %d is %v, want about %v", name, j, x, want[j])
			}
		}
	}
	var odd, even []row
	for i, row := range rows {
		if i%2 == 0 {
			even = append(even, row)
		} else {
			odd = append(odd, row)
		}
	}
	whole := func(rows []row) *Set {
		p := mustPack(t, rows)
		s, _ := p.Select(func(yield func(Key) bool) {
			for _, row := range rows {
				yield(row.key)
			}
		})
		return s
	}
	if got, want := Mean(24, whole(odd), whole(even)), Mean(24, all); !slices.Equal(got, want) {
		t.Errorf("the mean depends on how vectors are divided: %v and %v", got, want)
	}
	if got, want := Mean(24, whole([]row{rows[3], rows[150]})), Mean(24, some); !slices.Equal(got, want) {
		t.Errorf("the mean depends on what else is in the pack: %v and %v", got, want)
	}
	if got := Mean(24); !slices.Equal(got, make([]float64, 24)) {
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
		if to := []float32{0.6, 0.8}; !math.IsNaN(c.mean[0]) {
			if got, want := CenteredCosine(to, c.v, c.mean), Dot(to, c.want); math.Abs(got-want) > 1e-7 {
				t.Errorf("CenteredCosine(%v, %v) = %v, want %v", c.v, c.mean, got, want)
			}
		}
		if got := Centered(c.v, c.mean); !slices.Equal(got, c.want) {
			t.Errorf("Centered(%v, %v) = %v, want %v", c.v, c.mean, got, c.want)
		}
	}
}
