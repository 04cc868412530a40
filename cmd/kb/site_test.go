package main

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"kb/internal/vaulttest"
)

// The site that is served while it is written follows the work tree, and answers
// this machine alone.
func TestLiveSite(t *testing.T) {
	dir := vaulttest.Repo(t, "-- README.md --\n# Home\n\nwalrus\n-- @commit 2024-01-01 first --\n")
	l := &liveSite{svc: vaulttest.Service(t, dir), build: siteBuildCmd{Out: filepath.Join(t.TempDir(), "site"), At: "worktree"}, changed: make(chan struct{})}
	if err := l.rebuild(context.Background()); err != nil {
		t.Fatal(err)
	}
	get := func(host, path string) (int, string) {
		t.Helper()
		r := httptest.NewRequest(http.MethodGet, path, nil)
		r.Host = host
		w := httptest.NewRecorder()
		l.handler().ServeHTTP(w, r)
		return w.Code, w.Body.String()
	}
	const here = "127.0.0.1:8080"
	for _, tt := range []struct {
		host, path string
		code       int
		want       string
	}{
		{here, "/", 200, "walrus"},
		{"localhost:1", "/", 200, "walrus"},
		{"[::1]:1", "/", 200, "walrus"},
		{"evil.example", "/", 403, ""},
		{"evil.example:8080", "/-/changed", 403, ""},
		{here, "/nowhere.html", 404, "There is no page"},
		{here, "/kb/", 404, "There is no page"},
		{here, "/..%2f..%2fetc/passwd", 404, "There is no page"},
		{here, "/kb/site.js", 200, "kb.live=true"},
	} {
		if code, body := get(tt.host, tt.path); code != tt.code || !strings.Contains(body, tt.want) {
			t.Errorf("%s%s: %d, want %d with %q:\n%s", tt.host, tt.path, code, tt.code, tt.want, body)
		}
	}
	changed := l.changed
	if err := os.WriteFile(filepath.Join(dir, "README.md"), []byte("# Home\n\npenguin\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	l.built = time.Time{} // the last build was long ago
	if _, body := get(here, "/"); !strings.Contains(body, "penguin") {
		t.Errorf("a change is not shown:\n%s", body)
	}
	select {
	case <-changed:
	default:
		t.Error("pages that wait for a change are not told")
	}
}
