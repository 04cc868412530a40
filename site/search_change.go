package site

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"kb/note"
)

// searchKey is the name in the build file under which it says what paths the
// search data is of, and what its index is called.
const searchKey = "#search"

// fewChanges is up to how many notes are changed one by one, at least; in large
// sites it is a tenth of all.
const fewChanges = 16

// searchInputs is a hash of what numbers in the search data mean: as long as it is
// the same, notes differ by their bytes alone.
func (b *builder) searchInputs() string {
	d := b.set.Search
	k := keyer{}
	k.put(Recipe, d.Language, fmt.Sprint(b.set.Recipes))
	number := make(map[note.ID]int, len(d.Notes))
	for n, i := range d.Notes {
		number[b.set.Docs[i].Blob] = n
		k.number(i)
	}
	for _, doc := range b.set.Docs {
		k.put(doc.Collection, doc.Path)
		k.number(number[doc.Blob])
	}
	return k.sum()
}

// searchChanged makes terms and texts from those of the build before, for the
// same paths: of all files only those are made anew that a changed note is in.
// The result is that of searchAnew. It returns errNoPart if it cannot be had so.
func (b *builder) searchChanged(ctx context.Context, key string) (*searchIndex, error) {
	was, name, _ := strings.Cut(b.out.keyOf(searchKey), " ")
	if was != key {
		return nil, errNoPart
	}
	before, err := b.loadIndex(name)
	if err != nil {
		return nil, err
	}
	c := &searchChange{builder: b, before: before, x: b.newIndex(), terms: map[string][]SearchPosting{}, places: map[uint32][]notePlaces{}, counts: map[string]int{}, read: map[int][]termEntry{}}
	for _, step := range []func(context.Context) error{c.compare, c.changeTexts, c.changeTerms} {
		if err := step(ctx); err != nil {
			return nil, err
		}
	}
	return c.x, nil
}

// searchChange is how the search data differs from that of the build before.
type searchChange struct {
	*builder
	before, x *searchIndex
	notes     []int // that have other bytes, ascending

	terms  map[string][]SearchPosting // of changed notes, by note; a posting of nothing is one that goes
	places map[uint32][]notePlaces    // likewise, by hash
	counts map[string]int             // by word: how many notes more have it

	read map[int][]termEntry // files of terms, by number
}

// compare finds the notes that have other bytes, and what differs in their terms.
func (c *searchChange) compare(ctx context.Context) error {
	d := c.set.Search
	for n, i := range d.Notes {
		blob := c.set.Docs[i].Blob.String()
		was := c.out.keyOf(sourceName(c.graph.pages[i]))
		if was == blob {
			continue
		}
		id, err := note.ParseID(was)
		if err != nil || len(c.notes) >= max(fewChanges, len(d.Notes)/10) {
			return fmt.Errorf("%w: too much has changed", errNoPart)
		}
		c.notes = append(c.notes, n)
		old, err := d.Alone(ctx, n, id)
		if err != nil {
			return fmt.Errorf("%w: %w", errNoPart, err)
		}
		now, err := d.Alone(ctx, n, c.set.Docs[i].Blob)
		if err != nil {
			return err
		}
		c.compareTerms(n, old.Terms, now.Terms)
		c.comparePlaces(n, old.Stream, now.Stream)
	}
	return nil
}

func (c *searchChange) compareTerms(n int, old, now map[string]SearchPosting) {
	for term, p := range now {
		was, had := old[term]
		if p.Note, was.Note = n, n; !had || was != p {
			c.terms[term] = append(c.terms[term], p)
		}
		if !had && !isTag(term) {
			c.counts[term]++
		}
	}
	for term := range old {
		if _, has := now[term]; has {
			continue
		}
		c.terms[term] = append(c.terms[term], SearchPosting{Note: n})
		if !isTag(term) {
			c.counts[term]--
		}
	}
}

func (c *searchChange) comparePlaces(n int, old, now []byte) {
	was, is := placesOf(old), placesOf(now)
	for hash, where := range is {
		if !bytes.Equal(was[hash], where) {
			c.places[hash] = append(c.places[hash], notePlaces{n, where})
		}
	}
	for hash := range was {
		if is[hash] == nil {
			c.places[hash] = append(c.places[hash], notePlaces{note: n})
		}
	}
}

// placesOf is where the words of one note stand, by hash, without the note.
func placesOf(stream []byte) map[uint32][]byte {
	p := places{}
	p.add(0, stream)
	out := make(map[uint32][]byte, len(p))
	for hash, l := range p {
		out[hash] = l.buf[1:] // its first number is the note's, 0
	}
	return out
}

