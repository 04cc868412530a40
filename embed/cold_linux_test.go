//go:build linux && (amd64 || arm64)

package embed

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"
)

// TestColdFigures prints how long it takes to open 99,000 vectors and answer one
// query, with the files in the system's cache and after it dropped them.
func TestColdFigures(t *testing.T) {
	if os.Getenv("KB_LONG") == "" {
		t.Skip("long: KB_LONG=1 runs it")
	}
	m, facts, dir, ids := filled(t)
	query := randomUnit(rand.New(rand.NewPCG(3, 4)))
	var open, first, busy [2][]time.Duration
	for i := range 20 {
		if i%2 == 1 {
			dropCache(t, filepath.Join(dir, "vec"))
		}
		start, before := time.Now(), processorTime(t)
		x, err := New(facts, filepath.Join(dir, "vec"), m)
		if err != nil {
			t.Fatal(err)
		}
		v := mustView(t, x, ids)
		opened := time.Since(start)
		if _, err := v.Nearest(t.Context(), v.Toward(query), 200, nil, nil); err != nil {
			t.Fatal(err)
		}
		open[i%2], first[i%2] = append(open[i%2], opened), append(first[i%2], time.Since(start))
		busy[i%2] = append(busy[i%2], processorTime(t)-before)
		x.Close()
	}
	for i, name := range []string{"in the cache", "not in the cache"} {
		slices.Sort(open[i])
		slices.Sort(first[i])
		slices.Sort(busy[i])
		t.Logf("%s: opened in %v (least %v), answered in %v (least %v), processor time %v (least %v)", name, open[i][5], open[i][0], first[i][5], first[i][0], busy[i][5], busy[i][0])
	}
}

// processorTime is how long this process has had a processor.
func processorTime(t *testing.T) time.Duration {
	t.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// dropCache lets the system forget what it has read of the files below dir.
func dropCache(t *testing.T, dir string) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "*", "*"))
	if err != nil || len(names) == 0 {
		t.Fatal("no files", err)
	}
	for _, name := range names {
		f, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		const dontNeed = 4
		_, _, errno := syscall.Syscall6(syscall.SYS_FADVISE64, f.Fd(), 0, 0, dontNeed, 0, 0)
		f.Close()
		if errno != 0 {
			t.Fatal(errno)
		}
	}
}
