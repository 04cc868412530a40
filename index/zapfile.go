package index

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math"
	"slices"

	"github.com/RoaringBitmap/roaring/v2"
	index "github.com/blevesearch/bleve_index_api"
	segment "github.com/blevesearch/scorch_segment_api/v2"
	"github.com/blevesearch/vellum"
	zap "github.com/blevesearch/zapx/v17"
	"github.com/golang/snappy"
)

// zapFile writes new segments in zap's format, version 17; zap reads and merges
// them. zap's own builder wants a map of terms from every note and makes maps
// of its own from those, which for small notes took longer than all the rest.
//
// What is written is the part of the format that we use:
//
//	notes     each: uvarint lengths of meta and data; meta (see stored); data,
//	          by snappy: the position stream
//	offsets   of each note, 8 bytes; then the number of nested notes, 0
//	terms     each: frequencies in chunks, then their offset, a location offset
//	          of 0, and the notes as a roaring bitmap
//	terms     a vellum dictionary: term → offset of its notes, or the note
//	          itself where it is the only one with frequency 1
//	section   no column of values; offset of the dictionary
//	fields    each: name, options, sections; then offsets of the fields
//
// zap adds its footer when it writes the segment to a file.
type zapFile struct {
	mem     []byte
	offsets []uint64 // of notes
	packed  []byte   // scratch of snappy
	bits    *roaring.Bitmap
	ends    []uint64 // of the chunks of a term
	freqs   []byte
	fst     bytes.Buffer
	builder *vellum.Builder
}

// Fields in the order in which zap numbers them.
var zapFields = [...]struct {
	name    string
	options index.FieldIndexingOptions
}{
	{"_id", index.IndexField | index.StoreField},
	{zapStream, index.StoreField},
	{zapTerms, index.IndexField},
}

const (
	streamField = 1 // indexes of zapFields
	termsField  = 2
	textType    = 't' // of a stored value
	// zap keeps a length with every frequency. Ours are in the sidecar; zero
	// would confuse zap's encoding of lone notes.
	noLength = 1
)

func (z *zapFile) reset() {
	z.mem, z.offsets = nil, z.offsets[:0] // the segment keeps mem
}

// note appends the next note.
func (z *zapFile) note(stream []byte) {
	meta := []byte{0, streamField, textType, 0} // no _id; from offset 0
	meta = binary.AppendUvarint(meta, uint64(len(stream)))
	meta = append(meta, 0) // not an element of a list
	z.packed = snappy.Encode(z.packed[:cap(z.packed)], stream)
	z.offsets = append(z.offsets, uint64(len(z.mem)))
	z.uvarint(uint64(len(meta)))
	z.uvarint(uint64(len(z.packed)))
	z.mem = append(z.mem, meta...)
	z.mem = append(z.mem, z.packed...)
}

func (z *zapFile) uvarint(v uint64) { z.mem = binary.AppendUvarint(z.mem, v) }
func (z *zapFile) uint64(v uint64)  { z.mem = binary.BigEndian.AppendUint64(z.mem, v) }

// posting says that a term is in a note, and how often.
type posting struct {
	freq uint64 // a packed tally
	note uint32
	next int32 // of the same term, among all of a builder; -1 for none
}

// segment returns what the notes and their terms make. Lists holds the postings
// of each term, by note. It reorders terms.
func (z *zapFile) segment(terms []*term, lists func(*term) []posting) (segment.Segment, error) {
	stored := z.storedIndex()
	dict, err := z.dictionary(terms, lists)
	if err != nil {
		return nil, fmt.Errorf("build segment: %w", err)
	}
	section := uint64(len(z.mem))
	z.uvarint(math.MaxUint64) // where values would begin
	z.uvarint(math.MaxUint64) // and end
	z.uvarint(dict)
	fields := z.fields(section)
	base, err := zap.InitSegmentBase(z.mem, crc32.ChecksumIEEE(z.mem), zap.DefaultChunkMode, uint64(len(z.offsets)),
		stored, fields, nil, new(segment.Stats))
	if err != nil {
		return nil, fmt.Errorf("build segment: %w", err)
	}
	return base, nil
}

