package vault

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/bmatcuk/doublestar/v4"
	"golang.org/x/sync/errgroup"

	"kb/gitstore"
	"kb/note"
	"kb/site"
)

// SiteBuildParams says which view becomes a site, and where.
type SiteBuildParams struct {
	Out     string `json:"out" required:"" file:"" help:"directory of the site: empty, missing, or a site made before"`
	BaseURL string `json:"base_url,omitempty" help:"where it will be served: https://host/path/ (default: site.base_url)"`
	Title   string `json:"title,omitempty" help:"of the site (default: site.title, else the collection's name)"`

	Visibility Visibility `json:"visibility,omitempty" enum:"public,team,private" default:"public" help:"show notes of this visibility, too"`
	atParam
}

// SiteBuilt is what a build did.
type SiteBuilt struct {
	Out     string  `json:"out"`
	Pages   int     `json:"pages"` // of notes
	Files   int     `json:"files"`
	Written int     `json:"written"` // that were not there with the same bytes
	Removed int     `json:"removed"`
	Left    int     `json:"left_out"` // notes that are not published
	Seconds float64 `json:"seconds"`
	Notice  string  `json:"notice,omitempty"`
	Seen
}

// Text says what was built.
func (r *SiteBuilt) Text(t *Text) {
	t.Printf("%s in %s · %s\n", t.Strong(plural(r.Pages, "page")), t.Accent(r.Out), t.Dim(r.Seen.text()))
	t.Printf("%s\n", t.Dim(fmt.Sprintf("%d files, %d written, %d removed, %.1f s", r.Files, r.Written, r.Removed, r.Seconds)))
	if r.Notice != "" {
		t.Printf("%s\n", t.Warn(r.Notice))
	}
	if r.Left > 0 {
		t.Printf("%s not published: private, excluded, or kept out by publish, draft or published\n", plural(r.Left, "note"))
	}
}

var siteBuildOp = define(Op{
	Name:     "kb_site_build",
	Under:    "site",
	Summary:  "Make a static site with search of a view",
	Examples: []string{"kb site build --out public", "kb site build --out public --at v1.2 --base-url https://example.org/notes/"},
	People:   true,
}, (*Vault).SiteBuild)

// SiteBuild renders a view - the base branch's commit unless at says otherwise -
// as a static site. Notes that are not public, unless p says otherwise, whose properties withhold them, or
// that site.exclude names are in no part of it.
func (v *Vault) SiteBuild(ctx context.Context, p SiteBuildParams) (*SiteBuilt, error) {
	start := time.Now()
	if base := firstOf(p.BaseURL, v.cfg.Site.BaseURL); base != "" && !soundBase(base) {
		return nil, errorf(Usage, "base_url %q", base).hint("https://host/path/")
	}
	if p.At == "" {
		p.At = v.publishedAt()
	}
	r, err := v.narrowed(p.Visibility).siteBuild(ctx, p)
	if err != nil {
		return nil, siteError(err)
	}
	r.Seconds, r.Notice = time.Since(start).Seconds(), v.siteNotice(ctx, p.Out)
	return r, nil
}

// siteBuild builds a site for v's caller: of what the build before left, if no more
// changed since than texts of notes.
func (v *Vault) siteBuild(ctx context.Context, p SiteBuildParams) (*SiteBuilt, error) {
	bases, err := v.resolve(p.At)
	if err != nil {
		return nil, err
	}
	trail, err := v.siteTrail(p, bases)
	if err != nil {
		return nil, err
	}
	r, err := v.siteRenewed(ctx, p, bases, trail)
	if !errors.Is(err, site.ErrAnew) {
		return r, err
	}
	v.store.log("the site in %s is made of all notes: %v", p.Out, err)
	w, err := v.readBases(ctx, bases)
	if err != nil {
		return nil, err
	}
	set, err := w.siteSet(ctx)
	if err != nil {
		return nil, err
	}
	w.siteNames(set.Set, p)
	built, err := site.Build(ctx, set.Set, v.siteOptions(p.Out, trail != nil))
	if err != nil {
		return nil, err
	}
	w.leave(trail, set, built)
	return w.siteBuilt(p, built, set.left), nil
}

func (v *Vault) siteOptions(out string, keep bool) site.Options {
	return site.Options{Out: out, Keep: keep, Progress: func(done, total int) { v.report(done, total, "rendering") }}
}

// siteNames gives a set the names that the caller wants.
func (w *view) siteNames(set *site.Set, p SiteBuildParams) {
	set.BaseURL = firstOf(p.BaseURL, w.v.cfg.Site.BaseURL)
	set.Title = firstOf(p.Title, set.Title)
}

