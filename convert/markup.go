package convert

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"html"
	"io"
	"strings"
)

// markup collects the HTML that an office document is first made of.
type markup struct {
	strings.Builder
}

func (m *markup) text(s string) { m.WriteString(html.EscapeString(s)) }

func (m *markup) tag(format string, args ...any) { fmt.Fprintf(&m.Builder, "<"+format+">", args...) }

// wrap writes text in elements, the outermost first.
func (m *markup) wrap(text string, names ...string) {
	for _, n := range names {
		m.tag("%s", n)
	}
	m.text(text)
	for i := len(names) - 1; i >= 0; i-- {
		m.tag("/%s", names[i])
	}
}

// maxDepth bounds how deep XML nests.
const maxDepth = 200

// eachXML hands over the elements and texts of an XML file in their order. Entities
// that the file declares are not expanded.
func eachXML(src []byte, handle func(t xml.Token) error) error {
	d := xml.NewDecoder(bytes.NewReader(src))
	d.Strict = false
	d.Entity = xml.HTMLEntity
	d.CharsetReader = func(_ string, r io.Reader) (io.Reader, error) { return r, nil }
	depth := 0
	for {
		t, err := d.Token()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("%w: %w", ErrDamaged, err)
		}
		switch t.(type) {
		case xml.StartElement:
			if depth++; depth > maxDepth {
				return fmt.Errorf("%w: it nests more than %d elements", ErrDamaged, maxDepth)
			}
		case xml.EndElement:
			depth--
		}
		if err := handle(t); err != nil {
			return err
		}
	}
}

// xmlAttr is an attribute by its local name.
func xmlAttr(e xml.StartElement, name string) string {
	for _, a := range e.Attr {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

// coreFacts is what docProps/core.xml, meta.xml and package files of books say of a
// document: Dublin Core.
func coreFacts(src []byte) (d Doc) {
	in, text := "", strings.Builder{}
	_ = eachXML(src, func(t xml.Token) error { // damage ends what is known
		switch t := t.(type) {
		case xml.StartElement:
			in = t.Name.Local
			text.Reset()
		case xml.CharData:
			text.Write(t)
		case xml.EndElement:
			if t.Name.Local != in {
				return nil
			}
			d.core(in, strings.TrimSpace(text.String()))
			in = ""
		}
		return nil
	})
	return d
}

func (d *Doc) core(name, value string) {
	if value == "" {
		return
	}
	switch name {
	case "title":
		if d.Title == "" {
			d.Title = value
		}
	case "creator", "initial-creator":
		if name == "creator" || len(d.Authors) == 0 {
			d.Authors = append(d.Authors, strings.Split(value, ";")...)
		}
	case "keywords", "keyword", "subject":
		d.Tags = append(d.Tags, keywords(value)...)
	case "created", "date", "creation-date":
		if at, ok := parseTime(strings.SplitN(value, ".", 2)[0]); ok && d.Created.IsZero() {
			d.Created = at
		}
	}
}

// finishMarkup makes a document's body of collected HTML.
func finishMarkup(d *Doc, m *markup, pictures pictureSource) error {
	root, err := parseHTML("<html><body>" + m.String() + "</body></html>")
	if err != nil {
		return err
	}
	return writeHTML(d, root, nil, pictures)
}
