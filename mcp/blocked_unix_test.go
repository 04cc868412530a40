//go:build unix

package mcp

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"kb/internal/vaulttest"
	"kb/vault"
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

// block keeps the store of svc from being opened until the test ends.
func block(t *testing.T, svc *vault.Service) {
	t.Helper()
	dir := filepath.Dir(svc.LogFile())
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	lock, err := os.OpenFile(filepath.Join(dir, "owner.lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { lock.Close() })
}

// A call that takes too long ends with an error that says so, and a client that
// does not want a call any more ends it: in every era, the work stops.
func TestCallsEnd(t *testing.T) {
	svc := agent(t, vaulttest.Repo(t, notes))
	block(t, svc)
	calls := make(chan Call, 1)
	o := Options{Deadline: 30 * time.Millisecond, Observe: func(c Call) { calls <- c }}
	late, err := NewHTTP(svc, o, HTTPOptions{})
	if err != nil {
		t.Fatal(err)
	}
	url := serveHTTP(t, late)
	search := &sdk.CallToolParams{Name: "search", Arguments: map[string]any{"query": "x"}}
	for _, version := range []string{"2025-11-25", "2026-07-28"} {
		r, err := clientHTTP(t, url, "", version).CallTool(context.Background(), search)
		if err != nil || !r.IsError || !strings.Contains(text(r), "search took longer than 30ms (busy)") {
			t.Errorf("%s: %v %+v", version, err, r)
		}
		if c := <-calls; c.Code != vault.Busy || c.Tool != "search" {
			t.Errorf("%s: observed %+v", version, c)
		}
	}
	o.Deadline = 0
	patient, err := New(svc, o)
	if err != nil {
		t.Fatal(err)
	}
	arrived := make(chan bool, 8)
	patient.sdk.AddReceivingMiddleware(func(next sdk.MethodHandler) sdk.MethodHandler {
		return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
			if method == "tools/call" { // from here on it is observed
				arrived <- true
			}
			return next(ctx, method, req)
		}
	})
	url = serveHTTP(t, newEras(func(*http.Request) *sdk.Server { return patient.sdk }, HTTPOptions{}))
	for _, version := range []string{"2025-11-25", "2026-07-28"} {
		ctx, cancel := context.WithCancel(context.Background())
		s := clientHTTP(t, url, "", version)
		go func() {
			<-arrived
			cancel()
		}()
		if _, err := s.CallTool(ctx, search); err == nil {
			t.Errorf("%s: a cancelled call succeeded", version)
		}
		if c := <-calls; c.Code == "" { // it ended although the store is still not to be had
			t.Errorf("%s: observed %+v", version, c)
		}
	}
}
