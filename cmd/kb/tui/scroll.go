package tui

// place is a row of the right pane: an item and which of its rows.
type place struct{ item, row int }

// scroll moves a cursor through items of unequal height, and the window after
// it. It asks for the height only of items near the cursor: of a diff of
// thousands of lines, a few are laid out.
type scroll struct {
	top, cursor place
	rows        int // of the window
	items       int
	height      func(item int) int
}

// move moves the cursor by rows.
func (s *scroll) move(by int) {
	s.cursor = s.step(s.cursor, by)
	s.follow()
}

// step is the place so many rows after p, or before; at an end it stops.
func (s *scroll) step(p place, by int) place {
	for ; by > 0; by-- {
		switch {
		case p.row+1 < s.height(p.item):
			p.row++
		case p.item+1 < s.items:
			p = place{p.item + 1, 0}
		default:
			return p
		}
	}
	for ; by < 0; by++ {
		switch {
		case p.row > 0:
			p.row--
		case p.item > 0:
			p = place{p.item - 1, s.height(p.item-1) - 1}
		default:
			return p
		}
	}
	return p
}

// follow moves the window as little as the cursor asks for.
func (s *scroll) follow() {
	if s.before(s.cursor, s.top) {
		s.top = s.cursor
		return
	}
	if last := s.step(s.top, s.rows-1); s.before(last, s.cursor) {
		s.top = s.step(s.cursor, 1-s.rows)
	}
}

func (s *scroll) before(a, b place) bool {
	return a.item < b.item || a.item == b.item && a.row < b.row
}

// jump puts the cursor on an item, and the item at the top of the window.
func (s *scroll) jump(item int) {
	s.cursor = place{item: item}
	s.top = s.cursor
	s.fill()
}

// end puts the cursor on the last row.
func (s *scroll) end() {
	s.cursor = place{s.items - 1, s.height(s.items-1) - 1}
	s.top = s.step(s.cursor, 1-s.rows)
}

// fill moves the window up where it would end in emptiness.
func (s *scroll) fill() {
	end := place{s.items - 1, s.height(s.items-1) - 1}
	if last := s.step(end, 1-s.rows); s.before(last, s.top) {
		s.top = last
	}
}

// resize keeps the cursor on its item when rows break elsewhere.
func (s *scroll) resize(rows int) {
	s.rows = max(rows, 1)
	s.cursor.row = min(s.cursor.row, s.height(s.cursor.item)-1)
	s.top.row = min(s.top.row, s.height(s.top.item)-1)
	s.fill()
	s.follow()
}
