package vault

import (
	"fmt"
	"strings"

	"kb/note"
)

// sourceValues are the values of a note's property source or sources. A text is
// one value, whatever spaces it has.
func sourceValues(n *note.Note, key string) (out []string) {
	v, _ := n.Field(key)
	list, isList := v.([]any)
	if !isList {
		list = []any{v}
	}
	for _, item := range list {
		if s := strings.TrimSpace(fmt.Sprint(item)); item != nil && s != "" {
			out = append(out, s)
		}
	}
	return out
}
