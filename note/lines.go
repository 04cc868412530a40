package note

import "bytes"

// LineAt returns the number of the line, from 1, that holds offset. An offset
// outside text counts as the nearest inside.
func LineAt(text []byte, offset int) int {
	offset = min(max(offset, 0), len(text))
	return 1 + bytes.Count(text[:offset], newline)
}

// Lines returns the offsets of the lines first to last, counted from 1 and
// both included, with the last one's line feed. Lines that text has not are
// empty, at its end; first below 1 counts as 1.
func Lines(text []byte, first, last int) (start, end int) {
	first = max(first, 1)
	for line := 1; line < first && start < len(text); line++ {
		start = lineEnd(text, start)
	}
	end = start
	for line := first; line <= last && end < len(text); line++ {
		end = lineEnd(text, end)
	}
	return start, end
}

var newline = []byte{'\n'}

// lineEnd returns the offset after the line that holds offset.
func lineEnd(text []byte, offset int) int {
	if i := bytes.IndexByte(text[offset:], '\n'); i >= 0 {
		return offset + i + 1
	}
	return len(text)
}

// lineStart returns the offset of the first byte of the line that holds offset.
func lineStart(text []byte, offset int) int {
	return bytes.LastIndexByte(text[:offset], '\n') + 1
}

func blank(line []byte) bool { return len(bytes.TrimSpace(line)) == 0 }

// A lineCounter numbers the lines of offsets. Offsets asked in ascending order
// cost one pass over the text together.
type lineCounter struct {
	text         []byte
	offset, line int
}

func newLineCounter(text []byte) *lineCounter { return &lineCounter{text: text, line: 1} }

func (c *lineCounter) at(offset int) int {
	if offset < c.offset {
		c.line -= bytes.Count(c.text[offset:c.offset], newline)
	} else {
		c.line += bytes.Count(c.text[c.offset:offset], newline)
	}
	c.offset = offset
	return c.line
}
