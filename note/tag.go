package note

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// tagSet collects tags, each once whatever its case, in its first spelling.
type tagSet struct {
	tags []string
	seen map[string]bool
}

func (s *tagSet) add(tag string) {
	tag = strings.Trim(strings.TrimSpace(tag), "#/")
	key := strings.ToLower(tag)
	if tag == "" || s.seen[key] {
		return
	}
	if s.seen == nil {
		s.seen = map[string]bool{}
	}
	s.seen[key] = true
	s.tags = append(s.tags, tag)
}

// inlineTag returns the length of the tag after a '#', 0 if there is none: the
// letters, digits, marks, symbols, '_', '-' and '/' that follow, of which one at
// least is no digit.
func inlineTag(s []byte) int {
	size, sound, word := 0, false, false
	for size < len(s) {
		r, w := utf8.DecodeRune(s[size:])
		switch {
		case r == utf8.RuneError && w == 1:
			return 0
		case unicode.IsDigit(r):
			word = true
		case r == '_' || r == '-' || r == '/':
			sound = true
		case tagRune(r):
			sound, word = true, true
		default:
			w = 0
		}
		if w == 0 {
			break
		}
		size += w
	}
	for size > 0 && s[size-1] == '/' {
		size--
	}
	if !sound || !word || unicodeDigits(s[:size]) {
		return 0
	}
	return size
}

// tagRune reports whether r may stand in a tag; emoji may, with their joiners.
func tagRune(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsMark(r) || unicode.IsNumber(r) || unicode.Is(unicode.So, r) || r == '\u200d'
}

func unicodeDigits(s []byte) bool {
	for _, r := range string(s) {
		if !unicode.IsDigit(r) {
			return false
		}
	}
	return true
}
