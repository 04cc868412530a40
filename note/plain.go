package note

import (
	"bytes"
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/util"
)

// plainText returns what a reader sees of a node's inline content, in one
// line. Images count by their description if images is true.
func plainText(n ast.Node, src []byte, images bool) string {
	var b strings.Builder
	writePlain(&b, n, src, images, 0)
	s := b.String()
	if strings.Contains(s, "  ") || strings.ContainsAny(s, "\n\t") {
		return strings.Join(strings.Fields(s), " ")
	}
	return strings.TrimSpace(s)
}

func writePlain(b *strings.Builder, n ast.Node, src []byte, images bool, depth int) {
	if depth > 500 {
		return
	}
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		switch c := c.(type) {
		case *ast.Text:
			writeText(b, c, src)
		case *ast.String:
			b.Write(c.Value)
		case *bracketNode:
			b.Write(c.segment.Value(src))
		case *ast.AutoLink:
			b.Write(c.Label(src))
		case *urlNode:
			b.Write(c.segment.Value(src))
		case *wikiLinkNode:
			if images || !c.link.Embed {
				b.WriteString(c.link.Text)
			}
		case *tagNode:
			b.WriteString("#" + c.Name)
		case *ast.Image:
			if images {
				writePlain(b, c, src, images, depth+1)
			}
		case *mathNode:
			b.Write(c.source)
		case *ast.RawHTML, *commentNode, *blockIDNode, *inlineFootnote:
		default:
			writePlain(b, c, src, images, depth+1)
		}
	}
}

func writeText(b *strings.Builder, t *ast.Text, src []byte) {
	v := t.Segment.Value(src)
	if !t.IsRaw() && bytes.ContainsAny(v, "\\&") {
		v = util.UnescapePunctuations(v)
		v = util.ResolveEntityNames(util.ResolveNumericReferences(v))
	}
	b.Write(v)
	if t.SoftLineBreak() || t.HardLineBreak() {
		b.WriteByte(' ')
	}
}
