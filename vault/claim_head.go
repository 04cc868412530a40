package vault

import (
	"regexp"
	"slices"
	"strings"
	"unicode"

	"kb/note"
)

// mostHead bounds what of a note may be its properties.
const mostHead = 256 << 10

var (
	// visibilityKey is the key in text that nobody could read as properties.
	visibilityKey = regexp.MustCompile(`(?:^|[^\pL\pN_-])visibility[\s"']*[:=]`)
	// anchored are YAML's anchors and aliases, which may stand for a key.
	anchored = regexp.MustCompile(`(?:^|[\s\[{,:?])[&*][\pL\pN_]`)
	// propertyLine is a line of properties.
	propertyLine = regexp.MustCompile(`^["']?\pL[\pL\pN_ .-]*["']?\s*(?::|=)`)
)

// unreadHead returns the head of a note, in lower case, where that mentions the
// visibility and n, which was read of it, does not name it: what stands in
// properties that are malformed or not at the very start, below another key, or in
// what one merges. Else it is "". text is the note's headText.
func unreadHead(n *note.Note, text string) string {
	named := slices.ContainsFunc(n.Fields, func(f note.Field) bool { return strings.EqualFold(f.Key, "visibility") })
	if named || !strings.Contains(text, "visibility") {
		return ""
	}
	malformed := slices.ContainsFunc(n.Problems, func(p note.Problem) bool { return p.Code == "malformed_frontmatter" })
	head := propertiesOf(text)
	switch {
	case malformed:
		return text
	case n.Body > 0:
		within := slices.ContainsFunc(n.Fields, func(f note.Field) bool { return anyProperty(f.Value, namesVisibility) })
		if within || strings.Contains(head, "visibility") && anchored.MatchString(head) {
			return head
		}
	case visibilityKey.MatchString(head):
		return head
	}
	return ""
}

// headText is what of a note may be its properties, in lower case.
func headText(src []byte) string {
	return strings.ToLower(strings.ReplaceAll(string(src[:min(len(src), mostHead)]), "\x00", ""))
}

// propertiesOf is the part of a text that looks like properties, though blank lines and
// what cannot be seen stand above: up to the line that closes it, else as far as
// there are lines of properties.
func propertiesOf(text string) string {
	text = strings.TrimLeftFunc(text, func(r rune) bool {
		return unicode.IsSpace(r) || unicode.In(r, unicode.Cf, unicode.Cc) || r == unicode.ReplacementChar
	})
	fence := ""
	for _, f := range []string{"---", "+++", ";;;"} {
		if strings.HasPrefix(text, f) {
			fence = f
		}
	}
	if strings.HasPrefix(text, "{") {
		fence = "}"
	}
	at := 0
	for line := range strings.Lines(text) {
		bare := strings.TrimSpace(line)
		closes := at > 0 && (bare == fence || fence == "---" && bare == "...")
		if fence != "" && closes || fence == "" && !propertyLine.MatchString(bare) {
			break
		}
		at += len(line)
	}
	return text[:at]
}

// namesVisibility reports whether a property is the visibility.
func namesVisibility(key string, _ any) bool { return strings.EqualFold(key, "visibility") }
