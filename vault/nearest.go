package vault

import (
	"slices"
	"strings"
)

// nearest returns at most n of the candidates that a person who wrote word may
// have meant, best first: equal but for case, or within a third of its length
// in edits, or holding it.
func nearest(word string, candidates []string, n int) []string {
	type near struct {
		text string
		dist int
	}
	w := strings.ToLower(word)
	limit := max(1, len([]rune(w))/3)
	var found []near
	for _, c := range candidates {
		l := strings.ToLower(c)
		d := editDistance(w, l, limit)
		if d > limit && len(w) >= 3 && strings.Contains(l, w) {
			d = limit
		}
		if d <= limit {
			found = append(found, near{c, d})
		}
	}
	slices.SortStableFunc(found, func(a, b near) int {
		if a.dist != b.dist {
			return a.dist - b.dist
		}
		return strings.Compare(a.text, b.text)
	})
	var out []string
	for _, f := range found[:min(n, len(found))] {
		out = append(out, f.text)
	}
	return out
}

// editDistance is the optimal string alignment distance of a and b (insert,
// delete, replace, swap of neighbours), or more than limit when it is larger.
func editDistance(a, b string, limit int) int {
	x, y := []rune(a), []rune(b)
	if d := len(x) - len(y); d > limit || -d > limit {
		return limit + 1
	}
	before, prev, row := make([]int, len(y)+1), make([]int, len(y)+1), make([]int, len(y)+1)
	for j := range prev {
		prev[j] = j
	}
	for i := 1; i <= len(x); i++ {
		row[0] = i
		best := i
		for j := 1; j <= len(y); j++ {
			cost := 1
			if x[i-1] == y[j-1] {
				cost = 0
			}
			row[j] = min(prev[j]+1, row[j-1]+1, prev[j-1]+cost)
			if i > 1 && j > 1 && x[i-1] == y[j-2] && x[i-2] == y[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
			best = min(best, row[j])
		}
		if best > limit {
			return limit + 1
		}
		before, prev, row = prev, row, before
	}
	return prev[len(y)]
}
