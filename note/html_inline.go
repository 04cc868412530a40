package note

import (
	"bytes"

	"github.com/yuin/goldmark/ast"
	extast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/renderer/html"
)

// maxInlineDepth bounds markup within markup, as browsers do.
const maxInlineDepth = 100

// paragraph renders a paragraph. What it embeds as blocks stands between two
// paragraphs, of which one without content is left out.
func (w *htmlWriter) paragraph(n *ast.Paragraph) {
	p := paragraph{w, n, false, false}
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		if html, ok := w.embedded(c); ok {
			p.end()
			p.name()
			w.embed(html)
		} else if p.inside || !vanishes(c, w.src) {
			p.start()
			w.inline(c)
		}
	}
	p.end()
}

// paragraph is the paragraph being written, of which there may be several parts.
type paragraph struct {
	*htmlWriter
	node   *ast.Paragraph
	inside bool // a part of it is open
	named  bool // its ids are written
}

func (p *paragraph) start() {
	if p.inside {
		return
	}
	p.open("p")
	if !p.named {
		p.ids(p.node)
	}
	p.str(">")
	if !p.named {
		p.otherIDs(p.node, 1)
	}
	p.inside, p.named = true, true
}

// name writes the ids if no part of the paragraph has them.
func (p *paragraph) name() {
	if !p.named {
		p.otherIDs(p.node, 0)
	}
	p.named = true
}

func (p *paragraph) end() {
	if p.inside {
		p.close().str("\n")
	}
	p.inside = false
}

// vanishes reports whether nothing is to be seen of n.
func vanishes(n ast.Node, src []byte) bool {
	switch n := n.(type) {
	case *commentNode, *blockIDNode:
		return true
	case *ast.Text:
		return blank(n.Segment.Value(src))
	}
	return false
}

// embed writes embedded blocks.
func (w *htmlWriter) embed(html []byte) {
	w.makeRoom("div")
	w.out.Write(html)
	w.str("\n")
}

// inlines renders the content of n, where blocks may stand unless an element
// that is open forbids them.
func (w *htmlWriter) inlines(n ast.Node) {
	base := len(w.elements)
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		if w.phrasing == 0 {
			if html, ok := w.embedded(c); ok {
				w.embed(html)
				continue
			}
		}
		w.inline(c)
	}
	w.closeTo(min(base, len(w.elements)))
}

func (w *htmlWriter) inline(n ast.Node) {
	if w.raw > 0 && !vanishes(n, w.src) && n.Kind() != ast.KindRawHTML {
		w.leaveTable()
	}
	switch n := n.(type) {
	case *ast.Text:
		w.textNode(n)
	case *ast.String:
		w.text(n.Value)
	case *bracketNode:
		w.text(n.segment.Value(w.src))
	case *ast.CodeSpan:
		w.codeSpan(n)
	case *ast.Emphasis:
		if n.Level == 2 {
			w.wrap("strong", n)
		} else {
			w.wrap("em", n)
		}
	case *extast.Strikethrough:
		w.wrap("del", n)
	case *highlightNode:
		w.wrap("mark", n)
	case *ast.RawHTML:
		for i := range n.Segments.Len() {
			s := n.Segments.At(i)
			w.rawHTML(s.Value(w.src))
		}
	case *mathNode:
		w.math(string(n.TeX), n.source, n.Display)
	case *tagNode:
		w.tag(n.Name)
	case *taskNode:
		w.task(n)
	case *extast.FootnoteLink:
		w.footnoteLink(n)
	case *inlineFootnote:
		w.reference(w.notes.number(n))
	case *wikiLinkNode, *ast.Link, *ast.Image, *ast.AutoLink, *urlNode:
		w.link(n)
	}
}

// wrap renders n as an element.
func (w *htmlWriter) wrap(name string, n ast.Node) {
	if w.depth >= maxInlineDepth {
		w.inlines(n)
		return
	}
	w.depth++
	w.open(name).str(">")
	w.inlines(n)
	w.close()
	w.depth--
}

func (w *htmlWriter) textNode(n *ast.Text) {
	v := n.Segment.Value(w.src)
	if n.IsRaw() {
		w.text(v)
	} else {
		html.DefaultWriter.Write(&w.out, v)
	}
	if n.HardLineBreak() {
		w.str("<br>\n")
	} else if n.SoftLineBreak() {
		w.str("\n")
	}
}

func (w *htmlWriter) codeSpan(n *ast.CodeSpan) {
	w.str("<code>")
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		if t, ok := c.(*ast.Text); ok {
			w.text(bytes.ReplaceAll(t.Segment.Value(w.src), newline, []byte{' '}))
		}
	}
	w.str("</code>")
}

// math renders a formula. One that cannot be set stays as it is written.
func (w *htmlWriter) math(tex string, source []byte, display bool) {
	if w.Math != nil {
		if html, ok := w.Math(tex, display); ok {
			w.out.Write(html)
			return
		}
	}
	w.str(`<code class="tex">`).text(source).str("</code>")
}

func (w *htmlWriter) tag(name string) {
	url := ""
	if w.Tag != nil && w.linked == 0 {
		url = w.Tag(name)
	}
	if url == "" || !safeURL(url) {
		w.str(`<span class="tag">#`).text([]byte(name)).str("</span>")
		return
	}
	w.str(`<a class="tag"`).attr("href", escapeURL(url)).str(">#").text([]byte(name)).str("</a>")
}

func (w *htmlWriter) task(n *taskNode) {
	label := n.State
	switch {
	case n.Done():
		label = "done"
	case label == " ":
		label = "to do"
	}
	w.str(`<input type="checkbox" disabled`).attr("aria-label", label)
	if n.Done() {
		w.str(" checked")
	}
	w.str("> ")
}
