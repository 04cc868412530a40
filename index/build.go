package index

import (
	"cmp"
	"encoding/binary"
	"slices"
	"strconv"
	"strings"

	segment "github.com/blevesearch/scorch_segment_api/v2"

	"kb/note"
)

// Source is a note to be indexed: its parse and its text, as note.Parse returned them.
type Source struct {
	Blob note.ID
	Note *note.Note
	Text []byte
}

// The fields of a note that segments hold, in the order of sidecars, position
// streams and sums. The words of its paths are a field of the view: see names.go.
const (
	fieldTitle = iota
	fieldAlias
	fieldHeading
	fieldTag
	fieldMeta
	fieldBody
	storedFields
	fieldName  = storedFields
	fieldCount = storedFields + 1
)

var fieldNames = [fieldCount]string{"title", "alias", "heading", "tag", "meta", "body", "name"}

// A segment has one dictionary for all fields, whose frequencies say how often
// the term occurs in each field (see [tally]): a query then looks each term up
// once, and a term's document frequency is the length of its list. The terms of
// whole tags begin with tagMark, which no word does.
const (
	zapTerms  = "t"
	zapStream = "s" // stored: the position stream
	tagMark   = "\x01"
)

// tally is how often a term occurs in each field of a note.
type tally [storedFields]uint32

// Bits of each field but the body in a packed tally: what does not fit counts
// as the most that does.
var tallyBits = [fieldBody]uint{fieldTitle: 4, fieldAlias: 4, fieldHeading: 6, fieldTag: 3, fieldMeta: 6}

const tallyBody = 1 << 24

// pack encodes t as a positive number, small where only the body has the term:
// odd is 2·body-1, even holds the other fields below the body.
func (t *tally) pack() uint64 {
	var p uint64
	shift := uint(0)
	for f, bits := range tallyBits {
		p |= uint64(min(t[f], 1<<bits-1)) << shift
		shift += bits
	}
	body := uint64(min(t[fieldBody], tallyBody-1))
	if p == 0 {
		return 2*max(body, 1) - 1
	}
	return (p | body<<shift) << 1
}

func unpack(v uint64, t *tally) {
	*t = tally{}
	if v&1 == 1 {
		t[fieldBody] = uint32((v + 1) / 2)
		return
	}
	v >>= 1
	for f, bits := range tallyBits {
		t[f] = uint32(v & (1<<bits - 1))
		v >>= bits
	}
	t[fieldBody] = uint32(v)
}

// entry is what a sidecar says of one note of a segment.
type entry struct {
	blob note.ID
	lens [storedFields]uint32 // main tokens per field
	entryFlags
}

// entryFlags is what else a search wants to know of a note.
type entryFlags struct {
	obsolete bool // it says so itself
	plain    bool // every character of its text is indexed in its body
}

// builder analyses notes and makes a segment of them: begin, add each, finish.
type builder struct {
	an     *analyzer
	toks   []token
	counts []tally
	met    []*term
	stream []byte
	buf    []byte

	file    zapFile
	entries []entry
	terms   []*term   // of the segment
	found   []posting // of the segment's notes, one after the other
	list    []posting // of one term
}

// A segment in hand is large enough to be written when it has this many
// postings or terms, or bytes of position streams: some 10 MB of text.
const (
	maxFound  = 1 << 20
	maxTerms  = 1 << 17
	maxStream = 16 << 20
)

func (b *builder) begin() {
	b.an.begin()
	b.file.reset()
	b.entries, b.terms, b.found = nil, b.terms[:0], b.found[:0]
}

func (b *builder) full() bool {
	return len(b.found) >= maxFound || len(b.terms) >= maxTerms || len(b.file.mem) >= maxStream
}

// finish returns the segment of the notes added, in memory, in their order.
func (b *builder) finish() (segment.Segment, []entry, error) {
	seg, err := b.file.segment(b.terms, func(t *term) []posting {
		b.list = b.list[:0]
		for i := t.first; i >= 0; i = b.found[i].next {
			b.list = append(b.list, b.found[i])
		}
		return b.list
	})
	return seg, b.entries, err
}

// build returns a segment of the notes in the order given, in memory.
func (b *builder) build(srcs []Source) (segment.Segment, []entry, error) {
	b.begin()
	for i := range srcs {
		b.add(&srcs[i])
	}
	return b.finish()
}

