package tui

import "strings"

// style is the parameters of an SGR sequence. Colours are the terminal's own
// sixteen, so that they suit its background; without colour the attributes stay.
type style string

const (
	plain    style = ""
	strong   style = "1"
	dim      style = "2"
	inverse  style = "7"
	title    style = "1;7"
	accent   style = "36"
	heading  style = "1;36"
	good     style = "32"
	bad      style = "31"
	warn     style = "33"
	odd      style = "7;33" // a character that is shown as what it is
	added    style = "32"
	addedOn  style = "1;4;32"
	removed  style = "31"
	removeOn style = "1;4;31"
)

func (s style) paint(text string) string {
	if s == plain || text == "" {
		return text
	}
	return "\x1b[" + string(s) + "m" + text + "\x1b[m"
}

// row is a painted line with its width in columns.
type row struct {
	text  string
	width int
}

// add appends another row at the right.
func (r row) add(other row) row { return row{r.text + other.text, r.width + other.width} }

// pad fills the row up to a width.
func (r row) pad(width int) row {
	if r.width >= width {
		return r
	}
	return row{r.text + strings.Repeat(" ", width-r.width), width}
}

// spread puts two rows at the ends of a width, the right one only if it fits.
func spread(left, right row, width int) row {
	if left.width+right.width+1 > width {
		return left
	}
	return left.pad(width - right.width).add(right)
}
