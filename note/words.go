package note

import (
	"unicode"
	"unicode/utf8"
)

// countWords counts the words of text: runs of letters, digits and marks,
// joined by apostrophes, hyphens and underscores. A character of a script that
// is written without spaces counts as one word.
func countWords(text []byte) int {
	words := 0
	in := uint8(0) // 1 within a word
	for i := 0; i < len(text); {
		c := text[i]
		if c < utf8.RuneSelf { // without branches: this loop sees every byte of a vault
			i++
			words += int(asciiLetter[c] &^ in)
			in = asciiLetter[c] | in&asciiJoiner[c]
			continue
		}
		r, size := utf8.DecodeRune(text[i:])
		i += size
		switch isLetter := unicode.IsLetter(r) || unicode.IsNumber(r); {
		case isLetter && Unspaced(r):
			words++
			in = 0
		case isLetter:
			words += int(1 &^ in)
			in = 1
		case !unicode.IsMark(r) && r != '’' && r != '\u200d' && r != '\u00ad':
			in = 0
		}
	}
	return words
}

// 1 for the ASCII characters that words consist of, and for those that join
// their parts.
var asciiLetter, asciiJoiner = func() (letters, joiners [utf8.RuneSelf]uint8) {
	for c := range letters {
		if isASCIIAlnum(byte(c)) {
			letters[c] = 1
		}
	}
	joiners['\''], joiners['-'], joiners['_'] = 1, 1, 1
	return letters, joiners
}()

// Unspaced reports whether r belongs to a script written without spaces.
func Unspaced(r rune) bool {
	switch {
	case r < 0x0e00:
		return false
	case r < 0x1800:
		return unicode.In(r, unicode.Thai, unicode.Lao, unicode.Myanmar, unicode.Khmer)
	case r < 0x2e80:
		return false
	}
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana)
}
