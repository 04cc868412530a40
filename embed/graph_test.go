//go:build !windows

package embed

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"kb/vector"
)

// TestApproximate waits for the graph; of a few vectors it finds all.
func TestApproximate(t *testing.T) {
	w := randomWorld(rand.New(rand.NewPCG(4, 4)), 60)
	ids := w.ids()
	x, _ := openIndex(t, (&counting{}).model())
	x.packs.few = 10
	mustSync(t, x, ids, w)
	v := mustView(t, x, ids)
	answers(t, v, ids)
	if x.graphs.of != nil {
		t.Fatal("a graph is made that nobody asked for")
	}
	said := make(chan string, 1)
	x.Approximate(func(format string, args ...any) { said <- fmt.Sprintf(format, args...) })
	answers(t, v, ids) // by the scan while the graph is made
	if s := <-said; !strings.Contains(s, "are searched by a graph") {
		t.Fatalf("it says %q", s)
	}
	answers(t, v, ids) // what the graph finds is near, not exact: vector tests how near
	base, _ := x.packs.current()
	if s := x.searcher(base); s == vector.Searcher(base) {
		t.Error("the graph is not used")
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
