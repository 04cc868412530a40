package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"kb/internal/access"
	"kb/internal/vaulttest"
)

// served is kb serving over HTTP, a process of its own.
type served struct {
	*program
	t   *testing.T
	cmd *exec.Cmd
	url string
}

// kill ends the process as a crash would.
func (s *served) kill() {
	s.t.Helper()
	must(s.t, s.cmd.Process.Kill())
	_ = s.cmd.Wait() // killed
}

// serve starts kb with arguments, which have it listen at a free port. When the
// test ends, it is told to, and must exit with 0.
func serve(t *testing.T, p *program, args ...string) *served {
	t.Helper()
	cmd := p.command(args...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("kb %s: %v: %s", strings.Join(args, " "), cmd.Wait(), stderr.Bytes())
	}
	t.Cleanup(func() {
		if cmd.ProcessState != nil {
			return // killed
		}
		end := syscall.SIGTERM
		if runtime.GOOS == "windows" {
			end = syscall.SIGKILL
		}
		_ = cmd.Process.Signal(end)
		if err := cmd.Wait(); err != nil && runtime.GOOS != "windows" {
			t.Errorf("kb %s: %v: %s", strings.Join(args, " "), err, stderr.Bytes())
		}
	})
	return &served{p, t, cmd, strings.TrimSpace(line)}
}

// client is a session with the official client, in a revision of the protocol.
func (s *served) client(version string, o *sdk.StreamableClientTransport) *sdk.ClientSession {
	s.t.Helper()
	if o == nil {
		o = &sdk.StreamableClientTransport{}
	}
	o.Endpoint, o.MaxRetries = s.url, -1
	c := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil)
	session, err := c.Connect(context.Background(), o, &sdk.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		s.t.Fatalf("connect by %s: %v", version, err)
	}
	s.t.Cleanup(func() { session.Close() })
	return session
}

// get asks for a path beside /mcp.
func (s *served) get(path string, header ...string) (status int, body string) {
	s.t.Helper()
	r, err := http.NewRequest(http.MethodGet, strings.TrimSuffix(s.url, "/mcp")+path, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return resp.StatusCode, string(raw)
}

// Clients of every revision get over HTTP what the command prints of the commit:
// not what stands uncommitted in somebody's work tree.
func TestServeHTTP(t *testing.T) {
	dir := vaulttest.Repo(t, parityVault)
	vaulttest.Write(t, dir, "secret-plan.md", "# Plan\nzanzibar\n")
	s := serve(t, newProgram(t, dir), "serve", "--http", "127.0.0.1:0")
	want := comparable(t, []byte(s.mustRun(t, "search", "retry", "--at", "main", "--json")))
	for _, version := range sdk.SupportedProtocolVersions() {
		c := s.client(version, nil)
		if got := c.InitializeResult().ProtocolVersion; got != version {
			t.Errorf("asked for %s, got %s", version, got)
		}
		r, err := c.CallTool(context.Background(), &sdk.CallToolParams{Name: "search", Arguments: map[string]any{"query": "retry"}})
		if err != nil || r.IsError {
			t.Fatalf("%s: %v %+v", version, err, r)
		}
		raw, err := json.Marshal(r.StructuredContent)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, comparable(t, raw)); diff != "" {
			t.Errorf("%s (-command +tool):\n%s", version, diff)
		}
		r, err = c.CallTool(context.Background(), &sdk.CallToolParams{Name: "search", Arguments: map[string]any{"query": "zanzibar"}})
		if err != nil || len(asObject(t, r.StructuredContent)["results"].([]any)) != 0 {
			t.Errorf("%s: what is uncommitted was found: %v %v", version, r, err)
		}
	}
	if status, body := s.get("/healthz"); status != http.StatusOK || !strings.Contains(body, "ok") {
		t.Errorf("healthz: %d %s", status, body)
	}
	if status, _ := s.get("/elsewhere"); status != http.StatusNotFound {
		t.Errorf("elsewhere: %d", status)
	}
}

// faultOf calls a tool, and returns what went wrong.
func faultOf(t *testing.T, c *sdk.ClientSession, name string, args map[string]any) string {
	t.Helper()
	r, err := c.CallTool(context.Background(), &sdk.CallToolParams{Name: name, Arguments: args})
	switch {
	case err != nil:
		return err.Error()
	case r.IsError:
		return r.Content[0].(*sdk.TextContent).Text
	}
	return ""
}

