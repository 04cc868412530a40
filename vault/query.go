package vault

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
)

// QueryParams asks for notes by their metadata.
type QueryParams struct {
	Filter
	Sort       string `json:"sort,omitempty" help:"path, title, created, updated, words or a frontmatter key; -key for descending (default path)"`
	MaxResults int    `json:"max_results,omitempty" also:"limit" default:"50" min:"1" max:"500" help:"notes"`
	MaxTokens  int    `json:"max_tokens,omitempty" default:"6000" min:"100" help:"budget"`
	Cursor     string `json:"cursor,omitempty" help:"next of an answer"`
	atParam
}

// QueryResult is the notes that pass every condition.
type QueryResult struct {
	Total     int       `json:"total"`
	Documents []DocInfo `json:"documents"`
	Truncated bool      `json:"truncated,omitempty"`
	Next      string    `json:"next,omitempty"`
	Seen
}

// DocInfo is a note in a list. Dates are from its frontmatter, else from
// history; "" when neither knows.
type DocInfo struct {
	Path       string   `json:"path"`
	Title      string   `json:"title"`
	Tags       []string `json:"tags"`
	Section    string   `json:"section"`
	Collection string   `json:"collection"`
	Status     string   `json:"status,omitempty"`
	Created    string   `json:"created,omitempty"`
	Updated    string   `json:"updated,omitempty"`
}

var queryOp = define(Op{
	Name:        "kb_query",
	Title:       "List notes by metadata",
	Summary:     "List notes by tag, status, dates and frontmatter",
	Description: "Notes by metadata instead of words: tags, status, dates, any frontmatter field (where: \"rating>3\"), sorted, with a cursor. Use it for lists (all drafts, what changed since) and search for content.",
	Examples: []string{
		"kb query --tag howto --sort -updated",
		`kb query --where 'rating>=4' --where 'status!=done' --updated-after 2026-01-01`,
	},
}, (*Vault).Query)

// Query lists the notes that pass the filter, in the order of sort, then path.
func (v *Vault) Query(ctx context.Context, p QueryParams) (*QueryResult, error) {
	w, offset, err := v.readFrom(ctx, p.Cursor, p.At)
	if err != nil {
		return nil, err
	}
	matched, err := w.query(ctx, p)
	if err != nil {
		return nil, err
	}
	r := &QueryResult{Total: len(matched), Documents: []DocInfo{}, Seen: w.seen()}
	spent := 0
	for _, m := range matched[min(offset, len(matched)):] {
		info := w.info(m.doc, w.cards[m.doc], m.dated)
		spent += 40 + Tokens(info.Path) + Tokens(info.Title) + 3*len(info.Tags)
		if len(r.Documents) == p.MaxResults || spent > p.MaxTokens && len(r.Documents) > 0 {
			r.Truncated = len(r.Documents) < p.MaxResults
			break
		}
		r.Documents = append(r.Documents, info)
	}
	if end := offset + len(r.Documents); end < r.Total && len(r.Documents) > 0 {
		r.Next = w.cursor(end)
	}
	return r, nil
}

// match is a doc that passed, with what it is sorted by.
type match struct {
	doc int
	dated
	keys []string
}

func (w *view) query(ctx context.Context, p QueryParams) ([]match, error) {
	cards, err := w.allCards(ctx)
	if err != nil {
		return nil, err
	}
	keep, err := p.Filter.keep(ctx, w)
	if err != nil {
		return nil, err
	}
	date, err := w.datesOf(ctx)
	if err != nil {
		return nil, err
	}
	key, descending := strings.CutPrefix(p.Sort, "-")
	var out []match
	for i, c := range cards {
		if keep != nil && !keep(i) {
			continue
		}
		m := match{doc: i, dated: date(i, c)}
		if key != "" {
			m.keys = w.values(i, c, key, date)
		}
		out = append(out, m)
	}
	slices.SortStableFunc(out, func(a, b match) int {
		// A note without the key comes last either way.
		if n := cmp.Compare(min(len(b.keys), 1), min(len(a.keys), 1)); n != 0 || len(a.keys) == 0 {
			return n
		}
		n := compareValues(a.keys[0], b.keys[0])
		if descending {
			n = -n
		}
		return n
	})
	return out, nil
}

func (w *view) info(i int, c *card, d dated) DocInfo {
	return DocInfo{
		Path:       w.docs[i].path,
		Title:      w.titleOf(i, c),
		Tags:       fewTags(c.tags),
		Section:    section(w.docs[i].path),
		Collection: w.docs[i].col.Name,
		Status:     c.status,
		Created:    d.created,
		Updated:    d.updated,
	}
}

// Text writes a table.
func (r *QueryResult) Text(t *Text) {
	var rows [][]string
	for _, d := range r.Documents {
		rows = append(rows, []string{t.Dim(d.Updated), t.Accent(d.Path), t.Plain(d.Title), t.Dim(strings.Join(d.Tags, ", "))})
	}
	t.Table(rows)
	t.Printf("%s\n", t.Dim(fmt.Sprintf("%d of %s · %s", len(r.Documents), plural(r.Total, "note"), r.Seen.text())))
	t.more(r.Next)
}
