package vault

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"kb/gitstore"
	"kb/note"
)

// HistoryParams names a note, or two views to compare.
type HistoryParams struct {
	Path      string `json:"path,omitempty" arg:"" help:"note: path, title, alias or citation"`
	From      string `json:"from,omitempty" help:"instead of path: compare this view"`
	To        string `json:"to,omitempty" help:"with this one (default: the vault's view)"`
	Limit     int    `json:"limit,omitempty" also:"max_results" default:"20" min:"1" max:"500" help:"versions"`
	MaxTokens int    `json:"max_tokens,omitempty" default:"4000" min:"100" help:"budget"`
	Cursor    string `json:"cursor,omitempty" help:"next of an answer"`
	atParam
}

// HistoryResult is the versions of a note, or what changed between two views.
type HistoryResult struct {
	Path     string        `json:"path,omitempty"`
	Versions []NoteVersion `json:"versions"`
	From     string        `json:"from,omitempty"` // commits that were compared
	To       string        `json:"to,omitempty"`
	Added    []Changed     `json:"added"`
	Changed  []Changed     `json:"changed"`
	Renamed  []Changed     `json:"renamed"`
	Removed  []Changed     `json:"removed"`
	Broken   []LinkChange  `json:"links_broken"`
	Mended   []LinkChange  `json:"links_mended"`

	Counts    map[string]int `json:"counts"`
	Truncated bool           `json:"truncated,omitempty"`
	Next      string         `json:"next,omitempty"`
	Seen
}

// NoteVersion is a note as a commit left it.
type NoteVersion struct {
	Commit   string            `json:"commit"`
	Date     string            `json:"date"` // RFC 3339, UTC
	Author   string            `json:"author"`
	Subject  string            `json:"subject"`
	Blob     string            `json:"blob"` // "" where the commit removed it
	Path     string            `json:"path"`
	URI      string            `json:"uri"`
	Trailers map[string]string `json:"trailers"`
}

// Changed is a note that differs between two views.
type Changed struct {
	Path     string   `json:"path"`
	Was      string   `json:"was,omitempty"` // its former path
	Title    string   `json:"title"`
	Headings []string `json:"headings"` // added with +, removed with -
}

// LinkChange is a link that works in one view only.
type LinkChange struct {
	Path string `json:"path"`
	Link string `json:"link"`
	Line int    `json:"line"`
}

var historyOp = define(Op{
	Name:        "kb_history",
	Title:       "Look into the past",
	Summary:     "Show the versions of a note, or what changed between two views",
	Description: "The versions of a note across renames, each with a citation; or, with from (and to), what changed between two views in notes, headings and links.",
	Examples:    []string{"kb history guides/retry.md", "kb history --from v1.0 --to HEAD", "kb history --from 2026-01-01"},
}, (*Vault).History)

// History lists the versions of a note, newest first, or compares two views.
func (v *Vault) History(ctx context.Context, p HistoryParams) (*HistoryResult, error) {
	switch {
	case p.From == "" && p.To != "":
		return nil, errorf(Usage, "to without from").hint("from names the earlier view")
	case p.From != "" && p.Path != "":
		return nil, errorf(Usage, "path and from are both given").hint("path: versions of one note; from and to: what changed in all")
	case p.From != "":
		return v.compare(ctx, p)
	case p.Path == "":
		return nil, errorf(Usage, "neither path nor from is given").hint("kb history PATH, or kb history --from v1.0")
	}
	return v.versions(ctx, p)
}

func newHistory() *HistoryResult {
	return &HistoryResult{Versions: []NoteVersion{}, Added: []Changed{}, Changed: []Changed{}, Renamed: []Changed{},
		Removed: []Changed{}, Broken: []LinkChange{}, Mended: []LinkChange{}, Counts: map[string]int{}}
}

func (v *Vault) versions(ctx context.Context, p HistoryParams) (*HistoryResult, error) {
	from, err := resume(p.Cursor, p.At)
	if err != nil {
		return nil, err
	}
	t, err := v.trace(ctx, p.Path, from.at)
	if err != nil {
		return nil, err
	}
	if err := from.check(t.view); err != nil {
		return nil, err
	}
	r := newHistory()
	r.Path, r.Seen = t.path, t.view.seen()
	end := from.offset + p.Limit
	versions, err := t.col.repo.Log(ctx, t.commit, t.col.full(t.path), end+1)
	if errors.Is(err, gitstore.ErrNotFound) && !errors.Is(err, gitstore.ErrMissing) {
		if r.Worktree {
			return r, nil // not committed yet
		}
		return nil, errorf(NotFound, "no version of %q", p.Path)
	}
	if err != nil {
		return nil, errorf(Internal, "history of %s: %w", t.path, err)
	}
	s, err := v.sight(ctx)
	if err != nil {
		return nil, err
	}
	for _, x := range versions[:min(len(versions), end)] {
		version := t.col.version(x)
		if seen, err := s.repoFile(ctx, t.col.repo, x.Path, x.Blob); err != nil {
			return nil, err
		} else if !seen { // then it had a name, or said something, that this reader does not see
			version.Path, version.URI, version.Blob, version.Subject, version.Trailers = "", "", "", hiddenTitle, map[string]string{}
		}
		r.Versions = append(r.Versions, version)
	}
	const perVersion = 110
	next := page([]pile{pileOf(&r.Versions, costs[NoteVersion](perVersion))}, from.offset, p.MaxTokens)
	if next == 0 && len(versions) > end {
		next = end
	}
	r.goOn(t.view, next)
	r.Counts["versions"] = len(r.Versions)
	return r, nil
}

