package vault

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"kb/note"
)

// ContextParams names the notes to get an idea of.
type ContextParams struct {
	Path      []string `json:"path" arg:"" required:"" help:"paths, titles, aliases or kb:// citations"`
	Depth     string   `json:"depth,omitempty" enum:"quick,standard,deep" default:"standard" help:"quick: summary; standard: also outline and links; deep: also passages"`
	MaxTokens int      `json:"max_tokens,omitempty" default:"3000" min:"100" help:"budget"`
	atParam
}

// ContextResult describes notes without their full text.
type ContextResult struct {
	Documents []Context `json:"documents"`
	Truncated bool      `json:"truncated,omitempty"`
	Next      []string  `json:"next"` // paths that the budget left out
	Seen
}

// Context is what there is to know of a note before reading it.
type Context struct {
	Path         string         `json:"path"`
	Title        string         `json:"title"`
	Tags         []string       `json:"tags"`
	Section      string         `json:"section"`
	Collection   string         `json:"collection"`
	Frontmatter  map[string]any `json:"frontmatter"`
	Summary      string         `json:"summary"`
	Outline      []OutlineEntry `json:"outline"`
	Links        []Linked       `json:"links"`
	Backlinks    []Linked       `json:"backlinks"`
	Passages     []Passage      `json:"passages"`
	Words        int            `json:"words"`
	URI          string         `json:"uri"`
	Status       string         `json:"status,omitempty"`
	SupersededBy string         `json:"superseded_by,omitempty"`
}

// OutlineEntry is a heading of a note.
type OutlineEntry struct {
	Level int    `json:"level"`
	Text  string `json:"text"`
	Slug  string `json:"slug"`
	Line  int    `json:"line"`
}

// Passage is the beginning of a section.
type Passage struct {
	Heading string `json:"heading"`
	Lines   []int  `json:"lines"`
	Text    string `json:"text"`
}

var contextOp = define(Op{
	Name:        "kb_context",
	Title:       "Look at notes briefly",
	Summary:     "Show what notes are about: metadata, summary, outline, links",
	Description: "Metadata, summary, outline, links and backlinks of one or more notes, for a fraction of their text. Use it between search and get_document to decide what to read.",
	Examples:    []string{"kb context guides/retry.md", "kb context README.md architecture.md --depth deep"},
}, (*Vault).Context)

// Context describes each note; what does not fit the budget is named in Next.
func (v *Vault) Context(ctx context.Context, p ContextParams) (*ContextResult, error) {
	if len(p.Path) == 0 {
		return nil, errorf(Usage, "no note is named").hint("path: a path, title, alias or kb:// citation")
	}
	r := &ContextResult{Documents: []Context{}, Next: []string{}}
	spent := 0
	for i, name := range p.Path {
		f, err := v.find(ctx, name, p.At)
		if err != nil {
			return nil, err
		}
		if i == 0 {
			r.Seen = f.seen()
		}
		c, err := f.describe(ctx, p.Depth)
		if err != nil {
			return nil, err
		}
		if spent += c.tokens(); i > 0 && spent > p.MaxTokens {
			r.Truncated, r.Next = true, append(r.Next, p.Path[i:]...)
			break
		}
		r.Truncated = c.fit(p.MaxTokens) || r.Truncated
		r.Documents = append(r.Documents, *c)
	}
	return r, nil
}

func (f found) describe(ctx context.Context, depth string) (*Context, error) {
	n, text, err := f.note(f.doc)
	if err != nil {
		return nil, err
	}
	d := f.docs[f.doc]
	c := &Context{
		Path:         d.path,
		Title:        n.TitleAt(d.path),
		Tags:         fewTags(n.Tags),
		Section:      section(d.path),
		Collection:   d.col.Name,
		Frontmatter:  map[string]any{},
		Summary:      n.Summary,
		Outline:      []OutlineEntry{},
		Links:        []Linked{},
		Backlinks:    []Linked{},
		Passages:     []Passage{},
		Words:        n.Words,
		URI:          f.uri(f.doc, f.fragment),
		Status:       linkText(n.Status()),
		SupersededBy: linkText(n.Superseded()),
	}
	for _, field := range n.Fields {
		c.Frontmatter[field.Key] = field.Value
	}
	if depth == "quick" {
		return c, nil
	}
	for _, h := range n.Headings {
		c.Outline = append(c.Outline, OutlineEntry{h.Level, h.Text, h.Slug, h.Line})
	}
	g, err := f.graph(ctx)
	if err != nil {
		return nil, err
	}
	c.Links, c.Backlinks = f.linked(g.out(f.doc)), f.linked(g.in(f.doc))
	if depth == "deep" {
		c.Passages = passagesOf(n, text)
	}
	return c, nil
}

