package export

import (
	"fmt"
	"net/url"
	"path"
	"sort"
	"strings"

	"kb/note"
)

// rewriter writes the body of one doc for an export. Code is never touched:
// headings and links are those that the parse found.
type rewriter struct {
	set     *Set
	doc     int
	shift   int   // how much deeper headings become
	anchors bool  // headings get ids, and links within the set lead to them
	inside  []int // docs that embed this one, outermost first
}

// Embeds are followed this deep and add this much to a doc at most: notes that
// embed each other are not to grow without end.
const (
	maxEmbedDepth = 5
	maxEmbedBytes = 1 << 20
)

// edit replaces a stretch of a text.
type edit struct {
	note.Span
	with string
}

// body returns the part of a text, rewritten.
func (x *rewriter) body(n *note.Note, text []byte, part note.Span) (string, error) {
	var edits []edit
	for i, h := range n.Headings {
		if h.Start >= part.Start && h.Start < part.End {
			edits = append(edits, x.heading(n, i, text))
		}
	}
	for _, l := range n.Links {
		if l.Start < part.Start || l.End > part.End {
			continue
		}
		with, change, err := x.link(l, text)
		if err != nil {
			return "", err
		}
		if change {
			edits = append(edits, edit{note.Span{Start: l.Start, End: l.End}, with})
		}
	}
	return apply(text, part, edits), nil
}

// apply writes part with the edits in it. Where edits overlap - a link in a
// heading - the inner ones are applied within what the outer one keeps.
func apply(text []byte, part note.Span, edits []edit) string {
	sort.SliceStable(edits, func(a, b int) bool { return edits[a].Start < edits[b].Start })
	var b strings.Builder
	at := part.Start
	for _, e := range edits {
		if e.Start < at {
			continue
		}
		b.Write(text[at:e.Start])
		b.WriteString(e.with)
		at = e.End
	}
	b.Write(text[at:part.End])
	return b.String()
}

// heading returns the edit that replaces a heading's opening marks, or for one
// that is underlined the whole of it.
func (x *rewriter) heading(n *note.Note, i int, text []byte) edit {
	h := n.Headings[i]
	level := min(6, h.Level+x.shift)
	id := ""
	if x.anchors && len(x.inside) == 0 {
		id = fmt.Sprintf("<a id=\"%s\"></a>\n\n", x.set.anchors[x.doc]+"--"+h.Slug)
	}
	end := h.Start
	for end < len(text) && text[end] == '#' {
		end++
	}
	marks := id + strings.Repeat("#", level)
	if end > h.Start {
		return edit{note.Span{Start: h.Start, End: end}, marks}
	}
	// Underlined: up to two lines, or as many as the paragraph had.
	for end = h.Start; end < len(text); {
		line := text[end:]
		if k := strings.IndexByte(string(line), '\n'); k >= 0 {
			line = line[:k]
		}
		end += len(line)
		if t := strings.TrimSpace(string(line)); t != "" && strings.Trim(t, "=-") == "" {
			break
		}
		end = min(end+1, len(text))
	}
	return edit{note.Span{Start: h.Start, End: end}, marks + " " + h.Text}
}

// link returns what stands for a link in the export, and whether that is
// something else than the link.
func (x *rewriter) link(l note.Link, text []byte) (with string, change bool, err error) {
	if l.Kind == note.AutoLink {
		return "", false, nil
	}
	t := x.set.resolve(x.doc, l)
	if t.external {
		return x.external(l, text)
	}
	if l.Embed {
		return x.embed(l, t)
	}
	label := l.Text
	if label == "" {
		label = strings.Trim(l.Target+" > "+l.Fragment, " >")
	}
	switch {
	case t.doc >= 0 && x.anchors:
		return fmt.Sprintf("[%s](#%s)", escapeLabel(label), x.set.anchor(t.doc, x.slug(t))), true, nil
	case t.path != "" && !x.anchors:
		return fmt.Sprintf("[%s](%s)", escapeLabel(label), x.relative(t)), true, nil
	case l.Kind == note.WikiLink:
		return label, true, nil // to a note that is not exported, or to none
	}
	return "", false, nil
}

