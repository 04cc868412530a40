//go:build unix

package mcp

import (
	"context"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"kb/internal/vaulttest"
)

// The handshake and the list of tools do not wait for the store: here another
// process starts to own it, and takes its time.
func TestHandshakeBeforeStore(t *testing.T) {
	svc := agent(t, vaulttest.Repo(t, notes))
	id, err := svc.Config().ID()
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(svc.Config().CacheDir, id)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	lock, err := os.OpenFile(filepath.Join(dir, "owner.lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Close()
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	s := connect(t, svc, Options{}, nil)
	found := make(chan *sdk.CallToolResult, 1)
	go func() {
		r, _ := s.CallTool(context.Background(), &sdk.CallToolParams{Name: "search", Arguments: map[string]any{"query": "jitter"}})
		found <- r
	}()
	if list, err := s.ListTools(context.Background(), nil); err != nil || len(list.Tools) != len(calls) {
		t.Fatalf("tools/list: %v", err)
	}
	select {
	case r := <-found:
		t.Fatalf("search answered without a store: %v", r)
	default:
	}
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_UN); err != nil {
		t.Fatal(err)
	}
	if r := <-found; r == nil || r.IsError {
		t.Fatalf("search: %+v", r)
	}
}
