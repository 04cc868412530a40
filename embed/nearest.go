package embed

import (
	"cmp"
	"context"
	"math"
	"slices"

	"kb/note"
	"kb/vector"
)

// Direction is where a text lies from the middle of a view: of length 1, or 0
// when it says nothing that others do not.
type Direction []float32

// Toward returns the direction of a vector of the view's model.
func (v *View) Toward(query []float32) Direction {
	if len(query) != v.dim {
		return make(Direction, v.dim) // there is no vector to compare it with
	}
	return vector.Centered(query, v.mean)
}

// Chunk returns the direction of a note's chunk.
func (v *View) Chunk(id note.ID, chunk int) (Direction, error) {
	if i, ok := v.note(id); ok {
		if n := int(v.first[i]) + chunk; chunk >= 0 && n < int(v.first[i+1]) {
			return v.direction(n)
		}
	}
	return make(Direction, v.dim), nil
}

// Note returns the direction of a note: that of its chunks together.
func (v *View) Note(id note.ID) (Direction, error) {
	sum := make([]float64, v.dim)
	i, ok := v.note(id)
	if !ok {
		return make(Direction, v.dim), nil
	}
	for chunk := v.first[i]; chunk < v.first[i+1]; chunk++ {
		d, err := v.direction(int(chunk))
		if err != nil {
			return nil, err
		}
		for j, x := range d {
			sum[j] += float64(x)
		}
	}
	return unit(sum), nil
}

// unit scales v to length 1.
func unit(v []float64) Direction {
	var sum float64
	for _, x := range v {
		sum += float64(x * x) // converted, so that nothing is fused
	}
	out := make(Direction, len(v))
	if sum > 0 {
		for i, x := range v {
			out[i] = float32(x / math.Sqrt(sum))
		}
	}
	return out
}

func (v *View) note(id note.ID) (int, bool) {
	return slices.BinarySearchFunc(v.ids, id, func(a, b note.ID) int { return slices.Compare(a[:], b[:]) })
}

func (v *View) direction(chunk int) (Direction, error) {
	at := v.chunks[chunk]
	if at.pack == nowhere {
		return make(Direction, v.dim), nil
	}
	row, err := v.packs[at.pack].Vector(int(at.row))
	if err != nil {
		return nil, err
	}
	return vector.Centered(row, v.mean), nil
}

// Near is how near a note is: the cosine of the direction asked for and of the
// note's nearest chunk, on a grid of 10⁻⁶.
type Near struct {
	Cosine float64
	Chunk  int
}

// Nearest returns the notes with the k chunks that lie furthest in a direction,
// and those of also, each with how near it is. Notes that keep does not keep are
// left out; nil keeps all.
func (v *View) Nearest(ctx context.Context, to Direction, k int, also []note.ID, keep func(note.ID) bool) (map[note.ID]Near, error) {
	notes, err := v.furthest(to, k, keep)
	if err != nil {
		return nil, err
	}
	for _, id := range also {
		if i, ok := v.note(id); ok {
			notes[int32(i)] = true
		}
	}
	out := make(map[note.ID]Near, len(notes))
	for i := range notes {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		near, ok, err := v.near(to, i)
		if err != nil {
			return nil, err
		}
		if ok {
			out[v.ids[i]] = near
		}
	}
	return out, nil
}

// foremost is how many chunks have a say in how much a query's cosines weigh.
const foremost = 3

// Weight returns the weight of cosines beside words for a query that lies in that
// direction; words gives the score of a note by words, relative to the best. It
// is a function of the view, the direction and words alone.
func (v *View) Weight(ctx context.Context, to Direction, words func(note.ID) float64) (float64, error) {
	spread, err := v.spread()
	if err != nil {
		return 0, err
	}
	notes, err := v.Nearest(ctx, to, foremost, nil, nil)
	if err != nil {
		return 0, err
	}
	var nearest float64
	var scores []float64
	for id, n := range notes {
		nearest, scores = max(nearest, n.Cosine), append(scores, words(id))
	}
	slices.Sort(scores) // a sum of numbers depends on their order, and that of a map is no order
	var agreement float64
	for _, score := range scores {
		agreement += score / float64(len(scores))
	}
	return spread.Weight(to, nearest, agreement), nil
}

// furthest returns the notes with the k chunks whose vectors have the largest
// product with a direction.
func (v *View) furthest(to Direction, k int, keep func(note.ID) bool) (map[int32]bool, error) {
	type hit struct {
		vector.Hit
		chunk int32
	}
	var hits []hit
	sets := v.all
	if keep != nil {
		sets = v.sets(keep)
	}
	for n, set := range sets {
		found, err := v.index.searcher(v.packs[n]).Search(to, k, set)
		if err != nil {
			return nil, err
		}
		for _, h := range found {
			row, _ := v.packs[n].Find(h.Key)
			hits = append(hits, hit{h, v.head[n][row]})
		}
	}
	slices.SortFunc(hits, func(a, b hit) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), slices.Compare(a.Key[:], b.Key[:]))
	})
	notes := map[int32]bool{}
	for _, h := range hits[:min(k, len(hits))] {
		for chunk := h.chunk; chunk != nowhere; chunk = v.next[chunk] {
			if i := v.owner[chunk]; keep == nil || keep(v.ids[i]) {
				notes[i] = true
			}
		}
	}
	return notes, nil
}

// near compares a direction with every chunk of note i. ok is false for a note
// without vectors.
func (v *View) near(to Direction, i int32) (near Near, ok bool, err error) {
	for chunk := v.first[i]; chunk < v.first[i+1]; chunk++ {
		at := v.chunks[chunk]
		if at.pack == nowhere {
			continue
		}
		row, err := v.packs[at.pack].Vector(int(at.row))
		if err != nil {
			return near, false, err
		}
		if cos := math.Round(vector.CenteredCosine(to, row, v.mean)*1e6) / 1e6; !ok || cos > near.Cosine {
			near, ok = Near{cos, int(chunk - v.first[i])}, true
		}
	}
	return near, ok, nil
}
