package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"kb/internal/vaulttest"
)

// served is kb serving over HTTP, a process of its own.
type served struct {
	*program
	t   *testing.T
	url string
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
		end := syscall.SIGTERM
		if runtime.GOOS == "windows" {
			end = syscall.SIGKILL
		}
		_ = cmd.Process.Signal(end)
		if err := cmd.Wait(); err != nil && runtime.GOOS != "windows" {
			t.Errorf("kb %s: %v: %s", strings.Join(args, " "), err, stderr.Bytes())
		}
	})
	return &served{p, t, strings.TrimSpace(line)}
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
