package note

import (
	"path"
	"strconv"
	"strings"
)

// Field returns the value of a property, whatever the case of key.
func (n *Note) Field(key string) (any, bool) {
	for i := range n.Fields {
		if strings.EqualFold(n.Fields[i].Key, key) {
			return n.Fields[i].Value, true
		}
	}
	return nil, false
}

// String returns a property as text: of a list its first element, of a map or
// a missing property "".
func (n *Note) String(key string) string {
	v, _ := n.Field(key)
	if all := scalars(v, nil); len(all) > 0 {
		return all[0]
	}
	return ""
}

// Strings returns a property as a list, flattened. A scalar is split at its
// commas, or where it has none at its spaces.
func (n *Note) Strings(key string) []string {
	v, _ := n.Field(key)
	if s, ok := v.(string); ok {
		return splitList(s)
	}
	return scalars(v, nil)
}

// Texts returns a property as a list, flattened. A scalar is one text.
func (n *Note) Texts(key string) []string {
	v, _ := n.Field(key)
	return scalars(v, nil)
}

func (n *Note) firstString(keys ...string) string {
	for _, key := range keys {
		if s := n.String(key); s != "" {
			return s
		}
	}
	return ""
}

// Status returns the property status as written.
func (n *Note) Status() string { return n.String("status") }

// Created returns the date of creation as written, or "".
func (n *Note) Created() string { return n.firstString("created", "date", "created_at") }

// Updated returns the date of the last change as written, or "".
func (n *Note) Updated() string { return n.firstString("updated", "modified", "last_modified") }

// Superseded returns the link text of the note that replaces this one:
// superseded_by without brackets and alias, or "".
func (n *Note) Superseded() string {
	s := strings.TrimSpace(n.firstString("superseded_by", "superseded-by"))
	if inner, ok := strings.CutPrefix(s, "[["); ok {
		s, _, _ = strings.Cut(inner, "]]")
		s, _, _ = strings.Cut(s, "|")
	}
	return strings.TrimSpace(s)
}

// Obsolete reports whether the note says that it no longer holds: status
// obsolete, superseded or deprecated, or a successor.
func (n *Note) Obsolete() bool {
	switch strings.ToLower(strings.TrimSpace(n.Status())) {
	case "obsolete", "superseded", "deprecated":
		return true
	}
	return n.Superseded() != ""
}

// TitleAt returns the title, or for a note without one the name of its file
// without the extension.
func (n *Note) TitleAt(file string) string {
	if n.Title != "" {
		return n.Title
	}
	name := path.Base(file)
	if stem := strings.TrimSuffix(name, path.Ext(name)); stem != "" {
		return stem
	}
	return name
}

// scalars appends the scalars of v, lists flattened, maps left out.
func scalars(v any, to []string) []string {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			to = scalars(e, to)
		}
	case string:
		if s := strings.TrimSpace(v); s != "" {
			to = append(to, s)
		}
	case bool:
		to = append(to, strconv.FormatBool(v))
	case int64:
		to = append(to, strconv.FormatInt(v, 10))
	case float64:
		to = append(to, formatFloat(v))
	}
	return to
}

func formatFloat(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

func splitList(s string) []string {
	if !strings.Contains(s, ",") {
		return strings.Fields(s)
	}
	return splitCommas(s)
}

func splitCommas(s string) []string {
	var list []string
	for e := range strings.SplitSeq(s, ",") {
		if e = strings.TrimSpace(e); e != "" {
			list = append(list, e)
		}
	}
	return list
}
