package note

// chunkSizes are sizes of chunks, in bytes.
type chunkSizes struct {
	tiny   int // a section below it joins the next
	target int // paragraphs are gathered up to it
	most   int // no chunk is longer
}

// chunkRecipe is part of [Recipe]; docs/decisions/chunking.md says why.
var chunkRecipe = chunkSizes{tiny: 200, target: 1800, most: 4000}

// chunks tiles text[n.Body:]: a heading starts a chunk; a section longer than
// the target is cut between paragraphs; a paragraph longer than the most at
// lines, a line longer than that between characters. A tiny section joins the one
// that follows, when that is below it in the outline or both are small together.
func (n *Note) chunks(text []byte, sizes chunkSizes) []Chunk {
	c := chunker{text: text, sizes: sizes}
	sections := n.sections(len(text))
	for i := 0; i < len(sections); {
		j := i + 1
		for j < len(sections) && sizes.join(sections[i], sections[j-1], sections[j]) {
			j++
		}
		c.region(sections[i].start, sections[j-1].end)
		i = j
	}
	return n.describeChunks(text, c.cuts)
}

// section is the text from a heading, level 0 for none, to the next.
type section struct{ start, end, level int }

func (n *Note) sections(end int) []section {
	var all []section
	at, level := n.Body, 0
	for _, h := range n.Headings {
		if h.Start > at {
			all = append(all, section{at, h.Start, level})
		}
		at, level = h.Start, h.Level
	}
	if at < end {
		all = append(all, section{at, end, level})
	}
	return all
}

// join reports whether next joins the chunk that starts with first and ends,
// so far, with last.
func (s chunkSizes) join(first, last, next section) bool {
	size := last.end - first.start
	return size < s.tiny && (next.level > last.level || size+next.end-next.start <= s.target)
}

// chunker gathers the ends of chunks.
type chunker struct {
	text  []byte
	sizes chunkSizes
	cuts  []int
}

// region cuts text[start:end], which no chunk crosses.
func (c *chunker) region(start, end int) {
	for at := start; at < end; {
		next := c.paragraphEnd(at, end)
		switch size := at - start; {
		case next-at > c.sizes.most:
			if size > 0 {
				c.cuts = append(c.cuts, at)
			}
			start = c.cutLines(at, next)
		case size >= c.sizes.tiny && next-start > c.sizes.target, next-start > c.sizes.most:
			c.cuts = append(c.cuts, at)
			start = at
		}
		at = next
	}
	if start < end {
		c.cuts = append(c.cuts, end)
	}
}

// paragraphEnd returns where the paragraph at offset at ends, with the blank
// lines that follow it. Blank lines within a code fence end nothing.
func (c *chunker) paragraphEnd(at, end int) int {
	fence := byte(0)
	wasBlank := false
	for at < end {
		next := min(lineEnd(c.text, at), end)
		line := c.text[at:next]
		if blank(line) {
			wasBlank = fence == 0
		} else if wasBlank {
			return at
		} else if f := fenceMark(line); f != 0 && (fence == 0 || fence == f) {
			fence ^= f
		}
		at = next
	}
	return end
}

// fenceMark returns '`' or '~' for a line that starts or ends a code fence.
func fenceMark(line []byte) byte {
	for i, b := range line {
		if b == ' ' {
			continue
		}
		if (b == '`' || b == '~') && i+2 < len(line) && line[i+1] == b && line[i+2] == b {
			return b
		}
		break
	}
	return 0
}

// cutLines cuts text[at:end] at lines and returns the start of the rest, which
// is short enough to go on with.
func (c *chunker) cutLines(at, end int) (rest int) {
	start := at
	for at < end {
		next := min(lineEnd(c.text, at), end)
		if next-start > c.sizes.target && at > start {
			c.cuts = append(c.cuts, at)
			start = at
		}
		for next-start > c.sizes.most {
			start = wordBorder(c.text, start, start+c.sizes.most)
			c.cuts = append(c.cuts, start)
		}
		at = next
	}
	return start
}

// describeChunks makes chunks of their ends. A chunk belongs to the section of
// its first byte that is no space.
func (n *Note) describeChunks(text []byte, cuts []int) []Chunk {
	chunks := make([]Chunk, len(cuts))
	lines := newLineCounter(text)
	headings := headingCursor{note: n}
	start := n.Body
	for i, end := range cuts {
		first := start
		for first < end-1 && (text[first] == '\n' || text[first] == ' ' || text[first] == '\t') {
			first++
		}
		chunks[i] = Chunk{Start: start, End: end, Line: lines.at(start), EndLine: lines.at(end - 1), Heading: headings.at(first)}
		start = end
	}
	return chunks
}

// headingCursor finds the headings of ascending offsets.
type headingCursor struct {
	note *Note
	next int
}

func (c *headingCursor) at(offset int) int {
	for c.next < len(c.note.Headings) && c.note.Headings[c.next].Start <= offset {
		c.next++
	}
	return c.next - 1
}
