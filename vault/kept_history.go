package vault

import (
	"bytes"
	"context"
	"encoding/gob"

	"kb/cas"
	"kb/gitstore"
)

// farWalk is how many commits a walk of history passes before its result is
// worth keeping: the next walk then ends at it.
const farWalk = 200

// dates returns the history facts of a commit.
func (s *Store) dates(ctx context.Context, r *repo, id gitstore.CommitID) (*gitstore.Dates, error) {
	return told(ctx, s, datesRecipe, s.history, id, func(known func(gitstore.CommitID) (*gitstore.Dates, bool)) (*gitstore.Dates, bool, error) {
		d, err := r.Dates(ctx, id, known)
		return d, true, err
	})
}

// mostVersions is how many versions of each note a past has.
const mostVersions = 20

// past returns the past of every file of a commit. One with gaps is not kept: what
// is missing may come.
func (s *Store) past(ctx context.Context, r *repo, id gitstore.CommitID) (*gitstore.Past, error) {
	return told(ctx, s, pastRecipe, s.pasts, id, func(known func(gitstore.CommitID) (*gitstore.Past, bool)) (*gitstore.Past, bool, error) {
		p, err := r.Pasts(ctx, id, mostVersions, known)
		return p, err == nil && !p.Gaps, err
	})
}

// told is what history tells of a commit: from memory, from the store, or walked
// from the nearest commit that is known. walk says whether its result is to be kept.
func told[T any](ctx context.Context, s *Store, recipe string, memory map[gitstore.CommitID]*T, id gitstore.CommitID,
	walk func(known func(gitstore.CommitID) (*T, bool)) (d *T, keep bool, err error)) (*T, error) {
	select {
	case s.walking <- struct{}{}:
		defer func() { <-s.walking }()
	case <-ctx.Done():
		return nil, ctxErr(ctx)
	}
	remembered := func(c gitstore.CommitID) *T {
		s.mu.Lock()
		defer s.mu.Unlock()
		return memory[c]
	}
	if d := remembered(id); d != nil {
		return d, nil
	}
	walked := 0
	d, keep, err := walk(func(c gitstore.CommitID) (*T, bool) {
		d := remembered(c)
		if d == nil {
			d = stored[T](s, recipe, c)
		}
		if d == nil {
			walked++
		}
		return d, d != nil
	})
	if err != nil || !keep {
		return d, err
	}
	s.mu.Lock()
	if len(memory) >= cachedHistory {
		clear(memory)
	}
	memory[id] = d
	s.mu.Unlock()
	if walked < farWalk {
		return d, nil
	}
	return d, keepTold(s, recipe, id, d)
}

// stored reads what history told of a commit; nil when it is not kept.
func stored[T any](s *Store, recipe string, id gitstore.CommitID) *T {
	b, ok := s.get(cas.Dates, recipe, id[:])
	if !ok {
		return nil
	}
	d := new(T)
	if err := gob.NewDecoder(bytes.NewReader(b)).Decode(d); err != nil {
		s.log("history of %s: %v", id, err)
		return nil
	}
	return d
}

func keepTold[T any](s *Store, recipe string, id gitstore.CommitID, d *T) error {
	var b bytes.Buffer
	if err := gob.NewEncoder(&b).Encode(d); err != nil {
		return err
	}
	return s.put(cas.Dates, recipe, id[:], b.Bytes())
}
