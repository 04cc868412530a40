// Package ptytest runs a program on a pseudo-terminal for tests, and knows what
// stands on its screen.
package ptytest

import (
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// Screen is a terminal of the plainest kind: it understands what programs send to
// a vt100, and takes no notice of modes.
type Screen struct {
	Coloured bool // something was printed in colour

	cells       [][]string // "" right of a wide character
	x, y        int
	top, bottom int    // the region that scrolls
	rest        []byte // of a sequence that has not come wholly
}

// NewScreen returns an empty screen.
func NewScreen(width, height int) *Screen {
	s := &Screen{}
	s.Resize(width, height)
	return s
}

// Resize changes the size and keeps what fits.
func (s *Screen) Resize(width, height int) {
	old := s.cells
	s.cells = make([][]string, height)
	for y := range s.cells {
		s.cells[y] = blank(width)
		if y < len(old) {
			copy(s.cells[y], old[y])
		}
	}
	s.top, s.bottom = 0, height
	s.goTo(s.x, s.y)
}

func blank(width int) []string {
	row := make([]string, width)
	for i := range row {
		row[i] = " "
	}
	return row
}

// String is the text on the screen, without the spaces at the ends of its lines.
func (s *Screen) String() string {
	var b strings.Builder
	for _, row := range s.cells {
		b.WriteString(strings.TrimRight(strings.Join(row, ""), " ") + "\n")
	}
	return b.String()
}

// Write takes what a program prints.
func (s *Screen) Write(p []byte) (int, error) {
	data := append(s.rest, p...)
	parser := ansi.NewParser()
	for len(data) > 0 {
		seq, width, n, state := ansi.DecodeSequenceWc(data, ansi.NormalState, parser)
		if whole := state == ansi.NormalState && (utf8.FullRune(seq) || width > 0); !whole && n == len(data) {
			break // more of it comes
		}
		switch {
		case width > 0:
			s.print(string(seq), width)
		case ansi.HasCsiPrefix(seq):
			s.control(ansi.Cmd(parser.Command()), parser)
		default:
			s.move(string(seq))
		}
		data = data[n:]
	}
	s.rest = append([]byte(nil), data...)
	return len(p), nil
}

func (s *Screen) width() int { return len(s.cells[0]) }

func (s *Screen) goTo(x, y int) {
	s.x, s.y = max(0, min(x, s.width()-1)), max(0, min(y, len(s.cells)-1))
}

func (s *Screen) print(text string, width int) {
	if s.x+width > s.width() {
		s.x = 0
		s.feed()
	}
	s.cells[s.y][s.x] = text
	for i := 1; i < width; i++ {
		s.cells[s.y][s.x+i] = ""
	}
	s.x += width // maybe behind the last column, until more comes
}

// feed goes a line down, and scrolls at the end of the region.
func (s *Screen) feed() {
	if s.y+1 == s.bottom {
		s.scroll(s.top, 1)
		return
	}
	s.goTo(s.x, s.y+1)
}

// scroll moves the lines from a row to the end of the region up by n, or down.
func (s *Screen) scroll(from, n int) {
	for ; n > 0; n-- {
		copy(s.cells[from:s.bottom], s.cells[from+1:s.bottom])
		s.cells[s.bottom-1] = blank(s.width())
	}
	for ; n < 0; n++ {
		copy(s.cells[from+1:s.bottom], s.cells[from:s.bottom-1])
		s.cells[from] = blank(s.width())
	}
}

// move obeys the characters that move the cursor.
func (s *Screen) move(seq string) {
	switch seq {
	case "\r":
		s.x = 0
	case "\n":
		s.feed()
	case "\b":
		s.goTo(s.x-1, s.y)
	case "\t":
		s.goTo(s.x+8-s.x%8, s.y)
	case "\x1bM":
		if s.y == s.top {
			s.scroll(s.top, -1)
			return
		}
		s.goTo(s.x, s.y-1)
	}
}

// control obeys a control sequence.
func (s *Screen) control(c ansi.Cmd, p *ansi.Parser) {
	if c.Prefix() != 0 {
		return // modes
	}
	n, _ := p.Param(0, 1)
	n = max(n, 1)
	m, _ := p.Param(1, 1)
	switch c.Final() {
	case 'H', 'f':
		s.goTo(m-1, n-1)
	case 'A':
		s.goTo(s.x, s.y-n)
	case 'B':
		s.goTo(s.x, s.y+n)
	case 'C':
		s.goTo(s.x+n, s.y)
	case 'D':
		s.goTo(s.x-n, s.y)
	case 'G', '`':
		s.goTo(n-1, s.y)
	case 'd':
		s.goTo(s.x, n-1)
	case 'L':
		s.scroll(s.y, -n)
	case 'M':
		s.scroll(s.y, n)
	case 'S':
		s.scroll(s.top, n)
	case 'T':
		s.scroll(s.top, -n)
	case 'r':
		m, _ = p.Param(1, len(s.cells))
		s.top, s.bottom = n-1, min(m, len(s.cells))
		s.goTo(0, 0)
	case 'm':
		s.colour(p)
	case 'J', 'K', 'X', 'P', '@':
		s.edit(c.Final(), p)
	}
}

// colour notes whether a style has one, other than the terminal's own.
func (s *Screen) colour(p *ansi.Parser) {
	p.Params().ForEach(0, func(_, n int, _ bool) {
		s.Coloured = s.Coloured || n >= 30 && n <= 49 && n != 39 && n != 49 || n >= 90 && n <= 107
	})
}

// edit erases, deletes and inserts.
func (s *Screen) edit(final byte, p *ansi.Parser) {
	row := s.cells[s.y]
	x := min(s.x, s.width()-1)
	n, _ := p.Param(0, 0)
	switch final {
	case 'J':
		for y := range s.cells {
			if n == 2 || n == 0 && y > s.y || n == 1 && y < s.y {
				s.cells[y] = blank(s.width())
			}
		}
		s.edit('K', p)
	case 'K':
		from, until := x, s.width()
		if n > 0 {
			from = 0
		}
		if n == 1 {
			until = x + 1
		}
		copy(row[from:until], blank(until-from))
	case 'X':
		n = min(max(n, 1), len(row)-x)
		copy(row[x:], blank(n))
	case 'P':
		n = min(max(n, 1), len(row)-x)
		copy(row[x:], append(row[x+n:len(row):len(row)], blank(n)...))
	case '@':
		n = min(max(n, 1), len(row)-x)
		copy(row[x:], append(blank(n), row[x:]...))
	}
}
