package vault

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"strings"

	"kb/draft"
)

// InboxDraft is the draft that added documents go to, if no other is named.
const InboxDraft = "inbox"

// AddParams brings documents that were converted to Markdown, and says where they
// go. The command reads and converts; see package ingest.
type AddParams struct {
	Notes      []Import `json:"notes" required:"" help:"documents as Markdown, with where each is from; the command makes them of files and URLs"`
	Collection string   `json:"collection,omitempty" help:"needed when several are writable"`
	Directory  string   `json:"directory,omitempty" help:"within the collection"`
	Template   string   `json:"template,omitempty" help:"of new notes: note, research, or the vault's own; its text goes around the document's"`
	Tags       []string `json:"tags,omitempty" also:"tag" help:"tags of new notes, beside the document's own"`
	Draft      string   `json:"draft,omitempty" default:"inbox" help:"draft to add to"`
	Message    string   `json:"message,omitempty" help:"why, for the reviewer"`
	DryRun     bool     `json:"dry_run,omitempty" help:"show the notes, write nothing"`

	LeaveDeleted bool `json:"leave_deleted,omitempty" help:"skip what people deleted, rather than bring it back"`
}

// Import is a document on its way to become a note, or an update of one.
type Import struct {
	Source       string       `json:"source,omitempty"` // what it is known by: a URL, or file:PATH
	Type         string       `json:"type,omitempty"`   // html, pdf, …
	Title        string       `json:"title"`
	Directory    string       `json:"directory,omitempty"` // of a new note, within the collection; default: the call's
	Created      string       `json:"created,omitempty"`   // YYYY-MM-DD; default: the day of the call
	Authors      []string     `json:"authors,omitempty"`
	Tags         []string     `json:"tags,omitempty"`
	Body         string       `json:"body"`              // Markdown; its frontmatter, if it has one, is kept
	Fetched      string       `json:"fetched,omitempty"` // when it was read, RFC 3339
	ETag         string       `json:"etag,omitempty"`    // of the answer, for the next request
	LastModified string       `json:"last_modified,omitempty"`
	Files        []ImportFile `json:"files,omitempty"`    // pictures that Body refers to, and the original
	Original     string       `json:"original,omitempty"` // which of Files the document was made of
	Notices      []string     `json:"notices,omitempty"`
}

// ImportFile is a file that goes beside a note. Its path is relative to the note's
// directory.
type ImportFile struct {
	Path string `json:"path"`
	Data []byte `json:"data"`
}

// Added says what became of documents. Every document is in exactly one of the
// first four lists.
type Added struct {
	Added   []AddedNote `json:"added"`
	Updated []AddedNote `json:"updated"`
	Skipped []AddedNote `json:"skipped"`
	Failed  []AddedNote `json:"failed"`
	Missing []AddedNote `json:"missing"` // notes whose source is gone: nothing is deleted for it
	Draft   string      `json:"draft"`
	Branch  string      `json:"branch,omitempty"`
	Commit  string      `json:"commit,omitempty"` // "" when nothing was written
	Review  string      `json:"review,omitempty"` // the command with which a person reviews the draft
	Merged  string      `json:"merged,omitempty"` // the commit that published the notes
	DryRun  bool        `json:"dry_run,omitempty"`
}

// AddedNote is what became of one document.
type AddedNote struct {
	Source   string   `json:"source"`
	Path     string   `json:"path,omitempty"` // of the note
	Title    string   `json:"title,omitempty"`
	URI      string   `json:"uri,omitempty"`
	Reason   string   `json:"reason,omitempty"`
	Conflict bool     `json:"conflict,omitempty"` // people and the source changed the same lines: review decides
	Pending  bool     `json:"pending,omitempty"`  // the note, or what changed of it, is on the draft
	Files    []string `json:"files,omitempty"`    // that came with it
	Notices  []string `json:"notices"`
	Body     string   `json:"body,omitempty"` // of a dry run
}

var addOp = define(Op{
	Name:     "kb_add",
	Summary:  "Bring in files, web pages and conversations, as notes on a draft",
	Examples: []string{"kb add paper.pdf https://example.org/guide --tags reading", "kb add ~/papers --recursive --ext pdf,html --directory papers", "kb add - < page.html", "kb add export.json --dry-run"},
	People:   true,
	Writes:   true,
}, (*Vault).Add)

