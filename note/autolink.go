package note

import (
	"bytes"
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

// angleLinkParser records the <https://…> links that the library finds.
type angleLinkParser struct{ parser.InlineParser }

func (p angleLinkParser) Parse(parent ast.Node, block text.Reader, pc parser.Context) ast.Node {
	_, start := block.Position()
	n := p.InlineParser.Parse(parent, block, pc)
	if n == nil {
		return nil
	}
	_, end := block.Position()
	link := n.(*ast.AutoLink)
	url := string(link.URL(block.Source()))
	if link.AutoLinkType == ast.AutoLinkEmail {
		url = "mailto:" + url
	}
	f := factsOf(pc)
	f.links = append(f.links, urlFact(n, url, string(link.Label(block.Source())), start.Start, end.Start))
	return n
}

func urlFact(n ast.Node, url, label string, start, end int) linkFact {
	target, fragment, _ := strings.Cut(url, "#")
	return linkFact{node: n, Link: Link{Kind: AutoLink, Target: target, Fragment: fragment, Text: label, Start: start, End: end}}
}

// urlNode is a bare URL or address.
type urlNode struct {
	ast.BaseInline
	segment text.Segment
	URL     string
}

var kindURL = ast.NewNodeKind("URL")

func (n *urlNode) Kind() ast.NodeKind { return kindURL }

func (n *urlNode) Dump(src []byte, level int) {
	ast.DumpHelper(n, src, level, map[string]string{"URL": n.URL}, nil)
}

// urlParser finds bare URLs and e-mail addresses. It is called at their ':',
// '.' or '@' and looks back for where they start, so that ordinary words cost
// nothing.
type urlParser struct{}

func (urlParser) Trigger() []byte { return []byte{':', '@', '.'} }

func (urlParser) Parse(parent ast.Node, block text.Reader, pc parser.Context) ast.Node {
	line, segment := block.PeekLine()
	before, ok := parent.LastChild().(*ast.Text)
	if !ok || before.Segment.Stop != segment.Start || before.SoftLineBreak() {
		return nil
	}
	head := before.Segment.Value(block.Source())
	start, size, prefix := bareURL(head, line)
	if size == 0 {
		return nil
	}
	s := text.NewSegment(segment.Start-start, segment.Start+size)
	before.Segment.Stop = s.Start
	if before.Segment.Len() == 0 {
		parent.RemoveChild(parent, before)
	}
	label := string(s.Value(block.Source()))
	n := &urlNode{segment: s, URL: prefix + label}
	n.SetPos(s.Start)
	f := factsOf(pc)
	fact := urlFact(n, n.URL, label, s.Start, s.Stop)
	fact.bare = true
	f.links = append(f.links, fact)
	block.Advance(size)
	return n
}

// bareURL reports the URL that ends head and goes on in line: how many bytes of
// each are its, none of line if there is no URL, and what to prefix it with.
func bareURL(head, line []byte) (start, size int, prefix string) {
	switch line[0] {
	case ':':
		if !bytes.HasPrefix(line, []byte("://")) {
			return 0, 0, ""
		}
		start = trailing(head, isASCIILetter)
		switch string(bytes.ToLower(head[len(head)-min(start, 6):])) {
		case "http", "https", "ftp":
		default:
			return 0, 0, ""
		}
		size = urlEnd(line, 3)
		return start, size, ""
	case '.':
		start = trailing(head, isASCIILetter)
		if start != 3 || !bytes.HasSuffix(head, []byte("www")) {
			return 0, 0, ""
		}
		return start, urlEnd(line, 1), "http://"
	}
	start = trailing(head, func(c byte) bool { return isASCIIAlnum(c) || c == '.' || c == '+' || c == '-' })
	if start == 0 || start > 64 {
		return 0, 0, ""
	}
	size = emailEnd(line)
	return start, size, "mailto:"
}

// trailing counts the bytes at the end of s for which is holds, 0 if a digit, a
// letter or '_' precedes them.
func trailing(s []byte, is func(byte) bool) int {
	i := len(s)
	for i > 0 && len(s)-i < 70 && is(s[i-1]) {
		i--
	}
	if i > 0 && (isASCIIAlnum(s[i-1]) || s[i-1] == '_' || s[i-1] == '/') {
		return 0
	}
	return len(s) - i
}

// urlEnd returns the length of the URL whose first from bytes are in line,
// without the punctuation that ends a sentence; 0 if no more than they are.
func urlEnd(line []byte, from int) int {
	end, depth := from, 0
	for ; end < len(line) && urlByte(line[end:]); end++ {
		switch line[end] {
		case '(':
			depth++
		case ')':
			depth--
		}
	}
	for ; end > from; end-- {
		switch c := line[end-1]; {
		case c == ')' && depth < 0:
			depth++
		case bytes.IndexByte([]byte("?!.,:;*_~'"), c) < 0:
			return end
		}
	}
	return 0
}

// urlByte reports whether s goes on with a byte of a URL. Letters of all
// scripts may stand in one, the full stops and brackets of East Asia may not.
func urlByte(s []byte) bool {
	switch c := s[0]; {
	case c <= ' ' || bytes.IndexByte([]byte("<>[]\"`|\\"), c) >= 0:
		return false
	case c == 0xe3 && len(s) > 1 && s[1] == 0x80, // U+3000 to U+303F
		c == 0xef && len(s) > 1 && (s[1] == 0xbc || s[1] == 0xbd): // U+FF00 to U+FF7F
		return false
	}
	return true
}

// emailEnd returns the length of "@host.domain" at the start of line, or 0.
func emailEnd(line []byte) int {
	end, dot := 1, 0
	for ; end < len(line) && (isASCIIAlnum(line[end]) || line[end] == '-' || line[end] == '.'); end++ {
		if line[end] == '.' && end+1 < len(line) && isASCIIAlnum(line[end+1]) {
			dot = end
		}
	}
	for end > 1 && (line[end-1] == '.' || line[end-1] == '-') {
		end--
	}
	if dot <= 1 || end < len(line) && line[end] == '_' {
		return 0
	}
	return end
}

// hasScheme reports whether a link target names a scheme: "https://…",
// "mailto:…", but not "C:\…" or "Notes: a.md".
func hasScheme(target string) bool {
	if strings.HasPrefix(target, "//") {
		return true
	}
	scheme, rest, ok := strings.Cut(target, ":")
	if !ok || len(scheme) < 2 || !isASCIILetter(scheme[0]) || rest == "" || rest[0] == ' ' {
		return false
	}
	for i := range len(scheme) {
		if c := scheme[i]; !isASCIIAlnum(c) && c != '+' && c != '.' && c != '-' {
			return false
		}
	}
	return true
}