// goOn says where the rest of r begins; 0 when there is none.
func (r *HistoryResult) goOn(w *view, next int) {
	if next > 0 {
		r.Truncated, r.Next = true, w.cursor(next)
	}
}

// traced is a note whose history is to be told, as of a commit.
type traced struct {
	view   *view
	col    *collection
	path   string
	commit gitstore.CommitID
}

// trace finds the note to tell the history of: one of the view, or one that a
// path or citation names and that is no longer there.
func (v *Vault) trace(ctx context.Context, name, at string) (traced, error) {
	f, err := v.find(ctx, name, at)
	if err == nil {
		d := f.docs[f.doc]
		return traced{f.view, d.col, d.path, f.commitOf(d.col)}, nil
	}
	w, readErr := v.read(ctx, at)
	if readErr != nil || AsError(err).Code != NotFound {
		return traced{}, err
	}
	for _, c := range v.cols {
		path := strings.TrimPrefix(name, c.Name+":")
		if strings.HasPrefix(name, scheme) {
			cited, bad := parseCitation(name)
			if bad != nil || cited.Collection != c.Name {
				continue
			}
			path = cited.Path
		}
		id := w.commitOf(c)
		if id.IsZero() || !c.holds(path) || gitstore.CheckPath(c.full(path), false) != nil {
			continue
		}
		if last, logErr := c.repo.Log(ctx, id, c.full(path), 2); logErr == nil && v.seesVersions(ctx, c, path, last) {
			return traced{w, c, path, id}, nil
		}
	}
	return traced{}, err
}

// seesVersions reports whether v's caller sees the last versions of a note that is
// gone: the one that removed it, and what it was.
func (v *Vault) seesVersions(ctx context.Context, c *collection, path string, last []gitstore.Version) bool {
	s, err := v.sight(ctx)
	if err != nil || !s.path(c, path) {
		return false
	}
	for _, x := range last {
		seen, err := s.repoFile(ctx, c.repo, x.Path, x.Blob)
		if p, inside := c.within(x.Path); err == nil && seen && inside && !x.Blob.IsZero() {
			seen, err = s.past(ctx, c, p, x.Blob)
		}
		if err != nil || !seen {
			return false
		}
	}
	return true
}

func (c *collection) version(x gitstore.Version) NoteVersion {
	path, inside := x.Path, true
	if c.dir != "" {
		path, inside = strings.CutPrefix(x.Path, c.dir+"/")
	}
	out := NoteVersion{
		Commit:   x.Commit.ID.String(),
		Date:     x.Commit.Committer.When.UTC().Format(time.RFC3339),
		Author:   x.Commit.Author.Name,
		Subject:  x.Commit.Subject,
		Path:     path,
		Trailers: map[string]string{},
	}
	if !x.Blob.IsZero() && inside {
		out.Blob = x.Blob.String()
		out.URI = citation{Collection: c.Name, Commit: out.Commit, Path: path}.String()
	}
	for _, t := range x.Commit.Trailers {
		out.Trailers[t.Key] = t.Value
	}
	return out
}

// compare tells what changed between two views.
func (v *Vault) compare(ctx context.Context, p HistoryParams) (*HistoryResult, error) {
	a, err := v.read(ctx, p.From)
	if err != nil {
		return nil, err
	}
	b, offset, err := v.readFrom(ctx, p.Cursor, p.To)
	if err != nil {
		return nil, err
	}
	if _, err := a.allCards(ctx); err != nil {
		return nil, err
	}
	if _, err := b.allCards(ctx); err != nil {
		return nil, err
	}
	r := newHistory()
	r.Seen, r.From, r.To = b.seen(), a.fullName(), b.fullName()
	r.compareNotes(a, b)
	if err := r.compareLinks(ctx, a, b); err != nil {
		return nil, err
	}
	r.count()
	r.goOn(b, page(r.piles(), offset, p.MaxTokens))
	return r, nil
}

func (r *HistoryResult) compareNotes(a, b *view) {
	from := renames(a, b)
	moved := map[int]bool{}
	for i, d := range b.docs {
		if !a.reads(d.col) {
			continue
		}
		c := Changed{Path: b.name(i), Title: b.titleOf(i, b.cards[i]), Headings: []string{}}
		j, ok := a.docAt(d.col.Name, d.path)
		was, renamed := from[i]
		switch {
		case ok && a.docs[j].blob == d.blob:
		case ok:
			c.Headings = headingChanges(a.cards[j].headings, b.cards[i].headings)
			r.Changed = append(r.Changed, c)
		case renamed:
			moved[was] = true
			c.Was = a.name(was)
			r.Renamed = append(r.Renamed, c)
		default:
			r.Added = append(r.Added, c)
		}
	}
	for i, d := range a.docs {
		if _, ok := b.docAt(d.col.Name, d.path); !ok && !moved[i] && b.reads(d.col) {
			r.Removed = append(r.Removed, Changed{Path: a.name(i), Title: a.titleOf(i, a.cards[i]), Headings: []string{}})
		}
	}
}

