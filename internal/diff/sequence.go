package diff

import "bytes"

// Change says that elements [A, A+NA) of one sequence became elements [B, B+NB)
// of another.
type Change struct{ A, NA, B, NB int }

// Lines cuts a text after each line end.
func Lines(text []byte) [][]byte {
	lines := make([][]byte, 0, bytes.Count(text, []byte("\n"))+1)
	for line := range bytes.Lines(text) {
		lines = append(lines, line)
	}
	return lines
}

// Numbers gives equal lines equal numbers. The zero Numbers is nil: make one.
type Numbers map[string]int

// Of numbers lines.
func (n Numbers) Of(lines [][]byte) []int {
	numbers := make([]int, len(lines))
	for i, line := range lines {
		k, ok := n[string(line)]
		if !ok {
			k = len(n) + 1
			n[string(line)] = k
		}
		numbers[i] = k
	}
	return numbers
}

// Sequences compares texts by the numbers of their lines, or of their words:
// first by the histogram method, which looks for the longest run of the rarest
// common ones and goes on on both sides of it; where all that is common is
// frequent, by Myers' method. The changes are in order and do not touch.
func Sequences(a, b []int) []Change {
	d := comparison{a: a, b: b, gone: newMarks(len(a)), come: newMarks(len(b))}
	d.histogram(span{0, len(a), 0, len(b)})
	slide(a, d.gone, d.come)
	slide(b, d.come, d.gone)
	return d.changes()
}

// marks tells which lines changed. It may be asked one before the first.
type marks []bool

func newMarks(n int) marks        { return make(marks, n+2) }
func (m marks) has(i int) bool    { return m[i+1] }
func (m marks) set(i int, v bool) { m[i+1] = v }
func (m marks) len() int          { return len(m) - 2 }
func (m marks) all(from, until int) {
	for i := from; i < until; i++ {
		m.set(i, true)
	}
}

// comparison is two sequences being compared.
type comparison struct {
	a, b       []int
	gone, come marks
}

// span is a piece of each sequence.
type span struct{ a0, a1, b0, b1 int }

// differ marks a whole span as changed.
func (d *comparison) differ(s span) {
	d.gone.all(s.a0, s.a1)
	d.come.all(s.b0, s.b1)
}

// changes collects the runs of marked lines.
func (d *comparison) changes() []Change {
	var list []Change
	for i, j := 0, 0; i < len(d.a) || j < len(d.b); i, j = i+1, j+1 {
		c := Change{A: i, B: j}
		for i < len(d.a) && d.gone.has(i) {
			i++
		}
		for j < len(d.b) && d.come.has(j) {
			j++
		}
		if c.NA, c.NB = i-c.A, j-c.B; c.NA > 0 || c.NB > 0 {
			list = append(list, c)
		}
	}
	return list
}

func (d *comparison) histogram(s span) {
	for s.a0 < s.a1 && s.b0 < s.b1 {
		run, found := d.rarestRun(s)
		switch {
		case found == tooFrequent:
			d.myers(s)
			return
		case found == nothing:
			d.differ(s)
			return
		}
		d.histogram(span{s.a0, run.a0, s.b0, run.b0})
		s.a0, s.b0 = run.a1, run.b1
	}
	d.differ(s)
}

type runFound int

const (
	nothing     runFound = iota // no line in common
	tooFrequent                 // only lines that occur too often to mean something
	something
)

// maxOccurrences is how often a line may occur to be of use.
const maxOccurrences = 64

// lineCount is where a line first occurs in a span of a, and how often.
type lineCount struct{ first, count int }

// occurrences counts the lines of a in a span and links each with the next of the
// same kind, -1 for none.
func (d *comparison) occurrences(s span) (map[int]lineCount, []int) {
	counts := make(map[int]lineCount, s.a1-s.a0)
	next := make([]int, s.a1-s.a0)
	for i := s.a1 - 1; i >= s.a0; i-- {
		c, ok := counts[d.a[i]]
		next[i-s.a0] = -1
		if ok {
			next[i-s.a0] = c.first
		}
		counts[d.a[i]] = lineCount{i, c.count + 1}
	}
	return counts, next
}

// rarestRun finds the common run with the rarest line; of such, the longest; of
// such, the first.
func (d *comparison) rarestRun(s span) (best span, found runFound) {
	counts, next := d.occurrences(s)
	rarest := maxOccurrences + 1
	for j := s.b0; j < s.b1; {
		c, common := counts[d.b[j]]
		resume := j + 1
		if common && found == nothing {
			found = tooFrequent
		}
		if !common || c.count > rarest {
			j = resume
			continue
		}
		for i := c.first; i >= 0; {
			run, count := d.extend(s, i, j, counts)
			resume = max(resume, run.b1)
			if found != something || best.a1-best.a0 < run.a1-run.a0 || count < rarest {
				best, rarest, found = run, count, something
			}
			for i = next[i-s.a0]; i >= 0 && i < run.a1; {
				i = next[i-s.a0]
			}
		}
		j = resume
	}
	if rarest > maxOccurrences && found == something {
		found = tooFrequent
	}
	return best, found
}

// extend grows a pair of equal lines to a run, and counts its rarest line.
func (d *comparison) extend(s span, i, j int, counts map[int]lineCount) (span, int) {
	run, count := span{i, i + 1, j, j + 1}, counts[d.a[i]].count
	for run.a0 > s.a0 && run.b0 > s.b0 && d.a[run.a0-1] == d.b[run.b0-1] {
		run.a0, run.b0 = run.a0-1, run.b0-1
		count = min(count, counts[d.a[run.a0]].count)
	}
	for run.a1 < s.a1 && run.b1 < s.b1 && d.a[run.a1] == d.b[run.b1] {
		count = min(count, counts[d.a[run.a1]].count)
		run.a1, run.b1 = run.a1+1, run.b1+1
	}
	return run, count
}

// Kept maps the lines of the new text that the old one has, by their numbers from
// 0, to their numbers there.
func Kept(old, now []byte) map[int]int {
	numbers := Numbers{}
	a, b := numbers.Of(Lines(old)), numbers.Of(Lines(now))
	kept := map[int]int{}
	i, j := 0, 0
	keep := func(until int) {
		for ; j < until; i, j = i+1, j+1 {
			kept[j] = i
		}
	}
	for _, c := range Sequences(a, b) {
		keep(c.B)
		i, j = c.A+c.NA, c.B+c.NB
	}
	keep(len(b))
	return kept
}
