package cas

import (
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"

	"kb/note"
)

// A note is stored as its fields in the order of [recorder.note], without their
// names: numbers as varints, texts and lists after their lengths, the value of a
// property after a byte that says what it is. All notes of a large vault are read
// for a list of them, so this is four times as fast to read as CBOR was.

var errRecord = errors.New("not the record of a note")

// maxDepth is how deep the value of a property may be.
const maxDepth = 1 << 16

// The kinds of values.
const (
	isNil byte = iota
	isFalse
	isTrue
	isInt
	isFloat
	isText
	isList
	isMap
)

// recorder writes or reads a record: each of its methods does what it was made for
// with the variable that it is given, so that both go through the fields once.
type recorder struct {
	out     []byte
	in      string // what is left of it
	reading bool
	err     error
}

func encodeNote(n *note.Note) ([]byte, error) {
	r := recorder{}
	r.note(n)
	return r.out, r.err
}

// decodeNote reads what encodeNote wrote. The note keeps body's memory.
func decodeNote(body string) (*note.Note, error) {
	r, n := recorder{in: body, reading: true}, new(note.Note)
	if r.note(n); r.in != "" {
		r.fail()
	}
	return n, r.err
}

func (r *recorder) note(n *note.Note) {
	r.text(&n.Title)
	r.texts(&n.Aliases)
	r.texts(&n.Tags)
	each(r, &n.Fields, func(f *note.Field) { r.text(&f.Key); r.value(&f.Value, 0); r.numbers(&f.Line) })
	each(r, &n.Headings, func(h *note.Heading) {
		r.text(&h.Text)
		r.text(&h.Slug)
		r.numbers(&h.Level, &h.Line, &h.Start, &h.End)
	})
	each(r, &n.Links, func(l *note.Link) {
		kind := int(l.Kind)
		r.numbers(&kind, &l.Line, &l.Start, &l.End)
		l.Kind = note.LinkKind(kind)
		r.flag(&l.Embed)
		r.text(&l.Target)
		r.text(&l.Fragment)
		r.text(&l.Text)
	})
	each(r, &n.Blocks, func(b *note.Block) { r.text(&b.ID); r.numbers(&b.Line, &b.Start, &b.End) })
	r.texts(&n.Anchors)
	each(r, &n.Chunks, func(c *note.Chunk) { r.numbers(&c.Start, &c.End, &c.Line, &c.EndLine, &c.Heading) })
	r.text(&n.Summary)
	r.numbers(&n.Words, &n.Body)
	each(r, &n.Skip, func(s *note.Span) { r.numbers(&s.Start, &s.End) })
	each(r, &n.Entities, func(e *note.Entity) { r.text(&e.Kind); r.text(&e.Name); r.numbers(&e.Count) })
	each(r, (*[]uint32)(&n.Sketch), r.word)
	each(r, &n.Problems, func(p *note.Problem) { r.text(&p.Code); r.numbers(&p.Line); r.text(&p.Message) })
	r.flag(&n.Binary)
}

// each is a list: its length, then what fn does of every element. An empty one is
// read as nil.
func each[T any](r *recorder, list *[]T, fn func(*T)) {
	n := len(*list)
	r.length(&n)
	if r.reading && n > 0 {
		*list = make([]T, n)
	}
	for i := range *list {
		if fn(&(*list)[i]); r.err != nil {
			return
		}
	}
}

func (r *recorder) texts(list *[]string) { each(r, list, r.text) }

// length of what follows. No element is shorter than a byte, so that one which
// cannot be is noticed before there is room for it.
func (r *recorder) length(n *int) {
	r.numbers(n)
	if r.reading && (*n < 0 || *n > len(r.in)) {
		r.fail()
		*n = 0
	}
}

func (r *recorder) text(s *string) {
	n := len(*s)
	r.length(&n)
	if !r.reading {
		r.out = append(r.out, *s...)
		return
	}
	*s, r.in = r.in[:n], r.in[n:]
}

