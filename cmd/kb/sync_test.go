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
	"sync"
	"testing"

	"kb/ingest"
	"kb/internal/vaulttest"
)

// moody is a host that answers each path as it is told.
type moody struct {
	*httptest.Server
	mu    sync.Mutex
	say   map[string]http.HandlerFunc
	asked map[string]int
}

func serveMoody(t *testing.T) *moody {
	m := &moody{say: map[string]http.HandlerFunc{}, asked: map[string]int{}}
	m.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		m.mu.Lock()
		m.asked[r.URL.Path]++
		say := m.say[r.URL.Path]
		m.mu.Unlock()
		if say == nil {
			http.NotFound(w, r)
			return
		}
		say(w, r)
	}))
	t.Cleanup(m.Close)
	return m
}

// at changes what a path answers.
func (m *moody) at(path string, say http.HandlerFunc) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.say[path] = say
}

func (m *moody) count(path string) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.asked[path]
}

func answers(code int, header ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		for i := 0; i < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.WriteHeader(code)
	}
}

func shows(title string, lines ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, "<html><title>%s</title><body><p>%s</p></body></html>", title, strings.Join(lines, "</p><p>"))
	}
}

// syncs runs kb sync, which may find failures.
func syncs(t *testing.T, p *program, args ...string) *ingest.Synced {
	t.Helper()
	out, err := p.run(append([]string{"--json", "sync", "--allow-private"}, args...)...)
	var r ingest.Synced
	if jerr := json.Unmarshal([]byte(out), &r); jerr != nil {
		t.Fatalf("%v: %v: %s", err, jerr, out)
	}
	if (err != nil) != (len(r.Failed) > 0) {
		t.Errorf("exit: %v with %d failures", err, len(r.Failed))
	}
	return &r
}

func summary(r *ingest.Synced) string {
	return fmt.Sprintf("%d checked, %d unchanged, %d added, %d updated, %d failed, %d skipped, %d fresh", r.Checked, r.Unchanged, len(r.Added), len(r.Updated), len(r.Failed), len(r.Skipped), r.Fresh)
}

func expect(t *testing.T, r *ingest.Synced, want string) {
	t.Helper()
	if got := summary(r); got != want {
		t.Fatalf("got %s; want %s\n%+v", got, want, r)
	}
}

// Pages that did not change leave no trace but a request each; those that did are
// on one draft, whose commits tell what was done.
func TestSyncPages(t *testing.T) {
	dir, p := newVault(t)
	web, n := servePages(t), 200
	addPages(t, p, append(web.urls(n), "--merge")...)
	tip := vaulttest.Git(t, dir, "rev-parse", "main")
	for run := range 2 {
		web.conditional.Store(0)
		expect(t, syncs(t, p, "--older-than", "0"), "200 checked, 200 unchanged, 0 added, 0 updated, 0 failed, 0 skipped, 0 fresh")
		if got := web.conditional.Load(); got != int64(n) {
			t.Errorf("run %d: %d conditional requests, want %d", run, got, n)
		}
	}
	if got := vaulttest.Git(t, dir, "for-each-ref", "--format=%(objectname)", "refs/heads"); got != tip {
		t.Errorf("something was written: %s", got)
	}
	asked := web.asked.Load()
	expect(t, syncs(t, p), "0 checked, 0 unchanged, 0 added, 0 updated, 0 failed, 0 skipped, 200 fresh")
	if web.asked.Load() != asked {
		t.Error("pages were asked that are fresh")
	}
	web.version.Add(1)
	expect(t, syncs(t, p, "--older-than", "0", "--dry-run"), "200 checked, 0 unchanged, 0 added, 200 updated, 0 failed, 0 skipped, 0 fresh")
	expect(t, syncs(t, p, "--older-than", "0", "--max", "3", "--draft", "few"), "3 checked, 0 unchanged, 0 added, 3 updated, 0 failed, 197 skipped, 0 fresh")
	message := vaulttest.Git(t, dir, "log", "-1", "--format=%B", "drafts/few")
	for _, want := range []string{"Sync 3 changed documents", "Asked so far: 3 of 3; 0 unchanged, 0 failed.", "- page-0.md: " + web.URL + "/0"} {
		if !strings.Contains(message, want) {
			t.Errorf("%q is not in\n%s", want, message)
		}
	}
	r := syncs(t, p, "--older-than", "0")
	expect(t, r, "197 checked, 0 unchanged, 0 added, 197 updated, 0 failed, 3 skipped, 0 fresh")
	if !strings.HasPrefix(r.Draft, "sync-") || !strings.Contains(r.Skipped[0].Reason, "draft few changes") {
		t.Errorf("draft %s, skipped %+v", r.Draft, r.Skipped[0])
	}
}

