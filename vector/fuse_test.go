package vector

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func ids(list []Scored) (out []string) {
	for _, s := range list {
		out = append(out, s.ID)
	}
	return out
}

func TestFuse(t *testing.T) {
	text := []Scored{{"a", 8}, {"b", 6}, {"c", 2}}
	vectors := []Scored{{"c", 0.9}, {"d", 0.5}, {"b", -0.5}}
	for _, c := range []struct {
		name          string
		text, vectors []Scored
		weight        float64
		want          []Scored
	}{
		{"both", text, vectors, 1, []Scored{{"c", 1.15}, {"a", 1}, {"d", 0.5}, {"b", 0.25}}},
		{"words alone", text, nil, 1, []Scored{{"a", 1}, {"b", 0.75}, {"c", 0.25}}},
		{"weight 0", text, vectors, 0, []Scored{{"a", 1}, {"b", 0.75}, {"c", 0.25}, {"d", 0}}},
		{"vectors alone", nil, vectors, 0.5, []Scored{{"c", 0.45}, {"d", 0.25}, {"b", -0.25}}},
		{"nothing", nil, nil, 1, []Scored{}},
		{"words without score", []Scored{{"b", 0}, {"a", 0}}, nil, 1, []Scored{{"a", 0}, {"b", 0}}},
	} {
		if diff := cmp.Diff(c.want, Fuse(c.text, c.vectors, c.weight)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}

func TestFuseRanks(t *testing.T) {
	got := FuseRanks([]Scored{{"a", 9}, {"b", 8}}, []Scored{{"b", 0.1}, {"c", 0}, {"a", 0}})
	one := 1.0 // a variable: sums of constants would be exact
	want := []Scored{{"b", one/62 + one/61}, {"a", one/61 + one/63}, {"c", one / 62}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"a", "b"}, ids(FuseRanks([]Scored{{"b", 1}}, []Scored{{"a", 1}}))); diff != "" {
		t.Errorf("equal sums are not in order of ID:\n%s", diff)
	}
}

// TestFusionIsStable has many equal sums, which a map would return in any order.
func TestFusionIsStable(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	var text, vectors []Scored
	for i := range 200 {
		text = append(text, Scored{fmt.Sprint(i), float64(r.IntN(4))})
		vectors = append(vectors, Scored{fmt.Sprint(i), float64(r.IntN(4)) / 4})
	}
	want := []any{Fuse(text, vectors, VectorWeight), FuseRanks(text, vectors)}
	for range 5 {
		if diff := cmp.Diff(want, []any{Fuse(text, vectors, VectorWeight), FuseRanks(text, vectors)}); diff != "" {
			t.Fatal(diff)
		}
	}
}

func TestDiversify(t *testing.T) {
	ranking := []Scored{{"a1", 4}, {"a2", 3.9}, {"a3", 3.8}, {"b1", 3}, {"b2", 2}, {"c", 1}}
	alike := func(i, j int) float64 {
		if ranking[i].ID[0] == ranking[j].ID[0] {
			return 0.95
		}
		return 0.1
	}
	for _, c := range []struct {
		diversity float64
		n         int
		want      []string
	}{
		{0, 4, []string{"a1", "a2", "a3", "b1"}},
		{0.1, 3, []string{"a1", "a2", "a3"}},
		{0.3, 3, []string{"a1", "b1", "a2"}},
		{0.7, 4, []string{"a1", "b1", "c", "a2"}},
		{1, 3, []string{"a1", "b1", "c"}},
		{0.5, 100, []string{"a1", "b1", "c", "a2", "a3", "b2"}},
		{0.5, -1, nil},
	} {
		if diff := cmp.Diff(c.want, ids(Diversify(ranking, c.n, c.diversity, alike))); diff != "" {
			t.Errorf("diversity %v, %d of them (-want +got):\n%s", c.diversity, c.n, diff)
		}
	}
	zeros := []Scored{{"a", 0}, {"b", 0}}
	if diff := cmp.Diff([]string{"a", "b"}, ids(Diversify(zeros, 2, 0.5, func(int, int) float64 { return 0 }))); diff != "" {
		t.Error(diff)
	}
}
