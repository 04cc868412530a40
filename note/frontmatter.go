package note

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"unicode"
)

// maxFrontmatter bounds the bytes that are read as properties.
const maxFrontmatter = 256 << 10

// A matter is the properties at the head of a text.
type matter struct {
	inner    Span // the properties themselves
	body     int  // where the body starts
	read     func(inner []byte, firstLine int) ([]Field, []Problem)
	line     int // number of inner's first line
	unusable *Problem
}

// frontmatter reads the properties at the head of text into n and sets n.Body.
// Properties that cannot be read stay text: Body is 0 then, and a Problem says
// why.
func (n *Note) frontmatter(text []byte) {
	m, ok := findMatter(text)
	if !ok {
		return
	}
	if m.unusable != nil {
		n.Problems = append(n.Problems, *m.unusable)
		return
	}
	fields, problems := m.read(text[m.inner.Start:m.inner.End], m.line)
	n.Problems = append(n.Problems, problems...)
	for _, p := range problems {
		if p.Code == malformedFrontmatter {
			return
		}
	}
	n.Body, n.Fields = m.body, fields
	n.Title = strings.TrimSpace(n.String("title"))
	n.Aliases = n.frontAliases()
	n.Tags = n.frontTags()
	n.Links = fieldLinks(text, m, fields)
}

// Codes of problems.
const (
	malformedFrontmatter = "malformed_frontmatter"
	duplicateKey         = "duplicate_key"
	malformedMarkup      = "malformed_markup"
	tooLarge             = "too_large"
	invalidUTF8          = "invalid_utf8"
	binaryData           = "binary"
)

func malformed(line int, format string, args ...any) *Problem {
	return &Problem{Code: malformedFrontmatter, Line: line, Message: fmt.Sprintf(format, args...)}
}

func findMatter(text []byte) (matter, bool) {
	first := bytes.TrimRight(text[:lineEnd(text, 0)], " \t\n")
	switch string(first) {
	case "---":
		return fenced(text, readYAML, "---", "...")
	case "+++":
		return fenced(text, readTOML, "+++")
	}
	return logseqMatter(text)
}

var propertyLine = regexp.MustCompile(`^["']?[\pL\pN_@$.-][^:=\n]*[:=]`)

// fenced finds properties between a first line and one of the closing lines.
// A rule of dashes that nothing like a property follows is no frontmatter.
func fenced(text []byte, read func([]byte, int) ([]Field, []Problem), closers ...string) (matter, bool) {
	start := lineEnd(text, 0)
	for at := start; at < len(text) && at <= start+maxFrontmatter; {
		end := lineEnd(text, at)
		line := string(bytes.TrimRight(text[at:end], " \t\n"))
		for _, c := range closers {
			if line == c {
				m := matter{inner: Span{start, at}, body: end, read: read, line: 2}
				return m, blank(text[start:at]) || looksLikeProperties(text[start:at])
			}
		}
		at = end
	}
	m := matter{unusable: malformed(1, "frontmatter is not closed by a line %s", closers[0])}
	if len(text)-start > maxFrontmatter {
		m.unusable = malformed(1, "frontmatter is not closed within %d KiB", maxFrontmatter>>10)
	}
	return m, looksLikeProperties(text[start:])
}

func looksLikeProperties(inner []byte) bool {
	for len(inner) > 0 {
		end := lineEnd(inner, 0)
		line := bytes.TrimLeft(inner[:min(end, 200)], " \t")
		if !blank(line) && line[0] != '#' {
			return propertyLine.Match(line) || line[0] == '[' || line[0] == '{' || line[0] == '?'
		}
		inner = inner[end:]
	}
	return true
}

// logseqMatter finds lines "key:: value" at the head of a text.
func logseqMatter(text []byte) (matter, bool) {
	at := 0
	for at < len(text) && at <= maxFrontmatter {
		end := lineEnd(text, at)
		if _, _, ok := logseqProperty(text[at:end]); !ok {
			break
		}
		at = end
	}
	return matter{inner: Span{0, at}, body: at, read: readLogseq, line: 1}, at > 0
}

func logseqProperty(line []byte) (key, value string, ok bool) {
	k, v, found := bytes.Cut(line, []byte("::"))
	if !found || len(k) == 0 || len(k) > 100 || len(v) > 0 && !strings.ContainsRune(" \t\n", rune(v[0])) {
		return "", "", false
	}
	for i, r := range string(k) {
		if !unicode.IsLetter(r) && (i == 0 || !unicode.IsNumber(r) && !unicode.IsMark(r) && !strings.ContainsRune("-_./", r)) {
			return "", "", false
		}
	}
	return string(k), string(bytes.TrimSpace(v)), true
}

