package note

import (
	"strings"
)

// afterKey returns the offset in line after the property's name and what
// assigns to it; false if line does not start with them.
func (y *syntax) afterKey(line, key string) (int, bool) {
	at := len(key)
	switch {
	case strings.HasPrefix(line, key):
	case len(line) > 0 && (line[0] == '"' || line[0] == '\''):
		if at = quotedEnd(line); at == 0 || line[1:at-1] != key {
			return 0, false
		}
	default:
		return 0, false
	}
	rest := strings.TrimLeft(line[at:], " \t")
	rest, ok := strings.CutPrefix(rest, y.assign)
	if !ok || y != tomlSyntax && rest != "" && !strings.ContainsRune(" \t\n", rune(rest[0])) {
		return 0, false
	}
	return len(line) - len(rest), true
}

// quotedEnd returns the length of the quoted string that s starts with, 0 if it
// does not end.
func quotedEnd(s string) int {
	quote := s[0]
	for i := 1; i < len(s); i++ {
		switch {
		case s[i] == '\\' && quote == '"':
			i++
		case s[i] == quote && quote == '\'' && strings.HasPrefix(s[i+1:], "'"):
			i++
		case s[i] == quote:
			return i + 1
		}
	}
	return 0
}

// replace returns source, what follows a property's name to the end of its
// lines, with the new value in the place of the old.
func (y *syntax) replace(source, indent string, old, value any) (string, error) {
	first, rest, _ := strings.Cut(source, "\n")
	space, shown, comment := y.split(first)
	if space == "" {
		space = " "
	}
	oldList, wasList := asList(old)
	list, isList := asList(value)
	if isList && len(list) > 0 && y.lists && (shown == "" || !wasList && old == nil) {
		items, err := y.items(rest, indent, oldList, list)
		return comment + "\n" + items, err
	}
	if wasList && isList && rest == "" && strings.HasPrefix(shown, "[") {
		text, err := y.flow(shown, list)
		return space + text + comment + "\n", err
	}
	if rest != "" && shown != "" {
		comment = ""
	}
	text, err := y.value(shown, value)
	return space + text + comment + "\n", err
}

// value returns a value in one line, in the style of the one shown.
func (y *syntax) value(shown string, value any) (string, error) {
	s, ok := value.(string)
	if !ok || shown == "" {
		return y.inline(value, 0)
	}
	if _, isDate := ParseDate(s); isDate && y == yamlSyntax && bareDate(s) && bareDate(shown) {
		return s, nil
	}
	if shown[0] == '"' || shown[0] == '\'' {
		return y.inline(value, shown[0])
	}
	return y.inline(value, 0)
}

// bareDate reports whether s has only what dates have, so that it is no other
// syntax.
func bareDate(s string) bool {
	if _, ok := ParseDate(s); !ok {
		return false
	}
	return strings.Count(s, "-") == 2 && strings.Trim(s, "0123456789-:.TZ+") == "" && !strings.HasSuffix(s, ":")
}

// split takes the rest of a property's first line apart: the space before its
// value, the value, and the comment behind it with the space before.
func (y *syntax) split(line string) (space, shown, comment string) {
	shown = strings.TrimLeft(line, " \t")
	space = line[:len(line)-len(shown)]
	if y == logseqSyntax {
		return space, strings.TrimRight(shown, " \t"), ""
	}
	if strings.HasPrefix(shown, "#") {
		return " ", "", space + shown
	}
	end := y.commentStart(shown)
	shown, comment = shown[:end], shown[end:]
	trimmed := strings.TrimRight(shown, " \t")
	return space, trimmed, shown[len(trimmed):] + comment
}

// commentStart returns where in a value's first line a comment starts, the
// length of the line if there is none.
func (y *syntax) commentStart(s string) int {
	for i := 0; i < len(s); i++ {
		c := s[i]
		starts := i == 0 || strings.IndexByte(" \t[{,:=", s[i-1]) >= 0
		switch {
		case c == '#' && (i > 0 && (s[i-1] == ' ' || s[i-1] == '\t') || y == tomlSyntax):
			return i
		case (c == '"' || c == '\'') && starts:
			size := quotedEnd(s[i:])
			if size == 0 {
				return len(s)
			}
			i += size - 1
		}
	}
	return len(s)
}

// items returns the lines of a list, keeping those of the items that stay and
// the comments between them.
func (y *syntax) items(source, indent string, old, list []any) (string, error) {
	lines, mark := y.itemLines(source, old)
	if mark == "" {
		mark = indent + "  - "
	}
	var b strings.Builder
	used := 0
	for _, e := range list {
		if i := findItem(lines, e); i >= 0 {
			b.WriteString(lines[i].lead + lines[i].text)
			lines[i].lead, lines[i].used = "", true
			used = max(used, i+1)
			continue
		}
		text, err := y.inline(e, 0)
		if err != nil {
			return "", err
		}
		b.WriteString(mark + text + "\n")
	}
	for _, l := range lines {
		b.WriteString(l.lead)
	}
	return b.String(), nil
}

// An itemLine is an item of a list, with the comments above it.
type itemLine struct {
	lead, text string
	value      any
	used       bool
}

func findItem(lines []itemLine, value any) int {
	for i, l := range lines {
		if !l.used && l.text != "" && sameValue(l.value, value) {
			return i
		}
	}
	return -1
}

// itemLines returns the lines of a list whose items are a line each, and what
// stands before an item's value; nothing for any other source. The last line
// is only a lead.
func (y *syntax) itemLines(source string, old []any) (lines []itemLine, mark string) {
	next := itemLine{}
	for line := range strings.Lines(source) {
		trimmed := strings.TrimLeft(line, " ")
		item, ok := strings.CutPrefix(trimmed, "- ")
		switch {
		case strings.TrimSpace(line) == "" || trimmed[0] == '#':
			next.lead += line
			continue
		case !ok || len(lines) == len(old):
			return nil, ""
		case mark == "":
			mark = line[:len(line)-len(strings.TrimLeft(item, " "))]
		}
		next.text, next.value = line, old[len(lines)]
		lines = append(lines, next)
		next = itemLine{}
	}
	if len(lines) != len(old) {
		return nil, ""
	}
	return append(lines, next), mark
}

// flow returns a list in brackets, with the items that shown has as they are.
func (y *syntax) flow(shown string, list []any) (string, error) {
	sources := map[string]string{}
	if inside, ok := strings.CutSuffix(shown[1:], "]"); ok && !strings.ContainsAny(inside, "[]{}\"'#&*!\\") {
		for item := range strings.SplitSeq(inside, ",") {
			item = strings.TrimSpace(item)
			sources[item] = item
		}
	}
	items := make([]string, len(list))
	for i, e := range list {
		text, err := y.inline(e, 0)
		if err != nil {
			return "", err
		}
		if s, ok := e.(string); ok && y == yamlSyntax && sources[s] != "" && scalar(s) == any(s) {
			text = s
		}
		items[i] = text
	}
	return "[" + strings.Join(items, ", ") + "]", nil
}
