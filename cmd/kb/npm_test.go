package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"kb/internal/vaulttest"
	"kb/vault"
)

// The official TypeScript clients, of both versions of the SDK, list and call
// every tool, and get what the commands print: on standard input and output, through
// the socket of another process, and over HTTP with a token.
func TestTypeScriptClient(t *testing.T) {
	plan := typeScriptPlan(t)
	for version, flags := range map[string][]string{"v1": nil, "v2": {"--v2"}} {
		t.Run(version+" stdio", func(t *testing.T) {
			plan(t, newProgram(t, vaulttest.Repo(t, parityVault)), flags)
		})
		t.Run(version+" socket", func(t *testing.T) {
			p := newProgram(t, vaulttest.Repo(t, parityVault))
			serve(t, p, "serve", "--http", "127.0.0.1:0") // owns the derived data: kb mcp calls it through its socket
			plan(t, p, flags)
		})
		t.Run(version+" HTTP", func(t *testing.T) {
			p := newProgram(t, vaulttest.Repo(t, parityVault))
			vaulttest.Write(t, p.dir, "kb.yaml", "view: HEAD\ncollections:\n- {name: v, path: ., writable: true}\n") // as over HTTP
			file := filepath.Join(t.TempDir(), "tokens.json")
			token := p.token(t, file, "client", "draft")
			plan(t, p, flags, serve(t, p, "mcp", "--http", "127.0.0.1:0", "--token-file", file).url, token)
		})
	}
}

// typeScriptPlan returns what has the client call every tool of a program's vault.
func typeScriptPlan(t *testing.T) func(t *testing.T, p *program, flags []string, server ...string) {
	t.Helper()
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("node is not installed")
	}
	if _, err := os.Stat("testdata/npm/node_modules/@modelcontextprotocol/client"); err != nil {
		t.Skip("the client is not installed: npm ci --prefix cmd/kb/testdata/npm")
	}
	file := planFile(t)
	kb, err := exec.LookPath("kb")
	if err != nil {
		t.Fatal(err)
	}
	script, err := filepath.Abs("testdata/npm/plan.mjs")
	if err != nil {
		t.Fatal(err)
	}
	return func(t *testing.T, p *program, flags []string, server ...string) {
		t.Helper()
		cmd := exec.Command(node, slices.Concat([]string{script}, flags, []string{kb, file}, server)...)
		cmd.Dir, cmd.Env = p.dir, p.env
		out, err := cmd.CombinedOutput()
		if err != nil || !strings.Contains(string(out), " 0 faults") {
			t.Fatalf("%v\n%s", err, out)
		}
		t.Logf("%s", out)
	}
}

// planFile writes down a call of every tool, and its command line.
func planFile(t *testing.T) string {
	t.Helper()
	type step struct {
		Tool    string         `json:"tool"`
		Args    map[string]any `json:"args"`
		Command []string       `json:"command"`
	}
	var plan []step
	for _, op := range vault.Ops() {
		for _, args := range parityCalls[op.Name] {
			plan = append(plan, step{op.Name, args, commandLine(op, args)})
		}
	}
	raw, err := json.Marshal(plan)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "plan.json")
	if err := os.WriteFile(file, raw, 0o644); err != nil {
		t.Fatal(err)
	}
	return file
}
