package note

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// A syntax is a way to write properties.
type syntax struct {
	name   string
	assign string                        // between a name and its value
	key    func(key string) string       // a name as it is written
	text   func(s string, q byte) string // a string as it is written; q is the quote that it had, 0 for none
	pair   string                        // between a name and its value within braces
	lists  bool                          // lists are written as lines "- item"
}

var yamlSyntax = &syntax{name: "YAML", assign: ":", key: yamlKey, text: yamlText, pair: ": ", lists: true}
var tomlSyntax = &syntax{name: "TOML", assign: "=", key: tomlKeyText, text: tomlText, pair: " = "}
var logseqSyntax = &syntax{name: "Logseq", assign: "::", key: strings.ToLower, text: logseqText}

func syntaxOf(text []byte) *syntax {
	switch {
	case strings.HasPrefix(string(text[:min(3, len(text))]), "---"):
		return yamlSyntax
	case strings.HasPrefix(string(text[:min(3, len(text))]), "+++"):
		return tomlSyntax
	}
	return logseqSyntax
}

// property returns the lines of a new property.
func (y *syntax) property(f Field, indent string) (string, error) {
	value, err := y.lines(f.Value, indent)
	if err != nil {
		return "", fmt.Errorf("%w: %q %w", ErrField, f.Key, err)
	}
	space := ""
	if y == tomlSyntax {
		space = " "
	}
	return indent + y.key(f.Key) + space + y.assign + value + "\n", nil
}

// lines returns what follows the name of a new property.
func (y *syntax) lines(v any, indent string) (string, error) {
	list, ok := asList(v)
	if !ok || len(list) == 0 || !y.lists {
		value, err := y.inline(v, 0)
		return " " + value, err
	}
	var b strings.Builder
	for _, e := range list {
		value, err := y.inline(e, 0)
		if err != nil {
			return "", err
		}
		b.WriteString("\n" + indent + "  - " + value)
	}
	return b.String(), nil
}

// inline returns a value in one line.
func (y *syntax) inline(v any, quote byte) (string, error) {
	switch v := v.(type) {
	case nil:
		if y == yamlSyntax {
			return "null", nil
		}
		return "", fmt.Errorf("is empty, which %s cannot say", y.name)
	case string:
		if y == logseqSyntax && (strings.ContainsAny(v, "\n\r") || v != strings.TrimSpace(v) || v == "") {
			return "", fmt.Errorf("is text that Logseq cannot hold")
		}
		return y.text(v, quote), nil
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return "", fmt.Errorf("is no number")
		}
		return formatFloat(v), nil
	case time.Time:
		return formatTime(v), nil
	case bool, int, int64:
		return fmt.Sprint(v), nil
	case map[string]any:
		return y.braces(v)
	}
	if list, ok := asList(v); ok {
		return y.brackets(list)
	}
	return "", fmt.Errorf("is a %T", v)
}

// reads returns what a value reads back as: Logseq has no lists, and no quotes
// that would keep a number from being one.
func (y *syntax) reads(v any) any {
	if y == logseqSyntax {
		if s, err := y.inline(v, 0); err == nil {
			return scalar(s)
		}
	}
	return v
}

func (y *syntax) brackets(list []any) (string, error) {
	items := make([]string, len(list))
	for i, e := range list {
		var err error
		if items[i], err = y.inline(e, 0); err != nil {
			return "", err
		}
		if y == logseqSyntax && strings.Contains(items[i], ",") {
			return "", fmt.Errorf("is a list whose items have commas")
		}
	}
	if y == logseqSyntax {
		return strings.Join(items, ", "), nil
	}
	return "[" + strings.Join(items, ", ") + "]", nil
}