func (w *view) siteBuilt(p SiteBuildParams, built *site.Built, left int) *SiteBuilt {
	return &SiteBuilt{Out: p.Out, Pages: built.Pages, Files: built.Files, Written: built.Written, Removed: built.Removed, Left: left, Seen: w.seen()}
}

// siteNotice warns of a site among the notes: its Markdown would be notes, too.
func (v *Vault) siteNotice(ctx context.Context, out string) string {
	real, err := filepath.EvalSymlinks(out)
	if err != nil {
		return ""
	}
	for _, c := range v.cols {
		top, err := filepath.EvalSymlinks(c.repo.WorkTree())
		if err != nil {
			continue
		}
		rel, err := filepath.Rel(top, real)
		if err != nil || rel == "." || !filepath.IsLocal(rel) {
			continue
		}
		if has, err := c.repo.HasDir(ctx, filepath.ToSlash(rel)); err == nil && has {
			return fmt.Sprintf("the site is inside the repository, where its Markdown counts as notes: add /%s/ to %s",
				filepath.ToSlash(rel), filepath.Join(top, ".gitignore"))
		}
	}
	return ""
}

func firstOf(choices ...string) string {
	for _, c := range choices {
		if c != "" {
			return c
		}
	}
	return ""
}

// soundBase reports whether a URL is one below which files can be: of http or
// https, with a host, and without a user, query or fragment.
func soundBase(base string) bool {
	u, err := url.Parse(base)
	return err == nil && (u.Scheme == "https" || u.Scheme == "http") && u.Host != "" && u.User == nil && u.RawQuery == "" && !u.ForceQuery && u.Fragment == ""
}

func siteError(err error) error {
	if errors.Is(err, site.ErrNotOurs) {
		return errorf(Conflict, "%w", err).hint("--out names an empty or new directory, or a site that kb made")
	}
	if errors.Is(err, site.ErrBusy) {
		return errorf(Busy, "%w", err).hint("wait for it to end, or give this one another --out")
	}
	if errors.Is(err, syscall.ENOSPC) {
		return errorf(Internal, "%w", err).hint("make room and build again: no page is half written, and the build goes on")
	}
	return err
}

// syncAndWalk brings what is derived of the notes up to date, and meanwhile walks
// history for what siteSet will ask of it: neither waits for the other.
func (w *view) syncAndWalk(ctx context.Context) error {
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return w.sync(ctx) })
	g.Go(func() error {
		for _, b := range w.bases {
			if b.commit.IsZero() {
				continue
			}
			if _, err := w.v.store.dates(ctx, b.repo, b.commit); err != nil {
				return errorf(Internal, "read the history of %s: %w", b.commit, err)
			}
			if _, err := w.v.store.past(ctx, b.repo, b.commit); err != nil {
				return errorf(Internal, "read the history of %s: %w", b.commit, err)
			}
		}
		return nil
	})
	return g.Wait()
}

// siteSet is a view as package site wants it.
type siteSet struct {
	*site.Set
	left int // notes that are in no part of it

	cut    []string  // docs with versions that are not shown, see [docName]
	hidden []note.ID // what hidden notes say, and said
	gaps   bool      // something could not be read, now
}

// siteSet reads what a site is made of.
func (w *view) siteSet(ctx context.Context) (*siteSet, error) {
	if err := w.syncAndWalk(ctx); err != nil {
		return nil, err
	}
	notes, err := w.v.store.allNotes(ctx, w.v.cfg.Language, w.blobs(), w.load)
	if err != nil {
		return nil, err
	}
	frame, err := w.siteFrame()
	if err != nil {
		return nil, err
	}
	set := &siteSet{Set: frame}
	if set.Docs, err = w.siteDocs(ctx, notes); err != nil {
		return nil, err
	}
	set.left = len(w.docs) - len(set.Docs)
	if err = w.sitePast(ctx, set); err != nil {
		return nil, err
	}
	if err := w.siteRelated(ctx, set.Docs); err != nil {
		return nil, err
	}
	if set.Files, err = w.siteFiles(ctx); err != nil {
		return nil, err
	}
	set.Search, err = w.siteSearch(ctx, set.Docs)
	set.gaps = set.gaps || w.gaps.any()
	return set, err
}

