package note

import (
	"bytes"
	"slices"
	"strings"

	"github.com/yuin/goldmark/ast"
	extast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/util"
)

// A definition is one of a link reference or a footnote.
type definition struct {
	label string // "^" before a footnote's
	span  Span   // its lines
}

// withDefinitions returns text with the definitions that s.text[start:end] has
// behind it, of those that are used outside, and defined neither there nor in
// text.
func (s *source) withDefinitions(start, end int, text string) string {
	root, f, err := parseMarkdown(s.text, s.note.Body)
	if err != nil {
		return text
	}
	var inside []definition
	defined := map[string]bool{}
	for _, d := range definitionsOf(root, s.text) {
		if d.span.Start >= start && d.span.End <= end {
			inside = append(inside, d)
		} else {
			defined[d.label] = true
		}
	}
	if len(inside) == 0 {
		return text
	}
	if root, _, err := parseMarkdown([]byte(text), 0); err == nil {
		for _, d := range definitionsOf(root, []byte(text)) {
			defined[d.label] = true
		}
	}
	used := labelsUsed(f, start, end)
	outside := [][]byte{s.text[:start], s.text[end:]}
	kept := ""
	for _, d := range inside {
		isUsed := used[d.label] || d.label[0] == '^' && slices.ContainsFunc(outside, func(part []byte) bool { return bytes.Contains(part, []byte("["+d.label+"]")) })
		if isUsed && !defined[d.label] {
			defined[d.label] = true
			kept += "\n" + strings.TrimRight(string(s.text[d.span.Start:d.span.End]), "\n")
		}
	}
	if kept == "" {
		return text
	}
	return strings.TrimLeft(text+"\n"+kept, "\n")
}

// definitionsOf returns the definitions of a text that stand in no quote or
// list, in source order.
func definitionsOf(root ast.Node, text []byte) (all []definition) {
	_ = ast.Walk(root, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		var d definition
		switch n := n.(type) {
		case *ast.LinkReferenceDefinition:
			d.label = util.ToLinkReference(n.Label)
		case *extast.Footnote:
			d.label = "^" + string(n.Ref)
		default:
			return ast.WalkContinue, nil
		}
		from, to := blockExtent(n, text)
		if from < to {
			d.span = Span{lineStart(text, from), lineEnd(text, max(to-1, from))}
			if bytes.HasPrefix(bytes.TrimLeft(text[d.span.Start:d.span.End], " "), []byte{'['}) {
				all = append(all, d)
			}
		}
		return ast.WalkContinue, nil
	})
	slices.SortStableFunc(all, func(a, b definition) int { return a.span.Start - b.span.Start })
	return all
}

// labelsUsed returns the labels of the reference links outside text[start:end].
func labelsUsed(f *facts, start, end int) map[string]bool {
	used := map[string]bool{}
	for _, l := range f.links {
		if !l.ref || l.Start >= start && l.Start < end {
			continue
		}
		switch n := l.node.(type) {
		case *ast.Link:
			used[util.ToLinkReference(n.Reference.Value)] = true
		case *ast.Image:
			used[util.ToLinkReference(n.Reference.Value)] = true
		}
	}
	return used
}
