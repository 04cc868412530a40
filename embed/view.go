package embed

import (
	"math"
	"sync"

	"kb/note"
	"kb/vector"
)

// Coverage says of how many notes every text is settled: it has a vector, or
// failed for good. Missing are the texts that are known not to be.
type Coverage struct {
	Notes   int
	Done    int
	Missing int
}

// Complete reports whether there is nothing left to embed.
func (c Coverage) Complete() bool { return c.Done == c.Notes }

// Part is the part of the notes that are done, from 0 to 1.
func (c Coverage) Part() float64 {
	if c.Notes == 0 {
		return 1
	}
	return math.Floor(float64(c.Done)/float64(c.Notes)*1000) / 1000
}

// View is the vectors of a set of notes. It is immutable and safe for concurrent
// use, and its answers are a function of the notes and the recipes.
type View struct {
	index  *Index
	dim    int
	packs  []*vector.Pack
	all    []*vector.Set // the view's vectors, by pack
	mean   []float64     // of all
	spread func() (vector.Spread, error)
	ids    []note.ID // ascending
	first  []int32   // by note: where its chunks begin in chunks; one more at the end
	chunks []place
	owner  []int32   // by chunk: the note
	head   [][]int32 // by pack and row: a chunk with that vector, or -1
	next   []int32   // by chunk: another with the same vector, or -1
}

// place is where a vector is; in no pack when the text failed.
type place struct{ pack, row int32 }

const nowhere = -1

// link computes what searches need.
func (v *View) link() {
	for _, p := range v.packs {
		v.dim = p.Dim()
		rows := make([]int32, p.Len())
		for i := range rows {
			rows[i] = nowhere
		}
		v.head = append(v.head, rows)
	}
	v.next = make([]int32, len(v.chunks))
	for i := len(v.chunks) - 1; i >= 0; i-- {
		v.next[i] = nowhere
		if at := v.chunks[i]; at.pack != nowhere {
			v.next[i], v.head[at.pack][at.row] = v.head[at.pack][at.row], int32(i)
		}
	}
	v.all = v.sets(func(note.ID) bool { return true })
	v.mean = vector.Mean(v.dim, v.all...)
	v.spread = sync.OnceValues(func() (vector.Spread, error) { return vector.SpreadOf(v.mean, v.all...) })
}

// sets returns the vectors of the notes that keep keeps, in each pack.
func (v *View) sets(keep func(note.ID) bool) []*vector.Set {
	sets := make([]*vector.Set, len(v.packs))
	for n, p := range v.packs {
		sets[n] = p.Set(func(yield func(int) bool) {
			for row, chunk := range v.head[n] {
				for chunk != nowhere && !keep(v.ids[v.owner[chunk]]) {
					chunk = v.next[chunk]
				}
				if chunk != nowhere && !yield(row) {
					return
				}
			}
		})
	}
	return sets
}
