package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"kb/internal/vaulttest"
	"kb/vault"
)

var update = flag.Bool("update", false, "rewrite golden files")

const notes = `
-- guides/retry.md --
---
title: Retry policy
tags: [howto]
status: active
---
# Retry policy
Calls that fail are repeated.

## Backoff
We back off with jitter, see [[limits]].
-- guides/limits.md --
# Limits
A client waits.
-- README.md --
# Read me
Nothing of note.
-- @commit 2024-01-01 first --
`

// connect starts a server on the vault in dir and a client of it.
func connect(t *testing.T, svc *vault.Service, o Options, co *sdk.ClientOptions) *sdk.ClientSession {
	t.Helper()
	server, err := New(svc, o)
	if err != nil {
		t.Fatal(err)
	}
	return dial(t, server, co)
}

func dial(t *testing.T, server *Server, co *sdk.ClientOptions) *sdk.ClientSession {
	t.Helper()
	theirs, ours := io.Pipe()
	in, out := io.Pipe()
	done := make(chan error, 1)
	go func() { done <- server.ServeStdio(context.Background(), in, ours) }()
	client := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, co)
	session, err := client.Connect(context.Background(), &sdk.IOTransport{Reader: theirs, Writer: out}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		session.Close()
		out.Close()
		if err := <-done; err != nil && !errors.Is(err, io.ErrClosedPipe) {
			t.Errorf("serve: %v", err)
		}
	})
	return session
}

func agent(t *testing.T, dir string) *vault.Service {
	t.Helper()
	return vaulttest.ServiceIn(t, dir, t.TempDir(), vault.Agent)
}

func call(t *testing.T, s *sdk.ClientSession, name string, args map[string]any) *sdk.CallToolResult {
	t.Helper()
	r, err := s.CallTool(context.Background(), &sdk.CallToolParams{Name: name, Arguments: args})
	if err != nil {
		t.Fatalf("%s %v: %v", name, args, err)
	}
	return r
}

func text(r *sdk.CallToolResult) string {
	var b strings.Builder
	for _, c := range r.Content {
		b.WriteString(c.(*sdk.TextContent).Text)
	}
	return b.String()
}

// A call for each tool; the test fails when one is missing.
var calls = map[string]map[string]any{
	"search":        {"query": "back off"},
	"kb_brief":      {"query": "back off"},
	"get_document":  {"path": "guides/retry.md", "heading": "Backoff"},
	"kb_context":    {"path": []any{"guides/retry.md", "README.md"}, "depth": "deep"},
	"kb_digest":     {},
	"list_sections": {"at": "HEAD"},
	"kb_query":      {"tag": "howto"},
	"kb_similar":    {"path": "guides/retry.md"},
	"kb_links":      {"path": "guides/retry.md"},
	"kb_entities":   {},
	"kb_history":    {"path": "guides/retry.md"},
	"kb_health":     {},
	"kb_export":     {"max_tokens": 500},
	"kb_write":      {"title": "A new note", "body": "Text.", "draft": "d", "key": "1"},
	"kb_edit":       {"path": "README.md", "append": "More.", "draft": "d", "key": "2"},
	"kb_drafts":     {"name": "d"},
	"kb_stats":      {},
	"reindex":       {},
}

// Every tool answers with data that is its operation's, and with a text that is
// not the same again.
func TestEveryTool(t *testing.T) {
	svc := agent(t, vaulttest.Repo(t, notes))
	s := connect(t, svc, Options{}, nil)
	for _, op := range vault.Ops() {
		if op.People {
			continue
		}
		t.Run(op.Name, func(t *testing.T) {
			args, ok := calls[op.Name]
			if !ok {
				t.Fatal("no call in the table")
			}
			r := call(t, s, op.Name, args)
			if r.IsError {
				t.Fatalf("error: %s", text(r))
			}
			raw, err := json.Marshal(args)
			if err != nil {
				t.Fatal(err)
			}
			want, err := svc.Do(context.Background(), op, raw, nil)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(asValue(t, want), asValue(t, r.StructuredContent)); diff != "" {
				t.Errorf("structured content (-operation +tool):\n%s", diff)
			}
			if text := text(r); text == "" || json.Valid([]byte(text)) {
				t.Errorf("text: %q", text)
			}
		})
	}
}

