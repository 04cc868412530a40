package note

import (
	"bytes"
	"unicode"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

// tagNode is an inline #tag.
type tagNode struct {
	ast.BaseInline
	Name string
}

var kindTag = ast.NewNodeKind("Tag")

func (n *tagNode) Kind() ast.NodeKind { return kindTag }

func (n *tagNode) Dump(src []byte, level int) {
	ast.DumpHelper(n, src, level, map[string]string{"Name": n.Name}, nil)
}

type tagParser struct{}

func (tagParser) Trigger() []byte { return []byte{'#'} }

func (tagParser) Parse(_ ast.Node, block text.Reader, pc parser.Context) ast.Node {
	if !unicode.IsSpace(block.PrecendingCharacter()) {
		return nil
	}
	line, segment := block.PeekLine()
	size := inlineTag(line[1:])
	if size == 0 {
		return nil
	}
	n := &tagNode{Name: string(line[1 : 1+size])}
	f := factsOf(pc)
	f.tags = append(f.tags, tagFact{n.Name, segment.Start})
	block.Advance(1 + size)
	return n
}

// blockIDNode is the " ^id" that ends a block.
type blockIDNode struct {
	ast.BaseInline
	ID string
}

var kindBlockID = ast.NewNodeKind("BlockID")

func (n *blockIDNode) Kind() ast.NodeKind { return kindBlockID }

func (n *blockIDNode) Dump(src []byte, level int) {
	ast.DumpHelper(n, src, level, map[string]string{"ID": n.ID}, nil)
}

type blockIDParser struct{}

func (blockIDParser) Trigger() []byte { return []byte{'^'} }

func (blockIDParser) Parse(parent ast.Node, block text.Reader, pc parser.Context) ast.Node {
	line, segment := block.PeekLine()
	size := 1
	for size < len(line) && (isASCIIAlnum(line[size]) || line[size] == '-') {
		size++
	}
	if size == 1 || !blank(line[size:]) || !unicode.IsSpace(block.PrecendingCharacter()) {
		return nil
	}
	block.AdvanceLine()
	if rest, _ := block.PeekLine(); rest != nil {
		return nil
	}
	n := &blockIDNode{ID: string(line[1:size])}
	f := factsOf(pc)
	f.blocks = append(f.blocks, blockFact{id: n.ID, offset: segment.Start, parent: parent, alone: !parent.HasChildren()})
	return n
}

// highlightNode is a ==highlight==.
type highlightNode struct{ ast.BaseInline }

var kindHighlight = ast.NewNodeKind("Highlight")

func (n *highlightNode) Kind() ast.NodeKind { return kindHighlight }

func (n *highlightNode) Dump(src []byte, level int) { ast.DumpHelper(n, src, level, nil, nil) }

// highlightParser reads "==" as the library reads "**".
type highlightParser struct{}

func (highlightParser) Trigger() []byte { return []byte{'='} }

func (p highlightParser) Parse(_ ast.Node, block text.Reader, pc parser.Context) ast.Node {
	before := block.PrecendingCharacter()
	line, segment := block.PeekLine()
	d := parser.ScanDelimiter(line, before, 2, p)
	if d == nil || d.OriginalLength != 2 || before == '=' {
		return nil
	}
	d.Segment = segment.WithStop(segment.Start + 2)
	block.Advance(2)
	pc.PushDelimiter(d)
	return d
}

func (highlightParser) IsDelimiter(c byte) bool { return c == '=' }

func (highlightParser) CanOpenCloser(opener, closer *parser.Delimiter) bool {
	return opener.Char == closer.Char
}

func (highlightParser) OnMatch(int) ast.Node { return &highlightNode{} }

// commentNode is an %%inline comment%%.
type commentNode struct{ ast.BaseInline }

var (
	kindComment = ast.NewNodeKind("Comment")
	commentMark = []byte("%%")
)

func (n *commentNode) Kind() ast.NodeKind { return kindComment }

func (n *commentNode) Dump(src []byte, level int) { ast.DumpHelper(n, src, level, nil, nil) }

type commentParser struct{}

func (commentParser) Trigger() []byte { return []byte{'%'} }

func (commentParser) Parse(_ ast.Node, block text.Reader, pc parser.Context) ast.Node {
	line, segment := block.PeekLine()
	f := factsOf(pc)
	if !bytes.HasPrefix(line, commentMark) || segment.Start >= f.lastComment {
		return nil
	}
	start := segment.Start
	for block.Advance(2); ; block.AdvanceLine() {
		line, segment = block.PeekLine()
		if line == nil {
			return nil
		}
		if i := bytes.Index(line, commentMark); i >= 0 {
			block.Advance(i + 2)
			f.skip = append(f.skip, Span{start, segment.Start + i + 2})
			return &commentNode{}
		}
	}
}

// rawHTMLParser records where HTML stands among text.
type rawHTMLParser struct{ parser.InlineParser }

func (p rawHTMLParser) Parse(parent ast.Node, block text.Reader, pc parser.Context) ast.Node {
	n := p.InlineParser.Parse(parent, block, pc)
	if html, ok := n.(*ast.RawHTML); ok {
		f := factsOf(pc)
		for i := range html.Segments.Len() {
			s := html.Segments.At(i)
			f.skip = append(f.skip, Span{s.Start, s.Stop})
		}
		if last := html.Segments.Len() - 1; last >= 0 {
			f.addAnchors(html.Segments.At(0).Start, html.Segments.At(last).Stop)
		}
	}
	return n
}
