package vault

import (
	"maps"
	"slices"

	"kb/note"
)

// earlierLinks is the link graph of an earlier view.
type earlierLinks struct {
	*since
	graph  *linkGraph
	called []docNames
}

// update makes the graph from that of an earlier view: the links of docs that are
// new or changed are resolved, and those of others that one of the changes may
// lead elsewhere. The rest is taken over.
func (r linkReader) update(s earlierLinks) *linkGraph {
	g := newLinkGraph(len(r.docs))
	again := r.touched(s)
	for i, j := range s.was {
		if again[i] {
			r.links(g, i)
			continue
		}
		g.broken[i], g.unsure[i] = s.graph.broken[j], s.graph.unsure[j]
		g.out[i] = s.moved(s.graph.out[j])
	}
	if !s.placed {
		g.invert()
		return g
	}
	g.invertSince(s.graph, again)
	return g
}

// moved are links of the earlier view by the numbers that docs have in this one.
func (s *since) moved(links []linkTo) []linkTo {
	if s.placed || links == nil {
		return links
	}
	out := make([]linkTo, len(links))
	for i, e := range links {
		out[i] = linkTo{s.now[e.doc], e.link}
	}
	return out
}

// invertSince makes in of out, where only the links of some docs are others than
// in old, which has the same docs.
func (g *linkGraph) invertSince(old *linkGraph, again map[int]bool) {
	copy(g.in, old.in)
	ends := map[int]bool{}
	for i := range again {
		for _, out := range [][]linkTo{old.out[i], g.out[i]} {
			for _, e := range out {
				ends[e.doc] = true
			}
		}
	}
	for j := range ends {
		g.in[j] = nil
		from := map[int]bool{}
		for _, e := range old.in[j] {
			from[e.doc] = true
		}
		for i := range again {
			from[i] = true
		}
		for _, i := range slices.Sorted(maps.Keys(from)) {
			for _, e := range g.out[i] {
				if e.doc == j {
					g.in[j] = append(g.in[j], linkTo{i, e.link})
				}
			}
		}
	}
}

// touched are the docs whose links are to be resolved again.
func (r linkReader) touched(s earlierLinks) map[int]bool {
	again := map[int]bool{}
	names := map[string]bool{} // which changed docs had or have
	for _, i := range s.fresh {
		again[i] = true
		for _, name := range r.called[i].all {
			names[name] = true
		}
	}
	for _, j := range s.gone {
		for _, name := range s.called[j].all {
			names[name] = true
		}
		for _, e := range s.graph.in[j] {
			if i := s.now[e.doc]; i >= 0 {
				again[i] = true
			}
		}
	}
	var paths note.PathKeys
	if !s.placed {
		paths = r.changedPaths(s.since)
	}
	for i, j := range s.was {
		if j >= 0 && !again[i] && (nearOther(s.graph.broken[j], names) || paths.MayMean(r.cards[i].links)) {
			again[i] = true
		}
	}
	return again
}

// nearOther reports whether a broken link names a note by one of names.
func nearOther(links []brokenLink, names map[string]bool) bool {
	for _, b := range links {
		if names[foldName(b.link.Target)] {
			return true
		}
	}
	return false
}

// changedPaths are the paths that only one of the views has.
func (r linkReader) changedPaths(s *since) note.PathKeys {
	count := map[[2]string]int{}
	for _, i := range s.fresh {
		count[[2]string{r.docs[i].col.Name, r.docs[i].path}]++
	}
	for _, j := range s.gone {
		count[[2]string{s.docs[j].col.Name, s.docs[j].path}]--
	}
	for _, c := range r.v.cols {
		for _, p := range r.others[c] {
			count[[2]string{c.Name, p}]++
		}
		for _, p := range s.others[c] {
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
