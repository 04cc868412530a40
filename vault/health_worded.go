package vault

// comparedBy says which notes are compared with each other: those of a collection
// that are no stubs.
type comparedBy struct {
	col      *collection
	minWords int
}

// overlap is how much of a note another has, too.
type overlap struct {
	doc   int
	share float64
}

// band is two neighbouring places of a sketch. Notes that agree in one are
// compared.
type band struct {
	place int
	a, b  uint32
}

// worded finds for each of a collection's docs that are long enough an earlier one
// with which it has words in common. Where a view in memory knows most of them, only notes
// that share a band with a changed one are compared again.
func (x *inspector) worded(c *collection, docs []int) map[int]overlap {
	by := comparedBy{c, max(x.MinWords, 20)}
	var old earlierOverlaps
	old.since = x.earlier(func(c *contents) bool {
		old.found, old.cards = c.alike[by], c.cards
		return old.found != nil
	})
	x.mu.Lock()
	defer x.mu.Unlock()
	if found := x.alike[by]; found != nil && !x.partial.Load() {
		return found
	}
	w := wordComparer{x.docs, x.cards, by.minWords}
	var found map[int]overlap
	if old.since == nil {
		found = w.among(docs, nil, nil)
	} else {
		found = w.update(old, docs)
	}
	if x.alike == nil || len(x.alike) > len(x.v.cols) { // as many as one call asks for
		x.alike = map[comparedBy]map[int]overlap{}
	}
	x.alike[by] = found
	return found
}

// earlierOverlaps are those of an earlier view.
type earlierOverlaps struct {
	*since
	found map[int]overlap
	cards []*card
}

type wordComparer struct {
	docs     []doc
	cards    []*card
	minWords int
}

// bands calls fn with each band of a doc that is long enough to be compared.
func (w wordComparer) bands(i int, fn func(band)) {
	c := w.cards[i]
	if c.words < w.minWords {
		return
	}
	for k := 0; k+1 < len(c.sketch); k += 2 {
		fn(band{k, c.sketch[k], c.sketch[k+1]})
	}
}

// among compares docs, in their order; with only given these docs, with those that
// have one of bands. Of the earlier ones the first is taken that is a near
// duplicate, else that with most in common.
func (w wordComparer) among(docs []int, only map[int]bool, bands *bandSet) map[int]overlap {
	const crowd = 64 // templates by the hundred: compare with the first few
	best := map[int]overlap{}
	buckets := map[band][]int{}
	for _, i := range docs {
		w.bands(i, func(b band) {
			if only != nil && !bands.has(b) {
				return
			}
			if only == nil || only[i] {
				w.meet(best, i, buckets[b])
			}
			if len(buckets[b]) < crowd {
				buckets[b] = append(buckets[b], i)
			}
		})
	}
	return best
}

// meet compares doc i with earlier ones, until one is a near duplicate.
func (w wordComparer) meet(best map[int]overlap, i int, earlier []int) {
	for _, j := range earlier {
		if best[i].share >= nearDuplicate {
			return
		}
		if w.docs[j].blob == w.docs[i].blob {
			continue
		}
		if share := w.cards[i].sketch.Similar(w.cards[j].sketch); share > best[i].share {
			best[i] = overlap{j, share}
		}
	}
}

// update compares docs where most of them were in an earlier view.
func (w wordComparer) update(s earlierOverlaps, docs []int) map[int]overlap {
	then := wordComparer{s.docs, s.cards, w.minWords}
	changed := newBandSet()
	for _, i := range s.fresh {
		w.bands(i, changed.add)
	}
	for _, j := range s.gone {
		then.bands(j, changed.add)
	}
	again, bands := map[int]bool{}, newBandSet()
	for _, i := range docs {
		near := s.was[i] < 0
		if !near {
			w.bands(i, func(b band) { near = near || changed.has(b) })
		}
		if near {
			again[i] = true
			w.bands(i, bands.add)
		}
	}
	best := w.among(docs, again, bands)
	for j, like := range s.found {
		if i := s.now[j]; i >= 0 && !again[i] {
			best[i] = overlap{s.now[like.doc], like.share}
		}
	}
	return best
}

// bandSet is a set of bands. Most questions it answers from the bits.
type bandSet struct {
	bits [1 << 10]uint64
	all  map[band]bool
}

func newBandSet() *bandSet { return &bandSet{all: map[band]bool{}} }

// bit is where the bits tell of b.
func (b band) bit() (word int, mask uint64) {
	h := (uint64(b.a)<<32 | uint64(b.b)) * 0x9e3779b97f4a7c15 >> 48
	return int(h >> 6), 1 << (h & 63)
}

func (s *bandSet) add(b band) {
	word, mask := b.bit()
	s.bits[word] |= mask
	s.all[b] = true
}

func (s *bandSet) has(b band) bool {
	word, mask := b.bit()
	return s.bits[word]&mask != 0 && s.all[b]
}
