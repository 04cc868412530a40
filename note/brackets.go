package note

import (
	"bytes"
	"net/url"
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

const (
	maxLabel  = 999 // CommonMark's bound of a link label
	maxParens = 32  // parentheses within each other in a link's destination
)

// linkParser reads [text](target), ![…](…), reference links and ^[footnotes].
// It does what CommonMark says, as the library's own does, but records where a link ends,
// takes time linear in the brackets, and finds a link however far behind an open
// bracket it stands.
type linkParser struct{}

// brackets are the open brackets of the block being read.
type brackets struct {
	open     []*bracketNode
	inactive int // so many of them, from the outermost, hold a link already
}

// bracketNode stands for '[', "![" or "^[" until it is known to open something
// or not.
type bracketNode struct {
	ast.BaseInline
	segment text.Segment
	mark    byte // what stands before an image's or footnote's '[': '!' or '^'; else '['
	links   int  // links recorded before it
	bottom  *parser.Delimiter
}

var kindBracket = ast.NewNodeKind("Bracket")

func (n *bracketNode) Kind() ast.NodeKind { return kindBracket }

func (n *bracketNode) Dump(src []byte, level int) { ast.DumpHelper(n, src, level, nil, nil) }

// asText makes a bracket that opens nothing text.
func (n *bracketNode) asText() {
	n.Parent().ReplaceChild(n.Parent(), n, ast.NewTextSegment(n.segment))
}

func (linkParser) Trigger() []byte { return []byte{'!', '^', '[', ']'} }

func (p linkParser) Parse(parent ast.Node, block text.Reader, pc parser.Context) ast.Node {
	line, segment := block.PeekLine()
	f := factsOf(pc)
	switch {
	case line[0] == ']':
		return p.close(parent, block, pc)
	case line[0] == '[':
		return f.openBracket(block, segment.WithStop(segment.Start+1), pc)
	case len(line) > 1 && line[1] == '[':
		return f.openBracket(block, segment.WithStop(segment.Start+2), pc)
	}
	return nil
}

func (f *facts) openBracket(block text.Reader, s text.Segment, pc parser.Context) ast.Node {
	n := &bracketNode{segment: s, mark: f.src[s.Start], links: len(f.links), bottom: pc.LastDelimiter()}
	f.brackets.open = append(f.brackets.open, n)
	block.Advance(s.Len())
	return n
}

func (p linkParser) close(parent ast.Node, block text.Reader, pc parser.Context) ast.Node {
	f := factsOf(pc)
	b := &f.brackets
	last := len(b.open) - 1
	if last < 0 {
		return nil
	}
	opener := b.open[last]
	b.open = b.open[:last]
	usable := opener.mark == '!' || last >= b.inactive
	b.inactive = min(b.inactive, last)
	if opener.mark == '^' && opener.NextSibling() != nil {
		block.Advance(1)
		return replaceBracket(&inlineFootnote{}, opener, parent, pc)
	}
	var link *ast.Link
	var dest Span
	if usable && opener.mark != '^' {
		link, dest = p.target(opener, block, pc)
	}
	if link == nil {
		opener.asText()
		return nil
	}
	replaceBracket(link, opener, parent, pc)
	_, end := block.Position()
	return f.finishLink(link, opener, Span{opener.segment.Start, end.Start}, dest, last)
}

// finishLink records a link and gives the node for it.
func (f *facts) finishLink(link *ast.Link, opener *bracketNode, extent, dest Span, depth int) ast.Node {
	l := markdownTarget(link.Destination)
	l.Embed, l.Start, l.End = opener.mark == '!', extent.Start, extent.End
	fact := linkFact{Link: l, dest: dest, ref: link.Reference != nil}
	if l.Embed {
		n := ast.NewImage(link)
		n.SetPos(opener.segment.Start)
		fact.node = n
		f.links = append(f.links, fact)
		return n
	}
	link.SetPos(opener.segment.Start)
	f.dropBareLinks(opener.links)
	unlink(link)
	f.brackets.inactive = depth
	fact.node = link
	f.links = append(f.links, fact)
	return link
}

// dropBareLinks forgets the bare URLs among the links from index i on: they
// are the text of a link.
func (f *facts) dropBareLinks(i int) {
	kept := f.links[:i]
	for _, l := range f.links[i:] {
		if !l.bare {
			kept = append(kept, l)
		}
	}
	f.links = kept
}

// unlink makes bare URLs that are children of a link text.
func unlink(link *ast.Link) {
	for c := link.FirstChild(); c != nil; {
		next := c.NextSibling()
		if u, ok := c.(*urlNode); ok {
			link.ReplaceChild(link, u, ast.NewTextSegment(u.segment))
		}
		c = next
	}
}

// replaceBracket takes an open bracket out of the tree, and makes what stands
// between it and the closing one the content of n.
func replaceBracket(n ast.Node, opener *bracketNode, parent ast.Node, pc parser.Context) ast.Node {
	if opener.bottom == nil {
		parser.ProcessDelimiters(nil, pc)
	} else {
		parser.ProcessDelimiters(opener.bottom, pc)
	}
	for c := opener.NextSibling(); c != nil; {
		next := c.NextSibling()
		parent.RemoveChild(parent, c)
		n.AppendChild(n, c)
		c = next
	}
	parent.RemoveChild(parent, opener)
	return n
}

// target reads what follows the text of a link, from its ']' on, and where its
// destination is if it is there; nil, with the reader after the ']', if opener
// opens no link.
func (p linkParser) target(opener *bracketNode, block text.Reader, pc parser.Context) (*ast.Link, Span) {
	_, closer := block.Position()
	label := text.NewSegment(opener.segment.Stop, closer.Start)
	block.Advance(1)
	line, pos := block.Position()
	switch block.Peek() {
	case '(':
		if link, dest := inlineTarget(block); link != nil {
			return link, dest
		}
		block.SetPosition(line, pos)
	case '[':
		second, ok := secondLabel(block)
		if ok && second.Len() > 0 {
			return reference(second, ast.ReferenceLinkFull, block, pc), Span{}
		}
		if ok {
			return reference(label, ast.ReferenceLinkCollapsed, block, pc), Span{}
		}
		block.SetPosition(line, pos)
	}
	return reference(label, ast.ReferenceLinkShortcut, block, pc), Span{}
}

// reference returns a link to the definition of a label.
func reference(label text.Segment, kind ast.ReferenceLinkType, block text.Reader, pc parser.Context) *ast.Link {
	if !factsOf(pc).hasReferences(pc) || label.Len() > maxLabel || label.Len() <= 0 {
		return nil
	}
	value := block.Value(label)
	ref, ok := pc.Reference(util.ToLinkReference(value))
	if !ok {
		return nil
	}
	link := ast.NewLink()
	link.Destination, link.Title = ref.Destination(), ref.Title()
	link.Reference = ast.NewReferenceLink(kind, value)
	return link
}

// secondLabel reads the "[label]" at the reader; an empty segment for "[]".
func secondLabel(block text.Reader) (label text.Segment, ok bool) {
	block.Advance(1)
	_, label = block.Position()
	for size := 0; size <= maxLabel; {
		line, s := block.PeekLine()
		if line == nil {
			return label, false
		}
		for i := 0; i < len(line); i++ {
			switch line[i] {
			case '\\':
				i++
			case '[':
				return label, false
			case ']':
				block.Advance(i + 1)
				return text.NewSegment(label.Start, s.Start+i), true
			}
		}
		size += len(line)
		block.AdvanceLine()
	}
	return label, false
}

// inlineTarget reads "(destination "title")", nil if there is no such thing.
func inlineTarget(block text.Reader) (*ast.Link, Span) {
	block.Advance(1)
	block.SkipSpaces()
	link := ast.NewLink()
	var dest Span
	if block.Peek() != ')' {
		var ok bool
		if link.Destination, dest, ok = destination(block); !ok {
			return nil, dest
		}
		_, spaces, _ := block.SkipSpaces()
		if block.Peek() != ')' {
			if link.Title, ok = linkTitle(block); !ok || spaces == 0 {
				return nil, dest
			}
			block.SkipSpaces()
		}
	}
	if block.Peek() != ')' {
		return nil, dest
	}
	block.Advance(1)
	return link, dest
}

// destination reads a link destination, in angle brackets or with balanced
// parentheses, and where it is.
func destination(block text.Reader) ([]byte, Span, bool) {
	line, segment := block.PeekLine()
	if len(line) == 0 {
		return nil, Span{}, false
	}
	start := segment.Start - segment.Padding
	if line[0] == '<' {
		for i := 1; i < len(line) && line[i] != '\n' && line[i] != '<'; i++ {
			if line[i] == '\\' {
				i++
			} else if line[i] == '>' {
				block.Advance(i + 1)
				return line[1:i], Span{start + 1, start + i}, true
			}
		}
		return nil, Span{}, false
	}
	i := plainDestination(line)
	block.Advance(i)
	return line[:i], Span{start, start + i}, i > 0
}

func plainDestination(line []byte) int {
	depth := 0
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case c == '\\' && i+1 < len(line) && util.IsPunct(line[i+1]):
			i++
		case c == '(' && depth == maxParens:
			return 0
		case c == '(':
			depth++
		case c == ')' && depth == 0, c <= ' ':
			return i
		case c == ')':
			depth--
		}
	}
	return len(line)
}

