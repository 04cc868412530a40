package diff

// maxDetour bounds the work of one search for a middle: texts further apart are
// taken to differ in full.
const maxDetour = 4096

// myers compares a span by Myers' method in linear space: it looks for the middle
// of a shortest way from one text to the other, from both ends.
func (d *comparison) myers(s span) {
	for s.a0 < s.a1 && s.b0 < s.b1 && d.a[s.a0] == d.b[s.b0] {
		s.a0, s.b0 = s.a0+1, s.b0+1
	}
	for s.a0 < s.a1 && s.b0 < s.b1 && d.a[s.a1-1] == d.b[s.b1-1] {
		s.a1, s.b1 = s.a1-1, s.b1-1
	}
	if s.a0 == s.a1 || s.b0 == s.b1 {
		d.differ(s)
		return
	}
	mid, ok := d.middle(s)
	whole := mid.a0 == s.a0 && mid.b0 == s.b0 && mid.a1 == s.a0 && mid.b1 == s.b0
	if !ok || whole || mid.a0 == s.a1 && mid.b0 == s.b1 {
		d.differ(s)
		return
	}
	d.myers(span{s.a0, mid.a0, s.b0, mid.b0})
	d.myers(span{mid.a1, s.a1, mid.b1, s.b1})
}

// front is how far a search has come, by diagonal.
type front struct {
	reach []int // -1: not yet
	zero  int   // where diagonal 0 is
}

func newFront(n int) *front {
	f := &front{make([]int, 2*n+3), n + 1}
	for i := range f.reach {
		f.reach[i] = -1
	}
	f.reach[f.zero+1] = 0
	return f
}

// step returns where a way with one more detour begins on diagonal k.
func (f *front) step(k, detour int) int {
	at := f.zero + k
	if k == -detour || k != detour && f.reach[at-1] < f.reach[at+1] {
		return f.reach[at+1]
	}
	return f.reach[at-1] + 1
}

// middle returns the run of equal lines, maybe empty, in the middle of a shortest
// way through a span.
func (d *comparison) middle(s span) (span, bool) {
	n, m := s.a1-s.a0, s.b1-s.b0
	limit := min((n+m+1)/2, maxDetour)
	ahead, back := newFront(limit+1), newFront(limit+1)
	delta := n - m
	for detour := 0; detour <= limit; detour++ {
		for k := -detour; k <= detour; k += 2 {
			x0 := ahead.step(k, detour)
			x := x0
			for x >= 0 && x-k >= 0 && x < n && x-k < m && d.a[s.a0+x] == d.b[s.b0+x-k] {
				x++
			}
			ahead.reach[ahead.zero+k] = x
			if x > n || x-k > m || x-k < 0 {
				continue
			}
			if j := delta - k; delta&1 != 0 && j >= 1-detour && j <= detour-1 && back.reach[back.zero+j] >= 0 && x+back.reach[back.zero+j] >= n {
				return span{s.a0 + x0, s.a0 + x, s.b0 + x0 - k, s.b0 + x - k}, true
			}
		}
		for k := -detour; k <= detour; k += 2 {
			x0 := back.step(k, detour)
			x := x0
			for x >= 0 && x-k >= 0 && x < n && x-k < m && d.a[s.a1-1-x] == d.b[s.b1-1-(x-k)] {
				x++
			}
			back.reach[back.zero+k] = x
			if x > n || x-k > m || x-k < 0 {
				continue
			}
			if j := delta - k; delta&1 == 0 && j >= -detour && j <= detour && ahead.reach[ahead.zero+j] >= 0 && x+ahead.reach[ahead.zero+j] >= n {
				return span{s.a1 - x, s.a1 - x0, s.b1 - (x - k), s.b1 - (x0 - k)}, true
			}
		}
	}
	return span{}, false
}

// lineGroup is a run of changed lines, maybe empty, between two that are not.
type lineGroup struct{ start, end int }

func firstGroup(m marks) lineGroup {
	g := lineGroup{}
	g.grow(m)
	return g
}

func (g *lineGroup) grow(m marks) {
	for g.end < m.len() && m.has(g.end) {
		g.end++
	}
}

func (g *lineGroup) growBack(m marks) {
	for g.start > 0 && m.has(g.start-1) {
		g.start--
	}
}

func (g *lineGroup) next(m marks) bool {
	if g.end >= m.len() {
		return false
	}
	g.start = g.end + 1
	g.end = g.start
	g.grow(m)
	return true
}

func (g *lineGroup) previous(m marks) {
	if g.start > 0 {
		g.end = g.start - 1
		g.start = g.end
		g.growBack(m)
	}
}

// up moves a group one line up, if that makes no difference, joining it with one
// that it meets.
func (g *lineGroup) up(m marks, lines []int) bool {
	if g.start == 0 || lines[g.start-1] != lines[g.end-1] {
		return false
	}
	g.start, g.end = g.start-1, g.end-1
	m.set(g.start, true)
	m.set(g.end, false)
	g.growBack(m)
	return true
}

// down is up the other way.
func (g *lineGroup) down(m marks, lines []int) bool {
	if g.end == len(lines) || lines[g.start] != lines[g.end] {
		return false
	}
	m.set(g.start, false)
	m.set(g.end, true)
	g.start, g.end = g.start+1, g.end+1
	g.grow(m)
	return true
}

// slide moves each group of changed lines as far down as it goes, or back to where
// it is beside a change of the other text: as people would have made it.
func slide(lines []int, m, other marks) {
	g, o := firstGroup(m), firstGroup(other)
	for more := true; more; {
		if g.end > g.start {
			slideGroup(lines, m, other, &g, &o)
		}
		if more = g.next(m); more {
			o.next(other)
		}
	}
}

func slideGroup(lines []int, m, other marks, g, o *lineGroup) {
	earliest, beside := 0, -1
	for size := -1; size != g.end-g.start; {
		size, beside = g.end-g.start, -1
		for g.up(m, lines) {
			o.previous(other)
		}
		earliest = g.end
		if o.end > o.start {
			beside = g.end
		}
		for g.down(m, lines) {
			o.next(other)
			if o.end > o.start {
				beside = g.end
			}
		}
	}
	if g.end == earliest || beside < 0 {
		return
	}
	for o.end == o.start && g.up(m, lines) {
		o.previous(other)
	}
}
