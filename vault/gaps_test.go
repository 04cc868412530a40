package vault_test

import (
	"context"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"kb/internal/vaulttest"
	"kb/vault"
)

// What git does not have is not searched, and the answer says so, whoever asks.
func TestSearchOfPartialClone(t *testing.T) {
	full := vaulttest.Repo(t, `
-- heron.md --
The otter of old.
-- b.md --
The otter that stays.
-- @commit 2024-01-01 first --
-- heron.md --
The otter of now.
-- @commit 2024-01-02 second --
`)
	vaulttest.Git(t, full, "config", "uploadpack.allowFilter", "true")
	dir := filepath.Join(t.TempDir(), "partial")
	vaulttest.Git(t, full, "clone", "--quiet", "--filter=blob:none", "file://"+filepath.ToSlash(full), dir)
	for name, audience := range map[string]vault.Audience{"person": vault.Person, "agent": vault.Agent} {
		s := vaulttest.ServiceIn(t, dir, t.TempDir(), audience)
		for range 2 {
			was := do[vault.SearchResult](t, s, "search", map[string]any{"query": "otter", "mode": "text", "at": "HEAD~1"})
			if was.Total != 1 || was.Index.State != "incomplete" || was.Index.Text != 0.5 || !strings.Contains(was.Degraded, "1 note cannot be read") {
				t.Errorf("%s: %d results, %+v, %q", name, was.Total, was.Index, was.Degraded)
			}
		}
		named := do[vault.SearchResult](t, s, "search", map[string]any{"query": "heron otter", "mode": "text", "at": "HEAD~1"})
		if named.Index.State != "incomplete" {
			t.Errorf("%s: by the name of the note that is missing: %+v", name, named)
		}
		for _, name := range []string{"kb_query", "kb_health", "kb_digest", "list_sections", "kb_export"} {
			op, _ := vault.FindOp(name)
			r, err := s.Do(context.Background(), op, json.RawMessage(`{"at":"HEAD~1"}`), nil)
			if err != nil {
				t.Fatal(name, err)
			}
			var seen vault.Seen
			if raw, err := vault.MarshalResult(r); err != nil || json.Unmarshal(raw, &seen) != nil || seen.Unread != 1 {
				t.Errorf("%s: %d unread, %v", name, seen.Unread, err)
			}
		}
		now := do[vault.SearchResult](t, s, "search", map[string]any{"query": "otter", "mode": "text", "at": "HEAD"})
		if now.Total != 2 || now.Index.State != "ready" || now.Degraded != "" {
			t.Errorf("%s: %d results, %+v, %q", name, now.Total, now.Index, now.Degraded)
		}
	}
}
