package cas

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"testing"
	"time"

	"kb/note"
)

// The test binary is also another process that has a store open: with the
// variable set it writes notes until it is killed, and says which are stored.
const writerEnv = "KB_CAS_TEST_WRITER"

func TestMain(m *testing.M) {
	if dir := os.Getenv(writerEnv); dir != "" {
		writeForever(dir)
	}
	os.Exit(m.Run())
}

func writeForever(dir string) {
	// What the store says goes to the test's own output: it tells why a round lost something.
	s, err := Open(dir, func(format string, args ...any) { fmt.Fprintf(os.Stderr, "writer: "+format+"\n", args...) })
	if err != nil {
		fmt.Println("open:", err)
		os.Exit(1)
	}
	r, err := s.Recipe("test/1")
	if err != nil {
		fmt.Println("recipe:", err)
		os.Exit(1)
	}
	fmt.Println("open")
	start := 0
	fmt.Sscan(os.Getenv(writerEnv+"_START"), &start)
	for i := start; ; i++ {
		batch := map[note.ID]*note.Note{}
		for j := range 10 {
			id, n := testNote(10*i + j)
			batch[id] = n
		}
		if err := s.PutNotes(r, batch); err != nil {
			fmt.Println("put:", err)
			os.Exit(1)
		}
		fmt.Println("stored", i)
	}
}

// testNote returns the i-th of many notes.
func testNote(i int) (note.ID, *note.Note) {
	src := fmt.Appendf(nil, "note %d", i)
	return note.Hash(src), &note.Note{Title: string(src), Words: i, Tags: []string{"a", "b"}}
}

func startWriter(t *testing.T, dir string, start int) (*exec.Cmd, *bufio.Scanner) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), writerEnv+"="+dir, fmt.Sprintf("%s_START=%d", writerEnv, start))
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill() })
	return cmd, bufio.NewScanner(out)
}

// clock is a time that a test sets.
type clock struct{ t time.Time }

func (c *clock) now() time.Time { return c.t }

func newClock() *clock { return &clock{time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)} }

// openTest opens a store whose faults fail the test when it ends.
func openTest(t testing.TB, dir string, c *clock) *Store {
	t.Helper()
	s, err := open(dir, t.Logf, c.now)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if faults, err := s.Verify(t.Context()); err == nil && len(faults) > 0 {
			t.Errorf("Verify: %v", faults)
		}
		s.Close()
	})
	return s
}

func testRecipe(t testing.TB, s *Store, name string) RecipeID {
	t.Helper()
	r, err := s.Recipe(name)
	if err != nil {
		t.Fatal(err)
	}
	return r
}
