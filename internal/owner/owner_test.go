package owner

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/gofrs/flock"
	"github.com/google/go-cmp/cmp"
)

// pair returns a node that is the owner and one that is not.
func pair(t *testing.T) (first, second *Node) {
	t.Helper()
	dir := t.TempDir()
	first, second = node(t, config(dir)), node(t, config(dir))
	if ok, err := first.Own(t.Context()); !ok || err != nil {
		t.Fatalf("Own = %v, %v, want true", ok, err)
	}
	return first, second
}

func node(t *testing.T, cfg Config) *Node {
	n := New(cfg)
	t.Cleanup(func() { n.Close() })
	return n
}

// Whatever a handler does is the same to a caller in its process and in another.
func TestCallSameFromEverywhere(t *testing.T) {
	first, second := pair(t)
	big := json.RawMessage(`"` + strings.Repeat("x", 5<<20) + `"`)
	tests := []struct {
		call Call
		want string
		code string
	}{
		{Call{Method: "echo", Params: json.RawMessage(`{"a": [1,  2]}`)}, `{"a": [1,  2]}`, ""},
		{Call{Method: "echo", Params: json.RawMessage("{\n\"a\":1\n}")}, "{\n\"a\":1\n}", ""},
		{Call{Method: "echo", Params: big}, string(big), ""},
		{Call{Method: "nothing"}, `null`, ""},
		{Call{Method: "fail"}, "no such note", "not_found"},
		{Call{Method: "plain"}, "unexpected EOF", "internal"},
		{Call{Method: "panic"}, "panic: panic: boom", "internal"},
		{Call{Method: "garbage"}, "garbage: the result is not JSON", "internal"},
	}
	for where, n := range map[string]*Node{"owner": first, "other": second} {
		for _, tt := range tests {
			got, err := n.Call(t.Context(), tt.call)
			if tt.code == "" {
				if err != nil || string(got) != tt.want {
					t.Errorf("%s: Call(%s) = %.60s, %v, want %.60s", where, tt.call.Method, got, err, tt.want)
				}
				continue
			}
			var e *RemoteError
			if !errors.As(err, &e) || e.Code != tt.code || e.Message != tt.want {
				t.Errorf("%s: Call(%s) error = %v, want code %s, %q", where, tt.call.Method, err, tt.code, tt.want)
			}
		}
	}
	_, err := first.Call(t.Context(), Call{Method: "plain"})
	if !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("in the owner the error %v does not wrap the handler's", err)
	}
}

func TestProgress(t *testing.T) {
	first, second := pair(t)
	for _, n := range []*Node{first, second} {
		var got []progress
		_, err := n.Call(t.Context(), Call{Method: "progress", Progress: func(done, total int64, m string) {
			got = append(got, progress{done, total, m})
		}})
		want := []progress{{0, 3, "step 0"}, {1, 3, "step 1"}, {2, 3, "step 2"}}
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("progress, error %v (-want +got):\n%s", err, diff)
		}
	}
}

func TestParamsTooLarge(t *testing.T) {
	_, second := pair(t)
	_, err := second.Call(t.Context(), Call{Method: "echo", Params: make([]byte, MaxParams+1)})
	if !errors.Is(err, ErrTooLarge) {
		t.Errorf("error = %v, want ErrTooLarge", err)
	}
	b, _ := readBeacon(second.cfg.Dir)
	tr := second.transport(b)
	resp, err := tr.RoundTrip(second.request(t.Context(), b, Call{Method: "echo", Params: make([]byte, MaxParams+1)}))
	if err != nil || resp.StatusCode != 413 {
		t.Errorf("the owner answers %v, %v, want status 413", resp, err)
	}
}

func TestCancelReachesHandler(t *testing.T) {
	dir := t.TempDir()
	cfg := config(dir)
	cancelled := make(chan error, 1)
	cfg.Start = func(context.Context) (Handler, io.Closer, error) {
		return func(ctx context.Context, m string, p json.RawMessage, progress Progress) (json.RawMessage, error) {
			r, err := handle(ctx, m, p, progress)
			cancelled <- err
			return r, err
		}, io.NopCloser(nil), nil
	}
	first, second := node(t, cfg), node(t, cfg)
	first.Own(t.Context())
	for _, n := range []*Node{first, second} {
		ctx, cancel := context.WithCancel(t.Context())
		_, err := n.Call(ctx, Call{Method: "block", Progress: func(int64, int64, string) { cancel() }})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("error = %v, want context.Canceled", err)
		}
		if err := <-cancelled; !errors.Is(err, context.Canceled) {
			t.Errorf("the handler ends with %v, want context.Canceled", err)
		}
	}
}

