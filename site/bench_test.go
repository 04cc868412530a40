package site

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// vaultNotes returns the notes of a vault among the shared data, by path.
func vaultNotes(t testing.TB, bundle string) map[string]string {
	t.Helper()
	shared := os.Getenv("KB_SHARED")
	if shared == "" {
		shared = filepath.Join("..", "..", "shared")
	}
	source := filepath.Join(shared, "data", "vaults", bundle)
	if _, err := os.Stat(source); err != nil {
		t.Skipf("no shared data (set KB_SHARED): %v", err)
	}
	dir := filepath.Join(t.TempDir(), "vault")
	cmd := exec.Command("git", "clone", "--quiet", "-c", "advice.detachedHead=false", source, dir)
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git clone %s: %v\n%s", source, err, out)
	}
	notes := map[string]string{}
	err := filepath.WalkDir(dir, func(p string, d os.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(p, ".md") {
			return err
		}
		text, err := os.ReadFile(p)
		rel, _ := filepath.Rel(dir, p)
		notes[filepath.ToSlash(rel)] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return notes
}

// BenchmarkBody renders rust-rfcs with and without what a build before left in
// the cache.
func BenchmarkBody(b *testing.B) {
	v := newTestLinks(vaultNotes(b, "rust-rfcs.bundle"))
	size := 0
	for _, text := range v.texts {
		size += len(text)
	}
	all := func(b *testing.B, r *Renderer) {
		for _, d := range v.docs {
			if _, err := r.Body(d, v); err != nil {
				b.Fatal(err)
			}
		}
	}
	for name, c := range map[string]Cache{"cold": nil, "warm": newMemory()} {
		b.Run(name, func(b *testing.B) {
			all(b, NewRenderer(c))
			b.SetBytes(int64(size))
			b.ReportAllocs()
			for b.Loop() {
				all(b, NewRenderer(c))
			}
			b.ReportMetric(float64(len(v.docs)*b.N)/b.Elapsed().Seconds(), "notes/s")
		})
	}
}

// TestBodyVaults renders real notes, twice, at the same time.
func TestBodyVaults(t *testing.T) {
	v := newTestLinks(vaultNotes(t, "kepano-obsidian.bundle"))
	r := NewRenderer(nil)
	for _, d := range v.docs {
		t.Run(d.Path, func(t *testing.T) {
			t.Parallel()
			one, err := r.Body(d, v)
			if err != nil {
				t.Fatal(err)
			}
			if problem := unsafe(one.HTML); problem != "" {
				t.Errorf("%s in\n%s", problem, one.HTML)
			}
			if two, _ := NewRenderer(nil).Body(d, v); string(two.HTML) != string(one.HTML) {
				t.Errorf("two renderings differ:\n%s\n%s", one.HTML, two.HTML)
			}
		})
	}
}
