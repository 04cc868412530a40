package vault

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"unicode"
)

// ConvertRON reads a kb-mcp configuration (collections.ron) and returns a
// kb.yaml for dir that has the same collections. Paths in it are relative to
// the RON file, and become relative to dir where they can.
func ConvertRON(file, dir string) (string, error) {
	src, err := os.ReadFile(file)
	if err != nil {
		return "", errorf(NotFound, "read %s: %w", file, err)
	}
	p := ronParser{src: string(src), line: 1}
	v, err := p.document()
	if err != nil {
		return "", errorf(Usage, "%s:%d: %w", file, p.line, err)
	}
	list, ok := v["collections"].([]any)
	if !ok || len(list) == 0 {
		return "", errorf(Usage, "%s: no collections", file).hint("(collections: [(name: \"docs\", path: \"docs\")])")
	}
	var cols []CollectionConfig
	for _, item := range list {
		m, _ := item.(map[string]any)
		c := CollectionConfig{Name: ronText(m["name"]), Description: ronText(m["description"])}
		c.Writable, _ = m["writable"].(bool)
		c.Path = relativeTo(dir, filepath.Dir(file), ronText(m["path"]))
		sections, _ := m["sections"].([]any)
		for _, s := range sections {
			sm, _ := s.(map[string]any)
			c.Sections = append(c.Sections, SectionConfig{Prefix: ronText(sm["prefix"]), Description: ronText(sm["description"])})
		}
		if c.Name == "" || c.Path == "" {
			return "", errorf(Usage, "%s: a collection without name or path", file)
		}
		cols = append(cols, c)
	}
	return configText(cols), nil
}

func ronText(v any) string {
	s, _ := v.(string)
	return s
}

// relativeTo rewrites a path that is relative to from, or starts with ~, for a
// file in dir.
func relativeTo(dir, from, path string) string {
	if path == "" || strings.HasPrefix(path, "~") || strings.HasPrefix(path, "$") {
		return path
	}
	abs, err := absolute(from, path)
	if err != nil {
		return path
	}
	base, err := filepath.Abs(dir)
	if err != nil {
		return abs
	}
	rel, err := filepath.Rel(base, abs)
	if err != nil {
		return abs
	}
	return filepath.ToSlash(rel)
}

// ronParser reads the part of Rusty Object Notation that configurations use:
// structs, maps, lists, strings, raw strings, numbers, booleans, options and
// comments. A struct becomes a map; Some(x) is x and None is nil.
type ronParser struct {
	src  string
	pos  int
	line int
}

const ronDepth = 32

func (p *ronParser) document() (map[string]any, error) {
	p.space()
	for strings.HasPrefix(p.src[p.pos:], "#!") { // #![enable(…)]
		for p.pos < len(p.src) && p.src[p.pos] != '\n' {
			p.pos++
		}
		p.space()
	}
	v, err := p.value(0)
	if err != nil {
		return nil, err
	}
	if p.space(); p.pos < len(p.src) {
		return nil, fmt.Errorf("unexpected %q after the value", p.src[p.pos])
	}
	m, ok := v.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("want a struct: (collections: […])")
	}
	return m, nil
}

// space skips white space and comments.
func (p *ronParser) space() {
	for p.pos < len(p.src) {
		rest := p.src[p.pos:]
		switch {
		case strings.HasPrefix(rest, "//"):
			if i := strings.IndexByte(rest, '\n'); i >= 0 {
				p.pos += i
			} else {
				p.pos = len(p.src)
			}
		case strings.HasPrefix(rest, "/*"):
			i := strings.Index(rest, "*/")
			if i < 0 {
				i = len(rest) - 2
			}
			p.line += strings.Count(rest[:i], "\n")
			p.pos += i + 2
		case rest[0] == '\n':
			p.line++
			p.pos++
		case unicode.IsSpace(rune(rest[0])):
			p.pos++
		default:
			return
		}
	}
}

func (p *ronParser) peek() byte {
	if p.pos < len(p.src) {
		return p.src[p.pos]
	}
	return 0
}

