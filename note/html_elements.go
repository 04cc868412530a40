package note

import (
	"strings"

	"github.com/yuin/goldmark/util"
)

// element is an element that is open in the output.
type element struct {
	name string // as written
	tag  string // as raw HTML has it: a broken <a> is written as <span>
	raw  bool
}

// Elements by how a browser reads them: where it would close or move one, we do
// so ourselves, so that it finds the tree that we meant.
var (
	phrasingOnly = names("p h1 h2 h3 h4 h5 h6 summary")
	headingNames = names("h1 h2 h3 h4 h5 h6")
	tableParts   = names("table thead tbody tfoot tr colgroup")
	inlineNames  = names("a abbr b bdi bdo big br cite code data del dfn em font i img input ins kbd mark math q rp rt ruby s samp " +
		"small span strike strong sub sup time tt u var wbr audio video source track picture math")
	voidNames = names("br hr img input wbr col source track")
)

func names(s string) map[string]bool {
	m := map[string]bool{}
	for _, n := range strings.Fields(s) {
		m[n] = true
	}
	return m
}

// str writes markup.
func (w *htmlWriter) str(s string) *htmlWriter {
	w.out.WriteString(s)
	return w
}

// text writes text.
func (w *htmlWriter) text(s []byte) *htmlWriter {
	w.out.Write(util.EscapeHTML(s))
	return w
}

// attr writes an attribute, if it has a value.
func (w *htmlWriter) attr(name, value string) *htmlWriter {
	if value != "" {
		w.str(" ").str(name).str(`="`).text([]byte(value)).str(`"`)
	}
	return w
}

// open starts a Markdown element, and leaves its start tag unfinished, for
// attributes.
func (w *htmlWriter) open(name string) *htmlWriter {
	w.makeRoom(name)
	w.push(element{name: name, tag: name})
	return w.str("<").str(name)
}

func (w *htmlWriter) push(e element) {
	w.elements = append(w.elements, e)
	w.count(e, 1)
}

func (w *htmlWriter) count(e element, by int) {
	if e.raw {
		w.raw += by
	}
	if e.name == "a" {
		w.linked += by
	}
	if phrasingOnly[e.name] || !e.raw && inlineNames[e.name] {
		w.phrasing += by
	}
}

// close ends the innermost Markdown element, and the raw HTML open in it.
func (w *htmlWriter) close() *htmlWriter {
	w.closeRaw()
	w.closeTo(len(w.elements) - 1)
	return w
}

// closeRaw ends the raw HTML open in the innermost Markdown element.
func (w *htmlWriter) closeRaw() {
	n := len(w.elements)
	for n > 0 && w.elements[n-1].raw {
		n--
	}
	w.closeTo(n)
}

// closeTo ends elements until n are open.
func (w *htmlWriter) closeTo(n int) {
	for i := len(w.elements) - 1; i >= n; i-- {
		e := w.elements[i]
		w.elements = w.elements[:i]
		w.count(e, -1)
		w.str("</").str(e.name).str(">")
	}
}

// makeRoom ends the raw HTML that name cannot stand in.
func (w *htmlWriter) makeRoom(name string) {
	if w.raw == 0 {
		return
	}
	w.leaveTable()
	if inlineNames[name] {
		return
	}
	w.leaveParagraph()
	if last := len(w.elements) - 1; headingNames[name] && last >= 0 && w.elements[last].raw && headingNames[w.elements[last].name] {
		w.closeTo(last)
	}
}

// leaveTable ends a raw table within which only rows or cells could follow.
func (w *htmlWriter) leaveTable() {
	i := len(w.elements)
	for i > 0 && w.elements[i-1].raw && tableParts[w.elements[i-1].name] {
		i--
		if w.elements[i].name == "table" {
			break
		}
	}
	w.closeTo(i)
}

// leaveParagraph ends a raw paragraph.
func (w *htmlWriter) leaveParagraph() {
	for i := len(w.elements) - 1; i >= 0 && w.elements[i].raw; i-- {
		if w.elements[i].name == "p" {
			w.closeTo(i)
			return
		}
		if !inlineNames[w.elements[i].name] {
			return
		}
	}
}
