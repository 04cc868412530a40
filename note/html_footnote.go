package note

import (
	"bytes"
	"strconv"

	"github.com/yuin/goldmark/ast"
	extast "github.com/yuin/goldmark/extension/ast"
)

// htmlFootnotes numbers footnotes in the order in which the page refers to them.
type htmlFootnotes struct {
	defined map[int]*extast.Footnote // by the library's number
	numbers map[ast.Node]int
	queue   []ast.Node
}

// find finds the definitions, which the library gathers at the end.
func (f *htmlFootnotes) find(root ast.Node) {
	f.defined, f.numbers = map[int]*extast.Footnote{}, map[ast.Node]int{}
	list, ok := root.LastChild().(*extast.FootnoteList)
	if !ok {
		return
	}
	for c := list.FirstChild(); c != nil; c = c.NextSibling() {
		if n, ok := c.(*extast.Footnote); ok {
			f.defined[n.Index] = n
		}
	}
}

// number returns the number of a footnote, and whether this is the first that
// is heard of it.
func (f *htmlFootnotes) number(n ast.Node) (number int, first bool) {
	if number = f.numbers[n]; number > 0 {
		return number, false
	}
	f.queue = append(f.queue, n)
	f.numbers[n] = len(f.queue)
	return len(f.queue), true
}

func (w *htmlWriter) footnoteLink(n *extast.FootnoteLink) {
	if def := w.notes.defined[n.Index]; def != nil {
		w.reference(w.notes.number(def))
	}
}

// reference renders a reference to a footnote. The footnote leads back to the
// first of them.
func (w *htmlWriter) reference(number int, first bool) {
	s := strconv.Itoa(number)
	w.str(`<sup class="footnote-ref">`)
	if w.linked > 0 {
		w.str(s).str("</sup>")
		return
	}
	w.str("<a")
	if first {
		w.attr("id", w.Prefix+"fnref:"+s)
	}
	w.attr("href", "#"+escapeURL(w.Prefix)+"fn:"+s).str(` role="doc-noteref">`).str(s).str("</a></sup>")
}

// footnotes renders the footnotes that are referred to, also by one another.
func (w *htmlWriter) footnotes() {
	if len(w.notes.queue) == 0 {
		return
	}
	w.open("section").str(` class="footnotes" role="doc-endnotes">` + "\n").open("ol").str(">\n")
	for i := 0; i < len(w.notes.queue); i++ {
		s := strconv.Itoa(i + 1)
		w.open("li").attr("id", w.Prefix+"fn:"+s).str(">")
		if n := w.notes.queue[i]; n.Kind() == kindInlineFootnote {
			w.open("p").str(">")
			w.inlines(n)
			w.close().str("\n")
		} else {
			w.blocks(n)
		}
		w.closeRaw()
		w.backLink(s)
		w.close().str("\n")
	}
	w.close().str("\n").close().str("\n")
}

// backLink writes the way back, within the last paragraph if that is the last
// thing of the footnote.
func (w *htmlWriter) backLink(number string) {
	end := []byte("</p>\n")
	inside := bytes.HasSuffix(w.out.Bytes(), end)
	if inside {
		w.out.Truncate(w.out.Len() - len(end))
		w.str(" ")
	}
	w.str(`<a class="footnote-back"`).attr("href", "#"+escapeURL(w.Prefix)+"fnref:"+number).attr("aria-label", "↩ "+number).str(` role="doc-backlink">↩</a>`)
	if inside {
		w.out.Write(end)
	}
}