// What a page answers is sorted, and remembered as long as it helps.
func TestSyncFailures(t *testing.T) {
	_, p := newVault(t)
	tests := []struct {
		path  string
		say   http.HandlerFunc
		class string
		kept  bool // the answer is as good as a page's
	}{
		{"/401", answers(401), "denied", true},
		{"/403", answers(403), "denied", true},
		{"/404", answers(404), "gone", true},
		{"/410", answers(410), "gone", true},
		{"/418", answers(418), "status", true},
		{"/500", answers(500), "server_error", false},
		{"/cut", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, "unreachable", false},
		{"/loop", answers(302, "Location", "/loop"), "refused", false},
		{"/script", shows("App", "</p><script>go()</script><p>"), "unreadable", true},
	}
	web := serveMoody(t)
	var urls []string
	for _, tt := range tests {
		web.at(tt.path, shows("Page "+tt.path[1:], "Text of "+tt.path))
		urls = append(urls, web.URL+tt.path)
	}
	addPages(t, p, append(urls, "--merge")...)
	for _, tt := range tests {
		web.at(tt.path, tt.say)
	}
	r := syncs(t, p, "--older-than", "0")
	expect(t, r, "9 checked, 0 unchanged, 0 added, 0 updated, 9 failed, 0 skipped, 0 fresh")
	got := map[string]string{}
	for _, x := range r.Failed {
		if x.Path == "" || x.Message == "" {
			t.Errorf("%+v says too little", x)
		}
		got[x.URL] = x.Class
	}
	files, err := filepath.Glob(filepath.Join(p.variable("KB_CACHE_DIR"), "*", "sync.jsonl"))
	if err != nil || len(files) != 1 {
		t.Fatalf("what was asked is in %q, %v", files, err)
	}
	checks, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range tests {
		if got[web.URL+tt.path] != tt.class {
			t.Errorf("%s: got %q, want %q", tt.path, got[web.URL+tt.path], tt.class)
		}
		if kept := strings.Contains(string(checks), `"source":"`+web.URL+tt.path+`"`); kept != tt.kept {
			t.Errorf("%s: remembered %v, want %v", tt.path, kept, tt.kept)
		}
	}
}

// A host that asks to be left alone is, for the rest of the run, and for as long as
// it says.
func TestSyncPatience(t *testing.T) {
	_, p := newVault(t)
	limited, ill, dead, well := serveMoody(t), serveMoody(t), serveMoody(t), serveMoody(t)
	var urls []string
	for _, web := range []*moody{limited, ill, dead, well} {
		for i := range 5 {
			path := fmt.Sprintf("/%d", i)
			web.at(path, shows(web.URL[len("http://127.0.0.1:"):]+path, "Text of "+web.URL+path))
			urls = append(urls, web.URL+path)
		}
	}
	addPages(t, p, append(urls, "--merge")...)
	for i := range 5 {
		limited.at(fmt.Sprintf("/%d", i), answers(429, "Retry-After", "3600"))
		ill.at(fmt.Sprintf("/%d", i), answers(503))
	}
	dead.Close()
	expect(t, syncs(t, p, "--older-than", "0"), "10 checked, 5 unchanged, 0 added, 0 updated, 5 failed, 10 skipped, 0 fresh")
	asked := func(m *moody) (n int) {
		for i := range 5 {
			n += m.count(fmt.Sprintf("/%d", i))
		}
		return n - 5 // those of kb add
	}
	if asked(limited) != 1 || asked(ill) != 1 {
		t.Errorf("%d requests of 429, %d of 503; want one each", asked(limited), asked(ill))
	}
	r := syncs(t, p, "--older-than", "0")
	expect(t, r, "9 checked, 5 unchanged, 0 added, 0 updated, 4 failed, 11 skipped, 0 fresh")
	if asked(limited) != 1 {
		t.Error("the host was asked although it said when")
	}
}

