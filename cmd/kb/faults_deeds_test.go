//go:build linux && amd64

package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"kb/internal/vaulttest"
)

// deed is a command that writes.
type deed struct {
	repo    func(*testing.T) string
	prepare func(*workshop)
	args    []string // @ROOT stands for the workshop
	input   string
	client  func(url string) error // calls the server that the deed is
	kinds   []string               // of what it writes, those that are broken
	more    []string               // those that are broken in a long test only
	apart   bool                   // it writes nothing that answers are made of
	model   bool                   // its vault has an embedding model
	// outcome is what the deed changes: whatever happens, it is as before or as after.
	outcome func(*workshop) string
	// torn: the outcome may be something between, until the deed is done again.
	torn bool
	// done are codes of errors with which the deed, done again, may say that it is done.
	done []string
}

const sample = `-- kb.yaml --
collections: [{name: notes, path: ., writable: true}]
-- guides/otters.md --
---
tags: [water]
---
# Otters
Otters and herons share a [[rivers|river]] and a [[missing]] note.
-- guides/rivers.md --
# Rivers
A river has otters, herons and a bank.
-- guides/old.md --
# Old
Superseded by rivers.
-- @commit 2024-01-01 notes --
`

func sampleRepo(t *testing.T) string { return vaulttest.Repo(t, sample) }

// tracked lists the files of a branch, "" where there is none; the day may change
// meanwhile.
func tracked(branch string) func(*workshop) string {
	return func(w *workshop) string {
		out, _ := exec.Command("git", "-C", w.dir, "ls-tree", "-r", "--name-only", branch).Output()
		return day.ReplaceAllString(string(out), "DAY")
	}
}

var day = regexp.MustCompile(`\d{4}-\d\d-\d\d`)

func content(name string) func(*workshop) string {
	return func(w *workshop) string { return w.read(name) }
}

// siteSum is a hash of all files of a site.
func siteSum(w *workshop) string {
	h := sha256.New()
	dir := filepath.Join(w.root, "site")
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(name)
		fmt.Fprintf(h, "%s\x00%d\x00%s", strings.TrimPrefix(name, dir), len(b), b)
		return err
	})
	if errors.Is(err, fs.ErrNotExist) {
		return ""
	}
	must(w.t, err)
	return fmt.Sprintf("%x", h.Sum(nil))
}

// indexed indexes everything, so that what a deed derives is its own.
func indexed(w *workshop) { w.mustRun(w.t, "reindex") }

var writeNote = []string{"write", "--title", "Beavers", "--body", "Beavers build dams in rivers, with otters beside them.", "--draft", "d", "--key", "k", "--tags", "water"}

// collecting has git seem to collect garbage: what is written then is packed.
func collecting(w *workshop) {
	indexed(w)
	host, err := os.Hostname()
	must(w.t, err)
	vaulttest.Write(w.t, w.dir, ".git/gc.pid", fmt.Sprintf("%d %s", os.Getpid(), host))
}

