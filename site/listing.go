package site

import (
	"encoding/json"
	"slices"
	"strings"
)

// listing is the members of a JSON object as appendStrings writes them, in the order
// of their names: one member is found, and some are changed, without reading all.
type listing struct {
	body   string // the lines, without what follows the last
	indent string
}

// listingOf finds the members in a file that ends with them: after begin, before end.
// Not ok: the file is another.
func listingOf(text, begin, end, indent string) (l listing, head string, ok bool) {
	head, body, ok := strings.Cut(text, begin)
	if !ok || !strings.HasSuffix(body, end) {
		return l, "", false
	}
	body = strings.TrimSuffix(strings.TrimSuffix(body, end), "\n")
	return listing{body, indent}, head, true
}

const betweenLines = ",\n"

// count is the number of members.
func (l listing) count() int {
	if l.body == "" {
		return 0
	}
	return strings.Count(l.body, "\n") + 1
}

// line is the member whose line begins at an offset: its name and value, and where
// the line ends.
func (l listing) line(from int) (name, value string, end int) {
	end = len(l.body)
	if n := strings.IndexByte(l.body[from:], '\n'); n >= 0 {
		end = from + n - 1 // before the comma
	}
	name, value, _ = strings.Cut(l.body[from+len(l.indent):end], `": "`)
	return unquoted(name[1:]), unquoted(value[:len(value)-1]), end
}

// unquoted is a string of which JSON has s, which appendQuoted made.
func unquoted(s string) string {
	if strings.IndexByte(s, '\\') >= 0 {
		_ = json.Unmarshal([]byte(`"`+s+`"`), &s) // sound: it was made here
	}
	return s
}

// seek returns the offset of the line of the first member whose name is not below
// name, and whether it is name.
func (l listing) seek(name string) (at int, found bool) {
	from, to := 0, len(l.body) // offsets of lines
	for from < to {
		mid := strings.LastIndexByte(l.body[from:from+(to-from)/2], '\n') + 1 + from
		had, _, end := l.line(mid)
		switch {
		case had == name:
			return mid, true
		case had > name:
			to = mid
		default:
			from = min(end+len(betweenLines), len(l.body))
		}
	}
	return from, false
}

// find returns the value of a member.
func (l listing) find(name string) (value string, ok bool) {
	at, ok := l.seek(name)
	if ok {
		_, value, _ = l.line(at)
	}
	return value, ok
}

// each calls fn with every member until it returns false.
func (l listing) each(fn func(name, value string) bool) bool {
	for at := 0; at < len(l.body); {
		name, value, end := l.line(at)
		if !fn(name, value) {
			return false
		}
		at = end + len(betweenLines)
	}
	return true
}

// appendChanged appends the members with some changed, as appendStrings would all of
// them. The names are sorted; those for which value returns false are left out.
func (l listing) appendChanged(out []byte, names []string, value func(name string) (string, bool)) []byte {
	out = slices.Grow(out, len(l.body)+256*len(names))
	begun := len(out)
	next := func() {
		if len(out) > begun {
			out = append(out, betweenLines...)
		}
	}
	keep := func(from, to int) { // whole lines, up to the beginning of another or the end
		if from < to {
			next()
			out = append(out, strings.TrimSuffix(l.body[from:to], betweenLines)...)
		}
	}
	from := 0
	for _, name := range names {
		at, found := l.seek(name)
		keep(from, at)
		if from = at; found {
			_, _, end := l.line(at)
			from = min(end+len(betweenLines), len(l.body))
		}
		if v, ok := value(name); ok {
			next()
			out = appendQuoted(append(out, l.indent...), name)
			out = appendQuoted(append(out, ": "...), v)
		}
	}
	keep(from, len(l.body))
	if len(out) > begun {
		out = append(out, '\n')
	}
	return out
}
