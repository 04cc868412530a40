package vault

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"kb/index"
	"kb/note"
)

// SearchParams asks for the notes that answer a query.
type SearchParams struct {
	Query      string   `json:"query" arg:"" required:"" help:"words, \"a phrase\", +must, -not, AND OR NOT (), field:word, prefix*"`
	Mode       string   `json:"mode,omitempty" enum:"hybrid,text,vector,literal,regex,fts5,semantic" help:"default hybrid"`
	MaxResults int      `json:"max_results,omitempty" also:"limit" min:"1" max:"200" help:"hits (default 10)"`
	MinScore   float64  `json:"min_score,omitempty" min:"0" help:"least score"`
	Exclude    []string `json:"exclude,omitempty" help:"citations already seen"`
	Entity     []string `json:"entity,omitempty" help:"only notes that name all of these"`
	Boost      []string `json:"boost_entity,omitempty" help:"notes that name one score higher"`
	Diversity  *float64 `json:"diversity,omitempty" min:"0" max:"1" help:"push back repetition"`
	Explain    bool     `json:"explain,omitempty" help:"explain scores"`
	MaxTokens  int      `json:"max_tokens,omitempty" default:"4000" min:"100" help:"budget"`
	Cursor     string   `json:"cursor,omitempty" help:"next of an answer"`
	Selection
	atParam
}

// SearchResult is the answer to a search. Hits are in rank order: score, then
// collection, then path.
type SearchResult struct {
	Query string `json:"query"`
	Mode  string `json:"mode"` // the one that answered
	Seen
	Total         int          `json:"total"` // matching notes, shown or not
	Results       []Hit        `json:"results"`
	LowConfidence bool         `json:"low_confidence,omitempty"`
	MissingTerms  []string     `json:"missing_terms"`
	Corrected     []Correction `json:"corrected"`
	Note          string       `json:"note,omitempty"`
	Degraded      string       `json:"degraded,omitempty"`
	Truncated     bool         `json:"truncated,omitempty"`
	Next          string       `json:"next,omitempty"`
	Index         IndexState   `json:"index"`
}

// Correction says that a word nobody wrote was taken for another.
type Correction struct {
	From string `json:"from"`
	To   string `json:"to"`
}

// IndexState says how complete the derived data of the view was: text and
// vectors from 0 to 1.
type IndexState struct {
	State   string  `json:"state"`
	Text    float64 `json:"text"`
	Vectors float64 `json:"vectors"`
}

// Hit is one note that matched, with its best passage.
type Hit struct {
	Path         string   `json:"path"`
	Title        string   `json:"title"`
	Section      string   `json:"section"`
	Collection   string   `json:"collection"`
	Score        float64  `json:"score"`
	Excerpt      string   `json:"excerpt"` // one line; matched words stand in **
	URI          string   `json:"uri"`
	Heading      string   `json:"heading,omitempty"` // from the outermost down: "Setup > Linux"
	Lines        []int    `json:"lines"`             // first and last, counted in the file as stored
	Blob         string   `json:"blob"`
	Tags         []string `json:"tags"`
	Also         []string `json:"also"` // other paths of the same bytes
	Trust        string   `json:"trust"`
	Uncommitted  bool     `json:"uncommitted,omitempty"`
	Status       string   `json:"status,omitempty"`
	SupersededBy string   `json:"superseded_by,omitempty"`
	Matches      []Match  `json:"matches,omitempty"` // in the modes literal and regex, the first few
	MatchCount   int      `json:"match_count,omitempty"`
	Explain      *Explain `json:"explain,omitempty"`
}

var searchOp = define(Op{
	Name:        "search",
	Title:       "Search the vault",
	Summary:     "Find the notes that answer a query",
	Description: "Ranked notes for a question or keywords, each with its best passage, line range and a citation (uri). Start here when you know what you look for; read a hit with get_document. mode=literal or regex finds exact code.",
	Examples: []string{
		`kb search "how are retries backed off"`,
		`kb search 'tag:howto "rate limit" -draft' --at v1.2`,
		`kb search 'foo->bar' --mode literal`,
	},
}, (*Vault).Search)

// What a query may hold, and how many of its terms an answer names: an answer
// has both in it, whatever its budget.
const (
	mostQuery   = 4000 // bytes
	mostMissing = 50
)

func checkQuery(query string) error {
	if len(query) > mostQuery {
		return errorf(Usage, "the query has %d bytes", len(query)).
			hint("ask with the words that matter: %d bytes at most; kb_similar finds notes like a note", mostQuery)
	}
	return nil
}

