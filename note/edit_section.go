package note

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// NoHeadingError says that a note has no heading or block of a name, and which
// it has.
type NoHeadingError struct {
	Name     string
	Headings []Heading
	Blocks   []Block
}

func (e *NoHeadingError) Error() string {
	if id, ok := strings.CutPrefix(e.Name, "^"); ok {
		return fmt.Sprintf("no block ^%s; the note has %s", id, listed(e.Blocks, func(b Block) string { return "^" + b.ID }))
	}
	return fmt.Sprintf("no heading %q; the note has %s", e.Name, listed(e.Headings, Heading.marked))
}

// AmbiguousHeadingError says that a name is that of several headings or blocks.
type AmbiguousHeadingError struct {
	Name     string
	Headings []Heading // "#" and the slug names each of them alone
	Blocks   []Block
}

func (e *AmbiguousHeadingError) Error() string {
	if len(e.Blocks) > 0 {
		return fmt.Sprintf("block %s stands %d times: %s", e.Name, len(e.Blocks),
			listed(e.Blocks, func(b Block) string { return fmt.Sprintf("line %d", b.Line) }))
	}
	return fmt.Sprintf("heading %q stands %d times: %s", e.Name, len(e.Headings),
		listed(e.Headings, func(h Heading) string { return fmt.Sprintf("#%s (line %d)", h.Slug, h.Line) }))
}

func (h Heading) marked() string { return strings.Repeat("#", h.Level) + " " + h.Text }

func listed[T any](all []T, show func(T) string) string {
	if len(all) == 0 {
		return "none"
	}
	var names []string
	for _, e := range all[:min(len(all), maxListed)] {
		names = append(names, show(e))
	}
	s := strings.Join(names, ", ")
	if more := len(all) - len(names); more > 0 {
		s += fmt.Sprintf(" and %d more", more)
	}
	return s
}

// ReplaceSection replaces what stands below a heading, to the next heading of
// the same or a higher level, by text; the heading itself stays, whether or not
// text repeats it, and so do the definitions of links and footnotes that the
// rest of the note uses and text does not repeat. The heading is named as for [Note.FindHeading], and must be
// the only one of that name; "#slug" always is. "^id" names a block, which is
// replaced and keeps its id.
func ReplaceSection(src []byte, heading, text string) ([]byte, error) {
	s, err := openSource(src)
	if err != nil {
		return nil, err
	}
	if text, err = insertable(text); err != nil {
		return nil, err
	}
	if id, ok := strings.CutPrefix(strings.TrimSpace(heading), "^"); ok && id != "" {
		return s.replaceBlock(id, text)
	}
	found := s.note.FindHeadings(heading)
	switch {
	case len(found) == 0:
		return nil, &NoHeadingError{Name: heading, Headings: s.note.Headings, Blocks: s.note.Blocks}
	case len(found) > 1:
		e := &AmbiguousHeadingError{Name: heading}
		for _, i := range found {
			e.Headings = append(e.Headings, s.note.Headings[i])
		}
		return nil, e
	}
	return s.replaceSection(found[0], text)
}

func (s *source) replaceSection(i int, text string) ([]byte, error) {
	h := s.note.Headings[i]
	start := headingEnd(s.text, h.Start)
	text = s.withDefinitions(start, h.End, trimBlankLines(withoutHeading(h, text)))
	if text == "" && blank(s.text[start:h.End]) {
		return s.raw, nil
	}
	later := i + 1
	for later < len(s.note.Headings) && s.note.Headings[later].Start < h.End {
		later++
	}
	lead, trail := s.blanks(start, h.End)
	var err error
	for _, trail := range []string{trail, trail + "\n"} { // a blank line ends what none ended before
		s.splices = []splice{{start, h.End, sectionText(lead, text, trail)}}
		var out []byte
		if out, err = s.finish(s.sameAfter(h.End, s.note.Headings[later:])); err == nil || h.End == len(s.text) {
			return out, err
		}
	}
	return nil, err
}

func sectionText(lead, text, trail string) string {
	if text == "" {
		return strings.TrimPrefix(trail, "\n") // that which ended the text
	}
	return lead + text + trail
}

// blanks returns what is between a heading and the text of its section, and
// what is after that text: the blank lines as they are, one where there is no
// text yet.
func (s *source) blanks(start, end int) (lead, trail string) {
	old := string(s.text[start:end])
	if text := trimBlankLines(old); text != "" {
		at := skipBlankLines([]byte(old), 0)
		return old[:at], strings.TrimLeft(old[at+len(text):], " \t")
	}
	lead, trail = "\n", "\n"
	if start > 0 && s.text[start-1] != '\n' {
		lead, trail = "\n\n", ""
	} else if end < len(s.text) {
		trail = "\n\n"
	}
	return lead, trail
}

// withoutHeading cuts the heading h from the head of text.
func withoutHeading(h Heading, text string) string {
	text = text[skipBlankLines([]byte(text), 0):]
	n, _ := Parse([]byte(text))
	if len(n.Headings) == 0 || n.Headings[0].Start != 0 || n.Headings[0].Level != h.Level || n.Headings[0].Text != h.Text {
		return text
	}
	return text[headingEnd([]byte(text), 0):]
}

var (
	atxHeading      = regexp.MustCompile(`^ {0,3}#{1,6}(?:[ \t\n]|$)`)
	setextUnderline = regexp.MustCompile(`^ {0,3}(?:=+|-+)[ \t]*\n?$`)
)

// headingEnd returns the offset after the lines of the heading that starts at
// offset at.
func headingEnd(text []byte, at int) int {
	end := lineEnd(text, at)
	if atxHeading.Match(text[at:end]) {
		return end
	}
	for end < len(text) {
		line := end
		if end = lineEnd(text, line); setextUnderline.Match(text[line:end]) {
			break
		}
	}
	return end
}

// sameAfter returns a check that what follows offset at still has the headings
// later, and none but them. Their text may change: a link in it may have its
// definition elsewhere.
func (s *source) sameAfter(at int, later []Heading) func(*Note, []byte) error {
	tail := len(s.text) - at
	return func(after *Note, text []byte) error {
		var now []Heading
		for _, h := range after.Headings {
			if len(text)-h.Start <= tail {
				now = append(now, h)
			}
		}
		same := slices.EqualFunc(later, now, func(a, b Heading) bool {
			return a.Level == b.Level && len(s.text)-a.Start == len(text)-b.Start
		})
		if !same {
			return fmt.Errorf("%w: the text leaves a code block, comment or HTML open, or runs into the heading that follows", ErrStructure)
		}
		return nil
	}
}
