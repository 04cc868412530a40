package index

import (
	"unicode"
	"unicode/utf8"
)

// class says what a character does to a word.
type class uint8

const (
	separator class = iota
	letter
	digit
	extend // marks and invisible characters: part of a word, never a word of their own
	apostrophe
	// The scripts that are written without spaces between words, by kinship:
	// pairs are not formed across a boundary.
	cjk
	hangul
	thai
	lao
	khmer
	myanmar
	tibetan
)

func (c class) dense() bool { return c >= cjk }
func (c class) wordly() bool {
	return c == letter || c == digit
}

var asciiClass = func() (t [128]class) {
	for c := range t {
		switch {
		case c >= '0' && c <= '9':
			t[c] = digit
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z':
			t[c] = letter
		}
	}
	t['\''] = apostrophe
	return t
}()

var denseScripts = []struct {
	class class
	table *unicode.RangeTable
}{
	{cjk, unicode.Han}, {cjk, unicode.Hiragana}, {cjk, unicode.Katakana}, {cjk, unicode.Bopomofo},
	{hangul, unicode.Hangul}, {thai, unicode.Thai}, {lao, unicode.Lao},
	{khmer, unicode.Khmer}, {myanmar, unicode.Myanmar}, {tibetan, unicode.Tibetan},
}

// classOf classifies any character. Full-width forms count as what they stand for.
func classOf(r rune) class {
	if r < 0x80 {
		return asciiClass[r]
	}
	switch {
	case r == '’' || r == '＇':
		return apostrophe
	case r < 0x0e00:
		return alphabetic(r)
	case r >= 0x4e00 && r <= 0x9fff:
		return cjk
	case r >= 0xac00 && r <= 0xd7a3:
		return hangul
	case r >= 0xff01 && r <= 0xff5e:
		return classOf(r - 0xfee0)
	case r == 0xff9e || r == 0xff9f: // half-width voicing marks
		return extend
	case r == 'ー' || r == 'ｰ':
		return cjk
	}
	if c := alphabetic(r); c == separator || c == extend {
		return c
	}
	for _, s := range denseScripts {
		if unicode.Is(s.table, r) {
			return s.class
		}
	}
	return alphabetic(r)
}

func alphabetic(r rune) class {
	switch {
	case unicode.IsLetter(r):
		return letter
	case unicode.IsNumber(r):
		return digit
	case unicode.IsMark(r), r == '\u00ad', r >= '\u200b' && r <= '\u200d', r == '\u2060':
		return extend
	}
	return separator
}

// classAt returns the class and width of the character at i; past the end there
// is a separator.
func classAt(s []byte, i int) (class, int) {
	if i >= len(s) {
		return separator, 0
	}
	if s[i] < utf8.RuneSelf {
		return asciiClass[s[i]], 1
	}
	r, n := utf8.DecodeRune(s[i:])
	return classOf(r), n
}

// pieceEnd returns the end of the piece that starts at i: letters, digits and
// what extends them, and apostrophes between letters.
func pieceEnd(s []byte, i int) int {
	last := separator
	for i < len(s) {
		c, n := separator, 1
		if s[i] < utf8.RuneSelf {
			c = asciiClass[s[i]]
		} else {
			c, n = classAt(s, i)
		}
		if c == apostrophe {
			if next, _ := classAt(s, i+n); last != letter || next != letter {
				return i
			}
		} else if c != letter && c != digit && c != extend {
			return i
		}
		if c != extend {
			last = c
		}
		i += n
	}
	return i
}

// joint returns the width of what joins the piece that ends at i to the next
// one in an identifier, a date, a number or a hyphenated word; 0 when nothing does.
func joint(s []byte, i int) int {
	n := 0
	if i < len(s) {
		switch s[i] {
		case '-', '_', '.':
			n = 1
		case ',':
			before, _ := utf8.DecodeLastRune(s[:i])
			if after, _ := classAt(s, i+1); classOf(before) == digit && after == digit {
				n = 1
			}
		case ':':
			if i+1 < len(s) && s[i+1] == ':' {
				n = 2
			}
		}
	}
	if n > 0 {
		if next, _ := classAt(s, i+n); next.wordly() {
			return n
		}
	}
	return 0
}

// suffix returns the width of a sign that belongs to the name before it: C++, C#.
func suffix(s []byte, start, i int) int {
	n := 0
	if i+1 < len(s) && s[i] == '+' && s[i+1] == '+' {
		n = 2
	} else if i < len(s) && s[i] == '#' && utf8.RuneCount(s[start:i]) == 1 {
		n = 1
	}
	if n > 0 {
		if next, _ := classAt(s, i+n); !next.wordly() && (i+n >= len(s) || s[i+n] != s[i]) {
			return n
		}
	}
	return 0
}
