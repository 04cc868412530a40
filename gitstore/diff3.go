package gitstore

import (
	"bytes"
	"slices"

	"kb/internal/diff"
)

// LineRange is a piece of a text: Count lines from line First on, counted from 1.
type LineRange struct{ First, Count int }

// Clash is one place at which two texts do not merge: the same lines of their
// base became different lines.
type Clash struct{ Base, Ours, Theirs LineRange }

// labels name the sides in conflict markers.
type labels struct{ ours, theirs string }

// takeFrom says where a piece of a merged text comes from.
type takeFrom int

const (
	takeNeither takeFrom = iota // a clash
	takeOurs
	takeTheirs
	takeEither // both made the same of it
)

// hunk is a piece of the three texts in which a side, or both, differs from the
// base.
type hunk struct {
	from    takeFrom
	base    int
	nBase   int
	ours    int
	nOurs   int
	theirs  int
	nTheirs int
}

// textMerge is a three-way merge of lines.
type textMerge struct {
	base, ours, theirs          [][]byte
	baseIDs, oursIDs, theirsIDs []int
	hunks                       []hunk
}

// MergeText merges what two sides made of a text, line by line. Where both
// changed the same lines, the text has both between conflict markers, and the
// clashes say where that was.
func MergeText(base, ours, theirs []byte) ([]byte, []Clash) {
	return mergeText(base, ours, theirs, labels{"ours", "theirs"}, 7, false)
}

// mergeText merges what two sides made of a text. Where both changed the same
// lines, the result has both between conflict markers of the given width; with
// union, it has ours and then theirs.
func mergeText(base, ours, theirs []byte, names labels, width int, union bool) ([]byte, []Clash) {
	m := textMerge{base: diff.Lines(base), ours: diff.Lines(ours), theirs: diff.Lines(theirs)}
	numbers := diff.Numbers{}
	m.baseIDs, m.oursIDs, m.theirsIDs = numbers.Of(m.base), numbers.Of(m.ours), numbers.Of(m.theirs)
	left, right := diff.Sequences(m.baseIDs, m.oursIDs), diff.Sequences(m.baseIDs, m.theirsIDs)
	switch {
	case len(left) == 0:
		return theirs, nil
	case len(right) == 0:
		return ours, nil
	}
	m.align(left, right)
	m.refine()
	m.join()
	return m.write(names, width, union)
}

// align pairs the changes of both sides.
func (m *textMerge) align(left, right []diff.Change) {
	for len(left) > 0 && len(right) > 0 {
		l, r := left[0], right[0]
		if l.A+l.NA < r.A {
			m.add(hunk{takeOurs, l.A, l.NA, l.B, l.NB, r.B - r.A + l.A, l.NA})
			left = left[1:]
			continue
		}
		if r.A+r.NA < l.A {
			m.add(hunk{takeTheirs, r.A, r.NA, l.B - l.A + r.A, r.NA, r.B, r.NB})
			right = right[1:]
			continue
		}
		if !m.same(l, r) {
			m.add(clashOf(l, r))
		}
		endL, endR := l.A+l.NA, r.A+r.NA
		if endL >= endR {
			right = right[1:]
		}
		if endR >= endL {
			left = left[1:]
		}
	}
	for _, l := range left {
		m.add(hunk{takeOurs, l.A, l.NA, l.B, l.NB, l.A + len(m.theirs) - len(m.base), l.NA})
	}
	for _, r := range right {
		m.add(hunk{takeTheirs, r.A, r.NA, r.A + len(m.ours) - len(m.base), r.NA, r.B, r.NB})
	}
}

// same reports whether both sides made the same change.
func (m *textMerge) same(l, r diff.Change) bool {
	return l.A == r.A && l.NA == r.NA && slices.Equal(m.oursIDs[l.B:l.B+l.NB], m.theirsIDs[r.B:r.B+r.NB])
}

// clashOf spans two changes that overlap or touch.
func clashOf(l, r diff.Change) hunk {
	h := hunk{base: min(l.A, r.A)}
	h.ours, h.theirs = l.B-(l.A-h.base), r.B-(r.A-h.base)
	end := max(l.A+l.NA, r.A+r.NA)
	h.nBase = end - h.base
	h.nOurs = l.B + l.NB + (end - l.A - l.NA) - h.ours
	h.nTheirs = r.B + r.NB + (end - r.A - r.NA) - h.theirs
	return h
}

