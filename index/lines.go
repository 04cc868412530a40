package index

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"kb/note"
)

// ErrPattern says that a regular expression cannot be used.
var ErrPattern = errors.New("bad pattern")

const (
	maxPattern   = 1000 // bytes of a pattern
	maxLines     = 20   // lines of a hit that are returned; MatchCount counts all
	maxLineMarks = 50
	maxLineBytes = 400 // of a returned line: around the first match
)

// lineMatcher finds matches within a line. Next returns the first one at or
// after from, or nil.
type lineMatcher struct {
	literal []byte
	re      *regexp.Regexp
}

func newLineMatcher(q Query) (*lineMatcher, error) {
	if len(q.Text) > maxPattern {
		return nil, fmt.Errorf("%w: longer than %d bytes", ErrPattern, maxPattern)
	}
	if q.Mode == ModeLiteral {
		return &lineMatcher{literal: []byte(q.Text)}, nil
	}
	re, err := regexp.Compile(q.Text)
	if err != nil {
		return nil, fmt.Errorf("%w: %v", ErrPattern, strings.TrimPrefix(err.Error(), "error parsing regexp: "))
	}
	return &lineMatcher{re: re}, nil
}

// count returns how many lines of text match.
func (m *lineMatcher) count(text []byte) (n int) {
	m.lines(text, func(int, []byte) bool { n++; return true })
	return n
}

// lines calls fn for each matching line with its number, until fn returns false.
func (m *lineMatcher) lines(text []byte, fn func(number int, line []byte) bool) {
	number := 1
	for len(text) > 0 {
		if m.literal != nil {
			i := bytes.Index(text, m.literal)
			if i < 0 {
				return
			}
			skip := bytes.LastIndexByte(text[:i], '\n') + 1
			number += bytes.Count(text[:skip], []byte{'\n'})
			text = text[skip:]
		}
		line, rest, _ := bytes.Cut(text, []byte{'\n'})
		if m.literal != nil || m.re.Match(line) {
			if !fn(number, line) {
				return
			}
		}
		text = rest
		number++
	}
}

// marks returns the matches within a line.
func (m *lineMatcher) marks(line []byte) []note.Span {
	var out []note.Span
	if m.re != nil {
		for _, x := range m.re.FindAllIndex(line, maxLineMarks) {
			out = append(out, note.Span{Start: x[0], End: x[1]})
		}
		return out
	}
	for at := 0; len(out) < maxLineMarks; {
		i := bytes.Index(line[at:], m.literal)
		if i < 0 {
			break
		}
		out = append(out, note.Span{Start: at + i, End: at + i + len(m.literal)})
		at += i + len(m.literal)
	}
	return out
}

