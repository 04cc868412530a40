package note

import (
	"bytes"
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

// maxCalloutType bounds the bytes of "type|metadata".
const maxCalloutType = 100

// calloutTitle is the first line of a callout, a quote that starts with
// "[!type]", "[!type]+" or "[!type]-" and then, maybe, its title.
type calloutTitle struct {
	ast.BaseBlock
	Name string // the type, in lower case
	Fold byte   // '+' foldable, '-' folded, 0 neither
}

var kindCalloutTitle = ast.NewNodeKind("CalloutTitle")

func (n *calloutTitle) Kind() ast.NodeKind { return kindCalloutTitle }

func (n *calloutTitle) Dump(src []byte, level int) {
	ast.DumpHelper(n, src, level, map[string]string{"Name": n.Name}, nil)
}

// calloutReader splits the title of a callout from the paragraph it starts.
type calloutReader struct{}

func (calloutReader) Transform(n *ast.Paragraph, r text.Reader, _ parser.Context) {
	quote, ok := n.Parent().(*ast.Blockquote)
	if !ok || n.PreviousSibling() != nil || n.Lines().Len() == 0 {
		return
	}
	first := n.Lines().At(0)
	title, size := calloutMark(first.Value(r.Source()))
	if size == 0 {
		return
	}
	title.SetPos(first.Start)
	first = first.WithStart(first.Start + size)
	first = first.TrimRightSpace(r.Source())
	if first = first.TrimLeftSpace(r.Source()); first.Len() > 0 {
		title.Lines().Append(first)
	}
	quote.InsertBefore(quote, n, title)
	if n.Lines().Len() == 1 {
		quote.RemoveChild(quote, n)
		return
	}
	rest := text.NewSegments()
	rest.AppendAll(n.Lines().Sliced(1, n.Lines().Len()))
	n.SetLines(rest)
	n.SetPos(rest.At(0).Start)
}

// calloutMark reads "[!type]" and the sign after it, of which it returns the
// length, 0 if line does not start so.
func calloutMark(line []byte) (*calloutTitle, int) {
	if !bytes.HasPrefix(line, []byte("[!")) {
		return nil, 0
	}
	name := line[2:min(len(line), 2+maxCalloutType)]
	end := bytes.IndexByte(name, ']')
	if end <= 0 {
		return nil, 0
	}
	name, _, _ = bytes.Cut(name[:end], []byte{'|'})
	name = bytes.TrimSpace(name)
	if len(name) == 0 || bytes.ContainsAny(name, "[]\n") {
		return nil, 0
	}
	n, size := &calloutTitle{Name: strings.ToLower(string(name))}, end+3
	if size < len(line) && (line[size] == '+' || line[size] == '-') {
		n.Fold = line[size]
		size++
	}
	return n, size
}
