package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"kb/internal/vaulttest"
	"kb/vault"
)

// The official TypeScript client lists and calls every tool, and gets what the
// commands print.
func TestTypeScriptClient(t *testing.T) {
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("node is not installed")
	}
	if _, err := os.Stat("testdata/npm/node_modules"); err != nil {
		t.Skip("the client is not installed: npm ci --prefix cmd/kb/testdata/npm")
	}
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
	kb, err := exec.LookPath("kb")
	if err != nil {
		t.Fatal(err)
	}
	script, err := filepath.Abs("testdata/npm/plan.mjs")
	if err != nil {
		t.Fatal(err)
	}
	p := newProgram(t, vaulttest.Repo(t, parityVault))
	cmd := exec.Command(node, script, kb, file)
	cmd.Dir, cmd.Env = p.dir, p.env
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), " 0 faults") {
		t.Fatalf("%v\n%s", err, out)
	}
	t.Logf("%s", out)
}