// passagesOf is the beginning of each section, up to its first sub-section.
func passagesOf(n *note.Note, text []byte) []Passage {
	const most = 120
	out := []Passage{}
	for i, h := range n.Headings {
		end := h.End
		if i+1 < len(n.Headings) {
			end = min(end, n.Headings[i+1].Start)
		}
		_, body, _ := strings.Cut(string(text[h.Start:end]), "\n")
		if body = strings.TrimSpace(body); body == "" {
			continue
		}
		out = append(out, Passage{
			Heading: strings.Join(n.HeadingPath(i), " > "),
			Lines:   []int{h.Line, note.LineAt(text, max(end-1, h.Start))},
			Text:    strings.TrimSpace(body[:cutTokens(body, most)]),
		})
	}
	return out
}

func (c *Context) tokens() int {
	n := 60 + Tokens(c.Summary) + 12*len(c.Outline) + 25*(len(c.Links)+len(c.Backlinks))
	for _, tag := range c.Tags {
		n += Tokens(tag)
	}
	for k, v := range c.Frontmatter {
		n += Tokens(k) + Tokens(fmt.Sprint(v))
	}
	for _, p := range c.Passages {
		n += Tokens(p.Text) + Tokens(p.Heading) + 10
	}
	return n
}

// fit drops the longest lists' ends until c is within the budget, and reports
// whether it had to.
func (c *Context) fit(budget int) (cut bool) {
	for c.tokens() > budget {
		switch {
		case len(c.Passages) > 0:
			c.Passages = c.Passages[:len(c.Passages)/2]
		case len(c.Backlinks) > 5 && len(c.Backlinks) >= len(c.Links):
			c.Backlinks = c.Backlinks[:len(c.Backlinks)/2]
		case len(c.Links) > 5:
			c.Links = c.Links[:len(c.Links)/2]
		case len(c.Outline) > 5:
			c.Outline = c.Outline[:len(c.Outline)/2]
		case len(c.Frontmatter) > 0:
			delete(c.Frontmatter, c.longestField())
		default:
			return cut
		}
		cut = true
	}
	return cut
}

// longestField is the property that takes the most room.
func (c *Context) longestField() (longest string) {
	most := -1
	for _, key := range slices.Sorted(maps.Keys(c.Frontmatter)) {
		if n := Tokens(fmt.Sprint(c.Frontmatter[key])); n > most {
			longest, most = key, n
		}
	}
	return longest
}

// Text writes one block a note.
func (r *ContextResult) Text(t *Text) {
	for _, c := range r.Documents {
		c.text(t)
	}
	if len(r.Next) > 0 {
		t.Printf("%s\n", t.Dim("[truncated: left out "+strings.Join(r.Next, ", ")+"]"))
	}
}

func (c Context) text(t *Text) {
	t.Printf("%s\n", t.Strong(c.Title))
	t.Printf("  %s\n", t.Dim(strings.Join(nonEmpty([]string{c.Path, plural(c.Words, "word"), strings.Join(c.Tags, ", "), c.Status}), " · ")))
	if c.SupersededBy != "" {
		t.Printf("  %s\n", t.Warn("superseded by "+c.SupersededBy))
	}
	if c.Summary != "" {
		t.Wrap("  ", visible(c.Summary))
	}
	for _, h := range c.Outline {
		t.Printf("  %s%s %s\n", strings.Repeat("  ", max(h.Level-1, 0)), visible(h.Text), t.Dim(fmt.Sprint(h.Line)))
	}
	list := func(name string, links []Linked) {
		if len(links) == 0 {
			return
		}
		t.Printf("  %s\n", t.Dim(name))
		for _, l := range links {
			t.Printf("    %s  %s\n", t.Plain(l.Title), t.Accent(l.Path))
		}
	}
	list("links", c.Links)
	list("linked from", c.Backlinks)
	for _, p := range c.Passages {
		t.Printf("  %s\n", t.Strong(p.Heading))
		t.Wrap("    ", visible(p.Text))
	}
	if t.Width == 0 {
		t.Printf("  %s\n", c.URI)
	}
	t.Printf("\n")
}
