package convert

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// These characters, which Unicode leaves to programs, travel through conversion in
// the place of markup that it would escape: formulas are code that begins with one;
// escapeMark is a backslash; boxes are those of tasks.
const (
	escapeMark  = "\ue0a3"
	inlineMath  = "\ue0a1"
	displayMath = "\ue0a2"
	openBox     = "\ue0a5"
	tickedBox   = "\ue0a6"
)

// unread are the elements that no reader reads.
var unread = map[atom.Atom]bool{
	atom.Script: true, atom.Style: true, atom.Template: true, atom.Iframe: true, atom.Object: true, atom.Embed: true, atom.Svg: true,
	atom.Form: true, atom.Button: true, atom.Nav: true, atom.Footer: true, atom.Aside: true, atom.Canvas: true, atom.Dialog: true,
	atom.Select: true, atom.Link: true,
}

// prepare makes formulas and code what conversion understands, and drops what
// nobody reads.
func prepare(root *html.Node) {
	for _, n := range elements(root) {
		switch {
		case n.Parent == nil:
		case n.DataAtom == atom.Math || hasClass(n, "katex") || n.DataAtom == atom.Script && strings.HasPrefix(attr(n, "type"), "math/tex"):
			prepareMath(n)
		case n.DataAtom == atom.Pre:
			prepareCode(n)
		case hasClass(n, "MathJax_Preview"), hasClass(n, "mwe-math-fallback-image-inline"), hasClass(n, "headerlink"), hasClass(n, "mw-editsection"):
			n.Parent.RemoveChild(n)
		}
	}
	for _, n := range elements(root) {
		if n.Parent != nil && (unread[n.DataAtom] || n.DataAtom == atom.Noscript && n.Parent.DataAtom == atom.Head || hidden(n)) && !holdsHead(n) {
			n.Parent.RemoveChild(n)
		}
	}
}

// elements are the elements below a node, in order, so that the tree may be
// changed while going through them.
func elements(root *html.Node) (list []*html.Node) {
	for n := range root.Descendants() {
		if n.Type == html.ElementNode {
			list = append(list, n)
		}
	}
	return list
}

// hidden reports whether a page shows an element to nobody.
func hidden(n *html.Node) bool {
	for _, a := range n.Attr {
		switch a.Key {
		case "hidden":
			return a.Val != "until-found"
		case "style":
			style := strings.ReplaceAll(strings.ToLower(a.Val), " ", "")
			return strings.Contains(style, "display:none") || strings.Contains(style, "visibility:hidden")
		}
	}
	return false
}

// holdsHead keeps structured data in a page's head, of which reader mode takes
// title, author and date.
func holdsHead(n *html.Node) bool {
	return n.DataAtom == atom.Script && attr(n, "type") == "application/ld+json"
}

// prepareMath puts the TeX of a formula in its place. One without TeX stays as its
// text.
func prepareMath(n *html.Node) {
	tex, mark := texOf(n), inlineMath
	if attr(n, "display") == "block" || strings.Contains(attr(n, "type"), "mode=display") || n.Parent != nil && hasClass(n.Parent, "katex-display") {
		mark = displayMath
	}
	if tex == "" {
		tex = strings.Join(strings.Fields(textOf(n)), " ")
	}
	code := &html.Node{Type: html.ElementNode, Data: "code", DataAtom: atom.Code}
	code.AppendChild(&html.Node{Type: html.TextNode, Data: mark + strings.Join(strings.Fields(tex), " ")})
	replace(n, code)
}

// texOf is the TeX source that a formula brings.
func texOf(n *html.Node) string {
	if n.DataAtom == atom.Script && n.FirstChild != nil {
		return n.FirstChild.Data
	}
	for c := range n.Descendants() {
		if c.Type == html.ElementNode && c.Data == "annotation" && strings.Contains(attr(c, "encoding"), "tex") {
			return textOf(c)
		}
	}
	return attr(n, "alttext")
}

func replace(n, by *html.Node) {
	n.Parent.InsertBefore(by, n)
	n.Parent.RemoveChild(n)
}

// prepareCode gives a block of code the class that names its language, which
// highlighters put in different places, and drops the numbers of its lines.
func prepareCode(pre *html.Node) {
	for _, n := range elements(pre) {
		if n.Parent != nil && (hasClass(n, "lineno") || hasClass(n, "line-number") || hasClass(n, "linenos") || n.DataAtom == atom.Button) {
			n.Parent.RemoveChild(n)
		}
	}
	code := find(pre, atom.Code)
	lang := ""
	for n := code; n != nil && lang == ""; n = n.Parent {
		lang = languageOf(n)
		if n == pre.Parent {
			break
		}
	}
	for n := pre; n != nil && lang == ""; n = n.Parent {
		lang = languageOf(n)
		if n != pre && n == pre.Parent.Parent {
			break
		}
	}
	if lang == "" {
		return
	}
	if code == nil {
		code = pre
	}
	setAttr(code, "class", "language-"+lang)
}

func languageOf(n *html.Node) string {
	for class := range strings.FieldsSeq(attr(n, "class") + " " + attr(n, "data-lang") + " language-" + attr(n, "data-language")) {
		for _, prefix := range []string{"language-", "lang-", "highlight-source-", "highlight-", "brush:"} {
			if lang, ok := strings.CutPrefix(class, prefix); ok && lang != "" && lang != "text" && lang != "default" && lang != "notranslate" {
				return lang
			}
		}
	}
	return ""
}
