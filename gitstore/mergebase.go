package gitstore

import (
	"container/heap"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
)

// MergeBases returns the best common ancestors of two commits, newest first:
// those that are no ancestor of another common ancestor. Criss-cross merges have
// several, unrelated histories none. History ends where a shallow clone does.
func (r *Repo) MergeBases(ctx context.Context, a, b CommitID) ([]CommitID, error) {
	if a == b {
		return []CommitID{a}, nil
	}
	w, err := r.newAncestry(ctx)
	if err != nil {
		return nil, err
	}
	p := paint{walk: w, flags: map[CommitID]uint8{}}
	found, err := p.common(a, b)
	if err == nil && len(found) > 1 {
		found, err = w.independent(found)
	}
	if err != nil {
		return nil, fmt.Errorf("find merge base of %s and %s: %w", a, b, err)
	}
	return found, nil
}

// IsAncestor reports whether a is b or an ancestor of it.
func (r *Repo) IsAncestor(ctx context.Context, a, b CommitID) (bool, error) {
	w, err := r.newAncestry(ctx)
	if err != nil {
		return false, err
	}
	return w.reaches([]CommitID{b}, a, math.MinInt64)
}

// ReachedBy reports whether id is one of tips or an ancestor of one. Clocks may be
// wrong by a day: what is older than id by more is not looked at. History ends
// where a shallow clone does, and where objects are missing.
func (r *Repo) ReachedBy(ctx context.Context, tips []CommitID, id CommitID) (bool, error) {
	want, err := r.node(id)
	if err != nil {
		return false, err
	}
	w, err := r.newAncestry(ctx)
	if err != nil {
		return false, err
	}
	w.partial = true
	return w.reaches(tips, id, want.when-slack)
}

// ancestry walks history from several commits at a time.
type ancestry struct {
	ctx     context.Context
	repo    *Repo
	shallow map[CommitID]bool
	partial bool // a commit that is missing is where history ends, not an error
}

func (r *Repo) newAncestry(ctx context.Context) (*ancestry, error) {
	shallow, err := r.shallow()
	return &ancestry{ctx: ctx, repo: r, shallow: shallow}, err
}

func (w *ancestry) parents(c *graphCommit) []CommitID {
	if w.shallow[c.id] {
		return nil
	}
	return c.parents
}

// What is known of a commit during the walk for common ancestors.
const (
	reachedByA = 1 << iota
	reachedByB
	stale // an ancestor of a common ancestor
	listed
)

// paint is the state of a walk for common ancestors.
type paint struct {
	walk  *ancestry
	flags map[CommitID]uint8
	heap  pointHeap
	fresh int // how many in the heap are not stale
}

// inHeap is a mark of its own: the commit waits to be visited.
const inHeap = 1 << 4

// common walks from both commits, newest first, until all that is left is known
// to be older than a common ancestor.
func (p *paint) common(a, b CommitID) ([]CommitID, error) {
	if err := p.give(a, reachedByA); err != nil {
		return nil, err
	}
	if err := p.give(b, reachedByB); err != nil {
		return nil, err
	}
	var found []CommitID
	for p.fresh > 0 {
		if err := p.walk.ctx.Err(); err != nil {
			return nil, err
		}
		c := heap.Pop(&p.heap).(*datePoint).commit
		flags := p.flags[c.id]
		p.flags[c.id] &^= inHeap
		if flags&stale == 0 {
			p.fresh--
		}
		down := flags & (reachedByA | reachedByB | stale)
		if down == reachedByA|reachedByB {
			if flags&listed == 0 {
				p.flags[c.id] |= listed
				found = append(found, c.id)
			}
			down |= stale
		}
		for _, parent := range p.walk.parents(c) {
			if err := p.give(parent, down); err != nil {
				return nil, err
			}
		}
	}
	var best []CommitID
	for _, id := range found {
		if p.flags[id]&stale == 0 {
			best = append(best, id)
		}
	}
	return best, nil
}

// give marks a commit, and visits it unless it had the marks.
func (p *paint) give(id CommitID, marks uint8) error {
	was, known := p.flags[id]
	if was&marks == marks && known {
		return nil
	}
	c, err := p.walk.repo.node(id)
	if err != nil {
		return err
	}
	now := was | marks | inHeap
	p.flags[id] = now
	switch {
	case was&inHeap == 0:
		heap.Push(&p.heap, &datePoint{commit: c})
		if now&stale == 0 {
			p.fresh++
		}
	case was&stale == 0 && now&stale != 0:
		p.fresh--
	}
	return nil
}

// independent drops commits that others reach; dates that lie may leave some.
func (w *ancestry) independent(ids []CommitID) ([]CommitID, error) {
	var kept []CommitID
	for i, id := range ids {
		reached := false
		for k, other := range ids {
			if i == k || reached {
				continue
			}
			var err error
			if reached, err = w.reaches([]CommitID{other}, id, math.MinInt64); err != nil {
				return nil, err
			}
		}
		if !reached {
			kept = append(kept, id)
		}
	}
	return kept, nil
}

// reaches reports whether to is among from or an ancestor of one of them. Of what
// is older than oldest it does not look at parents.
func (w *ancestry) reaches(from []CommitID, to CommitID, oldest int64) (bool, error) {
	seen := map[CommitID]bool{}
	for queue := slices.Clone(from); len(queue) > 0; {
		id := queue[len(queue)-1]
		queue = queue[:len(queue)-1]
		if id == to {
			return true, nil
		}
		if seen[id] {
			continue
		}
		seen[id] = true
		if err := w.ctx.Err(); err != nil {
			return false, err
		}
		c, err := w.repo.node(id)
		if w.partial && errors.Is(err, ErrNotFound) {
			continue
		}
		if err != nil {
			return false, err
		}
		if c.when >= oldest {
			queue = append(queue, w.parents(c)...)
		}
	}
	return false, nil
}
