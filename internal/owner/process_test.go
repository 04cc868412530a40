//go:build unix

package owner

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gofrs/flock"
)

// Eight processes call without end while whoever is the owner is killed ten
// times: no call fails or is answered wrongly, and nothing is left behind.
func TestOwnerKilled(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("XDG_RUNTIME_DIR", "")
	children := map[int]*child{}
	start := func() {
		c := startChild(t, dir, "v1.0.0", 1)
		children[c.cmd.Process.Pid] = c
		c.say("run")
	}
	for range 8 {
		start()
	}
	for killed := 0; killed < 10; {
		for _, c := range children {
			c.awaitTick()
		}
		b, err := readBeacon(dir)
		if err != nil || children[b.PID] == nil || b.Address == "" {
			continue // the next owner is being elected
		}
		children[b.PID].kill()
		delete(children, b.PID)
		killed++
		start()
	}
	for _, c := range children {
		c.say("stop")
	}
	for _, c := range children {
		c.expect("done")
	}
	for _, c := range children {
		c.finish()
	}
	assertNothingLeft(t, dir)
}

func assertNothingLeft(t *testing.T, dir string) {
	t.Helper()
	if l := flock.New(filepath.Join(dir, lockName)); !tryLock(t, l) {
		t.Error("the lock is held")
	}
	for _, name := range []string{beaconName, socketName} {
		if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
			t.Errorf("%s is left", name)
		}
	}
}

// A newer process takes over from an older one, which then asks it.
func TestHandOver(t *testing.T) {
	dir := t.TempDir()
	old := startChild(t, dir, "v0.9.0", 1)
	old.say("own")
	old.expect("own true")
	n := node(t, config(dir))
	if got, err := n.Call(t.Context(), Call{Method: "pid"}); err != nil || string(got) == "" {
		t.Fatal(string(got), err)
	}
	if info, _ := n.Owner(); !info.Self {
		t.Errorf("owner = %+v, want this process", info)
	}
	old.say("run")
	old.awaitTick()
	if info, _ := n.Owner(); !info.Self {
		t.Errorf("owner = %+v, want this process still", info)
	}
	old.say("stop")
	old.finish()
}

// An older process is told to restart when the owner's schema is another.
func TestOutdated(t *testing.T) {
	dir := t.TempDir()
	newer := startChild(t, dir, "v1.0.0", 2)
	newer.say("own")
	newer.expect("own true")
	_, err := node(t, config(dir)).Call(t.Context(), Call{Method: "pid"})
	if !errors.Is(err, ErrOutdated) {
		t.Errorf("error = %v, want ErrOutdated", err)
	}
	newer.say("close")
	newer.expect("close <nil>")
	newer.finish()
}

// An owner that is frozen does not freeze its callers, and serves them when it
// goes on.
func TestFrozenOwner(t *testing.T) {
	dir := t.TempDir()
	c := startChild(t, dir, "v1.0.0", 1)
	c.say("own")
	c.expect("own true")
	freeze(t, c)
	cfg := config(dir)
	cfg.Patience = 50 * time.Millisecond
	n := node(t, cfg)
	if _, err := n.Call(t.Context(), Call{Method: "pid"}); !errors.Is(err, ErrBusy) {
		t.Errorf("error = %v, want ErrBusy", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if _, err := n.Call(ctx, Call{Method: "pid"}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error = %v, want context.DeadlineExceeded", err)
	}
	c.cmd.Process.Signal(syscall.SIGCONT)
	n.cfg.Patience = 10 * time.Second
	if got, err := n.Call(t.Context(), Call{Method: "echo", Params: json.RawMessage("1")}); string(got) != "1" {
		t.Error(string(got), err)
	}
	c.finish()
}

// freeze stops a child, and returns when it has stopped.
func freeze(t *testing.T, c *child) {
	t.Helper()
	pid := c.cmd.Process.Pid
	var status syscall.WaitStatus
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	if _, err := syscall.Wait4(pid, &status, syscall.WUNTRACED, nil); err != nil || !status.Stopped() {
		t.Fatalf("child %d: status %v, %v, want stopped", pid, status, err)
	}
}

// A call that may not be repeated is not, when its owner is killed.
func TestKilledDuringCall(t *testing.T) {
	for _, repeatable := range []bool{true, false} {
		dir := t.TempDir()
		c := startChild(t, dir, "v1.0.0", 1)
		c.say("own")
		c.expect("own true")
		n := node(t, config(dir))
		ctx, cancel := context.WithCancel(t.Context())
		times := 0
		_, err := n.Call(ctx, Call{Method: "block", Repeatable: repeatable, Progress: func(int64, int64, string) {
			if times++; times == 1 {
				c.kill()
			} else {
				cancel()
			}
		}})
		want := ErrLost
		if repeatable {
			want = context.Canceled // by the second progress, in this process
		}
		if !errors.Is(err, want) {
			t.Errorf("repeatable %v: error = %v after %d times, want %v", repeatable, err, times, want)
		}
		cancel()
	}
}

// So it is when the handler had said nothing yet.
func TestKilledDuringSilentCall(t *testing.T) {
	dir := t.TempDir()
	c := startChild(t, dir, "v1.0.0", 1)
	c.say("own")
	c.expect("own true")
	n := node(t, config(dir))
	done := make(chan error)
	go func() {
		_, err := n.Call(t.Context(), Call{Method: "silent"})
		done <- err
	}()
	c.expect("silent")
	c.kill()
	if err := <-done; !errors.Is(err, ErrLost) {
		t.Errorf("error = %v, want ErrLost", err)
	}
}

// A directory that this process cannot write has no owner in it, but one that
// another process owns serves it.
func TestReadOnlyDirectory(t *testing.T) {
	if os.Getuid() == 0 {
		runAsNobody(t)
		return
	}
	dir := t.TempDir()
	for _, name := range []string{"", "locked"} {
		sub := filepath.Join(dir, name)
		os.MkdirAll(sub, 0o700)
		if name == "locked" {
			os.WriteFile(filepath.Join(sub, lockName), nil, 0o600)
		}
		os.Chmod(sub, 0o500)
		defer os.Chmod(sub, 0o700)
		for _, d := range []string{sub, filepath.Join(sub, "missing")} {
			if _, err := node(t, config(d)).Call(t.Context(), Call{Method: "pid"}); !errors.Is(err, ErrReadOnly) {
				t.Errorf("%s: error = %v, want ErrReadOnly", d, err)
			}
		}
		os.Chmod(sub, 0o700)
	}
}

// runAsNobody runs the calling test in a process to which modes matter.
func runAsNobody(t *testing.T) {
	t.Helper()
	tmp, err := os.MkdirTemp("", "kb-owner-*")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(tmp)
	bin := filepath.Join(tmp, "test")
	data, err := os.ReadFile(os.Args[0])
	if err == nil {
		err = errors.Join(os.WriteFile(bin, data, 0o755), os.Chmod(tmp, 0o777))
	}
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(bin, "-test.run=^"+t.Name()+"$", "-test.v")
	cmd.Dir, cmd.Env = tmp, append(os.Environ(), "TMPDIR="+tmp)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "--- PASS") {
		t.Errorf("as nobody: %v\n%s", err, out)
	}
}
