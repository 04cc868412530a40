package gitstore

import (
	"fmt"
	"strings"
)

// setting is one key of a configuration file. Section and key are in lower
// case; a key without a value has "true".
type setting struct {
	section, sub, key, value string
}

// name is "section.key" for a setting without a subsection, else "".
func (s *setting) name() string {
	if s.sub != "" {
		return ""
	}
	return s.section + "." + s.key
}

// parseSettings reads a git configuration file, in order. Includes are settings
// like any other.
func parseSettings(text string) ([]setting, error) {
	p := settingsParser{rest: strings.TrimPrefix(text, "\ufeff"), line: 1}
	var list []setting
	var at setting // the section
	for {
		p.skipBlank()
		switch {
		case p.rest == "":
			return list, nil
		case p.rest[0] == '[':
			if !p.header(&at) {
				return nil, fmt.Errorf("line %d: bad section header", p.line)
			}
		default:
			s := at
			if !p.setting(&s) {
				return nil, fmt.Errorf("line %d: bad setting", p.line)
			}
			list = append(list, s)
		}
	}
}

// settingsParser takes a file apart from its beginning.
type settingsParser struct {
	rest string
	line int
}

// skipBlank passes over white space, line ends and comments.
func (p *settingsParser) skipBlank() {
	for p.rest != "" {
		switch c := p.rest[0]; c {
		case '\n':
			p.line++
			fallthrough
		case ' ', '\t', '\r':
			p.rest = p.rest[1:]
		case '#', ';':
			p.rest = p.rest[len(p.upTo("\n")):]
		default:
			return
		}
	}
}

// upTo returns what is before the first of the given characters, or all.
func (p *settingsParser) upTo(chars string) string {
	if i := strings.IndexAny(p.rest, chars); i >= 0 {
		return p.rest[:i]
	}
	return p.rest
}

// header reads [section], [section "sub"] or the old [section.sub].
func (p *settingsParser) header(at *setting) bool {
	p.rest = p.rest[1:]
	name := p.upTo("] \t\n\"")
	p.rest = strings.TrimLeft(p.rest[len(name):], " \t")
	section, sub, _ := strings.Cut(strings.ToLower(name), ".")
	if strings.HasPrefix(p.rest, "\"") {
		var ok bool
		if sub, ok = p.quoted(); !ok {
			return false
		}
	}
	*at = setting{section: section, sub: sub}
	var closed bool
	p.rest, closed = strings.CutPrefix(p.rest, "]")
	return closed && section != ""
}

// quoted reads the name of a subsection, in which a backslash stands for the
// character after it.
func (p *settingsParser) quoted() (string, bool) {
	var sub strings.Builder
	for i := 1; i < len(p.rest); i++ {
		switch c := p.rest[i]; {
		case c == '"':
			p.rest = p.rest[i+1:]
			return sub.String(), true
		case c == '\n':
			return "", false
		case c == '\\' && i+1 < len(p.rest) && p.rest[i+1] != '\n':
			i++
			sub.WriteByte(p.rest[i])
		default:
			sub.WriteByte(c)
		}
	}
	return "", false
}

// setting reads "key = value" or "key".
func (p *settingsParser) setting(s *setting) bool {
	key := p.upTo("= \t\r\n#;")
	p.rest = strings.TrimLeft(p.rest[len(key):], " \t")
	s.key, s.value = strings.ToLower(key), "true"
	if !isTrailerKey(key) {
		return false
	}
	if rest, ok := strings.CutPrefix(p.rest, "="); ok {
		p.rest = strings.TrimLeft(rest, " \t")
		s.value, ok = p.value()
		return ok
	}
	return p.rest == "" || strings.ContainsAny(p.rest[:1], "\r\n#;")
}

// value reads up to the end of the line, which a backslash may continue.
func (p *settingsParser) value() (string, bool) {
	var v strings.Builder
	quoted, kept := false, 0 // how much of v is not trailing space
	for i := 0; i < len(p.rest); i++ {
		c := p.rest[i]
		switch {
		case c == '\n' || !quoted && (c == '#' || c == ';'):
			p.rest = p.rest[i:]
			return v.String()[:kept], !quoted
		case c == '"':
			quoted = !quoted
			kept = v.Len()
		case c == '\\':
			i++
			if !p.escape(&v, i) {
				return "", false
			}
			if i < len(p.rest) && p.rest[i] == '\r' {
				i++ // of a continued line
			}
			kept = v.Len()
		default:
			v.WriteByte(c)
			if quoted || c != ' ' && c != '\t' && c != '\r' {
				kept = v.Len()
			}
		}
	}
	p.rest = ""
	return v.String()[:kept], !quoted
}

// escape writes what a backslash before position i stands for.
func (p *settingsParser) escape(v *strings.Builder, i int) bool {
	rest := p.rest[min(i, len(p.rest)):]
	switch {
	case strings.HasPrefix(rest, "\n"), strings.HasPrefix(rest, "\r\n"):
		p.line++
	case rest == "" || !strings.ContainsAny(rest[:1], `"\\ntb`):
		return false
	default:
		v.WriteByte(strings.NewReplacer("n", "\n", "t", "\t", "b", "\b").Replace(rest[:1])[0])
	}
	return true
}