// Add commits documents on a draft, in one commit: new ones as notes, changed ones
// merged into the notes that people may have edited since. What is there already
// is skipped; what cannot be written fails alone. Calling it again is harmless.
func (v *Vault) Add(ctx context.Context, p AddParams) (*Added, error) {
	c, err := v.writable(p.Collection)
	if err != nil {
		return nil, err
	}
	if p.Directory != "" {
		p.Directory = path.Clean(strings.Trim(p.Directory, "/"))
	}
	if err := v.checkTarget(c, path.Join(p.Directory, "x.md"), true); err != nil {
		return nil, err
	}
	p.Draft, p.Tags = cmp.Or(p.Draft, InboxDraft), joinTags(p.Tags)
	run := &adding{v: v, col: c, p: &p}
	if p.DryRun {
		return run.dry(ctx)
	}
	d := drafting{vault: v, col: c, draft: p.Draft, title: p.Draft, message: p.Message, edit: run.edit, before: run.before, imports: true}
	d.subject, d.source = p.words()
	w, err := d.commit(ctx)
	if errors.Is(err, draft.ErrNoChange) {
		return run.result, nil
	}
	if err != nil {
		return nil, err
	}
	r := run.result
	r.Branch, r.Commit, r.Review = "drafts/"+w.Draft, w.Commit.String(), "kb review diff "+w.Draft
	for _, list := range [][]AddedNote{r.Added, r.Updated} {
		for i := range list {
			list[i].URI = citation{Collection: c.Name, Commit: r.Commit, Path: list[i].Path}.String()
		}
	}
	return r, nil
}

// words are the subject of the commit and, of a single document, its source.
func (p *AddParams) words() (subject, source string) {
	if len(p.Notes) == 1 {
		return "Add " + p.Notes[0].Title, p.Notes[0].Source
	}
	return fmt.Sprintf("Add %d documents", len(p.Notes)), ""
}

// newAdded is a result without anything in it.
func newAdded(p *AddParams) *Added {
	return &Added{Added: []AddedNote{}, Updated: []AddedNote{}, Skipped: []AddedNote{}, Failed: []AddedNote{}, Missing: []AddedNote{}, Draft: p.Draft, DryRun: p.DryRun}
}

// Join puts the result of another batch of one run behind r's own.
func (r *Added) Join(o *Added) {
	r.Added = append(r.Added, o.Added...)
	r.Updated = append(r.Updated, o.Updated...)
	r.Skipped = append(r.Skipped, o.Skipped...)
	r.Failed = append(r.Failed, o.Failed...)
	r.Missing = append(r.Missing, o.Missing...)
	r.Draft, r.DryRun = cmp.Or(o.Draft, r.Draft), r.DryRun || o.DryRun
	r.Branch, r.Commit, r.Review = cmp.Or(o.Branch, r.Branch), cmp.Or(o.Commit, r.Commit), cmp.Or(o.Review, r.Review)
}

// ExitCode is Internal where a document failed: the others are written.
func (r *Added) ExitCode() Code {
	if len(r.Failed) > 0 {
		return Internal
	}
	return ""
}

// Text says what was added.
func (r *Added) Text(t *Text) {
	would := ""
	if r.DryRun {
		would = "would be "
	}
	for _, list := range []struct {
		did   string
		notes []AddedNote
	}{{would + "added", r.Added}, {would + "updated", r.Updated}, {"skipped", r.Skipped}, {"failed", r.Failed}, {"missing", r.Missing}} {
		for _, n := range list.notes {
			n.text(t, list.did)
		}
	}
	t.Printf("%s\n", t.Dim(fmt.Sprintf("%d %sadded, %d %supdated, %d skipped, %d failed", len(r.Added), would, len(r.Updated), would, len(r.Skipped), len(r.Failed))))
	switch {
	case r.Merged != "":
		t.Printf("merged as %s\n", clipHash(r.Merged))
	case r.Commit != "":
		t.Printf("%s %s %s\n", t.Strong("draft "+r.Draft), t.Dim("review:"), r.Review)
	}
}

func (n *AddedNote) text(t *Text, did string) {
	name := n.Path
	if name == "" {
		name = n.Source
	}
	t.Printf("%s %s %s\n", did, t.Accent(name), t.Plain(n.Title))
	if n.Reason != "" {
		t.Printf("  %s\n", t.Warn(n.Reason))
	}
	for _, notice := range n.Notices {
		t.Printf("  %s\n", t.Dim(notice))
	}
	if n.Body != "" {
		t.Printf("\n%s\n", t.Plain(n.Body))
	}
}
