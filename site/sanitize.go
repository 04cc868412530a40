package site

import (
	"regexp"

	"github.com/microcosm-cc/bluemonday"
)

// newPolicy returns what cleans the raw HTML of notes. It lets through what
// GitHub does: text markup, lists, tables, details, images and media. It drops
// scripts, styles and frames with their content; forms; SVG and MathML; style and
// class attributes and event handlers; and URLs whose scheme is none of http,
// https, mailto and kb. Ids and URLs pass, for package note to give the ids a
// prefix and to resolve the URLs.
func newPolicy() func([]byte) []byte {
	p := bluemonday.NewPolicy()
	p.AllowElements("abbr", "address", "article", "aside", "b", "bdi", "bdo", "big", "blockquote", "br", "caption", "center", "cite", "code",
		"col", "colgroup", "data", "dd", "del", "details", "dfn", "div", "dl", "dt", "em", "figcaption", "figure", "font", "footer",
		"h1", "h2", "h3", "h4", "h5", "h6", "header", "hr", "i", "ins", "kbd", "li", "mark", "ol", "p", "picture", "pre", "q", "rp", "rt", "ruby", "s",
		"samp", "section", "small", "span", "strike", "strong", "sub", "summary", "sup", "table", "tbody", "td", "tfoot", "th", "thead", "time", "tr",
		"tt", "u", "ul", "var", "wbr")
	p.AllowNoAttrs().OnElements("a", "img", "audio", "video", "source", "font", "span")
	p.AllowAttrs("href", "name").OnElements("a")
	p.AllowAttrs("src", "alt").OnElements("img")
	p.AllowAttrs("src").OnElements("audio", "video", "source", "track")
	p.AllowAttrs("controls", "loop", "muted").OnElements("audio", "video")
	p.AllowAttrs("kind", "srclang", "label").OnElements("track")
	p.AllowAttrs("id", "title", "lang").Globally()
	p.AllowAttrs("dir").Matching(regexp.MustCompile(`^(?i:ltr|rtl|auto)$`)).Globally()
	number := regexp.MustCompile(`^[0-9]{1,5}%?$`)
	p.AllowAttrs("width", "height").Matching(number).OnElements("img", "video", "table", "td", "th", "col")
	p.AllowAttrs("colspan", "rowspan", "span").Matching(regexp.MustCompile(`^[0-9]{1,3}$`)).OnElements("td", "th", "col", "colgroup")
	p.AllowAttrs("start", "value").Matching(regexp.MustCompile(`^-?[0-9]{1,9}$`)).OnElements("ol", "li")
	p.AllowAttrs("align", "valign").Matching(regexp.MustCompile(`^(?i:left|right|center|top|middle|bottom|baseline)$`)).
		OnElements("p", "div", "img", "table", "tr", "td", "th", "col", "h1", "h2", "h3", "h4", "h5", "h6")
	p.AllowAttrs("type").Matching(regexp.MustCompile(`^[1aAiI]$`)).OnElements("ol")
	p.AllowAttrs("open", "reversed").Matching(regexp.MustCompile(`^[a-z]*$`)).OnElements("details", "ol")
	p.AllowAttrs("datetime").OnElements("time", "del", "ins")
	p.AllowAttrs("scope").Matching(regexp.MustCompile(`^(?i:row|col|rowgroup|colgroup)$`)).OnElements("th")
	p.AllowURLSchemes("http", "https", "mailto", "kb")
	p.AllowRelativeURLs(true)
	p.RequireParseableURLs(true)
	p.RequireNoFollowOnLinks(false)
	return p.SanitizeBytes
}
