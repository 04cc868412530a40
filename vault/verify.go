package vault

import (
	"context"
	"fmt"
	"regexp"
	"strings"

	"kb/index"
	"kb/note"
)

// VerifyParams is a text that quotes the vault.
type VerifyParams struct {
	Content string `json:"text" required:"" help:"an answer or a note with kb:// citations and quotes"`
	atParam
}

// Verified says which citations and quotes hold.
type Verified struct {
	OK        bool       `json:"ok"`
	Citations []Cited    `json:"citations"`
	Quotes    []Quoted   `json:"quotes"`
	Counts    QuoteCount `json:"counts"`
	Seen
}

// Cited is a citation and whether there is anything behind it.
type Cited struct {
	URI    string `json:"uri"`
	Line   int    `json:"line"`
	Status string `json:"status"` // stands, moved (the heading is gone), nowhere
	Reason string `json:"reason,omitempty"`
}

// Quoted is a quote and where its words stand. Moved means: not where it is
// cited, but at Found.
type Quoted struct {
	Quote  string `json:"quote"`
	Line   int    `json:"line"`
	URI    string `json:"uri,omitempty"` // what it cites
	Status string `json:"status"`        // stands, moved, nowhere
	Found  string `json:"found,omitempty"`
}

// QuoteCount counts citations and quotes by status.
type QuoteCount struct {
	Stands  int `json:"stands"`
	Moved   int `json:"moved"`
	Nowhere int `json:"nowhere"`
}

var verifyOp = define(Op{
	Name:     "kb_verify",
	Summary:  "Check the citations and quotes of a text against the vault",
	Examples: []string{"kb verify answer.md", "kb verify - < answer.md"},
	People:   true,
}, (*Vault).Verify)

// Verify reads text paragraph by paragraph. A quote is what stands between
// double quotation marks, or in a blockquote, and has at least three words; it
// belongs to the next citation of its paragraph, else to the last, else to the
// first of the next paragraph. A quote must stand in the passage that is cited;
// one without a citation may stand anywhere in the view.
func (v *Vault) Verify(ctx context.Context, p VerifyParams) (*Verified, error) {
	w, err := v.read(ctx, p.At)
	if err != nil {
		return nil, err
	}
	r := &Verified{Citations: []Cited{}, Quotes: []Quoted{}, Seen: w.seen()}
	x := verifier{v: v, w: w, at: p.At, passages: map[string]cited{}}
	paragraphs := splitParagraphs(p.Content)
	for i, para := range paragraphs {
		for _, c := range para.citations {
			r.Citations = append(r.Citations, x.citation(ctx, c))
		}
		for _, q := range para.quotes {
			uri := q.cites(para.citations)
			if uri == "" && i+1 < len(paragraphs) && len(paragraphs[i+1].quotes) == 0 && len(paragraphs[i+1].citations) > 0 {
				uri = paragraphs[i+1].citations[0].text
			}
			quoted, err := x.quote(ctx, q, uri)
			if err != nil {
				return nil, err
			}
			r.Quotes = append(r.Quotes, quoted)
		}
	}
	r.count()
	return r, nil
}

func (r *Verified) count() {
	add := func(status string) {
		switch status {
		case "stands":
			r.Counts.Stands++
		case "moved":
			r.Counts.Moved++
		default:
			r.Counts.Nowhere++
		}
	}
	for _, c := range r.Citations {
		add(c.Status)
	}
	for _, q := range r.Quotes {
		add(q.Status)
	}
	r.OK = r.Counts.Moved+r.Counts.Nowhere == 0
}

// ExitCode is Failed when something does not stand where it is cited.
func (r *Verified) ExitCode() Code {
	if r.OK {
		return ""
	}
	return Failed
}

// span is a piece of the checked text.
type span struct {
	text   string
	offset int
	line   int
}

// paragraph is what stands between blank lines.
type paragraph struct {
	citations []span
	quotes    []span
}

var (
	citationForm = regexp.MustCompile(`kb://[^\s<>"'` + "`" + `)\]]+`)
	quoteForm    = regexp.MustCompile(`"([^"]{8,})"|“([^”]{8,})”|«([^»]{8,})»|„([^“]{8,})“`)
)

