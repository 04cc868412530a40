package vault

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"time"

	"kb/gitstore"
	"kb/internal/diff"
	"kb/note"
)

// BlameParams names a note, or a section of it.
type BlameParams struct {
	Path    string `json:"path" arg:"" required:"" help:"note, or PATH#heading: path, title, alias or citation"`
	Heading string `json:"heading,omitempty" help:"only this section: its text, slug, or \"A > B\""`
	Lines   string `json:"lines,omitempty" help:"only these lines: 10-25"`
	atParam
}

// BlameResult says where the lines of a note come from, those of one commit that
// stand together as one.
type BlameResult struct {
	Path       string  `json:"path"`
	Collection string  `json:"collection"`
	Heading    string  `json:"heading,omitempty"`
	Lines      []int   `json:"lines"` // first and last
	Claims     []Claim `json:"claims"`
	Seen
}

// Claim is a stretch of text and the commit that wrote it.
type Claim struct {
	Lines   []int  `json:"lines"` // first and last
	Text    string `json:"text"`
	Commit  string `json:"commit"` // "" for what is not committed yet
	Date    string `json:"date,omitempty"`
	Author  string `json:"author,omitempty"`
	Agent   string `json:"agent,omitempty"`
	Subject string `json:"subject,omitempty"`
	Source  string `json:"source,omitempty"` // what the commit, else the note, says it is from
	Draft   string `json:"draft,omitempty"`
	URI     string `json:"uri,omitempty"` // of the note as the commit left it
}

var blameOp = define(Op{
	Name:     "kb_blame",
	Summary:  "Show who wrote each line of a note, when, from which source, in which draft",
	Examples: []string{"kb blame guides/retry.md#backoff", "kb blame 'Retry policy' --lines 10-20 --at v1.0"},
	People:   true,
}, (*Vault).Blame)

// Blame finds the commit that wrote each line of a note or section.
func (v *Vault) Blame(ctx context.Context, p BlameParams) (*BlameResult, error) {
	f, heading, err := v.findPart(ctx, p.Path, p.At)
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
	part := GetDocumentParams{Heading: cmp.Or(p.Heading, heading), Lines: p.Lines, Frontmatter: true}
	span, err := selectPart(n, text, part)
	if err != nil {
		return nil, err
	}
	d := f.docs[f.doc]
	r := &BlameResult{Path: d.path, Collection: d.col.Name, Heading: part.Heading, Seen: f.seen(), Claims: []Claim{}}
	first, last := note.LineAt(text, span.Start), note.LineAt(text, max(span.End-1, span.Start))
	r.Lines = []int{first, last}
	origins, err := f.origins(ctx, d)
	if err != nil {
		return nil, err
	}
	return r, r.claims(d, n, text, origins)
}

// findPart is find, where what follows a # may be a heading of the note.
func (v *Vault) findPart(ctx context.Context, name, at string) (found, string, error) {
	f, err := v.find(ctx, name, at)
	if err == nil || strings.HasPrefix(name, scheme) || AsError(err).Code != NotFound {
		return f, f.fragment, err
	}
	path, heading, has := strings.Cut(name, "#")
	if !has {
		return f, "", err
	}
	f, err = v.find(ctx, path, at)
	return f, heading, err
}

// origins are those of the lines of a doc. Lines that the work tree has and its
// commit has not are of no commit.
func (f found) origins(ctx context.Context, d doc) ([]gitstore.Origin, error) {
	repo, full := d.col.repo, d.col.full(d.path)
	committed, err := repo.Blame(ctx, f.commitOf(d.col), full)
	switch {
	case errors.Is(err, gitstore.ErrMissing): // a version of it
		return nil, errorf(NotFound, "%w", err)
	case errors.Is(err, gitstore.ErrNotFound):
		committed, err = nil, nil
	}
	if err != nil {
		return nil, errorf(Internal, "%w", err)
	}
	if !d.uncommitted {
		return committed, nil
	}
	now, err := f.bytes(f.doc)
	if err != nil {
		return nil, err
	}
	var old []byte
	if len(committed) > 0 {
		file, err := repo.File(f.commitOf(d.col), full)
		if err != nil {
			return nil, errorf(Internal, "read %s: %w", d.path, err)
		}
		if old, err = repo.Blob(file.Blob); err != nil {
			return nil, errorf(Internal, "read %s: %w", d.path, err)
		}
	}
	origins := make([]gitstore.Origin, len(diff.Lines(now)))
	for i, j := range diff.Kept(old, now) {
		origins[i] = committed[j]
	}
	return origins, nil
}

// claims joins neighbouring lines of one commit.
func (r *BlameResult) claims(d doc, n *note.Note, text []byte, origins []gitstore.Origin) error {
	for line := r.Lines[0]; line <= r.Lines[1] && line <= len(origins); line++ {
		o := origins[line-1]
		first := line
		for line < r.Lines[1] && line < len(origins) && origins[line].Commit == o.Commit {
			line++
		}
		c, err := newClaim(d, n, o)
		if err != nil {
			return err
		}
		start, end := note.Lines(text, first, line)
		c.Lines, c.Text = []int{first, line}, strings.TrimSuffix(string(text[start:end]), "\n")
		r.Claims = append(r.Claims, c)
	}
	return nil
}

func newClaim(d doc, n *note.Note, o gitstore.Origin) (Claim, error) {
	if o.Commit.IsZero() {
		return Claim{}, nil
	}
	commit, err := d.col.repo.Commit(o.Commit)
	if err != nil {
		return Claim{}, errorf(Internal, "read %s: %w", short(o.Commit), err)
	}
	c := Claim{Commit: commit.ID.String(), Date: commit.Author.When.UTC().Format(time.RFC3339), Author: commit.Author.Name, Subject: commit.Subject}
	for _, t := range commit.Trailers {
		switch strings.ToLower(t.Key) {
		case "kb-agent":
			c.Agent = t.Value
		case "kb-draft":
			c.Draft = t.Value
		case "kb-source":
			c.Source = t.Value
		}
	}
	if c.Source == "" {
		c.Source = strings.Join(append(sourceValues(n, "source"), sourceValues(n, "sources")...), ", ")
	}
	if col, path := d.col.repo.locate(o.Path); col != nil {
		c.URI = citation{Collection: col.Name, Commit: c.Commit, Path: path}.String()
	}
	return c, nil
}

// Text writes each stretch of text below who wrote it.
func (r *BlameResult) Text(t *Text) {
	for i, c := range r.Claims {
		if i > 0 {
			t.Printf("\n")
		}
		if c.Commit == "" {
			t.Printf("%s\n", t.Warn("not committed yet"))
		} else {
			who := c.Author
			if c.Agent != "" && c.Agent != c.Author {
				who += " with " + c.Agent
			}
			t.hanging("", "  ", []styled{{c.Commit[:12], "36"}, {"  " + c.Date[:10], "2"}, {"  " + who, "1"}, {"  " + c.Subject, ""}})
			for _, extra := range [][2]string{{"draft", c.Draft}, {"source", c.Source}} {
				if extra[1] != "" {
					t.hanging("  ", "    ", []styled{{extra[0] + ": " + extra[1], "2"}})
				}
			}
		}
		for j, line := range strings.Split(c.Text, "\n") {
			t.flowAfter(styled{padLeft(c.Lines[0]+j, 5) + " ", "2"}, styled{text: "      "}, []styled{{line, ""}})
		}
	}
}
