package vault

import (
	"context"
	"slices"
	"time"
)

// checkup is what is wrong with the docs of a view, but for what takes their
// meaning. It is a function of the view, made from an earlier view's where there is
// one.
type checkup struct {
	inspector
	marks  [][]mark // by doc
	counts map[*collection]*[findKinds]int
}

// checkup returns what is wrong with the docs of x's view, which it keeps.
func (x *inspector) checkup(ctx context.Context) (*checkup, error) {
	var old *checkup
	s := x.earlier(func(c *contents) bool { old = c.checkup; return old != nil && old.minWords == x.minWords })
	x.mu.Lock()
	defer x.mu.Unlock()
	if c := x.contents.checkup; c != nil && c.minWords == x.minWords && c.old == x.old {
		return c, nil
	}
	c := &checkup{inspector: *x, counts: map[*collection]*[findKinds]int{}}
	for _, col := range x.v.cols {
		c.counts[col] = new([findKinds]int)
	}
	if s == nil {
		c.marks = make([][]mark, len(x.docs))
		for i := range x.docs {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			c.marks[i] = c.check(i)
			c.count(x.docs[i].col, c.marks[i], 1)
		}
	} else {
		c.update(s, old)
	}
	c.by = nil
	x.contents.checkup = c
	return c, nil
}

func (c *checkup) count(col *collection, marks []mark, by int) {
	n := c.counts[col]
	for _, m := range marks {
		n[m.kind] += by
	}
}

// update takes over what is wrong with the docs of which nothing changed that the
// checks look at.
func (c *checkup) update(s *since, old *checkup) {
	for col, n := range old.counts {
		*c.counts[col] = *n
	}
	for _, j := range s.gone {
		c.count(s.then.docs[j].col, old.marks[j], -1)
	}
	c.marks = carried(s, old.marks, len(c.docs))
	again := c.sharing(s, old)
	for i := range c.docs {
		j := s.before(i)
		if j >= 0 && !again[i] && !c.differs(i, old, j) {
			continue
		}
		c.count(c.docs[i].col, c.marks[i], -1)
		c.marks[i] = c.check(i)
		c.count(c.docs[i].col, c.marks[i], 1)
	}
}

// differs reports whether something that the checks look at is not for doc i as it
// was for doc j of the earlier view, which is the same note.
func (c *checkup) differs(i int, old *checkup, j int) bool {
	return c.graph.by[i] != old.graph.by[j] || c.days[i] != old.days[j] ||
		c.old != old.old && c.stale(i) != old.stale(j) ||
		c.duplicate(i) != old.duplicate(j)
}

// sharing are the docs that have something in common that only one should have with
// a doc that came or went.
func (c *checkup) sharing(s *since, old *checkup) map[int]bool {
	docs := map[int]bool{}
	add := func(held []holding) {
		for _, h := range held {
			for _, i := range c.numbers(c.held.at(h)) {
				docs[i] = true
			}
		}
	}
	for _, i := range s.fresh {
		add(heldBy(c.docs[i], c.cards[i]))
	}
	for _, j := range s.gone {
		add(heldBy(old.docs[j], old.cards[j]))
	}
	return docs
}

// inspection is what is wrong with the notes of a view.
type inspection struct {
	*checkup
	found []*collectionFindings
	twins map[int]twin // by doc, beside what checkup found
}

// collectionFindings are those of one collection, each list in the order of its
// notes. Sizes are of the whole lists, of which lists may have a part.
type collectionFindings struct {
	col   *collection
	docs  int
	sizes [findKinds]int
	lists [findKinds][]finding
}

