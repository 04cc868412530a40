package journal

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// Lines are whole and in order, files turn over at their limit, and no more are
// kept than wanted.
func TestJournal(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log", "kb.log")
	j, err := Open(path, 1000, 2)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 100 {
		if _, err := fmt.Fprintf(j, "line %03d %s\n", i, strings.Repeat("x", 40)); err != nil {
			t.Fatal(err)
		}
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(path + "*")
	if err != nil || len(files) != 4 { // with the lock
		t.Errorf("files: %v %v", files, err)
	}
	for _, f := range files {
		if info, err := os.Stat(f); err != nil || info.Size() > 1000 || info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s: %v %v", f, info, err)
		}
	}
	lines, err := Tail(path, 30)
	if err != nil || len(lines) != 30 {
		t.Fatalf("%d lines, %v", len(lines), err)
	}
	for i, line := range lines {
		if want := fmt.Sprintf("line %03d ", 70+i); !strings.HasPrefix(line, want) {
			t.Errorf("%q, want %q", line, want)
		}
	}
	if lines, err := Tail(filepath.Join(t.TempDir(), "none"), 5); err != nil || len(lines) != 0 {
		t.Errorf("%v %v", lines, err)
	}
}

// Several writers lose and mix nothing, whoever turns the file over.
func TestManyWriters(t *testing.T) {
	path := filepath.Join(t.TempDir(), "kb.log")
	var wg sync.WaitGroup
	for w := range 6 {
		wg.Go(func() {
			j, err := Open(path, 2000, 100)
			if err != nil {
				t.Error(err)
				return
			}
			for i := range 50 {
				if _, err := fmt.Fprintf(j, "writer %d line %02d %s.\n", w, i, strings.Repeat("y", 30)); err != nil {
					t.Error(err)
				}
			}
			if err := j.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	lines, err := Tail(path, 1000)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, line := range lines {
		var w, i int
		if _, err := fmt.Sscanf(line, "writer %d line %d", &w, &i); err != nil || !strings.HasSuffix(line, "y.") {
			t.Errorf("line %q: %v", line, err)
		}
		seen[fmt.Sprint(w, " ", i)] = true
	}
	if len(seen) != 300 {
		t.Errorf("%d of 300 lines", len(seen))
	}
	if files, err := filepath.Glob(path + ".[0-9]*"); err != nil || len(files) < 5 {
		t.Errorf("files: %v %v", files, err)
	}
}

// A file that was removed under a writer is made anew.
func TestRemoved(t *testing.T) {
	path := filepath.Join(t.TempDir(), "kb.log")
	j, err := Open(path, 1000, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	fmt.Fprintln(j, "one")
	if err := os.Remove(path); err != nil {
		t.Skip(err) // some systems remove no file that is open
	}
	fmt.Fprintln(j, "two")
	if lines, err := Tail(path, 5); err != nil || len(lines) != 1 || lines[0] != "two" {
		t.Errorf("%v %v", lines, err)
	}
}
