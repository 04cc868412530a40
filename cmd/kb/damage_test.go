//go:build unix

package main

import (
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// harmless are files of which a bit may change and nothing is lost: statistics,
// and the headers for an encryption that is not used.
var harmless = []string{"DISCARD", "KEYREGISTRY", ".vlog"}

// A bit that changes in any file of the derived data is noticed by kb check, or
// changes nothing; and what is asked afterwards is answered as before.
func TestCheckNoticesDamage(t *testing.T) {
	flips := 1
	if long() {
		flips = 40
	}
	p := newProgram(t, embeddable(t, 200))
	p.mustRun(t, "reindex")
	want := p.mustRun(t, "search", "otter", "--json")
	whole := filepath.Join(t.TempDir(), "whole")
	must(t, os.Rename(p.cacheDir(), whole))
	kinds := map[string]bool{}
	for _, name := range filesIn(t, whole) {
		for flip := range flips {
			must(t, os.RemoveAll(p.cacheDir()))
			must(t, os.CopyFS(p.cacheDir(), os.DirFS(whole)))
			where := flipBit(t, filepath.Join(p.cacheDir(), name), rand.New(rand.NewPCG(uint64(flip), 7)))
			kinds[filepath.Ext(name)] = true
			_, err := p.run("check", "--json")
			exempt := containsAny(name, harmless)
			if noticed := err != nil && strings.Contains(err.Error(), "exit status 6"); !noticed && !exempt {
				t.Errorf("%s, bit %d: kb check did not notice: %v", name, where, err)
			}
			p.mustRun(t, "reindex", "--force")
			if got := p.mustRun(t, "search", "otter", "--json"); got != want {
				t.Errorf("%s, bit %d: search answers %.300s", name, where, got)
			}
			if out, err := p.run("check", "--json"); err != nil {
				t.Errorf("%s, bit %d: after reindex: %v %s", name, where, err, out)
			}
		}
	}
	for _, kind := range []string{".sst", ".zap", ".ids", ".pack", ".notes"} {
		if !kinds[kind] {
			t.Errorf("no %s among the derived data: %v", kind, kinds)
		}
	}
}

// filesIn are the files below dir that hold anything.
func filesIn(t *testing.T, dir string) (names []string) {
	t.Helper()
	must(t, fs.WalkDir(os.DirFS(dir), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		info, err := d.Info()
		if err == nil && info.Size() > 0 {
			names = append(names, name)
		}
		return err
	}))
	return names
}

// flipBit changes one bit of a file, and returns which.
func flipBit(t *testing.T, name string, r *rand.Rand) int64 {
	t.Helper()
	b, err := os.ReadFile(name)
	must(t, err)
	bit := r.Int64N(int64(8 * len(b)))
	b[bit/8] ^= 1 << (bit % 8)
	must(t, os.WriteFile(name, b, 0o600))
	return bit
}

func containsAny(s string, parts []string) bool {
	for _, p := range parts {
		if strings.Contains(s, p) {
			return true
		}
	}
	return false
}
