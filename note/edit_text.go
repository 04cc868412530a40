package note

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// ErrNoSpan is wrapped by the error of [ReplaceSpan] when the text that is to
// be replaced does not occur.
var ErrNoSpan = errors.New("the text to replace is not in the note")

// AmbiguousSpanError says that the text to replace occurs more than once.
type AmbiguousSpanError struct {
	Lines []int // where it starts, of the file as stored; at most 20
	Count int
}

func (e *AmbiguousSpanError) Error() string {
	return fmt.Sprintf("the text to replace occurs %d times, in lines %s", e.Count, joinNumbers(e.Lines))
}

func joinNumbers(all []int) string {
	return strings.Trim(strings.Join(strings.Fields(fmt.Sprint(all)), ", "), "[]")
}

// maxListed bounds what an error lists.
const maxListed = 20

// ReplaceSpan replaces the only occurrence of old in the body by new, both
// taken literally but for their line ends, which fit the note's.
func ReplaceSpan(src []byte, old, new string) ([]byte, error) {
	s, err := openText(src)
	if err != nil {
		return nil, err
	}
	if new, err = insertable(new); err != nil {
		return nil, err
	}
	old = string(unixLines([]byte(old)))
	found := s.occurrences(old)
	switch {
	case len(found) == 0 && old != "" && bytes.Contains(s.text[:s.note.Body], []byte(old)):
		return nil, fmt.Errorf("%w: only in its frontmatter", ErrNoSpan)
	case len(found) == 0:
		return nil, ErrNoSpan
	case len(found) > 1:
		e := &AmbiguousSpanError{Count: len(found)}
		for _, at := range found[:min(len(found), maxListed)] {
			e.Lines = append(e.Lines, LineAt(s.text, at))
		}
		return nil, e
	}
	s.splice(found[0], found[0]+len(old), new)
	return s.finish(nil)
}

// occurrences returns where old starts in the body, overlaps included.
func (s *source) occurrences(old string) (found []int) {
	if old == "" {
		return nil
	}
	for at := s.note.Body; ; at++ {
		i := bytes.Index(s.text[at:], []byte(old))
		if i < 0 {
			return found
		}
		at += i
		found = append(found, at)
	}
}

// AppendText adds text at the end of a note: after a blank line, unless both
// sides of it are items of one list or rows of one table.
func AppendText(src []byte, text string) ([]byte, error) {
	s, err := openText(src)
	if err != nil {
		return nil, err
	}
	if text, err = insertable(text); err != nil {
		return nil, err
	}
	if text = trimBlankLines(text); text == "" {
		return src, nil
	}
	lead := ""
	if body := s.text[s.note.Body:]; len(s.text) > 0 && s.text[len(s.text)-1] != '\n' {
		lead = "\n\n"
		if continues(lastLine(body), text) {
			lead = "\n"
		}
	} else if !blank(lastLine(body)) && !continues(lastLine(body), text) {
		lead = "\n"
	}
	s.splice(len(s.text), len(s.text), lead+text+"\n")
	return s.finish(nil)
}

var rowStart = regexp.MustCompile(`^ {0,3}(?:([-*+])[ \t]|\d{1,9}([.)])[ \t]|(\|))`)

// continues reports whether text goes on with the list or table of line.
func continues(line []byte, text string) bool {
	a, b := rowStart.FindSubmatch(line), rowStart.FindStringSubmatch(text)
	return a != nil && b != nil && string(a[1]) == b[1] && string(a[2]) == b[2] && string(a[3]) == b[3]
}

func lastLine(text []byte) []byte {
	return text[lineStart(text, max(len(text)-1, 0)):]
}

// PrependText adds text at the head of a note: after its properties and, if
// that comes first, its level-1 heading.
func PrependText(src []byte, text string) ([]byte, error) {
	s, err := openSource(src)
	if err != nil {
		return nil, err
	}
	if err = s.note.readable(); err != nil {
		return nil, err
	}
	if text, err = insertable(text); err != nil {
		return nil, err
	}
	if text = trimBlankLines(text); text == "" {
		return src, nil
	}
	start, headings := s.note.Body, s.note.Headings
	lead := ""
	if len(headings) > 0 && headings[0].Level == 1 && blank(s.text[start:headings[0].Start]) {
		start, lead = headingEnd(s.text, headings[0].Start), "\n"
		headings = headings[1:]
	}
	at := skipBlankLines(s.text, start)
	if at > start {
		lead = ""
	}
	if at > 0 && s.text[at-1] != '\n' {
		lead += "\n"
	}
	trail := "\n"
	if at < len(s.text) {
		trail = "\n\n"
	}
	s.splice(at, at, lead+text+trail)
	return s.finish(s.sameAfter(at, headings))
}

// skipBlankLines returns the offset of the first line from at on that is not
// blank.
func skipBlankLines(text []byte, at int) int {
	for at < len(text) {
		end := lineEnd(text, at)
		if !blank(text[at:end]) {
			break
		}
		at = end
	}
	return at
}

// trimBlankLines cuts the blank lines at both ends, and the last line feed.
func trimBlankLines(text string) string {
	text = text[skipBlankLines([]byte(text), 0):]
	return strings.TrimRight(text, " \t\n")
}