func asObject(t *testing.T, v any) (m map[string]any) {
	t.Helper()
	raw, err := json.Marshal(v)
	if err == nil {
		err = json.Unmarshal(raw, &m)
	}
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// The process that serves owns the derived data; commands ask it.
func TestServeOwns(t *testing.T) {
	p := newProgram(t, vaulttest.Repo(t, parityVault))
	s := serve(t, p, "serve", "--http", "127.0.0.1:0")
	c := s.client("2025-11-25", nil)
	r, err := c.CallTool(context.Background(), &sdk.CallToolParams{Name: "kb_stats", Arguments: map[string]any{}})
	if err != nil || r.IsError {
		t.Fatalf("%v %+v", err, r)
	}
	pid := asObject(t, r.StructuredContent)["owner"].(map[string]any)["pid"]
	var stats map[string]any
	if err := json.Unmarshal([]byte(p.mustRun(t, "stats", "--json")), &stats); err != nil {
		t.Fatal(err)
	}
	if got := stats["owner"].(map[string]any)["pid"]; got != pid || pid == float64(os.Getpid()) {
		t.Errorf("the command was answered by process %v, the server is %v", got, pid)
	}
}

// An address that others reach is not listened at.
func TestServeElsewhere(t *testing.T) {
	p := newProgram(t, vaulttest.Repo(t, parityVault))
	for _, args := range [][]string{{"serve", "--http", "0.0.0.0:0"}, {"mcp", "--http", ":0"}, {"mcp", "--http", "example.org:80"}, {"serve", "--http", "nonsense"}} {
		out, err := p.run(args...)
		if err == nil || out != "" || !strings.Contains(err.Error(), "exit status 2") || !strings.Contains(err.Error(), "kb: hint: ") {
			t.Errorf("kb %v: %v\n%s", args, err, out)
		}
	}
}

// token makes a token and returns it.
func (p *program) token(t *testing.T, file, name, scopes string, more ...string) string {
	t.Helper()
	var made struct{ Token string }
	out := p.mustRun(t, append([]string{"token", "create", name, "--scopes", scopes, "--token-file", file, "--json"}, more...)...)
	if err := json.Unmarshal([]byte(out), &made); err != nil || made.Token == "" {
		t.Fatalf("%v: %s", err, out)
	}
	return made.Token
}

// bearer sends a token with every request.
type bearer string

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(b))
	return http.DefaultTransport.RoundTrip(r)
}

func with(token string) *sdk.StreamableClientTransport {
	return &sdk.StreamableClientTransport{HTTPClient: &http.Client{Transport: bearer(token)}}
}

// With a token file, a caller does what its token allows, for as long as it
// does: a draft by one, merged by another, and nothing after the token's end.
func TestServeTokens(t *testing.T) {
	p := newProgram(t, vaulttest.Repo(t, parityVault))
	file := t.TempDir() + "/tokens.json"
	writer := p.token(t, file, "writer", "draft", "--author", "Robot <robot@example.org>")
	reviewer := p.token(t, file, "reviewer", "draft,review", "--author", "Grace <grace@example.org>")
	s := serve(t, p, "serve", "--http", "127.0.0.1:0", "--token-file", file, "--allow-review")
	if status, _ := s.get("/mcp", "Accept", "text/event-stream"); status != http.StatusUnauthorized {
		t.Errorf("without a token: %d", status)
	}
	call := func(c *sdk.ClientSession, name string, args map[string]any) (map[string]any, string) {
		t.Helper()
		r, err := c.CallTool(context.Background(), &sdk.CallToolParams{Name: name, Arguments: args})
		if err != nil {
			return nil, err.Error()
		}
		if r.IsError {
			return nil, r.Content[0].(*sdk.TextContent).Text
		}
		return asObject(t, r.StructuredContent), ""
	}
	w, v := s.client("2026-07-28", with(writer)), s.client("2025-11-25", with(reviewer))
	body := strings.Repeat("A sentence of several words. ", 20)
	made, fault := call(w, "kb_write", map[string]any{"title": "Owls", "body": body, "tags": []string{"x"}, "draft": "owls"})
	if fault != "" {
		t.Fatal(fault)
	}
	decide := map[string]any{"name": "owls", "commit": made["commit"]}
	if _, fault := call(w, "kb_review_merge", decide); fault == "" {
		t.Error("a draft was merged by a token without the scope review")
	}
	own, fault := call(v, "kb_write", map[string]any{"title": "Larks", "body": body, "tags": []string{"x"}, "draft": "larks"})
	if fault != "" {
		t.Fatal(fault)
	}
	if _, fault := call(v, "kb_review_merge", map[string]any{"name": "larks", "commit": own["commit"]}); !strings.Contains(fault, "forbidden") {
		t.Errorf("a draft of its own: %q", fault)
	}
	if got := vaulttest.Git(t, p.dir, "log", "--format=%s", "main"); strings.Contains(got, "Owls") || strings.Contains(got, "Larks") {
		t.Fatalf("main has a draft: %s", got)
	}
	if _, fault := call(v, "kb_review_merge", decide); fault != "" {
		t.Fatal(fault)
	}
	if got := vaulttest.Git(t, p.dir, "log", "-2", "--format=%an", "main"); !strings.Contains(got, "Grace") || !strings.Contains(got, "Robot") {
		t.Errorf("authors of main: %s", got)
	}
	p.mustRun(t, "token", "revoke", "reviewer", "--token-file", file)
	if _, fault := call(v, "search", map[string]any{"query": "owls"}); !strings.Contains(fault, "Unauthorized") {
		t.Errorf("with a token that was revoked: %q", fault)
	}
}

