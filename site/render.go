package site

import (
	"bytes"
	"fmt"
	"html"
	"strings"

	"kb/note"
)

// Bounds of what a page embeds, so that notes which embed each other stay small.
const (
	maxEmbedDepth = 5
	maxEmbeds     = 200
	maxEmbedBytes = 1 << 20 // of text
)

// Links answers what a page's notes refer to. Its URLs are relative to the page
// being rendered, whatever doc the link stands in.
type Links interface {
	// Target returns what a link written in doc from leads to.
	Target(from *Doc, l note.Link) Target
	// Text returns the text of a doc as note.Parse returned it with its Note.
	Text(d *Doc) ([]byte, error)
	// Tag returns the URL of a tag's page, "" for none.
	Tag(tag string) string
}

// Target is what a link leads to: a doc, a file, or something outside. One
// without a URL leads nowhere.
type Target struct {
	Doc           *Doc   // nil if the link leads to no doc
	URL           string // escaped; of a doc or file without the fragment
	External      bool
	Width, Height int // of an image, 0 if not known
}

// Cache keeps rendered pieces between builds. Keys are short; a Cache that
// forgets costs time only. It is used by several goroutines at once.
type Cache interface {
	Get(key string) (value []byte, ok bool)
	Put(key string, value []byte)
}

// Renderer renders the bodies of notes. It is safe for concurrent use; what it
// keeps is a function of what it was given, so that the order of calls does not
// show.
type Renderer struct {
	code     *highlighter
	math     *mathSetter
	sanitize func([]byte) []byte
}

// NewRenderer returns a Renderer that keeps code and formulas in c, or in memory
// if c is nil.
func NewRenderer(c Cache) *Renderer {
	if c == nil {
		c = newMemory()
	}
	return &Renderer{code: &highlighter{c}, math: newMathSetter(c), sanitize: newPolicy()}
}

// Body is a note as a page shows it.
type Body struct {
	HTML     []byte
	Headings []note.HeadingAnchor
	Links    []BodyLink // of the note itself, in the order of the page
	Embedded []*Doc     // what the HTML also depends on
	Mermaid  bool       // it has diagrams: <pre class="mermaid">
}

// BodyLink is a link and what it leads to.
type BodyLink struct {
	note.Link
	Target Target
}

// Body renders the note of d.
func (r *Renderer) Body(d *Doc, links Links) (*Body, error) {
	text, err := links.Text(d)
	if err != nil {
		return nil, fmt.Errorf("read %s/%s: %w", d.Collection, d.Path, err)
	}
	p := &page{Renderer: r, links: links, body: &Body{}, open: []embedding{{doc: d}}}
	p.body.HTML, p.body.Headings = note.HTML(d.Note, text, p.options(d, ""))
	p.body.Mermaid = bytes.Contains(p.body.HTML, []byte(`class="mermaid" tabindex="0">`))
	return p.body, p.err
}

// page is the rendering of one body.
type page struct {
	*Renderer
	links  Links
	body   *Body
	open   []embedding // from the page's own note to the innermost embedded
	embeds int
	bytes  int // of text embedded
	err    error
}

// embedding is a part of a doc that is being rendered.
type embedding struct {
	doc      *Doc
	fragment string
}

func (p *page) options(d *Doc, prefix string) note.HTMLOptions {
	return note.HTMLOptions{
		Prefix:   prefix,
		Link:     func(l note.Link) note.Href { return p.href(d, l) },
		Embed:    func(l note.Link) ([]byte, bool) { return p.embed(d, l) },
		Code:     p.code.highlight,
		Math:     p.math.set,
		Tag:      p.links.Tag,
		Sanitize: p.sanitize,
	}
}

