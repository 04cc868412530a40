package convert

import (
	"context"
	"encoding/xml"
	"fmt"
	"html"
	"path"
	"regexp"
	"strconv"
	"strings"
)

// convertDOCX takes a Word document's text: headings, lists, tables, links,
// emphasis, pictures and notes. What was deleted under revision is left out.
func convertDOCX(_ context.Context, s *sniffed) ([]Doc, error) {
	a := s.archive()
	src, err := a.read("word/document.xml")
	if err != nil {
		return nil, err
	}
	w := &docxWriter{archive: a, styles: map[string]string{}, links: map[string]string{}, numbered: map[string]bool{}}
	w.readStyles()
	w.readLinks()
	w.readNumbering()
	var d Doc
	if core, err := a.read("docProps/core.xml"); err == nil {
		d = coreFacts(core)
	}
	if err := w.body(src); err != nil {
		return nil, err
	}
	w.notes("word/footnotes.xml", "footnote")
	w.notes("word/endnotes.xml", "endnote")
	if d.Title == "" {
		d.Title = w.title
	}
	err = finishMarkup(&d, &w.markup, w.picture)
	return []Doc{d}, err
}

// docxWriter makes HTML of WordprocessingML.
type docxWriter struct {
	markup
	archive  *archive
	styles   map[string]string // id → h1 … h6, title, code, quote
	links    map[string]string // relationship → target
	numbered map[string]bool   // "numId level" → counts
	title    string

	para  docxParagraph
	run   docxRun
	lists []string // open lists: ul, ol
	alt   string   // of the next picture

	listIDs []string // of the open lists
	skip    int      // within deleted text
	href    bool
	table   int

	textual bool // within w:t: other characters only lay out the file
}

// docxParagraph is a paragraph on its way: its text is known before its kind.
type docxParagraph struct {
	inner markup
	style string
	list  string // numId
	level int
	open  bool
}

type docxRun struct{ bold, italic, strike, code bool }

var headingStyle = regexp.MustCompile(`(?i)^heading ?([1-9])$`)

func (w *docxWriter) readStyles() {
	src, err := w.archive.read("word/styles.xml")
	if err != nil {
		return // a document without styles
	}
	id := ""
	_ = eachXML(src, func(t xml.Token) error {
		e, ok := t.(xml.StartElement)
		if !ok {
			return nil
		}
		switch e.Name.Local {
		case "style":
			id = xmlAttr(e, "styleId")
		case "name":
			w.styles[id] = styleKind(xmlAttr(e, "val"))
		case "outlineLvl":
			if n, err := strconv.Atoi(xmlAttr(e, "val")); err == nil && n < 6 && w.styles[id] == "" {
				w.styles[id] = "h" + strconv.Itoa(n+1)
			}
		}
		return nil
	})
}

// styleKind is what a style's name means.
func styleKind(name string) string {
	lower := strings.ToLower(name)
	m := headingStyle.FindStringSubmatch(name)
	switch {
	case m != nil:
		n, _ := strconv.Atoi(m[1])
		return "h" + strconv.Itoa(min(n, 6))
	case lower == "title":
		return "title"
	case strings.Contains(lower, "source code"), strings.Contains(lower, "verbatim"), strings.Contains(lower, "preformatted"), lower == "code":
		return "code"
	case strings.Contains(lower, "quote"), lower == "block text":
		return "quote"
	}
	return ""
}

func (w *docxWriter) readLinks() {
	src, err := w.archive.read("word/_rels/document.xml.rels")
	if err != nil {
		return
	}
	_ = eachXML(src, func(t xml.Token) error {
		if e, ok := t.(xml.StartElement); ok && e.Name.Local == "Relationship" {
			w.links[xmlAttr(e, "Id")] = xmlAttr(e, "Target")
		}
		return nil
	})
}

