package diff

import (
	"bytes"
	"fmt"
	"strings"
)

// Kind tells what became of a line. It is the line's first character in a
// unified diff.
type Kind byte

// The kinds of lines.
const (
	Same    Kind = ' '
	Removed Kind = '-'
	Added   Kind = '+'
)

// Line is a line of a hunk. Text is without its line end.
type Line struct {
	Kind  Kind
	Old   int // its number in the old text, from 1; 0 for an added line
	New   int // its number in the new text; 0 for a removed line
	Text  string
	Open  bool   // the text ends here, without a line end
	Marks []Span // what of it differs from the line that it was, or became; see Words
}

// Span is a half-open range of bytes of a line.
type Span struct{ Start, End int }

// Hunk is a place at which two texts differ, with lines around it.
type Hunk struct {
	OldFirst, OldCount int
	NewFirst, NewCount int
	Lines              []Line

	changes []Change
}

// Hunks compares two texts by lines, and shows as many lines around each change
// as context says; changes with fewer than that between them are one hunk.
func Hunks(old, now []byte, context int) []Hunk {
	a, b := Lines(old), Lines(now)
	numbers := Numbers{}
	var hunks []Hunk
	for _, c := range Sequences(numbers.Of(a), numbers.Of(b)) {
		if n := len(hunks); n > 0 {
			last := hunks[n-1].changes
			if c.A-(last[len(last)-1].A+last[len(last)-1].NA) <= 2*context {
				hunks[n-1].changes = append(last, c)
				continue
			}
		}
		hunks = append(hunks, Hunk{changes: []Change{c}})
	}
	for i := range hunks {
		hunks[i].fill(a, b, context)
	}
	return hunks
}

// fill adds the lines.
func (h *Hunk) fill(a, b [][]byte, context int) {
	first := h.changes[0]
	before := min(context, first.A)
	i, j := first.A-before, first.B-before
	h.OldFirst, h.NewFirst = i+1, j+1
	for _, c := range h.changes {
		h.same(a, &i, &j, c.A-i)
		for ; i < c.A+c.NA; i++ {
			h.add(Line{Kind: Removed, Old: i + 1}, a[i])
		}
		for ; j < c.B+c.NB; j++ {
			h.add(Line{Kind: Added, New: j + 1}, b[j])
		}
	}
	h.same(a, &i, &j, min(context, len(a)-i))
	h.OldCount, h.NewCount = i+1-h.OldFirst, j+1-h.NewFirst
	if h.OldCount == 0 {
		h.OldFirst-- // as diff(1) counts: after that line
	}
	if h.NewCount == 0 {
		h.NewFirst--
	}
}

// same adds n lines that both texts have.
func (h *Hunk) same(a [][]byte, i, j *int, n int) {
	for range n {
		h.add(Line{Kind: Same, Old: *i + 1, New: *j + 1}, a[*i])
		*i, *j = *i+1, *j+1
	}
}

func (h *Hunk) add(l Line, raw []byte) {
	text, ended := bytes.CutSuffix(raw, []byte("\n"))
	l.Text, l.Open = string(text), !ended
	h.Lines = append(h.Lines, l)
}

// Header is the line that tells where h is: @@ -1,4 +1,5 @@.
func (h *Hunk) Header() string {
	return fmt.Sprintf("@@ -%s +%s @@", extent(h.OldFirst, h.OldCount), extent(h.NewFirst, h.NewCount))
}

func extent(first, count int) string {
	if count == 1 {
		return fmt.Sprint(first)
	}
	return fmt.Sprintf("%d,%d", first, count)
}

// Stat counts the lines that were added and removed.
func Stat(hunks []Hunk) (added, removed int) {
	for _, h := range hunks {
		for _, c := range h.changes {
			added, removed = added+c.NB, removed+c.NA
		}
	}
	return added, removed
}

// Apply makes those of the hunks' changes for which take is true to the text that
// they were found in.
func Apply(old, now []byte, hunks []Hunk, take func(i int) bool) []byte {
	a, b := Lines(old), Lines(now)
	var out []byte
	i := 0
	for n, h := range hunks {
		if !take(n) {
			continue
		}
		for _, c := range h.changes {
			out = append(out, bytes.Join(a[i:c.A], nil)...)
			out = append(out, bytes.Join(b[c.B:c.B+c.NB], nil)...)
			i = c.A + c.NA
		}
	}
	return append(out, bytes.Join(a[i:], nil)...)
}

// Unified returns the difference of two texts in the form that diff -u and git
// write, "" if there is none. Names are what the first two lines say; "" is
// /dev/null: a file that is not there. What is no text is not shown.
func Unified(oldName, newName string, old, now []byte) string {
	if bytes.Equal(old, now) && oldName != "" && newName != "" {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "--- %s\n+++ %s\n", side("a/", oldName), side("b/", newName))
	if bytes.IndexByte(old, 0) >= 0 || bytes.IndexByte(now, 0) >= 0 {
		b.WriteString("Binary files differ\n")
		return b.String()
	}
	for _, h := range Hunks(old, now, 3) {
		b.WriteString(h.Header() + "\n")
		for _, l := range h.Lines {
			fmt.Fprintf(&b, "%c%s\n", l.Kind, l.Text)
			if l.Open {
				b.WriteString("\\ No newline at end of file\n")
			}
		}
	}
	return b.String()
}

func side(prefix, name string) string {
	if name == "" {
		return "/dev/null"
	}
	return prefix + name
}
