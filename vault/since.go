package vault

import (
	"cmp"
	"slices"
	"strings"
)

// since relates a view to an earlier one, of which something is known that holds
// for most of this one's docs, too.
type since struct {
	docs   []doc // of the earlier view
	others map[*collection][]string
	was    []int // by doc of this view: the same path with the same bytes in the earlier one, -1 for none
	now    []int // by doc of the earlier view: the same in this one, -1 for none
	fresh  []int // docs of this view that are not in the earlier one
	gone   []int // docs of the earlier view that are not in this one
	placed bool  // both have the same paths
}

// earlier finds the latest view in memory of which known reports that it has what
// is wanted; nil for none that has most docs in common with w. The last view that
// known is asked about is the one found. w.mu is not to be held.
func (w *view) earlier(known func(*contents) bool) *since {
	w.v.mu.Lock()
	views := slices.Clone(w.v.views)
	w.v.mu.Unlock()
	for _, c := range slices.Backward(views) {
		if c == w.contents || c.partial.Load() {
			continue
		}
		c.mu.Lock()
		ok := known(c)
		c.mu.Unlock()
		if !ok {
			continue
		}
		if s := compareViews(c, w.contents); len(s.fresh)+len(s.gone) <= 16+len(w.docs)/20 {
			return s
		}
	}
	return nil
}

// compareViews goes through the docs of two views, which are in the same order.
func compareViews(old, now *contents) *since {
	s := &since{docs: old.docs, others: old.others, was: make([]int, len(now.docs)), now: make([]int, len(old.docs)), placed: len(now.docs) == len(old.docs)}
	for i, j := 0, 0; i < len(now.docs) || j < len(old.docs); {
		order := 0
		switch {
		case i == len(now.docs):
			order = 1
		case j == len(old.docs):
			order = -1
		default:
			order = now.docs[i].compare(old.docs[j])
		}
		same := order == 0 && now.docs[i].blob == old.docs[j].blob
		if same {
			s.was[i], s.now[j] = j, i
		}
		s.placed = s.placed && order == 0
		if order <= 0 {
			if !same {
				s.was[i], s.fresh = -1, append(s.fresh, i)
			}
			i++
		}
		if order >= 0 {
			if !same {
				s.now[j], s.gone = -1, append(s.gone, j)
			}
			j++
		}
	}
	for c, files := range now.others {
		s.placed = s.placed && slices.Equal(files, old.others[c])
	}
	s.placed = s.placed && len(now.others) == len(old.others)
	return s
}

// compare is the order of docs in a view.
func (d doc) compare(o doc) int {
	return cmp.Or(strings.Compare(d.col.Name, o.col.Name), strings.Compare(d.path, o.path))
}
