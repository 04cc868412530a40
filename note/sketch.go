package note

import (
	"math/bits"
	"unicode"
	"unicode/utf8"
)

// Sketch is a MinHash of a note's words in runs of [shingle]: the share of equal
// entries in two sketches estimates the share of runs that the notes have in
// common (Broder, On the resemblance and containment of documents, 1997). It
// is empty for a note with fewer words than a run.
type Sketch []uint32

const (
	sketchSize = 32
	shingle    = 4
)

// Similar estimates from 0 to 1 how much of two notes is the same. An empty
// sketch is similar to nothing.
func (s Sketch) Similar(o Sketch) float64 {
	if len(s) != sketchSize || len(o) != sketchSize {
		return 0
	}
	same := 0
	for i := range s {
		if s[i] == o[i] {
			same++
		}
	}
	return float64(same) / sketchSize
}

// sketch reads the words of text outside skip.
func sketch(text []byte, body int, skip []Span) Sketch {
	var last [shingle]uint64
	words := 0
	least := make(Sketch, sketchSize)
	for i := range least {
		least[i] = ^uint32(0)
	}
	eachWord(text, body, skip, func(h uint64) {
		copy(last[:], last[1:])
		last[shingle-1] = h
		if words++; words >= shingle {
			least.add(last)
		}
	})
	if words < shingle {
		return nil
	}
	return least
}

// add lets one run of words compete in every place.
func (s Sketch) add(run [shingle]uint64) {
	h := uint64(1469598103934665603)
	for _, w := range run {
		h = (bits.RotateLeft64(h, 23) ^ w) * 0x9e3779b97f4a7c15
	}
	a, b := uint32(h), uint32(h>>32)|1
	for i := range s {
		// The places' hashes are a + i·b, as in Kirsch and Mitzenmacher, mixed.
		x := a + uint32(i)*b
		x = (x ^ x>>15) * 0x2c1b3c6d
		x ^= x >> 12
		s[i] = min(s[i], x)
	}
}

// eachWord calls fn with a hash of each word, folded to lower case; a character
// of a script without spaces is a word.
func eachWord(text []byte, body int, skip []Span, fn func(uint64)) {
	const offset, prime = 14695981039346656037, 1099511628211
	h, in := uint64(offset), false
	end := func() {
		if in {
			fn(h)
			h, in = offset, false
		}
	}
	for i := body; i < len(text); {
		if len(skip) > 0 && i >= skip[0].Start {
			i = max(i, skip[0].End)
			skip = skip[1:]
			end()
			continue
		}
		r, n := rune(text[i]), 1
		if r >= utf8.RuneSelf {
			r, n = utf8.DecodeRune(text[i:])
		}
		i += n
		switch {
		case r >= 0x2e80 && unicode.IsLetter(r):
			end()
			fn((offset ^ uint64(r)) * prime)
		case r >= 'A' && r <= 'Z':
			h, in = (h^uint64(r+'a'-'A'))*prime, true
		case r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r >= utf8.RuneSelf && (unicode.IsLetter(r) || unicode.IsDigit(r)):
			h, in = (h^uint64(unicode.ToLower(r)))*prime, true
		default:
			end()
		}
	}
	end()
}