func readLogseq(inner []byte, line int) (fields []Field, problems []Problem) {
	for ; len(inner) > 0; line++ {
		end := lineEnd(inner, 0)
		key, value, _ := logseqProperty(inner[:end])
		fields = append(fields, Field{Key: key, Value: scalar(value), Line: line})
		inner = inner[end:]
	}
	return uniqueFields(fields, nil)
}

// uniqueFields keeps the last of several fields with the same key, as YAML
// readers that allow them do, and reports each that it drops.
func uniqueFields(fields []Field, problems []Problem) ([]Field, []Problem) {
	last := make(map[string]int, len(fields))
	for i := range fields {
		last[fields[i].Key] = i
	}
	if len(last) == len(fields) {
		return fields, problems
	}
	kept := fields[:0:0]
	for i, f := range fields {
		if last[f.Key] == i {
			kept = append(kept, f)
			continue
		}
		problems = append(problems, Problem{Code: duplicateKey, Line: f.Line,
			Message: fmt.Sprintf("property %q is set again in line %d, which counts", f.Key, fields[last[f.Key]].Line)})
	}
	return kept, problems
}

func (n *Note) frontAliases() []string {
	var all []string
	for _, key := range []string{"alias", "aliases"} {
		if v, _ := n.Field(key); v != nil {
			if s, ok := v.(string); ok {
				all = append(all, splitCommas(s)...)
			} else {
				all = append(all, scalars(v, nil)...)
			}
		}
	}
	seen := make(map[string]bool, len(all))
	kept := all[:0]
	for _, a := range all {
		if a = unbracket(a); a != "" && !seen[a] {
			seen[a] = true
			kept = append(kept, a)
		}
	}
	return kept
}

func (n *Note) frontTags() []string {
	var set tagSet
	all := append(n.Strings("tags"), n.Strings("tag")...)
	if v, _ := n.Field("taxonomies"); v != nil { // where Zola has them
		if m, ok := v.(map[string]any); ok {
			all = scalars(m["tags"], all)
		}
	}
	for _, t := range all {
		if strings.HasPrefix(t, "#") && !strings.HasPrefix(t, "#[[") {
			for _, t := range strings.Fields(t) {
				set.add(t)
			}
			continue
		}
		set.add(unbracket(strings.TrimPrefix(t, "#")))
	}
	return set.tags
}

// unbracket returns the target of a [[wikilink]] that is all of s, else s.
func unbracket(s string) string {
	s = strings.TrimSpace(s)
	if inner, ok := strings.CutPrefix(s, "[["); ok {
		if inner, ok = strings.CutSuffix(inner, "]]"); ok && !strings.Contains(inner, "[[") {
			return strings.TrimSpace(inner)
		}
	}
	return s
}

// fieldLinks returns the wikilinks in the values of fields. A link that an
// escape hides from a search of the source stands at its property's line.
func fieldLinks(text []byte, m matter, fields []Field) []Link {
	var links []Link
	at, line := m.inner.Start, m.line
	for _, f := range fields {
		for line < f.Line && at < m.inner.End {
			at, line = lineEnd(text, at), line+1
		}
		from, end := at, lineEnd(text, at)
		for _, s := range valueStrings(f.Value, nil) {
			eachWikiLink(s, func(raw string, l Link) {
				l.Start, l.End = from, min(end, m.inner.End)
				if i := bytes.Index(text[from:m.inner.End], []byte(raw)); i >= 0 && len(links) < 1000 {
					l.Start, l.End = from+i, from+i+len(raw)
					from = l.End
				}
				l.Line = line + bytes.Count(text[at:l.Start], newline)
				links = append(links, l)
			})
		}
	}
	return links
}

// valueStrings appends every string within v, those of maps included.
func valueStrings(v any, to []string) []string {
	switch v := v.(type) {
	case string:
		to = append(to, v)
	case []any:
		for _, e := range v {
			to = valueStrings(e, to)
		}
	case map[string]any:
		for _, k := range sortedKeys(v) {
			to = valueStrings(v[k], to)
		}
	}
	return to
}

// eachWikiLink calls fn for each wikilink of plain text s.
func eachWikiLink(s string, fn func(raw string, l Link)) {
	for {
		i := strings.Index(s, "[[")
		if i < 0 {
			return
		}
		if i > 0 && s[i-1] == '!' {
			i--
		}
		s = s[i:]
		l, size, ok := wikiLink([]byte(s[:min(len(s), maxWikiLink)]))
		if !ok {
			s = s[1:]
			continue
		}
		fn(s[:size], l)
		s = s[size:]
	}
}
