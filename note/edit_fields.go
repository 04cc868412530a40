package note

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// ErrField is wrapped by the errors of properties that cannot be written.
var ErrField = errors.New("not a property that can be written")

// maxKey is the length of a property's name.
const maxKey = 100

// SetFields sets properties of a note and leaves all else as it is, to the
// byte: the other properties, their order, quotes and comments, and the body. A
// property that the note has keeps its place, the spelling of its name, the
// comment behind it and, as far as they can stay, its style and the lines of
// its list; one that it has not comes last; a nil value removes one. A property
// that has the value already is not touched.
//
// A value is a string, bool, int, int64, float64, [time.Time], nil or a list
// or map of these ([]string, []any, map[string]any). A string reads back as the
// string that it is, in this package and in other readers of YAML: one that is
// or looks like something else, such as "no", "10:30" or "2024-01-01", is
// quoted. A time is written as a bare date, with the time of day if it has one;
// so is a date in a string where a bare date was before.
//
// A note without properties gets them, in YAML. TOML and Logseq properties are
// edited as they are. Properties that do not parse, that are set twice, or that
// stand so that an edit would touch more than it should are [ErrFrontmatter].
func SetFields(src []byte, fields []Field) ([]byte, error) {
	s, err := openText(src)
	if err != nil {
		return nil, err
	}
	if err := s.note.readable(); err != nil {
		return nil, err
	}
	if err := checkFields(fields); err != nil {
		return nil, err
	}
	e := &fieldEdit{source: s, want: slices.Clone(s.note.Fields)}
	var found bool
	if e.matter, found = findMatter(s.text); !found {
		return e.create(fields)
	}
	e.syntax = syntaxOf(s.text)
	var added []Field
	for _, f := range fields {
		i, err := e.find(f.Key)
		switch {
		case err != nil:
			return nil, err
		case i >= 0:
			err = e.set(i, f)
		case f.Value != nil:
			added = append(added, f)
		}
		if err != nil {
			return nil, err
		}
	}
	if err := e.add(added); err != nil {
		return nil, err
	}
	return e.finish()
}

// NewFrontmatter returns the frontmatter of a new note, "---" lines included,
// with values as for [SetFields]; nil values are left out. Whatever is in them,
// they neither end it nor add to it.
func NewFrontmatter(fields []Field) ([]byte, error) {
	if err := checkFields(fields); err != nil {
		return nil, err
	}
	var b strings.Builder
	b.WriteString("---\n")
	for _, f := range fields {
		if f.Value == nil {
			continue
		}
		value, err := yamlSyntax.property(f, "")
		if err != nil {
			return nil, err
		}
		b.WriteString(value)
	}
	b.WriteString("---\n")
	out := []byte(b.String())
	return out, sameFields(out, fields)
}

// sameFields fails if src does not read as the fields, those without a value
// left out.
func sameFields(src []byte, fields []Field) error {
	n := &Note{}
	n.frontmatter(src)
	want := 0
	for _, f := range fields {
		if f.Value == nil {
			continue
		}
		want++
		i := slices.IndexFunc(n.Fields, func(g Field) bool { return g.Key == f.Key })
		if i < 0 || !sameValue(n.Fields[i].Value, f.Value) {
			return fmt.Errorf("%w: %q would not read back as it is", ErrField, f.Key)
		}
	}
	if len(n.Fields) != want || n.Body != len(src) {
		return fmt.Errorf("%w: the properties would not read back as they are", ErrField)
	}
	return nil
}

func checkFields(fields []Field) error {
	seen := map[string]bool{}
	for _, f := range fields {
		if err := checkKey(f.Key); err != nil {
			return err
		}
		if key := strings.ToLower(f.Key); seen[key] {
			return fmt.Errorf("%w: %q is given twice", ErrField, f.Key)
		} else {
			seen[key] = true
		}
	}
	return nil
}

// checkKey lets names through that every reader takes for one: a letter, digit
// or '_', then these, '-', '.', '/' and single spaces.
func checkKey(key string) error {
	bad := key == "" || len(key) > maxKey || !utf8.ValidString(key) || strings.HasSuffix(key, " ") || strings.Contains(key, "  ")
	for i, r := range key {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' && (i == 0 || !unicode.IsMark(r) && !strings.ContainsRune("-./ ", r)) {
			bad = true
		}
	}
	if bad {
		return fmt.Errorf("%w: its name %q is not letters, digits, '_', '-', '.' and spaces, at most %d bytes", ErrField, key[:min(len(key), maxKey)], maxKey)
	}
	return nil
}

// A fieldEdit changes the properties of a source.
type fieldEdit struct {
	*source
	matter matter
	syntax *syntax
	want   []Field // what the properties are to be
}

// create puts properties before a text that has none.
func (e *fieldEdit) create(fields []Field) ([]byte, error) {
	if !slices.ContainsFunc(fields, func(f Field) bool { return f.Value != nil }) {
		return e.raw, nil
	}
	front, err := NewFrontmatter(fields)
	if err != nil {
		return nil, err
	}
	e.splice(0, 0, string(front))
	for _, f := range fields {
		if f.Value != nil {
			e.want = append(e.want, f)
		}
	}
	return e.finish()
}