func (p *ronParser) value(depth int) (any, error) {
	if depth > ronDepth {
		return nil, fmt.Errorf("nested too deep")
	}
	p.space()
	switch c := p.peek(); {
	case c == '(':
		return p.items('(', ')', depth)
	case c == '{':
		return p.items('{', '}', depth)
	case c == '[':
		return p.items('[', ']', depth)
	case c == '"':
		return p.str()
	case c == 'r' && p.pos+1 < len(p.src) && (p.src[p.pos+1] == '"' || p.src[p.pos+1] == '#'):
		return p.rawString()
	case c == '-' || c == '+' || c >= '0' && c <= '9':
		return p.number()
	case c == '_' || unicode.IsLetter(rune(c)):
		return p.word(depth)
	}
	return nil, fmt.Errorf("want a value, found %q", p.peek())
}

// word is true, false, None, Some(x), or a named struct.
func (p *ronParser) word(depth int) (any, error) {
	name := p.name()
	switch name {
	case "true":
		return true, nil
	case "false":
		return false, nil
	case "None":
		return nil, nil
	}
	p.space()
	if p.peek() != '(' {
		return name, nil
	}
	v, err := p.items('(', ')', depth)
	if list, ok := v.([]any); ok && name == "Some" && len(list) == 1 {
		return list[0], err
	}
	return v, err
}

func (p *ronParser) name() string {
	start := p.pos
	for p.pos < len(p.src) && (p.src[p.pos] == '_' || p.src[p.pos] >= '0' && p.src[p.pos] <= '9' || unicode.IsLetter(rune(p.src[p.pos]))) {
		p.pos++
	}
	return p.src[start:p.pos]
}

// items reads what stands between open and end: a map when there are keys, else
// a list.
func (p *ronParser) items(open, end byte, depth int) (any, error) {
	p.pos++
	fields, list := map[string]any{}, []any{}
	for {
		p.space()
		if p.peek() == end {
			p.pos++
			if len(fields) > 0 || open == '{' {
				return fields, nil
			}
			return list, nil
		}
		v, err := p.value(depth + 1)
		if err != nil {
			return nil, err
		}
		p.space()
		if key, ok := v.(string); ok && p.peek() == ':' && open != '[' {
			p.pos++
			if v, err = p.value(depth + 1); err != nil {
				return nil, err
			}
			fields[key] = v
			p.space()
		} else {
			list = append(list, v)
		}
		switch p.peek() {
		case ',':
			p.pos++
		case end:
		default:
			return nil, fmt.Errorf("want , or %q, found %q", end, p.peek())
		}
	}
}

func (p *ronParser) str() (string, error) {
	for i := p.pos + 1; i < len(p.src); i++ {
		switch p.src[i] {
		case '\\':
			i++
		case '"':
			quoted := p.src[p.pos : i+1]
			p.line += strings.Count(quoted, "\n")
			p.pos = i + 1
			return strconv.Unquote(strings.ReplaceAll(quoted, "\n", `\n`))
		}
	}
	return "", fmt.Errorf("a string does not end")
}

func (p *ronParser) rawString() (string, error) {
	hashes := len(p.src[p.pos+1:]) - len(strings.TrimLeft(p.src[p.pos+1:], "#"))
	open := p.pos + 1 + hashes
	if open >= len(p.src) || p.src[open] != '"' {
		return "", fmt.Errorf("want a raw string")
	}
	closing := `"` + strings.Repeat("#", hashes)
	n := strings.Index(p.src[open+1:], closing)
	if n < 0 {
		return "", fmt.Errorf("a raw string does not end")
	}
	s := p.src[open+1 : open+1+n]
	p.line += strings.Count(s, "\n")
	p.pos = open + 1 + n + len(closing)
	return s, nil
}

func (p *ronParser) number() (any, error) {
	start := p.pos
	for p.pos < len(p.src) && strings.IndexByte("+-._eE0123456789", p.src[p.pos]) >= 0 {
		p.pos++
	}
	f, err := strconv.ParseFloat(strings.ReplaceAll(p.src[start:p.pos], "_", ""), 64)
	if err != nil {
		return nil, fmt.Errorf("%q is not a number", p.src[start:p.pos])
	}
	return f, nil
}