var deeds = map[string]deed{
	"index": {
		repo: sampleRepo, args: []string{"reindex"},
		kinds: []string{"directory", "facts", "segment", "sidecar", "session mark", "owner.lock", "owner.json", "socket"},
	},
	"index more": {
		repo: sampleRepo,
		prepare: func(w *workshop) {
			indexed(w)
			vaulttest.Write(w.t, w.dir, "guides/new.md", "# New\nA new note of otters.\n")
		},
		args: []string{"reindex"}, more: []string{"facts", "segment", "sidecar"},
	},
	"embed": {
		repo:    func(t *testing.T) string { return embeddable(t, 130) },
		prepare: func(w *workshop) { w.mustRun(w.t, "search", "otter", "--mode", "text") },
		args:    []string{"reindex"}, kinds: []string{"vector pack"},
	},
	"write": {
		repo: sampleRepo, prepare: indexed, args: writeNote,
		kinds: []string{"git object", "git ref"}, outcome: tracked("drafts/d"),
	},
	"write during git gc": {
		repo: sampleRepo, prepare: collecting, args: writeNote,
		kinds: []string{"git pack"}, outcome: tracked("drafts/d"),
	},
	"merge": {
		repo:    sampleRepo,
		prepare: func(w *workshop) { w.mustRun(w.t, writeNote...) },
		args:    []string{"review", "merge", "d"}, done: []string{"not_found", "conflict"},
		kinds: []string{"git reflog"}, more: []string{"git object", "git ref"}, outcome: tracked("main"),
	},
	"sync": {
		repo: sampleRepo,
		prepare: func(w *workshop) {
			w.pages = servePages(w.t)
			addPages(w.t, w.program, append(w.pages.urls(3), "--merge")...)
			w.mustRun(w.t, "sync", "--allow-private", "--older-than", "0")
		},
		args: []string{"sync", "--allow-private", "--older-than", "0"}, kinds: []string{"sync.jsonl"},
	},
	"site": {
		repo: sampleRepo, prepare: indexed, args: []string{"site", "build", "--out", "@ROOT/site"},
		kinds: []string{"site", "site's trail"}, outcome: siteSum, apart: true,
	},
	"site again": {
		repo: sampleRepo,
		prepare: func(w *workshop) {
			w.mustRun(w.t, "site", "build", "--out", filepath.Join(w.root, "site"))
			vaulttest.Write(w.t, w.dir, "guides/new.md", "# New\nA new note of otters.\n")
			vaulttest.Git(w.t, w.dir, "rm", "-q", "guides/old.md")
			vaulttest.Git(w.t, w.dir, "add", ".")
			vaulttest.Git(w.t, w.dir, "commit", "-qm", "more")
		},
		args: []string{"site", "build", "--out", "@ROOT/site"}, more: []string{"site"}, outcome: siteSum, torn: true, apart: true,
	},
	"export": {
		repo: sampleRepo,
		prepare: func(w *workshop) {
			indexed(w)
			must(w.t, os.WriteFile(filepath.Join(w.root, "out.md"), []byte("as it was\n"), 0o644))
		},
		args: []string{"export", "--output", "@ROOT/out.md"}, kinds: []string{"export"}, outcome: content("out.md"), apart: true,
	},
	"token": {
		repo:    sampleRepo,
		prepare: func(w *workshop) { w.mustRun(w.t, "token", "create", "first") },
		args:    []string{"token", "create", "second"}, kinds: []string{"token file"}, apart: true, done: []string{"conflict", "usage"},
		outcome: func(w *workshop) string {
			out := w.mustRun(w.t, "token", "list", "--json")
			return fmt.Sprint(strings.Contains(out, `"first"`), strings.Contains(out, `"second"`))
		},
	},
	"init": {
		repo: sampleRepo, prepare: indexed, args: []string{"init", "--force"}, kinds: []string{"kb.yaml"}, outcome: content("vault/kb.yaml"),
	},
	"install": {
		repo: sampleRepo,
		prepare: func(w *workshop) {
			vaulttest.Write(w.t, w.dir, ".mcp.json", `{"mcpServers": {"other": {"command": "other"}}}`)
		},
		args: []string{"mcp", "install", "claude-code", "--yes"}, kinds: []string{"client's configuration"}, outcome: content("vault/.mcp.json"), apart: true,
	},
	"serve": {
		repo: sampleRepo, prepare: indexed, args: []string{"mcp"}, input: asking, kinds: []string{"log"},
	},
	"serve over http": {
		repo: sampleRepo, prepare: indexed, args: []string{"serve", "--http", "127.0.0.1:0", "--audit", "@ROOT/audit.jsonl"}, client: searchOnce,
		kinds: []string{"audit log"},
	},
}

// asking is a client of kb mcp that searches once.
const asking = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"search","arguments":{"query":"otter"}}}
`

// searchOnce is a client of kb serve.
func searchOnce(url string) error {
	ctx := context.Background()
	c := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil)
	s, err := c.Connect(ctx, &sdk.StreamableClientTransport{Endpoint: url, MaxRetries: -1}, nil)
	if err != nil {
		return err
	}
	defer s.Close()
	_, err = s.CallTool(ctx, &sdk.CallToolParams{Name: "search", Arguments: map[string]any{"query": "otter"}})
	return err
}
