package site

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"path"
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
func (b *builder) searchChanged(ctx context.Context, key string) (*searchIndex, []textAt, error) {
	was, name, _ := strings.Cut(b.out.keyOf(searchKey), " ")
	if was != key {
		return nil, nil, errNoPart
	}
	before, err := b.loadIndex(name)
	if err != nil {
		return nil, nil, err
	}
	c, err := b.newSearchChange(key, before)
	if err != nil {
		return nil, nil, err
	}
	if err := c.compare(ctx); err != nil {
		return nil, nil, err
	}
	if err := c.changeTerms(); err != nil {
		return nil, nil, err
	}
	texts, err := c.changeTexts(ctx)
	return c.x, texts, err
}

func (b *builder) newSearchChange(key string, before *searchIndex) (*searchChange, error) {
	c := &searchChange{builder: b, x: b.newIndex(key), terms: map[string][]termChange{},
		listed: b.runChange(termRun(len(b.set.Search.Notes)), before.Terms), words: b.runChange(wordRun, before.Words), ends: b.runChange(endRun, before.Ends)}
	return c, b.loadFirst(before.First, &c.listed.before, &c.words.before, &c.ends.before)
}

// loadIndex returns the index that the build before wrote to a file.
func (b *builder) loadIndex(name string) (*searchIndex, error) {
	raw, err := b.out.root.ReadFile(name)
	if err != nil || hashed("search.js", raw) != name {
		return nil, fmt.Errorf("%w: %s", errNoPart, path.Base(name))
	}
	x := &searchIndex{}
	if json.Unmarshal(bytes.TrimSuffix(bytes.TrimPrefix(raw, []byte("kb.search(")), []byte(")\n")), x) != nil || x.Version != searchVersion {
		return nil, fmt.Errorf("%w: %s", errNoPart, path.Base(name))
	}
	return x, nil
}

// searchChange is how the search data differs from that of the build before.
type searchChange struct {
	*builder
	x     *searchIndex
	notes []int                   // that have other bytes, ascending
	terms map[string][]termChange // what differs, by note

	listed, words, ends *runChange
}

// termChange is a term in a note as it is now, or that it is not there any more.
type termChange struct {
	termIn
	gone bool
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
		old, err := d.Alone(ctx, n, id)
		if err != nil {
			return fmt.Errorf("%w: %w", errNoPart, err)
		}
		now, err := d.Alone(ctx, n, c.set.Docs[i].Blob)
		if err != nil {
			return err
		}
		c.change(n, old, now)
	}
	return nil
}

// change adds what differs of a note, after those of lower numbers.
func (c *searchChange) change(n int, old, now *SearchNote) {
	c.notes = append(c.notes, n)
	c.compareTerms(c.termsOf(n, old), c.termsOf(n, now))
}

// termsOf is the terms of a note.
func (c *searchChange) termsOf(n int, s *SearchNote) map[string]termIn {
	p := places{}
	p.add(0, readStream(s.Stream, wordsInLines(s.Body)))
	out := make(map[string]termIn, len(s.Terms))
	for term, posting := range s.Terms {
		t := termIn{SearchPosting: posting}
		if t.Note = n; !isTag(term) {
			if where := p.of(c.set.Search.Hash(term)); len(where) > 0 {
				t.where = where[0].where
			}
		}
		out[term] = t
	}
	return out
}

func (c *searchChange) compareTerms(old, now map[string]termIn) {
	for term, t := range now {
		was, had := old[term]
		if !had || was.SearchPosting != t.SearchPosting || !bytes.Equal(was.where, t.where) {
			c.terms[term] = append(c.terms[term], termChange{termIn: t})
		}
	}
	for term, t := range old {
		if _, has := now[term]; !has {
			c.terms[term] = append(c.terms[term], termChange{termIn: t, gone: true})
		}
	}
}

// changeTerms writes the files that changed terms are in.
func (c *searchChange) changeTerms() error {
	var listed, words, ends []itemChange
	for _, term := range slices.Sorted(maps.Keys(c.terms)) {
		word, segments, err := c.items(term)
		if err != nil {
			return err
		}
		notes, err := readItems(word, segments)
		if err != nil {
			return err
		}
		var nowWord, nowSegments []item
		known := len(notes) > 0
		if notes = merge(notes, c.terms[term]); len(notes) > 0 {
			nowWord, nowSegments = termItems(term, notes, c.listed.target/2)
		}
		listed = append(listed, changed(segments, nowSegments)...)
		words = append(words, changed(word, nowWord)...)
		if is := len(notes) > 0; known != is && !isTag(term) {
			ends = append(ends, itemChange{item{key: endKey(term)}, known})
		}
	}
	var out [3]shards
	for i, run := range []struct {
		*runChange
		changes []itemChange
	}{{c.listed, listed}, {c.words, words}, {c.ends, ends}} {
		var err error
		if out[i], err = run.apply(run.changes); err != nil {
			return err
		}
		run.now = out[i]
	}
	return c.searchRuns(c.x, out[0], out[1], out[2])
}