func (y *syntax) braces(m map[string]any) (string, error) {
	if y == logseqSyntax {
		return "", fmt.Errorf("is a map, which Logseq has not")
	}
	var pairs []string
	for _, k := range sortedKeys(m) {
		if err := checkKey(k); err != nil {
			return "", err
		}
		value, err := y.inline(m[k], 0)
		if err != nil {
			return "", err
		}
		pairs = append(pairs, y.key(k)+y.pair+value)
	}
	return "{" + strings.Join(pairs, ", ") + "}", nil
}

func formatTime(t time.Time) string {
	if t.Equal(t.Truncate(24*time.Hour)) && t.Location() == time.UTC {
		return t.Format(time.DateOnly)
	}
	return t.Format(time.RFC3339)
}

// asList returns v as a list, if it is one.
func asList(v any) ([]any, bool) {
	switch v := v.(type) {
	case []any:
		return v, true
	case []string:
		list := make([]any, len(v))
		for i, s := range v {
			list[i] = s
		}
		return list, true
	}
	return nil, false
}

// readBack returns the value that the reader has for one that was written.
func readBack(v any) any {
	if list, ok := asList(v); ok {
		out := make([]any, len(list))
		for i := range list {
			out[i] = readBack(list[i])
		}
		return out
	}
	switch v := v.(type) {
	case int:
		return int64(v)
	case float64:
		return scalar(formatFloat(v))
	case time.Time:
		return formatTime(v)
	case string:
		return strings.ToValidUTF8(v, "\uFFFD")
	case map[string]any:
		out := make(map[string]any, len(v))
		for k := range v {
			out[k] = readBack(v[k])
		}
		return out
	}
	return v
}

// reserved are the words that some reader of YAML takes for something else.
var reserved = map[string]bool{"y": true, "n": true, "yes": true, "no": true, "on": true, "off": true, "true": true, "false": true, "null": true}

// plainYAML reports whether s stays the same string without quotes, in every
// reader and within brackets too.
func plainYAML(s string) bool {
	if s == "" || reserved[strings.ToLower(s)] || strings.HasSuffix(s, " ") {
		return false
	}
	for i, r := range s {
		switch {
		case unicode.IsLetter(r):
		case i == 0:
			return false
		case unicode.IsMark(r) || unicode.IsDigit(r) || strings.ContainsRune(" _-./+()'", r):
		case r == ':' && strings.HasPrefix(s[i:], "://"):
		default:
			return false
		}
	}
	return true
}

func yamlKey(key string) string {
	if plainYAML(key) {
		return key
	}
	return yamlQuote(key)
}

// yamlText returns a string plain if it may be and was, else in the quotes that
// it had, else in double ones.
func yamlText(s string, quote byte) string {
	switch {
	case quote == '\'' && !strings.ContainsFunc(s, mustEscape) && s != "":
		return "'" + strings.ReplaceAll(s, "'", "''") + "'"
	case quote == 0 && plainYAML(s):
		return s
	}
	return yamlQuote(s)
}

func mustEscape(r rune) bool { return !unicode.IsPrint(r) }

func yamlQuote(s string) string { return quoteEscaped(s, `\x%02x`) }

// quoteEscaped returns s in double quotes, with escapes that YAML and TOML
// share but for that of control characters.
func quoteEscaped(s, control string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range strings.ToValidUTF8(s, "\uFFFD") {
		switch {
		case r == '"' || r == '\\':
			b.WriteRune('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case r == '\r':
			b.WriteString(`\r`)
		case !mustEscape(r):
			b.WriteRune(r)
		case r < 0x80:
			fmt.Fprintf(&b, control, r)
		case r > 0xffff:
			fmt.Fprintf(&b, `\U%08x`, r)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

func tomlText(s string, quote byte) string {
	if quote == '\'' && !strings.ContainsFunc(s, mustEscape) && !strings.Contains(s, "'") {
		return "'" + s + "'"
	}
	return quoteEscaped(s, `\u%04x`)
}

var bareKey = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)

func tomlKeyText(key string) string {
	if bareKey.MatchString(key) {
		return key
	}
	return strconv.Quote(key)
}

func logseqText(s string, _ byte) string { return s }
