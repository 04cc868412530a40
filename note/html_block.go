package note

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/yuin/goldmark/ast"
	extast "github.com/yuin/goldmark/extension/ast"
)

// blocks renders the blocks in n.
func (w *htmlWriter) blocks(n ast.Node) {
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		w.block(c)
	}
}

func (w *htmlWriter) block(n ast.Node) {
	switch n := n.(type) {
	case *ast.Heading:
		w.heading(n)
	case *ast.Paragraph:
		w.paragraph(n)
	case *ast.TextBlock:
		w.inlines(n)
		if n.NextSibling() != nil {
			w.str("\n")
		}
	case *ast.Blockquote:
		w.quote(n)
	case *ast.List:
		w.openList(n).str("\n")
		w.blocks(n)
		w.close().str("\n")
	case *ast.ListItem:
		w.item(n)
	case *ast.ThematicBreak:
		w.makeRoom("hr")
		w.str("<hr>\n")
	case *ast.CodeBlock:
		w.code(n, "", n.Lines().Value(w.src))
	case *ast.FencedCodeBlock:
		w.code(n, language(n, w.src), n.Lines().Value(w.src))
	case *mathBlock:
		w.mathBlock(n)
	case *ast.HTMLBlock:
		w.htmlBlock(n)
	case *extast.Table:
		w.table(n)
	}
}

// ids writes the id of a block that one names.
func (w *htmlWriter) ids(n ast.Node) *htmlWriter {
	if ids := w.blockIDs[n]; len(ids) > 0 {
		w.attr("id", w.Prefix+"^"+ids[0])
	}
	return w
}

// otherIDs writes anchors for the ids from the i-th on that name a block.
func (w *htmlWriter) otherIDs(n ast.Node, i int) {
	for ; i < len(w.blockIDs[n]); i++ {
		w.str("<span").attr("id", w.Prefix+"^"+w.blockIDs[n][i]).str("></span>")
	}
}

func (w *htmlWriter) heading(n *ast.Heading) {
	h, top := w.headings[n]
	w.open("h" + strconv.Itoa(n.Level))
	if top {
		id := w.Prefix + h.Slug
		w.attr("id", id)
		w.anchors = append(w.anchors, HeadingAnchor{Level: h.Level, Text: h.Text, ID: id})
	}
	w.str(">")
	w.otherIDs(n, 0)
	w.inlines(n)
	if top && w.Prefix == "" && h.Slug != "" && w.linked == 0 {
		w.str(`<a class="anchor"`).attr("href", "#"+escapeURL(h.Slug)).attr("aria-label", "# "+h.Text).str("></a>")
	}
	w.close().str("\n")
}

func (w *htmlWriter) item(n *ast.ListItem) {
	w.open("li").ids(n)
	if t := taskOf(n); t != nil {
		w.str(` class="task"`).attr("data-task", t.State)
	}
	w.str(">")
	w.otherIDs(n, 1)
	w.blocks(n)
	w.close().str("\n")
}

func taskOf(n *ast.ListItem) *taskNode {
	if first := n.FirstChild(); first != nil {
		t, _ := first.FirstChild().(*taskNode)
		return t
	}
	return nil
}

func (w *htmlWriter) openList(n *ast.List) *htmlWriter {
	name := "ul"
	if n.IsOrdered() {
		name = "ol"
	}
	w.open(name).ids(n)
	if n.IsOrdered() && n.Start != 1 {
		w.attr("start", strconv.Itoa(n.Start))
	}
	return w.str(">")
}

// code renders a block of code. Scrolling it needs the keyboard's focus.
func (w *htmlWriter) code(n ast.Node, lang string, code []byte) {
	if lang == "mermaid" {
		w.open("pre").ids(n).str(` class="mermaid" tabindex="0">`).text(code).close().str("\n")
		return
	}
	w.open("pre").ids(n).str(` tabindex="0"><code`)
	if lang != "" {
		w.attr("class", "language-"+lang)
	}
	w.str(">")
	if html, ok := w.highlighted(lang, code); ok {
		w.out.Write(html)
	} else {
		w.text(code)
	}
	w.str("</code>").close().str("\n")
}

func (w *htmlWriter) highlighted(lang string, code []byte) (html []byte, ok bool) {
	if w.Code == nil || lang == "" {
		return nil, false
	}
	return w.Code(lang, code)
}

// language returns the first word of a fence's info.
func language(n *ast.FencedCodeBlock, src []byte) string {
	if n.Info == nil {
		return ""
	}
	info := n.Info.Segment.Value(src)
	info = bytes.TrimPrefix(bytes.TrimSpace(info), []byte("{."))
	if i := bytes.IndexAny(info, " \t,{}"); i >= 0 {
		info = info[:i]
	}
	return strings.ToLower(string(info))
}

func (w *htmlWriter) mathBlock(n *mathBlock) {
	w.open("div").ids(n).str(` class="math">`)
	if n.closed {
		w.math(string(n.tex(w.src)), n.text(w.src), true)
	} else {
		w.text(n.text(w.src))
	}
	w.close().str("\n")
}

func (w *htmlWriter) htmlBlock(n *ast.HTMLBlock) {
	html := n.Lines().Value(w.src)
	if n.HasClosure() {
		html = append(bytes.Clone(html), n.ClosureLine.Value(w.src)...)
	}
	w.rawHTML(html)
}

func (w *htmlWriter) table(n *extast.Table) {
	w.open("div").str(` class="table" tabindex="0">`).open("table").ids(n).str(">\n")
	for row := n.FirstChild(); row != nil; row = row.NextSibling() {
		_, head := row.(*extast.TableHeader)
		switch {
		case head:
			w.str("<thead>\n")
		case row.PreviousSibling() == n.FirstChild():
			w.str("<tbody>\n")
		}
		w.row(row, head)
		if head {
			w.str("</thead>\n")
		} else if row.NextSibling() == nil {
			w.str("</tbody>\n")
		}
	}
	w.close().close().str("\n")
}

func (w *htmlWriter) row(n ast.Node, head bool) {
	name := "td"
	if head {
		name = "th"
	}
	w.str("<tr>")
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		w.open(name)
		if cell, ok := c.(*extast.TableCell); ok && cell.Alignment != extast.AlignNone {
			w.attr("class", cell.Alignment.String())
		}
		w.str(">")
		w.inlines(c)
		w.close()
	}
	w.str("</tr>\n")
}
