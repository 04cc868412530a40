package note

import (
	"bytes"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

// commentBlock is a comment that starts a line with "%%" and ends in a later
// line. Without an end it is text.
type commentBlock struct {
	ast.BaseBlock
	start  int
	closed bool
}

var kindCommentBlock = ast.NewNodeKind("CommentBlock")

func (n *commentBlock) Kind() ast.NodeKind { return kindCommentBlock }

func (n *commentBlock) IsRaw() bool { return true }

func (n *commentBlock) Dump(src []byte, level int) { ast.DumpHelper(n, src, level, nil, nil) }

type commentBlockParser struct{}

func (commentBlockParser) Trigger() []byte { return []byte{'%'} }

func (commentBlockParser) Open(_ ast.Node, r text.Reader, pc parser.Context) (ast.Node, parser.State) {
	line, segment := r.PeekLine()
	at := pc.BlockOffset()
	if at < 0 || !bytes.HasPrefix(line[at:], commentMark) || bytes.Contains(line[at+2:], commentMark) ||
		factsOf(pc).lastComment < segment.Stop {
		return nil, parser.NoChildren
	}
	n := &commentBlock{start: segment.Start + at - segment.Padding}
	n.Lines().Append(segment)
	r.AdvanceToEOL()
	return n, parser.NoChildren
}

func (commentBlockParser) Continue(node ast.Node, r text.Reader, pc parser.Context) parser.State {
	n := node.(*commentBlock)
	if n.closed {
		return parser.Close
	}
	line, segment := r.PeekLine()
	n.Lines().Append(segment)
	if i := bytes.Index(line, commentMark); i >= 0 {
		n.closed = true
	}
	r.AdvanceToEOL()
	return parser.Continue | parser.NoChildren
}

func (commentBlockParser) Close(node ast.Node, _ text.Reader, pc parser.Context) {
	n := node.(*commentBlock)
	last := n.Lines().At(n.Lines().Len() - 1)
	f := factsOf(pc)
	end := last.Stop
	if i := bytes.LastIndex(f.src[last.Start:last.Stop], commentMark); i >= 0 && n.closed {
		end = last.Start + i + 2
	}
	f.skip = append(f.skip, Span{n.start, end})
}

func (commentBlockParser) CanInterruptParagraph() bool { return true }
func (commentBlockParser) CanAcceptIndentedLine() bool { return false }

// htmlBlockParser records the tags of HTML blocks.
type htmlBlockParser struct{ parser.BlockParser }

func (p htmlBlockParser) Close(node ast.Node, r text.Reader, pc parser.Context) {
	p.BlockParser.Close(node, r, pc)
	n := node.(*ast.HTMLBlock)
	end := 0
	if lines := n.Lines(); lines.Len() > 0 {
		end = lines.At(lines.Len() - 1).Stop
	}
	if n.HasClosure() {
		end = n.ClosureLine.Stop
	}
	if start := n.Lines().At(0).Start; end > start {
		f := factsOf(pc)
		f.skip = appendTags(f.skip, f.src, start, end)
		f.addAnchors(start, end)
	}
}

// appendTags appends the spans of the tags and comments of the HTML in
// src[start:end], and of the whole of scripts and styles. The text between tags
// is a reader's.
func appendTags(skip []Span, src []byte, start, end int) []Span {
	for at := start; at < end; {
		i := bytes.IndexByte(src[at:end], '<')
		if i < 0 {
			break
		}
		at += i
		size := tagLength(src[at:end])
		if size > 0 {
			skip = append(skip, Span{at, at + size})
		}
		at += max(size, 1)
	}
	return skip
}

func tagLength(s []byte) int {
	closer := ">"
	switch {
	case len(s) < 2:
		return 0
	case bytes.HasPrefix(s, []byte("<!--")):
		closer = "-->"
	case hasTag(s, "script"):
		closer = "</script>"
	case hasTag(s, "style"):
		closer = "</style>"
	case !isASCIILetter(s[1]) && s[1] != '/' && s[1] != '!' && s[1] != '?':
		return 0
	}
	i := bytes.Index(s, []byte(closer))
	if i < 0 {
		return len(s)
	}
	return i + len(closer)
}

func hasTag(s []byte, name string) bool {
	return len(s) > len(name)+1 && bytes.EqualFold(s[1:1+len(name)], []byte(name)) && !isASCIIAlnum(s[1+len(name)])
}
