package index

import (
	"context"
	"encoding/binary"
	"fmt"
	"runtime"
	"slices"

	"github.com/blevesearch/vellum"
	zap "github.com/blevesearch/zapx/v17"

	"kb/note"
)

// StoredFields is how many fields of a note have lengths: title, alias, heading,
// tag, meta, body, in this order. The words of paths are beside them.
const StoredFields = storedFields

// Statistics is what scores in a view depend on beside the postings of the terms.
type Statistics struct {
	Notes   int                   // distinct blobs: N
	Average [StoredFields]float64 // length of each field over the notes that have it
	// Order lists the notes as ties are broken: by their first member, given as
	// an index into the view's members.
	Order []int
	// Lengths are of the notes' fields, in words.
	Lengths [][StoredFields]uint32
	// Obsolete are those notes, as indexes into Order, that say so themselves.
	Obsolete []int
}

// Posting is what a term is to one note.
type Posting struct {
	Note   int                  // index into Statistics.Order
	Counts [StoredFields]uint32 // how often it stands in each field, as far as scores count
	Name   bool                 // it stands in a file name of the note
	Folder bool                 // else in a folder's
}

// Statistics returns what is the same for all queries.
func (v *View) Statistics() Statistics {
	s := Statistics{Notes: len(v.docs), Average: v.avg, Order: make([]int, len(v.docs)), Lengths: make([][StoredFields]uint32, len(v.docs)), Obsolete: []int{}}
	for d := range v.docs {
		s.Order[d] = int(v.docs[d].members[0])
		if v.docs[d].obsolete {
			s.Obsolete = append(s.Obsolete, d)
		}
	}
	for _, p := range v.parts {
		for num, d := range p.docOf {
			if d >= 0 {
				s.Lengths[d] = p.entries[num].lens
			}
		}
	}
	return s
}

// Alone returns the view of one note of v alone, given as an index into
// Statistics.Order, as if it had other bytes: what they would add to v.
func (v *View) Alone(n int, src Source) (*View, error) {
	one := &View{segs: v.segs, load: v.load, byBlob: map[note.ID]int32{src.Blob: 0}, docs: []viewNote{{blob: src.Blob}}}
	for i, m := range v.docs[n].members {
		one.members = append(one.members, Member{Collection: v.members[m].Collection, Path: v.members[m].Path, Blob: src.Blob})
		one.docs[0].members = append(one.docs[0].members, int32(i))
	}
	b := v.segs.builders.Get().(*builder)
	defer v.segs.builders.Put(b)
	seg, entries, err := b.build([]Source{src})
	if err != nil {
		return nil, err
	}
	one.docs[0].entryFlags = entries[0].entryFlags
	one.parts = []part{{seg, entries, []int32{0}}}
	one.sum()
	one.names = v.segs.names.index(one)
	return one, nil
}

// EachTerm calls fn with every term of the view in byte order, with the notes that
// have it, ascending. The terms of whole tags begin with U+0001. fn must not keep
// the slice.
func (v *View) EachTerm(ctx context.Context, fn func(term string, postings []Posting) error) error {
	defer runtime.KeepAlive(v)
	s := v.segs.scratches.Get().(*scratch)
	s.grow(len(v.docs), len(v.parts))
	e := &evaluation{scratch: s, v: v, ctx: ctx}
	defer func() {
		s.reset()
		v.segs.scratches.Put(s)
	}()
	terms, err := e.allTerms()
	if err != nil {
		return err
	}
	var list []Posting
	for _, t := range terms {
		if err := ctx.Err(); err != nil {
			return err
		}
		if list, err = e.postingsOf(list[:0], t); err != nil {
			return err
		}
		if len(list) == 0 {
			continue // no note of the view has it
		}
		if err := fn(t, list); err != nil {
			return err
		}
	}
	return nil
}

// allTerms returns the terms of the view's segments and paths, sorted.
func (e *evaluation) allTerms() (terms []string, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("read dictionary: %v", p)
		}
	}()
	for i := range e.v.parts {
		dict, err := e.dict(i)
		if err != nil {
			return nil, fmt.Errorf("read dictionary: %w", err)
		}
		it := dict.(*zap.Dictionary).AutomatonIteratorOmitCount(&vellum.AlwaysMatch{}, nil, nil)
		for {
			t, err := it.Next()
			if err != nil {
				return nil, fmt.Errorf("read dictionary: %w", err)
			}
			if t == nil {
				break
			}
			terms = append(terms, t.Term)
		}
	}
	terms = append(terms, e.v.names.order()...)
	slices.Sort(terms)
	return slices.Compact(terms), nil
}

// postingsOf appends the postings of a term to list.
func (e *evaluation) postingsOf(list []Posting, term string) ([]Posting, error) {
	for i := range e.v.parts {
		err := e.postings(term, i, func(_ uint32, d int32, freq uint64) {
			p := Posting{Note: int(d)}
			unpack(freq, (*tally)(&p.Counts))
			list = append(list, p)
		})
		if err != nil {
			return nil, err
		}
	}
	slices.SortFunc(list, func(a, b Posting) int { return a.Note - b.Note })
	stored := len(list)
	for _, n := range e.v.names.lookup(term) {
		at, ok := slices.BinarySearchFunc(list[:stored], int(n.doc()), func(p Posting, d int) int { return p.Note - d })
		if !ok {
			list = append(list, Posting{Note: int(n.doc())})
			at = len(list) - 1
		}
		list[at].Name, list[at].Folder = n&1 == 1, n&1 == 0
	}
	if len(list) > stored {
		slices.SortFunc(list, func(a, b Posting) int { return a.Note - b.Note })
	}
	return list, nil
}

// EachStream calls fn with every note's position stream, which decides phrases:
// for each section of text that no phrase crosses, the field in one byte, the number
// of words in four, little-endian, and three for each word, [TermHash] of its term.
// The note's paths are sections of the field StoredFields. Notes come in ascending
// order; fn must not keep the stream. With [View.Statistics] and [View.EachTerm] this
// is all that ranking needs.
func (v *View) EachStream(ctx context.Context, fn func(note int, stream []byte) error) error {
	defer runtime.KeepAlive(v)
	type place struct {
		part int
		num  uint32
	}
	at := make([]place, len(v.docs))
	for i, p := range v.parts {
		for num, d := range p.docOf {
			if d >= 0 {
				at[d] = place{i, uint32(num)}
			}
		}
	}
	b := v.segs.builders.Get().(*builder)
	defer v.segs.builders.Put(b)
	b.an.begin()
	for d, p := range at {
		if err := ctx.Err(); err != nil {
			return err
		}
		stream, err := v.stream(p.part, p.num)
		if err != nil {
			return err
		}
		for _, m := range v.docs[d].members {
			words := b.pathStream(v.members[m].Path)
			stream = append(stream, StoredFields)
			stream = binary.LittleEndian.AppendUint32(stream, uint32(len(words)/3))
			stream = append(stream, words...)
		}
		if err := fn(d, stream); err != nil {
			return err
		}
	}
	return nil
}

// TermHash is the 24 bits of a term that position streams have.
func TermHash(term string) uint32 { return hashTerm(term) }

// stream returns a copy of a note's position stream.
func (v *View) stream(part int, num uint32) (out []byte, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("read segment: %v", p)
		}
	}()
	err = v.parts[part].seg.VisitStoredFields(uint64(num), func(name string, _ byte, value []byte, _ []uint64) bool {
		if name == zapStream {
			out = append([]byte{}, value...)
		}
		return true
	})
	return out, err
}