// readNumbering learns which lists count.
func (w *docxWriter) readNumbering() {
	src, err := w.archive.read("word/numbering.xml")
	if err != nil {
		return
	}
	counts := map[string]bool{} // "abstract level"
	abstract, level, num := "", "", ""
	_ = eachXML(src, func(t xml.Token) error {
		e, ok := t.(xml.StartElement)
		if !ok {
			return nil
		}
		switch e.Name.Local {
		case "abstractNum":
			abstract, num = xmlAttr(e, "abstractNumId"), ""
		case "lvl":
			level = xmlAttr(e, "ilvl")
		case "numFmt":
			counts[abstract+" "+level] = xmlAttr(e, "val") != "bullet" && xmlAttr(e, "val") != "none"
		case "num":
			num = xmlAttr(e, "numId")
		case "abstractNumId":
			for l := range 9 {
				w.numbered[fmt.Sprintf("%s %d", num, l)] = counts[fmt.Sprintf("%s %d", xmlAttr(e, "val"), l)]
			}
		}
		return nil
	})
}

func (w *docxWriter) body(src []byte) error {
	err := eachXML(src, func(t xml.Token) error {
		switch t := t.(type) {
		case xml.StartElement:
			w.start(t)
		case xml.EndElement:
			w.end(t.Name.Local)
		case xml.CharData:
			if w.textual {
				w.emit(string(t))
			}
		}
		return nil
	})
	w.closeLists(0)
	return err
}

func (w *docxWriter) start(e xml.StartElement) {
	on := func() bool { v := xmlAttr(e, "val"); return v != "0" && v != "false" && v != "none" }
	switch e.Name.Local {
	case "p":
		w.para = docxParagraph{open: true}
	case "pStyle":
		w.para.style = w.styles[xmlAttr(e, "val")]
	case "numId":
		w.para.list = xmlAttr(e, "val")
	case "ilvl":
		w.para.level, _ = strconv.Atoi(xmlAttr(e, "val"))
	case "r":
		w.run = docxRun{}
	case "b":
		w.run.bold = on()
	case "i":
		w.run.italic = on()
	case "strike":
		w.run.strike = on()
	case "rStyle":
		style := strings.ToLower(xmlAttr(e, "val"))
		w.run.code = strings.Contains(style, "code") || strings.Contains(style, "verbatim")
	case "del", "moveFrom", "instrText":
		w.skip++
	case "t":
		w.textual = true
	default:
		w.startOther(e)
	}
}

func (w *docxWriter) startOther(e xml.StartElement) {
	switch e.Name.Local {
	case "tab":
		w.emit("\t")
	case "br", "cr":
		if w.para.style == "code" {
			w.emit("\n")
		} else {
			w.para.inner.tag("br")
		}
	case "noBreakHyphen":
		w.emit("-")
	case "hyperlink":
		if to := w.links[xmlAttr(e, "id")]; to != "" {
			w.para.inner.tag(`a href="%s"`, html.EscapeString(to))
			w.href = true
		}
	case "docPr":
		w.alt = xmlAttr(e, "descr")
	case "blip":
		if to := w.links[xmlAttr(e, "embed")]; to != "" {
			w.para.inner.tag(`img alt="%s" src="%s"`, html.EscapeString(w.alt), html.EscapeString(to))
			w.alt = ""
		}
	case "footnoteReference", "endnoteReference":
		if id := xmlAttr(e, "id"); id != "" {
			w.para.inner.WriteString("[" + noteMark + e.Name.Local[:1] + id + "]")
		}
	case "tbl":
		w.closeLists(0)
		if w.table++; w.table == 1 {
			w.tag("table")
		}
	case "tr":
		w.row("tr")
	case "tc":
		w.row("td")
	}
}

// row opens a row or a cell; what is in a table in a table is text of its cell.
func (w *docxWriter) row(name string) {
	if w.table == 1 {
		w.tag("%s", name)
	}
}

func (w *docxWriter) end(name string) {
	switch name {
	case "p":
		w.endParagraph()
	case "t":
		w.textual = false
	case "del", "moveFrom", "instrText":
		w.skip--
	case "hyperlink":
		if w.href {
			w.para.inner.tag("/a")
			w.href = false
		}
	case "tbl":
		if w.table--; w.table == 0 {
			w.tag("/table")
		}
	case "tr":
		w.row("/tr")
	case "tc":
		w.row("/td")
	}
}

