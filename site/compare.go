package site

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"kb/internal/diff"
)

// Comparison says what a page that [Compare] makes leads to.
type Comparison struct {
	Draft     string // its name
	List      string // URL of all that it changes
	Published string // URL of the page as it is published; "" for a new one
}

// Compare returns the page of a note with what differs from the page that it had
// before: blocks that are new in it are marked as inserted, those that it had are
// shown as deleted. before is nil for a new note.
func Compare(before, after []byte, c Comparison) ([]byte, error) {
	now, err := html.Parse(bytes.NewReader(after))
	if err != nil {
		return nil, err
	}
	main := find(now, func(n *html.Node) bool { return n.DataAtom == atom.Main })
	if main == nil {
		return nil, errors.New("a page without a text")
	}
	m := comparison{}
	if before != nil {
		old, err := html.Parse(bytes.NewReader(before))
		if err != nil {
			return nil, err
		}
		for _, class := range []string{"head", "body"} {
			a, b := find(old, hasClass(class)), find(now, hasClass(class))
			if a == nil || b == nil {
				continue
			}
			if err := m.children(a, b); err != nil {
				return nil, err
			}
		}
	}
	main.InsertBefore(m.bar(c, before == nil), main.FirstChild)
	var out bytes.Buffer
	err = html.Render(&out, now)
	return out.Bytes(), err
}

// comparison marks what differs, and counts it.
type comparison struct{ inserted, deleted int }

// children compares what is in two elements.
func (m *comparison) children(old, now *html.Node) error {
	a, b := blocks(old), blocks(now)
	numbers := diff.Numbers{}
	before, err := numbered(numbers, a)
	if err != nil {
		return err
	}
	after, err := numbered(numbers, b)
	if err != nil {
		return err
	}
	from := diff.Change{} // where the equal stretch before a change begins
	for _, c := range append(diff.Sequences(before, after), diff.Change{A: len(a), B: len(b)}) {
		for i, j := from.A, from.B; i < c.A; i, j = i+1, j+1 {
			if isList(a[i]) {
				if err := m.children(a[i], b[j]); err != nil {
					return err
				}
			}
		}
		var next *html.Node
		if c.B < len(b) {
			next = b[c.B]
		}
		m.replace(now, next, a[c.A:c.A+c.NA], b[c.B:c.B+c.NB])
		from = diff.Change{A: c.A + c.NA, B: c.B + c.NB}
	}
	return nil
}

// replace marks blocks as inserted, and shows before next, or at the end, those
// that are deleted.
func (m *comparison) replace(in, next *html.Node, old, now []*html.Node) {
	for _, n := range old {
		gone := copyOf(n)
		in.InsertBefore(gone, next)
		mark(gone, atom.Del)
		m.deleted++
	}
	for _, n := range now {
		mark(n, atom.Ins)
		m.inserted++
	}
}

func isList(n *html.Node) bool { return n.DataAtom == atom.Ul || n.DataAtom == atom.Ol }

// blocks are the children of an element that are more than white space. When a
// page was last changed is none of its text.
func blocks(n *html.Node) (out []*html.Node) {
	for c := range n.ChildNodes() {
		if c.Type == html.ElementNode && !hasClass("about")(c) || c.Type == html.TextNode && strings.TrimSpace(c.Data) != "" {
			out = append(out, c)
		}
	}
	return out
}

// numbered gives equal blocks equal numbers. Lists that begin alike are equal: what
// differs in them is marked item by item.
func numbered(numbers diff.Numbers, nodes []*html.Node) ([]int, error) {
	texts := make([][]byte, len(nodes))
	for i, n := range nodes {
		var b bytes.Buffer
		if first := blocks(n); isList(n) && len(first) > 0 {
			b.WriteString(n.Data)
			n = first[0]
		}
		if err := html.Render(&b, n); err != nil {
			return nil, err
		}
		texts[i] = b.Bytes()
	}
	return numbers.Of(texts), nil
}

// mark puts a block in an element that says what became of it; what is in an item
// of a list, since in a list only items can be.
func mark(n *html.Node, as atom.Atom) {
	sign := element(as, "class", "edit")
	if n.DataAtom == atom.Li {
		for n.FirstChild != nil {
			c := n.FirstChild
			n.RemoveChild(c)
			sign.AppendChild(c)
		}
		n.AppendChild(sign)
		return
	}
	n.Parent.InsertBefore(sign, n)
	n.Parent.RemoveChild(n)
	sign.AppendChild(n)
}

// copyOf is an element with all that is in it, without the names by which others
// refer to it.
func copyOf(n *html.Node) *html.Node {
	out := &html.Node{Type: n.Type, DataAtom: n.DataAtom, Data: n.Data, Namespace: n.Namespace, Attr: slices.DeleteFunc(slices.Clone(n.Attr), func(a html.Attribute) bool {
		return a.Key == "id"
	})}
	for c := range n.ChildNodes() {
		out.AppendChild(copyOf(c))
	}
	return out
}

// bar says above the text what the page is.
func (m *comparison) bar(c Comparison, isNew bool) *html.Node {
	bar := element(atom.P, "class", "notice", "role", "note")
	counts := fmt.Sprintf("%s inserted, %d deleted.", plural(m.inserted, "block"), m.deleted)
	if isNew {
		counts = "A new note."
	} else if m.inserted+m.deleted == 0 {
		counts = "The text is as it was."
	}
	bar.AppendChild(text("Draft " + c.Draft + ". " + counts + " "))
	for _, l := range []link{{c.List, "All changes"}, {c.Published, "As published"}} {
		if l.URL == "" {
			continue
		}
		a := element(atom.A, "href", l.URL)
		a.AppendChild(text(l.Text))
		bar.AppendChild(a)
		bar.AppendChild(text(" "))
	}
	return bar
}

func element(a atom.Atom, attributes ...string) *html.Node {
	n := &html.Node{Type: html.ElementNode, DataAtom: a, Data: a.String()}
	for i := 0; i < len(attributes); i += 2 {
		n.Attr = append(n.Attr, html.Attribute{Key: attributes[i], Val: attributes[i+1]})
	}
	return n
}

func text(s string) *html.Node { return &html.Node{Type: html.TextNode, Data: s} }

// find returns the first element that is as wanted, nil if there is none.
func find(n *html.Node, wanted func(*html.Node) bool) *html.Node {
	for c := range n.Descendants() {
		if c.Type == html.ElementNode && wanted(c) {
			return c
		}
	}
	return nil
}

func hasClass(class string) func(*html.Node) bool {
	return func(n *html.Node) bool {
		for _, a := range n.Attr {
			if a.Key == "class" && slices.Contains(strings.Fields(a.Val), class) {
				return true
			}
		}
		return false
	}
}

// PageOf returns the name of a note's page in a site, given how to read a file of
// it; "" if the site does not have the note under the name that it would have
// alone. The collection may be "" where there is only one.
func PageOf(read func(name string) ([]byte, error), collection, path string) string {
	cited := html.EscapeString(citation(&Doc{Collection: collection, Path: path})) + `"`
	if collection == "" {
		_, cited, _ = strings.Cut(cited, "@")
	}
	for _, prefix := range []string{"", collection} {
		name := pageName(prefix, path)
		if page, err := read(name); err == nil && bytes.Contains(page, []byte(cited)) {
			return name
		}
	}
	return ""
}

// Style returns the style of pages.
func Style() []byte {
	raw, _ := assetFiles.ReadFile("assets/kb.css") // embedded: it is there
	return raw
}