// add appends a hunk, or joins it with the one before if they touch.
func (m *textMerge) add(h hunk) {
	if n := len(m.hunks); n > 0 {
		last := &m.hunks[n-1]
		if h.ours <= last.ours+last.nOurs || h.theirs <= last.theirs+last.nTheirs {
			if h.from != last.from {
				last.from = takeNeither
			}
			last.nBase = h.base + h.nBase - last.base
			last.nOurs = h.ours + h.nOurs - last.ours
			last.nTheirs = h.theirs + h.nTheirs - last.theirs
			return
		}
	}
	m.hunks = append(m.hunks, h)
}

// refine takes out of clashes what both sides have in common.
func (m *textMerge) refine() {
	var fine []hunk
	for _, h := range m.hunks {
		if h.from != takeNeither || h.nOurs == 0 || h.nTheirs == 0 {
			fine = append(fine, h)
			continue
		}
		changes := diff.Sequences(m.oursIDs[h.ours:h.ours+h.nOurs], m.theirsIDs[h.theirs:h.theirs+h.nTheirs])
		if len(changes) == 0 {
			h.from = takeEither
			fine = append(fine, h)
		}
		for _, c := range changes {
			part := h
			part.ours, part.nOurs, part.theirs, part.nTheirs = h.ours+c.A, c.NA, h.theirs+c.B, c.NB
			fine = append(fine, part)
		}
	}
	m.hunks = fine
}

// join makes one of clashes that are at most three lines apart.
func (m *textMerge) join() {
	const apart = 3
	joined := m.hunks[:0]
	for _, h := range m.hunks {
		if n := len(joined); n > 0 {
			last := &joined[n-1]
			if last.from == takeNeither && h.from == takeNeither && h.ours-(last.ours+last.nOurs) <= apart {
				last.nOurs = h.ours + h.nOurs - last.ours
				last.nTheirs = h.theirs + h.nTheirs - last.theirs
				last.nBase = max(last.nBase, h.base+h.nBase-last.base)
				continue
			}
		}
		joined = append(joined, h)
	}
	m.hunks = joined
}

// write puts the merged text together.
func (m *textMerge) write(names labels, width int, union bool) ([]byte, []Clash) {
	var out bytes.Buffer
	var clashes []Clash
	at := 0 // in ours
	for _, h := range m.hunks {
		switch h.from {
		case takeNeither:
			putRaw(&out, m.ours[at:h.ours])
			m.writeClash(&out, h, names, width, union)
			if !union {
				clashes = append(clashes, h.clash())
			}
		case takeOurs:
			putRaw(&out, m.ours[at:h.ours+h.nOurs])
		case takeTheirs:
			putRaw(&out, m.ours[at:h.ours])
			putRaw(&out, m.theirs[h.theirs:h.theirs+h.nTheirs])
		default:
			continue
		}
		at = h.ours + h.nOurs
	}
	putRaw(&out, m.ours[at:])
	return out.Bytes(), clashes
}

func (h *hunk) clash() Clash {
	return Clash{LineRange{h.base + 1, h.nBase}, LineRange{h.ours + 1, h.nOurs}, LineRange{h.theirs + 1, h.nTheirs}}
}

func (m *textMerge) writeClash(out *bytes.Buffer, h hunk, names labels, width int, union bool) {
	mark := func(c byte, name string) {
		if union {
			return
		}
		out.Write(bytes.Repeat([]byte{c}, width))
		if name != "" {
			out.WriteString(" " + name)
		}
		out.WriteByte('\n')
	}
	mark('<', names.ours)
	putLines(out, m.ours[h.ours:h.ours+h.nOurs])
	mark('=', "")
	if theirs := m.theirs[h.theirs : h.theirs+h.nTheirs]; union {
		putRaw(out, theirs)
	} else {
		putLines(out, theirs)
	}
	mark('>', names.theirs)
}

func putRaw(out *bytes.Buffer, lines [][]byte) {
	for _, line := range lines {
		out.Write(line)
	}
}

// putLines is putRaw that ends the last line.
func putLines(out *bytes.Buffer, lines [][]byte) {
	putRaw(out, lines)
	if n := len(lines); n > 0 && !bytes.HasSuffix(lines[n-1], []byte("\n")) {
		out.WriteByte('\n')
	}
}
