package vault

import (
	"context"
	"fmt"
	"strings"

	"kb/index"
	"kb/note"
)

// BriefParams asks for a prompt-ready briefing on a query.
type BriefParams struct {
	Query      string   `json:"query" arg:"" required:"" help:"question, keywords, or a note's title"`
	MaxResults int      `json:"max_results,omitempty" default:"5" min:"1" max:"50" help:"notes to quote"`
	MaxTokens  int      `json:"max_tokens,omitempty" default:"2000" min:"100" help:"budget"`
	MinScore   float64  `json:"min_score,omitempty" min:"0" help:"least score"`
	Exclude    []string `json:"exclude,omitempty" help:"citations already seen"`
	Entity     []string `json:"entity,omitempty" help:"only notes that name all of these"`
	Selection
	atParam
}

// Briefing is passages with numbered citations, ready to be put into a prompt.
type Briefing struct {
	Query         string   `json:"query"`
	Content       string   `json:"text"`
	Sources       []Source `json:"sources"`
	Tokens        int      `json:"tokens"`
	Truncated     bool     `json:"truncated,omitempty"`
	LowConfidence bool     `json:"low_confidence,omitempty"`
	MissingTerms  []string `json:"missing_terms"`
	Seen
}

// Source is a numbered citation of a briefing.
type Source struct {
	N     int    `json:"n"`
	URI   string `json:"uri"`
	Title string `json:"title"`
}

var briefOp = define(Op{
	Name:        "kb_brief",
	Title:       "Brief on a question",
	Summary:     "Gather cited passages on a question, ready for a prompt",
	Description: "The best passages on a question as one text with numbered citations, within max_tokens: the shortest way from a question to quotable evidence. A note's title or alias leads with that note.",
	Examples:    []string{`kb brief "how do we back off retries" --max-tokens 1000`},
	Raw:         true,
}, (*Vault).Brief)

// passage is a stretch of a note that a briefing quotes.
type passage struct {
	doc  int
	n    *note.Note
	text []byte
	span note.Span
}

// Brief quotes the best passage of each of the best notes, in rank order; what
// budget is left goes to the passages around them.
func (v *Vault) Brief(ctx context.Context, p BriefParams) (*Briefing, error) {
	if err := checkQuery(p.Query); err != nil {
		return nil, err
	}
	w, err := v.read(ctx, p.At)
	if err != nil {
		return nil, err
	}
	keep, err := w.keepForSearch(ctx, SearchParams{Selection: p.Selection, Exclude: p.Exclude, Entity: p.Entity})
	if err != nil {
		return nil, err
	}
	found, err := w.searchFor(ctx, p, keep)
	if err != nil {
		return nil, err
	}
	b := &Briefing{Query: p.Query, Seen: w.seen(), Sources: []Source{}, LowConfidence: found.LowConfidence,
		MissingTerms: append([]string{}, found.Missing[:min(len(found.Missing), mostMissing)]...)}
	passages, err := w.passages(ctx, p, found, keep)
	if err != nil {
		return nil, err
	}
	b.write(w, passages, p.MaxTokens)
	return b, nil
}

func (w *view) searchFor(ctx context.Context, p BriefParams, keep test) (*index.Result, error) {
	k, err := w.ranking(ctx, "")
	if err != nil {
		return nil, err
	}
	q := index.Query{Text: p.Query, Max: p.MaxResults, MinScore: p.MinScore, Keep: keep}
	return w.search(ctx, k, q, w.v.cfg.Search.Diversity)
}

// passages are the best chunk of each hit; a note whose title or alias the
// query is leads with its beginning.
func (w *view) passages(ctx context.Context, p BriefParams, found *index.Result, keep test) ([]passage, error) {
	var out []passage
	lead := -1
	titles, err := w.titles(ctx)
	if err != nil {
		return nil, err
	}
	if docs := titles.docs(foldName(p.Query)); len(docs) == 1 && (keep == nil || keep(docs[0])) {
		lead = docs[0]
		first, err := w.passage(lead, 0)
		if err != nil {
			return nil, err
		}
		out = append(out, first)
	}
	for _, h := range found.Hits {
		if h.Member == lead {
			continue
		}
		next, err := w.passage(h.Member, h.Chunk)
		if err != nil {
			return nil, err
		}
		if len(out) < p.MaxResults {
			out = append(out, next)
		}
	}
	return out, nil
}

func (w *view) passage(i, chunk int) (passage, error) {
	n, text, err := w.note(i)
	if err != nil {
		return passage{}, err
	}
	out := passage{doc: i, n: n, text: text, span: note.Span{Start: n.Body, End: len(text)}}
	if chunk >= 0 && chunk < len(n.Chunks) {
		out.span = note.Span{Start: n.Chunks[chunk].Start, End: n.Chunks[chunk].End}
	}
	return out, nil
}

// write fills in the text within the budget: a fair share for each passage,
// what one leaves goes to those after it.
func (b *Briefing) write(w *view, passages []passage, budget int) {
	var sb strings.Builder
	left := budget
	for i, p := range passages {
		head := p.head(w, i+1)
		share := left / (len(passages) - i)
		share -= Tokens(head)
		if share < 20 {
			b.Truncated = true
			break
		}
		content := strings.TrimSpace(string(p.text[p.span.Start:p.span.End]))
		cut := cutTokens(content, share)
		if cut < len(content) {
			content, b.Truncated = strings.TrimSpace(content[:cut])+" …", true
		}
		sb.WriteString(head + content + "\n\n")
		left = budget - Tokens(sb.String())
		b.Sources = append(b.Sources, Source{N: i + 1, URI: p.uri(w), Title: p.n.TitleAt(w.docs[p.doc].path)})
	}
	b.Content = strings.TrimRight(sb.String(), "\n")
	b.Tokens = Tokens(b.Content)
}

func (p passage) head(w *view, n int) string {
	title := p.n.TitleAt(w.docs[p.doc].path)
	if i := p.n.HeadingAt(p.start()); i >= 0 {
		path := p.n.HeadingPath(i)
		if len(path) > 0 && path[0] == title {
			path = path[1:]
		}
		title = strings.Join(append([]string{title}, path...), " > ")
	}
	return fmt.Sprintf("[%d] %s (%s:%d)\n", n, visible(title), w.docs[p.doc].path, note.LineAt(p.text, p.start()))
}

// start is where the passage's own text begins, behind blank lines.
func (p passage) start() int {
	i := p.span.Start
	for i < p.span.End-1 && (p.text[i] == '\n' || p.text[i] == ' ') {
		i++
	}
	return i
}

func (p passage) uri(w *view) string {
	slug := ""
	if i := p.n.HeadingAt(p.start()); i >= 0 {
		slug = p.n.Headings[i].Slug
	}
	return w.uri(p.doc, slug)
}

// Text writes the briefing and its sources.
func (b *Briefing) Text(t *Text) {
	if b.Content == "" {
		t.Printf("No note matches %s.\n", b.Query)
		return
	}
	t.Printf("%s\n\nSources:\n", visible(b.Content))
	for _, s := range b.Sources {
		t.Printf("[%d] %s\n", s.N, s.URI)
	}
	if b.LowConfidence {
		t.Printf("\n%s\n", t.Warn("low confidence: no note covers the question well"))
	}
}
