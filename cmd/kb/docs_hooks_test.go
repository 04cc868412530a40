package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"kb/internal/vaulttest"
)

// hookCommands are the commands of the manual's hooks, by their events.
func hookCommands(t *testing.T) map[string]string {
	t.Helper()
	page, err := os.ReadFile("../../docs/guides/agents.md")
	if err != nil {
		t.Fatal(err)
	}
	commands := map[string]string{}
	for _, block := range regexp.MustCompile("(?s)```json\n(\\{\"hooks\".*?)```").FindAllSubmatch(page, -1) {
		var settings struct {
			Hooks map[string][]struct{ Hooks []struct{ Command string } }
		}
		if err := json.Unmarshal(block[1], &settings); err != nil {
			t.Fatalf("%v in\n%s", err, block[1])
		}
		for event, list := range settings.Hooks {
			commands[event] = list[0].Hooks[0].Command
		}
	}
	return commands
}

// The hooks that the manual shows say what the vault knows, and nothing where it
// knows nothing, whatever they are given.
func TestHooksOfTheManual(t *testing.T) {
	if _, err := exec.LookPath("jq"); err != nil {
		t.Skip("no jq, which the hooks use")
	}
	p := newProgram(t, vaulttest.Repo(t, `
-- fix.md --
# TLS handshake fails behind the proxy
curl says: (35) Connection reset by peer. Set HTTPS_PROXY.
-- @commit 2024-01-01 first --
`))
	commands := hookCommands(t)
	for _, tt := range []struct{ event, key, text, want string }{
		{"UserPromptSubmit", "prompt", "Why does the TLS handshake fail?\nIt's \"odd\" $HOME `id` 'x", "[1] TLS handshake fails behind the proxy"},
		{"UserPromptSubmit", "prompt", "--help", "No note matches --help"},
		{"UserPromptSubmit", "prompt", "", ""},
		{"UserPromptSubmit", "other", "x", ""},
		{"PostToolUseFailure", "error", "Exit code 35\n(35) Connection reset by peer\n\n", `"additionalContext": "TLS handshake fails behind the proxy kb://`},
		{"PostToolUseFailure", "error", "no such error", ""},
		{"PostToolUseFailure", "error", "--help", ""},
		{"PostToolUseFailure", "other", "x", ""},
	} {
		in, err := json.Marshal(map[string]string{tt.key: tt.text})
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command("sh", "-c", commands[tt.event])
		cmd.Dir, cmd.Env, cmd.Stdin = p.dir, p.env, strings.NewReader(string(in))
		out, err := cmd.CombinedOutput()
		if err != nil || !strings.Contains(string(out), tt.want) || tt.want == "" && len(out) > 0 {
			t.Errorf("%s %s: %v: got\n%s\nwant %q", tt.event, in, err, out, tt.want)
		}
	}
}