// external writes a reference link inline: two notes may define one label.
func (x *rewriter) external(l note.Link, text []byte) (string, bool, error) {
	if !x.anchors || l.Kind != note.MarkdownLink || text[l.End-1] == ')' {
		return "", false, nil
	}
	to := l.Target
	if l.Fragment != "" {
		to += "#" + l.Fragment
	}
	mark := ""
	if l.Embed {
		mark = "!"
	}
	return fmt.Sprintf("%s[%s](<%s>)", mark, escapeLabel(l.Text), angles.Replace(to)), true, nil
}

// slug is the anchor that a link's fragment means in its target.
func (x *rewriter) slug(t target) string {
	if t.fragment == "" || strings.HasPrefix(t.fragment, "^") {
		return ""
	}
	last := t.fragment[strings.LastIndexByte(t.fragment, '#')+1:]
	for _, try := range []string{last, note.Slug(last)} {
		for _, s := range x.set.Docs[t.doc].Slugs {
			if s == try {
				return s
			}
		}
	}
	return ""
}

// relative is the path from the rewritten doc to a link's target.
func (x *rewriter) relative(t target) string {
	from := strings.Split(path.Dir(x.set.Docs[x.doc].Path), "/")
	to := strings.Split(t.path, "/")
	if from[0] == "." {
		from = nil
	}
	for len(from) > 0 && len(to) > 1 && from[0] == to[0] {
		from, to = from[1:], to[1:]
	}
	parts := make([]string, 0, len(from)+len(to))
	for range from {
		parts = append(parts, "..")
	}
	for _, p := range to {
		parts = append(parts, url.PathEscape(p))
	}
	out := strings.Join(parts, "/")
	if t.doc >= 0 {
		if s := x.slug(t); s != "" {
			out += "#" + s
		}
	}
	return out
}

// embed puts the text of a note, a section or a block where it is embedded.
func (x *rewriter) embed(l note.Link, t target) (string, bool, error) {
	if t.doc < 0 || !x.anchors {
		return "", false, nil // a picture, or a file of its own
	}
	chain := append(append([]int{}, x.inside...), x.doc)
	for _, i := range chain {
		if i == t.doc {
			return fmt.Sprintf("[%s](#%s)", escapeLabel(x.set.Docs[t.doc].Title), x.set.anchor(t.doc, x.slug(t))), true, nil
		}
	}
	if len(chain) > maxEmbedDepth {
		return fmt.Sprintf("[%s](#%s)", escapeLabel(x.set.Docs[t.doc].Title), x.set.anchors[t.doc]), true, nil
	}
	n, text, err := x.set.Read(t.doc)
	if err != nil {
		return "", false, fmt.Errorf("embed %s: %w", x.set.Docs[t.doc].Path, err)
	}
	part := embedded(n, text, t.fragment)
	if part.End-part.Start > maxEmbedBytes {
		return fmt.Sprintf("[%s](#%s)", escapeLabel(x.set.Docs[t.doc].Title), x.set.anchors[t.doc]), true, nil
	}
	y := rewriter{set: x.set, doc: t.doc, shift: x.shift + 1, anchors: true, inside: chain}
	body, err := y.body(n, text, part)
	return strings.TrimSpace(body), true, err
}

// embedded is the part of a note that a fragment names.
func embedded(n *note.Note, text []byte, fragment string) note.Span {
	if id, ok := strings.CutPrefix(fragment, "^"); ok {
		for _, b := range n.Blocks {
			if b.ID == id {
				return note.Span{Start: b.Start, End: b.End}
			}
		}
	}
	if i, ok := n.FindHeading(strings.ReplaceAll(fragment, "#", " > ")); ok && fragment != "" {
		return note.Span{Start: n.Headings[i].Start, End: n.Headings[i].End}
	}
	return note.Span{Start: n.Body, End: len(text)}
}

// Made once: a replacer builds its tables at its first use.
var (
	brackets   = strings.NewReplacer("[", `\[`, "]", `\]`)
	angles     = strings.NewReplacer("<", "%3C", ">", "%3E")
	separators = strings.NewReplacer("/", " ", "_", "-")
)

func escapeLabel(s string) string { return brackets.Replace(s) }
