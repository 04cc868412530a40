package note

import (
	"unicode"
	"unicode/utf8"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// taskNode is the "[x]" that starts a list item.
type taskNode struct {
	ast.BaseInline
	State string // the character in the brackets
}

var kindTask = ast.NewNodeKind("Task")

func (n *taskNode) Kind() ast.NodeKind { return kindTask }

func (n *taskNode) Dump(src []byte, level int) {
	ast.DumpHelper(n, src, level, map[string]string{"State": n.State}, nil)
}

// Done reports whether the task is ticked off.
func (n *taskNode) Done() bool { return n.State == "x" || n.State == "X" }

// taskParser reads the state of a task: GitHub's "[ ]" and "[x]", and any other
// character as Obsidian has it. A digit is rather a reference to a source, and a
// label with a definition is a link.
type taskParser struct{}

func (taskParser) Trigger() []byte { return []byte{'['} }

func (taskParser) Parse(parent ast.Node, block text.Reader, pc parser.Context) ast.Node {
	item, ok := parent.Parent().(*ast.ListItem)
	if !ok || item.FirstChild() != parent || parent.HasChildren() {
		return nil
	}
	line, _ := block.PeekLine()
	state, size := utf8.DecodeRune(line[1:])
	if size == 0 || state == '\n' || state == '^' || unicode.IsDigit(state) {
		return nil
	}
	rest := line[1+size:]
	if len(rest) == 0 || rest[0] != ']' || len(rest) > 1 && !util.IsSpace(rest[1]) {
		return nil
	}
	label := string(line[1 : 1+size])
	if factsOf(pc).hasReferences(pc) {
		if _, defined := pc.Reference(util.ToLinkReference([]byte(label))); defined {
			return nil
		}
	}
	block.Advance(2 + size)
	block.SkipSpaces()
	if state == '\t' {
		label = " "
	}
	return &taskNode{State: label}
}
