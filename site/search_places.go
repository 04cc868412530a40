package site

import (
	"encoding/binary"
	"slices"
	"unicode"
	"unicode/utf8"
)

// places is where terms stand in the notes, by hash. For each note that has one:
// how far it is from the one before; a bit for each field, the last for paths; and
// for each of those the number of places, and for each how far it is from the one
// before, doubled. One more says that it is the last of its block: then comes how far
// the first of the next block is, or 0 where no phrase goes on.
type places map[uint32]*placeList

type placeList struct {
	buf  []byte
	last int // note
}

func (p places) of(hash uint32) []notePlaces {
	l := p[hash]
	if l == nil {
		return nil
	}
	r := partReader{data: l.buf}
	return r.places()
}

// placed is one word of a note.
type placed struct {
	hash  uint32
	field byte
	at    int
	next  int // the place of the word behind it; 0 for none
}

func (p places) add(note int, words []placed) {
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

// bodyField is the field of the text: the last that has a length.
const bodyField = SearchFields - 1

// readStream returns the words of a note with their places. These are in blocks, a
// line of the text each, which have room for a few words more. So a word more moves
// those behind it in its line, and not all that follow, and another in the place of
// one moves none. lines says how many words the lines have; where that is not how
// words were counted, blocks are not quite lines.
func readStream(stream []byte, lines []int) (words []placed) {
	base, left := 0, 0 // left: words of the line that are to come
	for len(stream) >= 5 {
		field, n := stream[0], int(binary.LittleEndian.Uint32(stream[1:]))
		for stream = stream[5:]; n > 0; {
			size := n
			if field == bodyField {
				if left == 0 && len(lines) > 0 {
					left, lines = lines[0], lines[1:]
				}
				if left > 0 {
					size = min(n, left)
					left -= size
				}
			}
			n -= size
			for i := range size {
				hash := uint32(stream[0]) | uint32(stream[1])<<8 | uint32(stream[2])<<16
				words, stream = append(words, placed{hash, field, base + i, base + i + 1}), stream[3:]
			}
			base += room(size)
			words[len(words)-1].next = base
		}
		if len(words) > 0 {
			words[len(words)-1].next = 0
		}
	}
	return words
}

// room is how many places a block of so many words has.
func room(words int) int {
	n := 8
	for n < words+2 {
		n *= 2
	}
	return n
}

// wordsInLines counts the words of lines that have any, roughly as they are counted
// in a search.
func wordsInLines(text []byte) (lines []int) {
	n, inside := 0, false
	for i := 0; i < len(text); {
		c, size := rune(text[i]), 1
		if c >= utf8.RuneSelf {
			c, size = utf8.DecodeRune(text[i:])
		}
		i += size
		switch {
		case c == '\n':
			if n > 0 {
				lines = append(lines, n)
			}
			n, inside = 0, false
		case 'a' <= c|0x20 && c|0x20 <= 'z', '0' <= c && c <= '9', c >= utf8.RuneSelf && unicode.In(c, unicode.L, unicode.N, unicode.M):
			dense := c >= utf8.RuneSelf && unicode.In(c, denseScripts...)
			if dense || !inside {
				n++
			}
			inside = !dense
		case c != '\'':
			inside = false
		}
	}
	if n > 0 {
		lines = append(lines, n)
	}
	return lines
}

// denseScripts have no spaces between words.
var denseScripts = []*unicode.RangeTable{
	unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar, unicode.Tibetan,
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
		if w.next == w.at+1 {
			l.buf = uvarints(l.buf, 2*(w.at-last))
		} else {
			l.buf = uvarints(l.buf, 2*(w.at-last)+1, max(0, w.next-w.at))
		}
		last = w.at
	}
}
