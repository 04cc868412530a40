package diff

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Words marks in each run of removed lines that added lines follow what differs
// between them, word by word. Where little is left in common nothing is marked:
// the lines are not the same any more. It may be called again.
func (h *Hunk) Words() {
	for i := range h.Lines {
		h.Lines[i].Marks = nil
	}
	for i := 0; i < len(h.Lines); {
		gone := run(h.Lines[i:], Removed)
		come := run(h.Lines[i+gone:], Added)
		if gone > 0 && come > 0 {
			markWords(h.Lines[i:i+gone], h.Lines[i+gone:i+gone+come])
		}
		i += max(gone+come, 1)
	}
}

func run(lines []Line, k Kind) (n int) {
	for n < len(lines) && lines[n].Kind == k {
		n++
	}
	return n
}

// word is a piece of a line: a word, a run of spaces, or one other character.
type word struct {
	line int
	Span
}

// markWords compares two blocks of lines as sequences of words, so that a
// paragraph that was wrapped anew shows the words that changed.
func markWords(old, now []Line) {
	const most = 20000 // words: beyond that nobody reads them one by one
	a, b := wordsOf(old), wordsOf(now)
	if len(a)+len(b) > most {
		return
	}
	numbers := Numbers{}
	x, y := numbers.Of(texts(old, a)), numbers.Of(texts(now, b))
	changes := Sequences(x, y)
	if !alike(old, now, a, b, changes) {
		return
	}
	for _, c := range changes {
		mark(old, a[c.A:c.A+c.NA])
		mark(now, b[c.B:c.B+c.NB])
	}
}

// alike reports whether at least a third of the shorter block's text, without its
// spaces, stands in both.
func alike(old, now []Line, a, b []word, changes []Change) bool {
	was, is := weight(old, a), weight(now, b)
	left := was
	for _, c := range changes {
		left -= weight(old, a[c.A:c.A+c.NA])
	}
	return left > 0 && 3*left >= min(was, is)
}

// weight counts the bytes of words that are no space.
func weight(lines []Line, words []word) (n int) {
	for _, w := range words {
		if r, _ := utf8.DecodeRuneInString(lines[w.line].Text[w.Start:]); !unicode.IsSpace(r) {
			n += w.End - w.Start
		}
	}
	return n
}

func wordsOf(lines []Line) (out []word) {
	for i, l := range lines {
		for at := 0; at < len(l.Text); {
			end := wordEnd(l.Text, at)
			out = append(out, word{i, Span{at, end}})
			at = end
		}
	}
	return out
}

// wordEnd is where the word at a place ends.
func wordEnd(s string, at int) int {
	first, size := utf8.DecodeRuneInString(s[at:])
	kind := kindOf(first)
	end := at + size
	if kind == other {
		return end
	}
	for end < len(s) {
		r, size := utf8.DecodeRuneInString(s[end:])
		if kindOf(r) != kind {
			break
		}
		end += size
	}
	return end
}

type runeKind int

const (
	other  runeKind = iota // stands alone: punctuation, and scripts written without spaces
	letter                 // of a word
	space
)

func kindOf(r rune) runeKind {
	switch {
	case unicode.IsSpace(r):
		return space
	case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Khmer, unicode.Lao, unicode.Myanmar):
		return other
	case unicode.IsLetter(r), unicode.IsDigit(r), unicode.IsMark(r), r == '_', r == '\'':
		return letter
	}
	return other
}

func texts(lines []Line, words []word) [][]byte {
	out := make([][]byte, len(words))
	for i, w := range words {
		out[i] = []byte(lines[w.line].Text[w.Start:w.End])
	}
	return out
}

// mark adds words to the marks of their lines; those with nothing but spaces
// between them become one mark.
func mark(lines []Line, words []word) {
	for _, w := range words {
		l := &lines[w.line]
		if n := len(l.Marks); n > 0 && strings.TrimSpace(l.Text[l.Marks[n-1].End:w.Start]) == "" {
			l.Marks[n-1].End = w.End
			continue
		}
		l.Marks = append(l.Marks, w.Span)
	}
}
