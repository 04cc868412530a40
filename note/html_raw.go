package note

import (
	"bytes"
	"slices"
	"strings"

	"golang.org/x/net/html"
)

// Raw HTML, sanitised, is written tag by tag: an end tag only for what is open,
// an element only where browsers let it stand, and what a note leaves open is
// closed where the block of Markdown around it ends.

const maxRawDepth = 32 // raw elements within each other

// rawPlaces lists the elements that stand only in certain others.
var rawPlaces = map[string]map[string]bool{
	"li": names("ul ol"), "dt": names("dl"), "dd": names("dl"), "rt": names("ruby"), "rp": names("ruby"),
	"caption": names("table"), "colgroup": names("table"), "col": names("colgroup"),
	"thead": names("table"), "tbody": names("table"), "tfoot": names("table"),
	"tr": names("table thead tbody tfoot"), "td": names("tr"), "th": names("tr"),
	"summary": names("details"), "source": names("audio video picture"), "track": names("audio video"),
}

// rawEnds lists the elements that a start tag ends, out to one that it stands in.
var rawEnds = map[string]map[string]bool{
	"li": names("li"), "dt": names("dt dd"), "dd": names("dt dd"), "rt": names("rt rp"), "rp": names("rt rp"),
	"td": names("td th"), "th": names("td th"), "tr": names("td th tr"),
	"thead": names("td th tr thead tbody tfoot caption colgroup"), "tbody": names("td th tr thead tbody tfoot caption colgroup"),
	"tfoot": names("td th tr thead tbody tfoot caption colgroup"),
}

// blockNames are the raw elements that are no inlineNames.
var blockNames = names("address article aside blockquote caption center col colgroup dd details div dl dt figcaption figure footer h1 h2 h3 h4 h5 h6 " +
	"header hr li main nav ol p pre section summary table tbody td tfoot th thead tr ul")

// rawHTML writes a stretch of raw HTML.
func (w *htmlWriter) rawHTML(s []byte) {
	if w.Sanitize == nil {
		return
	}
	z := html.NewTokenizer(bytes.NewReader(w.Sanitize(s)))
	for {
		switch z.Next() {
		case html.ErrorToken:
			w.lostIDs(tagIDs(s))
			return
		case html.TextToken:
			w.rawText(z.Token().Data)
		case html.StartTagToken, html.SelfClosingTagToken:
			w.rawStart(z.Token())
		case html.EndTagToken:
			w.rawEnd(z.Token().Data)
		}
	}
}

func (w *htmlWriter) rawText(s string) {
	if strings.TrimSpace(s) != "" {
		w.leaveTable()
	}
	w.text([]byte(s))
}

func (w *htmlWriter) rawStart(t html.Token) {
	name := t.Data
	if name == "a" && !slices.ContainsFunc(t.Attr, func(a html.Attribute) bool { return a.Key == "href" }) {
		name = "span" // a place, which may have links in it, and others
	}
	inline := inlineNames[name]
	if !inline && (!blockNames[name] || w.phrasing > w.rawPhrasing()) || name == "a" && w.linked > 0 || w.raw >= maxRawDepth || name == "math" || name == "input" {
		return
	}
	if !w.place(name) {
		return
	}
	e := element{name: name, tag: t.Data, raw: true}
	attrs, ok := w.rawAttributes(t)
	if !ok && name == "img" {
		for _, a := range attrs {
			w.str("<span").attr("id", a.Val).str("></span>")
		}
		w.lostImage(t)
		return
	}
	if !ok {
		e.name, attrs = "span", append(attrs, html.Attribute{Key: "class", Val: "broken"})
	}
	w.str("<").str(e.name)
	for _, a := range attrs {
		w.str(" ").str(a.Key).str(`="`).text([]byte(a.Val)).str(`"`)
	}
	w.str(">")
	switch {
	case !voidNames[name]:
		w.push(e)
	case !ok:
		w.str("</span>")
	}
}

// lostImage stands for an image that is not shown: a link to it if another host
// has it, else its description.
func (w *htmlWriter) lostImage(t html.Token) {
	var src, alt string
	for _, a := range t.Attr {
		switch a.Key {
		case "src":
			src = a.Val
		case "alt":
			alt = strings.TrimSpace(a.Val)
		}
	}
	if alt == "" {
		alt = src
	}
	if h := w.href(rawLink(src, true)); h.URL != "" && h.External && w.linked == 0 {
		w.str(`<a class="external"`).attr("href", escapeURL(h.URL)).str(">").text([]byte(alt)).str("</a>")
		return
	}
	w.str(`<span class="broken">`).text([]byte(alt)).str("</span>")
}

// rawPhrasing counts the raw elements that hold no blocks.
func (w *htmlWriter) rawPhrasing() int {
	count := 0
	for i := len(w.elements) - 1; i >= 0 && w.elements[i].raw; i-- {
		if phrasingOnly[w.elements[i].name] {
			count++
		}
	}
	return count
}

// place ends what the start of a raw element ends, and reports whether it may
// stand where it then is.
func (w *htmlWriter) place(name string) bool {
	parents := rawPlaces[name]
	if parents == nil {
		w.makeRoom(name)
		return true
	}
	for i := len(w.elements) - 1; i >= 0 && w.elements[i].raw; i-- {
		e := w.elements[i].name
		if parents[e] && !(rawEnds[name][e]) {
			if !w.ends(name, i+1) {
				return false
			}
			w.closeTo(i + 1)
			if name == "tr" && e == "table" {
				w.str("<tbody>")
				w.push(element{name: "tbody", tag: "tbody", raw: true})
			}
			return true
		}
	}
	return false
}

// ends reports whether the start of a raw element ends all elements from the
// i-th on: there are none, or the outermost is one that it ends.
func (w *htmlWriter) ends(name string, i int) bool {
	return i == len(w.elements) || rawEnds[name][w.elements[i].name]
}

func (w *htmlWriter) rawEnd(name string) {
	inline := inlineNames[name]
	for i := len(w.elements) - 1; i >= 0 && w.elements[i].raw; i-- {
		e := w.elements[i]
		if e.tag == name {
			w.closeTo(i)
			return
		}
		if inline && !inlineNames[e.name] || e.name == "table" || (e.name == "td" || e.name == "th") && !tableParts[name] {
			return
		}
	}
}
