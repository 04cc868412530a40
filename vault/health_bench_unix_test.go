//go:build unix

package vault_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"kb/internal/vaulttest"
	"kb/vault"
)

// What a check of all notes costs: of notes that are indexed, by a new process; of a
// view that was checked before; of one in which one note is another; and of one in
// which a note came or went. cpu-ms is the time of all threads, which depends little
// on what else the machine does.
func BenchmarkHealth(b *testing.B) {
	for _, size := range []int{500, 5000, 38_430} {
		dir, cache := firstNotes(b, size), b.TempDir()
		s := openService(b, dir, cache)
		check(b, s)
		s.Close()
		b.Run(fmt.Sprintf("%d/all", size), func(b *testing.B) {
			measure(b, func(int) func() {
				s := openService(b, dir, cache)
				b.Cleanup(func() { s.Close() })
				return func() { check(b, s); b.StopTimer(); s.Close(); b.StartTimer() }
			})
		})
		s = openService(b, dir, cache)
		check(b, s)
		b.Run(fmt.Sprintf("%d/again", size), func(b *testing.B) {
			measure(b, func(int) func() { return func() { check(b, s) } })
		})
		changeOne(b, dir, 0)
		check(b, s)
		b.Run(fmt.Sprintf("%d/changed", size), func(b *testing.B) {
			measure(b, func(i int) func() { changeOne(b, dir, i+1); return func() { check(b, s) } })
		})
		b.Run(fmt.Sprintf("%d/moved", size), func(b *testing.B) {
			measure(b, func(i int) func() { moveOne(b, dir, i); return func() { check(b, s) } })
		})
		s.Close()
	}
}

func check(b *testing.B, s *vault.Service) {
	b.Helper()
	do[vault.HealthResult](b, s, "kb_health", map[string]any{"at": "HEAD"})
}

func openService(b *testing.B, dir, cache string) *vault.Service {
	b.Helper()
	cfg, err := vault.LoadConfig(vault.Locate{Dir: dir, CacheDir: cache})
	if err != nil {
		b.Fatal(err)
	}
	s, err := vault.NewService(cfg, vault.Person, b.Logf)
	if err != nil {
		b.Fatal(err)
	}
	return s
}

// measure times what prepare returns.
func measure(b *testing.B, prepare func(i int) func()) {
	b.Helper()
	b.ReportAllocs()
	var cpu time.Duration
	n := 0
	for ; b.Loop(); n++ {
		b.StopTimer()
		run := prepare(n)
		before := cpuTime(b)
		b.StartTimer()
		run()
		cpu += cpuTime(b) - before
	}
	b.ReportMetric(float64(cpu.Microseconds())/1000/float64(n), "cpu-ms/op")
}

func cpuTime(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// firstNotes makes a bare repository of the first notes of tldr, with an index
// beside them.
func firstNotes(b *testing.B, size int) string {
	b.Helper()
	dir := clone(b, vaulttest.Shared(b, "data/vaults/tldr.git.tar.gz"))
	var first []string
	for line := range strings.Lines(vaulttest.Git(b, dir, "ls-tree", "-r", "HEAD")) {
		if strings.HasSuffix(line, ".md\n") && len(first) < size {
			first = append(first, line)
		}
	}
	plumb(b, dir, strings.Join(first, ""), "update-index", "--index-info")
	commitIndex(b, dir)
	return dir
}

// changeOne commits another text for one of the notes.
func changeOne(b *testing.B, dir string, i int) {
	b.Helper()
	blob := plumb(b, dir, fmt.Sprintf("# Changed\n\nFor the time number %d: [[tar]].\n", i), "hash-object", "-w", "--stdin")
	plumb(b, dir, "", "update-index", "--add", "--cacheinfo", "100644,"+blob+",pages/common/changed.md")
	commitIndex(b, dir)
}

// moveOne commits another path for one of the notes, every other time a new one.
func moveOne(b *testing.B, dir string, i int) {
	b.Helper()
	blob := plumb(b, dir, "# Moved\n\nSee [[tar]].\n", "hash-object", "-w", "--stdin")
	path := fmt.Sprintf("pages/common/moved%d.md", i/2)
	if i%2 == 0 {
		plumb(b, dir, "", "update-index", "--add", "--cacheinfo", "100644,"+blob+","+path)
	} else {
		plumb(b, dir, "0 "+strings.Repeat("0", 40)+"\t"+path+"\n", "update-index", "--index-info")
	}
	commitIndex(b, dir)
}

func commitIndex(b *testing.B, dir string) {
	b.Helper()
	commit := plumb(b, dir, "", "commit-tree", plumb(b, dir, "", "write-tree"), "-p", "HEAD", "-m", "index")
	plumb(b, dir, "", "update-ref", "HEAD", commit)
}

// plumb runs git on the index beside the repository.
func plumb(b *testing.B, dir, in string, args ...string) string {
	b.Helper()
	cmd := exec.Command("git", append([]string{"-C", dir}, args...)...)
	cmd.Env = append(append(os.Environ(), vaulttest.Env()...), "GIT_INDEX_FILE="+filepath.Join(dir, "bench.index"))
	cmd.Stdin = strings.NewReader(in)
	out, err := cmd.Output()
	if err != nil {
		b.Fatalf("git %v: %v", args, err)
	}
	return strings.TrimSpace(string(out))
}
