package note

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

func (s *source) replaceBlock(id, text string) ([]byte, error) {
	var found []Block
	for _, b := range s.note.Blocks {
		if b.ID == id {
			found = append(found, b)
		}
	}
	switch {
	case len(found) == 0:
		return nil, &NoHeadingError{Name: "^" + id, Headings: s.note.Headings, Blocks: s.note.Blocks}
	case len(found) > 1:
		return nil, &AmbiguousHeadingError{Name: "^" + id, Blocks: found}
	}
	b := found[0]
	text = strings.TrimRight(strings.TrimSuffix(trimBlankLines(text), "^"+id), " \t\n")
	if text == "" {
		return nil, fmt.Errorf("%w: a block needs some to keep its id", ErrText)
	}
	forms := s.blockForms(b, text)
	for _, whole := range []bool{true, false} {
		for _, form := range forms {
			s.splices = []splice{{b.Start, b.End, form}}
			if out, err := s.finish(s.sameBlocks(b, form, whole)); err == nil {
				return out, nil
			}
		}
	}
	return nil, fmt.Errorf("%w: ^%s would name something else", ErrStructure, id)
}

// blockMarks are the marks of quotes and list items before a line's own text.
var blockMarks = regexp.MustCompile(`^[ \t]*(?:>[ ]?[ \t]*|(?:[-*+]|\d{1,9}[.)])[ \t]+)*`)

var (
	listMark = regexp.MustCompile(`^(?:[-*+]|\d{1,9}[.)])[ \t]`)
	itemMark = regexp.MustCompile(`(?:[-*+]|\d{1,9}[.)])[ \t]+$`)
)

// blockForms returns what may stand for a block with new text, best first. Its
// id ends the last line, or the first paragraph of a list item with more than
// one, or follows on its own as after a table.
func (s *source) blockForms(b Block, text string) []string {
	old := s.text[b.Start:b.End]
	end := ""
	if bytes.HasSuffix(old, newline) {
		end = "\n"
	}
	first := old[:lineEnd(old, 0)]
	if !hasID(old, b.ID) { // it stands on its own below
		return []string{indentLines(text, quoteMarks(first), quoteMarks(first)) + end}
	}
	marks := string(blockMarks.Find(first))
	if own := itemMark.FindStringIndex(marks); own != nil && listMark.MatchString(text) {
		marks = marks[:own[0]] // text brings its own
	}
	rest := continuation(marks)
	id := " ^" + b.ID
	forms := []string{text + id}
	if head, tail, ok := strings.Cut(text, "\n"); ok {
		forms = append(forms, head+id+"\n"+tail)
	}
	if head, tail, ok := strings.Cut(text, "\n\n"); ok {
		forms = append(forms, head+id+"\n\n"+tail)
	}
	forms = append(forms, text+"\n\n^"+b.ID)
	for i := range forms {
		forms[i] = indentLines(forms[i], marks, rest) + end
	}
	return forms
}

// hasID reports whether a line of the block ends with its id.
func hasID(block []byte, id string) bool {
	for line := range bytes.Lines(block) {
		if rest, ok := bytes.CutSuffix(bytes.TrimSpace(line), []byte("^"+id)); ok && !bytes.HasSuffix(rest, []byte("^")) {
			return true
		}
	}
	return false
}

// quoteMarks returns the marks of the quotes that a line is in.
func quoteMarks(line []byte) string {
	marks := string(blockMarks.Find(line))
	end := strings.LastIndexByte(marks, '>') + 1
	if end == 0 {
		return ""
	}
	return marks[:end] + " "
}

// continuation returns the marks of the further lines of an item.
func continuation(marks string) string {
	return strings.Map(func(r rune) rune {
		if r == '>' || r == '\t' {
			return r
		}
		return ' '
	}, marks)
}

func indentLines(text, first, rest string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		mark := rest
		if i == 0 {
			mark = first
		}
		if line == "" {
			mark = strings.TrimRight(mark, " \t")
		}
		lines[i] = mark + line
	}
	return strings.Join(lines, "\n")
}

// sameBlocks returns a check that the note has the ids that it had but for
// those within b, that b's is still one, of the whole new text or part of it,
// and that what follows reads as before.
func (s *source) sameBlocks(b Block, with string, whole bool) func(*Note, []byte) error {
	moved := len(with) - (b.End - b.Start)
	want := map[string]int{b.ID: 1}
	for _, o := range s.note.Blocks {
		if o.ID != b.ID && (o.End <= b.Start || o.Start >= b.End) {
			want[o.ID]++
		}
	}
	later := slices.DeleteFunc(slices.Clone(s.note.Headings), func(h Heading) bool { return h.Start < b.End })
	return func(after *Note, text []byte) error {
		for _, o := range after.Blocks {
			if o.ID == b.ID && whole && (o.Start != b.Start || o.End < b.End+moved-len(b.ID)-4) {
				return fmt.Errorf("%w: ^%s would name less", ErrStructure, b.ID)
			}
			want[o.ID]--
		}
		for id, n := range want {
			if n > 0 {
				return fmt.Errorf("%w: ^%s would be lost", ErrStructure, id)
			}
		}
		return s.sameAfter(b.End, later)(after, text)
	}
}
