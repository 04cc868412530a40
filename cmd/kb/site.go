package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"kb/site"
	"kb/vault"
)

// siteCmd makes, serves and checks static sites.
type siteCmd struct {
	Build siteBuildCmd `cmd:"" help:"Make a static site with search of a view."`
	Serve siteServeCmd `cmd:"" help:"Show the site of the work tree while it is written: pages follow every change."`
	Check siteCheckCmd `cmd:"" help:"Follow every link of a site, and compare its files with its manifest."`
}

type siteBuildCmd struct {
	Out     string `required:"" help:"Directory of the site: empty, missing, or a site made before." placeholder:"DIR"`
	At      string `help:"View: a revision or a date (default: the base branch)." placeholder:"REV"`
	BaseURL string `name:"base-url" help:"Where it will be served: https://host/path/." placeholder:"URL"`
	Title   string `help:"Of the site." placeholder:"TEXT"`

	Visibility vault.Visibility `help:"Show notes of this visibility, too: public, team or private (default ${default})." default:"public" placeholder:"WHICH"`
}

// Run builds the site in the process that owns the vault's derived data.
func (b siteBuildCmd) Run(c *cli) (err error) {
	s, err := c.service(vault.Person)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	args, err := b.arguments()
	if err != nil {
		return err
	}
	op, _ := vault.FindOp("kb_site_build")
	return c.do(s, op, args)
}

func (b siteBuildCmd) arguments() (json.RawMessage, error) {
	out, err := filepath.Abs(b.Out)
	if err != nil {
		return nil, err
	}
	return json.Marshal(map[string]any{"out": out, "at": b.At, "base_url": b.BaseURL, "title": b.Title, "visibility": b.Visibility})
}

type siteServeCmd struct {
	Addr  string `help:"Address to listen at." default:"127.0.0.1:8080" placeholder:"HOST:PORT"`
	At    string `help:"View: a revision, a date, a draft (drafts/NAME). The work tree, or with --drafts the base branch, if it is not given." placeholder:"REV"`
	Title string `help:"Of the site." placeholder:"TEXT"`

	Drafts     bool             `help:"Show drafts beside it, at /-/drafts/: what each changes, and its pages with that marked."`
	Visibility vault.Visibility `help:"Show notes of this visibility, too: public, team or private (default ${default})." default:"public" placeholder:"WHICH"`
}

// Run serves until it is interrupted. It listens on this machine only: a site is
// published by copying it to a web server.
func (v siteServeCmd) Run(c *cli) (err error) {
	host, _, err := net.SplitHostPort(v.Addr)
	if ip := net.ParseIP(host); err != nil || host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return &vault.Error{Code: vault.Usage, Message: fmt.Sprintf("address %q is not of this machine alone", v.Addr),
			Hint: "127.0.0.1:8080; to publish, copy what kb site build makes to a web server"}
	}
	s, err := c.staying(vault.Person)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	dir, err := os.MkdirTemp("", "kb-site-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	live := v.live(s, dir)
	if err := live.rebuild(c.ctx); err != nil {
		return err
	}
	l, err := net.Listen("tcp", v.Addr)
	if err != nil {
		return &vault.Error{Code: vault.Failed, Message: err.Error(), Hint: "--addr 127.0.0.1:0 takes a free port"}
	}
	fmt.Fprintf(c.out, "http://%s/\n", l.Addr())
	if v.Drafts {
		fmt.Fprintf(c.out, "http://%s/-/drafts/\n", l.Addr())
	}
	server := &http.Server{Handler: live.handler(), ReadHeaderTimeout: 10 * time.Second, BaseContext: func(net.Listener) context.Context { return c.ctx }}
	stop := context.AfterFunc(c.ctx, func() { server.Close() })
	defer stop()
	if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// live is the site that is to be served, to be built in dir.
func (v siteServeCmd) live(s *vault.Service, dir string) *liveSite {
	if v.At == "" && !v.Drafts {
		v.At = "worktree"
	}
	l := &liveSite{svc: s, build: siteBuildCmd{Out: filepath.Join(dir, "site"), At: v.At, Title: v.Title, Visibility: v.Visibility}, changed: make(chan struct{})}
	if v.Drafts {
		l.drafts = newDraftPreview(l, dir)
	}
	return l
}

// liveSite is a site that is built anew when its view has changed.
type liveSite struct {
	svc    *vault.Service
	build  siteBuildCmd
	drafts *draftPreview // nil for none

	mu      sync.Mutex
	built   time.Time
	changed chan struct{} // closed at a change
}

// stale is how long a build is taken for current.
const stale = time.Second

// rebuild builds the site if the last build was not just now. A build that
// changes nothing writes nothing.
func (l *liveSite) rebuild(ctx context.Context) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if time.Since(l.built) < stale {
		return nil
	}
	args, err := l.build.arguments()
	if err != nil {
		return err
	}
	op, _ := vault.FindOp("kb_site_build")
	r, err := l.svc.Do(ctx, op, args, nil)
	if err != nil {
		return err
	}
	l.built = time.Now()
	if b := r.(*vault.SiteBuilt); b.Written+b.Removed > 0 {
		close(l.changed)
		l.changed = make(chan struct{})
	}
	return nil
}

