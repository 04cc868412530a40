package note

import (
	"github.com/yuin/goldmark/ast"
)

// inlineFootnote is a footnote written where it is referred to: ^[text].
type inlineFootnote struct{ ast.BaseInline }

var kindInlineFootnote = ast.NewNodeKind("InlineFootnote")

func (n *inlineFootnote) Kind() ast.NodeKind { return kindInlineFootnote }

func (n *inlineFootnote) Dump(src []byte, level int) { ast.DumpHelper(n, src, level, nil, nil) }
