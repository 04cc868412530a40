package vault

import (
	"cmp"
	"slices"
	"strings"
)

// since relates a view to an earlier one, of which something is known that holds
// for most of this one's docs, too.
type since struct {
	then   *contents // the earlier one
	fresh  []int     // docs of this view that are not in the earlier one, path and bytes
	gone   []int     // docs of the earlier view that are not in this one
	placed bool      // both have the same paths, docs and other files

	differ   map[int]bool // where docs have the same numbers in both: those that are others; else nil, and
	was, now []int32      // by doc of this view the number in the earlier one, and the reverse; -1 for none
}

// before is the number that a doc of this view has in the earlier one; -1 for none.
func (s *since) before(i int) int {
	switch {
	case s.was != nil:
		return int(s.was[i])
	case s.differ[i]:
		return -1
	}
	return i
}

// after is the number that a doc of the earlier view has in this one; -1 for none.
func (s *since) after(j int) int {
	switch {
	case s.now != nil:
		return int(s.now[j])
	case s.differ[j]:
		return -1
	}
	return j
}

// few reports whether what is known of the earlier view is worth to be taken over.
func (s *since) few(docs int) bool { return len(s.fresh)+len(s.gone) <= 16+docs/20 }

// number fills in which doc is which.
func (s *since) number(docs int) {
	if slices.Equal(s.fresh, s.gone) {
		s.differ = make(map[int]bool, len(s.fresh))
		for _, i := range s.fresh {
			s.differ[i] = true
		}
		return
	}
	s.was, s.now = make([]int32, docs), make([]int32, len(s.then.docs))
	for _, i := range s.fresh {
		s.was[i] = -1
	}
	for _, j := range s.gone {
		s.now[j] = -1
	}
	j := 0
	for i := range s.was {
		if s.was[i] < 0 {
			continue
		}
		for s.now[j] < 0 {
			j++
		}
		s.was[i], s.now[j] = int32(j), int32(i)
		j++
	}
}

// carried is what an earlier view has for each doc, for the docs of this one: zero
// for those that it has not.
func carried[T any](s *since, old []T, docs int) []T {
	out := make([]T, docs)
	if s.was == nil {
		copy(out, old)
		var none T
		for i := range s.differ {
			out[i] = none
		}
		return out
	}
	for i, j := range s.was {
		if j >= 0 {
			out[i] = old[j]
		}
	}
	return out
}

// relation is how two views in memory differ.
type relation struct {
	now *contents
	*since
}

const keptRelations = 2 * cachedViews

// relate remembers how a view differs from an earlier one.
func (v *Vault) relate(now *contents, s *since) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.relations = append(v.relations, relation{now, s})
	if len(v.relations) > keptRelations {
		v.relations = slices.Delete(v.relations, 0, 1)
	}
}

// since compares two views, unless that is known.
func (v *Vault) since(old, now *contents) *since {
	v.mu.Lock()
	for _, r := range v.relations {
		if r.now == now && r.then == old {
			v.mu.Unlock()
			return r.since
		}
	}
	v.mu.Unlock()
	s := compareViews(old, now)
	v.relate(now, s)
	return s
}

// earlier finds the latest view in memory of which known reports that it has what
// is wanted; nil for none that has most docs in common with w. The last view that
// known is asked about is the one found. w.mu is not to be held.
func (w *view) earlier(known func(*contents) bool) *since {
	w.v.mu.Lock()
	views := slices.Clone(w.v.views)
	w.v.mu.Unlock()
	for _, c := range slices.Backward(views) {
		if c == w.contents || c.gaps.any() {
			continue
		}
		c.mu.Lock()
		ok := known(c)
		c.mu.Unlock()
		if !ok {
			continue
		}
		if s := w.v.since(c, w.contents); s.few(len(w.docs)) {
			return s
		}
	}
	return nil
}

// compareViews goes through the docs of two views, which are in the same order.
func compareViews(old, now *contents) *since {
	s := &since{then: old, placed: len(now.docs) == len(old.docs)}
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
		s.placed = s.placed && order == 0
		if order <= 0 {
			if !same {
				s.fresh = append(s.fresh, i)
			}
			i++
		}
		if order >= 0 {
			if !same {
				s.gone = append(s.gone, j)
			}
			j++
		}
	}
	for c, files := range now.others {
		s.placed = s.placed && slices.Equal(files, old.others[c])
	}
	s.placed = s.placed && len(now.others) == len(old.others)
	s.number(len(now.docs))
	return s
}

// compare is the order of docs in a view.
func (d doc) compare(o doc) int {
	return cmp.Or(strings.Compare(d.col.Name, o.col.Name), strings.Compare(d.path, o.path))
}