// find returns the index of the property that key names, -1 for none. Case
// does not count, but then no two may differ by it alone.
func (e *fieldEdit) find(key string) (int, error) {
	found := -1
	for i, f := range e.note.Fields {
		if !strings.EqualFold(f.Key, key) {
			continue
		}
		if found >= 0 {
			return -1, fmt.Errorf("%w: line %d: property %q is set in line %d too, as %q", ErrFrontmatter, f.Line, f.Key, e.note.Fields[found].Line, e.note.Fields[found].Key)
		}
		found = i
	}
	return found, nil
}

// set gives property i the value of f, or removes it.
func (e *fieldEdit) set(i int, f Field) error {
	old := e.note.Fields[i]
	if f.Value != nil && sameValue(old.Value, f.Value) {
		return nil
	}
	p, err := e.locate(i)
	if err != nil {
		return err
	}
	w := slices.IndexFunc(e.want, func(g Field) bool { return g.Key == old.Key })
	if f.Value == nil {
		e.want = slices.Delete(e.want, w, w+1)
		e.splice(p.start, p.end, "")
		return nil
	}
	e.want[w].Value = e.syntax.reads(f.Value)
	text, err := e.syntax.replace(string(e.text[p.value:p.end]), p.indent, old.Value, f.Value)
	if err != nil {
		return fmt.Errorf("%w: %q %w", ErrField, f.Key, err)
	}
	e.splice(p.value, p.end, text)
	return nil
}

// A place is where a property stands: its lines, without the blank lines and
// comments that follow it, and where its value does, the space before included.
type place struct {
	start, value, end int
	indent            string
}

func (e *fieldEdit) locate(i int) (place, error) {
	f := e.note.Fields[i]
	start := e.lineOffset(f.Line)
	end := e.matter.inner.End
	if i+1 < len(e.note.Fields) {
		end = e.lineOffset(e.note.Fields[i+1].Line)
	}
	line := string(e.text[start:lineEnd(e.text, start)])
	indent := line[:len(line)-len(strings.TrimLeft(line, " "))]
	value, ok := e.syntax.afterKey(line[len(indent):], f.Key)
	if end <= start || !ok {
		return place{}, fmt.Errorf("%w: line %d: property %q does not stand on lines of its own as \"%s%s\"", ErrFrontmatter, f.Line, f.Key, f.Key, e.syntax.assign)
	}
	return place{start, start + len(indent) + value, e.trimComments(start, end, len(indent)), indent}, nil
}

func (e *fieldEdit) lineOffset(line int) int {
	at := 0
	for ; line > 1 && at < len(e.text); line-- {
		at = lineEnd(e.text, at)
	}
	return at
}

// trimComments returns the end of the property in text[start:end] without the
// blank lines and comments, not indented, that follow it.
func (e *fieldEdit) trimComments(start, end, indent int) int {
	for end > start {
		at := lineStart(e.text, end-1)
		line := e.text[at:end]
		comment := len(line) > indent && line[indent] == '#' && blank(line[:indent])
		if at <= start || !comment && !blank(line) {
			break
		}
		end = at
	}
	return end
}

// add puts new properties behind the others.
func (e *fieldEdit) add(fields []Field) error {
	if len(fields) == 0 {
		return nil
	}
	at, indent := e.matter.inner.End, ""
	if last := e.lastTop(); last >= 0 {
		p, err := e.locate(last)
		if err != nil {
			return err
		}
		indent = p.indent
		if last+1 < len(e.note.Fields) {
			at = p.end
		}
	} else if len(e.note.Fields) > 0 {
		at = e.matter.inner.Start
	}
	var b strings.Builder
	for _, f := range fields {
		text, err := e.syntax.property(f, indent)
		if err != nil {
			return err
		}
		b.WriteString(text)
		e.want = append(e.want, Field{Key: f.Key, Value: e.syntax.reads(f.Value)})
	}
	e.splice(at, at, b.String())
	return nil
}

// lastTop returns the index of the last property before a table, -1 for none.
func (e *fieldEdit) lastTop() int {
	for i, f := range e.note.Fields {
		at := e.lineOffset(f.Line)
		if e.syntax == tomlSyntax && bytes.HasPrefix(bytes.TrimLeft(e.text[at:], " \t"), []byte{'['}) {
			return i - 1
		}
	}
	return len(e.note.Fields) - 1
}

// finish returns the edited source if it reads as it should.
func (e *fieldEdit) finish() ([]byte, error) {
	slices.SortStableFunc(e.splices, func(a, b splice) int { return a.start - b.start })
	out := e.bytes()
	after, err := openText(out)
	if err != nil {
		return nil, err
	}
	fields := after.note.Fields
	if err := after.note.readable(); err != nil {
		return nil, fmt.Errorf("%w (once edited)", err)
	}
	if !bytes.Equal(after.text[after.note.Body:], e.text[e.note.Body:]) || len(fields) != len(e.want) {
		return nil, fmt.Errorf("%w: the edit would touch what is around it", ErrFrontmatter)
	}
	for _, w := range e.want {
		i := slices.IndexFunc(fields, func(f Field) bool { return f.Key == w.Key })
		if i < 0 || !sameValue(fields[i].Value, w.Value) {
			return nil, fmt.Errorf("%w: property %q would not read as it should", ErrFrontmatter, w.Key)
		}
	}
	return out, nil
}

// sameValue reports whether a property of value got is what was set to want.
func sameValue(got, want any) bool {
	return reflect.DeepEqual(readBack(got), readBack(want))
}