func TestOwnerInfo(t *testing.T) {
	first, second := pair(t)
	for n, self := range map[*Node]bool{first: true, second: false} {
		got, ok := n.Owner()
		if !ok || got.PID != os.Getpid() || got.Version != "v1.0.0" || got.Self != self || got.Started.IsZero() {
			t.Errorf("Owner = %+v, %v, want this process, self %v", got, ok, self)
		}
	}
	if ok, err := second.Own(t.Context()); ok || err != nil {
		t.Errorf("Own of the second = %v, %v, want false", ok, err)
	}
}

// When the owner leaves, another takes over, and nothing is left behind.
func TestCloseAndTakeOver(t *testing.T) {
	first, second := pair(t)
	b, _ := readBeacon(first.cfg.Dir)
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	if _, ok := second.Owner(); ok {
		t.Error("after Close there is an owner")
	}
	if _, err := os.Stat(b.Address); err == nil {
		t.Errorf("after Close the socket %s is there", b.Address)
	}
	if _, err := second.Call(t.Context(), Call{Method: "echo", Params: json.RawMessage("1")}); err != nil {
		t.Error(err)
	}
	if info, _ := second.Owner(); !info.Self {
		t.Error("the second is not the owner")
	}
	if _, err := first.Call(t.Context(), Call{Method: "echo"}); !errors.Is(err, ErrClosed) {
		t.Errorf("call after Close: %v, want ErrClosed", err)
	}
	if err := first.Close(); err != nil {
		t.Errorf("second Close: %v", err)
	}
}

// order is a store that tells whether the lock was free when it was closed.
type order struct {
	path string
	free chan bool
}

func (o order) Close() error {
	l := flock.New(o.path)
	ok, _ := l.TryLock()
	o.free <- ok
	return l.Close()
}

func TestStoreClosedBeforeLock(t *testing.T) {
	cfg := config(t.TempDir())
	o := order{filepath.Join(cfg.Dir, lockName), make(chan bool, 1)}
	cfg.Start = func(context.Context) (Handler, io.Closer, error) { return handle, o, nil }
	n := node(t, cfg)
	n.Own(t.Context())
	n.Close()
	if <-o.free {
		t.Error("the lock was free before the store was closed")
	}
	if l := flock.New(o.path); !tryLock(t, l) {
		t.Error("after Close the lock is held")
	}
}

func tryLock(t *testing.T, l *flock.Flock) bool {
	ok, err := l.TryLock()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return ok
}

// storeClosed is a store that tells when it is closed.
type storeClosed chan struct{}

func (c storeClosed) Close() error { close(c); return nil }

// The store is open for as long as a call runs that was begun before Close.
func TestStoreOutlivesCalls(t *testing.T) {
	cfg := config(t.TempDir())
	store, began, finish := make(storeClosed), make(chan struct{}), make(chan struct{})
	cfg.Start = func(context.Context) (Handler, io.Closer, error) {
		return func(context.Context, string, json.RawMessage, Progress) (json.RawMessage, error) {
			close(began)
			<-finish
			select {
			case <-store:
				return nil, errors.New("the store was closed during the call")
			default:
				return nil, nil
			}
		}, store, nil
	}
	first, second := node(t, cfg), node(t, cfg)
	first.Own(t.Context())
	called, closed := make(chan error), make(chan error)
	go func() {
		_, err := second.Call(t.Context(), Call{Method: "x"})
		called <- err
	}()
	<-began
	term, _ := first.ownTerm()
	go func() { closed <- first.Close() }()
	for ok := true; ok; { // until Close has begun
		var leave func()
		if _, leave, ok = term.calls.enter(t.Context()); ok {
			leave()
			runtime.Gosched()
		}
	}
	close(finish)
	if err := errors.Join(<-called, <-closed); err != nil {
		t.Error(err)
	}
}

// After a hand-over the older process does not grasp the lock again at once.
func TestResignDefers(t *testing.T) {
	first, second := pair(t)
	term, _ := first.ownTerm()
	first.resign(term, Info{PID: 1})
	if ok, err := first.Own(t.Context()); ok || err != nil {
		t.Errorf("Own after a hand-over = %v, %v, want false", ok, err)
	}
	if ok, err := second.Own(t.Context()); !ok || err != nil {
		t.Errorf("Own of the other = %v, %v, want true", ok, err)
	}
}

