package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"kb/internal/vaulttest"
)

// What the container starts serves a vault with nothing else there: no git, no
// home, no shell.
func TestContainer(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("containers of this form are for Linux")
	}
	raw, err := os.ReadFile("../../dist/Dockerfile")
	if err != nil {
		t.Fatal(err)
	}
	var args, env []string
	dir := t.TempDir()
	for line := range strings.Lines(string(raw)) {
		word, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch word {
		case "CMD":
			if err := json.Unmarshal([]byte(rest), &args); err != nil {
				t.Fatal(err)
			}
		case "ENV":
			for _, v := range strings.Fields(rest) {
				env = append(env, strings.ReplaceAll(v, "=/data", "="+filepath.Join(dir, "data")))
			}
		}
	}
	vault, tokens := vaulttest.Repo(t, parityVault), filepath.Join(dir, "tokens.json")
	p := newProgram(t, vault)
	token := p.token(t, tokens, "container", "draft")
	for i, a := range args {
		switch a {
		case "/vault":
			args[i] = vault
		case "/config/tokens.json":
			args[i] = tokens
		case "0.0.0.0:7420":
			args[i] = "0.0.0.0:0"
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "data"), 0o700); err != nil {
		t.Fatal(err)
	}
	bare := &program{dir: dir, env: env}
	s := serve(t, bare, args...)
	s.url = strings.Replace(s.url, "[::]", "127.0.0.1", 1)
	c := s.client("2026-07-28", with(token))
	for name, args := range map[string]map[string]any{"search": {"query": "retry"}, "kb_write": {"title": "From a container", "body": "Text."}} {
		if fault := faultOf(t, c, name, args); fault != "" {
			t.Errorf("%s: %s", name, fault)
		}
	}
	if got := vaulttest.Git(t, vault, "branch", "--list", "drafts/*"); !strings.Contains(got, "container") {
		t.Errorf("drafts: %q", got)
	}
}

// The unit starts kb with flags that it has.
func TestUnit(t *testing.T) {
	raw, err := os.ReadFile("../../dist/kb.service")
	if err != nil {
		t.Fatal(err)
	}
	_, line, _ := strings.Cut(string(raw), "ExecStart=%h/bin/kb ")
	line, _, _ = strings.Cut(line, "\n")
	p := newProgram(t, vaulttest.Repo(t, parityVault))
	home := t.TempDir()
	p.token(t, filepath.Join(home, ".config/kb/tokens.json"), "unit", "read")
	args := strings.Fields(strings.NewReplacer("%h/notes", p.dir, "%h", home, "127.0.0.1:7420", "127.0.0.1:0").Replace(line))
	if status, _ := serve(t, p, args...).get("/healthz"); status != 200 {
		t.Errorf("healthz: %d", status)
	}
}
