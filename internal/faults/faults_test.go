//go:build linux && amd64

package faults

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// The test binary is also the program whose writes break.
const programEnv = "KB_FAULTS_TEST_PROGRAM"

func TestMain(m *testing.M) {
	if dir := os.Getenv(programEnv); dir != "" {
		if err := program(dir); err != nil {
			fmt.Println(err)
			os.Exit(3)
		}
		fmt.Println("done")
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// program writes a file beside its place, and moves it there.
func program(dir string) error {
	tmp := filepath.Join(dir, "tmp")
	f, err := os.Create(tmp)
	if err != nil {
		return err
	}
	if _, err = f.WriteString("text"); err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	if err := os.Rename(tmp, filepath.Join(dir, "file")); err != nil {
		return err
	}
	l, err := net.Listen("unix", filepath.Join(dir, "socket"))
	if err != nil {
		return err
	}
	return errors.Join(l.Close(), os.Mkdir(filepath.Join(dir, "dir"), 0o700))
}

// watched runs the program in dir, with a fault of one call.
func watched(t *testing.T, dir, call string, f Fault) (said string, writes []string, status syscall.WaitStatus) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), programEnv+"="+dir)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	status, err := Run(cmd, func(w Write) Fault {
		name, below := strings.CutPrefix(w.Path, dir+"/")
		if !below {
			return None
		}
		writes = append(writes, w.Call+" "+name)
		if w.Call+" "+name == call {
			return f
		}
		return None
	})
	if errors.Is(err, ErrUnavailable) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return out.String(), writes, status
}

func TestRun(t *testing.T) {
	t.Parallel()
	said, writes, status := watched(t, t.TempDir(), "", None)
	want := []string{"create tmp", "write tmp", "sync tmp", "rename file", "bind socket", "remove socket", "mkdir dir"}
	if !slices.Equal(writes, want) || said != "done\n" || !status.Exited() || status.ExitStatus() != 0 {
		t.Errorf("writes %q, want %q; it said %q and ended with %v", writes, want, said, status)
	}
}

func TestFaults(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		call  string
		fault Fault
		said  string // "" when it is killed
		left  string // files
	}{
		{"create tmp", Failed, "input/output error", ""},
		{"create tmp", KilledDone, "", "tmp="},
		{"write tmp", Failed, "input/output error", "tmp="},
		{"write tmp", FailedDone, "input/output error", "tmp=text"},
		{"write tmp", Killed, "", "tmp="},
		{"write tmp", KilledDone, "", "tmp=text"},
		{"sync tmp", FailedDone, "input/output error", "tmp=text"},
		{"rename file", Failed, "input/output error", "tmp=text"},
		{"rename file", FailedDone, "input/output error", "file=text"},
		{"rename file", Killed, "", "tmp=text"},
		{"rename file", KilledDone, "", "file=text"},
		{"bind socket", Failed, "input/output error", "file=text"},
		{"mkdir dir", Failed, "input/output error", "file=text"},
	} {
		t.Run(fmt.Sprint(c.call, " ", c.fault), func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			said, writes, status := watched(t, dir, c.call, c.fault)
			if writes[len(writes)-1] != c.call && c.call != "bind socket" {
				t.Errorf("it went on: %q", writes)
			}
			if killed := status.Signaled() && status.Signal() == syscall.SIGKILL; killed != (c.said == "") || !strings.Contains(said, c.said) {
				t.Errorf("it said %q and ended with %#x", said, int(status))
			}
			var left []string
			entries, _ := os.ReadDir(dir)
			for _, e := range entries {
				b, _ := os.ReadFile(filepath.Join(dir, e.Name()))
				left = append(left, e.Name()+"="+string(b))
			}
			if got := strings.Join(left, " "); got != c.left {
				t.Errorf("left %q, want %q", got, c.left)
			}
		})
	}
}