// changeTexts writes the texts of the changed notes.
func (c *searchChange) changeTexts(ctx context.Context) (err error) {
	var before textList
	if err := c.loadJSON("textList", string(c.before.Texts), &before); err != nil {
		return err
	}
	hashes := before.Files.hashes()
	if len(hashes) != len(before.From) || !slices.IsSorted(before.From) || len(hashes) > 0 && before.From[0] != 0 {
		return fmt.Errorf("%w: a list of texts", errNoPart)
	}
	w := textWriter{b: c.builder, list: textList{From: []int{}}}
	ends := append(slices.Clone(before.From), len(c.set.Search.Notes))[min(1, len(hashes)):]
	for s, hash := range hashes {
		at, _ := slices.BinarySearch(c.notes, before.From[s])
		if len(w.texts) == 0 && (at == len(c.notes) || c.notes[at] >= ends[s]) {
			w.list.From, w.list.Files = append(w.list.From, before.From[s]), w.list.Files+fileList(hash)
			if err := c.keepPart("texts", hash); err != nil {
				return err
			}
			continue
		}
		for k := before.From[s]; k < ends[s]; k++ {
			if err := w.add(ctx, k); err != nil {
				return err
			}
		}
	}
	c.x.Texts, err = c.putJSON("textList", w.list)
	return err
}

// changeTerms writes the terms of the changed notes, and the vocabulary.
func (c *searchChange) changeTerms(context.Context) error {
	if len(c.terms)+len(c.places) == 0 {
		return errors.Join(c.mergeTerms(nil), c.keepWords())
	}
	words, err := c.loadWords(c.before.Heads.Files)
	if err != nil {
		return err
	}
	twins := c.twins(words)
	changed := map[string]bool{}
	for term := range c.terms {
		changed[term] = true
	}
	for hash := range c.places {
		for _, term := range twins[hash] {
			changed[term] = true
		}
	}
	entries := make([]termEntry, 0, len(changed))
	for _, term := range slices.Sorted(maps.Keys(changed)) {
		e, err := c.changedTerm(term, twins)
		if err != nil {
			return err
		}
		entries = append(entries, e)
	}
	if err := c.mergeTerms(entries); err != nil {
		return err
	}
	return c.changeWords(words)
}

// twins are the words of the build before, by hash, as far as it is that of
// something changed: words with one hash have one list of places.
func (c *searchChange) twins(words []wordCount) map[uint32][]string {
	out := map[uint32][]string{}
	for hash := range c.places {
		out[hash] = nil
	}
	for term := range c.terms {
		if !isTag(term) {
			out[c.set.Search.Hash(term)] = nil
		}
	}
	for _, w := range words {
		hash := c.set.Search.Hash(w.word)
		if same, ok := out[hash]; ok {
			out[hash] = append(same, w.word)
		}
	}
	return out
}

// changedTerm is a term as it is now; one without a list is gone.
func (c *searchChange) changedTerm(term string, twins map[uint32][]string) (termEntry, error) {
	e, known, err := c.find(term)
	if err != nil {
		return e, err
	}
	if changes := c.terms[term]; changes != nil {
		r := partReader{data: e.list}
		var list []SearchPosting
		if known {
			list = r.postings()
		}
		if r.bad {
			return e, fmt.Errorf("%w: the postings of a term", errNoPart)
		}
		if list = mergePostings(list, changes); len(list) == 0 {
			return termEntry{term: term}, nil
		}
		e.list = postingList(list)
	}
	if isTag(term) {
		return e, nil
	}
	hash := c.set.Search.Hash(term)
	if twin := twins[hash]; !known && len(twin) > 0 {
		other, _, err := c.find(twin[0])
		if err != nil {
			return e, err
		}
		e.where = other.where
	}
	r := partReader{data: e.where}
	e.where = mergePlaces(r.places(), c.places[hash])
	if r.bad {
		err = fmt.Errorf("%w: the places of a term", errNoPart)
	}
	return e, err
}

// putIn puts changes in the place of what the same notes had, in a list that is
// ordered by note.
func putIn[T any](list, changes []T, note func(T) int, gone func(T) bool) []T {
	for _, c := range changes {
		at, had := slices.BinarySearchFunc(list, note(c), func(x T, n int) int { return note(x) - n })
		switch {
		case had && gone(c):
			list = slices.Delete(list, at, at+1)
		case had:
			list[at] = c
		case !gone(c):
			list = slices.Insert(list, at, c)
		}
	}
	return list
}

func mergePostings(list, changes []SearchPosting) []SearchPosting {
	return putIn(list, changes, func(p SearchPosting) int { return p.Note }, func(p SearchPosting) bool { return p.kind() == 0 })
}

func mergePlaces(list, changes []notePlaces) (out []byte) {
	list = putIn(list, changes, func(p notePlaces) int { return p.note }, func(p notePlaces) bool { return p.where == nil })
	last := 0
	for _, p := range list {
		out = append(uvarints(out, p.note-last), p.where...)
		last = p.note
	}
	return out
}

