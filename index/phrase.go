package index

import (
	"encoding/binary"
	"fmt"
)

// A position stream holds the main terms of a note in their order, so that
// phrases are decided without reading the note. It is a list of sections, which
// no phrase crosses:
//
//	field  1 byte
//	count  4 bytes, little-endian
//	terms  3 bytes each: the low 24 bits of a hash of the term
//
// A phrase is looked for only in notes that have all its terms, so that another
// word of the same hash matters about once in sixteen million pairs of words.

// countPhrase adds to t how often the phrase stands in the stream.
func countPhrase(stream []byte, phrase []*phraseTerm, t *tally) {
	for len(stream) >= 5 {
		f := int(stream[0])
		n := 3 * int(binary.LittleEndian.Uint32(stream[1:]))
		stream = stream[5:]
		if n > len(stream) || f >= storedFields {
			return // unreachable unless the segment is damaged
		}
		t[f] += countIn(stream[:n], phrase)
		stream = stream[n:]
	}
}

func countIn(section []byte, phrase []*phraseTerm) (n uint32) {
	first := phrase[0].hash
	for i := 0; i+3*len(phrase) <= len(section); i += 3 {
		if hashAt(section, i) == first && matchAt(section[i:], phrase) {
			n++
		}
	}
	return n
}

func hashAt(b []byte, i int) uint32 { return uint32(b[i]) | uint32(b[i+1])<<8 | uint32(b[i+2])<<16 }

func matchAt(b []byte, phrase []*phraseTerm) bool {
	for i, p := range phrase {
		if hashAt(b, 3*i) != p.hash {
			return false
		}
	}
	return true
}

// collectPhrase weighs the notes that have the phrase: as if it were one term.
func (e *evaluation) collectPhrase(u *unit) error {
	terms := distinct(u.phrase)
	for i := range e.v.parts {
		if err := e.phraseIn(i, terms, u); err != nil {
			return err
		}
	}
	if u.fields.has(fieldName) {
		e.phraseInNames(terms, u)
	}
	return nil
}

func distinct(phrase []*phraseTerm) []string {
	seen := map[string]bool{}
	var terms []string
	for _, t := range phrase {
		if !seen[t.text] && len(terms) < 255 {
			seen[t.text] = true
			terms = append(terms, t.text)
		}
	}
	return terms
}

// phraseIn weighs the notes of one part.
func (e *evaluation) phraseIn(i int, terms []string, u *unit) error {
	type candidate struct {
		num uint32
		d   int32
	}
	var all, met []candidate
	for k, t := range terms {
		all = all[:0]
		err := e.postings(t, i, func(num uint32, d int32, _ uint64) {
			if int(e.counts[d]) != k {
				return
			}
			e.counts[d]++
			all = append(all, candidate{num, d})
			if k == 0 {
				met = append(met, candidate{num, d})
			}
		})
		if err != nil || len(all) == 0 {
			for _, c := range met {
				e.counts[c.d] = 0
			}
			return err
		}
	}
	for _, c := range met {
		e.counts[c.d] = 0
	}
	for _, c := range all {
		t, err := e.v.phraseTally(i, c.num, u.phrase)
		if err != nil {
			return err
		}
		if w := e.v.weigh(&t, &e.v.parts[i].entries[c.num].lens, u.fields); w > 0 {
			e.add(c.d, w)
		}
	}
	return e.ctx.Err()
}

// phraseTally reads a note's position stream.
func (v *View) phraseTally(part int, num uint32, phrase []*phraseTerm) (t tally, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("read segment: %v", p)
		}
	}()
	err = v.parts[part].seg.VisitStoredFields(uint64(num), func(name string, _ byte, value []byte, _ []uint64) bool {
		if name == zapStream {
			countPhrase(value, phrase, &t)
		}
		return true
	})
	return t, err
}

// phraseInNames adds the weight of the phrase in paths.
func (e *evaluation) phraseInNames(terms []string, u *unit) {
	b := e.v.segs.builders.Get().(*builder)
	defer e.v.segs.builders.Put(b)
	b.an.begin()
	for _, n := range e.v.names.lookup(terms[0]) {
		d := n.doc()
		for _, m := range e.v.docs[d].members {
			if countIn(b.pathStream(e.v.members[m].Path), u.phrase) > 0 {
				e.add(d, fieldWeight[fieldName])
				break
			}
		}
	}
}

// pathStream returns the words of a path as a position stream has them, until the
// builder's next use.
func (b *builder) pathStream(path string) []byte {
	b.toks = b.an.tokens(b.toks[:0], []byte(trimExtension(path)))
	b.stream = b.stream[:0]
	for _, t := range b.toks {
		if h := t.term.hash; t.kind == mainToken {
			b.stream = append(b.stream, byte(h), byte(h>>8), byte(h>>16))
		}
	}
	return b.stream
}
