package vault_test

import (
	"os"
	"path/filepath"
	"testing"

	"kb/internal/vaulttest"
	"kb/vault"
)

// Every page of the manual passes kb verify in the manual's own vault: what it
// cites and quotes stands there, and an example of a citation is not taken for one.
func TestVerifyTheManual(t *testing.T) {
	dir := t.TempDir()
	vaulttest.Git(t, dir, "init", "--quiet", "--initial-branch=main")
	if err := os.CopyFS(filepath.Join(dir, "docs"), os.DirFS("../docs")); err != nil {
		t.Fatal(err)
	}
	vaulttest.Commit(t, dir, "2024-01-02", "manual")
	s := vaulttest.Service(t, dir)
	pages := ask[vault.QueryResult](t, s, "kb_query", `{"max_results":500,"max_tokens":1000000}`).Documents
	if len(pages) < 20 {
		t.Fatalf("the manual has %d pages", len(pages))
	}
	for _, page := range pages {
		text, err := os.ReadFile(filepath.Join(dir, page.Path))
		if err != nil {
			t.Fatal(err)
		}
		r := do[vault.Verified](t, s, "kb_verify", map[string]any{"text": string(text)})
		for _, c := range r.Citations {
			if c.Status != "stands" {
				t.Errorf("%s:%d: %s: %s, %s", page.Path, c.Line, c.URI, c.Status, c.Reason)
			}
		}
		for _, q := range r.Quotes {
			if q.Status != "stands" {
				t.Errorf("%s:%d: %q: %s", page.Path, q.Line, q.Quote, q.Status)
			}
		}
	}
}
