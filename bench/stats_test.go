package main

import (
	"math"
	"slices"
	"testing"
)

func TestQuantile(t *testing.T) {
	twenty := make(sample, 20)
	for i := range twenty {
		twenty[i] = float64(20 - i) // 20 … 1: not sorted
	}
	for _, tc := range []struct {
		s    sample
		q    float64
		want float64
	}{
		{sample{7}, 0.5, 7},
		{sample{3, 1, 2}, 0.5, 2},
		{sample{4, 1, 3, 2}, 0.5, 2},
		{twenty, 0.5, 10},
		{twenty, 0.95, 19},
		{twenty, 1, 20},
		{twenty, 0, 1},
	} {
		if got := tc.s.quantile(tc.q); got != tc.want {
			t.Errorf("quantile(%v, %v) = %v, want %v", tc.s, tc.q, got, tc.want)
		}
	}
	if got := (sample{}).median(); !math.IsNaN(got) {
		t.Errorf("median of nothing = %v, want NaN", got)
	}
	if twenty[0] != 20 {
		t.Error("quantile changed its sample")
	}
}

func TestRatio(t *testing.T) {
	if got := ratio(3, 2); got != 1.5 {
		t.Errorf("ratio(3, 2) = %v, want 1.5", got)
	}
	if got := ratio(3, 0); !math.IsNaN(got) {
		t.Errorf("ratio(3, 0) = %v, want NaN", got)
	}
}

func TestMedians(t *testing.T) {
	got := medians([]sample{{1, 10}, {3, 30}, {2, 90}})
	if want := (sample{2, 30}); !slices.Equal(got, want) {
		t.Errorf("medians = %v, want %v", got, want)
	}
	if got := medians(nil); got != nil {
		t.Errorf("medians(nil) = %v, want nil", got)
	}
}

func TestInTurn(t *testing.T) {
	var order []string
	step := func(s string) func() error {
		return func() error { order = append(order, s); return nil }
	}
	if err := inTurn(2, step("a"), step("b")); err != nil {
		t.Fatal(err)
	}
	if want := []string{"a", "b", "a", "b"}; !slices.Equal(order, want) {
		t.Errorf("order %v, want %v", order, want)
	}
}

func TestSpread(t *testing.T) {
	items := []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}
	for _, tc := range []struct {
		n    int
		want []int
	}{
		{4, []int{0, 3, 6, 9}},
		{1, []int{0}},
		{10, items},
		{50, items},
	} {
		if got := spread(items, tc.n); !slices.Equal(got, tc.want) {
			t.Errorf("spread(%d) = %v, want %v", tc.n, got, tc.want)
		}
	}
}

func TestVerdict(t *testing.T) {
	for _, tc := range []struct {
		row  row
		want string
	}{
		{row{Figure: 2.9, Goal: atMost(3)}, "met"},
		{row{Figure: 3, Goal: atMost(3)}, "met"},
		{row{Figure: 4.5, Goal: atMost(3)}, "missed by 50 %"},
		{row{Figure: 0.98, Goal: atLeast(0.97)}, "met"},
		{row{Figure: 0.90, Goal: atLeast(0.97)}, "missed by 0.070"},
		{row{Figure: none, Goal: atMost(1)}, "not measured"},
		{row{Figure: 5}, ""},
	} {
		if got := tc.row.verdict(); got != tc.want {
			t.Errorf("verdict of %v, goal %v = %q, want %q", tc.row.Figure, tc.row.Goal, got, tc.want)
		}
	}
}