// Search ranks the notes of a view. The answer is a function of the view and
// the parameters alone.
func (v *Vault) Search(ctx context.Context, p SearchParams) (*SearchResult, error) {
	if err := checkQuery(p.Query); err != nil {
		return nil, err
	}
	w, offset, err := v.readFrom(ctx, p.Cursor, p.At)
	if err != nil {
		return nil, err
	}
	r := &SearchResult{Query: p.Query, Seen: w.seen(), Results: []Hit{}, MissingTerms: []string{}, Corrected: []Correction{}}
	k, err := w.ranking(ctx, p.Mode)
	if err != nil {
		return nil, err
	}
	q := index.Query{
		Text:     p.Query,
		Max:      v.limit(p.MaxResults),
		Offset:   offset,
		MinScore: max(p.MinScore, v.cfg.Search.MinScore),
		Explain:  p.Explain,
	}
	if q.Keep, err = w.keepForSearch(ctx, p); err != nil {
		return nil, err
	}
	if q.Boost, err = w.naming(ctx, p.Boost); err != nil {
		return nil, err
	}
	diversity := v.cfg.Search.Diversity
	if p.Diversity != nil {
		diversity = *p.Diversity
	}
	found, err := w.search(ctx, k, q, diversity)
	if err != nil {
		return nil, err
	}
	r.Mode, r.Degraded, r.Index = k.mode, k.degraded, k.state
	w.admitGaps(&r.Index, &r.Degraded)
	if err := w.fill(r, found, p.MaxTokens); err != nil {
		return nil, err
	}
	if r.MissingTerms, err = w.addMissingEntities(ctx, r.MissingTerms, p.Query, found.Hits); err != nil {
		return nil, err
	}
	r.MissingTerms = r.MissingTerms[:min(len(r.MissingTerms), mostMissing)]
	if end := offset + len(r.Results); end < r.Total && len(r.Results) > 0 {
		r.Next = w.cursor(end)
	}
	return r, nil
}

// limit is how many hits a call gets that asks for n.
func (v *Vault) limit(n int) int {
	if n <= 0 {
		n = v.cfg.Search.MaxResults
	}
	return min(n, v.cfg.Search.MaxLimit)
}

// keepForSearch joins the filter with the citations that were seen already.
func (w *view) keepForSearch(ctx context.Context, p SearchParams) (func(int) bool, error) {
	keep, err := Filter{Selection: p.Selection}.keep(ctx, w)
	if err != nil {
		return nil, err
	}
	if len(p.Entity) > 0 {
		if keep, err = w.keepEntities(ctx, p.Entity, keep); err != nil {
			return nil, err
		}
	}
	seen := map[int]bool{}
	for _, s := range p.Exclude {
		c := citation{Path: s}
		if strings.HasPrefix(s, scheme) {
			var bad *Error
			if c, bad = parseCitation(s); bad != nil {
				return nil, bad
			}
		}
		for _, i := range w.at(c.Path) {
			if c.Collection == "" || c.Collection == w.docs[i].col.Name {
				seen[i] = true
			}
		}
	}
	if len(seen) == 0 {
		return keep, nil
	}
	return func(i int) bool { return !seen[i] && (keep == nil || keep(i)) }, nil
}

// keepEntities narrows keep to the notes that name every one of names.
func (w *view) keepEntities(ctx context.Context, names []string, keep test) (test, error) {
	cards, err := w.allCards(ctx)
	if err != nil {
		return nil, err
	}
	return func(i int) bool {
		for _, e := range names {
			if !cards[i].hasEntity(e) {
				return false
			}
		}
		return keep == nil || keep(i)
	}, nil
}

// marked returns an excerpt with its marks as **…**.
func marked(s string, marks []note.Span) string {
	var b strings.Builder
	last := 0
	for _, m := range marks {
		if m.Start < last || m.End > len(s) {
			continue
		}
		b.WriteString(s[last:m.Start] + "**" + s[m.Start:m.End] + "**")
		last = m.End
	}
	return b.String() + s[last:]
}

func searchError(err error) error {
	if errors.Is(err, index.ErrPattern) {
		return errorf(Usage, "%w", err).hint("RE2 syntax: github.com/google/re2/wiki/Syntax; mode=literal takes the text as it is")
	}
	return err
}

// fill turns ranked members into hits, as many as the budget holds.
func (w *view) fill(r *SearchResult, found *index.Result, budget int) error {
	r.Total, r.LowConfidence, r.Note = found.Total, found.LowConfidence, found.Note
	r.MissingTerms = append(r.MissingTerms, found.Missing...)
	for _, c := range found.Corrected {
		r.Corrected = append(r.Corrected, Correction(c))
	}
	spent := 0
	for _, h := range found.Hits {
		hit, err := w.hit(h)
		if err != nil {
			return err
		}
		spent += hit.tokens()
		if budget > 0 && spent > budget && len(r.Results) > 0 {
			r.Truncated = true
			break
		}
		r.Results = append(r.Results, hit)
	}
	return nil
}