func (r *recorder) numbers(numbers ...*int) {
	for _, n := range numbers {
		if !r.reading {
			r.out = binary.AppendVarint(r.out, int64(*n))
			continue
		}
		*n = int(r.readVarint())
	}
}

// readVarint reads what binary.AppendVarint wrote; of most it is one byte.
func (r *recorder) readVarint() int64 {
	var u uint64
	for i := range min(len(r.in), binary.MaxVarintLen64) {
		b := r.in[i]
		u |= uint64(b&0x7f) << (7 * i)
		if b < 0x80 {
			r.in = r.in[i+1:]
			return int64(u>>1) ^ -int64(u&1)
		}
	}
	r.fail()
	return 0
}

// fail ends reading.
func (r *recorder) fail() { r.err, r.in = errRecord, "" }

func (r *recorder) byte(b *byte) {
	switch {
	case !r.reading:
		r.out = append(r.out, *b)
	case r.in == "":
		r.fail()
	default:
		*b, r.in = r.in[0], r.in[1:]
	}
}

func (r *recorder) flag(f *bool) {
	var b byte
	if *f {
		b = 1
	}
	r.byte(&b)
	*f = b == 1
}

// word is a number all of whose bits are likely to be in use.
func (r *recorder) word(w *uint32) {
	if !r.reading {
		r.out = binary.LittleEndian.AppendUint32(r.out, *w)
		return
	}
	if len(r.in) < 4 {
		r.fail()
		return
	}
	*w, r.in = uint32(r.in[0])|uint32(r.in[1])<<8|uint32(r.in[2])<<16|uint32(r.in[3])<<24, r.in[4:]
}

// value is that of a property, or a part of one.
func (r *recorder) value(v *any, depth int) {
	if depth > maxDepth {
		r.err = fmt.Errorf("a property of more than %d levels", maxDepth)
		return
	}
	if r.reading {
		r.readValue(v, depth)
	} else {
		r.writeValue(*v, depth)
	}
}

func (r *recorder) writeValue(v any, depth int) {
	kind := func(k byte) { r.out = append(r.out, k) }
	switch v := v.(type) {
	case nil:
		kind(isNil)
	case bool:
		if v {
			kind(isTrue)
		} else {
			kind(isFalse)
		}
	case int64:
		kind(isInt)
		r.out = binary.AppendVarint(r.out, v)
	case float64:
		kind(isFloat)
		r.out = binary.LittleEndian.AppendUint64(r.out, math.Float64bits(v))
	case string:
		kind(isText)
		r.text(&v)
	case []any:
		kind(isList)
		each(r, &v, func(e *any) { r.value(e, depth+1) })
	case map[string]any:
		kind(isMap)
		keys := slices.Sorted(maps.Keys(v))
		each(r, &keys, func(k *string) { r.text(k); e := v[*k]; r.value(&e, depth+1) })
	default:
		r.err = fmt.Errorf("a property of type %T", v)
	}
}

func (r *recorder) readValue(v *any, depth int) {
	var kind byte
	switch r.byte(&kind); kind {
	case isNil:
	case isFalse, isTrue:
		*v = kind == isTrue
	case isInt:
		*v = r.readVarint()
	case isFloat:
		var low, high uint32
		r.word(&low)
		r.word(&high)
		*v = math.Float64frombits(uint64(high)<<32 | uint64(low))
	case isText:
		var s string
		r.text(&s)
		*v = s
	case isList:
		list := []any{}
		each(r, &list, func(e *any) { r.value(e, depth+1) })
		*v = list
	case isMap:
		*v = r.readMap(depth)
	default:
		r.fail()
	}
}

func (r *recorder) readMap(depth int) map[string]any {
	n := 0
	r.length(&n)
	m := make(map[string]any, n)
	for range n {
		var key string
		var value any
		r.text(&key)
		if r.value(&value, depth+1); r.err != nil {
			break
		}
		m[key] = value
	}
	return m
}
