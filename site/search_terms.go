package site

import (
	"context"
	"encoding/binary"
	"slices"
)

// Sizes of files of terms before compression: small ones make queries cheap, many
// make sites dear. What one term has beyond longTerm is a file of its own.
const (
	termShard = 8 << 10
	wordShard = 6 << 10
	longTerm  = 12 << 10
)

// searchTerms writes the terms with their postings and places, and the vocabulary.
func (b *builder) searchTerms(ctx context.Context, x *searchIndex) error {
	d := b.set.Search
	p := places{}
	if err := d.Streams(ctx, func(note int, stream []byte) error { p.add(note, stream); return nil }); err != nil {
		return err
	}
	w := termWriter{b: b, x: x}
	var words []wordCount
	err := d.Each(ctx, func(term string, postings []SearchPosting) error {
		var where []byte
		if !isTag(term) {
			where = p.of(d.Hash(term))
			words = append(words, wordCount{term, len(postings)})
		}
		return w.add(term, postingList(postings), where)
	})
	if err != nil {
		return err
	}
	if err := w.flush(); err != nil {
		return err
	}
	tails := make([]wordCount, len(words))
	for i, word := range words {
		tails[i] = wordCount{backwards(word.word), word.notes}
	}
	slices.SortFunc(tails, compareWords)
	return b.vocabulary(x, words, tails)
}

// searchLengths writes the lengths of the notes' fields.
func (b *builder) searchLengths(x *searchIndex) (err error) {
	var lengths []byte
	for f := range SearchFields {
		for _, of := range b.set.Search.Lengths {
			lengths = binary.AppendUvarint(lengths, uint64(of[f]))
		}
	}
	x.Lengths, err = b.putPart("lengths", lengths)
	return err
}

// isTag reports whether a term is a whole tag, not a word.
func isTag(term string) bool { return term[0] <= ' ' }

// termWriter makes files of terms as they come, in byte order.
type termWriter struct {
	b      *builder
	x      *searchIndex
	terms  keyed
	places []byte
	before string // the last term of the shard before
}

func (w *termWriter) add(term string, list, where []byte) (err error) {
	if len(list) > longTerm || len(where) > longTerm {
		return w.long(term, list, where)
	}
	if w.terms.n == 0 {
		w.x.First = append(w.x.First, between(w.before, term))
	}
	size := len(w.terms.buf)
	w.terms.key(term)
	w.terms.buf = append(w.terms.buf, list...)
	w.places = append(uvarints(w.places, len(where)), where...)
	if !shardEnds(len(w.terms.buf), len(w.terms.buf)-size, termShard, term) {
		return nil
	}
	w.before = term
	return w.flush()
}

// long writes a term's own files.
func (w *termWriter) long(term string, list, where []byte) error {
	terms, err := w.b.putPart("list", list)
	if err != nil {
		return err
	}
	places, err := w.b.putPart("placed", where)
	w.x.Long[term] = terms + places
	return err
}

func (w *termWriter) flush() error {
	if w.terms.n == 0 {
		return nil
	}
	terms, err := w.b.putPart("terms", w.terms.take())
	if err != nil {
		return err
	}
	places, err := w.b.putPart("places", w.places)
	w.x.Terms, w.x.Places, w.places = w.x.Terms+terms, w.x.Places+places, nil
	return err
}

// between returns the shortest beginning of next that is greater than last.
func between(last, next string) string {
	for i := range next {
		if s := next[:i]; s > last {
			return s
		}
	}
	return next
}

// keyed is a list of terms in byte order with what belongs to each: a count of
// terms, then for each the length of what it shares with the one before, the
// length of the rest, the rest, and its own.
type keyed struct {
	buf  []byte
	n    int
	last string
}

func (k *keyed) key(term string) {
	shared := 0
	for shared < len(term) && shared < len(k.last) && term[shared] == k.last[shared] {
		shared++
	}
	k.buf = append(uvarints(k.buf, shared, len(term)-shared), term[shared:]...)
	k.last = term
	k.n++
}

// take returns the list and empties it.
func (k *keyed) take() []byte {
	out := append(uvarints(nil, k.n), k.buf...)
	*k = keyed{}
	return out
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

// places is where terms stand in the notes, by hash. For each note that has one:
// how far it is from the one before; a bit for each field, the last for paths; and
// for each of those the number of places, and how far each is from the one before.
// Words that follow each other have places that do; sections have a gap between.
type places map[uint32]*placeList

type placeList struct {
	buf  []byte
	last int // note
}

func (p places) of(hash uint32) []byte {
	if l := p[hash]; l != nil {
		return l.buf
	}
	return nil
}

// placed is one word of a note.
type placed struct {
	hash  uint32
	field byte
	at    int
}

func (p places) add(note int, stream []byte) {
	words := readStream(stream)
	slices.SortFunc(words, func(a, b placed) int {
		if a.hash != b.hash {
			return int(a.hash) - int(b.hash)
		}
		if a.field != b.field {
			return int(a.field) - int(b.field)
		}
		return a.at - b.at
	})
	for len(words) > 0 {
		n := 1
		for n < len(words) && words[n].hash == words[0].hash {
			n++
		}
		l := p[words[0].hash]
		if l == nil {
			l = &placeList{}
			p[words[0].hash] = l
		}
		l.add(note, words[:n])
		words = words[n:]
	}
}

func readStream(stream []byte) (words []placed) {
	at := 0
	for len(stream) >= 5 {
		field, n := stream[0], int(binary.LittleEndian.Uint32(stream[1:]))
		for stream = stream[5:]; n > 0; n-- {
			words = append(words, placed{uint32(stream[0]) | uint32(stream[1])<<8 | uint32(stream[2])<<16, field, at})
			stream = stream[3:]
			at++
		}
		at++
	}
	return words
}

// add adds the places of one term in a note, by field and place.
func (l *placeList) add(note int, words []placed) {
	var fields byte
	var counts [SearchFields + 1]int
	for _, w := range words {
		fields |= 1 << w.field
		counts[w.field]++
	}
	l.buf = append(uvarints(l.buf, note-l.last), fields)
	l.last = note
	last, field := 0, byte(0xff)
	for _, w := range words {
		if w.field != field {
			last, field = 0, w.field
			l.buf = uvarints(l.buf, counts[field])
		}
		l.buf = uvarints(l.buf, w.at-last)
		last = w.at
	}
}
