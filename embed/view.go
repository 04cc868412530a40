package embed

import (
	"context"
	"maps"
	"math"
	"slices"

	"kb/cas"
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
	ids    []note.ID     // ascending
	first  []int32       // by note: where its chunks begin in chunks; one more at the end
	chunks []place
	owner  []int32   // by chunk: the note
	head   [][]int32 // by pack and row: a chunk with that vector, or -1
	next   []int32   // by chunk: another with the same vector, or -1
}

// place is where a vector is; in no pack when the text failed.
type place struct{ pack, row int32 }

const nowhere = -1

// View returns the view of ids, which are distinct, and how much of it is
// covered. It is nil unless that is all.
func (x *Index) View(ctx context.Context, ids []note.ID) (*View, Coverage, error) {
	c := Coverage{Notes: len(ids)}
	lists, err := x.facts.Chunks(ctx, x.chunks, ids)
	if err != nil {
		return nil, c, err
	}
	v := &View{index: x, ids: slices.Clone(ids)}
	slices.SortFunc(v.ids, func(a, b note.ID) int { return slices.Compare(a[:], b[:]) })
	var texts []cas.Hash
	for i, id := range v.ids {
		v.first = append(v.first, int32(len(texts)))
		texts = append(texts, lists[id]...)
		for range lists[id] {
			v.owner = append(v.owner, int32(i))
		}
	}
	v.first = append(v.first, int32(len(texts)))
	unsettled, err := x.fill(ctx, v, texts)
	if err != nil {
		return nil, c, err
	}
	c.Missing = len(unsettled)
	x.mu.Lock()
	defer x.mu.Unlock()
	for i, id := range v.ids {
		if (lists[id] != nil || x.unreadable[id]) && !slices.ContainsFunc(texts[v.first[i]:v.first[i+1]], func(h cas.Hash) bool { return unsettled[h] }) {
			c.Done++
		}
	}
	if !c.Complete() {
		return nil, c, nil
	}
	v.link()
	return v, c, nil
}

// fill finds the vectors of texts. It returns those that are not settled.
func (x *Index) fill(ctx context.Context, v *View, texts []cas.Hash) (unsettled map[cas.Hash]bool, err error) {
	base := x.packs.current()
	missing := v.locate(base, texts)
	var found map[cas.Hash][]float32
	if len(missing) > 0 {
		if found, err = x.facts.Vectors(ctx, x.vectors, missing); err != nil {
			return nil, err
		}
	}
	if x.packs.worth(len(found)) {
		// Without room for a file, the vectors are searched in memory.
		if base, err := x.repack(ctx); err == nil && base != nil {
			missing = v.locate(base, texts)
			maps.DeleteFunc(found, func(h cas.Hash, _ []float32) bool {
				_, ok := base.Find(vector.Key(h))
				return ok
			})
		}
	}
	extra, err := x.inMemory(found)
	if err != nil {
		return nil, err
	}
	if extra != nil {
		v.add(extra, texts)
	}
	return x.unsettledOf(ctx, missing, found)
}

// unsettledOf returns those of missing that are not among found and did not fail.
// A vector that is stored but cannot be read is dropped, to be made again.
func (x *Index) unsettledOf(ctx context.Context, missing []cas.Hash, found map[cas.Hash][]float32) (map[cas.Hash]bool, error) {
	lost := slices.DeleteFunc(missing, func(h cas.Hash) bool { return found[h] != nil })
	out := map[cas.Hash]bool{}
	if len(lost) == 0 {
		return out, nil
	}
	failed, err := x.facts.Failures(ctx, x.vectors, lost)
	if err != nil {
		return nil, err
	}
	var doubtful []cas.Hash
	for _, h := range lost {
		if failed[h].Attempts < Attempts {
			out[h] = true
			doubtful = append(doubtful, h)
		}
	}
	absent, err := x.facts.MissingVectors(x.vectors, doubtful)
	if err != nil || len(absent) == len(out) {
		return out, err
	}
	var damaged []cas.Key
	for h := range out {
		if !slices.Contains(absent, h) {
			damaged = append(damaged, cas.Vectors.Key(x.vectors, h[:]))
		}
	}
	return out, x.facts.Delete(damaged...)
}

// locate begins the view with the vectors that base has of texts, and returns
// the texts that it lacks.
func (v *View) locate(base *vector.Pack, texts []cas.Hash) (missing []cas.Hash) {
	v.packs, v.chunks = nil, make([]place, len(texts))
	if base != nil {
		v.packs = append(v.packs, base)
	}
	for i, h := range texts {
		v.chunks[i] = place{nowhere, nowhere}
		if base != nil {
			if row, ok := base.Find(vector.Key(h)); ok {
				v.chunks[i] = place{0, int32(row)}
				continue
			}
		}
		missing = append(missing, h)
	}
	return missing
}

// add adds the vectors of another pack.
func (v *View) add(p *vector.Pack, texts []cas.Hash) {
	n := int32(len(v.packs))
	v.packs = append(v.packs, p)
	for i, h := range texts {
		if v.chunks[i].pack == nowhere {
			if row, ok := p.Find(vector.Key(h)); ok {
				v.chunks[i] = place{n, int32(row)}
			}
		}
	}
}

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