// href returns what a link in d becomes. A link to a part that its note lacks
// leads to the note, but one within the note nowhere.
func (p *page) href(d *Doc, l note.Link) note.Href {
	t := p.links.Target(d, l)
	if len(p.open) == 1 {
		p.body.Links = append(p.body.Links, BodyLink{l, t})
	}
	h := note.Href{URL: t.URL, External: t.External, Width: t.Width, Height: t.Height}
	switch {
	case t.External:
		h.Class = "external"
		if strings.IndexByte(h.URL, '#') < 0 && l.Fragment != "" {
			h.URL += "#" + l.Fragment
		}
	case l.Fragment == "" || t.URL == "" && t.Doc == nil:
	case t.Doc == nil:
		h.URL += "#" + l.Fragment
	default:
		anchor, ok := Anchor(t.Doc.Note, l.Fragment)
		if ok {
			h.URL += "#" + anchor
		} else if l.Target == "" {
			h.URL = ""
		}
	}
	return h
}

// Anchor returns the id that a link's fragment means on the page of n.
func Anchor(n *note.Note, fragment string) (id string, ok bool) {
	if block, isBlock := strings.CutPrefix(fragment, "^"); isBlock {
		b, ok := findBlock(n, block)
		return "^" + b.ID, ok
	}
	if i, ok := n.FindHeading(fragment); ok {
		return n.Headings[i].Slug, true
	}
	return "", false
}

func findBlock(n *note.Note, id string) (note.Block, bool) {
	for _, b := range n.Blocks {
		if strings.EqualFold(b.ID, id) {
			return b, true
		}
	}
	return note.Block{}, false
}

// embed renders the note, section or block that a link in d embeds; not ok if
// it is none, or there is too much of it, or it is being embedded already.
func (p *page) embed(d *Doc, l note.Link) ([]byte, bool) {
	t := p.links.Target(d, l)
	if t.Doc == nil || t.Doc.Note == nil || len(p.open) > maxEmbedDepth || p.embeds >= maxEmbeds || p.isOpen(t.Doc, l.Fragment) {
		return nil, false
	}
	part, ok := partOf(t.Doc.Note, l.Fragment)
	if !ok {
		return nil, false
	}
	text, err := p.links.Text(t.Doc)
	if err != nil {
		p.err = fmt.Errorf("read %s/%s: %w", t.Doc.Collection, t.Doc.Path, err)
		return nil, false
	}
	if p.bytes += partSize(part, len(text)); p.bytes > maxEmbedBytes {
		return nil, false
	}
	p.embeds++
	p.body.Embedded = append(p.body.Embedded, t.Doc)
	h := p.href(d, l)
	o := p.options(t.Doc, fmt.Sprintf("e%d:", p.embeds))
	o.Only = part
	p.open = append(p.open, embedding{t.Doc, l.Fragment})
	content, _ := note.HTML(t.Doc.Note, text, o)
	p.open = p.open[:len(p.open)-1]
	return frame(h.URL, embedTitle(t.Doc, l), content), true
}

func (p *page) isOpen(d *Doc, fragment string) bool {
	for _, e := range p.open {
		if e.doc == d && strings.EqualFold(e.fragment, fragment) {
			return true
		}
	}
	return false
}

// partOf returns the part of a note that a fragment names; the empty span for
// the whole.
func partOf(n *note.Note, fragment string) (note.Span, bool) {
	if fragment == "" {
		return note.Span{}, true
	}
	if block, isBlock := strings.CutPrefix(fragment, "^"); isBlock {
		b, ok := findBlock(n, block)
		return note.Span{Start: b.Start, End: b.End}, ok
	}
	i, ok := n.FindHeading(fragment)
	if !ok {
		return note.Span{}, false
	}
	return note.Span{Start: n.Headings[i].Start, End: n.Headings[i].End}, true
}

func partSize(s note.Span, whole int) int {
	if s.End == 0 {
		return whole
	}
	return s.End - s.Start
}

func embedTitle(d *Doc, l note.Link) string {
	title := d.Title
	if title == "" {
		title = d.Note.TitleAt(d.Path)
	}
	if l.Fragment != "" && l.Fragment[0] != '^' {
		title += " > " + strings.ReplaceAll(l.Fragment, "#", " > ")
	}
	return title
}

// frame puts embedded HTML into a box that names its source.
func frame(url, title string, body []byte) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, `<div class="embed"><p class="embed-source"><a href="%s">%s</a></p>`+"\n", html.EscapeString(url), html.EscapeString(title))
	b.Write(body)
	b.WriteString("</div>")
	return b.Bytes()
}