func splitParagraphs(text string) (out []paragraph) {
	line := 1
	for _, block := range regexp.MustCompile(`(?:[^\n]*\S[^\n]*(?:\n|$))+|\n`).FindAllString(text, -1) {
		if strings.TrimSpace(block) != "" {
			out = append(out, readParagraph(block, line))
		}
		line += strings.Count(block, "\n")
	}
	return out
}

func readParagraph(block string, line int) (p paragraph) {
	at := func(s string, offset int) span {
		return span{s, offset, line + strings.Count(block[:offset], "\n")}
	}
	for _, m := range citationForm.FindAllStringIndex(block, -1) {
		uri := strings.TrimRight(block[m[0]:m[1]], ".,;:!?")
		if uri != "kb://digest" && uri != "kb://conventions" { // resources of the server, which cite nothing
			p.citations = append(p.citations, at(uri, m[0]))
		}
	}
	if strings.HasPrefix(strings.TrimSpace(block), ">") {
		var lines []string
		for _, l := range strings.Split(block, "\n") {
			lines = append(lines, strings.TrimPrefix(strings.TrimPrefix(strings.TrimSpace(l), ">"), " "))
		}
		quote := citationForm.ReplaceAllString(strings.Join(lines, "\n"), "")
		if len(strings.Fields(quote)) >= 3 {
			p.quotes = append(p.quotes, at(strings.TrimSpace(strings.Trim(strings.TrimSpace(quote), "<>()[]—-")), 0))
		}
		return p
	}
	for _, m := range quoteForm.FindAllStringSubmatchIndex(block, -1) {
		for g := 2; g+1 < len(m); g += 2 {
			if m[g] >= 0 && len(strings.Fields(block[m[g]:m[g+1]])) >= 3 {
				p.quotes = append(p.quotes, at(block[m[g]:m[g+1]], m[g]))
			}
		}
	}
	return p
}

// cites is the citation that a quote belongs to within its paragraph.
func (q span) cites(citations []span) string {
	for _, c := range citations {
		if c.offset > q.offset {
			return c.text
		}
	}
	if len(citations) > 0 {
		return citations[len(citations)-1].text
	}
	return ""
}

// verifier looks up passages.
type verifier struct {
	v        *Vault
	w        *view
	at       string // what citations without a commit mean
	passages map[string]cited
}

// cited is what stands behind a citation, normalised.
type cited struct {
	passage string // the section that is cited
	whole   string // its note
	found   bool
	gone    bool // the note is there, the heading is not
	reason  string
}

func (x *verifier) passage(ctx context.Context, uri string) cited {
	if c, ok := x.passages[uri]; ok {
		return c
	}
	c := x.look(ctx, uri)
	x.passages[uri] = c
	return c
}

func (x *verifier) look(ctx context.Context, uri string) cited {
	f, err := x.v.find(ctx, uri, x.at)
	if err != nil {
		return cited{reason: err.Error()}
	}
	n, text, err := f.note(f.doc)
	if err != nil {
		return cited{reason: err.Error()}
	}
	c := cited{found: true, whole: plainQuote(string(text))}
	c.passage = c.whole
	if f.fragment != "" {
		span, err := headingSpan(n, f.fragment)
		if err != nil {
			c.gone, c.reason, c.passage = true, err.Error(), ""
			return c
		}
		c.passage = plainQuote(string(text[span.Start:span.End]))
	}
	return c
}

func (x *verifier) citation(ctx context.Context, s span) Cited {
	c := x.passage(ctx, s.text)
	out := Cited{URI: s.text, Line: s.line, Status: "stands", Reason: c.reason}
	switch {
	case !c.found:
		out.Status = "nowhere"
	case c.gone:
		out.Status = "moved"
	}
	return out
}

