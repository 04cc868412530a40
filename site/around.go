package site

import (
	"bytes"
	"regexp"
	"strings"
	"unicode/utf8"

	"kb/note"
)

// reach is how much of the text before and after a link is shown, in bytes.
const reach = 140

// around is the text in which a link stands, to the borders of its paragraph, as
// a reader sees it; nil if the link is all there is.
func around(n *note.Note, text []byte, l *note.Link) *linkContext {
	if l.Start >= l.End || l.End > len(text) {
		return nil
	}
	from, to := paragraph(text, l.Start, l.End)
	from, to = max(from, n.Body), max(to, l.End)
	before := tidy(plain(n, text, from, l.Start))
	after := tidy(plain(n, text, l.End, to))
	c := &linkContext{Before: lastPart(before, reach), Link: l.Text, After: firstPart(after, reach)}
	if strings.TrimSpace(c.Before+c.After) == "" {
		return nil
	}
	return c
}

// paragraph returns the bounds of the lines around a link, up to an empty line,
// another item of a list, or a heading.
func paragraph(text []byte, start, end int) (from, to int) {
	from = bytes.LastIndexByte(text[:start], '\n') + 1
	for from > 0 && !beginsBlock(lineOf(text, from)) {
		previous := bytes.LastIndexByte(text[:from-1], '\n') + 1
		if line := lineOf(text, previous); len(bytes.TrimSpace(line)) == 0 || bytes.HasPrefix(line, []byte("#")) {
			break
		}
		from = previous
	}
	to = end + len(lineOf(text, end))
	for to < len(text) {
		line := lineOf(text, to+1)
		if len(bytes.TrimSpace(line)) == 0 || beginsBlock(line) {
			break
		}
		to += 1 + len(line)
	}
	return from, min(to, len(text))
}

// lineOf is the rest of the line from an offset on.
func lineOf(text []byte, from int) []byte {
	if from >= len(text) {
		return nil
	}
	line, _, _ := bytes.Cut(text[from:], []byte("\n"))
	return line
}

func beginsBlock(line []byte) bool {
	line = bytes.TrimLeft(line, " \t>")
	if len(line) == 0 {
		return true
	}
	marker, _, ok := bytes.Cut(line, []byte(" "))
	return line[0] == '#' || line[0] == '|' || ok && (bytes.Equal(marker, []byte("-")) || bytes.Equal(marker, []byte("*")) ||
		bytes.Equal(marker, []byte("+")) || len(marker) < 5 && bytes.HasSuffix(marker, []byte(".")))
}

// visible returns the text without its comments, which pages do not show.
func visible(n *note.Note, text []byte) []byte {
	var out []byte
	from := 0
	for _, s := range n.Skip {
		if s.Start < from || s.End > len(text) || !isComment(text[s.Start:s.End]) {
			continue
		}
		out = append(out, text[from:s.Start]...)
		from = s.End
	}
	if from == 0 {
		return text
	}
	return append(out, text[from:]...)
}

func isComment(s []byte) bool {
	return bytes.HasPrefix(s, []byte("<!--")) || bytes.HasPrefix(s, []byte("%%"))
}

// plain is a part of the text with its links as a reader sees them, without
// comments.
func plain(n *note.Note, text []byte, from, to int) string {
	for _, s := range n.Skip {
		if s.Start >= from && s.End <= to && isComment(text[s.Start:s.End]) {
			return plain(n, text, from, s.Start) + plain(n, text, s.End, to)
		}
	}
	var b strings.Builder
	for i := range n.Links {
		l := &n.Links[i]
		if l.Start < from || l.End > to || l.Start >= l.End {
			continue
		}
		b.Write(text[from:l.Start])
		if !l.Embed {
			b.WriteString(l.Text)
		}
		from = l.End
	}
	if from < to {
		b.Write(text[from:to])
	}
	return b.String()
}

// tidy takes the marks of Markdown out of running text, and spaces to one; between
// the cells of tables it sets dots.
var (
	marks  = strings.NewReplacer("**", "", "__", "", "~~", "", "*", "", "`", "", "==", "", "> ", " ", "- [ ]", "", "- [x]", "")
	asides = regexp.MustCompile(`</?[a-zA-Z][^<>]*>|\[![a-zA-Z]+\][+-]?`)
	rules  = regexp.MustCompile(`(?m)^[ \t]*\|?(?:[ \t]*:?-+:?[ \t]*\|)+[ \t]*(?::?-+:?[ \t]*)?$`) // below a table's head
	rows   = regexp.MustCompile(`(?m)^[ \t]*\|.*\|[ \t]*$`)
)

func tidy(s string) string {
	if strings.Contains(s, "|") {
		s = rows.ReplaceAllStringFunc(rules.ReplaceAllString(s, ""), cells)
	}
	s = marks.Replace(asides.ReplaceAllString(s, ""))
	fields := strings.Fields(s)
	for len(fields) > 0 && (strings.Trim(fields[0], "#-*+|") == "") {
		fields = fields[1:]
	}
	out := strings.Join(fields, " ")
	if out != "" && len(s) > 0 && (s[len(s)-1] == ' ' || s[len(s)-1] == '\n') {
		out += " "
	}
	if out != "" && (s[0] == ' ' || s[0] == '\n') {
		out = " " + out
	}
	return out
}

// cells is a table's row as running text.
func cells(row string) string {
	row = strings.TrimSpace(strings.Trim(strings.TrimSpace(row), "|"))
	row = strings.ReplaceAll(row, `\|`, "\x00")
	return strings.ReplaceAll(strings.ReplaceAll(row, "|", " · "), "\x00", "|")
}

// lastPart is the end of s, at most n bytes of it, from a word's beginning.
func lastPart(s string, n int) string {
	if len(s) <= n {
		return s
	}
	s = s[len(s)-n:]
	if i := strings.IndexByte(s, ' '); i >= 0 {
		return "…" + s[i:]
	}
	for len(s) > 0 && !utf8.RuneStart(s[0]) {
		s = s[1:]
	}
	return "…" + s
}

// firstPart is the beginning of s, at most n bytes of it, to a word's end.
func firstPart(s string, n int) string {
	if len(s) <= n {
		return s
	}
	s = s[:n]
	if i := strings.LastIndexByte(s, ' '); i > 0 {
		return s[:i] + " …"
	}
	return strings.ToValidUTF8(s, "") + "…"
}
