package note

import (
	"fmt"
	"slices"
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
)

// MaxText is the length of decoded text that Parse reads.
const MaxText = 8 << 20

// maxSummary is the length of a summary.
const maxSummary = 300

// Parse reads one note. It never fails: what is wrong with the bytes is among
// the note's Problems. The text it returns is that of [Decode], cut at a line
// when longer than [MaxText], nil for binary data; all offsets are into it.
func Parse(src []byte) (*Note, []byte) {
	n := &Note{}
	text, bad, err := decode(src)
	if err != nil {
		n.Binary = true
		n.Problems = []Problem{{Code: binaryData, Message: "not text: " + err.Error()}}
		return n, nil
	}
	if bad >= 0 {
		n.Problems = append(n.Problems, Problem{Code: invalidUTF8, Line: LineAt(text, bad), Message: "bytes that are not UTF-8 are shown as U+FFFD"})
	}
	if len(text) > MaxText {
		text = n.cut(text)
	}
	n.frontmatter(text)
	root, f, err := parseMarkdown(text, n.Body)
	if err != nil {
		n.Problems = append(n.Problems, Problem{Code: malformedMarkup, Message: err.Error()})
	}
	n.outline(root, text)
	n.addTags(f)
	n.addLinks(f, text)
	n.addBlocks(f, text)
	n.Anchors = f.anchorNames()
	n.Skip = mergeSpans(f.skip)
	n.Summary = summary(root, text)
	n.Words = n.countWords(text)
	n.Entities = n.entities(root, text, f.tags)
	n.Sketch = sketch(text, n.Body, n.Skip)
	n.Chunks = n.chunks(text, chunkRecipe)
	return n, text
}

// Text returns the text that [Parse] of the same bytes returns, without reading it
// as a note.
func Text(src []byte) []byte {
	text, _, err := decode(src)
	if err != nil {
		return nil
	}
	if len(text) > MaxText {
		text = new(Note).cut(text)
	}
	return text
}

// Head reads a note as Parse does, but no further than its properties: Fields,
// Body, and the Problems of reading them.
func Head(src []byte) *Note {
	n := &Note{}
	text, _, err := decode(src)
	if err != nil {
		n.Binary = true
		return n
	}
	n.frontmatter(text)
	return n
}

func (n *Note) cut(text []byte) []byte {
	end := lineStart(text, MaxText)
	if end == 0 {
		end = runeBorder(text, 0, MaxText)
	}
	n.Problems = append(n.Problems, Problem{Code: tooLarge, Line: LineAt(text[:end], end),
		Message: fmt.Sprintf("only the first %d of %d bytes are read", end, len(text))})
	return text[:end:end]
}

// outline sets the headings, those of the document itself, and the title.
func (n *Note) outline(root ast.Node, text []byte) {
	slugs := slugger{}
	lines := newLineCounter(text)
	for c := root.FirstChild(); c != nil; c = c.NextSibling() {
		h, ok := c.(*ast.Heading)
		if !ok {
			continue
		}
		start := lineStart(text, headingPos(h))
		plain := plainText(h, text, true)
		n.Headings = append(n.Headings, Heading{Level: h.Level, Text: plain, Slug: slugs.unique(Slug(plain)), Line: lines.at(start), Start: start})
	}
	n.closeSections(len(text))
	if n.Title == "" {
		n.Title = onlyTop(n.Headings)
	}
}

// onlyTop returns the text of the level-1 heading if there is just one. Where
// there are several, they are chapters, and the first is not the note's name.
func onlyTop(headings []Heading) (text string) {
	for _, h := range headings {
		if h.Level != 1 || h.Text == "" {
			continue
		}
		if text != "" {
			return ""
		}
		text = h.Text
	}
	return text
}

func headingPos(h *ast.Heading) int {
	if h.Lines().Len() > 0 {
		return h.Lines().At(0).Start
	}
	return h.Pos()
}

// closeSections sets the headings' ends.
func (n *Note) closeSections(end int) {
	var open []int
	for i := range n.Headings {
		for len(open) > 0 && n.Headings[open[len(open)-1]].Level >= n.Headings[i].Level {
			n.Headings[open[len(open)-1]].End = n.Headings[i].Start
			open = open[:len(open)-1]
		}
		open = append(open, i)
	}
	for _, i := range open {
		n.Headings[i].End = end
	}
}

func (n *Note) addTags(f *facts) {
	if len(f.tags) == 0 {
		return
	}
	slices.SortStableFunc(f.tags, func(a, b tagFact) int { return a.offset - b.offset })
	var set tagSet
	for _, t := range n.Tags {
		set.add(t)
	}
	for _, t := range f.tags {
		set.add(t.name)
	}
	n.Tags = set.tags
}