func linkTitle(block text.Reader) ([]byte, bool) {
	opener := block.Peek()
	closer := opener
	switch opener {
	case '(':
		closer = ')'
	case '"', '\'':
	default:
		return nil, false
	}
	block.Advance(1)
	segments, found := block.FindClosure(opener, closer, text.FindClosureOptions{Newline: true, Advance: true})
	if !found {
		return nil, false
	}
	var title []byte
	for i := range segments.Len() {
		title = append(title, block.Value(segments.At(i))...)
	}
	return title, true
}

// CloseBlock makes the brackets that are still open text.
func (linkParser) CloseBlock(_ ast.Node, _ text.Reader, pc parser.Context) {
	f := factsOf(pc)
	for _, n := range f.brackets.open {
		n.asText()
	}
	f.brackets.open, f.brackets.inactive = f.brackets.open[:0], 0
}

// markdownTarget takes a destination apart. That of an external link stays as
// written but for its fragment; else it is percent-decoded.
func markdownTarget(destination []byte) Link {
	d := util.UnescapePunctuations(destination)
	if bytes.IndexByte(d, '&') >= 0 {
		d = util.ResolveEntityNames(util.ResolveNumericReferences(d))
	}
	return splitTarget(string(d))
}

func splitTarget(url string) Link {
	l := Link{Kind: MarkdownLink}
	l.Target, l.Fragment, _ = strings.Cut(url, "#")
	if !hasScheme(l.Target) {
		l.Target, l.Fragment = unescapePercent(l.Target), unescapePercent(l.Fragment)
	}
	return l
}

func unescapePercent(s string) string {
	if decoded, err := url.PathUnescape(s); err == nil {
		return strings.ToValidUTF8(decoded, "\uFFFD")
	}
	return s
}