// searchLines finds lines that hold a string or match an expression. Notes with
// more such lines come first; their score is the number of lines.
func (v *View) searchLines(ctx context.Context, q Query) (*Result, error) {
	res := &Result{}
	if q.Text == "" || q.Mode == ModeLiteral && strings.ContainsRune(q.Text, '\n') {
		return res, nil
	}
	m, err := newLineMatcher(q)
	if err != nil {
		return nil, err
	}
	may, err := v.mayHold(ctx, q)
	if err != nil {
		return nil, err
	}
	best := topList{v: v, max: q.Offset + q.Max}
	for d := range v.docs {
		member := v.firstKept(int32(d), q.Keep)
		if member < 0 || may != nil && !may.has(int32(d)) {
			continue
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		t, err := v.text(int32(d))
		if err != nil {
			return nil, err
		}
		lines := float64(m.count(t.text))
		if score := v.raised(q, int32(d), lines); lines > 0 && score >= q.MinScore {
			res.Total++
			best.offer(found{doc: int32(d), member: member, score: score, words: lines})
		}
	}
	top := best.sorted()
	for _, f := range top[min(q.Offset, len(top)):] {
		h, err := v.lineHit(f, m, q)
		if err != nil {
			return nil, err
		}
		res.Hits = append(res.Hits, *h)
	}
	return res, nil
}

func (v *View) lineHit(f found, m *lineMatcher, q Query) (*Hit, error) {
	t, err := v.text(f.doc)
	if err != nil {
		return nil, err
	}
	h := &Hit{Member: int(f.member), Also: v.also(f, q.Keep), Score: f.score, MatchCount: int(f.words), Chunk: -1}
	m.lines(t.text, func(number int, line []byte) bool {
		h.Matches = append(h.Matches, showLine(number, line, m.marks(line)))
		return len(h.Matches) < maxLines
	})
	first := h.Matches[0]
	h.Excerpt, h.Marks, h.Lines = first.Text, first.Marks, [2]int{first.Number, first.Number}
	start, _ := note.Lines(t.text, first.Number, first.Number)
	h.Chunk = t.note.ChunkAt(start)
	if i := t.note.HeadingAt(start); i >= 0 && start >= t.note.Body {
		h.Heading, h.HeadingSlug = t.note.HeadingPath(i), t.note.Headings[i].Slug
	}
	return h, nil
}

// showLine returns a line, cut around its first match when long. Control
// characters become spaces, so that offsets stay.
func showLine(number int, line []byte, marks []note.Span) Line {
	from, to := 0, len(line)
	if len(line) > maxLineBytes {
		if len(marks) > 0 {
			from = max(0, marks[0].Start-maxLineBytes/4)
		}
		to = min(len(line), from+maxLineBytes)
		for from > 0 && !utf8.RuneStart(line[from]) {
			from--
		}
		for to < len(line) && !utf8.RuneStart(line[to]) {
			to--
		}
	}
	l := Line{Number: number, Text: visible(line[from:to])}
	for _, s := range marks {
		if s.Start >= from && s.Start < to {
			l.Marks = append(l.Marks, note.Span{Start: s.Start - from, End: min(s.End, to) - from})
		}
	}
	return l
}

// visible replaces each byte of a hidden character by a space.
func visible(line []byte) string {
	b := []byte(strings.ToValidUTF8(string(line), "?"))
	if len(b) != len(line) { // unreachable: notes' texts are UTF-8
		return string(b)
	}
	for i := 0; i < len(b); {
		r, n := utf8.DecodeRune(b[i:])
		if hidden(r) {
			for k := range n {
				b[i+k] = ' '
			}
		}
		i += n
	}
	return string(b)
}

// mayHold returns the notes that can hold a literal, by its inner words; nil is
// all of them. A word at the literal's edge may be part of a longer one. Only
// notes of which every character is indexed can be left out.
func (v *View) mayHold(ctx context.Context, q Query) (bitset, error) {
	if q.Mode != ModeLiteral {
		return nil, nil
	}
	words := v.innerWords(q.Text)
	if len(words) == 0 {
		return nil, nil
	}
	s := v.segs.scratches.Get().(*scratch)
	s.grow(len(v.docs), len(v.parts))
	e := &evaluation{scratch: s, v: v, ctx: ctx}
	defer func() {
		s.reset()
		v.segs.scratches.Put(s)
	}()
	may := newBitset(len(v.docs))
	for d := range v.docs {
		if !v.docs[d].plain {
			may.add(int32(d))
		}
	}
	rest := allOf(len(v.docs))
	for _, w := range words {
		if err := e.collect(&unit{terms: []string{w}, fields: fieldsOf(fieldBody)}); err != nil {
			return nil, err
		}
		has := newBitset(len(v.docs))
		for _, d := range e.touched {
			has.add(d)
		}
		rest.and(has)
	}
	may.or(rest)
	return may, nil
}

// bounded reports whether s[start:end] is a token in every text that holds s:
// what stands beside it in s separates words, or it is a pair of characters.
func bounded(s string, start, end int) bool {
	if start == 0 || end == len(s) {
		return false
	}
	if first, _ := utf8.DecodeRuneInString(s[start:]); classOf(first).dense() {
		return true
	}
	before, _ := utf8.DecodeLastRuneInString(s[:start])
	after, _ := utf8.DecodeRuneInString(s[end:])
	return classOf(before) == separator && classOf(after) == separator
}

// innerWords returns the terms of the words that a literal holds whole.
func (v *View) innerWords(literal string) []string {
	b := v.segs.builders.Get().(*builder)
	defer v.segs.builders.Put(b)
	b.an.begin()
	b.toks = b.an.tokens(b.toks[:0], []byte(literal))
	var words []string
	for _, t := range b.toks {
		if t.kind == mainToken && bounded(literal, int(t.start), int(t.end)) {
			words = append(words, t.term.text)
		}
	}
	return words
}
