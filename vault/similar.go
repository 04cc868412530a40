package vault

import (
	"context"
	"strings"

	"kb/index"
)

// SimilarParams names the note that others are compared with.
type SimilarParams struct {
	Path       string `json:"path" arg:"" required:"" help:"path, title, alias or citation"`
	MaxResults int    `json:"max_results,omitempty" also:"limit" default:"10" min:"1" max:"50" help:"hits"`
	MaxTokens  int    `json:"max_tokens,omitempty" default:"3000" min:"100" help:"budget of the answer"`
	atParam
}

var similarOp = define(Op{
	Name:        "kb_similar",
	Title:       "Find similar notes",
	Summary:     "Find notes that are about the same",
	Description: "Notes about the same as a given one, ranked as search ranks. Use it to find what to read next, or whether something is written already.",
	Examples:    []string{"kb similar guides/retry.md"},
}, (*Vault).Similar)

// Similar searches for what a note says of itself: its title, aliases, tags,
// headings and summary.
func (v *Vault) Similar(ctx context.Context, p SimilarParams) (*SearchResult, error) {
	f, err := v.find(ctx, p.Path, p.At)
	if err != nil {
		return nil, err
	}
	cards, err := f.allCards(ctx)
	if err != nil {
		return nil, err
	}
	text, err := f.textView(ctx)
	if err != nil {
		return nil, err
	}
	self := f.docs[f.doc].blob
	found, err := text.Search(ctx, index.Query{
		Text: f.gist(f.doc, cards[f.doc]),
		Max:  p.MaxResults,
		Keep: func(i int) bool { return f.docs[i].blob != self },
	})
	if err != nil {
		return nil, err
	}
	r := &SearchResult{Query: f.docs[f.doc].path, Mode: "text", Seen: f.seen(), Results: []Hit{}, MissingTerms: []string{},
		Corrected: []Correction{}, Index: IndexState{State: "ready", Text: 1}}
	found.Missing, found.Corrected, found.Note, found.LowConfidence = nil, nil, "", false
	return r, f.fill(r, found, p.MaxTokens)
}

// gist is what a note is about in words without syntax.
func (w *view) gist(i int, c *card) string {
	const most = 60
	parts := append([]string{w.titleOf(i, c)}, c.aliases...)
	parts = append(append(append(parts, c.tags...), c.headings...), c.summary)
	words := plainWords(strings.Join(parts, " "))
	return strings.Join(words[:min(len(words), most)], " ")
}

// plainWords are the words of a text, each once, without what a query would read
// as syntax.
func plainWords(s string) (out []string) {
	seen := map[string]bool{}
	for _, word := range strings.FieldsFunc(strings.ToLower(s), func(r rune) bool {
		return strings.ContainsRune("\"'()+-*:/#<>[]{}|.,;!?^~ \t\n", r)
	}) {
		if !seen[word] {
			seen[word] = true
			out = append(out, word)
		}
	}
	return out
}
