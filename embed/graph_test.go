//go:build !windows

package embed

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"kb/vector"
)

// TestApproximate waits for the graph, and asks it.
func TestApproximate(t *testing.T) {
	w := randomWorld(rand.New(rand.NewPCG(4, 4)), 60)
	ids := w.ids()
	x, _ := openIndex(t, (&counting{}).model())
	x.packs.few = 10
	mustSync(t, x, ids, w)
	v := mustView(t, x, ids)
	exact := answers(t, v, ids)
	said := make(chan string, 1)
	plain := x
	x = x.Approximate(func(format string, args ...any) { said <- fmt.Sprintf(format, args...) })
	v = mustView(t, x, ids)
	answers(t, v, ids) // by the scan while the graph is made
	if s := <-said; !strings.Contains(s, "are searched by a graph") {
		t.Fatalf("it says %q", s)
	}
	answers(t, v, ids)
	base, _ := x.packs.current()
	if s := plain.searcher(base); s != vector.Searcher(base) || answers(t, mustView(t, plain, ids), ids) != exact {
		t.Error("who did not ask for it is answered by the graph")
	}
	if s := x.searcher(base); s == vector.Searcher(base) {
		t.Error("the graph is not used")
	} else {
		sameScores(t, s, base)
	}
	// What is not in the file is searched in memory.
	other, err := vector.NewPack(x.packs.print, 27, func(func(vector.Key, []float32) bool) {})
	if err != nil {
		t.Fatal(err)
	}
	if s := x.searcher(other); s != vector.Searcher(other) {
		t.Error("a graph of one pack searches another")
	}
}

// sameScores checks a graph of p: it may miss neighbours, but not more than it is
// used for, and what it finds has the score of a scan, in a scan's order.
func sameScores(t *testing.T, graph vector.Searcher, p *vector.Pack) {
	t.Helper()
	const k = 10
	found, wanted := 0, 0
	for i := range p.Len() {
		query, err := p.Vector(i)
		if err != nil {
			t.Fatal(err)
		}
		all, err := p.Search(query, p.Len(), nil)
		if err != nil {
			t.Fatal(err)
		}
		place := map[vector.Key]int{}
		for at, h := range all {
			place[h.Key] = at
		}
		got, err := graph.Search(query, k, nil)
		if err != nil {
			t.Fatal(err)
		}
		last := -1
		for _, h := range got {
			at, ok := place[h.Key]
			if !ok || all[at].Score != h.Score || at <= last {
				t.Fatalf("vector %d: %v is at place %d after %d of the scan, which gives %v", i, h, at, last, all[at])
			}
			if last = at; at < k {
				found++
			}
		}
		wanted += min(k, len(all))
	}
	if recall := float64(found) / float64(wanted); recall < vector.MinRecall {
		t.Errorf("the graph finds %.2f of ten neighbours, less than %.2f", recall, vector.MinRecall)
	}
}
