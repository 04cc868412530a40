//go:build !windows

package vector

import (
	"errors"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
)

// spread returns vectors without groups: a graph finds its way among those.
func spread(n, dim int) (rows []row, queries [][]float32) {
	r := rand.New(rand.NewPCG(3, 4))
	for i := range n {
		rows = append(rows, row{keyOf(i), randomUnit(r, dim)})
	}
	for range 50 {
		queries = append(queries, randomUnit(r, dim))
	}
	return rows, queries
}

func mustApproximate(t *testing.T, p *Pack) Searcher {
	t.Helper()
	g, err := Approximate(p)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func TestApproximateFinds(t *testing.T) {
	rows, queries := spread(700, 8)
	rows[7].v = make([]float32, 8) // no direction: never in the graph
	p := mustPack(t, rows)
	g := mustApproximate(t, p)
	found, wanted := 0, 0
	for _, q := range queries {
		want, err := p.Search(q, 10, nil)
		if err != nil {
			t.Fatal(err)
		}
		got, err := g.Search(q, 10, nil)
		if err != nil || len(got) != 10 {
			t.Fatalf("%d hits, %v", len(got), err)
		}
		for i, h := range got {
			if j := slices.IndexFunc(want, func(w Hit) bool { return w.Key == h.Key }); j >= 0 && want[j].Score != h.Score {
				t.Errorf("the score %v is not the exact %v", h.Score, want[j].Score)
			}
			if i > 0 && h.Score > got[i-1].Score {
				t.Errorf("hits are not in order: %v", got)
			}
		}
		wanted, found = wanted+len(want), found+common(got, want)
	}
	if recall := float64(found) / float64(wanted); recall < MinRecall {
		t.Errorf("recall is %.3f", recall)
	}
}

// TestApproximateScans has the searches that a graph leaves to its pack.
func TestApproximateScans(t *testing.T) {
	rows, queries := spread(300, 8)
	p := mustPack(t, rows)
	g := mustApproximate(t, p)
	few, _ := p.Select(func(yield func(Key) bool) {
		for i := 0; i < 300 && yield(keyOf(i)); i += 13 {
		}
	})
	most, _ := p.Select(func(yield func(Key) bool) {
		for i := 0; i < 290 && yield(keyOf(i)); i++ {
		}
	})
	other, _ := mustPack(t, rows[:5]).Select(slices.Values([]Key{rows[0].key}))
	for name, c := range map[string]struct {
		k    int
		keep *Set
	}{"few": {10, few}, "most": {10, most}, "many": {150, nil}, "none": {0, nil}, "all": {300, most}} {
		want, err1 := p.Search(queries[0], c.k, c.keep)
		got, err2 := g.Search(queries[0], c.k, c.keep)
		if diff := gocmp.Diff(want, got); diff != "" || err1 != nil || err2 != nil {
			t.Errorf("%s: %v, %v, (-scan +graph):\n%s", name, err1, err2, diff)
		}
	}
	for name, c := range map[string]struct {
		query []float32
		keep  *Set
	}{"another dimension": {queries[0][:4], nil}, "too long": {slices.Repeat([]float32{1}, 8), nil}, "another pack": {queries[0], other}} {
		if _, err := g.Search(c.query, 10, c.keep); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if hits, err := g.Search(make([]float32, 8), 10, nil); err != nil || len(hits) > 0 {
		t.Errorf("a query of zeros finds %v, %v", hits, err)
	}
}

// TestApproximateRefuses has vectors among which the library gets lost.
func TestApproximateRefuses(t *testing.T) {
	wide, _ := spread(600, 48)
	same := slices.Repeat([]row{{v: randomUnit(rand.New(rand.NewPCG(1, 1)), 16)}}, 600)
	for i := range same {
		same[i].key = keyOf(i)
	}
	for name, rows := range map[string][]row{"too many directions": wide, "the same": same} {
		p := mustPack(t, rows)
		g, err := Approximate(p)
		if !errors.Is(err, ErrRecall) || g != nil || !strings.Contains(err.Error(), "of ten neighbours found among 500 vectors") {
			t.Errorf("%s: %v, %v", name, g, err)
		}
	}
}

func TestApproximateNothing(t *testing.T) {
	for _, rows := range [][]row{{{keyOf(1), make([]float32, 4)}}, {{keyOf(1), []float32{0, 1, 0, 0}}}} {
		p := mustPack(t, rows)
		want, _ := p.Search([]float32{0, 1, 0, 0}, 3, nil)
		got, err := mustApproximate(t, p).Search([]float32{0, 1, 0, 0}, 3, nil)
		if diff := gocmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%v: %v\n%s", rows, err, diff)
		}
	}
}

func TestApproximateConcurrently(t *testing.T) {
	rows, queries := spread(300, 8)
	g := mustApproximate(t, mustPack(t, rows))
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for _, q := range queries {
				if _, err := g.Search(q, 5, nil); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
}

// TestApproximateFigures prints what docs/decisions/neighbours.md reports.
func TestApproximateFigures(t *testing.T) {
	if os.Getenv("KB_LONG") == "" {
		t.Skip("KB_LONG is not set")
	}
	for _, n := range []int{500, 1000, 2000, 5000, 10000} {
		rows, queries := clustered(n, 384)
		p := mustPack(t, rows)
		start := time.Now()
		_, err := Approximate(p)
		t.Logf("%d vectors in groups: %v after %v", n, err, time.Since(start).Round(time.Millisecond))
		g := newGraph(p)
		start = time.Now()
		if err := g.grow(p.Len()); err != nil {
			t.Fatal(err)
		}
		made := time.Since(start)
		found := 0
		start = time.Now()
		for _, q := range queries {
			got, _ := g.walk(q, 10, nil)
			want, _ := p.Search(q, 10, nil)
			found += common(got, want)
		}
		both := time.Since(start)
		start = time.Now()
		for _, q := range queries {
			p.Search(q, 10, nil)
		}
		exact := time.Since(start)
		t.Log(strconv.Itoa(n), "vectors: recall", float64(found)/float64(10*len(queries)), "made in", made.Round(time.Millisecond),
			"walk", (both-exact)/time.Duration(len(queries)), "scan", exact/time.Duration(len(queries)))
	}
}
