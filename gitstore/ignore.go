package gitstore

import (
	"strings"
)

// pattern is one line of a .gitignore or .gitattributes file.
type pattern struct {
	text     string // without the leading and trailing slash
	base     string // directory of the file, "" or with a trailing slash
	anchored bool   // matches the path below base, not just the last name
	dirOnly  bool
	literal  int // how much of text is before the first wildcard
}

// ignoreRule is a pattern that ignores, or un-ignores.
type ignoreRule struct {
	pattern
	negated bool
}

// parseIgnore reads the patterns of an ignore file in the directory base.
func parseIgnore(base, text string) []ignoreRule {
	var rules []ignoreRule
	text = strings.TrimPrefix(text, "\ufeff")
	for line := range strings.SplitSeq(text, "\n") {
		line = trimIgnoreLine(line)
		if line == "" || line[0] == '#' {
			continue
		}
		r := ignoreRule{}
		line, r.negated = strings.CutPrefix(line, "!")
		r.pattern = newPattern(base, line)
		if r.text != "" {
			rules = append(rules, r)
		}
	}
	return rules
}

// trimIgnoreLine drops the line end and trailing spaces that are not escaped.
func trimIgnoreLine(line string) string {
	line = strings.TrimSuffix(line, "\r")
	trimmed := strings.TrimRight(line, " ")
	if len(trimmed) == len(line) {
		return line
	}
	slashes := len(trimmed) - len(strings.TrimRight(trimmed, `\`))
	if slashes%2 == 1 {
		trimmed += " "
	}
	return trimmed
}

func newPattern(base, line string) pattern {
	p := pattern{base: base}
	line, p.dirOnly = strings.CutSuffix(line, "/")
	p.anchored = strings.Contains(line, "/")
	p.text = strings.TrimPrefix(line, "/")
	if p.literal = strings.IndexAny(p.text, `*?[\`); p.literal < 0 {
		p.literal = len(p.text)
	}
	return p
}

// match reports whether the pattern matches a path from the repository's root.
func (p *pattern) match(path string, isDir bool) bool {
	if p.dirOnly && !isDir || !strings.HasPrefix(path, p.base) {
		return false
	}
	rest := path[len(p.base):]
	if !p.anchored {
		rest = rest[strings.LastIndexByte(rest, '/')+1:]
	}
	if p.literal == len(p.text) {
		return rest == p.text
	}
	// Like git, compare what comes before the first wildcard as it is. It shows in
	// that ** right after it counts as a component.
	if !p.anchored {
		return wildmatch(p.text, rest, false)
	}
	return strings.HasPrefix(rest, p.text[:p.literal]) && wildmatch(p.text[p.literal:], rest[p.literal:], true)
}

// ignored applies rules in order; the last that matches decides.
func ignored(rules []ignoreRule, path string, isDir bool) bool {
	for i := len(rules) - 1; i >= 0; i-- {
		if rules[i].match(path, isDir) {
			return !rules[i].negated
		}
	}
	return false
}
