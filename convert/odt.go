package convert

import (
	"context"
	"encoding/xml"
	"fmt"
	"html"
	"strconv"
	"strings"
)

// convertODT takes an OpenDocument text: headings, lists, tables, links, emphasis,
// pictures and notes.
func convertODT(_ context.Context, s *sniffed) ([]Doc, error) {
	a := s.archive()
	if manifest, err := a.read("META-INF/manifest.xml"); err == nil && strings.Contains(string(manifest), "encryption-data") {
		return nil, fmt.Errorf("%w: the document needs a password", ErrEncrypted)
	}
	src, err := a.read("content.xml")
	if err != nil {
		return nil, err
	}
	w := &odtWriter{styles: map[string]*odtStyle{}}
	if common, err := a.read("styles.xml"); err == nil {
		w.readStyles(common)
	}
	w.readStyles(src)
	var d Doc
	if meta, err := a.read("meta.xml"); err == nil {
		d = coreFacts(meta)
	}
	if err := eachXML(src, w.token); err != nil {
		return nil, err
	}
	w.WriteString(w.notes.String())
	if d.Title == "" {
		d.Title = w.title
	}
	err = finishMarkup(&d, &w.markup, func(src string) []byte {
		b, err := a.read(strings.TrimPrefix(src, "./"))
		if err != nil {
			return nil
		}
		return b
	})
	return []Doc{d}, err
}

// odtStyle is what a style means.
type odtStyle struct {
	parent                     string
	bold, italic, strike, mono bool
	numbered                   bool // of a list
}

// odtWriter makes HTML of OpenDocument.
type odtWriter struct {
	markup
	styles map[string]*odtStyle
	title  string

	body  bool
	close []string // what each open element ends with
	lists []string // styles of open lists
	note  bool     // within a note: its text goes to the end
	main  string   // the text before the note
	notes markup
	count int
	skip  int
}

// readStyles learns what the styles of a file mean.
func (w *odtWriter) readStyles(src []byte) {
	var at *odtStyle
	_ = eachXML(src, func(t xml.Token) error {
		e, ok := t.(xml.StartElement)
		if !ok {
			return nil
		}
		switch e.Name.Local {
		case "style", "list-style":
			at = &odtStyle{parent: xmlAttr(e, "parent-style-name")}
			w.styles[xmlAttr(e, "name")] = at
		case "text-properties":
			if at == nil {
				return nil
			}
			at.bold = at.bold || xmlAttr(e, "font-weight") == "bold"
			at.italic = at.italic || xmlAttr(e, "font-style") == "italic"
			through := xmlAttr(e, "text-line-through-style")
			at.strike = at.strike || through != "" && through != "none"
			at.mono = at.mono || xmlAttr(e, "font-pitch") == "fixed" || monoName.MatchString(xmlAttr(e, "font-name"))
		case "list-level-style-number":
			if at != nil && xmlAttr(e, "level") == "1" {
				at.numbered = true
			}
		}
		return nil
	})
}

// named reports whether a style, or one that it is made of, has a word in its
// name.
func (w *odtWriter) named(style, word string) bool {
	for range 10 {
		if strings.Contains(strings.ToLower(style), word) {
			return true
		}
		s := w.styles[style]
		if s == nil || s.parent == "" {
			return false
		}
		style = s.parent
	}
	return false
}

func (w *odtWriter) token(t xml.Token) error {
	switch t := t.(type) {
	case xml.StartElement:
		if t.Name.Local == "text" && t.Name.Space != "" && strings.HasSuffix(t.Name.Space, "office:1.0") {
			w.body = true
		}
		end := ""
		if w.body {
			end = w.start(t)
		}
		w.close = append(w.close, end)
	case xml.EndElement:
		if n := len(w.close); n > 0 {
			w.end(t.Name.Local, w.close[n-1])
			w.close = w.close[:n-1]
		}
	case xml.CharData:
		if w.body && w.skip == 0 && strings.TrimSpace(string(t)) != "" || w.body && w.skip == 0 && len(w.close) > 0 && w.close[len(w.close)-1] != "" {
			w.text(string(t))
		}
	}
	return nil
}