// People's edits are kept, and what they deleted stays deleted.
func TestSyncPeople(t *testing.T) {
	dir, p := newVault(t)
	web := serveMoody(t)
	for _, name := range []string{"edited", "deleted", "clash"} {
		web.at("/"+name, shows(name, "First line of "+name, "Second line", "Third line", "Fourth line"))
	}
	addPages(t, p, web.URL+"/edited", web.URL+"/deleted", web.URL+"/clash", "--merge")
	rewrite(t, dir, "edited.md", "First", "My first")
	rewrite(t, dir, "clash.md", "Fourth", "My fourth")
	vaulttest.Git(t, dir, "rm", "-q", "deleted.md")
	vaulttest.Commit(t, dir, "2030-01-01", "people")
	for _, name := range []string{"edited", "deleted", "clash"} {
		web.at("/"+name, shows(name, "First line of "+name, "Second line", "Third line", "New fourth line"))
	}
	r := syncs(t, p, "--older-than", "0")
	expect(t, r, "2 checked, 0 unchanged, 0 added, 2 updated, 0 failed, 0 skipped, 0 fresh")
	if web.count("/deleted") != 1 || !r.Updated[0].Conflict || r.Updated[1].Conflict {
		t.Errorf("got %+v", r.Updated)
	}
	note := vaulttest.Git(t, dir, "show", "drafts/"+r.Draft+":edited.md")
	for _, want := range []string{"My first line", "New fourth line"} {
		if !strings.Contains(note, want) {
			t.Errorf("%q is not in\n%s", want, note)
		}
	}
	// After a rejection it comes again: the note is still out of date.
	p.mustRun(t, "review", "reject", r.Draft, "--reason", "not now")
	expect(t, syncs(t, p, "--older-than", "0"), "2 checked, 0 unchanged, 0 added, 2 updated, 0 failed, 0 skipped, 0 fresh")
}

// variable is a variable of the program's environment.
func (p *program) variable(name string) string {
	for _, v := range slices.Backward(p.env) {
		if value, ok := strings.CutPrefix(v, name+"="); ok {
			return value
		}
	}
	return ""
}

func rewrite(t *testing.T, dir, name, old, now string) {
	t.Helper()
	file := filepath.Join(dir, name)
	b, err := os.ReadFile(file)
	if err != nil || !strings.Contains(string(b), old) {
		t.Fatalf("%s: no %q in it, %v", name, old, err)
	}
	if err := os.WriteFile(file, []byte(strings.Replace(string(b), old, now, 1)), 0o644); err != nil {
		t.Fatal(err)
	}
}

// A run that is killed goes on: what it proposed is there, the rest is asked.
func TestSyncKilled(t *testing.T) {
	dir, p := newVault(t)
	web, n := servePages(t), 150
	addPages(t, p, append(web.urls(n), "--merge")...)
	web.version.Add(1)
	web.until.Store(web.asked.Load() + 130)
	cmd := p.command("sync", "--allow-private", "--older-than", "0", "--draft", "s")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	<-web.reached
	_ = cmd.Process.Kill() // it may have ended
	_ = cmd.Wait()
	r := syncs(t, p, "--older-than", "0", "--draft", "s")
	if r.Checked != n || r.Unchanged+len(r.Updated) != n || len(r.Failed) != 0 {
		t.Errorf("got %s", summary(r))
	}
	if got := vaulttest.Git(t, dir, "diff", "--name-only", "main", "drafts/s"); len(strings.Fields(got)) != n {
		t.Errorf("the draft changes %d notes, want %d", len(strings.Fields(got)), n)
	}
}