func (x *verifier) quote(ctx context.Context, q span, uri string) (Quoted, error) {
	out := Quoted{Quote: clip(oneSpace(q.text), 200), Line: q.line, URI: uri, Status: "nowhere"}
	if uri != "" {
		c := x.passage(ctx, uri)
		switch {
		case c.found && !c.gone && holdsQuote(c.passage, q.text):
			out.Status = "stands"
			return out, nil
		case c.found && holdsQuote(c.whole, q.text):
			out.Status, out.Found = "moved", strings.SplitN(uri, "#", 2)[0]
			return out, nil
		}
	}
	found, err := x.anywhere(ctx, q.text)
	if err != nil || found == "" {
		return out, err
	}
	out.Status, out.Found = "moved", found
	if uri == "" {
		out.Status = "stands"
	}
	return out, nil
}

// anywhere finds a note of the view that has the quote.
func (x *verifier) anywhere(ctx context.Context, quote string) (string, error) {
	text, err := x.w.textView(ctx)
	if err != nil {
		return "", err
	}
	words := strings.FieldsFunc(strings.ToLower(plainQuote(quote)), func(r rune) bool {
		return strings.ContainsRune("\"'()+-*:/#<>[]{}|.,;!?… \t\n", r)
	})
	found, err := text.Search(ctx, index.Query{Text: strings.Join(words[:min(len(words), 30)], " "), Max: 20, Finished: true})
	if err != nil {
		return "", err
	}
	for _, h := range found.Hits {
		n, src, err := x.w.note(h.Member)
		if err != nil {
			return "", err
		}
		if holdsQuote(plainQuote(string(src)), quote) {
			return x.w.uri(h.Member, sectionOfQuote(n, src, quote)), nil
		}
	}
	return "", nil
}

// sectionOfQuote is the slug of the innermost section with the quote.
func sectionOfQuote(n *note.Note, text []byte, quote string) string {
	slug, size := "", len(text)+1
	for _, h := range n.Headings {
		if h.End-h.Start < size && holdsQuote(plainQuote(string(text[h.Start:h.End])), quote) {
			slug, size = h.Slug, h.End-h.Start
		}
	}
	return slug
}

var (
	linkMarkup  = regexp.MustCompile(`!?\[([^\]\n]*)\]\([^)\n]*\)`)
	wikiMarkup  = regexp.MustCompile(`!?\[\[(?:[^\]|\n]*\|)?([^\]\n]*)\]\]`)
	quoteFolder = strings.NewReplacer("“", `"`, "”", `"`, "„", `"`, "‘", "'", "’", "'", " ", " ", "*", "", "_", "", "`", "", "\n>", "\n", "–", "-", "—", "-")
)

// plainQuote is text as quotes are compared: without markup that a reader does
// not see, with straight quotation marks and single spaces. Every other
// character counts.
func plainQuote(s string) string {
	s = linkMarkup.ReplaceAllString(wikiMarkup.ReplaceAllString(s, "$1"), "$1")
	return oneSpace(quoteFolder.Replace(s))
}

// holdsQuote reports whether text has the quote; "…" and "..." stand for what
// was left out.
func holdsQuote(text, quote string) bool {
	at := 0
	parts := strings.Split(strings.ReplaceAll(plainQuote(quote), "...", "…"), "…")
	some := false
	for _, part := range parts {
		part = strings.TrimRight(strings.Trim(part, " []"), ".,;:")
		if part == "" {
			continue
		}
		i := strings.Index(text[at:], part)
		if i < 0 {
			return false
		}
		at += i + len(part)
		some = true
	}
	return some
}

// Text writes a line for each that does not stand, and the counts.
func (r *Verified) Text(t *Text) {
	for _, c := range r.Citations {
		if c.Status != "stands" {
			t.Printf("%s %s %s\n", t.Dim(fmt.Sprintf("line %d", c.Line)), t.Warn(c.Status), t.Plain(c.URI+": "+c.Reason))
		}
	}
	for _, q := range r.Quotes {
		switch q.Status {
		case "moved":
			t.Printf("%s %s %q stands at %s\n", t.Dim(fmt.Sprintf("line %d", q.Line)), t.Warn("moved"), clip(q.Quote, 80), q.Found)
		case "nowhere":
			t.Printf("%s %s %q\n", t.Dim(fmt.Sprintf("line %d", q.Line)), t.Warn("nowhere"), clip(q.Quote, 80))
		}
	}
	t.Printf("%d stand, %d moved, %d nowhere\n", r.Counts.Stands, r.Counts.Moved, r.Counts.Nowhere)
}