// siteFrame is what a site is made of beside docs and files.
func (w *view) siteFrame() (_ *site.Set, err error) {
	set := &site.Set{Title: w.v.title(), Language: w.v.cfg.Language, Recipes: w.v.store.recipes(w.v.cfg.Language), Read: w.readBlob}
	if set.Commit, err = w.siteCommit(); err != nil {
		return nil, err
	}
	for _, c := range w.v.cols {
		col := site.Collection{Name: c.Name, Description: c.Description, Sections: map[string]string{}}
		for _, s := range c.Sections {
			col.Sections[strings.Trim(s.Prefix, "/")] = s.Description
		}
		set.Collections = append(set.Collections, col)
	}
	set.Custom, err = w.siteCustom()
	return set, err
}

// siteDocs are the docs that are published, in order, of which notes tell what they
// say.
func (w *view) siteDocs(ctx context.Context, notes map[note.ID]*note.Note) (docs []*site.Doc, err error) {
	date, err := w.datesOf(ctx)
	if err != nil {
		return nil, err
	}
	history, err := w.history(ctx)
	if err != nil {
		return nil, err
	}
	claims, err := w.v.claims(ctx, w.docs)
	if err != nil {
		return nil, err
	}
	for i, d := range w.docs {
		n := notes[d.blob]
		if n == nil || !w.v.published(d, n, claims[d.blob]) {
			continue
		}
		c := &card{title: n.Title, created: n.Created(), updated: n.Updated()}
		dates := date(i, c)
		doc := &site.Doc{Collection: d.col.Name, Path: d.path, Title: w.titleOf(i, c), Section: section(d.path), Tags: n.Tags, Aliases: n.Aliases,
			Created: dates.created, Updated: dates.updated, Author: dates.author, Blob: d.blob, Note: n}
		if h := history[d.col.repo]; h != nil && !d.uncommitted {
			if f, ok := h.At(d.col.full(d.path)); ok {
				doc.Commit = f.Commit.String()
			}
		}
		w.v.siteLanguage(doc, n)
		docs = append(docs, doc)
	}
	slices.SortFunc(docs, w.inOrder())
	return docs, nil
}

// inOrder compares docs by the order of the collections, then by path.
func (w *view) inOrder() func(a, b *site.Doc) int {
	rank := map[string]int{}
	for i, c := range w.v.cols {
		rank[c.Name] = i
	}
	return func(a, b *site.Doc) int {
		if a.Collection != b.Collection {
			return rank[a.Collection] - rank[b.Collection]
		}
		return strings.Compare(a.Path, b.Path)
	}
}

// published reports whether a site may show a note that says so of itself.
func (v *Vault) published(d doc, n *note.Note, says *claim) bool {
	return !n.Binary && !says.withheld() && !v.excludedFromSite(d.col.Name, d.path)
}

// excludedFromSite reports whether site.exclude names a path, alone or after its
// collection.
func (v *Vault) excludedFromSite(collection, path string) bool {
	return slices.ContainsFunc(v.cfg.Site.Exclude, func(pattern string) bool {
		return doublestar.MatchUnvalidated(pattern, path) || doublestar.MatchUnvalidated(pattern, collection+"/"+path)
	})
}

func (w *view) siteCommit() (site.Commit, error) {
	if len(w.bases) == 0 || w.bases[0].commit.IsZero() {
		return site.Commit{}, nil
	}
	c, err := w.bases[0].repo.Commit(w.bases[0].commit)
	if err != nil {
		return site.Commit{}, err
	}
	return site.Commit{ID: c.ID.String(), Date: c.Committer.When.UTC().Format(time.RFC3339), Author: c.Author.Name, Subject: c.Subject}, nil
}

// siteFiles lists what the commits have beside notes: what notes may show. Of a
// work tree, too, it is the committed files. What is private or excluded as a
// note would be is not among them.
func (w *view) siteFiles(ctx context.Context) (out []site.File, err error) {
	s := w.v.paths()
	for _, c := range w.v.cols {
		id := w.commitOf(c)
		if id.IsZero() {
			continue
		}
		files, _, err := c.repo.Files(ctx, id, c.dir)
		if err != nil {
			return nil, errorf(Internal, "list %s at %s: %w", c.Name, id, err)
		}
		for _, f := range files {
			if !c.names(f.Path) && s.file(c, f.Path) && !w.v.excludedFromSite(c.Name, f.Path) {
				out = append(out, site.File{Collection: c.Name, Path: f.Path, Blob: f.Blob})
			}
		}
	}
	return out, nil
}

// readBlob reads a doc or file of the view.
func (w *view) readBlob(ctx context.Context, collection string, id note.ID) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if i, ok := w.where()[id]; ok {
		return w.bytes(i)
	}
	for _, c := range w.v.cols {
		if c.Name == collection {
			return c.repo.Blob(id)
		}
	}
	return nil, fmt.Errorf("blob %s of %s: %w", id, collection, gitstore.ErrNotFound)
}