func (n *Note) addLinks(f *facts, text []byte) {
	slices.SortStableFunc(f.links, func(a, b linkFact) int {
		if a.Start != b.Start {
			return a.Start - b.Start
		}
		return b.End - a.End
	})
	lines := newLineCounter(text)
	for _, l := range f.links {
		if l.Kind == MarkdownLink {
			l.Text = plainText(l.node, text, true)
		}
		l.Line = lines.at(l.Start)
		n.Links = append(n.Links, l.Link)
	}
}

// named returns the block that an id names: the paragraph, heading or list item
// that it ends, or what stands before an id on its own.
func (b *blockFact) named() ast.Node {
	if b.alone && b.parent.PreviousSibling() != nil {
		return b.parent.PreviousSibling()
	}
	if item, ok := b.parent.Parent().(*ast.ListItem); ok && b.parent.PreviousSibling() == nil {
		return item
	}
	return b.parent
}

// addBlocks finds the lines of the blocks that ids name.
func (n *Note) addBlocks(f *facts, text []byte) {
	slices.SortStableFunc(f.blocks, func(a, b blockFact) int { return a.offset - b.offset })
	lines := newLineCounter(text)
	for _, b := range f.blocks {
		start, end := blockExtent(b.named(), text)
		start, end = lineStart(text, min(start, b.offset)), lineEnd(text, max(end-1, start))
		if !b.alone {
			end = max(end, lineEnd(text, b.offset))
		}
		n.Blocks = append(n.Blocks, Block{ID: b.id, Line: lines.at(start), Start: start, End: end})
	}
}

// blockExtent returns where a block's lines start and end.
func blockExtent(n ast.Node, text []byte) (start, end int) {
	start, end = len(text), 0
	_ = ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if n.Type() != ast.TypeBlock {
			return ast.WalkSkipChildren, nil
		}
		if lines := n.Lines(); entering && lines.Len() > 0 {
			start, end = min(start, lines.At(0).Start), max(end, lines.At(lines.Len()-1).Stop)
			if _, ok := n.(*ast.FencedCodeBlock); ok {
				start, end = lineStart(text, max(start-1, 0)), lineEnd(text, end)
			}
		}
		return ast.WalkContinue, nil
	})
	if p := n.Pos(); p >= 0 {
		start = min(start, p)
	}
	return start, end
}

// mergeSpans sorts spans and joins those that overlap.
func mergeSpans(spans []Span) []Span {
	slices.SortFunc(spans, func(a, b Span) int { return a.Start - b.Start })
	merged := spans[:0]
	for _, s := range spans {
		if last := len(merged) - 1; last >= 0 && s.Start <= merged[last].End {
			merged[last].End = max(merged[last].End, s.End)
		} else if s.End > s.Start {
			merged = append(merged, s)
		}
	}
	return merged
}

func (n *Note) countWords(text []byte) int {
	words, at := 0, n.Body
	for _, s := range n.Skip {
		words += countWords(text[at:s.Start])
		at = s.End
	}
	return words + countWords(text[at:])
}

// summary returns the first paragraph that has text of its own: of the document
// itself, or if it has none the first in a list or quote.
func summary(root ast.Node, text []byte) string {
	for c := root.FirstChild(); c != nil; c = c.NextSibling() {
		if c.Kind() == ast.KindParagraph {
			if s := summaryOf(c, text); s != "" {
				return s
			}
		}
	}
	found := ""
	_ = ast.Walk(root, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if entering && (n.Kind() == ast.KindParagraph || n.Kind() == ast.KindTextBlock) {
			if found = summaryOf(n, text); found != "" {
				return ast.WalkStop, nil
			}
		}
		return ast.WalkContinue, nil
	})
	return found
}

func summaryOf(n ast.Node, text []byte) string {
	s := plainText(n, text, false)
	if countWords([]byte(s)) == 0 {
		return ""
	}
	if len(s) > maxSummary {
		const ellipsis = "…"
		s = strings.TrimSpace(s[:wordBorder([]byte(s), 0, maxSummary-len(ellipsis))]) + ellipsis
	}
	return s
}

// hasReferences reports whether the text defines any link reference.
func (f *facts) hasReferences(pc parser.Context) bool {
	if f.references == 0 {
		f.references = 1
		if len(pc.References()) > 0 {
			f.references = 2
		}
	}
	return f.references == 2
}
