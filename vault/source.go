package vault

import (
	"fmt"
	"strings"

	"kb/note"
)

// sourceValues are the values of a note's property source or sources. A text is
// one value, whatever spaces and commas it has, unless it is a list of addresses.
func sourceValues(n *note.Note, key string) (out []string) {
	v, _ := n.Field(key)
	list, isList := v.([]any)
	if !isList {
		list = []any{v}
	}
	for _, item := range list {
		if s := strings.TrimSpace(fmt.Sprint(item)); item != nil && s != "" {
			out = append(out, addresses(s)...)
		}
	}
	return out
}

// addresses are the parts of a text with commas between if each is a URL or
// citation, else the text.
func addresses(s string) []string {
	parts := strings.Split(s, ", ")
	for i, p := range parts {
		if parts[i] = strings.TrimSpace(p); !strings.Contains(p, "://") {
			return []string{s}
		}
	}
	return parts
}