func (b *builder) add(s *Source) {
	gen := b.an.next()
	b.counts, b.met, b.stream = b.counts[:0], b.met[:0], b.stream[:0]
	n := s.Note
	e := entry{blob: s.Blob}
	e.obsolete = n.Obsolete()
	e.plain = n.Body == 0 && len(n.Skip) == 0
	for _, h := range n.Headings {
		b.field(gen, &e, fieldHeading, h.Text)
	}
	b.field(gen, &e, fieldTitle, n.Title)
	for _, a := range n.Aliases {
		b.field(gen, &e, fieldAlias, a)
	}
	for _, t := range n.Tags {
		b.field(gen, &e, fieldTag, t)
	}
	for _, v := range metaValues(n) {
		b.field(gen, &e, fieldMeta, v)
	}
	for _, part := range spoken(n, s.Text) {
		b.text(gen, &e, fieldBody, s.Text[part.Start:part.End])
	}
	for _, t := range wholeTags(n) {
		b.count(gen, b.an.intern(t), fieldTag)
	}
	b.post()
	b.file.note(b.stream)
	b.entries = append(b.entries, e)
}

func (b *builder) field(gen uint32, e *entry, field int, s string) {
	b.buf = append(b.buf[:0], s...)
	b.text(gen, e, field, b.buf)
}

// text counts the tokens of a field's text, and writes its main terms to the
// position stream as one section.
func (b *builder) text(gen uint32, e *entry, field int, text []byte) {
	b.toks = b.an.tokens(b.toks[:0], text)
	n := 0
	at := len(b.stream)
	b.stream = append(b.stream, byte(field), 0, 0, 0, 0)
	for i := range b.toks {
		t := &b.toks[i]
		b.count(gen, t.term, field)
		if t.kind == mainToken {
			h := t.term.hash
			b.stream = append(b.stream, byte(h), byte(h>>8), byte(h>>16))
			n++
		}
	}
	if n == 0 {
		b.stream = b.stream[:at]
		return
	}
	binary.LittleEndian.PutUint32(b.stream[at+1:], uint32(n))
	e.lens[field] += uint32(n)
}

func (b *builder) count(gen uint32, t *term, field int) {
	if t.gen != gen {
		t.gen, t.slot = gen, int32(len(b.counts))
		b.counts = append(b.counts, tally{})
		b.met = append(b.met, t)
	}
	b.counts[t.slot][field]++
}

// post adds the note's terms to those of the segment.
func (b *builder) post() {
	num := uint32(len(b.entries))
	for i, t := range b.met {
		at := int32(len(b.found))
		if t.segment == b.an.segment {
			b.found[t.last].next = at
		} else {
			t.segment, t.first = b.an.segment, at
			b.terms = append(b.terms, t)
		}
		t.last = at
		b.found = append(b.found, posting{freq: b.counts[i].pack(), note: num, next: -1})
	}
}

// spoken returns the parts of the body that are said to a reader.
func spoken(n *note.Note, text []byte) []note.Span {
	var parts []note.Span
	at := min(n.Body, len(text))
	for _, s := range n.Skip {
		if s.Start > at {
			parts = append(parts, note.Span{Start: at, End: min(s.Start, len(text))})
		}
		at = max(at, s.End)
	}
	if at < len(text) {
		parts = append(parts, note.Span{Start: at, End: len(text)})
	}
	return parts
}

// wholeTags returns the marked terms of a note's tags and of their ancestors:
// a/b is found as a/b and as a. Sorted, each once.
func wholeTags(n *note.Note) []string {
	var terms []string
	for _, t := range n.Tags {
		t = tagTerm(t)
		terms = append(terms, cut(t, maxTerm))
		for i := range t {
			if t[i] == '/' && i > len(tagMark) {
				terms = append(terms, cut(t[:i], maxTerm))
			}
		}
	}
	slices.Sort(terms)
	return slices.Compact(terms)
}

func tagTerm(tag string) string {
	return tagMark + fold(strings.Trim(strings.TrimPrefix(tag, "#"), "/"))
}

// metaValues returns the values of the properties that have no field of their own.
func metaValues(n *note.Note) []string {
	var out []string
	for _, f := range n.Fields {
		switch strings.ToLower(f.Key) {
		case "title", "alias", "aliases", "tag", "tags":
		default:
			out = appendValue(out, f.Value)
		}
	}
	return out
}

func appendValue(out []string, v any) []string {
	switch v := v.(type) {
	case string:
		return append(out, v)
	case int64:
		return append(out, strconv.FormatInt(v, 10))
	case float64:
		return append(out, strconv.FormatFloat(v, 'f', -1, 64))
	case []any:
		for _, x := range v {
			out = appendValue(out, x)
		}
	case map[string]any:
		for _, k := range sortedKeys(v) {
			out = appendValue(out, v[k])
		}
	}
	return out
}

func sortedKeys[K cmp.Ordered, V any](m map[K]V) []K {
	keys := make([]K, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
