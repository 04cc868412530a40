package vault_test

import (
	"path/filepath"
	"strings"
	"testing"

	"kb/internal/vaulttest"
	"kb/vault"
)

// What git does not have is not searched, and the answer says so, whoever asks.
func TestSearchOfPartialClone(t *testing.T) {
	full := vaulttest.Repo(t, `
-- a.md --
The otter of old.
-- b.md --
The otter that stays.
-- @commit 2024-01-01 first --
-- a.md --
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
		now := do[vault.SearchResult](t, s, "search", map[string]any{"query": "otter", "mode": "text", "at": "HEAD"})
		if now.Total != 2 || now.Index.State != "ready" || now.Degraded != "" {
			t.Errorf("%s: %d results, %+v, %q", name, now.Total, now.Index, now.Degraded)
		}
	}
}