// start opens an element, and returns what closes it.
func (w *odtWriter) start(e xml.StartElement) string {
	style := xmlAttr(e, "style-name")
	switch e.Name.Local {
	case "h":
		n, _ := strconv.Atoi(xmlAttr(e, "outline-level"))
		return w.open("h" + strconv.Itoa(min(max(n, 1), 6)))
	case "p":
		return w.paragraph(style)
	case "span":
		return w.span(style)
	case "a":
		w.tag(`a href="%s"`, html.EscapeString(xmlAttr(e, "href")))
		return "</a>"
	case "list":
		if style == "" && len(w.lists) > 0 {
			style = w.lists[len(w.lists)-1]
		}
		w.lists = append(w.lists, style)
		if s := w.styles[style]; s != nil && s.numbered {
			return w.open("ol")
		}
		return w.open("ul")
	case "list-item", "list-header":
		return w.open("li")
	case "table":
		return w.open("table")
	case "table-row":
		return w.open("tr")
	case "table-cell":
		return w.open("td")
	}
	return w.startOther(e)
}

func (w *odtWriter) open(name string) string {
	w.tag("%s", name)
	return "</" + name + ">"
}

func (w *odtWriter) startOther(e xml.StartElement) string {
	switch e.Name.Local {
	case "s":
		n, _ := strconv.Atoi(xmlAttr(e, "c"))
		w.WriteString(strings.Repeat(" ", min(max(n, 1), 100)))
	case "tab":
		w.WriteString("\t")
	case "line-break":
		w.WriteString("\n<br>")
	case "image":
		w.tag(`img alt="" src="%s"`, html.EscapeString(xmlAttr(e, "href")))
	case "tracked-changes", "annotation", "note-citation", "sequence-decls", "forms":
		w.skip++
	case "note":
		w.count++
		fmt.Fprintf(w, "[%s%d]", noteMark, w.count)
		w.main = w.String()
		w.Reset()
		w.note = true
	}
	return ""
}

func (w *odtWriter) end(name, closing string) {
	w.WriteString(closing)
	switch name {
	case "list":
		if n := len(w.lists); n > 0 && closing != "" {
			w.lists = w.lists[:n-1]
		}
	case "tracked-changes", "annotation", "note-citation", "sequence-decls", "forms":
		w.skip = max(0, w.skip-1)
	case "note":
		if w.note {
			fmt.Fprintf(&w.notes, "<p>[%s%d]: %s</p>", noteMark, w.count, strings.TrimSpace(anyTag.ReplaceAllString(w.String(), " ")))
			w.Reset()
			w.WriteString(w.main)
			w.note = false
		}
	}
}

// paragraph opens a paragraph as what its style means.
func (w *odtWriter) paragraph(style string) string {
	switch {
	case w.named(style, "preformatted"), w.named(style, "source_20_code"):
		w.WriteString("<pre><code>")
		return "\n</code></pre>"
	case w.named(style, "quot"):
		w.WriteString("<blockquote><p>")
		return "</p></blockquote>"
	case style == "Title" || w.named(style, "title") && !w.named(style, "subtitle"):
		return w.open("h1")
	}
	return w.open("p")
}

func (w *odtWriter) span(style string) string {
	s := w.styles[style]
	if s == nil {
		return "<!---->"
	}
	closing := ""
	for _, x := range []struct {
		on   bool
		name string
	}{{s.bold, "strong"}, {s.italic, "em"}, {s.strike, "del"}, {s.mono || w.named(style, "source"), "code"}} {
		if x.on {
			w.tag("%s", x.name)
			closing = "</" + x.name + ">" + closing
		}
	}
	if closing == "" {
		return "<!---->"
	}
	return closing
}
