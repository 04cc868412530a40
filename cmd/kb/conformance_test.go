package main

import (
	"bufio"
	"os/exec"
	"strings"
	"testing"

	"kb/internal/vaulttest"
)

// conforms are the scenarios of the protocol's own suite that need nothing of a
// server but what kb offers.
var conforms = map[string][]string{
	"2025-11-25": {
		"server-initialize", "ping", "tools-list", "resources-list", "prompts-list", "logging-set-level",
		"resources-subscribe", "resources-unsubscribe", "dns-rebinding-protection", "server-session-lifecycle",
		"server-sse-multiple-streams", "server-sse-polling",
	},
	"2026-07-28": {
		"tools-list", "resources-list", "prompts-list", "sep-2164-resource-not-found", "dns-rebinding-protection",
		"caching", "http-header-validation", "server-sse-multiple-streams",
	},
}

// The protocol's own suite finds no fault with the server as it is.
func TestConformance(t *testing.T) {
	command := vaulttest.ConformanceSuite(t)
	p := newProgram(t, vaulttest.Repo(t, parityVault))
	server := p.command("mcp", "--http", "127.0.0.1:0")
	out, err := server.StdoutPipe()
	must(t, err)
	must(t, server.Start())
	t.Cleanup(func() {
		_ = server.Process.Kill()
		_ = server.Wait()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	must(t, err)
	url := strings.Replace(strings.TrimSpace(line), "127.0.0.1", "localhost", 1) // as the suite wants it
	for version, scenarios := range conforms {
		cmd := exec.Command(command[0], append(command[1:], "server", "--url", url, "--suite", "all", "--spec-version", version, "-o", t.TempDir())...)
		out, _ := cmd.CombinedOutput() // scenarios that need fixtures fail
		for _, scenario := range scenarios {
			if !strings.Contains(string(out), "\n✓ "+scenario+": ") {
				t.Errorf("%s: %s failed", version, scenario)
			}
		}
		if t.Failed() {
			t.Fatalf("%s", out)
		}
	}
}
