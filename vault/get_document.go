package vault

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"kb/note"
)

// GetDocumentParams names a note and the part of it to read.
type GetDocumentParams struct {
	Path        string `json:"path" arg:"" required:"" help:"path, collection:path, title, alias, or kb:// citation"`
	Heading     string `json:"heading,omitempty" help:"only this section: its text, slug, or \"A > B\""`
	Lines       string `json:"lines,omitempty" help:"only these lines: 10-25"`
	Around      int    `json:"around,omitempty" min:"0" max:"1000" help:"with heading or lines: neighbouring chunks too"`
	Frontmatter bool   `json:"frontmatter,omitempty" help:"the whole file, with its frontmatter"`
	MaxTokens   int    `json:"max_tokens,omitempty" default:"8000" min:"50" help:"budget"`
	atParam
}

// Document is a note, or a part of it, as stored.
type Document struct {
	Path       string   `json:"path"`
	Title      string   `json:"title"`
	Tags       []string `json:"tags"`
	TagCount   int      `json:"tag_count,omitempty" schema:"-"` // of all, where some are left out
	Section    string   `json:"section"`
	Collection string   `json:"collection"`
	Content    string   `json:"content"`
	Lines      []int    `json:"lines"` // first and last of content; empty when content is
	URI        string   `json:"uri"`
	Blob       string   `json:"blob"`
	Seen
	Changed      bool   `json:"uncommitted_text,omitempty"` // content is not in the commit
	Tokens       int    `json:"tokens"`
	Truncated    bool   `json:"truncated,omitempty"`
	Next         string `json:"next,omitempty"` // the lines that follow
	Status       string `json:"status,omitempty"`
	SupersededBy string `json:"superseded_by,omitempty"`
	Trust        string `json:"trust"`
}

var getDocumentOp = define(Op{
	Name:        "get_document",
	Title:       "Read a note",
	Summary:     "Read a note, or one section of it",
	Description: "The Markdown of a note, or of one heading or line range. Takes a path, title, alias, or the uri of a search hit, which reads it at exactly the cited commit. Pass next as lines to go on.",
	Examples: []string{
		"kb get-document guides/retry.md",
		`kb get-document "Retry policy" --heading Backoff`,
		"kb get-document guides/retry.md --at 2026-01-31",
	},
	Raw: true,
}, (*Vault).GetDocument)

// GetDocument reads a note from git or the work tree: never from anything
// derived, so it cannot be out of date.
func (v *Vault) GetDocument(ctx context.Context, p GetDocumentParams) (*Document, error) {
	f, err := v.find(ctx, p.Path, p.At)
	if err != nil && AsError(err).Code == NotFound {
		f, err = v.findApart(ctx, p.Path, p.At, err)
	}
	if err != nil {
		return nil, err
	}
	n, text, err := f.note(f.doc)
	if err != nil {
		return nil, err
	}
	if n.Binary {
		return nil, errorf(Usage, "%s is not text", f.docs[f.doc].path)
	}
	if p.Heading == "" && p.Lines == "" && f.fragment != "" {
		p.Heading = f.fragment
	}
	part, err := selectPart(n, text, p)
	if err != nil {
		return nil, err
	}
	return f.document(n, text, part, p.MaxTokens), nil
}

func (f found) document(n *note.Note, text []byte, part note.Span, budget int) *Document {
	d := f.docs[f.doc]
	content := string(text[part.Start:part.End])
	const tagsPart = 4 // of the budget, tags have at most this part
	tags, spent := cutTags(n.Tags, budget/tagsPart)
	cut := cutTokens(content, budget-spent)
	out := &Document{
		Path:         d.path,
		Title:        n.TitleAt(d.path),
		Tags:         tags,
		Section:      section(d.path),
		Collection:   d.col.Name,
		Content:      content[:cut],
		Lines:        []int{},
		Blob:         d.blob.String(),
		Seen:         f.seen(),
		Changed:      d.uncommitted,
		Tokens:       Tokens(content[:cut]),
		Truncated:    cut < len(content),
		Status:       linkText(n.Status()),
		SupersededBy: linkText(n.Superseded()),
		Trust:        f.trust(),
	}
	if len(tags) < len(n.Tags) {
		out.TagCount, out.Truncated = len(n.Tags), true
	}
	slug := ""
	if i := n.HeadingAt(part.Start); i >= 0 && part.Start > n.Body {
		slug = n.Headings[i].Slug
	}
	out.URI = f.uri(f.doc, slug)
	if cut > 0 {
		last := note.LineAt(text, part.Start+cut-1)
		out.Lines = []int{note.LineAt(text, part.Start), last}
		if cut < len(content) {
			out.Next = f.nextLines(text, part, cut)
		}
	}
	return out
}

// nextLines is the line range that follows a cut, with the offset in its first
// line where the cut is within one: "12+4000-30".
func (f found) nextLines(text []byte, part note.Span, cut int) string {
	at := part.Start + cut
	first, last := note.LineAt(text, at), note.LineAt(text, max(part.End-1, 0))
	start, _ := note.Lines(text, first, first)
	if at == start {
		return fmt.Sprintf("%d-%d", first, last)
	}
	return fmt.Sprintf("%d+%d-%d", first, at-start, last)
}

