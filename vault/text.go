package vault

import (
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/width"
)

// Text is where a result writes its form for reading. With its
// zero options it is compact Markdown, as agents get it; a terminal gets colours and
// hyperlinks.
type Text struct {
	w     io.Writer
	Color bool
	Width int // columns; 0 is unlimited: not a terminal

	// Exact leaves the text of notes as it is: for a file or another program.
	Exact bool

	// FileURL returns the file:// URL of a note, for hyperlinks; nil for none.
	FileURL func(collection, path string) string
}

// NewText returns a Text that writes plain Markdown to w.
func NewText(w io.Writer) *Text { return &Text{w: w} }

// Texter is a result with a form for reading.
type Texter interface{ Text(*Text) }

// Printf writes formatted text. Control characters in the arguments cannot
// reach a terminal: pass vault text through [Text.Plain] or a styling method.
func (t *Text) Printf(format string, args ...any) { fmt.Fprintf(t.w, format, args...) }

// Plain returns s without control characters, and with the invisible ones that
// reorder or hide text shown as U+FFFD.
func (t *Text) Plain(s string) string { return visible(s) }

func (t *Text) style(code, s string) string {
	s = visible(s)
	if !t.Color || s == "" || code == "" {
		return s
	}
	return "\x1b[" + code + "m" + s + "\x1b[0m"
}

// more says how to go on with a list.
func (t *Text) more(next string) {
	if next != "" {
		t.Printf("%s\n", t.Dim("more: --cursor "+next))
	}
}

// Strong, Dim, Accent and Warn return s as such on a terminal.
func (t *Text) Strong(s string) string { return t.style("1", s) }

// Dim returns s in a faint colour.
func (t *Text) Dim(s string) string { return t.style("2", s) }

// Accent returns s in a colour that marks names.
func (t *Text) Accent(s string) string { return t.style("36", s) }

// Warn returns s in a colour that asks for attention.
func (t *Text) Warn(s string) string { return t.style("33", s) }

// Link returns text that leads to the file of a note, on a terminal that is
// told where that is.
func (t *Text) Link(text, collection, path string) string {
	if t.FileURL == nil {
		return text
	}
	uri := t.FileURL(collection, path)
	if uri == "" {
		return text
	}
	return "\x1b]8;;" + visible(uri) + "\x1b\\" + text + "\x1b]8;;\x1b\\"
}

// Marked returns an excerpt in which **words** matched: bold on a terminal, as
// they are elsewhere.
func (t *Text) Marked(s string) string {
	s = visible(s)
	if !t.Color {
		return s
	}
	parts := strings.Split(s, "**")
	for i := 1; i < len(parts); i += 2 {
		parts[i] = "\x1b[1;33m" + parts[i] + "\x1b[0m"
	}
	return strings.Join(parts, "")
}

// Table writes rows in aligned columns; for an agent, as "a - b - c" lines.
func (t *Text) Table(rows [][]string) {
	if t.Width == 0 && !t.Color {
		for _, r := range rows {
			t.Printf("- %s\n", strings.Join(nonEmpty(r), " - "))
		}
		return
	}
	widths := columns(rows)
	for _, r := range rows {
		var b strings.Builder
		for i, cell := range r {
			b.WriteString(cell)
			if i < len(r)-1 {
				b.WriteString(strings.Repeat(" ", widths[i]-printedWidth(cell)+2))
			}
		}
		t.Printf("%s\n", clipColumns(strings.TrimRight(b.String(), " "), t.Width))
	}
}

// columns is the width of the widest cell in each column.
func columns(rows [][]string) (widths []int) {
	for _, r := range rows {
		for i, cell := range r {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], printedWidth(cell))
		}
	}
	return widths
}

// clipColumns cuts a line that is wider than the terminal; the escape sequences
// behind the cut stay, so that no colour outlives its line.
func clipColumns(line string, most int) string {
	if most <= 0 || printedWidth(line) <= most {
		return line
	}
	var b strings.Builder
	left := most - 1 // for the …
	for i := 0; i < len(line); {
		if end := strings.IndexByte(line[i:], 'm'); line[i] == '\x1b' && end >= 0 {
			b.WriteString(line[i : i+end+1])
			i += end + 1
			continue
		}
		_, size := utf8.DecodeRuneInString(line[i:])
		char := line[i : i+size]
		if n := printedWidth(char); left >= n {
			b.WriteString(char)
			left -= n
		} else if left >= 0 {
			b.WriteString("…")
			left = -1
		}
		i += size
	}
	return b.String()
}

func nonEmpty(in []string) (out []string) {
	for _, s := range in {
		if s != "" {
			out = append(out, s)
		}
	}
	return out
}

// Wrap writes s indented and broken at the terminal's width.
func (t *Text) Wrap(indent, s string) { t.Hang(indent, indent, s) }

// Hang is Wrap with another indentation for the lines after the first.
func (t *Text) Hang(first, indent, s string) {
	if t.Width <= 0 {
		t.Printf("%s%s\n", first, s)
		return
	}
	col := 0
	for _, word := range strings.Fields(s) {
		n := printedWidth(word)
		if col > 0 && col+1+n > t.Width {
			t.Printf("\n")
			col = 0
		}
		if col == 0 {
			t.Printf("%s%s", first, word)
			col = len(first) + n
			first = indent
			continue
		}
		t.Printf(" %s", word)
		col += 1 + n
	}
	t.Printf("\n")
}

// printedWidth counts the columns of s without escape sequences; a wide
// character takes two.
func printedWidth(s string) (n int) {
	for i := 0; i < len(s); {
		if s[i] == '\x1b' {
			if end := strings.IndexByte(s[i:], 'm'); end >= 0 {
				i += end + 1
				continue
			}
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		i += size
		n++
		if k := width.LookupRune(r).Kind(); k == width.EastAsianWide || k == width.EastAsianFullwidth {
			n++
		}
	}
	return n
}

// visible removes control characters other than newline and tab, and replaces
// characters that hide or reorder text.
func visible(s string) string {
	if strings.IndexFunc(s, isHidden) < 0 {
		return s
	}
	return strings.Map(func(r rune) rune {
		switch {
		case !isHidden(r):
			return r
		case unicode.IsControl(r):
			return -1
		}
		return unicode.ReplacementChar
	}, s)
}

// isHidden reports whether r has no place in text that is shown to somebody:
// control characters, and format characters that are not joiners, which some
// scripts and emoji need.
func isHidden(r rune) bool {
	if r == '\n' || r == '\t' || r < 0x7f && r >= ' ' {
		return false
	}
	const zwnj, zwj = 0x200c, 0x200d
	return unicode.IsControl(r) || unicode.Is(unicode.Cf, r) && r != zwnj && r != zwj
}

// plural is "1 note", "2 notes".
func plural(n int, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%s %ss", thousands(n), one)
}

// padLeft writes n at the right of a column.
func padLeft(n, width int) string { return fmt.Sprintf("%*d", width, n) }

// thousands writes n with separators: 38,430.
func thousands(n int) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