// emit writes text of the run.
func (w *docxWriter) emit(s string) {
	if !w.para.open || w.skip > 0 {
		return
	}
	var names []string
	for _, x := range []struct {
		on   bool
		name string
	}{{w.run.bold && w.para.style != "title", "strong"}, {w.run.italic, "em"}, {w.run.strike, "del"}, {w.run.code, "code"}} {
		if x.on && strings.TrimSpace(s) != "" && w.para.style != "code" {
			names = append(names, x.name)
		}
	}
	w.para.inner.wrap(s, names...)
}

// endParagraph writes the paragraph as what its style says that it is.
func (w *docxWriter) endParagraph() {
	p := w.para
	w.para = docxParagraph{}
	inner := p.inner.String()
	if strings.TrimSpace(inner) == "" {
		return
	}
	if w.table > 0 {
		w.WriteString(inner + "<br>")
		return
	}
	if p.list != "" && p.list != "0" && p.style == "" {
		w.item(p, inner)
		return
	}
	w.closeLists(0)
	switch {
	case p.style == "title":
		if w.title == "" {
			w.title = strings.TrimSpace(p.inner.plain())
		}
		w.WriteString("<h1>" + inner + "</h1>")
	case strings.HasPrefix(p.style, "h"):
		w.WriteString("<" + p.style + ">" + inner + "</" + p.style + ">")
	case p.style == "code":
		w.WriteString("<pre><code>" + inner + "\n</code></pre>")
	case p.style == "quote":
		w.WriteString("<blockquote><p>" + inner + "</p></blockquote>")
	default:
		w.WriteString("<p>" + inner + "</p>")
	}
}

var anyTag = regexp.MustCompile(`<[^>]*>`)

// plain is collected HTML without its elements.
func (m *markup) plain() string { return anyTag.ReplaceAllString(m.String(), "") }

// item writes an item of a list.
func (w *docxWriter) item(p docxParagraph, inner string) {
	kind := "ul"
	if w.numbered[fmt.Sprintf("%s %d", p.list, p.level)] {
		kind = "ol"
	}
	depth := min(p.level, 8) + 1
	w.closeLists(depth)
	if len(w.lists) == depth && (w.lists[depth-1] != kind || w.listIDs[depth-1] != p.list) {
		w.closeLists(depth - 1)
	}
	for len(w.lists) < depth {
		w.tag("%s", kind)
		w.lists, w.listIDs = append(w.lists, kind), append(w.listIDs, p.list)
	}
	w.WriteString("<li>" + inner)
	w.WriteString("</li>")
}

// closeLists closes lists until depth are open.
func (w *docxWriter) closeLists(depth int) {
	for len(w.lists) > depth {
		w.tag("/%s", w.lists[len(w.lists)-1])
		w.lists, w.listIDs = w.lists[:len(w.lists)-1], w.listIDs[:len(w.lists)-1]
	}
}

// noteMark begins the name of a note in the text, which becomes [^f1].
const noteMark = "\ue0a4"

// notes writes the notes at the end.
func (w *docxWriter) notes(name, kind string) {
	src, err := w.archive.read(name)
	if err != nil {
		return
	}
	inner := &docxWriter{archive: w.archive, styles: map[string]string{}, links: map[string]string{}, numbered: map[string]bool{}}
	_ = eachXML(src, func(t xml.Token) error {
		switch t := t.(type) {
		case xml.StartElement:
			if t.Name.Local == kind {
				inner.Reset()
				if xmlAttr(t, "type") == "" {
					inner.title = kind[:1] + xmlAttr(t, "id")
				}
				return nil
			}
			inner.start(t)
		case xml.EndElement:
			if inner.end(t.Name.Local); t.Name.Local == kind && inner.title != "" {
				fmt.Fprintf(w, "<p>[%s%s]: %s</p>", noteMark, inner.title, strings.TrimSpace(anyTag.ReplaceAllString(inner.String(), " ")))
				inner.title = ""
			}
		case xml.CharData:
			if inner.textual {
				inner.emit(string(t))
			}
		}
		return nil
	})
}

// picture reads a picture of the document.
func (w *docxWriter) picture(src string) []byte {
	b, err := w.archive.read(path.Join("word", src))
	if err != nil {
		return nil
	}
	return b
}
