package vault

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The pages of any lists, at any budget, are the lists: nothing is shown twice,
// nothing is left out, and no page is empty.
func TestPages(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 500 {
		whole := make([][]int, rng.IntN(4)+1)
		total := 0
		for i := range whole {
			for range rng.IntN(12) {
				whole[i] = append(whole[i], rng.IntN(50))
				total++
			}
		}
		budget := 1 + rng.IntN(200)
		pages := make([][]int, len(whole))
		shown := 0
		for offset := 0; ; {
			lists := make([][]int, len(whole))
			var piles []pile
			for i := range whole {
				lists[i] = slices.Clone(whole[i])
				piles = append(piles, pileOf(&lists[i], func(x int) int { return x }))
			}
			next := page(piles, offset, budget)
			size := 0
			for i := range lists {
				pages[i] = append(pages[i], lists[i]...)
				size += len(lists[i])
			}
			shown += size
			if size == 0 && total > 0 || shown > total {
				t.Fatalf("a page of %d elements at %d of %d", size, offset, total)
			}
			if next == 0 {
				break
			}
			if next != shown {
				t.Fatalf("%d were shown, and the next page begins at %d", shown, next)
			}
			offset = next
		}
		if diff := cmp.Diff(fmt.Sprint(whole), fmt.Sprint(pages)); diff != "" {
			t.Fatalf("budget %d: %s", budget, diff)
		}
	}
}

// Each page shows something of every list.
func TestPageIsFair(t *testing.T) {
	long, short := make([]int, 100), make([]int, 3)
	if next := page([]pile{pileOf(&long, costs[int](1)), pileOf(&short, costs[int](1))}, 0, 10); next != 10 {
		t.Errorf("next is %d", next)
	}
	if len(long) != 7 || len(short) != 3 {
		t.Errorf("%d and %d are shown", len(long), len(short))
	}
}
