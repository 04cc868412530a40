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

// withheld reports whether a note, as n was read of it, is not to be published: it
// says publish: false or draft: true, or nobody can tell whether it does.
func withheld(n *note.Note, src []byte) bool {
	return says(n, "publish", "false", "no", "off", "0") || says(n, "draft", "true", "yes", "on", "1") || unclear(n) || n.Body == 0 && saysAbove(src)
}

// says reports whether a property has one of the values, however it is written.
func says(n *note.Note, key string, values ...string) bool {
	for _, f := range n.Fields {
		if strings.EqualFold(f.Key, key) && slices.ContainsFunc(values, func(v string) bool {
			return strings.EqualFold(strings.TrimSpace(fmt.Sprint(f.Value)), v)
		}) {
			return true
		}
	}
	return false
}

// unclear reports that a note has frontmatter that cannot be read, or that says
// something twice: it may say that it is not to be published.
func unclear(n *note.Note) bool {
	return slices.ContainsFunc(n.Problems, func(p note.Problem) bool {
		return p.Code == "malformed_frontmatter" || p.Code == "duplicate_key" && (strings.Contains(p.Message, "publish") || strings.Contains(p.Message, "draft"))
	})
}

// withheldLine is a property that withholds a note, in YAML, TOML or JSON.
var withheldLine = regexp.MustCompile(`(?m)^[\s{"']*(?:publish["']?\s*[:=]+\s*["']?(?:false|no|off|0)|draft["']?\s*[:=]+\s*["']?(?:true|yes|on|1))[\s"',}]*(?:#.*)?$`)

// saysAbove reports whether what looks like properties of a note that has none, of
// another format or below a blank line, withholds it.
func saysAbove(src []byte) bool {
	head := strings.ToLower(strings.ReplaceAll(string(src[:min(len(src), mostHead)]), "\x00", ""))
	return withheldLine.MatchString(propertiesOf(head))
}
