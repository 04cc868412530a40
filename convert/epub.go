package convert

import (
	"context"
	"encoding/xml"
	"fmt"
	"net/url"
	"path"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// convertEPUB takes the chapters of a book in their order: one document, or several
// where that would be too long for a note.
func convertEPUB(ctx context.Context, s *sniffed) ([]Doc, error) {
	a := s.archive()
	if s.has("META-INF/encryption.xml") && !s.has("META-INF/container.xml") || s.has("META-INF/rights.xml") {
		return nil, fmt.Errorf("%w: the book is protected against copying", ErrEncrypted)
	}
	book, err := openBook(a)
	if err != nil {
		return nil, err
	}
	var docs []Doc
	part := book.Doc
	flush := func() {
		if strings.TrimSpace(part.Body) != "" {
			docs = append(docs, part)
		}
		part = book.Doc
	}
	for _, name := range book.chapters {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		c, err := chapter(a, name)
		if err != nil {
			return nil, err
		}
		if len(part.Body)+len(c.Body) > partBytes {
			flush()
		}
		part.Body += strings.TrimSpace(c.Body) + "\n\n"
		part.Attachments = append(part.Attachments, c.Attachments...)
	}
	flush()
	for i := range docs {
		if len(docs) > 1 {
			docs[i].Key = fmt.Sprintf("part-%d", i+1)
			docs[i].Title = fmt.Sprintf("%s, part %d", book.Title, i+1)
		}
	}
	return docs, nil
}

// book is what the package file of an EPUB says.
type book struct {
	Doc
	chapters []string // names of entries, in reading order
}

func openBook(a *archive) (*book, error) {
	container, err := a.read("META-INF/container.xml")
	if err != nil {
		return nil, err
	}
	pack := ""
	_ = eachXML(container, func(t xml.Token) error {
		if e, ok := t.(xml.StartElement); ok && e.Name.Local == "rootfile" && pack == "" {
			pack = xmlAttr(e, "full-path")
		}
		return nil
	})
	src, err := a.read(pack)
	if err != nil {
		return nil, err
	}
	b := &book{Doc: coreFacts(src)}
	items := map[string]string{}
	err = eachXML(src, func(t xml.Token) error {
		e, ok := t.(xml.StartElement)
		switch {
		case !ok:
		case e.Name.Local == "item" && strings.Contains(xmlAttr(e, "media-type"), "html") && !strings.Contains(xmlAttr(e, "properties"), "nav"):
			items[xmlAttr(e, "id")] = entryName(path.Dir(pack), xmlAttr(e, "href"))
		case e.Name.Local == "itemref" && xmlAttr(e, "linear") != "no":
			if name := items[xmlAttr(e, "idref")]; name != "" {
				b.chapters = append(b.chapters, name)
			}
		}
		return nil
	})
	return b, err
}

// entryName is the entry that a reference within the archive names.
func entryName(dir, href string) string {
	href, _, _ = strings.Cut(href, "#")
	if plain, err := url.PathUnescape(href); err == nil {
		href = plain
	}
	return strings.TrimPrefix(path.Join("/", dir, href), "/")
}

// chapter converts one file of a book. A page that only repeats the title is left
// out.
func chapter(a *archive, name string) (Doc, error) {
	var d Doc
	src, err := a.read(name)
	if err != nil {
		return d, err
	}
	root, err := parseHTML(decodeText(src, ""))
	if err != nil {
		return d, err
	}
	prepare(root)
	body := find(root, atom.Body)
	for _, n := range elements(root) {
		if kind := attr(n, "epub:type") + attr(n, "type"); n.Parent != nil && (strings.Contains(kind, "titlepage") || strings.Contains(kind, "toc") || strings.Contains(kind, "cover")) {
			if n.DataAtom == atom.Body {
				return d, nil
			}
			n.Parent.RemoveChild(n)
		}
	}
	svgPictures(body)
	bookNotes(body)
	err = writeHTML(&d, body, nil, func(src string) []byte {
		b, err := a.read(entryName(path.Dir(name), src))
		if err != nil {
			return nil
		}
		return b
	})
	return d, err
}

// bookNotes makes footnotes of the notes of a chapter that it refers to.
func bookNotes(body *html.Node) {
	referred := map[string]bool{}
	for _, n := range elements(body) {
		kind := attr(n, "epub:type") + " " + attr(n, "role")
		_, id, _ := strings.Cut(attr(n, "href"), "#")
		switch {
		case n.Parent == nil:
		case strings.Contains(kind, "backlink"):
			n.Parent.RemoveChild(n)
		case strings.Contains(kind, "noteref") && id != "":
			referred[id] = true
			replace(n, &html.Node{Type: html.TextNode, Data: "[" + noteMark + id + "]"})
		case referred[attr(n, "id")]:
			text := strings.Join(strings.Fields(textOf(n)), " ")
			for n.FirstChild != nil {
				n.RemoveChild(n.FirstChild)
			}
			n.AppendChild(&html.Node{Type: html.TextNode, Data: "[" + noteMark + attr(n, "id") + "]: " + strings.TrimSuffix(text, "↩︎")})
			n.Data, n.DataAtom, n.Attr = "p", atom.P, nil
			if list := n.Parent; list.DataAtom == atom.Ol || list.DataAtom == atom.Ul {
				list.Data, list.DataAtom, list.Attr = "div", atom.Div, nil
			}
		}
	}
}

// svgPictures makes pictures of the frames that books put around their covers.
func svgPictures(body *html.Node) {
	for _, n := range elements(body) {
		if n.Data == "image" && n.Parent != nil {
			n.Data, n.DataAtom = "img", atom.Img
			setAttr(n, "src", attr(n, "href"))
		}
	}
}