// asValue is v as JSON, without what differs from one run to the next.
func asValue(t *testing.T, v any) map[string]any {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	var m map[string]any
	if err := json.Unmarshal(raw, &m); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"seconds", "disk_bytes", "added", "unchanged", "repeated", "state", "similar", "similar_mode", "similar_degraded"} {
		delete(m, key)
	}
	return m
}

// What hosts load of the tools is golden, and stays small: a token is about 4.3
// bytes of it.
func TestToolsList(t *testing.T) {
	s := connect(t, agent(t, vaulttest.Repo(t, notes)), Options{}, nil)
	list, err := s.ListTools(context.Background(), nil)
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "testdata/tools.json", pretty(t, list.Tools))
	var whole, input int
	for _, tool := range list.Tools {
		whole += size(t, tool)
		input += size(t, map[string]any{"name": tool.Name, "description": tool.Description, "inputSchema": tool.InputSchema})
		for _, schema := range []any{tool.InputSchema, tool.OutputSchema} {
			m := schema.(map[string]any)
			if m["type"] != "object" || strings.Contains(pretty(t, m), `"anyOf"`) || strings.Contains(pretty(t, m), `"oneOf"`) {
				t.Errorf("%s: a schema is no plain object: %v", tool.Name, m)
			}
		}
	}
	if n := len(list.Tools); whole > 1450*n || input > 950*n {
		t.Errorf("%d tools take %d bytes, %d of them names, descriptions and input: over 1450 and 950 a tool", n, whole, input)
	}
}

func size(t *testing.T, v any) int {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return len(b)
}

// Hints are true: what changes the repository says so, and is not offered to a
// reader.
func TestAnnotations(t *testing.T) {
	svc := agent(t, vaulttest.Repo(t, notes))
	list := func(o Options) map[string]*sdk.ToolAnnotations {
		r, err := connect(t, svc, o, nil).ListTools(context.Background(), nil)
		if err != nil {
			t.Fatal(err)
		}
		tools := map[string]*sdk.ToolAnnotations{}
		for _, tool := range r.Tools {
			tools[tool.Name] = tool.Annotations
		}
		return tools
	}
	all, reader := list(Options{}), list(Options{ReadOnly: true})
	for name, a := range all {
		writes := name == "kb_write" || name == "kb_edit"
		if a.ReadOnlyHint == writes || a.IdempotentHint == writes || a.OpenWorldHint == nil || *a.OpenWorldHint ||
			writes && (a.DestructiveHint == nil || *a.DestructiveHint) {
			t.Errorf("%s: %+v", name, a)
		}
		if _, ok := reader[name]; ok == (writes || name == "kb_drafts") {
			t.Errorf("%s for a reader: %v", name, ok)
		}
	}
	s := connect(t, svc, Options{ReadOnly: true}, nil)
	if _, err := s.CallTool(context.Background(), &sdk.CallToolParams{Name: "kb_write", Arguments: map[string]any{"title": "x", "body": "y"}}); err == nil {
		t.Error("a reader wrote")
	}
}

