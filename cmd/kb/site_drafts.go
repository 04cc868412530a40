package main

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"html/template"
	"math"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"kb/site"
	"kb/vault"
)

//go:embed site_drafts.html
var draftPages string

var draftTemplates = template.Must(template.New("").Parse(draftPages))

// draftPreview shows drafts beside the published site: what each changes, and its
// pages with what is new in them marked.
type draftPreview struct {
	published *liveSite
	dir       string // of the sites of drafts

	mu    sync.Mutex
	sites map[string]*liveSite // by revision
}

func newDraftPreview(published *liveSite, dir string) *draftPreview {
	return &draftPreview{published: published, dir: dir, sites: map[string]*liveSite{}}
}

// draftPolicy is what the pages of this file may load; those of a site have their
// own.
const draftPolicy = "default-src 'none'; style-src 'self'"

func (p *draftPreview) routes(mux *http.ServeMux) {
	mux.HandleFunc("GET /-/style.css", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/css; charset=utf-8")
		_, _ = w.Write(site.Style())
	})
	mux.HandleFunc("GET /-/drafts/{$}", p.answer(p.list))
	mux.HandleFunc("GET /-/drafts/{name}/{$}", p.answer(p.draft))
	mux.HandleFunc("GET /-/drafts/{name}/site/{file...}", p.file)
}

// answer serves a page that a function makes.
func (p *draftPreview) answer(page func(*http.Request) ([]byte, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		raw, err := page(r)
		if err != nil {
			draftError(w, err)
			return
		}
		w.Header().Set("Content-Security-Policy", draftPolicy)
		writePage(w, raw)
	}
}

func writePage(w http.ResponseWriter, page []byte) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	_, _ = w.Write(page)
}

func draftError(w http.ResponseWriter, err error) {
	status, e := http.StatusInternalServerError, vault.AsError(err)
	if e.Code == vault.NotFound {
		status = http.StatusNotFound
	}
	http.Error(w, e.Message, status)
}

// ask runs an operation.
func (p *draftPreview) ask(ctx context.Context, name string, args map[string]any) (any, error) {
	raw, err := json.Marshal(args)
	if err != nil {
		return nil, err
	}
	op, _ := vault.FindOp(name)
	return p.published.svc.Do(ctx, op, raw, nil)
}

const mostDrafts = 500

func (p *draftPreview) list(r *http.Request) ([]byte, error) {
	found, err := p.ask(r.Context(), "kb_drafts", map[string]any{"state": "open", "max_results": mostDrafts, "max_tokens": math.MaxInt32})
	if err != nil {
		return nil, err
	}
	return draftPage("drafts", found.(*vault.DraftsResult).Drafts)
}

func draftPage(name string, data any) ([]byte, error) {
	var b bytes.Buffer
	err := draftTemplates.ExecuteTemplate(&b, name, data)
	return b.Bytes(), err
}

// draftChanges is a draft with what it changes.
type draftChanges struct {
	vault.DraftInfo
	Notes []changedPage
	Diff  string
}

// changedPage is a note that a draft changes, and where its pages are.
type changedPage struct {
	vault.DraftChange
	Page, Published string
}

func (p *draftPreview) draft(r *http.Request) ([]byte, error) {
	d, err := p.find(r.Context(), r.PathValue("name"))
	if err != nil {
		return nil, err
	}
	proposed, _, err := p.sitesOf(r.Context(), d)
	if err != nil {
		return nil, err
	}
	found, err := p.ask(r.Context(), "review_diff", map[string]any{"name": d.Name})
	if err != nil {
		return nil, err
	}
	diff := found.(*vault.ReviewDiff)
	out := draftChanges{DraftInfo: *d, Diff: diff.Diff}
	for _, n := range diff.Notes {
		c := changedPage{DraftChange: n.DraftChange}
		if name := proposed.pageOf(c.Collection, c.Path); name != "" && c.Kind != "removed" {
			c.Page = draftURL(d.Name) + "site/" + (&url.URL{Path: name}).EscapedPath()
		}
		if name := p.published.pageOf(c.Collection, c.was()); name != "" {
			c.Published = (&url.URL{Path: "/" + name}).EscapedPath()
		}
		out.Notes = append(out.Notes, c)
	}
	return draftPage("draft", out)
}

