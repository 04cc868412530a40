package note

import (
	"bytes"
	"unicode/utf8"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// The Markdown library takes time that grows with the square of some inputs:
// with the depth of blocks, the length of a paragraph, the cells that a table
// is padded to, the number of footnotes. These bounds, far above what people
// write, keep each of them linear.
const (
	maxBlockDepth  = 64        // quotes, lists and footnotes within each other
	maxHeading     = 1 << 10   // bytes of a heading
	maxParagraph   = 8 << 10   // bytes of a paragraph whose markup is read together
	maxDefinitions = 4 << 10   // bytes of link reference definitions read together
	maxBlankRun    = 16        // blank lines in a row
	maxTableLine   = 8 << 10   // bytes of a table's line
	maxTableCells  = 100 << 10 // columns times lines of a table
	maxFootnotes   = 1 << 10   // definitions in a note
)

// blankSkipper takes blank lines in a row beyond maxBlankRun for one: each of
// them costs the library as much as blocks are open.
type blankSkipper struct{ text.Reader }

func (r *blankSkipper) AdvanceLine() {
	r.Reader.AdvanceLine()
	src := r.Source()
	number, line := r.Position()
	run, last := 0, line.Start
	for at := last; at < len(src); run++ {
		next := lineEnd(src, at)
		if !util.IsBlank(src[at:next]) {
			break
		}
		last, at = at, next
	}
	if run > maxBlankRun {
		r.SetPosition(number-1, text.NewSegment(line.Start, last))
		r.Reader.AdvanceLine()
	}
}

// shallow opens no block below maxBlockDepth; what would open one is text.
type shallow struct{ parser.BlockParser }

func (p shallow) Open(parent ast.Node, r text.Reader, pc parser.Context) (ast.Node, parser.State) {
	if len(pc.OpenedBlocks()) >= maxBlockDepth {
		return nil, parser.NoChildren
	}
	return p.BlockParser.Open(parent, r, pc)
}

// shortHeading opens no heading from an over-long line or paragraph.
type shortHeading struct{ parser.BlockParser }

func (p shortHeading) Open(parent ast.Node, r text.Reader, pc parser.Context) (ast.Node, parser.State) {
	line, _ := r.PeekLine()
	size := len(line)
	if last, ok := pc.LastOpenedBlock().Node.(*ast.Paragraph); ok && line[max(pc.BlockOffset(), 0)] != '#' {
		size = extent(last.Lines())
	}
	if size > maxHeading {
		return nil, parser.NoChildren
	}
	return p.BlockParser.Open(parent, r, pc)
}

func extent(lines *text.Segments) int {
	if lines.Len() == 0 {
		return 0
	}
	return lines.At(lines.Len()-1).Stop - lines.At(0).Start
}

// fewFootnotes defines at most maxFootnotes footnotes; the rest is text.
type fewFootnotes struct{ parser.BlockParser }

func (p fewFootnotes) Open(parent ast.Node, r text.Reader, pc parser.Context) (ast.Node, parser.State) {
	f := factsOf(pc)
	if f.footnotes >= maxFootnotes {
		return nil, parser.NoChildren
	}
	n, state := p.BlockParser.Open(parent, r, pc)
	if n != nil {
		f.footnotes++
	}
	return n, state
}

// boundedTable makes no table whose cells would outnumber its bytes by far.
type boundedTable struct{ parser.ParagraphTransformer }

func (t boundedTable) Transform(n *ast.Paragraph, r text.Reader, pc parser.Context) {
	lines := n.Lines()
	if lines.Len() < 2 {
		return
	}
	columns, delimiter := 0, false
	for i := range lines.Len() {
		segment := lines.At(i)
		line := segment.Value(r.Source())
		if len(line) > maxTableLine {
			return
		}
		if i > 0 && isDelimiterLine(line) {
			delimiter = true
			columns = max(columns, 1+bytes.Count(line, []byte{'|'}))
		}
	}
	if delimiter && columns*lines.Len() <= maxTableCells {
		t.ParagraphTransformer.Transform(n, r, pc)
	}
}

func isDelimiterLine(line []byte) bool {
	for _, c := range line {
		if c != '-' && c != '|' && c != ':' && c != ' ' && c != '\t' && c != '\n' {
			return false
		}
	}
	return true
}

// referenceReader reads the link reference definitions at the start of a
// paragraph as the library does, a few at a time: its work grows with the square
// of what it is given.
type referenceReader struct{}

func (referenceReader) Transform(n *ast.Paragraph, r text.Reader, pc parser.Context) {
	parent := n.Parent()
	for n.Lines().Len() > 0 {
		first := n.Lines().At(0)
		if !bytes.HasPrefix(bytes.TrimLeft(first.Value(r.Source()), " "), []byte{'['}) {
			return
		}
		few, rest := splitLines(n.Lines(), maxDefinitions)
		part := ast.NewParagraph()
		part.SetLines(few)
		part.SetBlankPreviousLines(n.HasBlankPreviousLines())
		parent.InsertBefore(parent, n, part)
		parser.LinkReferenceParagraphTransformer.Transform(part, r, pc)
		if part.Parent() != nil {
			parent.RemoveChild(parent, part)
			left := part.Lines()
			left.AppendAll(rest)
			n.SetLines(left)
			return
		}
		lines := text.NewSegments()
		lines.AppendAll(rest)
		n.SetLines(lines)
	}
	parent.RemoveChild(parent, n)
}

// splitLines returns the first lines, up to size bytes, and the others.
func splitLines(lines *text.Segments, size int) (first *text.Segments, rest []text.Segment) {
	first = text.NewSegments()
	i, total := 0, 0
	for ; i < lines.Len(); i++ {
		s := lines.At(i)
		if total += s.Len(); total > size && i > 0 {
			break
		}
		first.Append(s)
	}
	return first, lines.Sliced(i, lines.Len())
}

// paragraphSplitter cuts an over-long paragraph into several, at a line, in a
// line at a space, in a word anywhere.
type paragraphSplitter struct{}

func (paragraphSplitter) Transform(n *ast.Paragraph, r text.Reader, _ parser.Context) {
	if n.Parent() == nil || extent(n.Lines()) <= maxParagraph {
		return
	}
	var parts []*text.Segments
	size := maxParagraph
	for i := range n.Lines().Len() {
		for _, piece := range cutSegment(n.Lines().At(i), r.Source()) {
			if size+piece.Len() > maxParagraph {
				parts = append(parts, text.NewSegments())
				size = 0
			}
			parts[len(parts)-1].Append(piece)
			size += piece.Len()
		}
	}
	n.SetLines(parts[0])
	var last ast.Node = n
	for _, lines := range parts[1:] {
		p := ast.NewParagraph()
		p.SetLines(lines)
		p.SetPos(lines.At(0).Start)
		n.Parent().InsertAfter(n.Parent(), last, p)
		last = p
	}
}

func cutSegment(s text.Segment, src []byte) []text.Segment {
	var pieces []text.Segment
	for s.Len() > maxParagraph {
		cut := wordBorder(src, s.Start, s.Start+maxParagraph)
		pieces = append(pieces, s.WithStop(cut))
		s = text.NewSegment(cut, s.Stop)
	}
	return append(pieces, s)
}

// wordBorder returns the last offset in (from, to] after a space, or else the
// last that is no inside of a character.
func wordBorder(src []byte, from, to int) int {
	if i := bytes.LastIndexAny(src[from:to], " \t"); i > 0 {
		return from + i + 1
	}
	return runeBorder(src, from, to)
}

// runeBorder returns the last offset in (from, to] where a character starts.
func runeBorder(src []byte, from, to int) int {
	for cut := to; cut > from && cut > to-utf8.UTFMax; cut-- {
		if cut == len(src) || utf8.RuneStart(src[cut]) {
			return cut
		}
	}
	return to
}
