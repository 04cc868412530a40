package index

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"kb/cas"
	"kb/note"
)

// benchVault is the rust-rfcs vault of the shared data, or the directory of
// notes that KB_BENCH_VAULT names.
func benchVault(b *testing.B) (w *vault, srcs []Source, size int) {
	b.Helper()
	dir := os.Getenv("KB_BENCH_VAULT")
	if dir == "" {
		dir = b.TempDir()
		bundle := filepath.Join(sharedDir(b, "data/vaults"), "rust-rfcs.bundle")
		if out, err := exec.Command("git", "clone", "-q", bundle, dir).CombinedOutput(); err != nil {
			b.Fatalf("clone: %v: %s", err, out)
		}
	}
	w = &vault{raw: map[note.ID]string{}}
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || !strings.HasSuffix(p, ".md") {
			return err
		}
		src, err := os.ReadFile(p)
		rel, _ := filepath.Rel(dir, p)
		w.add(filepath.ToSlash(rel), string(src))
		size += len(src)
		return err
	})
	if err != nil {
		b.Fatal(err)
	}
	return w, w.sources(), size
}

// addBatches adds sources in batches of about 4 MB of text.
func addBatches(b *testing.B, s *Segments, srcs []Source) {
	b.Helper()
	for start, size, i := 0, 0, 0; i < len(srcs); i++ {
		if size += len(srcs[i].Text); size > 4<<20 || i == len(srcs)-1 {
			if err := s.Add(context.Background(), srcs[start:i+1]); err != nil {
				b.Fatal(err)
			}
			start, size = i+1, 0
		}
	}
}

func BenchmarkAdd(b *testing.B) {
	_, srcs, size := benchVault(b)
	b.SetBytes(int64(size))
	b.ReportAllocs()
	for b.Loop() {
		addBatches(b, openTest(b, b.TempDir()), srcs)
	}
}

func BenchmarkView(b *testing.B) {
	w, srcs, _ := benchVault(b)
	s := openTest(b, b.TempDir())
	addBatches(b, s, srcs)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := s.View(w.members, nil, w.load); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkSearch searches for 200 headings of the vault's notes, ten hits each.
func BenchmarkSearch(b *testing.B) {
	w, srcs, _ := benchVault(b)
	s := openTest(b, b.TempDir())
	addBatches(b, s, srcs)
	v, err := s.View(w.members, nil, w.load)
	if err != nil {
		b.Fatal(err)
	}
	queries := headings(srcs, 200)
	for _, bare := range []bool{true, false} {
		name := "excerpts"
		if bare {
			name = "bare"
		}
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for _, q := range queries { // warm
				search(b, v, Query{Text: q, NoExcerpt: bare})
			}
			var times []time.Duration
			for i := 0; b.Loop(); i++ {
				start := time.Now()
				if _, err := v.Search(context.Background(), Query{Text: queries[i%len(queries)], NoExcerpt: bare}); err != nil {
					b.Fatal(err)
				}
				times = append(times, time.Since(start))
			}
			slices.Sort(times)
			b.ReportMetric(float64(times[len(times)/2].Microseconds()), "p50-µs")
			b.ReportMetric(float64(times[len(times)*95/100].Microseconds()), "p95-µs")
		})
	}
}

// headings returns n headings of two to eight words, evenly spread.
func headings(srcs []Source, n int) []string {
	var all []string
	for _, s := range srcs {
		for _, h := range s.Note.Headings {
			if k := len(strings.Fields(h.Text)); k >= 2 && k <= 8 {
				all = append(all, h.Text)
			}
		}
	}
	var out []string
	for i := range n {
		out = append(out, all[i*len(all)/n])
	}
	return out
}

// BenchmarkSync derives all that is kept of a vault's notes, records included.
func BenchmarkSync(b *testing.B) {
	w, _, size := benchVault(b)
	ids := make([]note.ID, len(w.members))
	for i, m := range w.members {
		ids[i] = m.Blob
	}
	b.SetBytes(int64(size))
	b.ReportAllocs()
	for b.Loop() {
		facts, err := cas.Open(b.TempDir(), b.Logf)
		if err != nil {
			b.Fatal(err)
		}
		x, err := New(openTest(b, b.TempDir()), facts)
		if err != nil {
			b.Fatal(err)
		}
		n, err := x.Sync(context.Background(), ids, w.fetch, nil)
		if err := errors.Join(err, x.Merge(context.Background(), among(ids)), facts.Close()); err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(n), "notes/op")
	}
}

// fetch is the vault's Fetch.
func (v *vault) fetch(_ context.Context, ids []note.ID, fn func(note.ID, []byte, error) error) error {
	for _, id := range ids {
		if err := fn(id, []byte(v.raw[id]), nil); err != nil {
			return err
		}
	}
	return nil
}
