package vault

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"kb/export"
	"kb/note"
)

// ExportParams names the notes to write as one document.
type ExportParams struct {
	Path         string   `json:"path,omitempty" arg:"" help:"one note; without it all that the filters leave"`
	Collection   string   `json:"collection,omitempty" help:"only this collection"`
	Scope        []string `json:"scope,omitempty" help:"only these sections or path prefixes"`
	Tag          []string `json:"tag,omitempty" help:"only notes with all these tags"`
	MaxDocuments int      `json:"max_documents,omitempty" min:"1" max:"100000" help:"notes (default 200; all with output)"`
	MaxTokens    int      `json:"max_tokens,omitempty" default:"50000" min:"100" help:"budget"`
	Format       string   `json:"format,omitempty" enum:"markdown,jsonl,llms,llms-full,bundle" default:"markdown" help:"bundle needs output"`
	Output       string   `json:"output,omitempty" hidden:"" file:"" help:"write all of it to this file"`
	Cursor       string   `json:"cursor,omitempty" help:"next of an answer"`

	Visibility Visibility `json:"visibility,omitempty" hidden:"" enum:"public,team,private" default:"public" help:"export notes of this visibility, too"`
	atParam
}

// ExportResult is the notes as one text, or what was written to a file.
type ExportResult struct {
	Content   string `json:"text"`
	Documents int    `json:"documents"`                     // in this text
	Total     int    `json:"total"`                         // that the filters leave
	Left      int    `json:"left_out,omitempty" schema:"-"` // that a person's export leaves out for their visibility
	Output    string `json:"output,omitempty" schema:"-"`
	Bytes     int    `json:"bytes"`
	Truncated bool   `json:"truncated,omitempty"`
	Next      string `json:"next,omitempty"`
	Seen
}

var exportOp = define(Op{
	Name:        "kb_export",
	Title:       "Export notes",
	Summary:     "Write notes as one Markdown document, JSON lines, llms.txt or a bundle",
	Description: "Many notes as one Markdown document with metadata, working internal links and embeds in place; or jsonl (a cited chunk a line), or llms.txt. Committed notes only, unless at says otherwise.",
	Examples: []string{
		"kb export --scope guides > guides.md",
		"kb export guides/retry.md --at v1.0",
		"kb export --format jsonl --output chunks.jsonl",
		"kb export --format bundle --output notes.zip",
	},
	Raw: true,
}, (*Vault).Export)

// Export writes the docs of a view. Without at that is the base branch's commit:
// nothing that is not committed leaves by accident.
func (v *Vault) Export(ctx context.Context, p ExportParams) (*ExportResult, error) {
	if p.Output != "" && v.audience == Agent {
		return nil, errorf(Forbidden, "output is for people")
	}
	if p.Format == "bundle" && p.Output == "" {
		return nil, errorf(Usage, "a bundle is a zip file").hint("--output notes.zip")
	}
	w, offset, docs, err := v.narrowed(p.Visibility).exported(ctx, p)
	if err != nil {
		return nil, err
	}
	r := &ExportResult{Total: len(docs), Seen: w.seen()}
	if r.Left, err = v.leftOut(ctx, p, len(docs)); err != nil {
		return nil, err
	}
	if p.MaxDocuments == 0 {
		p.MaxDocuments = 200
		if p.Output != "" {
			p.MaxDocuments = len(docs)
		}
	}
	end := min(len(docs), offset+p.MaxDocuments)
	set, err := w.exportSet(ctx, docs[min(offset, end):end])
	if err != nil {
		return nil, err
	}
	if p.Output != "" {
		return r, w.exportFile(p, set, offset, r)
	}
	const bytesPerToken = 4
	var b bytes.Buffer
	if r.Documents, err = w.writeExport(&b, p.Format, set, p.MaxTokens*bytesPerToken); err != nil {
		return nil, err
	}
	if done := offset + r.Documents; done < len(docs) {
		r.Truncated, r.Next = true, w.cursor(done)
		if p.Format == "markdown" {
			fmt.Fprintf(&b, "---\n\n*%d of %s; the rest goes on from cursor %s.*\n", r.Documents, plural(len(docs), "note"), r.Next)
		}
	}
	r.Content, r.Bytes = b.String(), b.Len()
	return r, nil
}

// leftOut counts the notes that v's caller, who sees all, could have exported.
func (v *Vault) leftOut(ctx context.Context, p ExportParams, exported int) (int, error) {
	if !v.scope().all || p.Path != "" || p.Cursor != "" {
		return 0, nil
	}
	p.Cursor = ""
	_, _, docs, err := v.exported(ctx, p)
	return len(docs) - exported, err
}

