package main

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"kb/internal/vaulttest"
)

// A server that runs already answers by what kb.yaml says now; while that cannot be
// read it answers nothing.
func TestServersFollowConfiguration(t *testing.T) {
	const notes = `
-- a.md --
The badger digs.
-- journal/b.md --
The badger of the journal.
-- @commit 2024-01-01 notes --
`
	stdio := func(dir string) func(string) (string, error) {
		s, err := newProgram(t, dir).serve()
		must(t, err)
		t.Cleanup(func() { _ = s.end() })
		return func(query string) (string, error) {
			raw, err := s.call("search", map[string]any{"query": query})
			return string(raw), err
		}
	}
	http := func(dir string) func(string) (string, error) {
		s := serve(t, newProgram(t, dir), "serve", "--http", "127.0.0.1:0")
		client := s.client("2026-07-28", nil)
		return func(query string) (string, error) {
			r, err := client.CallTool(context.Background(), &sdk.CallToolParams{Name: "search", Arguments: map[string]any{"query": query}})
			must(t, err)
			raw, err := json.Marshal(r)
			must(t, err)
			if r.IsError {
				return "", errors.New(string(raw))
			}
			return string(raw), nil
		}
	}
	for name, start := range map[string]func(string) func(string) (string, error){"stdio": stdio, "http": http} {
		t.Run(name, func(t *testing.T) {
			dir := vaulttest.Repo(t, notes)
			search := start(dir)
			for _, step := range []struct {
				config string
				found  []string // nil: the answer is an error
			}{
				{"", []string{"a.md", "journal/b.md"}},
				{"visibility: {private: [\"journal/**\"]}\n", []string{"a.md"}},
				{"collections: [{name: n, path: ., exclude: [\"journal/**\"]}]\n", []string{"a.md"}},
				{"visibility: {private: [\"journal/**\n", nil},
				{"collections: [{name: n, path: .}]\n", []string{"a.md", "journal/b.md"}},
				{"collections: [{name: n, path: ., visibility: private}]\n", []string{}},
			} {
				if step.config != "" {
					must(t, os.WriteFile(filepath.Join(dir, "kb.yaml"), []byte(step.config), 0o644))
				}
				got, err := search("badger")
				if step.found == nil {
					if err == nil || !strings.Contains(err.Error(), "kb.yaml") {
						t.Errorf("%q: %v: %.300s", step.config, err, got)
					}
					continue
				}
				var found []string
				for _, path := range []string{"a.md", "journal/b.md"} {
					if strings.Contains(got, `"path":"`+path) {
						found = append(found, path)
					}
				}
				if err != nil || !slices.Equal(found, step.found) {
					t.Errorf("%q: %v, found %v, want %v", step.config, err, found, step.found)
				}
			}
		})
	}
}
