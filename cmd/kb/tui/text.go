package tui

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"

	"kb/internal/diff"
)

// cell is a character as it stands on the screen.
type cell struct {
	text  string
	width int
	at    int  // where it begins in the line it is of
	odd   bool // it stands for a character that must not reach a terminal
}

// measure is how the terminal counts the columns of characters; the renderer
// uses the same.
type measure = ansi.Method

// maxColumns is how much of a line is shown.
const maxColumns = 20_000

const (
	tabWidth    = 4
	longCluster = 8 // code points; more are a joke
)

// cells cuts a line of untrusted text into characters of known width, none of
// which a terminal takes for anything but itself.
func cells(text string, m measure) []cell {
	out := make([]cell, 0, min(len(text), maxColumns))
	column := 0
	add := func(more ...cell) {
		out = append(out, more...)
		column += total(more)
	}
	for at := 0; at < len(text); {
		if column >= maxColumns {
			return append(out, literal(fmt.Sprintf("… %d more bytes", len(text)-at), at)...)
		}
		if c := text[at]; c >= ' ' && c < 0x7f && (at+1 == len(text) || text[at+1] < utf8.RuneSelf) {
			add(cell{text: text[at : at+1], width: 1, at: at})
			at++
			continue
		}
		cluster, width := ansi.FirstGraphemeCluster(text[at:], m)
		switch {
		case cluster == "\t":
			add(tab(column, at))
		case isPlain(cluster):
			add(calm(cluster, width, at))
		default:
			add(spelled(cluster, at)...)
		}
		at += len(cluster)
	}
	return out
}

// tab is an arrow that reaches to the next stop.
func tab(column, at int) cell {
	width := tabWidth - column%tabWidth
	return cell{text: "→" + strings.Repeat(" ", width-1), width: width, at: at}
}

// isPlain reports whether a character has nothing hidden in it.
func isPlain(cluster string) bool {
	if utf8.RuneCountInString(cluster) > longCluster || !utf8.ValidString(cluster) {
		return false
	}
	first, _ := utf8.DecodeRuneInString(cluster)
	for _, r := range cluster {
		if isHidden(r) && !(isJoiner(r) && first > unicode.MaxLatin1 && !isJoiner(first)) {
			return false
		}
	}
	return true
}

// isHidden reports whether r has no place in text that is shown to somebody.
func isHidden(r rune) bool {
	return unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp)
}

// isJoiner reports whether r joins characters, or keeps them apart, as some
// scripts and emoji need.
func isJoiner(r rune) bool { return r == 0x200c || r == 0x200d }

// calm is a character as terminals agree about it: they count the columns of
// joined and modified emoji in different ways, so those lose what is joined.
func calm(cluster string, width, at int) cell {
	c := cell{text: cluster, width: width, at: at}
	if !strings.ContainsFunc(cluster, isEmojiPart) {
		return c
	}
	first, size := utf8.DecodeRuneInString(cluster)
	if first > unicode.MaxLatin1 {
		c.text = cluster[:size]
	} else {
		c.text = strings.ReplaceAll(cluster, "\ufe0f", "") // 1️⃣
	}
	c.width = ansi.StringWidthWc(c.text)
	return c
}

// isEmojiPart reports whether r changes the emoji before it.
func isEmojiPart(r rune) bool {
	return r == 0x200d || r == 0xfe0f || r >= 0x1f3fb && r <= 0x1f3ff
}

// spelled shows the code points of a character that has something hidden in it.
func spelled(cluster string, at int) (out []cell) {
	for i, r := range cluster {
		_, size := utf8.DecodeRuneInString(cluster[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			out = append(out, literal(fmt.Sprintf(`\x%02x`, cluster[i]), at+i)...)
		case r < ' ':
			out = append(out, literal(string('\u2400'+r), at+i)...)
		case r == 0x7f:
			out = append(out, literal("␡", at+i)...)
		case isHidden(r) || i > 0 && unicode.Is(unicode.M, r):
			out = append(out, literal(fmt.Sprintf("<%04X>", r), at+i)...)
		default:
			out = append(out, cell{text: string(r), width: ansi.StringWidthWc(string(r)), at: at + i})
		}
	}
	return out
}

// literal is text of ours in the place of a character.
func literal(text string, at int) (out []cell) {
	for _, r := range text {
		out = append(out, cell{text: string(r), width: 1, at: at, odd: true})
	}
	return out
}

// wrap breaks a line into rows of at most width columns, after a space or a wide
// character when there is one. It returns one row at least.
func wrap(line []cell, width int) (rows [][]cell) {
	width = max(width, 2) // a wide character must fit
	start, columns, after := 0, 0, 0
	for i := 0; i < len(line); i++ {
		if columns+line[i].width > width && i > start {
			cut := i
			if after > start {
				cut = after
			}
			rows = append(rows, line[start:cut])
			start, i, columns = cut, cut, 0
		}
		columns += line[i].width
		if line[i].text == " " || line[i].width == 2 {
			after = i + 1
		}
	}
	return append(rows, line[start:])
}

// paint colours a row of cells; those in marked have a style of their own.
func paint(line []cell, base, on style, marked []diff.Span) row {
	var b strings.Builder
	r := row{}
	for i := 0; i < len(line); {
		s := styleOf(line[i], base, on, marked)
		var run strings.Builder
		for ; i < len(line) && styleOf(line[i], base, on, marked) == s; i++ {
			run.WriteString(line[i].text)
			r.width += line[i].width
		}
		b.WriteString(s.paint(run.String()))
	}
	r.text = b.String()
	return r
}

func styleOf(c cell, base, on style, marked []diff.Span) style {
	if c.odd {
		return odd
	}
	for _, m := range marked {
		if m.Start <= c.at && c.at < m.End {
			return on
		}
	}
	return base
}

// clip is a text on one row of at most width columns, with … where it is cut.
func clip(text string, width int, s style, m measure) row {
	line := cells(strings.TrimRight(text, "\n"), m)
	columns := 0
	for i, c := range line {
		columns += c.width
		if columns > width {
			return paint(append(fit(line[:i], width-1), cell{text: "…", width: 1}), s, s, nil)
		}
	}
	return paint(line, s, s, nil)
}

// clipStart is clip with the beginning cut: of a path the end says more.
func clipStart(text string, width int, s style, m measure) row {
	line := cells(text, m)
	columns := 0
	for i := len(line) - 1; i >= 0; i-- {
		columns += line[i].width
		if columns > width {
			kept := line[i+1:]
			for len(kept) > 0 && total(kept) > width-1 {
				kept = kept[1:]
			}
			return row{s.paint("…"), 1}.add(paint(kept, s, s, nil))
		}
	}
	return paint(line, s, s, nil)
}

// fit is the beginning of a line that takes at most width columns.
func fit(line []cell, width int) []cell {
	columns := 0
	for i, c := range line {
		if columns += c.width; columns > width {
			return line[:i:i]
		}
	}
	return line[:len(line):len(line)]
}

// total is the columns that a line takes.
func total(line []cell) (columns int) {
	for _, c := range line {
		columns += c.width
	}
	return columns
}
