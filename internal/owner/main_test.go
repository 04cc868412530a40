package owner

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gofrs/flock"
)

// The test binary is also the other processes: with the role set it is a node
// that obeys commands from stdin.
const (
	roleEnv    = "KB_OWNER_TEST_DIR"
	versionEnv = "KB_OWNER_TEST_VERSION"
	schemaEnv  = "KB_OWNER_TEST_SCHEMA"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(roleEnv); dir != "" {
		childMain(dir)
		return
	}
	os.Exit(m.Run())
}

func childMain(dir string) {
	cfg := config(dir)
	cfg.Version = os.Getenv(versionEnv)
	fmt.Sscan(os.Getenv(schemaEnv), &cfg.Schema)
	n := New(cfg)
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		switch in.Text() {
		case "own":
			ok, err := n.Own(context.Background())
			fmt.Println("own", ok, err)
		case "run":
			go keepCalling(n)
		case "stop":
			close(stopCalling)
			<-stoppedCalling
		case "close":
			fmt.Println("close", n.Close())
		}
	}
	if err := n.Close(); err != nil {
		fmt.Println("error", err)
	}
}

var stopCalling, stoppedCalling = make(chan struct{}), make(chan struct{})

// keepCalling makes at least a hundred calls, and checks the answer of each.
func keepCalling(n *Node) {
	defer close(stoppedCalling)
	for i := 0; ; i++ {
		select {
		case <-stopCalling:
			if i >= 100 {
				fmt.Println("done", i)
				return
			}
		default:
		}
		want := fmt.Sprintf(`{"pid":%d,"i":%d}`, os.Getpid(), i)
		got, err := n.Call(context.Background(), Call{Method: "echo", Params: json.RawMessage(want), Repeatable: true})
		if err != nil || string(got) != want {
			fmt.Println("error", i, string(got), err)
			return
		}
		if i%5 == 0 {
			fmt.Println("tick", i)
		}
	}
}

// child is another process with a node.
type child struct {
	t     *testing.T
	cmd   *exec.Cmd
	in    io.WriteCloser
	lines chan string   // what it says, closed at its end
	ticks chan struct{} // gets one when the child made progress
}

func startChild(t *testing.T, dir, version string, schema int) *child {
	t.Helper()
	c := &child{t: t, cmd: exec.Command(os.Args[0]), lines: make(chan string, 100), ticks: make(chan struct{}, 1)}
	c.cmd.Env = append(os.Environ(), roleEnv+"="+dir, versionEnv+"="+version, fmt.Sprintf("%s=%d", schemaEnv, schema))
	c.cmd.Stderr = os.Stderr
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if c.in, err = c.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if err := c.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(c.lines)
		for s := bufio.NewScanner(out); s.Scan(); {
			if !strings.HasPrefix(s.Text(), "tick") {
				c.lines <- s.Text()
				continue
			}
			select {
			case c.ticks <- struct{}{}:
			default:
			}
		}
	}()
	t.Cleanup(func() { c.kill() })
	return c
}

func (c *child) say(command string) { fmt.Fprintln(c.in, command) }

// expect reads lines until one begins with prefix.
func (c *child) expect(prefix string) string {
	c.t.Helper()
	timeout := time.After(30 * time.Second)
	for {
		select {
		case line, ok := <-c.lines:
			if !ok {
				c.t.Fatalf("child %d ended, want %q", c.cmd.Process.Pid, prefix)
			}
			if strings.HasPrefix(line, prefix) {
				return line
			}
			if strings.HasPrefix(line, "error") {
				c.t.Fatalf("child %d: %s", c.cmd.Process.Pid, line)
			}
		case <-timeout:
			c.t.Fatalf("child %d does not say %q", c.cmd.Process.Pid, prefix)
		}
	}
}

func (c *child) awaitTick() {
	c.t.Helper()
	select {
	case <-c.ticks:
	case <-time.After(30 * time.Second):
		c.t.Fatalf("child %d makes no progress", c.cmd.Process.Pid)
	}
}

func (c *child) kill() {
	c.cmd.Process.Kill()
	for range c.lines { // the pipe is read to its end before Wait closes it
	}
	c.cmd.Wait()
}

// finish lets the child end by itself, and well.
func (c *child) finish() {
	c.t.Helper()
	c.in.Close()
	for line := range c.lines {
		if strings.HasPrefix(line, "error") {
			c.t.Errorf("child: %s", line)
		}
	}
	if err := c.cmd.Wait(); err != nil {
		c.t.Errorf("child: %v", err)
	}
}

// config describes a node whose store is a lock: a second owner is an error
// that a caller gets.
func config(dir string) Config {
	return Config{
		Dir: dir, ID: filepath.Base(dir), Version: "v1.0.0", Schema: 1,
		Patience: 5 * time.Second, Drain: 5 * time.Second,
		Start: func(context.Context) (Handler, io.Closer, error) {
			store := flock.New(filepath.Join(dir, "store"))
			ok, err := store.TryLock()
			if err == nil && !ok {
				err = errors.New("two owners")
			}
			return handle, store, err
		},
	}
}

func handle(ctx context.Context, method string, params json.RawMessage, progress Progress) (json.RawMessage, error) {
	switch method {
	case "echo":
		return params, nil
	case "pid":
		return fmt.Append(nil, os.Getpid()), nil
	case "block":
		progress(1, 2, "blocked")
		<-ctx.Done()
		return nil, ctx.Err()
	case "silent":
		fmt.Println("silent")
		<-ctx.Done()
		return nil, ctx.Err()
	case "fail":
		return nil, fmt.Errorf("handler: %w", &RemoteError{Code: "not_found", Message: "no such note", Hint: "look again"})
	case "plain":
		return nil, io.ErrUnexpectedEOF
	case "panic":
		panic("boom")
	case "nothing":
		return nil, nil
	case "garbage":
		return json.RawMessage(`{"a":`), nil
	case "progress":
		for i := range int64(3) {
			progress(i, 3, fmt.Sprint("step ", i))
		}
		return json.RawMessage(`"ok"`), nil
	}
	return nil, fmt.Errorf("unknown method %s", method)
}
