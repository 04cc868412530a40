package index

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"kb/note"
)

// match is a place in a text where a unit of the query stands.
type match struct {
	unit       int
	start, end int
}

// finder finds the units of a plan in texts, by the hashes of their terms. The
// filter answers most lookups.
type finder struct {
	p       *plan
	b       *builder
	units   map[uint32]int
	filter  [1 << 10]uint64
	phrases []int
}

func newFinder(p *plan, b *builder) *finder {
	f := &finder{p: p, b: b, units: map[uint32]int{}}
	for i, u := range p.units {
		switch {
		case u.neg:
		case u.phrase != nil:
			f.phrases = append(f.phrases, i)
		default:
			for _, t := range u.terms {
				h := hashTerm(t)
				if _, ok := f.units[h]; !ok {
					f.units[h] = i
					f.filter[h>>6&(1<<10-1)] |= 1 << (h & 63)
				}
			}
		}
	}
	return f
}

// find appends the matches among spots, by start.
func (f *finder) find(dst []match, spots []spot) []match {
	first := len(dst)
	for i := range spots {
		s := &spots[i]
		if f.filter[s.hash>>6&(1<<10-1)]&(1<<(s.hash&63)) == 0 {
			continue
		}
		if u, ok := f.units[s.hash]; ok {
			dst = append(dst, match{u, int(s.start), int(s.end)})
		}
	}
	if len(f.phrases) > 0 {
		dst = f.findPhrases(dst, spots)
	}
	slices.SortStableFunc(dst[first:], func(a, b match) int { return cmp.Compare(a.start, b.start) })
	return dst
}

func (f *finder) findPhrases(dst []match, spots []spot) []match {
	var main []spot
	for _, s := range spots {
		if s.main {
			main = append(main, s)
		}
	}
	for _, u := range f.phrases {
		phrase := f.p.units[u].phrase
		for i := 0; i+len(phrase) <= len(main); i++ {
			k := 0
			for k < len(phrase) && main[i+k].hash == phrase[k].hash {
				k++
			}
			if k == len(phrase) {
				dst = append(dst, match{u, int(main[i].start), int(main[i+k-1].end)})
			}
		}
	}
	return dst
}

// excerpts fills in what the hits show of their text.
func (e *evaluation) excerpts(p *plan, q Query, top []found, res *Result) error {
	b := e.v.segs.builders.Get().(*builder)
	defer e.v.segs.builders.Put(b)
	f := newFinder(p, b)
	var matches []match
	for i := range res.Hits {
		if err := e.ctx.Err(); err != nil {
			return err
		}
		t, err := e.v.text(top[i].doc)
		if err != nil {
			return err
		}
		matches = f.find(matches[:0], t.spots(b))
		h := &res.Hits[i]
		chunk, part := f.bestChunk(t, matches)
		if near := h.Near; near != nil && near.Chunk < len(t.note.Chunks) && (len(part) == 0 || q.Meaning.Alone) {
			chunk, part = near.Chunk, within(t.note.Chunks[near.Chunk], matches)
		}
		f.excerpt(h, t, chunk, part)
		e.surface(p, t.text, matches, res)
	}
	return nil
}

// surface reports a corrected word as the first hit that has it spells it.
func (e *evaluation) surface(p *plan, text []byte, matches []match, res *Result) {
	for i := range res.Corrected {
		c := &res.Corrected[i]
		for _, m := range matches {
			u := p.units[m.unit]
			if u.word == c.From && !u.prefix && u.terms[0] == c.To {
				c.To = fold(string(text[m.start:m.end]))
				break
			}
		}
	}
}

// within returns the matches in a chunk.
func within(c note.Chunk, matches []match) []match {
	order := func(m match, at int) int { return cmp.Compare(m.start, at) }
	first, _ := slices.BinarySearchFunc(matches, c.Start, order)
	end, _ := slices.BinarySearchFunc(matches, c.End, order)
	return matches[first:end]
}

// excerpt shows the best of a chunk, which has the matches of part.
func (f *finder) excerpt(h *Hit, t *cachedText, chunk int, part []match) {
	h.Chunk = chunk
	from, to, heading := min(t.note.Body, len(t.text)), len(t.text), -1
	if chunk >= 0 {
		c := t.note.Chunks[chunk]
		from, to, heading = c.Start, min(c.End, len(t.text)), c.Heading
		h.Lines = [2]int{c.Line, c.EndLine}
	}
	if len(part) == 0 {
		if h.Near == nil {
			h.Excerpt = clean(t.note.Summary)
		}
		if h.Excerpt == "" {
			h.Excerpt = f.render(t, from, from, to)
		}
	} else {
		at := part[f.bestWindow(part)].start
		heading = t.note.HeadingAt(at)
		h.Excerpt = f.render(t, from, windowStart(t.text, from, at, to), to)
	}
	h.Marks = f.marks(h.Excerpt)
	if h.Heading = t.note.HeadingPath(heading); heading >= 0 {
		h.HeadingSlug = t.note.Headings[heading].Slug
	}
}