// Who called what is written down, and counted; what they wrote is not, neither
// there nor in the log.
func TestServeWrittenDown(t *testing.T) {
	p := newProgram(t, vaulttest.Repo(t, parityVault))
	dir := t.TempDir()
	file, auditFile := dir+"/tokens.json", dir+"/audit.jsonl"
	token := p.token(t, file, "writer", "draft")
	s := serve(t, p, "serve", "--http", "127.0.0.1:0", "--token-file", file, "--audit", auditFile)
	c := s.client("2026-07-28", with(token))
	for _, call := range []struct {
		tool string
		args map[string]any
	}{
		{"search", map[string]any{"query": "zanzibar", "at": "main"}},
		{"search", map[string]any{"query": `"zanzibar" again`, "at": "no-zanzibar-here"}},
		{"get_document", map[string]any{"path": "zanzibar.md", "zanzibar": 1}},
		{"kb_write", map[string]any{"title": "A zanzibar", "body": "zanzibar zanzibar", "tags": []string{"zanzibar"}}},
	} {
		if _, err := c.CallTool(context.Background(), &sdk.CallToolParams{Name: call.tool, Arguments: call.args}); err != nil {
			t.Fatal(err)
		}
	}
	if status, _ := s.get("/mcp?token="+token, "Authorization", "Bearer "+token); status != http.StatusBadRequest {
		t.Errorf("a token in the address: %d", status)
	}
	s.get("/mcp", "Authorization", "Bearer nobody")
	raw, got := readAudit(t, auditFile)
	want := []string{"search main commit ok", "search   not_found", "get_document   usage", "kb_write  commit ok", "   400", "   401"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("audit (-want +got):\n%s", diff)
	}
	out, _ := p.run("doctor", "--logs", "100", "--json")
	var doctor struct{ Logs []string }
	if err := json.Unmarshal([]byte(out), &doctor); err != nil || len(doctor.Logs) < 4 {
		t.Errorf("%v: doctor shows %d lines", err, len(doctor.Logs))
	}
	metrics := s.metrics(token)
	for name, text := range map[string]string{"audit": string(raw), "log": strings.Join(doctor.Logs, "\n"), "metrics": metrics} {
		for _, secret := range []string{"zanzibar", token, strings.TrimPrefix(token, access.Prefix), "nobody"} {
			if strings.Contains(text, secret) {
				t.Errorf("%s holds %q:\n%s", name, secret, text)
			}
		}
	}
	if !strings.Contains(strings.Join(doctor.Logs, "\n"), `"query":"#`) {
		t.Errorf("log: %s", doctor.Logs)
	}
}

// readAudit reads a file of calls by the token writer, and what it says of each.
func readAudit(t *testing.T, file string) (raw []byte, said []string) {
	t.Helper()
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(raw)) {
		var l auditLine
		if err := json.Unmarshal([]byte(line), &l); err != nil || l.Time == "" || l.Tool != "" && (l.Token != "writer" || l.ID == "") {
			t.Errorf("%v: %s", err, line)
		}
		if l.Commit != "" {
			l.Commit = "commit"
		}
		said = append(said, strings.Join([]string{l.Tool, l.At, l.Commit, l.Code}, " "))
	}
	return raw, said
}

// metrics reads the metrics, as this machine does and as others may.
func (s *served) metrics(token string) string {
	s.t.Helper()
	_, metrics := s.get("/metrics")
	for _, line := range []string{`kb_calls_total{code="ok",tool="search"} 1`, `kb_calls_total{code="not_found",tool="search"} 1`, `kb_http_answers_total{status="401"} 1`, "kb_owner 1", "kb_sessions 0", "kb_index_documents ", `kb_call_seconds_bucket{tool="search",`, "kb_derived_bytes "} {
		if !strings.Contains(metrics, line) {
			s.t.Errorf("metrics lack %s", line)
		}
	}
	if status, _ := s.get("/metrics", "X-Forwarded-For", "10.0.0.1"); status != http.StatusUnauthorized {
		s.t.Errorf("metrics through a proxy: %d", status)
	}
	if status, _ := s.get("/metrics", "X-Forwarded-For", "10.0.0.1", "Authorization", "Bearer "+token); status != http.StatusOK {
		s.t.Errorf("metrics through a proxy with a token: %d", status)
	}
	return metrics
}
