package note

import (
	"fmt"
	"sync"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// markdown is the one configuration that all reading of Markdown goes through.
var markdown = sync.OnceValue(func() goldmark.Markdown {
	return goldmark.New(goldmark.WithParser(parser.NewParser(
		parser.WithBlockParsers(blockParsers()...),
		parser.WithInlineParsers(inlineParsers()...),
		parser.WithParagraphTransformers(
			util.Prioritized(calloutReader{}, 50),
			util.Prioritized(referenceReader{}, 100),
			util.Prioritized(boundedTable{extension.NewTableParagraphTransformer()}, 200),
			util.Prioritized(paragraphSplitter{}, 300),
		),
		parser.WithASTTransformers(
			util.Prioritized(extension.NewTableASTTransformer(), 100),
			util.Prioritized(extension.NewFootnoteASTTransformer(), 200),
		),
	)))
})

func blockParsers() []util.PrioritizedValue {
	return []util.PrioritizedValue{
		util.Prioritized(shortHeading{parser.NewSetextHeadingParser()}, 100),
		util.Prioritized(parser.NewThematicBreakParser(), 200),
		util.Prioritized(shallow{parser.NewListParser()}, 300),
		util.Prioritized(parser.NewListItemParser(), 400),
		util.Prioritized(parser.NewCodeBlockParser(), 500),
		util.Prioritized(shortHeading{parser.NewATXHeadingParser()}, 600),
		util.Prioritized(parser.NewFencedCodeBlockParser(), 700),
		util.Prioritized(commentBlockParser{}, 750),
		util.Prioritized(mathBlockParser{}, 760),
		util.Prioritized(shallow{parser.NewBlockquoteParser()}, 800),
		util.Prioritized(htmlBlockParser{parser.NewHTMLBlockParser()}, 900),
		util.Prioritized(shallow{fewFootnotes{extension.NewFootnoteBlockParser()}}, 999),
		util.Prioritized(parser.NewParagraphParser(), 1000),
	}
}

func inlineParsers() []util.PrioritizedValue {
	return []util.PrioritizedValue{
		util.Prioritized(taskParser{}, 0),
		util.Prioritized(parser.NewCodeSpanParser(), 100),
		util.Prioritized(extension.NewFootnoteParser(), 101),
		util.Prioritized(mathParser{}, 120),
		util.Prioritized(wikiLinkParser{}, 150),
		util.Prioritized(linkParser{}, 200),
		util.Prioritized(angleLinkParser{parser.NewAutoLinkParser()}, 300),
		util.Prioritized(rawHTMLParser{parser.NewRawHTMLParser()}, 400),
		util.Prioritized(commentParser{}, 450),
		util.Prioritized(tagParser{}, 450),
		util.Prioritized(blockIDParser{}, 450),
		util.Prioritized(extension.NewStrikethroughParser(), 500),
		util.Prioritized(highlightParser{}, 500),
		util.Prioritized(parser.NewEmphasisParser(), 500),
		util.Prioritized(urlParser{}, 999),
	}
}

// parseMarkdown parses src from offset from on. What the parsers record is in
// the facts it returns. A panic of the library is an error: notes come from
// anywhere, and one must not end the program.
func parseMarkdown(src []byte, from int) (root ast.Node, f *facts, err error) {
	defer func() {
		if e := recover(); e != nil {
			root, f, err = ast.NewDocument(), newFacts(src), fmt.Errorf("markup cannot be read: %v", e)
		}
	}()
	r := &blankSkipper{text.NewReader(src)}
	r.SetPosition(-1, text.NewSegment(from, from))
	r.AdvanceLine()
	pc := parser.NewContext()
	f = newFacts(src)
	pc.Set(factsKey, f)
	return markdown().Parser().Parse(r, parser.WithContext(pc)), f, nil
}
