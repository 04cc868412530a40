package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"kb/internal/vaulttest"
	"kb/vault"
)

// pages serves pages that say whether they changed.
type pages struct {
	*httptest.Server
	asked, conditional atomic.Int64
	version            atomic.Int64

	until   atomic.Int64 // the request at which reached is told
	reached chan struct{}
}

func servePages(t *testing.T) *pages {
	p := &pages{reached: make(chan struct{}, 1)}
	p.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/robots.txt" {
			http.NotFound(w, r)
			return
		}
		if p.asked.Add(1) == p.until.Load() {
			p.reached <- struct{}{}
		}
		tag := fmt.Sprintf("%q", fmt.Sprint(p.version.Load()))
		if r.Header.Get("If-None-Match") != "" {
			p.conditional.Add(1)
		}
		w.Header().Set("ETag", tag)
		if r.Header.Get("If-None-Match") == tag {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		w.Header().Set("Content-Type", "text/html")
		name := filepath.Base(r.URL.Path)
		fmt.Fprintf(w, "<html><title>Page %s</title><body><p>What page %s says, in version %d.</p></body></html>", name, name, p.version.Load())
	}))
	t.Cleanup(p.Close)
	return p
}

func (p *pages) urls(n int) (list []string) {
	for i := range n {
		list = append(list, fmt.Sprintf("%s/%d", p.URL, i))
	}
	return list
}

// howMany is the number of pages: a test's, or with $KB_PAGES as many as that.
func howMany(t *testing.T) int {
	n := 120
	if s := os.Getenv("KB_PAGES"); s != "" {
		if _, err := fmt.Sscan(s, &n); err != nil {
			t.Fatal(err)
		}
	}
	return n
}

func addPages(t *testing.T, p *program, args ...string) *vault.Added {
	t.Helper()
	var r vault.Added
	if err := json.Unmarshal([]byte(p.mustRun(t, append([]string{"--json", "add", "--allow-private"}, args...)...)), &r); err != nil {
		t.Fatal(err)
	}
	return &r
}

func newVault(t *testing.T) (string, *program) {
	dir := vaulttest.Repo(t, "-- first.md --\n# First\n-- @commit 2024-01-01 first --\n")
	return dir, newProgram(t, dir)
}

// Pages are added once: the second run asks for each whether it changed, and writes
// nothing.
func TestAddPagesTwice(t *testing.T) {
	dir, p := newVault(t)
	web, n := servePages(t), howMany(t)
	if r := addPages(t, p, web.urls(n)...); len(r.Added) != n || len(r.Failed) != 0 {
		t.Fatalf("%d added, %d failed: %+v", len(r.Added), len(r.Failed), r.Failed)
	}
	tip := vaulttest.Git(t, dir, "rev-parse", "drafts/inbox")
	if commits := vaulttest.Git(t, dir, "rev-list", "--count", "main..drafts/inbox"); commits != fmt.Sprint((n+99)/100) {
		t.Errorf("%s commits for %d pages", commits, n)
	}
	if r := addPages(t, p, web.urls(n)...); len(r.Skipped) != n || r.Commit != "" {
		t.Errorf("the second run: %d skipped, commit %q", len(r.Skipped), r.Commit)
	}
	if got := vaulttest.Git(t, dir, "rev-parse", "drafts/inbox"); got != tip || web.conditional.Load() != int64(n) {
		t.Errorf("the draft moved from %s to %s; %d conditional requests, want %d", tip, got, web.conditional.Load(), n)
	}
	web.version.Add(1)
	if r := addPages(t, p, web.urls(n)...); len(r.Updated) != n || len(r.Added) != 0 {
		t.Errorf("after a change: %d updated, %d added", len(r.Updated), len(r.Added))
	}
}

// A run that is killed at any moment and repeated adds every page once.
func TestAddKilled(t *testing.T) {
	dir, p := newVault(t)
	web, n := servePages(t), howMany(t)
	for kill := range 10 {
		// The moment is one of the pages' requests, or the end.
		web.until.Store(web.asked.Load() + int64(n*(kill+1)/9))
		cmd := p.command(append([]string{"add", "--allow-private"}, web.urls(n)...)...)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() { ended <- cmd.Wait() }()
		select {
		case <-ended:
		case <-web.reached:
			_ = cmd.Process.Kill() // it may have ended
			<-ended
		}
	}
	addPages(t, p, web.urls(n)...)
	var sources []string
	for _, path := range strings.Fields(vaulttest.Git(t, dir, "ls-tree", "-r", "--name-only", "drafts/inbox")) {
		if path == "first.md" {
			continue
		}
		text := vaulttest.Git(t, dir, "show", "drafts/inbox:"+path)
		_, from, _ := strings.Cut(text, "\nsource: ")
		from, _, _ = strings.Cut(from, "\n")
		sources = append(sources, strings.Trim(from, `"`))
	}
	want := web.urls(n)
	slices.Sort(want)
	slices.Sort(sources)
	if !slices.Equal(sources, want) {
		t.Errorf("%d notes, want the %d pages once each", len(sources), n)
	}
	vaulttest.Git(t, dir, "fsck", "--strict")
}

// What a server does to one page is said of that page, and the others are added.
func TestAddFailures(t *testing.T) {
	_, p := newVault(t)
	mux := http.NewServeMux()
	mux.HandleFunc("/good", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Disposition", `inline; filename="../../x"`)
		fmt.Fprint(w, "<title>Good</title><p>Text.</p>")
	})
	mux.HandleFunc("/gone", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusGone) })
	mux.HandleFunc("/app", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, "<title>App</title><div id=root></div><script>go()</script>")
	})
	web := httptest.NewServer(mux)
	defer web.Close()
	out, err := p.run("--json", "add", "--allow-private", web.URL+"/good", web.URL+"/gone", web.URL+"/app")
	if err == nil || !strings.Contains(err.Error(), "exit status 1") {
		t.Errorf("got %v, want exit status 1", err)
	}
	var r vault.Added
	if err := json.Unmarshal([]byte(out), &r); err != nil {
		t.Fatal(err)
	}
	if len(r.Added) != 1 || r.Added[0].Path != "good.md" || len(r.Failed) != 2 {
		t.Fatalf("got %+v", r)
	}
	for i, want := range []string{"410", "without running its scripts"} {
		if !strings.Contains(r.Failed[i].Reason, want) {
			t.Errorf("reason %q, want %q in it", r.Failed[i].Reason, want)
		}
	}
	for _, args := range [][]string{{web.URL + "/good"}, {"http://169.254.169.254/"}, {"http://[::1]:1/"}} {
		out, err := p.run(append([]string{"--json", "add"}, args...)...)
		if err == nil || !strings.Contains(out, "not a public address") {
			t.Errorf("%s: got %s, %v; want a refusal", args, out, err)
		}
	}
	p.env = append(p.env, "KB_OFFLINE=1")
	if out, err := p.run("--json", "add", "--allow-private", web.URL+"/good"); err == nil || !strings.Contains(out, "KB_OFFLINE") {
		t.Errorf("offline: got %s, %v", out, err)
	}
	if out, err := p.run("add", "ftp://example.org/x"); err == nil || !strings.Contains(err.Error(), "only http and https") {
		t.Errorf("ftp: got %s, %v", out, err)
	}
}
