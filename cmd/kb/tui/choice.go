package tui

import "kb/internal/diff"

// choice is what of a diff is to be merged: all but what was left out.
type choice struct {
	diff *Diff
	out  map[hunkAt]bool
}

// hunkAt is a hunk of a diff; hunk 0 of a note without hunks is the note.
type hunkAt struct{ note, hunk int }

func newChoice(d *Diff) choice { return choice{diff: d, out: map[hunkAt]bool{}} }

// divisible reports whether some of a note's hunks can be merged without others.
func (c choice) divisible(note int) bool {
	n := &c.diff.Notes[note]
	return n.Kind == NoteChanged && len(n.Hunks) > 0
}

// hunks counts those of a note that can be chosen, at least one.
func (c choice) hunks(note int) int {
	if c.divisible(note) {
		return len(c.diff.Notes[note].Hunks)
	}
	return 1
}

// key is what decides about a hunk: of a note that goes as a whole, the first.
func (c choice) key(h hunkAt) hunkAt {
	if !c.divisible(h.note) {
		h.hunk = 0
	}
	return h
}

func (c choice) has(h hunkAt) bool { return !c.out[c.key(h)] }

// chosen counts the chosen hunks of a note.
func (c choice) chosen(note int) (n int) {
	for h := range c.hunks(note) {
		if c.has(hunkAt{note, h}) {
			n++
		}
	}
	return n
}

func (c choice) toggle(h hunkAt) {
	h = c.key(h)
	if c.out[h] {
		delete(c.out, h)
	} else {
		c.out[h] = true
	}
}

// toggleNote leaves a note out, or takes all of it in when some of it is out.
func (c choice) toggleNote(note int) {
	leave := c.chosen(note) == c.hunks(note)
	for h := range c.hunks(note) {
		c.set(hunkAt{note, h}, !leave)
	}
}

// toggleAll leaves everything out, or takes all in when something is out.
func (c choice) toggleAll() {
	leave := c.all()
	for note := range c.diff.Notes {
		for h := range c.hunks(note) {
			c.set(hunkAt{note, h}, !leave)
		}
	}
}

func (c choice) set(h hunkAt, in bool) {
	if c.has(h) != in {
		c.toggle(h)
	}
}

// all reports whether nothing was left out.
func (c choice) all() bool { return len(c.out) == 0 }

// pieces are what was chosen; nil for all.
func (c choice) pieces() []Piece {
	if c.all() {
		return nil
	}
	list := []Piece{}
	for i, n := range c.diff.Notes {
		p := Piece{Path: n.Path}
		switch c.chosen(i) {
		case 0:
			continue
		case c.hunks(i):
		default:
			for h := range n.Hunks {
				if c.has(hunkAt{i, h}) {
					p.Hunks = append(p.Hunks, h)
				}
			}
		}
		list = append(list, p)
	}
	return list
}

// size counts the chosen notes and lines.
func (c choice) size() (s size) {
	for i, n := range c.diff.Notes {
		chosen := c.chosen(i)
		if chosen == 0 {
			continue
		}
		s.notes++
		if chosen == c.hunks(i) {
			s.added, s.removed = s.added+n.Added, s.removed+n.Removed
			continue
		}
		for h, hunk := range n.Hunks {
			if c.has(hunkAt{i, h}) {
				a, r := hunk.count()
				s.added, s.removed = s.added+a, s.removed+r
			}
		}
	}
	return s
}

type size struct{ notes, added, removed int }

func (h Hunk) count() (added, removed int) {
	for _, l := range h.Lines {
		switch l.Kind {
		case diff.Added:
			added++
		case diff.Removed:
			removed++
		}
	}
	return added, removed
}

// inTheWay is the first of the draft's problems that is not of a note left out,
// nil for none.
func (c choice) inTheWay(problems []Problem) *Problem {
	out := map[string]bool{}
	for i, n := range c.diff.Notes {
		out[n.Path] = c.chosen(i) == 0
	}
	for i, p := range problems {
		if !out[p.Path] {
			return &problems[i]
		}
	}
	return nil
}