// A commit names the agent, and the program that it runs in.
func TestCaller(t *testing.T) {
	dir := vaulttest.Repo(t, notes)
	svc := agent(t, dir)
	for name, o := range map[string]Options{"test": {}, "Ada's bot": {Agent: "Ada's bot <bot@example.org>"}} {
		s := connect(t, svc, o, nil)
		r := call(t, s, "kb_write", map[string]any{"title": "By " + name, "body": "x"})
		if r.IsError {
			t.Fatal(text(r))
		}
		draft := asValue(t, r.StructuredContent)["branch"].(string)
		want := name + " | " + name + " | test 1"
		if got := vaulttest.Git(t, dir, "log", "-1", "--format=%an | %(trailers:key=Kb-Agent,valueonly,separator=) | %(trailers:key=Kb-Client,valueonly,separator=)", draft); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

func TestToolsNarrowed(t *testing.T) {
	svc := agent(t, vaulttest.Repo(t, notes))
	s := connect(t, svc, Options{Tools: []string{"search", "get_document"}, ReadOnly: true}, nil)
	list, err := s.ListTools(context.Background(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, tool := range list.Tools {
		names = append(names, tool.Name)
		if !tool.Annotations.ReadOnlyHint {
			t.Errorf("%s writes", tool.Name)
		}
	}
	if diff := cmp.Diff([]string{"get_document", "search"}, names); diff != "" {
		t.Error(diff)
	}
	if _, err := New(svc, Options{Tools: []string{"kb_doctor"}}); err == nil {
		t.Error("a people's operation was accepted as a tool")
	}
	if _, err := s.CallTool(context.Background(), &sdk.CallToolParams{Name: "kb_digest"}); err == nil {
		t.Error("a tool that is not offered was called")
	}
}

// An error is a result that a model can mend: what failed, and what would fit. It
// has no structured content, and no place on this machine.
func TestErrors(t *testing.T) {
	dir := vaulttest.Repo(t, notes)
	s := connect(t, agent(t, dir), Options{}, nil)
	tests := []struct {
		tool string
		args map[string]any
		want string
	}{
		{"search", map[string]any{"query": "x", "colection": "y"}, "search: unknown argument \"colection\" (usage)\nhint: did you mean collection?"},
		{"search", map[string]any{}, "search: query is required (usage)\nhint: query: "},
		{"search", map[string]any{"query": "  "}, "search: query is empty (usage)"},
		{"search", map[string]any{"query": "x", "max_results": "many"}, "search: max_results: many does not fit (usage)\nhint: max_results is a whole number"},
		{"search", map[string]any{"query": "x", "max_results": 0}, "search: max_results: 0 (usage)\nhint: accepted: 1 to 200"},
		{"search", map[string]any{"query": []any{"x"}}, `search: query: ["x"] does not fit`},
		{"search", map[string]any{"query": "x", "mode": "fuzzy"}, "search: mode: \"fuzzy\" (usage)\nhint: accepted: hybrid"},
		{"search", map[string]any{"query": "x", "limit": 1, "max_results": 2}, "max_results and limit are the same argument"},
		{"search", map[string]any{"query": "x", "at": "nowhere"}, "no revision nowhere (not_found)\nhint: a branch, a tag"},
		{"search", map[string]any{"query": "x", "collection": "nope"}, "no collection \"nope\" (not_found)"},
		{"get_document", map[string]any{"path": "guides/rety.md"}, "hint: did you mean guides/retry.md?"},
		{"get_document", map[string]any{"path": "/etc/passwd"}, "no note"},
		{"get_document", map[string]any{"path": "../../../etc/passwd"}, "no note"},
		{"get_document", map[string]any{"path": ".git/config"}, "no note"},
		{"get_document", map[string]any{"path": "guides/retry.md", "heading": "Bakoff"}, "hint: headings: Retry policy · Backoff"},
		{"kb_context", map[string]any{"path": []any{}}, "no note is named (usage)"},
		{"kb_query", map[string]any{"cursor": "x"}, "a cursor is the next of the answer before"},
	}
	for _, tt := range tests {
		r := call(t, s, tt.tool, tt.args)
		if !r.IsError || !strings.Contains(text(r), tt.want) {
			t.Errorf("%s %v: error %v:\n%s\nwant\n%s", tt.tool, tt.args, r.IsError, text(r), tt.want)
		}
		if r.StructuredContent != nil {
			t.Errorf("%s %v: structured content %v", tt.tool, tt.args, r.StructuredContent)
		}
		if strings.Contains(text(r), dir) || strings.Contains(text(r), filepath.Dir(dir)) {
			t.Errorf("%s %v: a place on this machine: %s", tt.tool, tt.args, text(r))
		}
	}
}

// What is well meant is understood.
func TestLenientArguments(t *testing.T) {
	s := connect(t, agent(t, vaulttest.Repo(t, notes)), Options{}, nil)
	for _, args := range []map[string]any{
		{"query": "retry", "max_results": "1"},
		{"query": "retry", "limit": 1},
		{"query": "retry", "tag": "howto"},
		{"query": "retry", "explain": "true", "scope": nil},
		{"query": "retry", "mode": "TEXT"},
	} {
		if r := call(t, s, "search", args); r.IsError {
			t.Errorf("search %v: %s", args, text(r))
		}
	}
	if r := call(t, s, "kb_context", map[string]any{"path": "README.md"}); r.IsError {
		t.Errorf("kb_context with one path: %s", text(r))
	}
}

// Where the derived data cannot be opened, nobody learns where it is.
func TestErrorsHidePaths(t *testing.T) {
	dir := vaulttest.Repo(t, notes)
	cfg, err := vault.LoadConfig(vault.Locate{Dir: dir, CacheDir: filepath.Join(dir, "README.md")})
	if err != nil {
		t.Fatal(err)
	}
	svc, err := vault.NewService(cfg, vault.Agent, t.Logf)
	if err != nil {
		t.Fatal(err)
	}
	defer svc.Close()
	s := connect(t, svc, Options{}, nil)
	r := call(t, s, "search", map[string]any{"query": "x"})
	if !r.IsError || strings.Contains(text(r), filepath.Dir(dir)) {
		t.Errorf("error %v: %s", r.IsError, text(r))
	}
	_, err = s.ReadResource(context.Background(), &sdk.ReadResourceParams{URI: "kb://digest"})
	if err == nil || strings.Contains(err.Error(), filepath.Dir(dir)) {
		t.Errorf("resource: %v", err)
	}
}

// What only the command line takes is an unknown argument to an agent: no tool
// writes a file.
func TestHiddenParameters(t *testing.T) {
	dir := vaulttest.Repo(t, notes)
	s := connect(t, agent(t, dir), Options{}, nil)
	out := filepath.Join(t.TempDir(), "out.md")
	values := map[reflect.Kind]any{reflect.String: out, reflect.Bool: true}
	for _, op := range vault.Ops() {
		for _, p := range op.Params() {
			if op.People || !p.Hidden {
				continue
			}
			r := call(t, s, op.Name, map[string]any{p.Name: values[p.Type.Kind()]})
			if !r.IsError || !strings.Contains(text(r), "unknown argument") {
				t.Errorf("%s with %s: %s", op.Name, p.Name, text(r))
			}
		}
	}
	if _, err := os.Stat(out); err == nil {
		t.Error("a tool wrote a file")
	}
}

func TestWithoutPaths(t *testing.T) {
	tests := []struct{ in, want string }{
		{"open /home/ada/.cache/kb/x: permission denied", "open …/x: permission denied"},
		{`open "/home/ada/notes": no`, `open "…/notes": no`},
		{`open C:\Users\ada\notes: no`, "open …/notes: no"},
		{"no note guides/retry.md", "no note guides/retry.md"},
		{"kb://notes@abc/guides/retry.md#x", "kb://notes@abc/guides/retry.md#x"},
		{"a and/or b, 1/2, /", "a and/or b, 1/2, /"},
		{"see https://example.org/a/b", "see https://example.org/a/b"},
		{"gitdir:/home/jane doe/vault/.git", "gitdir:…/.git"},
	}
	for _, tt := range tests {
		if got := (scrubber{known: []string{"/home/jane doe/vault"}}).clean(tt.in); got != tt.want {
			t.Errorf("clean(%q) = %q, want %q", tt.in, got, tt.want)
		}
	}
}

// A bug in one call is that call's error.
func TestPanic(t *testing.T) {
	s := &Server{log: t.Logf}
	h := s.recovering(func(context.Context, string, sdk.Request) (sdk.Result, error) { panic("boom") })
	r, err := h(context.Background(), "tools/call", &sdk.CallToolRequest{})
	if err != nil {
		t.Fatalf("tools/call: %v", err)
	}
	if result := r.(*sdk.CallToolResult); !result.IsError || !strings.Contains(text(result), "a bug") || strings.Contains(text(result), "boom") {
		t.Errorf("tools/call: %+v", text(result))
	}
	if _, err := h(context.Background(), "resources/read", &sdk.ReadResourceRequest{}); err == nil {
		t.Error("resources/read: no error")
	}
}

func TestInstructions(t *testing.T) {
	cfg := &vault.Config{Collections: []vault.CollectionConfig{
		{Name: "docs", Description: "The manual of the thing,\nin two lines", Writable: true}, {Name: "journal"},
	}}
	golden(t, "testdata/instructions.txt", Instructions(cfg, true))
	if got := Instructions(cfg, false); strings.Contains(got, "kb_write") || strings.Contains(got, "drafts") {
		t.Errorf("to a reader: %s", got)
	}
	for i := range 40 {
		cfg.Collections = append(cfg.Collections, vault.CollectionConfig{Name: fmt.Sprint("collection-", i), Description: strings.Repeat("Größe und Maß. ", 20)})
	}
	got := Instructions(cfg, true)
	if len(got) >= 2048 {
		t.Errorf("%d bytes with 42 collections", len(got))
	}
	if !strings.Contains(got, "more: list_sections") || strings.Contains(got, "\uFFFD") {
		t.Errorf("how it goes on is not said: %s", got)
	}
}

// A client that asks for it hears how far the work is.
func TestProgress(t *testing.T) {
	var archive strings.Builder
	for i := range 300 {
		fmt.Fprintf(&archive, "-- n%d.md --\nnote %d\n", i, i)
	}
	archive.WriteString("-- @commit 2024-01-01 many --\n")
	heard := make(chan *sdk.ProgressNotificationParams, 1000)
	s := connect(t, agent(t, vaulttest.Repo(t, archive.String())), Options{}, &sdk.ClientOptions{
		ProgressNotificationHandler: func(_ context.Context, r *sdk.ProgressNotificationClientRequest) { heard <- r.Params },
	})
	p := &sdk.CallToolParams{Name: "search", Arguments: map[string]any{"query": "note"}}
	p.SetProgressToken("t1")
	if r, err := s.CallTool(context.Background(), p); err != nil || r.IsError {
		t.Fatal(err, r)
	}
	if err := s.Ping(context.Background(), nil); err != nil { // notifications come in order: all are here
		t.Fatal(err)
	}
	close(heard)
	n, last := 0, -1.0
	for h := range heard {
		if h.ProgressToken != "t1" || h.Progress <= last || h.Message == "" {
			t.Errorf("after %v: %+v", last, h)
		}
		n, last = n+1, h.Progress
	}
	if n == 0 {
		t.Error("no progress was heard")
	}
}

// Private notes are not there for an agent, whatever it asks.
func TestPrivate(t *testing.T) {
	dir := vaulttest.Repo(t, notes+`
-- journal/secret.md --
---
tags: [hush]
---
Backoff in private, see [[retry]] and [[ghost]].
-- kb.yaml --
collections: [{name: n, path: .}]
visibility: {private: ["journal/**"]}
-- @commit 2024-01-02 journal --
`)
	s := connect(t, agent(t, dir), Options{}, nil)
	commit := vaulttest.Git(t, dir, "rev-parse", "HEAD")
	var said bytes.Buffer
	for tool, args := range calls {
		r := call(t, s, tool, args)
		fmt.Fprintf(&said, "%s %s\n", text(r), pretty(t, r.StructuredContent))
	}
	for _, word := range []string{"secret", "journal", "hush", "private", "ghost"} {
		if strings.Contains(said.String(), word) {
			t.Errorf("%q is told", word)
		}
	}
	for _, path := range []string{"journal/secret.md", "secret", "kb://n@" + commit + "/journal/secret.md", "kb://n/journal/secret.md"} {
		if r := call(t, s, "get_document", map[string]any{"path": path}); !r.IsError || strings.Contains(text(r), "Backoff") {
			t.Errorf("%s: %s", path, text(r))
		}
		if _, err := s.ReadResource(context.Background(), &sdk.ReadResourceParams{URI: path}); err == nil {
			t.Errorf("%s: read as a resource", path)
		}
	}
	if r := call(t, s, "get_document", map[string]any{"path": "journal/secrt.md"}); strings.Contains(text(r), "secret") {
		t.Errorf("suggested: %s", text(r))
	}
	// A person sees them.
	if _, err := vaulttest.Service(t, dir).Do(context.Background(), must(vault.FindOp("get_document")), json.RawMessage(`{"path":"journal/secret.md"}`), nil); err != nil {
		t.Error(err)
	}
}

func must[T any](v T, ok bool) T {
	if !ok {
		panic("not there")
	}
	return v
}

func pretty(t *testing.T, v any) string {
	t.Helper()
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(v); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func golden(t *testing.T, file, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("%v; -update writes it", err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-file +program; -update rewrites it):\n%s", file, diff)
	}
}
