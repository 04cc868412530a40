package vault

import (
	"cmp"
	"slices"
)

// band is two neighbouring places of a sketch. Notes that agree in one are
// compared.
type band struct {
	place int
	a, b  uint32
}

func (c *card) bands() []band {
	out := make([]band, 0, len(c.sketch)/2)
	for k := 0; k+1 < len(c.sketch); k += 2 {
		out = append(out, band{k, c.sketch[k], c.sketch[k+1]})
	}
	return out
}

func (b band) hash() uint32 {
	h := (uint64(b.a)<<32 | uint64(b.b)) + uint64(b.place)*0x9e3779b97f4a7c15
	h = (h ^ h>>31) * 0xbf58476d1ce4e5b9
	return uint32(h >> 32)
}

func (c *card) has(b band) bool {
	return b.place+1 < len(c.sketch) && c.sketch[b.place] == b.a && c.sketch[b.place+1] == b.b
}

// bandIndex finds docs by band. It is immutable: another that is made of it for a
// later view shares the sorted list.
type bandIndex struct {
	docs  []doc    // in the view that was indexed
	cards []*card  // theirs
	list  []uint64 // hash of a band, then the doc in the lower half; sorted
	more  []doc    // that came since
}

func newBandIndex(docs []doc, cards []*card) *bandIndex {
	x := &bandIndex{docs: docs, cards: cards}
	for i, c := range cards {
		for k := 0; k+1 < len(c.sketch); k += 2 {
			x.list = append(x.list, uint64(band{k, c.sketch[k], c.sketch[k+1]}.hash())<<32|uint64(i))
		}
	}
	slices.Sort(x.list)
	return x
}

// update makes the index of a later view.
func (x *bandIndex) update(w wordComparer, s *since) *bandIndex {
	n := &bandIndex{docs: x.docs, cards: x.cards, list: x.list}
	for _, d := range x.more {
		if _, ok := w.same(d); ok {
			n.more = append(n.more, d)
		}
	}
	for _, i := range s.fresh {
		n.more = append(n.more, w.docs[i])
	}
	if len(n.more) > 64+len(x.docs)/128 {
		return newBandIndex(w.docs, w.cards)
	}
	return n
}

// having lists the docs that are compared and have a band, in order.
func (x *bandIndex) having(w wordComparer, b band) (docs []int) {
	add := func(d doc) {
		if i, ok := w.same(d); ok && w.cards[i].words >= w.minWords && w.cards[i].has(b) {
			docs = append(docs, i)
		}
	}
	h := b.hash()
	from, _ := slices.BinarySearchFunc(x.list, h, func(e uint64, h uint32) int { return cmp.Compare(uint32(e>>32), h) })
	for _, e := range x.list[from:] {
		if uint32(e>>32) != h {
			break
		}
		if i := uint32(e); x.cards[i].has(b) {
			add(x.docs[i])
		}
	}
	for _, d := range x.more {
		add(d)
	}
	slices.Sort(docs)
	return slices.Compact(docs)
}
