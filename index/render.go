package index

import (
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"

	"kb/note"
)

// An excerpt has about excerptWords words; a character of a script without
// spaces counts as half a word.
const (
	excerptWords = 60
	excerptBytes = 640
)

// renderer writes Markdown as plain text on one line, until it is long enough.
type renderer struct {
	b     strings.Builder
	half  int  // half words written
	inW   bool // in a word
	space bool // a space is due
}

// render shows text[start:to] of a chunk that begins at from. Links show their
// text; comments, marks of emphasis and structure are left out.
func (f *finder) render(t *cachedText, from, start, to int) string {
	var r renderer
	text := t.text
	if start > from {
		r.b.WriteString("…")
	}
	links, skips := t.note.Links, t.note.Skip
	li := sort.Search(len(links), func(i int) bool { return links[i].End > start })
	si := sort.Search(len(skips), func(i int) bool { return skips[i].End > start })
	for i := start; i < to; {
		for si < len(skips) && skips[si].End <= i {
			si++
		}
		for li < len(links) && links[li].End <= i {
			li++
		}
		switch {
		case si < len(skips) && skips[si].Start <= i:
			i = skips[si].End
		case li < len(links) && links[li].Start == i && links[li].Kind != note.AutoLink:
			r.write(links[li].Text)
			i = links[li].End
		case i == 0 || text[i-1] == '\n':
			i = r.line(text, i, to)
		default:
			i += r.markdown(text, i)
		}
		if r.full() && i < to {
			return strings.TrimSpace(r.b.String()) + "…"
		}
	}
	return strings.TrimSpace(r.b.String())
}

func (r *renderer) full() bool {
	return !r.inW && r.half >= 2*excerptWords || r.b.Len() >= excerptBytes
}

// line skips what begins a line and is not its text: #, >, bullets, fences, rules.
func (r *renderer) line(text []byte, i, to int) int {
	r.space = true
	r.inW = false
	start := i
	for i < to && strings.IndexByte(" \t#>|", text[i]) >= 0 {
		i++
	}
	if i+1 < to && strings.IndexByte("-*+", text[i]) >= 0 && text[i+1] == ' ' {
		i += 2
	}
	if fence := strings.HasPrefix(string(text[i:min(i+3, to)]), "```"); fence || i+2 < to && string(text[i:i+3]) == "---" {
		for i < to && text[i] != '\n' {
			i++
		}
	}
	if i == start && i < to {
		i += r.markdown(text, i)
	}
	return i
}

// markdown writes the character at i unless it is emphasis, and returns its width.
func (r *renderer) markdown(text []byte, i int) int {
	c, n := utf8.DecodeRune(text[i:])
	switch c {
	case '`', '|':
		r.space = r.space || c == '|'
		return n
	case '*', '_':
		end := i
		for end < len(text) && text[end] == text[i] {
			end++
		}
		before, after := separator, separator
		if i > 0 {
			last, _ := utf8.DecodeLastRune(text[:i])
			before = classOf(last)
		}
		after, _ = classAt(text, end)
		if (before == separator) != (after == separator) && end-i <= 3 {
			return end - i
		}
	}
	r.rune(c)
	return n
}

func (r *renderer) write(s string) {
	for _, c := range s {
		r.rune(c)
	}
}

func (r *renderer) rune(c rune) {
	if unicode.IsSpace(c) {
		r.space, r.inW = true, false
		return
	}
	if hidden(c) {
		return
	}
	if r.space && r.b.Len() > 0 {
		r.b.WriteByte(' ')
	}
	r.space = false
	r.b.WriteRune(c)
	switch k := classOf(c); {
	case k.dense():
		r.half++
		r.inW = false
	case k.wordly():
		if !r.inW {
			r.half += 2
		}
		r.inW = true
	case k == separator:
		r.inW = false
	}
}