// find returns a term of the build before.
func (c *searchChange) find(term string) (termEntry, bool, error) {
	if files := c.before.Long[term].hashes(); len(files) == 2 {
		list, err := c.loadPart("list", files[0])
		if err != nil {
			return termEntry{}, false, err
		}
		where, err := c.loadPart("placed", files[1])
		return termEntry{term, list, where}, true, err
	}
	s, exact := slices.BinarySearch(c.before.First, term)
	if !exact {
		s--
	}
	if s < 0 {
		return termEntry{term: term}, false, nil
	}
	entries, err := c.entries(s)
	if err != nil {
		return termEntry{}, false, err
	}
	at, ok := slices.BinarySearchFunc(entries, term, func(e termEntry, t string) int { return strings.Compare(e.term, t) })
	if !ok {
		return termEntry{term: term}, false, nil
	}
	return entries[at], true, nil
}

// entries are the terms of a file of the build before.
func (c *searchChange) entries(s int) ([]termEntry, error) {
	if read := c.read[s]; read != nil {
		return read, nil
	}
	at := s * hashSize
	terms, err := c.loadPart("terms", string(c.before.Terms[at:at+hashSize]))
	if err != nil {
		return nil, err
	}
	places, err := c.loadPart("places", string(c.before.Places[at:at+hashSize]))
	if err != nil {
		return nil, err
	}
	entries, ok := readTerms(terms, places)
	if !ok {
		return nil, fmt.Errorf("%w: a file of terms", errNoPart)
	}
	c.read[s] = entries
	return entries, nil
}

// mergeTerms writes the files of terms that changed ones are in, and those after
// until a file ends where one did before; the others stay.
func (c *searchChange) mergeTerms(changed []termEntry) error {
	if err := c.keepLong(changed); err != nil {
		return err
	}
	w := termWriter{b: c.builder, x: c.x}
	kept := true // the file before this one stays
	for s := range c.before.First {
		n := len(changed)
		if s+1 < len(c.before.First) {
			n, _ = slices.BinarySearchFunc(changed, c.before.First[s+1], func(e termEntry, first string) int { return strings.Compare(e.term, first) })
		}
		mine := changed[:n]
		changed = changed[n:]
		if len(mine) == 0 && w.terms.n == 0 {
			if err := c.keepTerms(s, kept, w.before); err != nil {
				return err
			}
			kept = true
			continue
		}
		if kept && s > 0 {
			entries, err := c.entries(s - 1)
			if err != nil {
				return err
			}
			w.before = entries[len(entries)-1].term
		}
		kept = false
		entries, err := c.entries(s)
		if err != nil {
			return err
		}
		if err := w.addAll(entries, mine); err != nil {
			return err
		}
	}
	if err := w.addAll(nil, changed); err != nil { // where there was no file before
		return err
	}
	return w.flush()
}

// keepLong leaves the files of long terms as they are, but for changed ones.
func (c *searchChange) keepLong(changed []termEntry) error {
	for term, files := range c.before.Long {
		if _, ok := slices.BinarySearchFunc(changed, term, func(e termEntry, t string) int { return strings.Compare(e.term, t) }); ok {
			continue
		}
		hashes := files.hashes()
		if len(hashes) != 2 {
			return fmt.Errorf("%w: a long term", errNoPart)
		}
		if err := c.keepPart("list", hashes[0]); err != nil {
			return err
		}
		if err := c.keepPart("placed", hashes[1]); err != nil {
			return err
		}
		c.x.Long[term] = files
	}
	return nil
}

// keepTerms leaves a file of terms as it is. Where it begins may be said otherwise,
// if the one before it was not kept and ends with another term now.
func (c *searchChange) keepTerms(s int, kept bool, before string) error {
	first := c.before.First[s]
	if !kept {
		entries, err := c.entries(s)
		if err != nil {
			return err
		}
		first = between(before, entries[0].term)
	}
	at := s * hashSize
	terms, places := c.before.Terms[at:at+hashSize], c.before.Places[at:at+hashSize]
	c.x.First, c.x.Terms, c.x.Places = append(c.x.First, first), c.x.Terms+terms, c.x.Places+places
	if err := c.keepPart("terms", string(terms)); err != nil {
		return err
	}
	return c.keepPart("places", string(places))
}

// addAll adds the terms of a file with changed ones in their places.
func (w *termWriter) addAll(entries, changed []termEntry) error {
	for len(entries) > 0 || len(changed) > 0 {
		var e termEntry
		switch {
		case len(changed) == 0 || len(entries) > 0 && entries[0].term < changed[0].term:
			e, entries = entries[0], entries[1:]
		case len(entries) > 0 && entries[0].term == changed[0].term:
			entries = entries[1:]
			fallthrough
		default:
			e, changed = changed[0], changed[1:]
		}
		if e.list == nil {
			continue
		}
		if err := w.add(e.term, e.list, e.where); err != nil {
			return err
		}
	}
	return nil
}