func TestSyncUsage(t *testing.T) {
	_, p := newVault(t)
	for _, args := range [][]string{{"--older-than", "soon"}, {"--older-than", "-3h"}, {"--max", "-1"}, {"--draft", "../x"}} {
		if out, err := p.run(append([]string{"sync"}, args...)...); err == nil || !strings.Contains(err.Error(), "exit status 2") {
			t.Errorf("%v: %s, %v", args, out, err)
		}
	}
}

// feed serves a feed of entries, newest first, and says when it did not change.
func feed(entries ...string) http.HandlerFunc {
	var b strings.Builder
	b.WriteString(`<rss version="2.0"><channel><title>News</title>`)
	for i, e := range entries {
		fmt.Fprintf(&b, "<item><guid>%s</guid><title>Entry %[1]s</title><link>https://example.org/%[1]s</link><pubDate>Mon, 01 Jan 2024 10:00:%02d GMT</pubDate><description>Text of %[1]s</description></item>", e, 59-i)
	}
	b.WriteString("</channel></rss>")
	tag := fmt.Sprintf("%q", strings.Join(entries, "-"))
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("ETag", tag)
		if r.Header.Get("If-None-Match") == tag {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		w.Header().Set("Content-Type", "application/rss+xml")
		fmt.Fprint(w, b.String())
	}
}

// The entries of a feed are notes; kb sync adds new ones beside them, each once.
func TestSyncFeed(t *testing.T) {
	dir, p := newVault(t)
	web := serveMoody(t)
	web.at("/feed", feed("b", "a"))
	if r := addPages(t, p, web.URL+"/feed", "--directory", "news", "--tags", "reading", "--merge"); len(r.Added) != 2 {
		t.Fatalf("got %+v", r)
	}
	if r := addPages(t, p, web.URL+"/feed", "--directory", "news"); len(r.Skipped) != 2 {
		t.Errorf("added again: %+v", r)
	}
	none := "1 checked, 1 unchanged, 0 added, 0 updated, 0 failed, 0 skipped, 0 fresh"
	expect(t, syncs(t, p, "--older-than", "0"), none)
	web.at("/feed", feed("c", "b", "a"))
	r := syncs(t, p, "--older-than", "0", "--draft", "s")
	expect(t, r, "1 checked, 0 unchanged, 1 added, 0 updated, 0 failed, 0 skipped, 0 fresh")
	note := vaulttest.Git(t, dir, "show", "drafts/s:news/entry-c.md")
	for _, want := range []string{"  - reading\n", "source_type: feed", "created: 2024-01-01", "<https://example.org/c>", "Text of c"} {
		if !strings.Contains(note, want) {
			t.Errorf("%q is not in\n%s", want, note)
		}
	}
	p.mustRun(t, "review", "merge", "s")
	// What people delete stays away, also when the feed changes.
	vaulttest.Git(t, dir, "rm", "-q", "news/entry-a.md")
	vaulttest.Commit(t, dir, "2030-01-01", "people")
	r = syncs(t, p, "--older-than", "0")
	expect(t, r, "1 checked, 0 unchanged, 0 added, 0 updated, 0 failed, 1 skipped, 0 fresh")
	if r.Skipped[0].Path != "news/entry-a.md" || r.Skipped[0].Reason != "people deleted it" {
		t.Errorf("skipped %+v", r.Skipped)
	}
	// From then on the server says that nothing changed.
	expect(t, syncs(t, p, "--older-than", "0"), none)
}
