package site

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// wordCount is a term and the number of its notes.
type wordCount struct {
	word  string
	notes int
}

// vocabulary writes the words that an unknown one may be another spelling of. Within
// one edit two words of four letters or more have the first two in common, or the
// last two, or it is these that were swapped: for that the words are there from
// both ends. For two edits, they are there by their length. Words are in byte order;
// tails are the same written backwards, in theirs.
func (b *builder) vocabulary(x *searchIndex, words, tails []wordCount) error {
	byLength := map[int]*keyed{}
	for _, w := range words {
		n := utf8.RuneCountInString(w.word)
		if byLength[n] == nil {
			byLength[n] = &keyed{}
		}
		byLength[n].word(w)
	}
	for n, list := range byLength {
		name, err := b.putPart("words", list.take())
		if err != nil {
			return err
		}
		x.Words[n] = name
	}
	var err error
	if x.Heads, err = b.wordFiles(words); err != nil {
		return err
	}
	x.Tails, err = b.wordFiles(tails)
	return err
}

func compareWords(a, b wordCount) int { return strings.Compare(a.word, b.word) }

func (k *keyed) word(w wordCount) {
	k.key(w.word)
	k.buf = uvarints(k.buf, w.notes)
}

// wordFiles writes sorted words.
func (b *builder) wordFiles(words []wordCount) (f wordFiles, err error) {
	f.First = []string{}
	var list keyed
	before := ""
	for i, w := range words {
		if list.n == 0 {
			f.First = append(f.First, between(before, w.word))
		}
		size := len(list.buf)
		list.word(w)
		if i+1 < len(words) && !shardEnds(len(list.buf), len(list.buf)-size, wordShard, w.word) {
			continue
		}
		before = w.word
		name, err := b.putPart("words", list.take())
		if err != nil {
			return f, err
		}
		f.Files += name
	}
	return f, nil
}

func backwards(s string) string {
	rs := []rune(s)
	slices.Reverse(rs)
	return string(rs)
}