func (l *liveSite) handler() http.Handler {
	files := http.FileServer(http.Dir(l.build.Out))
	mux := http.NewServeMux()
	mux.HandleFunc("GET /-/changed", l.wait)
	mux.HandleFunc("GET /kb/site.js", func(w http.ResponseWriter, r *http.Request) {
		raw, err := os.ReadFile(filepath.Join(l.build.Out, "kb", "site.js"))
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "text/javascript; charset=utf-8")
		fmt.Fprintf(w, "%skb.live=true;\n", raw)
	})
	if l.drafts != nil {
		l.drafts.routes(mux)
	}
	mux.HandleFunc("GET /", func(w http.ResponseWriter, r *http.Request) {
		if err := l.rebuild(r.Context()); err != nil {
			http.Error(w, vault.AsError(err).Message, http.StatusInternalServerError)
			return
		}
		w.Header().Set("Cache-Control", "no-store")
		l.serve(w, r, files)
	})
	return loopbackOnly(mux)
}

// serve serves a file of the site; what is not there is the site's own page for
// that.
func (l *liveSite) serve(w http.ResponseWriter, r *http.Request, files http.Handler) {
	name := strings.TrimPrefix(path.Clean(r.URL.Path), "/")
	if r.URL.Path == "/" || strings.HasSuffix(r.URL.Path, "/") {
		name = path.Join(name, "index.html")
	}
	if info, err := fs.Stat(os.DirFS(l.build.Out), name); err == nil && info.Mode().IsRegular() {
		files.ServeHTTP(w, r)
		return
	}
	page, err := os.ReadFile(filepath.Join(l.build.Out, "404.html"))
	if err != nil {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(http.StatusNotFound)
	_, _ = w.Write(page)
}

// wait answers when the site has changed, or after a while, so that a page can
// load itself anew.
func (l *liveSite) wait(w http.ResponseWriter, r *http.Request) {
	l.mu.Lock()
	changed := l.changed
	l.mu.Unlock()
	end := time.After(30 * time.Second)
	tick := time.NewTicker(stale)
	defer tick.Stop()
	for {
		select {
		case <-r.Context().Done():
			return
		case <-changed:
			w.WriteHeader(http.StatusOK)
			return
		case <-end:
			w.WriteHeader(http.StatusNoContent)
			return
		case <-tick.C:
			if err := l.rebuild(r.Context()); err != nil {
				http.Error(w, vault.AsError(err).Message, http.StatusInternalServerError)
				return
			}
		}
	}
}

// loopbackOnly refuses requests under another name than this machine's: a page
// elsewhere could have its own name lead here.
func loopbackOnly(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host, _, err := net.SplitHostPort(r.Host)
		if err != nil {
			host = r.Host
		}
		if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
			http.Error(w, "this site is served to this machine only", http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
}

type siteCheckCmd struct {
	Dir string `arg:"" help:"Directory of the site."`
}

type siteChecked struct {
	OK     bool         `json:"ok"`
	Pages  int          `json:"pages"`
	Refs   int          `json:"references"`
	Faults []site.Fault `json:"faults"`
}

// Run checks a site; faults are exit status 6.
func (k siteCheckCmd) Run(c *cli) error {
	r, err := site.Check(k.Dir)
	switch {
	case errors.Is(err, site.ErrNotOurs):
		return &vault.Error{Code: vault.Usage, Message: err.Error(), Hint: "kb site build --out DIR makes a site"}
	case errors.Is(err, fs.ErrNotExist):
		return &vault.Error{Code: vault.NotFound, Message: vault.AsError(err).Message, Hint: "kb site build --out DIR makes a site"}
	case err != nil:
		return err
	}
	if len(r.Faults) > 0 {
		c.status = vault.Failed.ExitStatus()
	}
	return c.print(nil, &siteChecked{OK: len(r.Faults) == 0, Pages: r.Pages, Refs: r.Refs, Faults: append([]site.Fault{}, r.Faults...)})
}

// Text implements [vault.Texter].
func (r *siteChecked) Text(t *vault.Text) {
	for _, f := range r.Faults {
		t.Printf("%s %s %s\n", t.Accent(f.Page), t.Warn(f.Message), t.Plain(f.Ref))
	}
	t.Printf("%s\n", t.Dim(fmt.Sprintf("%d pages, %d references, %d faults", r.Pages, r.Refs, len(r.Faults))))
}