// items are those of a term in the build before, as termItems made them.
func (c *searchChange) items(term string) (word, segments []item, err error) {
	if word, err = c.words.between(term, term+"\x00"); err != nil {
		return nil, nil, err
	}
	segments, err = c.listed.between(term, afterSegments(term))
	return word, segments, err
}

// readItems is what termItems was given.
func readItems(word, segments []item) (notes []termIn, err error) {
	if len(word) > 0 && len(segments) == 0 {
		r := partReader{data: word[0].data}
		r.skipPostings()
		list := word[0].data[:len(word[0].data)-len(r.data)]
		segments = []item{{data: list, beside: r.take(r.number())}}
	}
	for _, s := range segments {
		part, ok := readTermLists(s.data, s.beside)
		if !ok || len(part) == 0 {
			return nil, fmt.Errorf("%w: the postings of a term", errNoPart)
		}
		notes = append(notes, part...)
	}
	return notes, nil
}

// merge puts changes in the place of what the same notes had.
func merge(notes []termIn, changes []termChange) []termIn {
	for _, c := range changes {
		at, had := slices.BinarySearchFunc(notes, c.Note, func(t termIn, n int) int { return t.Note - n })
		switch {
		case had && c.gone:
			notes = slices.Delete(notes, at, at+1)
		case had:
			notes[at] = c.termIn
		case !c.gone:
			notes = slices.Insert(notes, at, c.termIn)
		}
	}
	return notes
}

// changed is what makes items, which are in order, of those that were.
func changed(was, is []item) (out []itemChange) {
	for len(was) > 0 || len(is) > 0 {
		switch {
		case len(is) == 0 || len(was) > 0 && was[0].key < is[0].key:
			out, was = append(out, itemChange{was[0], true}), was[1:]
		case len(was) == 0 || is[0].key < was[0].key:
			out, is = append(out, itemChange{is[0], false}), is[1:]
		default:
			if !bytes.Equal(was[0].data, is[0].data) || !bytes.Equal(was[0].beside, is[0].beside) {
				out = append(out, itemChange{is[0], false})
			}
			was, is = was[1:], is[1:]
		}
	}
	return out
}

// changeTexts writes the texts of the changed notes, and those after until a file
// ends where one did before; the others stay.
func (c *searchChange) changeTexts(ctx context.Context) ([]textAt, error) {
	before := c.textsBefore()
	if c.x.Notes > 0 && (len(before) == 0 || before[0] != textAt{}) {
		return nil, fmt.Errorf("%w: the first texts", errNoPart)
	}
	w := textWriter{b: c.builder, numbers: c.x.Numbers}
	for s := 0; s < len(before); {
		end := textAt{note: c.x.Notes}
		if s+1 < len(before) {
			end = before[s+1]
		}
		next, _ := slices.BinarySearch(c.notes, before[s].note)
		edited := next < len(c.notes) && (textAt{note: c.notes[next]}).compare(end) < 0
		name := before[s].name()
		if edited || c.out.renewal == nil && !strings.HasSuffix(c.out.keyOf(partName("texts", name)), c.datesOf(before[s], end)) {
			var err error
			if s, err = c.changeTextsFrom(ctx, &w, before, s); err != nil {
				return nil, err
			}
			continue
		}
		w.starts = append(w.starts, before[s])
		if err := c.keepPart("texts", name); err != nil {
			return nil, err
		}
		s++
	}
	return w.starts, w.flush()
}

// textsBefore is where the files of texts of the build before begin.
func (c *searchChange) textsBefore() (starts []textAt) {
	for _, name := range c.out.before(assetDir + "/q/texts.") {
		if at, ok := textNamed(strings.TrimSuffix(name, ".js")); ok {
			starts = append(starts, at)
		}
	}
	slices.SortFunc(starts, textAt.compare)
	return starts
}

// changeTextsFrom writes texts from where a file began, and returns the number of
// the file that begins where these end.
func (c *searchChange) changeTextsFrom(ctx context.Context, w *textWriter, before []textAt, s int) (int, error) {
	resume := len(before)
	stop := func(next textAt) bool {
		at, known := slices.BinarySearchFunc(before, next, textAt.compare)
		if _, other := slices.BinarySearch(c.notes, next.note); !known || other && next.part > 0 {
			return false
		}
		resume = at
		return true
	}
	for from := before[s]; from.note < c.x.Notes && resume == len(before); from = (textAt{note: from.note + 1}) {
		if err := w.add(ctx, from, stop); err != nil {
			return 0, err
		}
	}
	return resume, nil
}
