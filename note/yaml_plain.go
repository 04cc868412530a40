package note

import "strings"

// plainProperty reads the YAML that nearly all frontmatter consists of: a line
// "key: scalar" or "key: [a, b]", or "key:" and lines "- scalar"; and no property
// at all from blank lines and comments. It reports false for anything else, which
// the YAML library then reads; where it reports true it gives what the library
// gives, some twenty times faster.
func plainProperty(source []byte, line int) (f Field, ok bool) {
	open := false // a list may follow
	indent := -1  // of its dashes
	for s := string(source); s != ""; line++ {
		l, rest, _ := strings.Cut(s, "\n")
		s = rest
		trimmed := strings.Trim(l, " ")
		if trimmed == "" || trimmed[0] == '#' {
			continue
		}
		if f.Key == "" {
			if f, open, ok = plainPair(strings.TrimRight(l, " "), line); !ok {
				return Field{}, false
			}
			continue
		}
		dash := strings.IndexByte(l, '-')
		item, isItem := strings.CutPrefix(trimmed, "- ")
		v, ok := plainScalar(strings.TrimLeft(item, " "))
		if !open || !isItem || !ok || indent >= 0 && indent != dash {
			return Field{}, false
		}
		indent = dash
		list, _ := f.Value.([]any)
		f.Value = append(list, v)
	}
	return f, true
}

// plainPair reads "key: value"; open says that there was no value.
func plainPair(l string, line int) (f Field, open, ok bool) {
	key, value, found := strings.Cut(l, ":")
	if !found || !plainKey(key) || value != "" && value[0] != ' ' {
		return f, false, false
	}
	value = strings.TrimLeft(value, " ")
	f = Field{Key: key, Line: line}
	if inside, isList := strings.CutPrefix(value, "["); isList {
		f.Value, ok = plainList(inside)
		return f, false, ok
	}
	f.Value, ok = plainScalar(value)
	return f, value == "", ok
}

func plainKey(key string) bool {
	if key == "" || !isASCIILetter(key[0]) {
		return false
	}
	for i := range len(key) {
		if c := key[i]; !isASCIIAlnum(c) && c != '_' && c != '-' && (c != ' ' || i == len(key)-1) {
			return false
		}
	}
	return true
}

// plainList reads "a, b]".
func plainList(s string) (any, bool) {
	s, ok := strings.CutSuffix(s, "]")
	if !ok || strings.ContainsAny(s, "[]{}:\"'#") {
		return nil, false
	}
	list := []any{}
	if strings.Trim(s, " ") == "" {
		return list, true
	}
	for e := range strings.SplitSeq(s, ",") {
		v, ok := plainScalar(strings.Trim(e, " "))
		if !ok || v == nil {
			return nil, false
		}
		list = append(list, v)
	}
	return list, true
}

// plainScalar reads a scalar that starts with a letter or digit and has nothing
// in it that YAML could take for syntax, a quoted one without escapes, or a
// placeholder.
func plainScalar(s string) (any, bool) {
	if s == "" {
		return nil, true
	}
	if c := s[0]; c == '"' || c == '\'' {
		inside, closed := strings.CutSuffix(s[1:], s[:1])
		if !closed || strings.IndexByte(inside, c) >= 0 || strings.ContainsAny(inside, "\\\t") {
			return nil, false
		}
		return inside, true
	}
	if isPlaceholder(s) {
		return s, true
	}
	if !isASCIIAlnum(s[0]) && s[0] < 0x80 || strings.Contains(s, ": ") || strings.Contains(s, " #") ||
		strings.ContainsAny(s, "\t\"{}[]&*!|>%@`\u00a0\u2028\u2029\u0085\ufeff\r") || s[len(s)-1] == ':' {
		return nil, false
	}
	return scalar(s), true
}

// isPlaceholder reports whether s is what a template leaves to be filled in:
// "{{date}}". No YAML reader makes anything of it.
func isPlaceholder(s string) bool {
	inside, ok := strings.CutPrefix(s, "{{")
	inside, closed := strings.CutSuffix(inside, "}}")
	return ok && closed && !strings.ContainsAny(inside, "{}\"'#,")
}

func isASCIILetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }
func isASCIIAlnum(c byte) bool  { return isASCIILetter(c) || '0' <= c && c <= '9' }
