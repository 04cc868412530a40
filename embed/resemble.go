package embed

import (
	"cmp"
	"context"
	"errors"
	"math"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"kb/note"
	"kb/vector"
)

// Bar is what two notes must reach to say nearly the same. Their match - the mean
// over the chunks of either note of the cosine with the other's nearest chunk,
// the lesser of the two - is at least Match, and what it lacks of 1 is at most
// Apart of what the notes around lack. The second condition holds a model, or a
// view, to which all notes are alike.
type Bar struct{ Match, Apart float64 }

// Twin is a note that says nearly the same as another.
type Twin struct {
	ID    note.ID
	Match float64
}

const (
	around     = 10  // notes that a note is compared with
	mostChunks = 256 // of a note, to be matched
)

// Twins returns, for those of ids that have any, the others that say nearly the
// same, the nearest first. Those are looked for among the ten that are nearest.
// It compares each with each: that is for thousands of notes, not for tens of thousands.
func (v *View) Twins(ctx context.Context, ids []note.ID, bar Bar) (map[note.ID][]Twin, error) {
	ids = slices.SortedFunc(slices.Values(ids), compareIDs)
	notes, err := v.outlines(ids)
	if err != nil {
		return nil, err
	}
	found := make([][]Twin, len(ids))
	err = each(ctx, len(ids), func(i int) (err error) {
		found[i], err = v.twins(notes, ids[i], bar)
		return err
	})
	out := map[note.ID][]Twin{}
	for i, twins := range found {
		if len(twins) > 0 {
			out[ids[i]] = twins
		}
	}
	return out, err
}

// each calls fn with the numbers below n, several at once.
func each(ctx context.Context, n int, fn func(int) error) error {
	var next atomic.Int64
	workers := runtime.GOMAXPROCS(0)
	errs := make([]error, workers)
	var wg sync.WaitGroup
	for k := range workers {
		wg.Go(func() {
			for errs[k] == nil {
				i := int(next.Add(1)) - 1
				if i >= n {
					return
				}
				if errs[k] = ctx.Err(); errs[k] == nil {
					errs[k] = fn(i)
				}
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

// outlines returns the directions of notes, which ascend.
func (v *View) outlines(ids []note.ID) (*vector.Pack, error) {
	var err error
	notes, werr := vector.NewPack("", max(1, v.dim), func(yield func(vector.Key, []float32) bool) {
		for _, id := range ids {
			var to Direction
			if to, err = v.Note(id); err != nil || !yield(outlineKey(id), to) {
				return
			}
		}
	})
	return notes, cmp.Or(err, werr)
}

func outlineKey(id note.ID) (key vector.Key) {
	copy(key[:], id[:])
	return key
}

func (v *View) twins(notes *vector.Pack, id note.ID, bar Bar) ([]Twin, error) {
	to, err := v.Note(id)
	if err != nil {
		return nil, err
	}
	hits, err := notes.Search(to, around+1, nil)
	if err != nil {
		return nil, err
	}
	var near []Twin
	for _, h := range hits {
		if other := note.ID(h.Key[:len(id)]); other != id {
			near = append(near, Twin{other, h.Score})
		}
	}
	chunks, err := v.chunksOf(id)
	if err != nil {
		return nil, err
	}
	return v.judge(chunks, near[:min(around, len(near))], bar)
}

// judge returns those of the nearest notes that reach the bar. near has their
// cosines, and they leave as matches.
func (v *View) judge(chunks []Direction, near []Twin, bar Bar) (twins []Twin, err error) {
	rest := 0.0
	for i, n := range near {
		if i > 0 {
			rest += n.Match / float64(len(near)-1)
		}
	}
	least := max(bar.Match, 1-float64(bar.Apart*(1-max(0, rest)))) // converted, so that nothing is fused
	for _, n := range near {
		if n.Match < bar.Match {
			break
		}
		others, err := v.chunksOf(n.ID)
		if err != nil {
			return nil, err
		}
		if n.Match = match(chunks, others); n.Match >= least {
			twins = append(twins, n)
		}
	}
	slices.SortStableFunc(twins, func(a, b Twin) int { return cmp.Compare(b.Match, a.Match) })
	return twins, nil
}

// Match returns how much two notes of the view say the same; see [Bar].
func (v *View) Match(a, b note.ID) (float64, error) {
	x, err := v.chunksOf(a)
	if err != nil {
		return 0, err
	}
	y, err := v.chunksOf(b)
	if err != nil {
		return 0, err
	}
	return match(x, y), nil
}

// chunksOf returns the directions of a note's chunks.
func (v *View) chunksOf(id note.ID) (out []Direction, err error) {
	i, ok := v.note(id)
	if !ok {
		return nil, nil
	}
	for chunk := v.first[i]; chunk < v.first[i+1] && len(out) < mostChunks; chunk++ {
		to, err := v.direction(int(chunk))
		if err != nil {
			return nil, err
		}
		out = append(out, to)
	}
	return out, nil
}

// match is on a grid of 10⁻⁶.
func match(a, b []Direction) float64 {
	return math.Round(min(covers(a, b), covers(b, a))*1e6) / 1e6
}

// covers is the mean of the cosines of a's chunks with the nearest of b's.
func covers(a, b []Direction) float64 {
	sum := 0.0
	for _, x := range a {
		best := -1.0
		for _, y := range b {
			best = max(best, vector.Dot(x, y))
		}
		sum += best
	}
	return sum / float64(max(1, len(a)))
}

// Resembling returns the notes of the view that say nearly the same as the notes
// of another, the nearest first. Notes that keep does not keep are left out.
func (v *View) Resembling(ctx context.Context, other *View, bar Bar, keep func(note.ID) bool) ([]Twin, error) {
	if other.dim != v.dim {
		return nil, nil
	}
	sum := make([]float64, v.dim)
	var chunks []Direction
	for _, at := range other.chunks {
		if at.pack == nowhere {
			continue
		}
		row, err := other.packs[at.pack].Vector(int(at.row))
		if err != nil {
			return nil, err
		}
		to := v.Toward(row)
		for j, x := range to {
			sum[j] += float64(x)
		}
		if len(chunks) < mostChunks {
			chunks = append(chunks, to)
		}
	}
	near, err := v.neighbours(ctx, unit(sum), keep)
	if err != nil {
		return nil, err
	}
	return v.judge(chunks, near, bar)
}

// neighbours returns the notes that lie nearest to a direction, among those with
// the chunks that do.
func (v *View) neighbours(ctx context.Context, to Direction, keep func(note.ID) bool) ([]Twin, error) {
	const chunks = 20 * around
	found, err := v.furthest(to, chunks, keep)
	if err != nil {
		return nil, err
	}
	near := make([]Twin, 0, len(found))
	for i := range found {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		other, err := v.Note(v.ids[i])
		if err != nil {
			return nil, err
		}
		near = append(near, Twin{v.ids[i], vector.Dot(to, other)})
	}
	slices.SortFunc(near, func(a, b Twin) int { return cmp.Or(cmp.Compare(b.Match, a.Match), compareIDs(a.ID, b.ID)) })
	return near[:min(around, len(near))], nil
}
