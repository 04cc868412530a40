package convert

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"net/url"
	"path"
	"regexp"
	"strings"

	"github.com/JohannesKaufmann/html-to-markdown/v2/converter"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/base"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/commonmark"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/strikethrough"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/table"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// pictureSource returns the bytes of a picture that the document brings, by the
// name under which its text refers to it; nil for none.
type pictureSource func(src string) []byte

// writeHTML makes d.Body of a tree. Links that lead nowhere outside the page become
// text, pictures that the document brings become attachments.
func writeHTML(d *Doc, root *html.Node, from *url.URL, pictures pictureSource) error {
	if root == nil {
		return fmt.Errorf("%w: the page is empty", ErrNoText)
	}
	w := &htmlWriter{doc: d, base: from, pictures: pictures}
	for _, n := range elements(root) {
		switch n.DataAtom {
		case atom.A:
			w.link(n)
		case atom.Img:
			w.picture(n)
		case atom.Input:
			checkbox(n)
		}
	}
	w.dropTitle(root)
	md, err := newMarkdown().ConvertNode(root)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	d.Body = marks.Replace(footnotes.ReplaceAllString(formulas(string(md)), "[^$1]"))
	w.notices()
	return nil
}

var (
	marks     = strings.NewReplacer(escapeMark, `\`, openBox+" ", "[ ] ", tickedBox+" ", "[x] ", openBox, "[ ] ", tickedBox, "[x] ", "  <br />", "<br>")
	footnotes = regexp.MustCompile(`\\?\[` + noteMark + `([\w-]+)\\?\]`)
)

func newMarkdown() *converter.Converter {
	c := converter.NewConverter(converter.WithPlugins(
		base.NewBasePlugin(),
		commonmark.NewCommonmarkPlugin(
			commonmark.WithHorizontalRule("---"),
			commonmark.WithListEndComment(false),
			commonmark.WithLinkEmptyHrefBehavior(commonmark.LinkBehaviorSkip),
			commonmark.WithLinkEmptyContentBehavior(commonmark.LinkBehaviorSkip),
		),
		strikethrough.NewStrikethroughPlugin(),
		table.NewTablePlugin(
			table.WithHeaderPromotion(true),
			table.WithSkipEmptyRows(true),
			table.WithCellPaddingBehavior(table.CellPaddingBehaviorMinimal),
			table.WithNewlineBehavior(table.NewlineBehaviorPreserve),
		),
	))
	c.Register.TextTransformer(func(_ converter.Context, text string) string { return escapeVault(text) }, converter.PriorityEarly)
	return c
}

var (
	vaultMarks = strings.NewReplacer("==", "="+escapeMark+"=", "%%", "%"+escapeMark+"%", "$", escapeMark+"$")
	hashTag    = regexp.MustCompile(`(^|[\s(])#(\pL)`)
)

// escapeVault escapes what is markup in a vault and not in other Markdown:
// highlights, comments, formulas and tags.
func escapeVault(text string) string {
	return hashTag.ReplaceAllString(vaultMarks.Replace(text), "${1}"+escapeMark+"#${2}")
}

// htmlWriter makes links and pictures of a page what they can be in a note.
type htmlWriter struct {
	doc      *Doc
	base     *url.URL
	pictures pictureSource
	kept     int // bytes of attachments
	unlinked int
	dropped  int // pictures
}

// link makes a link absolute; one that leads elsewhere in the page, to a file
// beside it or to a script becomes its text.
func (w *htmlWriter) link(n *html.Node) {
	to, ok := w.absolute(attr(n, "href"))
	if ok {
		setAttr(n, "href", to)
		return
	}
	if href := strings.TrimSpace(attr(n, "href")); href != "" && !strings.HasPrefix(href, "#") {
		w.unlinked++
	}
	n.Data, n.DataAtom, n.Attr = "span", atom.Span, nil
}

// checkbox makes a task of an item of a list.
func checkbox(n *html.Node) {
	if attr(n, "type") != "checkbox" || n.Parent == nil {
		return
	}
	mark := openBox
	for _, a := range n.Attr {
		if a.Key == "checked" {
			mark = tickedBox
		}
	}
	replace(n, &html.Node{Type: html.TextNode, Data: mark})
}

// absolute resolves a reference; it is false for one that has no meaning outside
// the page.
func (w *htmlWriter) absolute(ref string) (string, bool) {
	ref = strings.TrimSpace(ref)
	u, err := url.Parse(ref)
	if err != nil || ref == "" || strings.HasPrefix(ref, "#") {
		return "", false
	}
	if w.base != nil {
		page := *w.base
		page.Fragment = ""
		u = w.base.ResolveReference(u)
		if same := *u; u.Fragment != "" {
			if same.Fragment, same.RawFragment = "", ""; same.String() == page.String() {
				return "", false
			}
		}
	}
	switch u.Scheme {
	case "http", "https":
		return u.String(), u.Host != ""
	case "mailto":
		return u.String(), true
	}
	return "", false
}

// picture makes an attachment of a picture that comes with the document, and a
// link of one that is elsewhere. Of another, its description stays.
func (w *htmlWriter) picture(n *html.Node) {
	if attr(n, "width") == "1" || attr(n, "height") == "1" { // it counts readers
		n.Parent.RemoveChild(n)
		return
	}
	src := attr(n, "src")
	if lazy := attr(n, "data-src"); lazy != "" && (src == "" || strings.HasPrefix(src, "data:")) {
		src = lazy
	}
	data := w.bytesOf(src)
	name := pictureName(data)
	switch {
	case name != "" && len(data) <= maxPicture && w.kept+len(data) <= maxPictures:
		w.attach(name, data)
		src = name
	default:
		to, ok := w.absolute(src)
		if !ok || data != nil {
			w.asText(n)
			return
		}
		src = to
	}
	alt := strings.Join(strings.Fields(attr(n, "alt")), " ")
	n.Attr = []html.Attribute{{Key: "src", Val: src}, {Key: "alt", Val: alt}}
}

func (w *htmlWriter) attach(name string, data []byte) {
	for _, a := range w.doc.Attachments {
		if a.Name == name {
			return
		}
	}
	w.kept += len(data)
	w.doc.Attachments = append(w.doc.Attachments, Attachment{name, data})
}

// asText leaves a picture's description.
func (w *htmlWriter) asText(n *html.Node) {
	w.dropped++
	alt := strings.TrimSpace(attr(n, "alt"))
	if alt != "" {
		alt = "[" + alt + "]"
	}
	replace(n, &html.Node{Type: html.TextNode, Data: alt})
}

// bytesOf is a picture's bytes, where the document has them.
func (w *htmlWriter) bytesOf(src string) []byte {
	if rest, ok := strings.CutPrefix(src, "data:"); ok {
		_, encoded, found := strings.Cut(rest, ";base64,")
		if b, err := base64.StdEncoding.DecodeString(encoded); found && err == nil {
			return b
		}
		return []byte{}
	}
	if w.pictures == nil || src == "" {
		return nil
	}
	return w.pictures(src)
}

// pictureDir is where a document's attachments are, beside it.
const pictureDir = "attachments"

// pictureName names a picture by its bytes, so that the same one is kept once; ""
// for what is no picture that everything shows.
func pictureName(b []byte) string {
	ext := ""
	switch {
	case strings.HasPrefix(string(b), "\x89PNG\r\n\x1a\n"):
		ext = ".png"
	case strings.HasPrefix(string(b), "\xff\xd8\xff"):
		ext = ".jpg"
	case strings.HasPrefix(string(b), "GIF8"):
		ext = ".gif"
	case len(b) > 12 && string(b[:4]) == "RIFF" && string(b[8:12]) == "WEBP":
		ext = ".webp"
	default:
		return ""
	}
	sum := sha256.Sum256(b)
	return path.Join(pictureDir, hex.EncodeToString(sum[:8])+ext)
}

// dropTitle removes a first heading that only repeats the title.
func (w *htmlWriter) dropTitle(root *html.Node) {
	for n := range root.Descendants() {
		switch {
		case n.Type == html.TextNode && strings.TrimSpace(n.Data) != "":
			return
		case n.Type == html.ElementNode && n.DataAtom == atom.H1:
			if strings.EqualFold(oneLine(textOf(n)), oneLine(w.doc.Title)) && n.Parent != nil {
				n.Parent.RemoveChild(n)
			}
			return
		}
	}
}

// notices says what did not come along.
func (w *htmlWriter) notices() {
	if w.dropped > 0 {
		w.doc.Notices = append(w.doc.Notices, counted(w.dropped, "picture is", "pictures are")+" left out")
	}
	if w.unlinked > 0 {
		w.doc.Notices = append(w.doc.Notices, counted(w.unlinked, "link", "links")+" to files beside it became text")
	}
}

func counted(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

var markedMath = regexp.MustCompile("(?s)(`+) ?([" + inlineMath + displayMath + "])(.*?) ?(`+)")

// formulas turns marked code into formulas.
func formulas(md string) string {
	if !strings.ContainsAny(md, inlineMath+displayMath) {
		return md
	}
	return markedMath.ReplaceAllStringFunc(md, func(m string) string {
		parts := markedMath.FindStringSubmatch(m)
		tex := strings.TrimSpace(parts[3])
		if inner, ok := strings.CutPrefix(tex, `{\displaystyle `); ok {
			tex = strings.TrimSuffix(inner, "}")
		}
		if parts[2] == displayMath {
			return "$$" + tex + "$$"
		}
		return "$" + tex + "$"
	})
}
