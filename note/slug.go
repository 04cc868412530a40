package note

import (
	"strconv"
	"strings"
	"unicode"
)

// Slug returns GitHub's anchor for a heading: lower case, each space a '-',
// and of the rest only letters, marks and digits of any script, '-' and '_'.
func Slug(heading string) string {
	var b strings.Builder
	b.Grow(len(heading))
	for _, r := range strings.TrimSpace(heading) {
		switch {
		case r == ' ':
			b.WriteByte('-')
		case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsMark(r) || unicode.IsNumber(r) || unicode.Is(unicode.Pc, r):
			b.WriteRune(unicode.ToLower(r))
		}
	}
	return b.String()
}

// slugger makes the slugs of one note unique, as GitHub does: a slug seen
// before gets -1, -2, … in document order, passing over those that are taken.
type slugger map[string]int

func (s slugger) unique(slug string) string {
	n, seen := s[slug]
	if !seen {
		s[slug] = 0
		return slug
	}
	for {
		n++
		next := slug + "-" + strconv.Itoa(n)
		if _, taken := s[next]; !taken {
			s[slug], s[next] = n, 0
			return next
		}
	}
}