// Close lets calls finish; one that takes too long is cancelled, and then
// repeated by the next owner if it may be.
func TestCloseDuringCalls(t *testing.T) {
	for _, repeatable := range []bool{true, false} {
		cfg := config(t.TempDir())
		cfg.Drain = time.Millisecond
		first, second := node(t, cfg), node(t, cfg)
		first.Own(t.Context())
		ctx, cancel := context.WithCancel(t.Context())
		times := 0
		_, err := second.Call(ctx, Call{Method: "block", Repeatable: repeatable, Progress: func(int64, int64, string) {
			if times++; times == 2 {
				cancel()
				return
			}
			go first.Close()
		}})
		if repeatable && (!errors.Is(err, context.Canceled) || times != 2) {
			t.Errorf("repeatable: %v after %d times, want context.Canceled after 2", err, times)
		}
		if !repeatable && (!errors.Is(err, ErrLost) || times != 1) {
			t.Errorf("not repeatable: %v after %d times, want ErrLost after 1", err, times)
		}
		cancel()
	}
}

func TestStartFails(t *testing.T) {
	cfg := config(t.TempDir())
	start := cfg.Start
	fail := true
	cfg.Start = func(ctx context.Context) (Handler, io.Closer, error) {
		if fail {
			return nil, nil, io.ErrShortWrite
		}
		return start(ctx)
	}
	n := node(t, cfg)
	if _, err := n.Call(t.Context(), Call{Method: "pid"}); !errors.Is(err, io.ErrShortWrite) {
		t.Errorf("error = %v, want Start's", err)
	}
	if _, ok := n.Owner(); ok {
		t.Error("there is an owner")
	}
	fail = false
	if _, err := n.Call(t.Context(), Call{Method: "pid"}); err != nil {
		t.Errorf("second attempt: %v", err)
	}
}

