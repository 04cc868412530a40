package vault_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"kb/internal/vaulttest"
	"kb/vault"
)

// What a check of all notes costs: of a view that was checked before, and of one
// in which one note is another.
func BenchmarkHealth(b *testing.B) {
	for _, size := range []int{10_000, 20_000, 38_430} {
		dir := firstNotes(b, size)
		s := vaulttest.Service(b, dir)
		do[vault.HealthResult](b, s, "kb_health", map[string]any{"at": "HEAD"})
		b.Run(fmt.Sprintf("%d/again", size), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				do[vault.HealthResult](b, s, "kb_health", map[string]any{"at": "HEAD"})
			}
		})
		b.Run(fmt.Sprintf("%d/one_changed", size), func(b *testing.B) {
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				b.StopTimer()
				changeOne(b, dir, i)
				b.StartTimer()
				do[vault.HealthResult](b, s, "kb_health", map[string]any{"at": "HEAD"})
			}
		})
	}
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