func (w *view) hit(h index.Hit) (Hit, error) {
	d := w.docs[h.Member]
	n, err := w.v.store.note(w.v.cfg.Language, d.blob, func() ([]byte, error) { return w.bytes(h.Member) })
	if err != nil {
		return Hit{}, err
	}
	out := Hit{
		Path:         d.path,
		Title:        n.TitleAt(d.path),
		Section:      section(d.path),
		Collection:   d.col.Name,
		Score:        h.Score,
		Excerpt:      marked(h.Excerpt, h.Marks),
		URI:          w.uri(h.Member, h.HeadingSlug),
		Heading:      strings.Join(h.Heading, " > "),
		Lines:        []int{h.Lines[0], h.Lines[1]},
		Blob:         d.blob.String(),
		Tags:         fewTags(n.Tags),
		Also:         []string{},
		Trust:        w.trust(),
		Uncommitted:  d.uncommitted,
		Status:       linkText(n.Status()),
		SupersededBy: linkText(n.Superseded()),
	}
	for _, i := range h.Also {
		name := w.docs[i].path
		if w.docs[i].col != d.col {
			name = w.docs[i].col.Name + ":" + name
		}
		out.Also = append(out.Also, name)
	}
	out.MatchCount = h.MatchCount
	const mostMatches = 5
	for _, m := range h.Matches[:min(mostMatches, len(h.Matches))] {
		out.Matches = append(out.Matches, Match{Line: m.Number, Text: marked(m.Text, m.Marks)})
	}
	out.Explain = explain(h)
	return out, nil
}

// trust says whether what is read was reviewed: a draft branch's was not.
func (w *view) trust() string {
	if w.draft {
		return "draft"
	}
	return "reviewed"
}

// tokens estimates what a hit costs in an answer.
func (h *Hit) tokens() int {
	const names = 30
	matches := 0
	for _, m := range h.Matches {
		matches += 5 + Tokens(m.Text)
	}
	return names + matches + Tokens(h.Excerpt) + Tokens(h.Title) + Tokens(h.Path) + Tokens(h.URI) + Tokens(h.Heading) + 3*len(h.Tags)
}

// Text writes the hits as a list.
func (r *SearchResult) Text(t *Text) {
	if len(r.Results) == 0 {
		t.Printf("No note matches %s.\n", t.Strong(r.Query))
	}
	for i, h := range r.Results {
		h.text(t, i+1)
	}
	shown := fmt.Sprintf("%d of %s", len(r.Results), plural(r.Total, "note"))
	t.Wrap("", t.Dim(strings.Join(nonEmpty([]string{shown, r.Seen.where(), r.Degraded}), " · ")))
	for _, c := range r.Corrected {
		t.Printf("%s\n", t.Warn(fmt.Sprintf("no note has %q; searched for %q", c.From, c.To)))
	}
	if len(r.MissingTerms) > 0 {
		t.Printf("%s\n", t.Warn("found nowhere: "+strings.Join(r.MissingTerms, ", ")))
	}
	if r.LowConfidence && len(r.Results) > 0 {
		t.Printf("%s\n", t.Warn("low confidence: no note covers the query well"))
	}
	if r.Note != "" {
		t.Printf("%s\n", t.Warn(r.Note))
	}
	if t.Color || r.Truncated {
		t.more(r.Next)
	}
}

func (h Hit) text(t *Text, n int) {
	place := h.Path
	if h.Heading != "" && h.Heading != h.Title {
		place += " › " + strings.TrimPrefix(h.Heading, h.Title+" > ")
	}
	t.Printf("%d. %s  %s\n", n, t.Link(t.Strong(h.Title), h.Collection, h.Path), t.Dim(fmt.Sprintf("%.2f", h.Score)))
	if h.Lines[0] > 0 {
		place = fmt.Sprintf("%s:%d", place, h.Lines[0])
	}
	t.Wrap("   ", t.Accent(place))
	if h.SupersededBy != "" {
		t.Printf("   %s\n", t.Warn("superseded by "+h.SupersededBy))
	} else if slices.Contains([]string{"obsolete", "deprecated", "superseded"}, strings.ToLower(h.Status)) {
		t.Printf("   %s\n", t.Warn(h.Status))
	}
	if h.Excerpt != "" {
		t.Wrap("   ", t.Marked(h.Excerpt))
	}
	if t.Width == 0 {
		t.Printf("   %s\n", h.URI)
	}
	t.Printf("\n")
}

// text names what was read, for the foot of an answer.
func (s Seen) text() string {
	if s.Unread > 0 {
		return fmt.Sprintf("%s, without %s that git does not have", s.where(), plural(s.Unread, "note"))
	}
	return s.where()
}

func (s Seen) where() string {
	switch {
	case s.Worktree && s.Uncommitted != nil && *s.Uncommitted > 0:
		return fmt.Sprintf("work tree, %d uncommitted", *s.Uncommitted)
	case s.Worktree:
		return "work tree at " + clipHash(s.Commit)
	case s.Commit != "":
		return "at " + clipHash(s.Commit)
	case len(s.Commits) > 0:
		return fmt.Sprintf("at %d commits", len(s.Commits))
	}
	return "no commit yet: git commit makes the first"
}

func clipHash(h string) string { return h[:min(len(h), 12)] }
