package note

import (
	"path"
	"strconv"
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/util"
	"golang.org/x/net/html"
)

// link renders a link, an image or an embed that is shown as one.
func (w *htmlWriter) link(n ast.Node) {
	l := w.links[n]
	switch n := n.(type) {
	case *wikiLinkNode:
		if l.Embed {
			w.media(l, wikiLabel(w.src[l.Start:l.End]), "")
			return
		}
		w.anchor(l, "", func() { w.text([]byte(l.Text)) })
	case *ast.Image:
		w.media(l, l.Text, string(n.Title))
	case *ast.Link:
		w.anchor(l, unescaped(n.Title), func() { w.inlines(n) })
	default:
		w.anchor(l, "", func() { w.text([]byte(l.Text)) })
	}
}

// anchor renders a link around what content writes.
func (w *htmlWriter) anchor(l Link, title string, content func()) {
	h := w.href(l)
	if title == "" {
		title = h.Title
	}
	switch {
	case h.URL == "":
		w.open("span").str(` class="broken"`)
	case w.linked > 0:
		w.open("span")
	default:
		w.open("a").attr("class", h.Class).attr("href", escapeURL(h.URL))
	}
	w.attr("title", title).str(">")
	content()
	w.close()
}

// href returns what a link becomes, without a URL if that is not allowed.
func (w *htmlWriter) href(l Link) Href {
	var h Href
	_, raw := w.rawIDs[l.Fragment]
	switch {
	case w.Link != nil:
		h = w.Link(l)
	case l.Target == "" && l.Fragment != "" && !raw:
		h.URL = "#" + l.Fragment
	case hasScheme(l.Target):
		h = Href{URL: l.Target, External: true}
		if l.Fragment != "" {
			h.URL += "#" + l.Fragment
		}
	}
	if raw && h.URL == "" && l.Kind == MarkdownLink && l.Target == "" {
		h.URL = "#" + w.Prefix + userID + l.Fragment
	}
	if !safeURL(h.URL) {
		h.URL = ""
	}
	return h
}

// embedded returns the blocks that n embeds.
func (w *htmlWriter) embedded(n ast.Node) (html []byte, ok bool) {
	if w.Embed == nil || w.linked > 0 || n.Kind() != kindWikiLink && n.Kind() != ast.KindImage {
		return nil, false
	}
	if l := w.links[n]; l.Embed && (l.Kind == WikiLink || noteTarget(l)) && mediaOf(l.Target) == mediaNone {
		return w.Embed(l)
	}
	return nil, false
}

// wikiLabel returns what follows the target in "![[target|label]]".
func wikiLabel(source []byte) string {
	_, label, _ := strings.Cut(string(source[3:len(source)-2]), "|")
	return strings.TrimSpace(label)
}

func noteTarget(l Link) bool {
	_, ok := noteStem(strings.ToLower(l.Target))
	return ok && !hasScheme(l.Target)
}

// media renders an image, a sound, a film, or a link to what is none of them.
// Its label is a description, a size or both: "what|300x200".
func (w *htmlWriter) media(l Link, label, title string) {
	h := w.href(l)
	kind := mediaOf(l.Target)
	if kind == mediaNone && l.Kind == MarkdownLink {
		kind = mediaImage
	}
	alt, width, height := splitSize(label)
	width, height = scaled(width, height, h)
	if alt == "" && kind != mediaImage {
		alt = shownTarget(l)
	}
	switch {
	case h.URL == "" || h.External || kind == mediaNone || kind == mediaFile:
		w.anchorTo(h, alt, l)
		return
	case kind == mediaImage:
		w.str("<img").attr("src", escapeURL(h.URL)).str(` alt="`).text([]byte(alt)).str(`" loading="lazy" decoding="async"`)
	case kind == mediaAudio:
		w.str(`<audio controls preload="none"`).attr("src", escapeURL(h.URL)).attr("aria-label", alt)
	case kind == mediaVideo:
		w.str(`<video controls preload="metadata"`).attr("src", escapeURL(h.URL)).attr("aria-label", alt)
	}
	if width > 0 && kind != mediaAudio {
		w.attr("width", strconv.Itoa(width))
	}
	if height > 0 && kind != mediaAudio {
		w.attr("height", strconv.Itoa(height))
	}
	w.attr("class", h.Class).attr("title", title).str(">")
	switch kind {
	case mediaAudio:
		w.str("</audio>")
	case mediaVideo:
		w.str("</video>")
	}
}

