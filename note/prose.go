package note

import (
	"fmt"
	"slices"

	"github.com/yuin/goldmark/ast"
	east "github.com/yuin/goldmark/extension/ast"
)

// Prose returns the text of a note, as [Parse] does, and where in its body
// running text stands: none of headings, links, code, formulas, HTML, comments,
// tags and tables. Spans are in order and do not overlap; binary data has none.
func Prose(src []byte) (text []byte, spans []Span) {
	n := &Note{}
	text, _, err := decode(src)
	if err != nil {
		return nil, nil
	}
	if len(text) > MaxText {
		text = n.cut(text)
	}
	n.frontmatter(text)
	root, _, err := parseMarkdown(text, n.Body)
	if err != nil {
		return text, nil
	}
	_ = ast.Walk(root, func(node ast.Node, entering bool) (ast.WalkStatus, error) {
		if t, ok := node.(*ast.Text); ok && entering {
			spans = append(spans, Span{t.Segment.Start, t.Segment.Stop})
		}
		if !holdsProse(node) {
			return ast.WalkSkipChildren, nil
		}
		return ast.WalkContinue, nil
	})
	return text, joinSpans(spans)
}

// holdsProse reports whether running text may stand in a node.
func holdsProse(n ast.Node) bool {
	switch n.Kind() {
	case ast.KindDocument, ast.KindParagraph, ast.KindTextBlock, ast.KindList, ast.KindListItem, ast.KindBlockquote,
		ast.KindEmphasis, east.KindStrikethrough:
		return true
	}
	return false
}

// joinSpans makes one of spans that touch.
func joinSpans(spans []Span) []Span {
	slices.SortFunc(spans, func(a, b Span) int { return a.Start - b.Start })
	out := spans[:0]
	for _, s := range spans {
		if k := len(out) - 1; k >= 0 && s.Start <= out[k].End {
			out[k].End = max(out[k].End, s.End)
		} else if s.Start < s.End {
			out = append(out, s)
		}
	}
	return out
}

// NewLink is a link to be made of words that stand in a note.
type NewLink struct {
	Span
	With string // the link, as it is to be written
}

// AddLinks writes links in the place of spans of the body, which are of the text
// that [Prose] returned. All else stays byte for byte; it fails if the note would
// not have exactly its old links and the new ones.
func AddLinks(src []byte, links []NewLink) ([]byte, error) {
	s, err := openSource(src)
	if err != nil {
		return nil, err
	}
	links = slices.Clone(links)
	slices.SortFunc(links, func(a, b NewLink) int { return a.Start - b.Start })
	end := s.note.Body
	for _, l := range links {
		inLink := slices.ContainsFunc(s.note.Links, func(old Link) bool { return old.Start < l.End && l.Start < old.End })
		if l.Start < end || l.End > len(s.text) || l.Start >= l.End || inLink {
			return nil, fmt.Errorf("a link at bytes %d to %d of the note: no place of its own", l.Start, l.End)
		}
		end = l.End
		s.splice(l.Start, l.End, l.With)
	}
	before := len(s.note.Links)
	headings := len(s.note.Headings)
	return s.finish(func(after *Note, _ []byte) error {
		if len(after.Links) != before+len(links) || len(after.Headings) != headings {
			return fmt.Errorf("with the links the note would read otherwise")
		}
		return nil
	})
}