func draftURL(name string) string { return "/-/drafts/" + url.PathEscape(name) + "/" }

// was is where the note is without the draft.
func (c *changedPage) was() string {
	if c.From != "" {
		return c.From
	}
	return c.Path
}

func (p *draftPreview) find(ctx context.Context, name string) (*vault.DraftInfo, error) {
	found, err := p.ask(ctx, "kb_drafts", map[string]any{"name": name, "max_tokens": math.MaxInt32})
	if err != nil {
		return nil, err
	}
	drafts := found.(*vault.DraftsResult).Drafts
	if len(drafts) == 0 {
		return nil, &vault.Error{Code: vault.NotFound, Message: "no draft " + strconv.Quote(name)}
	}
	return &drafts[0], nil
}

// sitesOf builds the sites of a draft, and of the commit where it left its branch:
// what the branch did since is none of its changes.
func (p *draftPreview) sitesOf(ctx context.Context, d *vault.DraftInfo) (proposed, base *liveSite, err error) {
	if proposed, err = p.siteAt(ctx, d.Commit); err != nil {
		return nil, nil, err
	}
	base, err = p.siteAt(ctx, d.Base)
	return proposed, base, err
}

// mostSites is how many revisions are kept as sites.
const mostSites = 8

// siteAt builds the site of a commit, once.
func (p *draftPreview) siteAt(ctx context.Context, commit string) (*liveSite, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if l := p.sites[commit]; l != nil {
		return l, nil
	}
	if len(p.sites) >= mostSites {
		for at, l := range p.sites {
			if err := os.RemoveAll(l.build.Out); err != nil {
				return nil, err
			}
			delete(p.sites, at)
		}
	}
	l := &liveSite{svc: p.published.svc, build: p.published.build, changed: make(chan struct{})}
	l.build.Out, l.build.At = filepath.Join(p.dir, commit), commit
	if err := l.rebuild(ctx); err != nil {
		return nil, err
	}
	p.sites[commit] = l
	return l, nil
}

// file serves a file of a draft's site; of a note's page, with its changes marked.
func (p *draftPreview) file(w http.ResponseWriter, r *http.Request) {
	d, err := p.find(r.Context(), r.PathValue("name"))
	if err != nil {
		draftError(w, err)
		return
	}
	proposed, base, err := p.sitesOf(r.Context(), d)
	if err != nil {
		draftError(w, err)
		return
	}
	name := r.PathValue("file")
	if name == "" || strings.HasSuffix(name, "/") {
		name += "index.html"
	}
	raw, err := proposed.read(name)
	if err != nil {
		http.NotFound(w, r)
		return
	}
	if !strings.HasSuffix(name, ".html") || !bytes.Contains(raw, []byte("data-citation=")) {
		http.ServeContent(w, r, name, time.Time{}, bytes.NewReader(raw))
		return
	}
	page, err := p.compare(r.Context(), d, proposed, base, name, raw)
	if err != nil {
		draftError(w, err)
		return
	}
	writePage(w, page)
}

// compare marks what a draft changes in a page.
func (p *draftPreview) compare(ctx context.Context, d *vault.DraftInfo, proposed, base *liveSite, name string, page []byte) ([]byte, error) {
	before := name
	found, err := p.ask(ctx, "review_diff", map[string]any{"name": d.Name, "stat": true})
	if err != nil {
		return nil, err
	}
	for _, n := range found.(*vault.ReviewDiff).Notes {
		if n.From != "" && proposed.pageOf(n.Collection, n.Path) == name {
			before = base.pageOf(n.Collection, n.From)
		}
	}
	c := site.Comparison{Draft: d.Name, List: draftURL(d.Name)}
	if _, err := p.published.read(before); err == nil {
		c.Published = (&url.URL{Path: "/" + before}).EscapedPath()
	}
	was, err := base.read(before)
	if err != nil || !bytes.Contains(was, []byte("data-citation=")) {
		was = nil // a new note
	}
	return site.Compare(was, page, c)
}

// read reads a file of the site.
func (l *liveSite) read(name string) ([]byte, error) {
	root, err := os.OpenRoot(l.build.Out)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	return root.ReadFile(filepath.FromSlash(name))
}

func (l *liveSite) pageOf(collection, path string) string {
	return site.PageOf(l.read, collection, path)
}
