package site

import (
	"context"
	"encoding/binary"
	"errors"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Sizes before compression: small files make queries and edits cheap, many make the
// index long. What a term has beyond some bytes is several items, a half as large as
// files of terms; what one of at most rareTerm bytes has is in the vocabulary, which
// has all terms.
const (
	termShard = 6 << 10 // half more in large sites
	wordShard = 4 << 10
	endShard  = 3 << 10
	rareTerm  = 32

	lengthsShard = 512 // notes
)

// The runs of the search data: terms in several notes with their places beside
// them; all terms, with what rare ones have; and words by length and from their
// ends.
var (
	wordRun = run{kind: "words", target: wordShard, skip: func(r *partReader) {
		if r.skipPostings() == 0 {
			r.take(1)
		} else {
			r.take(r.number())
		}
	}}
	endRun = run{kind: "ends", target: endShard, skip: func(*partReader) {}}
)

// termRun is the first of them in a site of so many notes.
func termRun(notes int) run {
	r := run{kind: "terms", beside: "places", target: termShard, skip: func(r *partReader) { r.skipPostings() }}
	if notes > largeSite {
		r.target += termShard / 2
	}
	return r
}

// searchTerms writes the terms with their postings and places, and the vocabulary.
func (b *builder) searchTerms(ctx context.Context, x *searchIndex) error {
	d := b.set.Search
	p := places{}
	err := d.Streams(ctx, func(n int, stream []byte) error {
		doc := b.set.Docs[d.Notes[n]]
		text, err := b.text(ctx, doc)
		if err == nil {
			p.add(n, readStream(stream, wordsInLines(text[doc.Note.Body:])))
		}
		return err
	})
	if err != nil {
		return err
	}
	terms, words, ends := runWriter{run: termRun(len(d.Notes)), b: b}, runWriter{run: wordRun, b: b}, runWriter{run: endRun, b: b}
	var last []string
	err = d.Each(ctx, func(term string, postings []SearchPosting) error {
		var where []notePlaces
		if !isTag(term) {
			where = p.of(d.Hash(term))
			last = append(last, endKey(term))
		}
		word, segments := termItems(term, withPlaces(postings, where), terms.target/2)
		return errors.Join(terms.addAll(segments, nil), words.addAll(word, nil))
	})
	if err != nil {
		return err
	}
	slices.Sort(last)
	for _, key := range last {
		if err := ends.add(item{key: key}); err != nil {
			return err
		}
	}
	for _, w := range []*runWriter{&terms, &words, &ends} {
		if err := w.flush(); err != nil {
			return err
		}
	}
	return b.searchRuns(x, terms.out, words.out, ends.out)
}

// searchRuns enters the files of the runs in the index.
func (b *builder) searchRuns(x *searchIndex, terms, words, ends shards) (err error) {
	x.Terms, x.Words, x.Ends = terms.checks, words.checks, ends.checks
	x.First, err = b.putFirst(&terms, &words, &ends)
	return err
}

// searchLengths writes the lengths of the notes' fields.
func (b *builder) searchLengths(x *searchIndex) error {
	n := 0
	for notes := range slices.Chunk(b.set.Search.Lengths, lengthsShard) {
		var lengths []byte
		for f := range SearchFields {
			for _, of := range notes {
				lengths = binary.AppendUvarint(lengths, uint64(of[f]))
			}
		}
		check, err := b.putPart("lengths", strconv.Itoa(n), lengths)
		if err != nil {
			return err
		}
		x.Lengths += check
		n++
	}
	return nil
}

// isTag reports whether a term is a whole tag, not a word.
func isTag(term string) bool { return term[0] <= ' ' }

// endKey is a word's in the run of ends. An unknown word is another spelling of one
// of about its length. Within one edit two words of four letters or more have the
// first two in common, or the last two, or it is these that were swapped: so words
// are found from both ends.
func endKey(word string) string {
	rs := []rune(word)
	slices.Reverse(rs)
	return lengthKey(utf8.RuneCountInString(word)) + string(rs)
}

// lengthKey is what the words of so many characters begin with in the run of ends.
func lengthKey(n int) string {
	s := strconv.FormatInt(int64(n), 36)
	return strings.Repeat("0", max(0, 2-len(s))) + s
}

// termIn is a term in one note: its posting, and its places.
type termIn struct {
	SearchPosting
	where []byte
}

// withPlaces joins postings and places by note. Places in other notes are those of
// another word of the same hash.
func withPlaces(postings []SearchPosting, where []notePlaces) []termIn {
	out := make([]termIn, len(postings))
	for i, p := range postings {
		out[i].SearchPosting = p
		for len(where) > 0 && where[0].note < p.Note {
			where = where[1:]
		}
		if len(where) > 0 && where[0].note == p.Note {
			out[i].where = where[0].where
		}
	}
	return out
}

// size is about the bytes of a term in one note.
func (t *termIn) size() int {
	n := 2 + len(t.where)
	for kind := t.kind() & (1<<SearchFields - 1); kind > 0; kind &= kind - 1 {
		n++
	}
	return n
}

// termItems are a term's items: one of the vocabulary, unless it is a tag that is not
// rare, and those of the terms, unless it is rare. Items after the first have their
// first note in their keys.
func termItems(term string, notes []termIn, segment int) (word, segments []item) {
	size := 0
	for i := range notes {
		size += notes[i].size()
	}
	if size <= rareTerm {
		list, where := termLists(notes)
		return []item{{key: term, data: append(uvarints(list, len(where)), where...)}}, nil
	}
	if !isTag(term) {
		named := slices.ContainsFunc(notes, func(t termIn) bool { return t.Name || t.Folder })
		word = []item{{key: term, data: uvarints(nil, 0, boolInt(named))}}
	}
	from, key, size := 0, term, 0
	for i := range notes {
		n := notes[i].size()
		size += n
		if i+1 < len(notes) && !shardEnds(size, n, segment, segmentKey(term, notes[i].Note)) {
			continue
		}
		list, where := termLists(notes[from : i+1])
		segments = append(segments, item{key, list, where})
		if i+1 < len(notes) {
			from, key, size = i+1, segmentKey(term, notes[i+1].Note), 0
		}
	}
	return word, segments
}

// segmentKey is the key of a term's item that begins with a note. afterSegments is
// above those of all its items, and below all other terms above it.
func segmentKey(term string, note int) string {
	s := strconv.FormatInt(int64(note), 36)
	return term + "\x00" + strings.Repeat("0", max(0, 6-len(s))) + s
}

func afterSegments(term string) string { return term + "\x01" }

// termLists are the postings and places of a term in notes.
func termLists(notes []termIn) (list, where []byte) {
	postings := make([]SearchPosting, len(notes))
	last := 0
	for i, t := range notes {
		postings[i] = t.SearchPosting
		if len(t.where) > 0 {
			where = append(uvarints(where, t.Note-last), t.where...)
			last = t.Note
		}
	}
	return postingList(postings), where
}

// readTermLists reads what termLists made.
func readTermLists(list, where []byte) ([]termIn, bool) {
	l, w := partReader{data: list}, partReader{data: where}
	out := withPlaces(l.postings(), w.places())
	return out, !l.bad && !w.bad
}

// postingList is what a term is to its notes: their number; for each how far it is
// from the one before; for each its kind, a bit for each field that has the term, one
// for the file name, one for a folder; for each, for each of its fields, the count.
func postingList(postings []SearchPosting) []byte {
	out := uvarints(nil, len(postings))
	last := 0
	for _, p := range postings {
		out = uvarints(out, p.Note-last)
		last = p.Note
	}
	for _, p := range postings {
		out = append(out, p.kind())
	}
	for _, p := range postings {
		for _, n := range p.Counts {
			if n > 0 {
				out = uvarints(out, int(n))
			}
		}
	}
	return out
}

func (p *SearchPosting) kind() (kind byte) {
	for f, n := range p.Counts {
		if n > 0 {
			kind |= 1 << f
		}
	}
	if p.Name {
		kind |= 1 << SearchFields
	}
	if p.Folder {
		kind |= 1 << (SearchFields + 1)
	}
	return kind
}
