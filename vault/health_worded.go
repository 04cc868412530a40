package vault

import (
	"context"
	"maps"
	"slices"
)

// overlaps is how much of each doc an earlier one of its collection has, too. Docs
// of fewer words are not compared.
type overlaps struct {
	minWords int
	by       []overlap // by doc
	bands    *bandIndex
}

// overlap is how much of a note another has, too.
type overlap struct {
	doc   int32
	share float64 // 0 for none
}

// worded finds for each doc that is long enough an earlier one with which it has
// words in common. Where a view in memory knows most of them, only notes that share
// a band with a changed one are compared again.
func (w *view) worded(ctx context.Context, minWords int) (*overlaps, error) {
	cards, err := w.allCards(ctx)
	if err != nil {
		return nil, err
	}
	var old earlierOverlaps
	old.since = w.earlier(func(c *contents) bool {
		old.overlaps, old.cards = c.alike, c.cards
		return c.alike != nil && c.alike.minWords == minWords
	})
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.alike != nil && w.alike.minWords == minWords {
		return w.alike, nil
	}
	c := wordComparer{w.contents, cards, minWords}
	if old.since == nil {
		w.alike = &overlaps{minWords, c.all(), newBandIndex(w.docs, cards)}
	} else {
		w.alike = c.update(old)
	}
	return w.alike, nil
}

// earlierOverlaps are those of an earlier view.
type earlierOverlaps struct {
	*since
	*overlaps
	cards []*card
}

type wordComparer struct {
	*contents
	cards    []*card
	minWords int
}

// bandsOf are those of a doc that is long enough to be compared.
func (w wordComparer) bandsOf(i int) []band {
	if w.cards[i].words < w.minWords {
		return nil
	}
	return w.cards[i].bands()
}

// crowd is with how many notes of a band a note is compared: of templates by the
// hundred, with the first few.
const crowd = 64

// all compares every doc with the earlier ones of its collection. Of these the first is taken that is a near
// duplicate, else that with most in common.
func (w wordComparer) all() []overlap {
	best := make([]overlap, len(w.docs))
	buckets := map[band][]int{}
	for i, d := range w.docs {
		if i > 0 && w.docs[i-1].col != d.col {
			clear(buckets)
		}
		for _, b := range w.bandsOf(i) {
			bucket := buckets[b]
			w.meet(&best[i], i, bucket)
			if len(bucket) < crowd {
				buckets[b] = append(bucket, i)
			}
		}
	}
	return best
}

// meet compares doc i with earlier ones, until one is a near duplicate.
func (w wordComparer) meet(best *overlap, i int, earlier []int) {
	for _, j := range earlier {
		if best.share >= nearDuplicate {
			return
		}
		if w.docs[j].blob == w.docs[i].blob {
			continue
		}
		if share := w.cards[i].sketch.Similar(w.cards[j].sketch); share > best.share {
			*best = overlap{int32(j), share}
		}
	}
}

// update compares docs where most of them were in an earlier view.
func (w wordComparer) update(s earlierOverlaps) *overlaps {
	o := &overlaps{w.minWords, carried(s.since, s.by, len(w.docs)), s.bands.update(w, s.since)}
	if s.now != nil {
		for i := range o.by {
			if o.by[i].share > 0 {
				o.by[i].doc = s.now[o.by[i].doc]
			}
		}
	}
	buckets := map[band][]int{}
	for _, i := range slices.Sorted(maps.Keys(w.affected(s, o.bands, buckets))) {
		o.by[i] = overlap{}
		for _, b := range w.bandsOf(i) {
			docs, ok := buckets[b]
			if !ok {
				docs = o.bands.having(w, b)
				buckets[b] = docs
			}
			w.meet(&o.by[i], i, w.before(docs, i))
		}
	}
	return o
}

// affected are the docs that may have most in common with another than before:
// those that changed, and after one that changed those that share a band with it,
// unless a crowd stands between. It fills buckets on the way.
func (w wordComparer) affected(s earlierOverlaps, bands *bandIndex, buckets map[band][]int) map[int]bool {
	docs := map[int]bool{}
	changed := map[band]int{} // the first place where a doc with the band came or went
	at := func(i int, all []band) {
		for _, b := range all {
			if first, ok := changed[b]; !ok || i < first {
				changed[b] = i
			}
		}
	}
	for _, i := range s.fresh {
		docs[i] = true
		at(i, w.bandsOf(i))
	}
	then := wordComparer{s.then, s.cards, w.minWords}
	for _, j := range s.gone {
		i, _ := w.find(s.then.docs[j].col, s.then.docs[j].path)
		at(i, then.bandsOf(j))
	}
	for b, first := range changed {
		bucket := bands.having(w, b)
		buckets[b] = bucket
		n, _ := slices.BinarySearch(bucket, first)
		for _, i := range bucket[n:] {
			if n-w.firstOf(bucket, i) < crowd {
				docs[i] = true
			}
		}
	}
	return docs
}

// firstOf is where docs of i's collection begin in docs, which are in order.
func (w wordComparer) firstOf(docs []int, i int) int {
	from, _ := slices.BinarySearchFunc(docs, w.docs[i].col.Name, func(j int, name string) int {
		if w.docs[j].col.Name < name {
			return -1
		}
		return 0
	})
	return from
}

// before are the first docs of i's collection that are before it, of docs in order.
func (w wordComparer) before(docs []int, i int) []int {
	from := w.firstOf(docs, i)
	to, _ := slices.BinarySearch(docs, i)
	return docs[from:min(to, from+crowd)]
}
