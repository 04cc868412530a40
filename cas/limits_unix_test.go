//go:build unix

package cas

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// limitFiles lowers how long a file can be, until the test ends.
func limitFiles(t *testing.T, size uint64) (restore func()) {
	t.Helper()
	var old unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_FSIZE, &old); err != nil {
		t.Fatal(err)
	}
	lower := old
	lower.Cur = size
	if err := unix.Setrlimit(unix.RLIMIT_FSIZE, &lower); err != nil {
		t.Fatal(err)
	}
	restore = func() { unix.Setrlimit(unix.RLIMIT_FSIZE, &old) }
	t.Cleanup(restore)
	return restore
}

// Where there is no room a store says so, keeps what it has, and goes on when there is.
func TestFull(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "facts")
	s := openTest(t, dir, newClock())
	r := testRecipe(t, s, "r/1")
	before, after := WorkTree.Key(r, []byte("before")), WorkTree.Key(r, []byte("after"))
	big := bytes.Repeat([]byte("x"), 3*pieceSize)
	if err := s.Put(Fact{before, big}); err != nil {
		t.Fatal(err)
	}
	restore := limitFiles(t, 1<<20)
	if err := s.Put(Fact{after, big}); !errors.Is(err, ErrFull) {
		t.Errorf("Put: %v, want ErrFull", err)
	}
	if _, err := s.Recipe("r/2"); !errors.Is(err, ErrFull) {
		t.Errorf("Recipe: %v, want ErrFull", err)
	}
	if _, err := Open(dir+"2", nil); !errors.Is(err, ErrFull) {
		t.Errorf("Open: %v, want ErrFull", err)
	}
	if b, ok, err := s.Get(before); !ok || err != nil || !bytes.Equal(b, big) {
		t.Errorf("Get on a full disk = %d bytes, %v, %v", len(b), ok, err)
	}
	if _, ok, err := s.Get(after); ok || err != nil {
		t.Errorf("what was refused is there, %v", err)
	}
	restore()
	if err := s.Put(Fact{after, big}); err != nil {
		t.Errorf("Put with room again: %v", err)
	}
}

// A store that has no room to be closed keeps its lock: its files are in use.
func TestCloseWhenFull(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "facts")
	s, err := Open(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	restore := limitFiles(t, 1<<20)
	if err := s.Close(); !errors.Is(err, ErrFull) {
		t.Errorf("Close: %v, want ErrFull", err)
	}
	restore()
	runtime.GC()
	f, err := os.Open(dir + ".lock")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := lockFile(f); !errors.Is(err, ErrLocked) {
		t.Errorf("the lock: %v, want ErrLocked", err)
	}
	if _, err := Open(dir, nil); !errors.Is(err, ErrLocked) {
		t.Errorf("Open: %v, want ErrLocked", err)
	}
	if err := s.Close(); err != nil {
		t.Errorf("second Close: %v", err)
	}
}

func TestRoom(t *testing.T) {
	space, _, err := free(t.TempDir())
	if err != nil || space == 0 {
		t.Fatalf("free = %d, %v", space, err)
	}
	if err := roomToWrite(t.TempDir(), int(space)); !errors.Is(err, ErrFull) {
		t.Errorf("room for all there is: %v, want ErrFull", err)
	}
	if err := roomToWrite(t.TempDir(), 0); err != nil {
		t.Errorf("room for nothing: %v", err)
	}
}

func TestReadOnly(t *testing.T) {
	if os.Getuid() == 0 {
		runAsNobody(t)
		return
	}
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o500); err != nil {
		t.Fatal(err)
	}
	defer os.Chmod(dir, 0o700)
	for _, d := range []string{dir, filepath.Join(dir, "facts")} {
		if _, err := Open(d, nil); !errors.Is(err, ErrReadOnly) {
			t.Errorf("%s: error = %v, want ErrReadOnly", d, err)
		}
	}
}

// runAsNobody runs the calling test in a process to which modes matter.
func runAsNobody(t *testing.T) {
	t.Helper()
	tmp, err := os.MkdirTemp("", "kb-cas-*")
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
