package vault

import (
	"context"
	"errors"
	"strings"

	"kb/index"
	"kb/note"
)

// SimilarParams names the note that others are compared with.
type SimilarParams struct {
	Path       string `json:"path" arg:"" required:"" help:"path, title, alias or citation"`
	MaxResults int    `json:"max_results,omitempty" also:"limit" default:"10" min:"1" max:"50" help:"hits"`
	MaxTokens  int    `json:"max_tokens,omitempty" default:"3000" min:"100" help:"budget"`
	atParam
}

var similarOp = define(Op{
	Name:        "kb_similar",
	Title:       "Find similar notes",
	Summary:     "Find notes that are about the same",
	Description: "Notes about the same as a given one, ranked as search ranks. Use it to find what to read next, or whether something is written already.",
	Examples:    []string{"kb similar guides/retry.md"},
}, (*Vault).Similar)

// Similar finds the notes nearest in meaning. Without vectors it searches for what
// the note says of itself: its title, aliases, tags, headings and summary.
func (v *Vault) Similar(ctx context.Context, p SimilarParams) (*SearchResult, error) {
	f, err := v.find(ctx, p.Path, p.At)
	if err != nil {
		return nil, err
	}
	cards, err := f.allCards(ctx)
	if err != nil {
		return nil, err
	}
	self := f.docs[f.doc].blob
	q := index.Query{Max: p.MaxResults, Finished: true, Keep: func(i int) bool { return f.docs[i].blob != self }}
	k, found, err := f.searchLike(ctx, self, q, f.gist(f.doc, cards[f.doc]))
	if err != nil {
		return nil, err
	}
	r := &SearchResult{Query: f.docs[f.doc].path, Mode: k.mode, Degraded: k.degraded, Seen: f.seen(), Results: []Hit{}, MissingTerms: []string{},
		Corrected: []Correction{}, Index: k.state}
	found.Missing, found.Corrected, found.Note, found.LowConfidence = nil, nil, "", false
	return r, f.fill(r, found, p.MaxTokens)
}

// searchLike finds notes by their nearness to one, or else by the words of its gist.
func (w *view) searchLike(ctx context.Context, self note.ID, q index.Query, gist string) (*ranking, *index.Result, error) {
	text, err := w.textView(ctx)
	if err != nil {
		return nil, nil, err
	}
	k := &ranking{mode: "vector"}
	var why string
	if k.meaning, k.state, why = w.vectors(ctx); k.meaning != nil {
		near := q
		near.Meaning = &index.Meaning{Alone: true, Near: k.meaning.like(self)}
		found, err := text.Search(ctx, near)
		if err == nil && len(found.Hits) > 0 || err != nil && !errors.Is(err, errMeaning) {
			return k, found, err
		}
		why = "the note has no vector"
	}
	k.mode, k.meaning, k.degraded = "text", nil, why+": compared by words"
	q.Text = gist
	found, err := text.Search(ctx, q)
	return k, found, err
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
