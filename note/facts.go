package note

import (
	"bytes"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
)

// facts is what the parsers record while they read one text.
type facts struct {
	src         []byte
	links       []linkFact
	tags        []tagFact
	blocks      []blockFact
	skip        []Span
	anchors     []anchorFact
	brackets    brackets
	footnotes   int
	references  int // 0 not counted, 1 none, 2 some
	lastComment int // offset of the last "%%" of the text, -1 for none
	lastMath    int // offset of the last "$$" of the text, -1 for none
}

type linkFact struct {
	Link
	node ast.Node // the link's; the content of a Markdown link's is its text
	bare bool     // an URL without brackets
	dest Span     // where the destination of an inline link is, without angle brackets
	ref  bool     // the destination is that of a definition
}

type tagFact struct {
	name   string
	offset int
}

type blockFact struct {
	id     string
	offset int
	parent ast.Node
	alone  bool // nothing else in the paragraph
}

var factsKey = parser.NewContextKey()

func newFacts(src []byte) *facts {
	return &facts{src: src, lastComment: lastPair(src, '%'), lastMath: lastPair(src, '$')}
}

// factsOf returns the facts of a parse under way.
func factsOf(pc parser.Context) *facts { return pc.Get(factsKey).(*facts) }

// lastPair returns the offset of the last place in src where c stands twice, or
// -1.
func lastPair(src []byte, c byte) int {
	for {
		i := bytes.LastIndexByte(src, c)
		if i < 1 {
			return -1
		}
		if src[i-1] == c {
			return i - 1
		}
		src = src[:i]
	}
}
