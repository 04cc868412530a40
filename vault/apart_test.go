package vault_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kb/internal/vaulttest"
	"kb/vault"
)

const withApart = `
-- kb.yaml --
collections:
  - {name: notes, path: ., writable: true}
-- index.md --
# Index
Ordinary words about [the prompt](.kb/prompts/weekly.md).
-- deep/note.md --
# Deep
More ordinary words.
-- .kb/prompts/weekly.md --
---
title: Canary weekly
tags: [canarytag]
---
Canaryword of a prompt, and [[Nowhere canarylink]]. mail@canary.example
-- .kb/prompts/mine.md --
---
title: Mine
visibility: private
---
Canaryword of mine.
-- .kb/templates/fix.md --
# Canary {{title}}
-- deep/.kb/templates/deep.md --
Canaryword in the deep.
-- @commit 2024-01-01 first --
`

// What is below .kb is in no answer but that of who names its path.
func TestApart(t *testing.T) {
	dir := vaulttest.Repo(t, withApart)
	s := vaulttest.Service(t, dir)
	out := filepath.Join(t.TempDir(), "site")
	for op, args := range map[string]map[string]any{
		"kb_digest": {}, "kb_query": {}, "kb_entities": {}, "kb_export": {}, "list_sections": {}, "kb_stats": {},
		"kb_site_build": {"out": out}, "kb_links": {"at": "worktree"}, "kb_similar": {"path": "index.md"},
	} {
		x, _ := vault.FindOp(op)
		params, _ := json.Marshal(args)
		r, err := s.DoAs(t.Context(), vault.Caller{}, x, params, nil)
		if err != nil {
			t.Errorf("%s: %v", op, err)
			continue
		}
		raw, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(strings.ToLower(string(raw)), "canary") {
			t.Errorf("%s: %s", op, raw)
		}
	}
	_ = filepath.WalkDir(out, func(name string, d os.DirEntry, err error) error {
		if b, _ := os.ReadFile(name); strings.Contains(strings.ToLower(string(b)), "canary") {
			t.Errorf("%s shows it", name)
		}
		return err
	})
	if r := do[vault.SearchResult](t, s, "search", map[string]any{"query": "+canaryword"}); r.Total != 0 {
		t.Errorf("search: %+v", r.Results)
	}
	if r := do[vault.HealthResult](t, s, "kb_health", nil); r.Checked != 2 {
		t.Errorf("%d notes were checked", r.Checked)
	}
}

func TestApartByPath(t *testing.T) {
	dir := vaulttest.Repo(t, withApart)
	s := vaulttest.Service(t, dir)
	d := do[vault.Document](t, s, "get_document", map[string]any{"path": ".kb/prompts/weekly.md"})
	if !strings.Contains(d.Content, "Canaryword of a prompt") || d.Commit == "" {
		t.Errorf("got %+v", d)
	}
	for _, path := range []string{d.URI, "notes:.kb/prompts/weekly.md", "deep/.kb/templates/deep.md"} {
		if d := do[vault.Document](t, s, "get_document", map[string]any{"path": path, "at": "worktree"}); !strings.Contains(d.Content, "Canaryword") {
			t.Errorf("%s: %+v", path, d)
		}
	}
	op, _ := vault.FindOp("get_document")
	for path, want := range map[string]vault.Code{".kb/prompts/weekly.md": "", ".kb/prompts/mine.md": vault.NotFound, ".kb/prompts/none.md": vault.NotFound, ".kb/recipes/x.yaml": vault.NotFound, ".kb/../kb.yaml": vault.NotFound} {
		raw, _ := json.Marshal(map[string]any{"path": path})
		_, err := s.DoAs(t.Context(), vault.Caller{Agent: "bot", Sees: vault.Team}, op, raw, nil)
		if code := vault.AsError(err); err != nil && code.Code != want || err == nil && want != "" {
			t.Errorf("an agent, %s: %v", path, err)
		}
	}
}

// No draft changes it, there or not.
func TestApartIsProtected(t *testing.T) {
	s := vaulttest.Service(t, vaulttest.Repo(t, withApart))
	for _, path := range []string{".kb/prompts/weekly.md", "deep/.kb/templates/deep.md", ".kb/prompts/new.md"} {
		for _, args := range []map[string]any{{"append": "x"}, {"delete": true}, {"restore": "HEAD"}} {
			args["path"] = path
			if _, err := try[vault.WriteResult](s, "kb_edit", args); vault.AsError(err).Code != vault.Protected {
				t.Errorf("%v: %v", args, err)
			}
		}
	}
}

// Patterns that name .kb make notes of what is there.
func TestApartIncluded(t *testing.T) {
	dir := vaulttest.Repo(t, strings.Replace(withApart, "writable: true}", `include: ["**/*.md", ".kb/prompts/*.md"]}`, 1))
	r := do[vault.HealthResult](t, vaulttest.Service(t, dir), "kb_health", nil)
	if r.Checked != 4 {
		t.Errorf("%d notes, want 4", r.Checked)
	}
}