// inspect checks every note of the collections that p names, as it is at a time.
func (w *view) inspect(ctx context.Context, p HealthParams, by *comparison, at time.Time) (*inspection, error) {
	cols, err := w.v.collections(p.Collection)
	if err != nil {
		return nil, err
	}
	made, err := w.inspector(ctx, p, by, at)
	if err != nil {
		return nil, err
	}
	c, err := made.checkup(ctx)
	if err != nil {
		return nil, err
	}
	x := &inspection{checkup: &checkup{made, c.marks, c.counts}, twins: map[int]twin{}}
	for _, col := range cols {
		from, to := w.of(col)
		f := &collectionFindings{col: col, docs: to - from, sizes: *c.counts[col]}
		n, err := x.addTwins(ctx, from, to)
		if err != nil {
			return nil, err
		}
		f.sizes[findNearDuplicates] += n
		x.found = append(x.found, f)
	}
	return x, nil
}

// gather fills the lists of f with the findings in spans, by kind.
func (x *inspection) gather(f *collectionFindings, spans [findKinds][2]int) {
	var seen, left [findKinds]int
	missing := 0
	for kind, s := range spans {
		f.lists[kind] = make([]finding, 0, s[1]-s[0])
		left[kind] = s[1]
		missing += s[1]
	}
	take := func(i int, m mark) {
		k := m.kind
		if seen[k] >= left[k] {
			return
		}
		if seen[k] >= spans[k][0] {
			f.lists[k] = append(f.lists[k], finding{i, m})
		}
		seen[k]++
		missing--
	}
	from, to := x.of(f.col)
	for i := from; i < to && missing > 0; i++ {
		for _, m := range x.marks[i] {
			take(i, m)
		}
		if t, ok := x.twins[i]; ok {
			take(i, mark{findNearDuplicates, 1, int32(t.of), sayMeansTheSame})
		}
	}
}

// whole fills all lists.
func (x *inspection) whole() {
	for _, f := range x.found {
		var spans [findKinds][2]int
		for kind, n := range f.sizes {
			spans[kind][1] = n
		}
		x.gather(f, spans)
	}
}

// cut leaves one page of the findings, and returns where the next begins.
func (x *inspection) cut(offset, budget int) (next string) {
	const perIssue = 45
	var piles []pile
	spans := make([][findKinds][2]int, len(x.found))
	for k, f := range x.found {
		for kind, size := range f.sizes {
			piles = append(piles, pile{size, func(int) int { return perIssue }, func(from, to int) { spans[k][kind] = [2]int{from, to} }})
		}
	}
	n := page(piles, offset, budget)
	for k, f := range x.found {
		if f.lists[0] == nil {
			x.gather(f, spans[k])
			continue
		}
		for kind, s := range spans[k] {
			f.lists[kind] = f.lists[kind][s[0]:s[1]]
		}
	}
	if n > 0 {
		return x.cursor(n)
	}
	return ""
}

// result counts what was found.
func (x *inspection) result() *HealthResult {
	r := &HealthResult{Seen: x.view.seen(), Mode: x.by.mode, Degraded: x.by.degraded}
	for _, f := range x.found {
		r.Checked += f.docs
		for _, n := range f.sizes {
			r.Issues += n
		}
	}
	return r
}

// inWords are the findings as issues.
func (x *inspection) inWords() []CollectionHealth {
	out := make([]CollectionHealth, 0, len(x.found))
	for _, f := range x.found {
		h := CollectionHealth{Name: f.col.Name, Dir: f.col.dir, Counts: map[string]int{}}
		for kind, k := range h.kinds() {
			h.Counts[k.name] = f.sizes[kind]
			*k.list = []Issue{}
			for _, n := range f.lists[kind] {
				message, mend := n.say(&x.inspector, n.doc, n.mark)
				*k.list = append(*k.list, Issue{Path: x.docs[n.doc].path, Line: int(n.line), Message: message, Mend: mend})
			}
		}
		out = append(out, h)
	}
	return out
}

// duplicate reports whether doc i says nearly the same as an earlier one, in nearly
// the same words.
func (x *inspector) duplicate(i int) bool { return x.alike.by[i].share >= nearDuplicate }

// long are those of docs that are compared with each other.
func (x *inspector) long(from, to int) []int {
	var docs []int
	for i := from; i < to; i++ {
		if x.cards[i].words >= x.alike.minWords {
			docs = append(docs, i)
		}
	}
	return slices.Clip(docs)
}
