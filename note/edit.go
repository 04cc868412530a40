package note

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"unicode/utf8"
)

// The functions that edit a note's source take its bytes as stored and return
// them with the edit made and every other byte as it was: byte order mark, line
// ends, comments, quotes, bytes that are not UTF-8. What they insert is given
// the line ends that the note has. They never guess: an edit that would make
// the rest of the note read differently is an error.

var (
	// ErrUneditable is wrapped by the errors of edits of bytes that are no
	// UTF-8 text, or longer than Parse reads.
	ErrUneditable = errors.New("the note cannot be edited")

	// ErrFrontmatter is wrapped by the errors of edits that frontmatter is in
	// the way of: it does not parse, sets a property twice, or is written in a
	// way that cannot be edited without touching what is around it.
	ErrFrontmatter = errors.New("frontmatter cannot be edited")

	// ErrStructure is wrapped by the errors of edits after which other parts of
	// the note would read differently, such as text that leaves a code fence
	// open.
	ErrStructure = errors.New("the edit would change how the rest of the note reads")

	// ErrText is wrapped by the errors of edits whose text can stand in no note.
	ErrText = errors.New("not text for a note")
)

// A source is a note under edit.
type source struct {
	raw     []byte
	text    []byte // raw, decoded; what offsets are into
	note    *Note
	splices []splice // ascending and apart
}

// A splice puts with, whose lines end with "\n", in the place of text[start:end].
type splice struct {
	start, end int
	with       string
}

// openText opens a note of which only the properties and where the body starts
// are read.
func openText(raw []byte) (*source, error) {
	for _, enc := range bomUTF16 {
		if bytes.HasPrefix(raw, []byte(enc.bom)) {
			return nil, fmt.Errorf("%w: it is UTF-16, not UTF-8", ErrUneditable)
		}
	}
	text, err := Decode(raw)
	switch {
	case err != nil:
		return nil, fmt.Errorf("%w: it is not text", ErrUneditable)
	case len(text) > MaxText:
		return nil, fmt.Errorf("%w: it is larger than %d MB", ErrUneditable, MaxText>>20)
	}
	n := &Note{}
	n.frontmatter(text)
	return &source{raw: raw, text: text, note: n}, nil
}

// openSource opens a note of which all is read.
func openSource(raw []byte) (*source, error) {
	s, err := openText(raw)
	if err != nil {
		return nil, err
	}
	s.note, _ = Parse(s.text)
	return s, nil
}

// insertable returns text as it is put into notes: valid UTF-8 with "\n".
func insertable(text string) (string, error) {
	if strings.IndexByte(text, 0) >= 0 {
		return "", fmt.Errorf("%w: it has a NUL", ErrText)
	}
	text = strings.ToValidUTF8(strings.TrimPrefix(text, string(bomUTF8)), "\uFFFD")
	return string(unixLines([]byte(text))), nil
}

func (s *source) splice(start, end int, with string) {
	s.splices = append(s.splices, splice{start, end, with})
}

// bytes returns the source with the splices made.
func (s *source) bytes() []byte {
	out := make([]byte, 0, len(s.raw)+64)
	at := alignment{source: s}
	if len(s.text) != len(s.raw) {
		at.raw = leadingMarks(s.raw)
	}
	done := 0
	eol := s.lineEnding()
	for _, p := range s.splices {
		out = append(out, s.raw[done:at.to(p.start)]...)
		out = append(out, strings.ReplaceAll(p.with, "\n", eol)...)
		done = at.to(p.end)
	}
	return append(out, s.raw[done:]...)
}

// lineEnding returns what most lines end with.
func (s *source) lineEnding() string {
	if crlf := bytes.Count(s.raw, []byte("\r\n")); 2*crlf > bytes.Count(s.raw, newline) {
		return "\r\n"
	}
	return "\n"
}

func leadingMarks(raw []byte) (size int) {
	for bytes.HasPrefix(raw[size:], bomUTF8) {
		size += len(bomUTF8)
	}
	return size
}

// An alignment finds where offsets of the decoded text, asked in ascending
// order, are in the bytes as stored. It retraces what decode does.
type alignment struct {
	*source
	at, raw int
}

func (a *alignment) to(offset int) int {
	if len(a.source.raw) == len(a.text) && bytes.Equal(a.source.raw, a.text) {
		return offset
	}
	src := a.source.raw
	for a.at < offset {
		if returns := a.returns(); returns > 0 {
			a.raw += returns
			continue
		}
		r, size := utf8.DecodeRune(src[a.raw:])
		if r != utf8.RuneError || size > 1 {
			a.at, a.raw = a.at+size, a.raw+size
			continue
		}
		for r == utf8.RuneError && size == 1 { // a run of bad bytes is one U+FFFD
			a.raw++
			r, size = utf8.DecodeRune(src[a.raw:])
		}
		a.at += len("\uFFFD")
	}
	return a.raw
}

// returns counts the carriage returns here that decoding dropped.
func (a *alignment) returns() int {
	if a.text[a.at] != '\n' {
		return 0
	}
	return bytes.IndexByte(a.source.raw[a.raw:], '\n')
}

// finish returns the edited bytes, unless the properties are no longer those
// that they were, or check, given what follows them as it now reads, fails.
func (s *source) finish(check func(after *Note, text []byte) error) ([]byte, error) {
	out := s.bytes()
	open := openText
	if check != nil {
		open = openSource
	}
	after, err := open(out)
	if err != nil {
		return nil, err
	}
	body := s.note.Body
	if body > 0 && body == len(s.text) && s.text[body-1] != '\n' && len(after.text) > body {
		body++ // the line that closes the properties was the last, without a line end
	}
	if after.note.Body != body || !reflect.DeepEqual(after.note.Fields, s.note.Fields) {
		return nil, fmt.Errorf("%w: with this text the note's properties would begin or end elsewhere", ErrFrontmatter)
	}
	if check != nil {
		if err := check(after.note, after.text); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// readable returns the problem that keeps frontmatter from being edited.
func (n *Note) readable() error {
	for _, p := range n.Problems {
		if p.Code == malformedFrontmatter || p.Code == duplicateKey {
			return fmt.Errorf("%w: line %d: %s", ErrFrontmatter, p.Line, p.Message)
		}
	}
	return nil
}
