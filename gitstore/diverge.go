package gitstore

import (
	"container/heap"
	"context"
	"errors"
	"fmt"
	"math"
)

// Divergence is how the histories of two commits differ.
type Divergence struct {
	Bases  []CommitID // as MergeBases
	Ours   []CommitID // reached from the first commit only, newest first
	Theirs []CommitID // reached from the second only, likewise
}

// Diverge compares the histories of two commits. It ends where a shallow clone
// does.
func (r *Repo) Diverge(ctx context.Context, ours, theirs CommitID) (*Divergence, error) {
	if ours == theirs {
		return &Divergence{Bases: []CommitID{ours}}, nil
	}
	w, err := r.newAncestry(ctx)
	if err != nil {
		return nil, err
	}
	p := paint{walk: w, flags: map[CommitID]uint8{}}
	d := &Divergence{}
	d.Bases, err = p.common(ours, theirs)
	if err == nil && len(d.Bases) > 1 {
		d.Bases, err = w.independent(d.Bases)
	}
	if err == nil {
		err = p.finish()
	}
	if err == nil {
		d.Ours, err = p.only(reachedByA)
	}
	if err == nil {
		d.Theirs, err = p.only(reachedByB)
	}
	if err != nil {
		return nil, fmt.Errorf("compare the histories of %s and %s: %w", ours, theirs, err)
	}
	return d, nil
}

// slack is by how many seconds clocks may differ.
const slack = 24 * 60 * 60

// finish goes on past the common ancestors until no commit that one side reached
// can still turn out to be reached by the other: to those that are a day older
// than all of them, for clocks differ.
func (p *paint) finish() error {
	oldest := int64(math.MaxInt64)
	for id, flags := range p.flags {
		if flags&stale != 0 {
			continue
		}
		c, err := p.walk.repo.node(id)
		if err != nil {
			return err
		}
		oldest = min(oldest, c.when)
	}
	for len(p.heap) > 0 && p.heap[0].commit.when >= oldest-slack {
		if err := p.walk.ctx.Err(); err != nil {
			return err
		}
		c := heap.Pop(&p.heap).(*datePoint).commit
		p.flags[c.id] &^= inHeap
		for _, parent := range p.walk.parents(c) {
			if err := p.give(parent, reachedByA|reachedByB|stale); err != nil {
				return err
			}
		}
	}
	return nil
}

// only lists the commits that one side alone reaches, newest first, and none
// before a descendant of its own.
func (p *paint) only(side uint8) ([]CommitID, error) {
	waits := map[CommitID]int{} // for so many descendants
	for id, flags := range p.flags {
		if flags&(reachedByA|reachedByB) == side {
			waits[id] += 0
			if err := p.eachParent(id, func(parent CommitID) { waits[parent]++ }); err != nil {
				return nil, err
			}
		}
	}
	var ready pointHeap
	push := func(id CommitID) error {
		c, err := p.walk.repo.node(id)
		if err == nil {
			heap.Push(&ready, &datePoint{commit: c})
		}
		return err
	}
	for id, n := range waits {
		if n == 0 && p.flags[id]&(reachedByA|reachedByB) == side {
			if err := push(id); err != nil {
				return nil, err
			}
		}
	}
	var ids []CommitID
	for ready.Len() > 0 {
		id := heap.Pop(&ready).(*datePoint).commit.id
		ids = append(ids, id)
		var failed error
		err := p.eachParent(id, func(parent CommitID) {
			if waits[parent]--; waits[parent] == 0 && p.flags[parent]&(reachedByA|reachedByB) == side {
				failed = errors.Join(failed, push(parent))
			}
		})
		if err = errors.Join(err, failed); err != nil {
			return nil, err
		}
	}
	return ids, nil
}

func (p *paint) eachParent(id CommitID, fn func(CommitID)) error {
	c, err := p.walk.repo.node(id)
	if err != nil {
		return err
	}
	for _, parent := range p.walk.parents(c) {
		fn(parent)
	}
	return nil
}
