package note

import (
	"bytes"

	"github.com/yuin/goldmark/ast"
)

// HTMLOptions says what [HTML] makes of what it does not know itself. What the
// functions return as HTML is taken as it is: they answer for its being safe and
// balanced. All may be nil.
type HTMLOptions struct {
	// Link returns what a link becomes: a wikilink, a Markdown link, an image, a
	// bare URL, or a link of raw HTML (that has no offsets). If nil, links to other
	// hosts and within the note work, and all others are broken.
	Link func(Link) Href
	// Embed returns what an embed that is no image shows, as blocks; !ok makes
	// it a link. Protection against cycles is its matter.
	Embed func(Link) (html []byte, ok bool)
	// Code highlights a block of code; what it returns stands within <code>.
	Code func(lang string, code []byte) (html []byte, ok bool)
	// Math sets a formula; !ok leaves its TeX as text.
	Math func(tex string, display bool) (html []byte, ok bool)
	// Tag returns the address of a tag's page, "" for none.
	Tag func(tag string) string
	// Sanitize cleans raw HTML, a stretch of tags and text that need not be
	// balanced. If nil, raw HTML is left out.
	Sanitize func([]byte) []byte
	// Only is the part to render; all if empty. Blocks count as part if they
	// start in it.
	Only Span
	// Prefix stands before all ids. With a prefix headings have no link to
	// themselves: the note is shown within another.
	Prefix string
}

// Href is what a link becomes. One without a URL, or with one whose scheme is
// not allowed, leads nowhere and is shown as broken.
type Href struct {
	URL           string // escaped for a URL, not for HTML
	Class, Title  string
	External      bool // what it embeds is linked to, not loaded
	Width, Height int  // of an image, if known
}

// HeadingAnchor is a heading as the outline of a page needs it.
type HeadingAnchor struct {
	Level int
	Text  string
	ID    string // equal to the Slug of the note's Heading
}

// HTML renders the body of a note: text as [Parse] returned it with n. It reads
// the text through the parser that Parse uses, so that what is a link, heading,
// tag or code is the same to both. The result is balanced HTML in which nothing
// of the note is a script, a style, an event handler or a URL with a scheme
// other than http, https, mailto and kb, and every id is unique; the time is
// linear in the text. Headings have the ids of n.Headings, blocks "^id",
// footnotes "fn:1", and what has an id in raw HTML "user:id".
func HTML(n *Note, text []byte, o HTMLOptions) ([]byte, []HeadingAnchor) {
	root, f, err := parseMarkdown(text, n.Body)
	if err != nil {
		var w htmlWriter
		w.str("<pre>").text(text[n.Body:]).str("</pre>\n")
		return w.out.Bytes(), nil
	}
	w := newHTMLWriter(n, text, root, f, o)
	w.out.Grow(len(text) + len(text)/2)
	if o.Only.End > 0 {
		w.part(root)
	} else {
		w.blocks(root)
	}
	w.closeTo(0)
	w.footnotes()
	w.lostIDs(f.anchorNames())
	return w.out.Bytes(), w.anchors
}

// htmlWriter renders one note.
type htmlWriter struct {
	HTMLOptions
	out      htmlBuffer
	src      []byte
	links    map[ast.Node]Link
	headings map[ast.Node]Heading
	blockIDs map[ast.Node][]string // of blocks that ids name
	rawIDs   map[string]bool       // ids of raw HTML, true once they are written
	anchors  []HeadingAnchor
	notes    htmlFootnotes
	elements []element // open, from the outermost
	raw      int       // how many of them are raw HTML
	linked   int       // how many of them are links
	phrasing int       // how many of them hold no blocks
	depth    int       // of markup within a paragraph
}

func newHTMLWriter(n *Note, text []byte, root ast.Node, f *facts, o HTMLOptions) *htmlWriter {
	w := &htmlWriter{HTMLOptions: o, src: text, links: map[ast.Node]Link{}, headings: map[ast.Node]Heading{}, blockIDs: map[ast.Node][]string{}}
	fresh := &Note{Body: n.Body, Title: "-"}
	fresh.outline(root, text)
	i := 0
	for c := root.FirstChild(); c != nil; c = c.NextSibling() {
		if c.Kind() == ast.KindHeading {
			w.headings[c] = fresh.Headings[i]
			i++
		}
	}
	fresh.addLinks(f, text)
	for i, l := range f.links {
		w.links[l.node] = fresh.Links[i]
	}
	seen := map[string]bool{}
	for _, b := range f.blocks {
		if named := b.named(); !seen[b.id] {
			seen[b.id] = true
			w.blockIDs[named] = append(w.blockIDs[named], b.id)
		}
	}
	if o.Sanitize != nil {
		w.rawIDs = rawIDs(f, o.Only)
	}
	w.notes.find(root)
	return w
}

// part renders the blocks below n that start in w.Only, and of lists and quotes
// that start before it what starts in it.
func (w *htmlWriter) part(n ast.Node) {
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		start, end := blockExtent(c, w.src)
		switch start = lineStart(w.src, min(start, len(w.src))); {
		case start >= w.Only.End:
			return
		case start >= w.Only.Start && c.Kind() == ast.KindListItem:
			list := n.(*ast.List)
			w.openList(list)
			w.block(c)
			w.close()
		case start >= w.Only.Start:
			w.block(c)
		case end > w.Only.Start:
			w.part(c)
		}
	}
}

// htmlBuffer is a buffer that the library's writer can write to.
type htmlBuffer struct{ bytes.Buffer }

// Buffered returns 0: nothing waits.
func (b *htmlBuffer) Buffered() int { return 0 }

// Flush does nothing.
func (b *htmlBuffer) Flush() error { return nil }