func (z *zapFile) storedIndex() uint64 {
	at := uint64(len(z.mem))
	for _, o := range z.offsets {
		z.uint64(o)
	}
	z.uvarint(0)
	return at
}

// dictionary writes the lists of all terms, and where they are.
func (z *zapFile) dictionary(terms []*term, lists func(*term) []posting) (at uint64, err error) {
	z.fst.Reset()
	if z.builder == nil {
		z.builder, err = vellum.New(&z.fst, nil)
	} else {
		err = z.builder.Reset(&z.fst)
	}
	slices.SortFunc(terms, func(a, b *term) int { return cmp.Compare(a.text, b.text) })
	for i := 0; i < len(terms) && err == nil; i++ {
		var list uint64
		if list, err = z.list(lists(terms[i])); err == nil {
			err = z.builder.Insert([]byte(terms[i].text), list)
		}
	}
	if err == nil {
		err = z.builder.Close()
	}
	if err != nil {
		z.builder = nil
		return 0, err
	}
	at = uint64(len(z.mem))
	z.uvarint(uint64(z.fst.Len()))
	z.mem = append(z.mem, z.fst.Bytes()...)
	return at, nil
}

// list writes the notes of a term and returns what the dictionary says of them.
func (z *zapFile) list(ps []posting) (uint64, error) {
	if len(ps) == 1 && ps[0].freq == 1 {
		return zap.FSTValEncode1Hit(uint64(ps[0].note), noLength), nil
	}
	if z.bits == nil {
		z.bits = roaring.New()
	}
	z.bits.Clear()
	for _, p := range ps {
		z.bits.Add(p.note)
	}
	freqs := uint64(len(z.mem))
	z.frequencies(ps)
	at := uint64(len(z.mem))
	z.uvarint(freqs)
	z.uvarint(0)
	z.uvarint(z.bits.GetSerializedSizeInBytes())
	w := bytes.NewBuffer(z.mem)
	_, err := z.bits.WriteTo(w)
	z.mem = w.Bytes()
	return at, err
}

// frequencies writes the frequencies of a term in chunks of about 1024, split
// by number of note: where each chunk ends, then the chunks.
func (z *zapFile) frequencies(ps []posting) {
	notes := uint32(len(z.offsets))
	size := notes / uint32(len(ps)/1024+1) // as zap's DefaultChunkMode has it
	z.freqs = z.freqs[:0]
	z.ends = z.ends[:0]
	for _, p := range ps {
		for uint32(len(z.ends)) < p.note/size {
			z.ends = append(z.ends, uint64(len(z.freqs)))
		}
		z.freqs = binary.AppendUvarint(z.freqs, p.freq<<1) // 1 would announce locations
		z.freqs = append(z.freqs, noLength)
	}
	for uint32(len(z.ends)) <= (notes-1)/size {
		z.ends = append(z.ends, uint64(len(z.freqs)))
	}
	z.uvarint(uint64(len(z.ends)))
	for _, e := range z.ends {
		z.uvarint(e)
	}
	z.mem = append(z.mem, z.freqs...)
}

// fields writes the fields, of which one has a section of terms, and returns
// where they are listed.
func (z *zapFile) fields(section uint64) uint64 {
	var starts [len(zapFields)]uint64
	for i, f := range zapFields {
		starts[i] = uint64(len(z.mem))
		z.uvarint(uint64(len(f.name)))
		z.mem = append(z.mem, f.name...)
		z.uvarint(uint64(f.options))
		if i != termsField {
			z.uvarint(0)
			continue
		}
		z.uvarint(1)
		z.mem = binary.BigEndian.AppendUint16(z.mem, zap.SectionInvertedTextIndex)
		z.uint64(section)
	}
	at := uint64(len(z.mem))
	z.uvarint(uint64(len(zapFields)))
	for _, s := range starts {
		z.uint64(s)
	}
	return at
}