// anchorTo renders what is embedded as a link to it.
func (w *htmlWriter) anchorTo(h Href, alt string, l Link) {
	if alt == "" {
		alt = shownTarget(l)
	}
	name := "span"
	switch {
	case h.URL == "":
		w.open(name).str(` class="broken"`)
	case w.linked > 0:
		w.open(name)
	default:
		w.open("a").attr("class", h.Class).attr("href", escapeURL(h.URL))
	}
	w.attr("title", h.Title).str(">").text([]byte(alt)).close()
}

// splitSize takes the size from the end of a label.
func splitSize(label string) (alt string, width, height int) {
	alt, size := "", label
	if i := strings.LastIndexByte(label, '|'); i >= 0 {
		alt, size = strings.TrimSpace(label[:i]), label[i+1:]
	}
	size = strings.TrimSpace(size)
	if size == "" || !imageSize(size) {
		return label, 0, 0
	}
	wide, high, _ := strings.Cut(size, "x")
	width, height = pixels(wide), pixels(high)
	return alt, width, height
}

func pixels(s string) int {
	if n, err := strconv.Atoi(s); err == nil && n < 1<<15 {
		return n
	}
	return 0
}

// scaled returns the size to show an image at: as asked for, the other side in
// proportion.
func scaled(width, height int, h Href) (int, int) {
	switch {
	case width == 0 && height == 0:
		return h.Width, h.Height
	case height == 0 && h.Width > 0:
		height = (h.Height*width + h.Width/2) / h.Width
	case width == 0 && h.Height > 0:
		width = (h.Width*height + h.Height/2) / h.Height
	}
	return width, height
}

type mediaKind int

const (
	mediaNone mediaKind = iota
	mediaImage
	mediaAudio
	mediaVideo
	mediaFile // shown by a link
)

var mediaKinds = map[string]mediaKind{
	".png": mediaImage, ".jpg": mediaImage, ".jpeg": mediaImage, ".gif": mediaImage, ".svg": mediaImage, ".webp": mediaImage, ".avif": mediaImage, ".bmp": mediaImage, ".ico": mediaImage,
	".mp3": mediaAudio, ".wav": mediaAudio, ".m4a": mediaAudio, ".ogg": mediaAudio, ".oga": mediaAudio, ".3gp": mediaAudio, ".flac": mediaAudio, ".opus": mediaAudio, ".aac": mediaAudio,
	".mp4": mediaVideo, ".webm": mediaVideo, ".ogv": mediaVideo, ".mov": mediaVideo, ".mkv": mediaVideo, ".m4v": mediaVideo,
	".pdf": mediaFile, ".canvas": mediaFile, ".base": mediaFile,
}

func mediaOf(target string) mediaKind {
	target, _, _ = strings.Cut(target, "?")
	return mediaKinds[strings.ToLower(path.Ext(target))]
}

// safeURL reports whether a URL may stand in a page: it is relative, or of an
// allowed scheme however that is written. Browsers ignore white space and control
// characters before and in a scheme.
func safeURL(url string) bool {
	var scheme strings.Builder
	for _, r := range html.UnescapeString(url) {
		switch {
		case r == '/' || r == '?' || r == '#':
			return true
		case r == ':':
			return safeSchemes[strings.ToLower(scheme.String())]
		case r > ' ' && r != 0x7f && (r < 0x80 || r > 0xa0) && r != '\ufeff' && (r < '\u2000' || r > '\u200f'):
			scheme.WriteRune(r)
		}
	}
	return url != ""
}

var safeSchemes = names("http https mailto kb")

// escapeURL escapes what may not stand in a URL, and leaves what is escaped.
func escapeURL(url string) string {
	return string(util.URLEscape([]byte(url), false))
}

// unescaped returns a link's title as a reader sees it.
func unescaped(title []byte) string {
	return html.UnescapeString(string(util.UnescapePunctuations(title)))
}