// selectPart finds the part of a note that was asked for; the whole body when
// nothing narrows it.
func selectPart(n *note.Note, text []byte, p GetDocumentParams) (note.Span, error) {
	whole := note.Span{Start: n.Body, End: len(text)}
	if p.Frontmatter {
		whole.Start = 0
	}
	part := whole
	switch {
	case p.Heading != "" && p.Lines != "":
		return part, errorf(Usage, "heading and lines are both given").hint("give one of them")
	case p.Heading != "":
		span, err := headingSpan(n, p.Heading)
		if err != nil {
			return part, err
		}
		part = span
	case p.Lines != "":
		span, err := lineSpan(text, p.Lines)
		if err != nil {
			return part, err
		}
		part = span
	default:
		return whole, nil
	}
	return widen(n, part, p.Around), nil
}

// headingSpan is the section of a heading or the block of a ^id.
func headingSpan(n *note.Note, name string) (note.Span, error) {
	if id, ok := strings.CutPrefix(name, "^"); ok {
		for _, b := range n.Blocks {
			if b.ID == id {
				return note.Span{Start: b.Start, End: b.End}, nil
			}
		}
		return note.Span{}, errorf(NotFound, "no block ^%s in the note", clip(id, 80))
	}
	if i, ok := n.FindHeading(name); ok {
		h := n.Headings[i]
		return note.Span{Start: h.Start, End: h.End}, nil
	}
	var names []string
	for _, h := range n.Headings {
		names = append(names, h.Text)
	}
	err := errorf(NotFound, "no heading %q in the note", clip(name, 80))
	if len(names) == 0 {
		return note.Span{}, err.hint("the note has no headings")
	}
	return note.Span{}, err.hint("headings: %s", clip(strings.Join(names, " · "), 600))
}

// lineSpan reads "10-25", "10-" or "10"; the first line may have an offset of
// bytes, "10+400-25".
func lineSpan(text []byte, lines string) (note.Span, error) {
	from, to, isRange := strings.Cut(lines, "-")
	from, skip, hasSkip := strings.Cut(from, "+")
	offset, skipErr := strconv.Atoi(strings.TrimSpace(skip))
	if hasSkip && (skipErr != nil || offset < 0) {
		return note.Span{}, errorf(Usage, "lines: %q", clip(lines, 40)).hint("lines are 10-25, 10- or 10")
	}
	total := note.LineAt(text, max(len(text)-1, 0))
	first, err := strconv.Atoi(strings.TrimSpace(from))
	last := first
	if err == nil && isRange {
		if last = total; strings.TrimSpace(to) != "" {
			last, err = strconv.Atoi(strings.TrimSpace(to))
		}
	}
	if err != nil || first < 1 || last < first {
		return note.Span{}, errorf(Usage, "lines: %q", clip(lines, 40)).hint("lines are 10-25, 10- or 10")
	}
	if first > total {
		return note.Span{}, errorf(NotFound, "line %d: the note has %s", first, plural(total, "line"))
	}
	start, end := note.Lines(text, first, last)
	if hasSkip {
		if start = min(start+offset, end); start < end && !utf8.RuneStart(text[start]) {
			return note.Span{}, errorf(Usage, "lines: %q is within a character", clip(lines, 40)).hint("pass next as it was given")
		}
	}
	return note.Span{Start: start, End: end}, nil
}

// widen adds the chunks around part.
func widen(n *note.Note, part note.Span, around int) note.Span {
	if around <= 0 || len(n.Chunks) == 0 {
		return part
	}
	first := slices.IndexFunc(n.Chunks, func(c note.Chunk) bool { return c.End > part.Start })
	last := first
	for last+1 < len(n.Chunks) && last >= 0 && n.Chunks[last].End < part.End {
		last++
	}
	if first < 0 {
		return part
	}
	part.Start = min(part.Start, n.Chunks[max(0, first-around)].Start)
	part.End = max(part.End, n.Chunks[min(len(n.Chunks)-1, last+around)].End)
	return part
}

// Text writes the content itself.
func (d *Document) Text(t *Text) {
	if t.Width == 0 {
		t.Printf("%s", visible(d.Content))
	} else {
		t.Printf("%s\n%s\n\n%s", t.Strong(d.Title), t.Dim(strings.Join(nonEmpty([]string{d.Path, d.Seen.text(), strings.Join(d.Tags, ", ")}), " · ")), visible(d.Content))
	}
	if !strings.HasSuffix(d.Content, "\n") {
		t.Printf("\n")
	}
	if d.SupersededBy != "" {
		t.Printf("\n%s\n", t.Warn("superseded by "+d.SupersededBy))
	}
	if d.Next != "" {
		t.Printf("\n%s\n", t.Dim("[truncated: go on with lines "+d.Next+"]"))
	}
}