// exported finds the view and the docs to export.
func (v *Vault) exported(ctx context.Context, p ExportParams) (*view, int, []int, error) {
	at := p.At
	if at == "" {
		at = v.publishedAt()
	}
	if p.Path != "" {
		f, err := v.find(ctx, p.Path, at)
		if err != nil && p.Visibility != "" && p.Visibility != Private && AsError(err).Code == NotFound {
			return nil, 0, nil, AsError(err).hint("only %s notes are exported: --visibility private", p.Visibility)
		}
		if err != nil {
			return nil, 0, nil, err
		}
		return f.view, 0, []int{f.doc}, nil
	}
	w, offset, err := v.readFrom(ctx, p.Cursor, at)
	if err != nil {
		return nil, 0, nil, err
	}
	keep, err := Filter{Selection: Selection{Collection: p.Collection, Scope: p.Scope, Tag: p.Tag}}.keep(ctx, w)
	if err != nil {
		return nil, 0, nil, err
	}
	var docs []int
	for i := range w.docs {
		if keep == nil || keep(i) {
			docs = append(docs, i)
		}
	}
	return w, offset, docs, nil
}

// publishedAt is the revision of what leaves the vault: the base branch.
func (v *Vault) publishedAt() string {
	if v.cfg.DraftBase != "" {
		return v.cfg.DraftBase
	}
	return "HEAD"
}

// exportSet is the docs as package export wants them.
func (w *view) exportSet(ctx context.Context, docs []int) (*export.Set, error) {
	cards, err := w.allCards(ctx)
	if err != nil {
		return nil, err
	}
	date, err := w.datesOf(ctx)
	if err != nil {
		return nil, err
	}
	set := &export.Set{Paths: map[string][]string{}}
	for _, d := range w.docs {
		set.Paths[d.col.Name] = append(set.Paths[d.col.Name], d.path)
	}
	for c, paths := range w.others {
		set.Paths[c.Name] = append(set.Paths[c.Name], paths...)
	}
	for _, i := range docs {
		d, c := w.docs[i], cards[i]
		dates := date(i, c)
		set.Docs = append(set.Docs, export.Doc{
			Collection: d.col.Name, Path: d.path, Title: w.titleOf(i, c), Tags: c.tags,
			Created: dates.created, Updated: dates.updated, Status: c.status,
			URI: w.uri(i, ""), Summary: c.summary, Slugs: c.slugs,
		})
	}
	set.Read = func(k int) (*note.Note, []byte, error) {
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		return w.recorded(docs[k])
	}
	return set, nil
}

func (w *view) writeExport(out *bytes.Buffer, format string, set *export.Set, budget int) (int, error) {
	switch format {
	case "jsonl":
		return export.JSONL(out, set, 0, budget)
	case "llms", "llms-full":
		return w.writeLLMs(out, set, format == "llms-full", budget)
	}
	return export.Markdown(out, set, 0, budget)
}

// writeLLMs writes as many docs as the budget holds.
func (w *view) writeLLMs(out *bytes.Buffer, set *export.Set, full bool, budget int) (int, error) {
	for {
		err := export.LLMs(out, set, w.v.title(), "", full)
		if err != nil || out.Len() <= budget || len(set.Docs) <= 1 {
			return len(set.Docs), err
		}
		fewer := len(set.Docs) * budget / out.Len()
		set.Docs = set.Docs[:max(1, min(fewer, len(set.Docs)-1))]
		out.Reset()
	}
}

// exportFile streams the export into a file, which appears whole or not at all.
func (w *view) exportFile(p ExportParams, set *export.Set, offset int, r *ExportResult) error {
	defer collectMore()()
	n, err := writeFileWhole(p.Output, func(f *countingFile) (err error) {
		switch p.Format {
		case "jsonl":
			r.Documents, err = export.JSONL(f, set, 0, 0)
		case "llms", "llms-full":
			r.Documents, err = len(set.Docs), export.LLMs(f, set, w.v.title(), "", p.Format == "llms-full")
		case "bundle":
			r.Documents, err = len(set.Docs), export.Bundle(f, set)
		default:
			r.Documents, err = export.Markdown(f, set, 0, 0)
		}
		return err
	})
	if err != nil {
		return errorf(Internal, "write %s: %w", p.Output, err)
	}
	r.Bytes, r.Output = n, filepath.Base(p.Output)
	if end := offset + r.Documents; end < r.Total {
		r.Truncated, r.Next = true, w.cursor(end)
	}
	return nil
}

// title names the vault to a reader.
func (v *Vault) title() string {
	if v.cfg.Site.Title != "" {
		return v.cfg.Site.Title
	}
	var names []string
	for _, c := range v.cols {
		names = append(names, c.Name)
	}
	return strings.Join(names, ", ")
}

// Text writes the export itself, or where it went.
func (r *ExportResult) Text(t *Text) {
	if r.Output != "" {
		t.Printf("wrote %s: %s, %s\n", t.Plain(r.Output), plural(r.Documents, "note"), megabytes(int64(r.Bytes)))
		if r.Left > 0 {
			t.Printf("%s\n", t.Dim(fmt.Sprintf("%s left out for their visibility: --visibility", plural(r.Left, "note"))))
		}
		if r.Truncated {
			t.Printf("%s\n", t.Warn(fmt.Sprintf("%s more: --cursor %s", thousands(r.Total-r.Documents), r.Next)))
		}
		return
	}
	t.Printf("%s", visible(r.Content))
}