// A lock whose holder does not serve: the call ends, and names it.
func TestBusy(t *testing.T) {
	cfg := config(t.TempDir())
	cfg.Patience = 20 * time.Millisecond
	if !tryLock(t, flock.New(filepath.Join(cfg.Dir, lockName))) {
		t.Fatal("the lock is held")
	}
	n := node(t, cfg)
	if _, err := n.Call(t.Context(), Call{Method: "pid"}); !errors.Is(err, ErrBusy) {
		t.Errorf("error = %v, want ErrBusy", err)
	}
	beacon{Info: Info{PID: 4711, Version: "v9.9.9"}}.write(cfg.Dir)
	_, err := n.Call(t.Context(), Call{Method: "pid"})
	if !errors.Is(err, ErrBusy) || !strings.Contains(err.Error(), "process 4711, version v9.9.9") {
		t.Errorf("error = %v, want ErrBusy that names the process", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := n.Call(ctx, Call{Method: "pid"}); !errors.Is(err, context.Canceled) {
		t.Errorf("error = %v, want context.Canceled", err)
	}
}

func TestWrongSecret(t *testing.T) {
	first, second := pair(t)
	b, _ := readBeacon(first.cfg.Dir)
	for _, secret := range []string{"", "guess"} {
		b.Secret = secret
		resp, err := second.transport(b).RoundTrip(second.request(t.Context(), b, Call{Method: "pid"}))
		if err != nil || resp.StatusCode != 403 {
			t.Errorf("secret %q: %v, %v, want status 403", secret, resp, err)
		}
	}
}

func TestFilesArePrivate(t *testing.T) {
	first, _ := pair(t)
	b, _ := readBeacon(first.cfg.Dir)
	for _, path := range []string{b.Address, first.path(beaconName), first.path(lockName)} {
		info, err := os.Stat(path)
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: mode %v, %v, want 0600", path, info.Mode(), err)
		}
	}
}

// A directory whose path is too long for a socket still has an owner that can
// be reached, also by a process with another environment.
func TestLongPath(t *testing.T) {
	t.Setenv("XDG_RUNTIME_DIR", "")
	dir := filepath.Join(t.TempDir(), strings.Repeat("long", 30))
	first, second := node(t, config(dir)), node(t, config(dir))
	first.cfg.ID, second.cfg.ID = "test-long", "test-long"
	if ok, err := first.Own(t.Context()); !ok {
		t.Fatal(err)
	}
	b, _ := readBeacon(dir)
	if len(b.Address) > maxSocketPath || strings.HasPrefix(b.Address, dir) {
		t.Errorf("socket at %s", b.Address)
	}
	t.Setenv("TMPDIR", t.TempDir())
	t.Setenv("XDG_RUNTIME_DIR", t.TempDir())
	if got, err := second.Call(t.Context(), Call{Method: "echo", Params: json.RawMessage("1")}); string(got) != "1" {
		t.Error(string(got), err)
	}
	if info, _ := second.Owner(); info.Self {
		t.Error("the second took over")
	}
}

func TestSocketPlaces(t *testing.T) {
	run := t.TempDir()
	t.Setenv("XDG_RUNTIME_DIR", run)
	t.Setenv("TMPDIR", "/tmp")
	got := socketPaths("/cache/kb", "id")
	if len(got) != 3 || got[0] != filepath.Join(run, "kb", "id.sock") || got[1] != "/cache/kb/owner.sock" {
		t.Errorf("paths = %v", got)
	}
	t.Setenv("XDG_RUNTIME_DIR", filepath.Join(run, "missing"))
	if got := socketPaths("/cache/kb", "id"); len(got) != 2 {
		t.Errorf("without the runtime directory: %v", got)
	}
	if got := socketPaths("/"+strings.Repeat("x", 100), "id"); len(got) != 1 {
		t.Errorf("with a long directory: %v", got)
	}
}

// Where no Unix socket can be, the loopback interface serves.
func TestLoopback(t *testing.T) {
	blocked := filepath.Join(t.TempDir(), "file")
	os.WriteFile(blocked, nil, 0o600)
	t.Setenv("XDG_RUNTIME_DIR", "")
	t.Setenv("TMPDIR", blocked)
	dir := filepath.Join(filepath.Dir(blocked), strings.Repeat("long", 30))
	first, second := node(t, config(dir)), node(t, config(dir))
	if ok, err := first.Own(t.Context()); !ok {
		t.Fatal(err)
	}
	if b, _ := readBeacon(dir); b.Network != "tcp" {
		t.Errorf("beacon = %+v, want tcp", b)
	}
	if got, err := second.Call(t.Context(), Call{Method: "echo", Params: json.RawMessage("1")}); string(got) != "1" {
		t.Error(string(got), err)
	}
}

// What a killed owner leaves does not keep the next from its place, nor from
// being reached there.
func TestStaleFiles(t *testing.T) {
	dir := t.TempDir()
	stale := filepath.Join(dir, "stale.sock")
	left, err := net.ListenUnix("unix", &net.UnixAddr{Name: stale, Net: "unix"})
	if err != nil {
		t.Skip(err) // no such sockets here
	}
	left.SetUnlinkOnClose(false)
	left.Close()
	os.WriteFile(filepath.Join(dir, socketName), nil, 0o600)
	beacon{Info: Info{PID: 1}, Network: "unix", Address: stale, Secret: "x", Protocol: protocol}.write(dir)
	first, second := node(t, config(dir)), node(t, config(dir))
	for _, n := range []*Node{first, second} {
		if got, err := n.Call(t.Context(), Call{Method: "echo", Params: json.RawMessage("1")}); string(got) != "1" {
			t.Error(string(got), err)
		}
	}
	if _, err := os.Stat(stale); err == nil {
		t.Error("the stale socket is there")
	}
	beaconFile := filepath.Join(dir, beaconName)
	first.Close()
	os.WriteFile(beaconFile, []byte("{garbage"), 0o600)
	if _, err := second.Call(t.Context(), Call{Method: "pid"}); err != nil {
		t.Errorf("with a damaged %s: %v", beaconName, err)
	}
}

func TestNewer(t *testing.T) {
	tests := []struct {
		a, b string
		want bool
	}{
		{"v1.2.3", "v1.2.2", true}, {"v1.10.0", "v1.9.9", true}, {"2.0.0", "v1.9.9", true},
		{"v1.2.3", "v1.2.3", false}, {"v1.2.2", "v1.2.3", false}, {"v1.2.3-rc1", "v1.2.3", false},
		{"devel", "v1.0.0", false}, {"v1.0.0", "devel", false}, {"", "", false}, {"v1.2", "v1.1", false},
		{"v1.-2.0", "v1.0.0", false},
	}
	for _, tt := range tests {
		if got := newerVersion(tt.a, tt.b); got != tt.want {
			t.Errorf("newerVersion(%q, %q) = %v, want %v", tt.a, tt.b, got, tt.want)
		}
	}
	if !newer(2, Info{}, 1, Info{Schema: 9}) || !newer(1, Info{Schema: 2}, 1, Info{Schema: 1, Version: "v9.0.0"}) {
		t.Error("protocol goes before schema, and schema before version")
	}
}

func BenchmarkForward(b *testing.B) {
	dir := b.TempDir()
	first, second := New(config(dir)), New(config(dir))
	defer first.Close()
	first.Own(b.Context())
	c := Call{Method: "echo", Params: bytes.Repeat([]byte("1"), 1000), Repeatable: true}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := second.Call(b.Context(), c); err != nil {
			b.Fatal(err)
		}
	}
}