// renames maps each doc of b whose path a does not have to the doc of a that
// had the same bytes at a path that b does not have.
func renames(a, b *view) map[int]int {
	gone := map[note.ID][]int{}
	for i, d := range a.docs {
		if _, ok := b.docAt(d.col.Name, d.path); !ok {
			gone[d.blob] = append(gone[d.blob], i)
		}
	}
	out := map[int]int{}
	for i, d := range b.docs {
		if _, ok := a.docAt(d.col.Name, d.path); ok || len(gone[d.blob]) == 0 {
			continue
		}
		out[i] = gone[d.blob][0]
		gone[d.blob] = gone[d.blob][1:]
	}
	return out
}

// headingChanges lists the headings that only one of the two has.
func headingChanges(a, b []string) []string {
	out := []string{}
	for _, h := range b {
		if !slices.Contains(a, h) {
			out = append(out, "+"+h)
		}
	}
	for _, h := range a {
		if !slices.Contains(b, h) {
			out = append(out, "-"+h)
		}
	}
	return out
}

func (r *HistoryResult) compareLinks(ctx context.Context, a, b *view) error {
	before, err := a.brokenLinks(ctx, b)
	if err != nil {
		return err
	}
	after, err := b.brokenLinks(ctx, a)
	if err != nil {
		return err
	}
	only := func(x, y []LinkChange) []LinkChange {
		known := map[[2]string]bool{}
		for _, l := range y {
			known[[2]string{l.Path, l.Link}] = true
		}
		out := []LinkChange{}
		for _, l := range x {
			if !known[[2]string{l.Path, l.Link}] {
				out = append(out, l)
			}
		}
		return out
	}
	r.Broken, r.Mended = only(after, before), only(before, after)
	return nil
}

// brokenLinks lists the broken links of w in collections that o has too.
func (w *view) brokenLinks(ctx context.Context, o *view) ([]LinkChange, error) {
	g, err := w.graph(ctx)
	if err != nil {
		return nil, err
	}
	var out []LinkChange
	for i, d := range w.docs {
		if !o.reads(d.col) {
			continue
		}
		for _, b := range g.of(i).broken {
			out = append(out, LinkChange{Path: w.name(i), Link: linkName(b.link), Line: b.link.Line})
		}
	}
	return out, nil
}

func (r *HistoryResult) count() {
	r.Counts = map[string]int{"added": len(r.Added), "changed": len(r.Changed), "renamed": len(r.Renamed),
		"removed": len(r.Removed), "links_broken": len(r.Broken), "links_mended": len(r.Mended)}
}

// piles are the lists of a comparison.
func (r *HistoryResult) piles() (out []pile) {
	for _, l := range []*[]Changed{&r.Added, &r.Changed, &r.Renamed, &r.Removed} {
		out = append(out, pileOf(l, func(c Changed) int { return 25 + 8*len(c.Headings) }))
	}
	for _, l := range []*[]LinkChange{&r.Broken, &r.Mended} {
		out = append(out, pileOf(l, costs[LinkChange](25)))
	}
	return out
}

// Text writes versions, or changes by kind.
func (r *HistoryResult) Text(t *Text) {
	for _, x := range r.Versions {
		t.hanging("", "    ", []styled{{x.Commit[:12], "36"}, {"  " + x.Date[:10], "2"}, {"  " + x.Subject, ""}, {"  " + x.Author, "2"}})
		if x.Path != r.Path {
			t.hanging("    ", "    ", []styled{{"as " + x.Path, "2"}})
		}
	}
	if r.Path != "" && len(r.Versions) == 0 {
		t.Printf("%s is not committed yet\n", t.Plain(r.Path))
	}
	list := func(mark string, notes []Changed) {
		for _, c := range notes {
			line := []styled{{mark + " ", "1"}, {c.Path, "36"}, {"  " + c.Title, ""}}
			if c.Was != "" {
				line = append(line, styled{" was " + c.Was, "2"})
			}
			if len(c.Headings) > 0 {
				line = append(line, styled{" " + clip(strings.Join(c.Headings, ", "), 80), "2"})
			}
			t.hanging("", "    ", line)
		}
	}
	list("+", r.Added)
	list("~", r.Changed)
	list(">", r.Renamed)
	list("-", r.Removed)
	for _, l := range r.Broken {
		t.hanging("", "    ", []styled{{"broken now: " + l.Path + ": " + l.Link, "33"}})
	}
	for _, l := range r.Mended {
		t.hanging("", "    ", []styled{{"mended: " + l.Path + ": " + l.Link, "2"}})
	}
	t.more(r.Next)
	t.Printf("%s\n", t.Dim(r.Seen.text()))
}
