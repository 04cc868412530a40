package vault

import (
	"maps"
	"slices"

	"kb/note"
)

// earlierLinks is the link graph of an earlier view.
type earlierLinks struct {
	*since
	graph *linkGraph
	cards []*card
}

// update makes the graph from that of an earlier view: the links of docs that are
// new or changed are resolved, and those of others that one of the changes may
// lead elsewhere. The rest is taken over.
func (r linkReader) update(s earlierLinks) *linkGraph {
	g := &linkGraph{by: carried(s.since, s.graph.by, len(r.docs))}
	if s.was != nil {
		for i, d := range g.by {
			g.by[i] = s.renumbered(d)
		}
	}
	again := r.touched(s)
	ends := map[int]bool{} // to which links led or lead that are resolved again
	for _, j := range s.gone {
		s.addEnds(ends, s.graph.out(j))
	}
	for i := range again {
		if j := s.before(i); j >= 0 {
			s.addEnds(ends, s.graph.out(j))
		}
		in := g.in(i)
		if g.by[i] = r.links(i); len(in) > 0 {
			g.by[i] = g.by[i].with(in)
		}
		for _, e := range g.out(i) {
			ends[e.doc] = true
		}
	}
	from := slices.Sorted(maps.Keys(again))
	for j := range ends {
		if in := g.linksTo(j, from, again); len(in) > 0 || g.by[j] != nil {
			g.by[j] = g.by[j].with(in)
		}
	}
	return g
}

// with is d with other links that lead to the doc.
func (d *docLinks) with(in []linkTo) *docLinks {
	if d == nil {
		d = &noLinks
	}
	n := *d
	n.in = in
	return &n
}

// addEnds adds the docs, as numbered now, to which links of the earlier view lead.
func (s *since) addEnds(ends map[int]bool, links []linkTo) {
	for _, e := range links {
		if i := s.after(e.doc); i >= 0 {
			ends[i] = true
		}
	}
}

// linksTo are the links that lead to doc j: those that did, but for the links of the
// docs again, and what these have now. From are the same docs in order.
func (g *linkGraph) linksTo(j int, from []int, again map[int]bool) (in []linkTo) {
	had := g.in(j)
	add := func(i int) {
		for _, e := range g.out(i) {
			if e.doc == j {
				in = append(in, linkTo{i, e.link})
			}
		}
	}
	for _, e := range had {
		for len(from) > 0 && from[0] < e.doc {
			add(from[0])
			from = from[1:]
		}
		if !again[e.doc] {
			in = append(in, e)
		}
	}
	for _, i := range from {
		add(i)
	}
	return in
}

// renumbered are links of the earlier view by the numbers that docs have in this
// one, without those from docs that are gone. What leads to such is looked for again anyway.
func (s *since) renumbered(d *docLinks) *docLinks {
	if d == nil || s.keeps(d.out) && s.keeps(d.in) {
		return d
	}
	return &docLinks{s.moved(d.out), s.moved(d.in), d.broken, d.unsure}
}

func (s *since) keeps(links []linkTo) bool {
	return !slices.ContainsFunc(links, func(e linkTo) bool { return s.after(e.doc) != e.doc })
}

func (s *since) moved(links []linkTo) []linkTo {
	var out []linkTo
	for _, e := range links {
		if i := s.after(e.doc); i >= 0 {
			out = append(out, linkTo{i, e.link})
		}
	}
	return out
}

// touched are the docs whose links are to be resolved again.
func (r linkReader) touched(s earlierLinks) map[int]bool {
	again := map[int]bool{}
	names := map[string]bool{} // which changed docs had or have
	for _, i := range s.fresh {
		again[i] = true
		for _, name := range namesOf(r.docs[i], r.cards[i]) {
			names[name] = true
		}
	}
	for _, j := range s.gone {
		for _, name := range namesOf(s.then.docs[j], s.cards[j]) {
			names[name] = true
		}
		for _, e := range s.graph.in(j) {
			if i := s.after(e.doc); i >= 0 {
				again[i] = true
			}
		}
	}
	var paths note.PathKeys
	if !s.placed {
		paths = r.changedPaths(s.since)
	}
	for j, links := range s.graph.by {
		if links != nil && nearOther(links.broken, names) {
			if i := s.after(j); i >= 0 {
				again[i] = true
			}
		}
	}
	if len(paths) > 0 {
		for i := range r.docs {
			if !again[i] && paths.MayMean(r.cards[i].links) {
				again[i] = true
			}
		}
	}
	return again
}

// nearOther reports whether a broken link names a note by one of names.
func nearOther(links []brokenLink, names map[string]bool) bool {
	return slices.ContainsFunc(links, func(b brokenLink) bool { return names[b.name] })
}

// changedPaths are the paths that only one of the views has.
func (r linkReader) changedPaths(s *since) note.PathKeys {
	count := map[[2]string]int{}
	for _, i := range s.fresh {
		count[[2]string{r.docs[i].col.Name, r.docs[i].path}]++
	}
	for _, j := range s.gone {
		count[[2]string{s.then.docs[j].col.Name, s.then.docs[j].path}]--
	}
	for _, c := range r.v.cols {
		for _, p := range r.others[c] {
			count[[2]string{c.Name, p}]++
		}
		for _, p := range s.then.others[c] {
			count[[2]string{c.Name, p}]--
		}
	}
	keys := note.PathKeys{}
	for p, n := range count {
		if n != 0 {
			keys.Add(p[1])
		}
	}
	return keys
}
