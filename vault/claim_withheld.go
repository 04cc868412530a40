package vault

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"kb/note"
)

// withheld reports whether a note says that it is not to be on a site.
func (c *claim) withheld() bool { return c != nil && c.Withheld }

var (
	plainlyTrue  = []string{"true", "yes", "on", "1", "y"}
	plainlyFalse = []string{"false", "no", "off", "0", "n"}
)

// withheld reports whether a note, as n was read of it, is not to be published: its
// properties say so, at whatever depth, or nobody can tell whether they do. text is
// its headText.
func withheld(n *note.Note, text string) bool {
	if unclear(n) {
		return true
	}
	oblique := false
	for _, f := range n.Fields {
		if withholds(f.Key, f.Value) || anyProperty(f.Value, withholds) {
			return true
		}
		oblique = oblique || namedObliquely(f.Key, f.Value) || anyProperty(f.Value, namedObliquely)
	}
	if !strings.Contains(text, "publish") && !strings.Contains(text, "draft") {
		return false
	}
	head := propertiesOf(text)
	if n.Body == 0 {
		return withheldInText(head) || misplaced(head)
	}
	return oblique || strings.Contains(head, "<<") && withheldInText(head)
}

// misplaced reports whether the head of a note withholds it where it is read as if it
// stood at the very start.
func misplaced(head string) bool {
	first, rest, _ := strings.Cut(head, "\n")
	if !strings.HasPrefix(first, "---") && !strings.HasPrefix(first, "+++") {
		return false
	}
	src := []byte(first[:3] + "\n" + rest + "\n" + first[:3] + "\n")
	n := note.Head(src)
	return n.Body > 0 && withheld(n, headText(src))
}

// withholds reports whether a property keeps a note from being published: what is
// not plainly to be published, or plainly no draft, does. An empty draft is what
// templates leave behind. Since published is a date or a press in many notes, it
// counts only where it is plainly false.
func withholds(key string, value any) bool {
	switch plainKey(key) {
	case "publish":
		return !allAre(value, plainlyTrue)
	case "draft":
		return value != nil && !allAre(value, plainlyFalse)
	case "published":
		return anyIs(value, plainlyFalse)
	}
	return false
}

// plainKey is the name of a property without what it may be written with: kb.draft,
// draft:: and the like name the draft.
func plainKey(key string) string {
	key = strings.ToLower(strings.Trim(key, ": \u00a0"))
	return key[strings.LastIndexByte(key, '.')+1:]
}

// allAre reports whether a value is one of the words, or a list of them.
func allAre(value any, words []string) bool {
	if list, ok := value.([]any); ok {
		return len(list) > 0 && !slices.ContainsFunc(list, func(v any) bool { return !allAre(v, words) })
	}
	return slices.Contains(words, strings.ToLower(strings.TrimSpace(fmt.Sprint(value))))
}

// anyIs reports whether a value is one of the words, or has one in it.
func anyIs(value any, words []string) bool {
	if list, ok := value.([]any); ok {
		return slices.ContainsFunc(list, func(v any) bool { return anyIs(v, words) })
	}
	return allAre(value, words) || anyProperty(value, func(_ string, v any) bool { return anyIs(v, words) })
}

// anyProperty reports whether yes holds of a property within a value, at any depth.
func anyProperty(value any, yes func(key string, value any) bool) bool {
	switch value := value.(type) {
	case []any:
		return slices.ContainsFunc(value, func(v any) bool { return anyProperty(v, yes) })
	case map[string]any:
		for key, v := range value {
			if yes(key, v) || anyProperty(v, yes) {
				return true
			}
		}
	}
	return false
}

// namedObliquely reports that a property has a name which YAML's anchors, aliases or
// tags stand for: it may be any.
func namedObliquely(key string, _ any) bool { return key != "" && strings.Contains("*&!", key[:1]) }

// unclear reports that a note has frontmatter that cannot be read, or that says
// something twice: it may say that it is not to be published.
func unclear(n *note.Note) bool {
	return slices.ContainsFunc(n.Problems, func(p note.Problem) bool {
		said := strings.ToLower(p.Message)
		return p.Code == "malformed_frontmatter" || p.Code == "duplicate_key" && (strings.Contains(said, "publish") || strings.Contains(said, "draft"))
	})
}

// withholdingLine is a property that may withhold a note, with its value, in YAML,
// TOML or JSON: at the beginning of a line, or within braces.
var withholdingLine = regexp.MustCompile(`(?m)(?:^|[{,])[\s{"'?-]*(?:[\pL\pN_-]+\.)*(publish|published|draft)["']?\s*[:=]+[ \t]*([^\n,}]*)`)

// withheldInText reports whether the head of a note, in lower case, withholds it
// though nobody read it as properties, or not all of it: it is of another format, below
// a blank line, or merged. Where no line begins properties, several words without
// quotes are a sentence.
func withheldInText(head string) bool {
	fenced := head != "" && strings.Contains("-+;", head[:1])
	for _, m := range withholdingLine.FindAllStringSubmatch(head, -1) {
		value, _, _ := strings.Cut(m[2], " #")
		sentence := !fenced && len(strings.Fields(value)) > 1 && !strings.ContainsAny(value[:1], `"'[`)
		if !sentence && withholds(m[1], strings.Trim(value, "\"'[] \t\r")) {
			return true
		}
	}
	return false
}
