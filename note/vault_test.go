package note

import (
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// vaults are the files of the shared vaults that tests have read.
var vaults = map[string]map[string][]byte{}

// vaultFiles clones the work tree of a vault among the shared data, once, and
// returns its files by path, which are not to be changed.
func vaultFiles(t testing.TB, bundle string) map[string][]byte {
	t.Helper()
	source := filepath.Join(sharedData(t), bundle)
	if files := vaults[bundle]; files != nil {
		return files
	}
	dir := filepath.Join(t.TempDir(), "vault")
	cmd := exec.Command("git", "clone", "--quiet", "-c", "advice.detachedHead=false", source, dir)
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git clone %s: %v\n%s", source, err, out)
	}
	vaults[bundle] = readTree(t, dir)
	return vaults[bundle]
}

// sharedData returns the directory of the shared vaults.
func sharedData(t testing.TB) string {
	t.Helper()
	shared := os.Getenv("KB_SHARED")
	if shared == "" {
		shared = filepath.Join("..", "..", "shared")
	}
	dir, err := filepath.Abs(filepath.Join(shared, "data", "vaults"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(dir); err != nil {
		t.Skipf("no shared data (set KB_SHARED): %v", err)
	}
	return dir
}

func readTree(t testing.TB, dir string) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	err := filepath.WalkDir(dir, func(p string, d os.DirEntry, err error) error {
		if err != nil || d.Name() == ".git" {
			if d != nil && d.IsDir() && d.Name() == ".git" {
				return filepath.SkipDir
			}
			return err
		}
		if !d.Type().IsRegular() {
			return nil
		}
		rel, err := filepath.Rel(dir, p)
		if err != nil {
			return err
		}
		files[filepath.ToSlash(rel)], err = os.ReadFile(p)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func isNote(path string) bool { return strings.HasSuffix(path, ".md") }

func BenchmarkParse(b *testing.B) {
	for _, vault := range []string{"rust-rfcs", "kepano-obsidian"} {
		b.Run(vault, func(b *testing.B) {
			var notes [][]byte
			size := 0
			for p, src := range vaultFiles(b, vault+".bundle") {
				if isNote(p) {
					notes = append(notes, src)
					size += len(src)
				}
			}
			b.SetBytes(int64(size))
			b.ReportAllocs()
			for b.Loop() {
				for _, src := range notes {
					Parse(src)
				}
			}
		})
	}
}

func TestRustRFCs(t *testing.T) {
	headings, links, notes := 0, 0, 0
	for p, src := range vaultFiles(t, "rust-rfcs.bundle") {
		if isNote(p) {
			n, text := Parse(src)
			checkProblems(t, n)
			checkChunks(t, n, text)
			checkHeadings(t, n, text)
			checkOffsets(t, n, text)
			headings, links, notes = headings+len(n.Headings), links+len(n.Links), notes+1
		}
	}
	if notes < 600 || headings < 8_000 || links < 10_000 {
		t.Errorf("%d notes, %d headings, %d links", notes, headings, links)
	}
}

func TestKepano(t *testing.T) {
	files := vaultFiles(t, "kepano-obsidian.bundle")
	r := NewResolver(slices.Collect(maps.Keys(files)))
	names := map[string]bool{}
	for p := range files {
		names[strings.ToLower(strings.TrimSuffix(path.Base(p), ".md"))] = true
	}
	exist, found := 0, 0
	for p, src := range files {
		if !isNote(p) {
			continue
		}
		checkNote(t, src)
		n, _ := Parse(src)
		if len(n.Problems) > 0 {
			t.Errorf("%s: %v", p, n.Problems)
		}
		for _, l := range n.Links {
			if l.Kind == WikiLink && l.Target != "" && names[strings.ToLower(path.Base(l.Target))] {
				exist++
				if r.Resolve(p, l).Path != "" {
					found++
				}
			}
		}
	}
	if exist < 80 || found*100 < exist*95 {
		t.Errorf("%d of %d wikilinks to files that exist resolve", found, exist)
	}
}
