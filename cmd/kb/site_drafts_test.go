package main

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"kb/internal/vaulttest"
	"kb/vault"
)

// A reviewer sees what drafts change beside the published site: each note's page
// with what is inserted and deleted, compared with where the draft left its branch.
func TestDraftPreview(t *testing.T) {
	dir := vaulttest.Repo(t, "-- kb.yaml --\ncollections: [{name: notes, path: ., writable: true}]\n-- README.md --\n# Home\n\nSee [[retry]].\n"+
		"-- retry.md --\n# Retry\n\nWait two seconds.\n\nThen go on.\n-- old name.md --\n# Limits\n\nTen a second, and no more than that.\n-- gone.md --\n# Gone\n\nGone.\n-- @commit 2024-01-01 first --\n")
	svc := vaulttest.Service(t, dir)
	do := func(op string, args map[string]any) {
		t.Helper()
		raw, err := json.Marshal(args)
		if err != nil {
			t.Fatal(err)
		}
		o, _ := vault.FindOp(op)
		if _, err := svc.Do(context.Background(), o, raw, nil); err != nil {
			t.Fatal(err)
		}
	}
	do("kb_edit", map[string]any{"path": "retry.md", "replace": "two seconds", "with": "three <seconds>", "draft": "tune"})
	do("kb_edit", map[string]any{"path": "old name.md", "rename": "new name.md", "draft": "tune"})
	do("kb_edit", map[string]any{"path": "gone.md", "delete": true, "draft": "tune"})
	do("kb_write", map[string]any{"title": "A fresh note", "body": "Fresh.", "filename": "fresh.md", "draft": "tune"})
	vaulttest.Write(t, dir, "README.md", "# Home\n\nSee [[retry]], as others do since.\n")
	vaulttest.Commit(t, dir, "2024-01-02", "the branch goes on")

	live := &liveSite{svc: svc, build: siteBuildCmd{Out: filepath.Join(t.TempDir(), "site")}, changed: make(chan struct{})}
	live.drafts = newDraftPreview(live, t.TempDir())
	if err := live.rebuild(context.Background()); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		host, path string
		code       int
		want, not  string
	}{
		{"127.0.0.1:1", "/", 200, "as others do since", ""},
		{"127.0.0.1:1", "/retry.html", 200, "two seconds", "three"},
		{"127.0.0.1:1", "/-/drafts/", 200, `<a href="/-/drafts/tune/">tune</a>`, ""},
		{"127.0.0.1:1", "/-/drafts/tune/", 200, `<a href="/-/drafts/tune/site/retry.html">retry.md</a>`, "README"},
		{"127.0.0.1:1", "/-/drafts/tune/", 200, "&#43;Wait three &lt;seconds&gt;.", "<seconds>"},
		{"127.0.0.1:1", "/-/drafts/tune/", 200, `gone.md <small>removed, +0 −3</small> <a href="/gone.html">as published</a>`, ""},
		{"127.0.0.1:1", "/-/drafts/tune/", 200, `<a href="/-/drafts/tune/site/new-name.html">new name.md</a>`, ""},
		{"127.0.0.1:1", "/-/drafts/tune/site/retry.html", 200, `<del class="edit"><p>Wait two seconds.</p></del>`, "live=true"},
		{"127.0.0.1:1", "/-/drafts/tune/site/retry.html", 200, `<ins class="edit"><p>Wait three`, "<ins class=\"edit\"><p>Then"},
		{"127.0.0.1:1", "/-/drafts/tune/site/new-name.html", 200, `<a href="/old-name.html">As published</a>`, "<ins"},
		{"127.0.0.1:1", "/-/drafts/tune/site/fresh.html", 200, "A new note.", "As published"},
		{"127.0.0.1:1", "/-/drafts/tune/site/", 200, "The text is as it was.", "others"},
		{"127.0.0.1:1", "/-/drafts/tune/site/retry.md", 200, "three <seconds>", ""},
		{"127.0.0.1:1", "/-/drafts/tune/site/gone.html", 404, "", ""},
		{"127.0.0.1:1", "/-/drafts/tune/site/..%2f..%2f..%2fetc/passwd", 404, "", ""},
		{"127.0.0.1:1", "/-/drafts/none/", 404, "", ""},
		{"127.0.0.1:1", "/-/style.css", 200, "--accent", ""},
		{"evil.example", "/-/drafts/", 403, "", "tune"},
	} {
		r := httptest.NewRequest(http.MethodGet, tt.path, nil)
		r.Host = tt.host
		w := httptest.NewRecorder()
		live.handler().ServeHTTP(w, r)
		body := w.Body.String()
		if w.Code != tt.code || !strings.Contains(body, tt.want) || tt.not != "" && strings.Contains(body, tt.not) {
			t.Errorf("%s%s: %d, want %d with %q and without %q:\n%s", tt.host, tt.path, w.Code, tt.code, tt.want, tt.not, body)
		}
	}
}
