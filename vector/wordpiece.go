package vector

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// wordPiece cuts a word greedily into the longest pieces of the vocabulary.
type wordPiece struct {
	heads, tails *trie // pieces that begin a word, pieces that continue one
	unknown      int32
	maxChars     int // longer words are unknown
	size         int // every token is below it
}

func newWordPiece(m modelJSON, special map[string]bool) (*wordPiece, error) {
	vocab, err := m.wordVocab()
	if err != nil {
		return nil, err
	}
	unknown, ok := vocab[m.UnkToken]
	if !ok {
		return nil, fmt.Errorf("unknown token %q is not in the vocabulary", m.UnkToken)
	}
	prefix := "##"
	if m.Prefix != nil {
		prefix = *m.Prefix
	}
	w := &wordPiece{unknown: unknown, maxChars: 100}
	if m.MaxChars > 0 {
		w.maxChars = m.MaxChars
	}
	var heads, tails []piece
	for text, id := range vocab {
		w.size = max(w.size, int(id)+1)
		if text == "" || special[text] {
			continue
		}
		heads = append(heads, piece{text, id})
		if tail, ok := strings.CutPrefix(text, prefix); ok && tail != "" {
			tails = append(tails, piece{tail, id})
		}
	}
	w.heads, w.tails = newTrie(heads), newTrie(tails)
	return w, nil
}

// cut implements cutter: a word with a stretch that no piece matches is unknown
// as a whole.
func (w *wordPiece) cut(dst []int32, word string) []int32 {
	if len(word) > w.maxChars && utf8.RuneCountInString(word) > w.maxChars {
		return append(dst, w.unknown)
	}
	mark := len(dst)
	id, n := w.heads.longest(word)
	for id >= 0 {
		dst = append(dst, id)
		if word = word[n:]; word == "" {
			return dst
		}
		id, n = w.tails.longest(word)
	}
	return append(dst[:mark], w.unknown)
}
