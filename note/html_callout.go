package note

import (
	"unicode"
	"unicode/utf8"

	"github.com/yuin/goldmark/ast"
)

// calloutKinds are Obsidian's types of callouts, by all their names.
var calloutKinds = map[string]string{
	"note": "note", "abstract": "abstract", "summary": "abstract", "tldr": "abstract", "info": "info", "todo": "todo",
	"tip": "tip", "hint": "tip", "important": "tip", "success": "success", "check": "success", "done": "success",
	"question": "question", "help": "question", "faq": "question", "warning": "warning", "caution": "warning", "attention": "warning",
	"failure": "failure", "fail": "failure", "missing": "failure", "danger": "danger", "error": "danger",
	"bug": "bug", "example": "example", "quote": "quote", "cite": "quote",
}

func (w *htmlWriter) quote(n *ast.Blockquote) {
	if title, ok := n.FirstChild().(*calloutTitle); ok {
		w.callout(n, title)
		return
	}
	w.open("blockquote").ids(n).str(">\n")
	w.blocks(n)
	w.close().str("\n")
}

// callout renders a callout; one of an unknown type looks like a note.
func (w *htmlWriter) callout(n *ast.Blockquote, title *calloutTitle) {
	kind, known := calloutKinds[title.Name]
	if !known {
		kind = "note"
	}
	outer, inner := "div", "div"
	if title.Fold != 0 {
		outer, inner = "details", "summary"
	}
	w.open(outer).ids(n).attr("class", "callout callout-"+kind).attr("data-callout", title.Name)
	if title.Fold == '+' {
		w.str(" open")
	}
	w.str(">\n").open(inner).str(` class="callout-title">`)
	if title.HasChildren() {
		w.inlines(title)
	} else {
		w.text([]byte(capitalized(title.Name)))
	}
	w.close().str("\n")
	if title.NextSibling() != nil {
		w.open("div").str(` class="callout-body">` + "\n")
		for c := title.NextSibling(); c != nil; c = c.NextSibling() {
			w.block(c)
		}
		w.close().str("\n")
	}
	w.close().str("\n")
}

func capitalized(s string) string {
	r, size := utf8.DecodeRuneInString(s)
	return string(unicode.ToUpper(r)) + s[size:]
}
