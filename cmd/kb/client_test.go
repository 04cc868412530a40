package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"kb/internal/vaulttest"
	"kb/vault"
)

// program is kb as a program, on one vault with derived data of its own.
type program struct {
	dir string
	env []string
}

func newProgram(t *testing.T, dir string) *program {
	t.Helper()
	home := t.TempDir()
	env := append(os.Environ(), vaulttest.Env()...)
	return &program{dir, append(env, "HOME="+home, "XDG_CONFIG_HOME="+home, "KB_CONFIG=",
		"KB_CACHE_DIR="+filepath.Join(home, "cache"), "XDG_RUNTIME_DIR="+home)}
}

func (p *program) command(args ...string) *exec.Cmd {
	cmd := exec.Command("kb", args...)
	cmd.Dir, cmd.Env = p.dir, p.env
	return cmd
}

// run runs one command to its end.
func (p *program) run(args ...string) (string, error) {
	cmd := p.command(args...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return string(out), fmt.Errorf("kb %s: %w: %s", strings.Join(args, " "), err, stderr.Bytes())
	}
	return string(out), nil
}

func (p *program) mustRun(t *testing.T, args ...string) string {
	t.Helper()
	out, err := p.run(args...)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// cacheDir is where the derived data is.
func (p *program) cacheDir() string {
	for _, e := range p.env {
		if dir, ok := strings.CutPrefix(e, "KB_CACHE_DIR="); ok {
			return dir
		}
	}
	return ""
}

// session is a client of kb mcp, a process of its own, for one call at a time.
type session struct {
	cmd  *exec.Cmd
	in   io.WriteCloser
	out  *bufio.Reader
	next int
}

// errEnded: the server's process ended.
var errEnded = errors.New("kb mcp ended")

// serve starts kb mcp and shakes hands.
func (p *program) serve() (*session, error) {
	s := &session{cmd: p.command("mcp")}
	s.cmd.Stderr = os.Stderr
	var err error
	if s.in, err = s.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	s.out = bufio.NewReaderSize(out, 1<<20)
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	if _, err := s.request("initialize", map[string]any{"protocolVersion": "2025-06-18", "capabilities": map[string]any{},
		"clientInfo": map[string]any{"name": "test", "version": "1"}}); err != nil {
		return s, err
	}
	_, err = io.WriteString(s.in, `{"jsonrpc":"2.0","method":"notifications/initialized"}`+"\n")
	return s, err
}

func (s *session) request(method string, params any) (json.RawMessage, error) {
	s.next++
	raw, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": s.next, "method": method, "params": params})
	if err != nil {
		return nil, err
	}
	if _, err := s.in.Write(append(raw, '\n')); err != nil {
		return nil, errEnded
	}
	line, err := s.out.ReadBytes('\n')
	if err != nil {
		return nil, errEnded
	}
	var m struct {
		ID     int
		Result json.RawMessage
		Error  json.RawMessage
	}
	if err := json.Unmarshal(line, &m); err != nil || m.ID != s.next {
		return nil, fmt.Errorf("not the answer to %d: %s", s.next, line)
	}
	if m.Error != nil {
		return nil, fmt.Errorf("%s: %s", method, m.Error)
	}
	return m.Result, nil
}

// call calls a tool and returns its structured content.
func (s *session) call(name string, args map[string]any) (json.RawMessage, error) {
	raw, err := s.request("tools/call", map[string]any{"name": name, "arguments": args})
	if err != nil {
		return nil, err
	}
	var r struct {
		IsError           bool
		Content           []struct{ Text string }
		StructuredContent json.RawMessage
	}
	if err := json.Unmarshal(raw, &r); err != nil {
		return nil, err
	}
	if r.IsError {
		return nil, fmt.Errorf("%s %v: %s", name, args, r.Content[0].Text)
	}
	return r.StructuredContent, nil
}

// end closes the server's input and waits for its process.
func (s *session) end() error {
	s.in.Close()
	return s.cmd.Wait()
}

// commandLine is a call as a command with flags.
func commandLine(op *vault.Op, args map[string]any) []string {
	line := []string{op.Command(), "--json"}
	for name, v := range args {
		flag := "--" + strings.ReplaceAll(name, "_", "-")
		switch v := v.(type) {
		case []string:
			for _, x := range v {
				line = append(line, flag, x)
			}
		case bool:
			line = append(line, fmt.Sprintf("%s=%v", flag, v))
		default:
			line = append(line, flag, fmt.Sprint(v))
		}
	}
	return line
}

var parityCalls = map[string][]map[string]any{
	"search": {
		{"query": "back off retries"},
		{"query": "+note -limits", "max_results": 3, "explain": true, "at": "HEAD~1"},
		{"query": "time.Sleep(d)", "mode": "literal", "scope": []string{"guides", "api"}},
		{"query": "nothing like it"},
	},
	"kb_brief":      {{"query": "back off retries", "max_tokens": 200}},
	"get_document":  {{"path": "guides/retry.md"}, {"path": "Retry policy", "heading": "Backoff", "at": "HEAD~1"}, {"path": "guides/retry.md", "lines": "2-5", "frontmatter": true}},
	"kb_context":    {{"path": []string{"guides/retry.md", "README.md"}, "depth": "deep"}, {"path": []string{"README.md"}, "depth": "quick"}},
	"kb_digest":     {{}, {"days": 3650, "at": "HEAD", "scope": []string{"guides"}}},
	"list_sections": {{}, {"at": "2024-01-01"}},
	"kb_query":      {{"tag": []string{"howto"}}, {"where": []string{"rating>3"}, "sort": "-updated"}, {"has_sources": false, "max_results": 2}},
	"kb_similar":    {{"path": "guides/retry.md"}},
	"kb_links":      {{}, {"path": "guides/retry.md", "direction": "out"}},
	"kb_entities":   {{}, {"name": "howto", "kind": "tag"}},
	"kb_history":    {{"path": "guides/retry.md"}, {"from": "HEAD"}},
	"kb_health":     {{"min_words": 5}},
	"kb_export":     {{}, {"format": "jsonl", "max_documents": 1}},
	"kb_write":      {{"title": "A new note", "body": "Text.", "draft": "d", "key": "1", "tags": []string{"a", "b"}}},
	"kb_edit":       {{"path": "README.md", "append": "More.", "draft": "d", "key": "2"}},
	"kb_drafts":     {{}, {"name": "d"}},
	"kb_stats":      {{}},
	"reindex":       {{"at": "HEAD"}},
}

const parityVault = `
-- guides/retry.md --
---
title: Retry policy
tags: [howto]
rating: 4
---
# Retry policy
Calls that fail are repeated: see [[limits]] & <friends>.

## Backoff
We back off retries with jitter: time.Sleep(d)
-- guides/limits.md --
# Limits
A note on limits. Größe 100 € 日本語
-- @commit 2024-01-01 first --
-- README.md --
# Read me
A note. #howto
-- @commit 2024-02-01 second --
-- guides/new.md --
not committed
`

// Each operation answers the same as a command and as a tool.
func TestParity(t *testing.T) {
	p := newProgram(t, vaulttest.Repo(t, parityVault))
	s, err := p.serve()
	if err != nil {
		t.Fatal(err)
	}
	for _, op := range vault.Ops() {
		if op.People {
			continue
		}
		t.Run(op.Name, func(t *testing.T) {
			if len(parityCalls[op.Name]) == 0 {
				t.Fatal("no call in the table")
			}
			for _, args := range parityCalls[op.Name] {
				tool, err := s.call(op.Name, args)
				if err != nil {
					t.Fatal(err)
				}
				command := p.mustRun(t, commandLine(op, args)...)
				if got, want := comparable(t, tool), comparable(t, []byte(command)); got != want {
					t.Errorf("%v\ntool    %s\ncommand %s", args, got, want)
				}
			}
		})
	}
	if err := s.end(); err != nil {
		t.Errorf("after the end of its input: %v", err)
	}
}

// comparable is an answer with its keys in order, without what differs from
// one run to the next.
func comparable(t *testing.T, raw []byte) string {
	t.Helper()
	var m map[string]any
	if err := json.Unmarshal(raw, &m); err != nil {
		t.Fatalf("%v: %s", err, raw)
	}
	for _, key := range []string{"seconds", "disk_bytes", "unchanged", "added", "repeated", "state", "similar", "similar_mode", "similar_degraded"} {
		delete(m, key)
	}
	b, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// Ctrl+C ends a command with 130, and says so.
func TestInterrupted(t *testing.T) {
	out, err := os.CreateTemp(t.TempDir(), "out")
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	dir := vaulttest.Repo(t, parityVault)
	args := []string{"--vault", dir, "--cache-dir", t.TempDir(), "search", "x"}
	if status := run(ctx, args, stdio{os.Stdin, out, out}); status != interrupted {
		t.Errorf("exit status %d", status)
	}
}
