package vault

import (
	"context"
	"time"

	"kb/gitstore"
	"kb/note"
)

// dated is when a note was created and last changed, as YYYY-MM-DD, and who
// last changed it.
type dated struct {
	created, updated string
	author           string
}

// datesOf returns a function that dates a doc: by its frontmatter, else by
// history. A note that is not committed yet is dated by the view's clock.
func (w *view) datesOf(ctx context.Context) (func(i int, c *card) dated, error) {
	history, err := w.history(ctx)
	if err != nil {
		return nil, err
	}
	today := w.clock().Format(time.DateOnly)
	return func(i int, c *card) dated {
		d := w.docs[i]
		var out dated
		if h := history[d.col.repo]; h != nil {
			if f, ok := h.At(d.col.full(d.path)); ok {
				out = dated{created: day(f.Created), updated: day(f.Updated), author: f.Author}
			}
		}
		if d.uncommitted {
			out.updated = today
			if out.created == "" {
				out.created = today
			}
		}
		if t, ok := note.ParseDate(c.created); ok {
			out.created = day(t)
		}
		if t, ok := note.ParseDate(c.updated); ok {
			out.updated = day(t)
		}
		return out
	}, nil
}

func day(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.DateOnly)
}

// history returns the dates of every path in each repository at the view's
// commits, from one walk of the commits, kept by commit.
func (w *view) history(ctx context.Context) (map[*repo]*gitstore.Dates, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.dates != nil {
		return w.dates, nil
	}
	all := map[*repo]*gitstore.Dates{}
	for _, b := range w.bases {
		if b.commit.IsZero() {
			continue
		}
		w.v.report(0, 0, "reading history")
		d, err := w.v.store.dates(ctx, b.repo, b.commit)
		if err != nil {
			return nil, errorf(Internal, "read the history of %s: %w", b.commit, err)
		}
		all[b.repo] = d
	}
	w.dates = all
	return all, nil
}

// days dates every doc, in their order: those whose dates an earlier view knows
// share them with it.
func (w *view) days(ctx context.Context) ([]*dated, error) {
	cards, err := w.allCards(ctx)
	if err != nil {
		return nil, err
	}
	date, err := w.datesOf(ctx)
	if err != nil {
		return nil, err
	}
	var was []*dated
	var then map[*repo]*gitstore.Dates
	s := w.earlier(func(c *contents) bool { was, then = c.dated, c.dates; return was != nil && then != nil })
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.dated != nil {
		return w.dated, nil
	}
	days, ok := w.daysSince(s, was, then)
	if !ok {
		days = make([]*dated, len(w.docs))
	}
	for i, d := range days {
		if d != nil {
			continue
		}
		now := date(i, cards[i])
		days[i] = &now
		if ok {
			if j := s.before(i); j >= 0 && *was[j] == now {
				days[i] = was[j]
			}
		}
	}
	w.dated = days
	return days, nil
}

// daysSince takes over the dates of docs that have the same in an earlier view,
// and leaves the others nil; false where that is not known.
func (w *view) daysSince(s *since, was []*dated, then map[*repo]*gitstore.Dates) ([]*dated, bool) {
	if s == nil || len(then) != len(w.dates) {
		return nil, false
	}
	days := carried(s, was, len(w.docs))
	for r, h := range w.dates {
		if then[r] == nil {
			return nil, false
		}
		paths, ok := h.Differing(then[r])
		if !ok {
			return nil, false
		}
		for _, p := range paths {
			for _, c := range r.cols {
				if p, inside := c.within(p); inside {
					if i, ok := w.find(c, p); ok {
						days[i] = nil
					}
				}
			}
		}
	}
	if w.worktree || s.then.worktree {
		for i := range w.docs {
			if j := s.before(i); j < 0 || w.docs[i].uncommitted || s.then.docs[j].uncommitted {
				days[i] = nil
			}
		}
	}
	return days, true
}
