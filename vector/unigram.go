package vector

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"unicode/utf8"
)

// unknownPenalty is how much less likely than the least likely piece an unknown
// character is.
const unknownPenalty = 10

// unigram cuts a word into the most likely sequence of pieces.
type unigram struct {
	pieces  *trie
	scores  []float64
	unknown int32       // -1 if the model has none: then unknown text vanishes
	penalty float64     // the score of an unknown character
	bytes   *[256]int32 // tokens for the bytes of unknown characters, or nil
}

func newUnigram(m modelJSON, special map[string]bool) (*unigram, error) {
	vocab, err := m.scoredVocab()
	if err != nil {
		return nil, err
	}
	u := &unigram{scores: make([]float64, len(vocab)), unknown: -1}
	least := math.Inf(1)
	var pieces []piece
	ids := make(map[string]int32, len(vocab))
	for i, p := range vocab {
		if math.IsNaN(p.score) || math.IsInf(p.score, 0) {
			return nil, fmt.Errorf("score of piece %d is not finite", i)
		}
		u.scores[i], least = p.score, min(least, p.score)
		ids[p.text] = int32(i)
		if p.text != "" && !special[p.text] {
			pieces = append(pieces, piece{p.text, int32(i)})
		}
	}
	if m.UnkID != nil {
		if *m.UnkID < 0 || *m.UnkID >= len(vocab) {
			return nil, errors.New("unknown token is not in the vocabulary")
		}
		u.unknown = int32(*m.UnkID)
	}
	u.pieces, u.penalty = newTrie(pieces), least-unknownPenalty
	if m.ByteFallback {
		u.bytes = byteTokens(ids)
	}
	return u, nil
}

// byteTokens returns the tokens <0x00> to <0xFF>, or nil unless all are there.
func byteTokens(ids map[string]int32) *[256]int32 {
	var tokens [256]int32
	for b := range tokens {
		id, ok := ids[fmt.Sprintf("<0x%02X>", b)]
		if !ok {
			return nil
		}
		tokens[b] = id
	}
	return &tokens
}

// A step is the best way to cut a text up to some byte: its score, and the last
// token with the byte where that begins.
type step struct {
	score float64
	start int32 // -1: no way found yet
	id    int32
}

// cut implements cutter by dynamic programming from left to right. Of equally
// likely ways the one whose last piece begins first wins.
func (u *unigram) cut(dst []int32, word string) []int32 {
	steps := make([]step, len(word)+1)
	for i := range steps {
		steps[i].start = -1
	}
	for at := 0; at < len(word); {
		_, size := utf8.DecodeRuneInString(word[at:])
		if !u.extend(steps, word, at, size) {
			reach(&steps[at+size], step{steps[at].score + u.penalty, int32(at), -1})
		}
		at += size
	}
	return u.collect(dst, word, steps)
}

// extend tries every piece that begins at byte at, and reports whether one of
// them is just the character there, which is size bytes long.
func (u *unigram) extend(steps []step, word string, at, size int) (single bool) {
	base := steps[at].score
	node := int32(0)
	for end := at; end < len(word); {
		if node = u.pieces.child(node, word[end]); node < 0 {
			break
		}
		end++
		if id := u.pieces.id[node]; id >= 0 {
			reach(&steps[end], step{base + u.scores[id], int32(at), id})
			single = single || end-at == size
		}
	}
	return single
}

// reach replaces old by a better step.
func reach(old *step, s step) {
	if old.start < 0 || s.score > old.score {
		*old = s
	}
}

// collect follows the steps back from the end and appends their tokens. Unknown
// characters side by side become one unknown token.
func (u *unigram) collect(dst []int32, word string, steps []step) []int32 {
	mark := len(dst)
	for end := len(word); end > 0; {
		s := steps[end]
		start := int(s.start)
		if s.id >= 0 {
			dst = append(dst, s.id)
		} else {
			for start > 0 && steps[start].id < 0 {
				start = int(steps[start].start)
			}
			dst = u.appendUnknown(dst, word[start:end])
		}
		end = start
	}
	slices.Reverse(dst[mark:])
	return dst
}

// appendUnknown appends the tokens of an unknown stretch, last first.
func (u *unigram) appendUnknown(dst []int32, s string) []int32 {
	if u.bytes == nil {
		if u.unknown >= 0 {
			dst = append(dst, u.unknown)
		}
		return dst
	}
	for i := len(s) - 1; i >= 0; i-- {
		dst = append(dst, u.bytes[s[i]])
	}
	return dst
}