// bestChunk returns the chunk that says most about the query, and its matches.
// Without matches it is the first chunk; -1 when the note has none.
func (f *finder) bestChunk(t *cachedText, matches []match) (int, []match) {
	if len(t.note.Chunks) == 0 {
		return -1, matches
	}
	best, bestScore, bestPart := 0, -1.0, matches[:0]
	for i := 0; i < len(matches); {
		c := t.note.ChunkAt(matches[i].start)
		if c < 0 {
			i++
			continue
		}
		j := i + 1
		for j < len(matches) && matches[j].start < t.note.Chunks[c].End {
			j++
		}
		if s := f.chunkScore(matches[i:j]); s > bestScore {
			best, bestScore, bestPart = c, s, matches[i:j]
		}
		i = j
	}
	return best, bestPart
}

// chunkScore is the saturated frequency of each unit by idf, plus what the best
// window holds: near each other counts twice.
func (f *finder) chunkScore(part []match) float64 {
	counts := make([]int, len(f.p.units))
	for _, m := range part {
		counts[m.unit]++
	}
	var s float64
	for i, n := range counts {
		if n > 0 {
			s += f.value(i) * float64(n) / float64(n+1)
		}
	}
	return s + f.windowScore(part, f.bestWindow(part))
}

func (f *finder) value(unit int) float64 {
	u := f.p.units[unit]
	return u.idf * u.factor
}

// windowBytes is about what an excerpt shows.
const windowBytes = 300

// bestWindow returns the index of the match with which the best window begins.
func (f *finder) bestWindow(part []match) int {
	best, bestScore := 0, -1.0
	for i := range part {
		if s := f.windowScore(part, i); s > bestScore+1e-9 {
			best, bestScore = i, s
		}
	}
	return best
}

// windowScore is the idf of the units in the window that begins with match i.
func (f *finder) windowScore(part []match, i int) float64 {
	var seen uint64
	var s float64
	for _, m := range part[i:] {
		if m.end > part[i].start+windowBytes {
			break
		}
		if bit := uint64(1) << (m.unit & 63); seen&bit == 0 {
			seen |= bit
			s += f.value(m.unit)
		}
	}
	return s
}

// windowStart returns where an excerpt begins that is to show at: at a sentence
// shortly before, else at a word, and not so late that it would be short.
func windowStart(text []byte, from, at, to int) int {
	const before, reach = 100, 40
	at = max(from, min(at, to-windowBytes))
	low := max(from, at-before)
	for i := at; i > low; i-- {
		if text[i-1] == '\n' || i >= 2 && text[i-1] == ' ' && strings.IndexByte(".!?", text[i-2]) >= 0 {
			return i
		}
		if i >= 3 && string(text[i-3:i]) == "。" {
			return i
		}
	}
	if low == from {
		return from
	}
	i := max(from, at-reach)
	for i < at && text[i-1] != ' ' && !(utf8.RuneStart(text[i]) && text[i] >= 0xe0) {
		i++
	}
	return i
}

// marks returns where the units stand in an excerpt, merged.
func (f *finder) marks(excerpt string) []note.Span {
	matches := f.find(nil, f.b.spots(nil, []byte(excerpt), 0, len(excerpt)))
	var marks []note.Span
	for _, m := range matches {
		if k := len(marks) - 1; k >= 0 && m.start <= marks[k].End {
			marks[k].End = max(marks[k].End, m.end)
			continue
		}
		marks = append(marks, note.Span{Start: m.start, End: m.end})
	}
	return marks
}

// clean makes one line of s: spaces and line ends become one space, and
// characters that are not shown, or that reorder others, go.
func clean(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case unicode.IsSpace(r):
			if b.Len() > 0 {
				b.WriteByte(' ')
			}
		case hidden(r):
		default:
			b.WriteRune(r)
		}
	}
	return strings.Join(strings.Fields(b.String()), " ")
}

// hidden reports characters that a terminal obeys instead of showing.
func hidden(r rune) bool {
	return unicode.Is(unicode.Cc, r) || unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Co, r) ||
		r == '\u2028' || r == '\u2029' || r == utf8.RuneError
}
