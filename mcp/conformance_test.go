package mcp

import (
	"context"
	"net"
	"net/http"
	"os/exec"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"kb/internal/httpd"
	"kb/internal/vaulttest"
)

// What stands before kb's server - hosts, limits, both eras of the protocol -
// fulfils what each revision requires: the protocol's own suite, with the
// fixtures that it wants behind it, finds nothing.
func TestRequirements(t *testing.T) {
	command := vaulttest.ConformanceSuite(t)
	s := fixtures()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	server := httpd.New(newEras(func(*http.Request) *sdk.Server { return s }, HTTPOptions{}), httpd.Options{Log: t.Logf})
	go func() { done <- server.Serve(ctx, listener) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	url := "http://localhost" + listener.Addr().String()[len("127.0.0.1"):] + "/mcp"
	for _, revision := range []string{"2025-11-25", "2026-07-28"} {
		cmd := exec.Command(command[0], append(command[1:], "server", "--url", url, "--requirements", revision, "-o", t.TempDir())...)
		if out, err := cmd.CombinedOutput(); err != nil {
			_, summary, _ := strings.Cut(string(out), "=== SUMMARY ===")
			t.Errorf("%s: %v%s", revision, err, summary)
		}
	}
}
