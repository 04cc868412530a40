package note

import (
	"bytes"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

var mathMark = []byte("$$")

// mathNode is $inline$ or, within a paragraph, $$display$$ math.
type mathNode struct {
	ast.BaseInline
	TeX, source []byte
	Display     bool
}

var kindMath = ast.NewNodeKind("Math")

func (n *mathNode) Kind() ast.NodeKind { return kindMath }

func (n *mathNode) Dump(src []byte, level int) {
	ast.DumpHelper(n, src, level, map[string]string{"TeX": string(n.TeX)}, nil)
}

// mathParser reads math as Pandoc and Obsidian delimit it. So that prices and
// variables stay text, "$" opens only before what is no space and after what is
// no letter or digit, and closes only the other way round. The content has no
// other "$" but escaped ones.
type mathParser struct{}

func (mathParser) Trigger() []byte { return []byte{'$'} }

func (mathParser) Parse(_ ast.Node, block text.Reader, _ parser.Context) ast.Node {
	before := block.PrecendingCharacter()
	line, segment := block.PeekLine()
	n := &mathNode{}
	size := 1
	if n.Display = bytes.HasPrefix(line, mathMark); n.Display {
		size = 2
	} else if len(line) < 3 || util.IsSpace(line[1]) || before == '$' || before < 0x80 && isASCIIAlnum(byte(before)) {
		return nil
	}
	block.Advance(size)
	n.source = append(n.source, segment.Value(block.Source())[:size]...)
	for {
		line, _ = block.PeekLine()
		if line == nil {
			return nil
		}
		i := unescapedDollar(line)
		if i < 0 {
			n.source = append(n.source, line...)
			block.AdvanceLine()
			continue
		}
		n.source = append(n.source, line[:i]...)
		if !n.closes(line[i:], size) {
			return nil
		}
		n.TeX = bytes.TrimSpace(n.source[size:])
		n.source = append(n.source, line[i:i+size]...)
		block.Advance(i + size)
		return n
	}
}

// closes reports whether the dollar that rest starts with ends the math that
// n.source holds so far.
func (n *mathNode) closes(rest []byte, size int) bool {
	content := n.source[size:]
	if blank(content) {
		return false
	}
	if n.Display {
		return bytes.HasPrefix(rest, mathMark)
	}
	return !util.IsSpace(content[len(content)-1]) && (len(rest) == 1 || rest[1] != '$' && !isASCIIAlnum(rest[1]))
}

// unescapedDollar returns the offset of the first '$' of line that no '\'
// escapes, or -1.
func unescapedDollar(line []byte) int {
	for i := 0; i < len(line); i++ {
		switch line[i] {
		case '\\':
			i++
		case '$':
			return i
		}
	}
	return -1
}

// mathBlock is display math that starts a line with "$$". Without an end it is
// shown as written.
type mathBlock struct {
	ast.BaseBlock
	closed bool
}

var kindMathBlock = ast.NewNodeKind("MathBlock")

func (n *mathBlock) Kind() ast.NodeKind { return kindMathBlock }

func (n *mathBlock) IsRaw() bool { return true }

func (n *mathBlock) Dump(src []byte, level int) { ast.DumpHelper(n, src, level, nil, nil) }

// source returns the block as written.
func (n *mathBlock) text(src []byte) []byte { return bytes.TrimSpace(n.Lines().Value(src)) }

// tex returns what stands between the marks.
func (n *mathBlock) tex(src []byte) []byte {
	s := bytes.TrimPrefix(n.text(src), mathMark)
	return bytes.TrimSpace(bytes.TrimSuffix(s, mathMark))
}

type mathBlockParser struct{}

func (mathBlockParser) Trigger() []byte { return []byte{'$'} }

func (mathBlockParser) Open(_ ast.Node, r text.Reader, pc parser.Context) (ast.Node, parser.State) {
	line, segment := r.PeekLine()
	at := pc.BlockOffset()
	if at < 0 || !bytes.HasPrefix(line[at:], mathMark) {
		return nil, parser.NoChildren
	}
	n := &mathBlock{}
	switch end := bytes.Index(line[at+2:], mathMark); {
	case end < 0 && factsOf(pc).lastMath < segment.Stop:
		return nil, parser.NoChildren
	case end >= 0 && (blank(line[at+2:at+2+end]) || !blank(line[at+4+end:])):
		return nil, parser.NoChildren
	case end >= 0:
		n.closed = true
	}
	n.Lines().Append(segment)
	r.AdvanceToEOL()
	return n, parser.NoChildren
}

func (mathBlockParser) Continue(node ast.Node, r text.Reader, _ parser.Context) parser.State {
	n := node.(*mathBlock)
	if n.closed {
		return parser.Close
	}
	line, segment := r.PeekLine()
	n.Lines().Append(segment)
	n.closed = bytes.HasSuffix(bytes.TrimSpace(line), mathMark)
	r.AdvanceToEOL()
	return parser.Continue | parser.NoChildren
}

func (mathBlockParser) Close(ast.Node, text.Reader, parser.Context) {}

func (mathBlockParser) CanInterruptParagraph() bool { return true }
func (mathBlockParser) CanAcceptIndentedLine() bool { return false }
