package index

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"kb/note"
)

// plainNotes returns n small notes, the same for the same seed.
func plainNotes(seed uint64, n int) (*vault, []Source) {
	r := rand.New(rand.NewPCG(seed, 9))
	w := &vault{raw: map[note.ID]string{}}
	for i := range n {
		w.add(fmt.Sprintf("n%d.md", i), fmt.Sprintf("number %d %s", i, randomNote(r)))
	}
	return w, w.sources()
}

func blobs(srcs []Source) (ids []note.ID) {
	for _, s := range srcs {
		ids = append(ids, s.Blob)
	}
	return ids
}

// files returns the paths in a Segments' directory with a suffix.
func files(t testing.TB, s *Segments, suffix string) []string {
	t.Helper()
	m, err := filepath.Glob(filepath.Join(s.dir, "*"+suffix))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestSegmentsKeepWhatIsAdded(t *testing.T) {
	dir := t.TempDir()
	_, srcs := plainNotes(1, 30)
	s := openTest(t, dir)
	for i := 0; i < 30; i += 10 {
		if err := s.Add(context.Background(), append(srcs[i:i+10:i+10], srcs[i])); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Add(context.Background(), srcs); err != nil { // nothing new
		t.Fatal(err)
	}
	again := openTest(t, dir)
	if n, b, _ := again.Stats(); n != 3 || b != 30 {
		t.Errorf("%d segments, %d blobs, want 3 and 30", n, b)
	}
	if m := again.Missing(append(blobs(srcs), note.ID{1}, note.ID{1})); len(m) != 1 {
		t.Errorf("missing %v", m)
	}
	if !again.Has(srcs[29].Blob) || again.Has(note.ID{1}) {
		t.Error("has")
	}
	if f := again.Verify(); len(f) != 0 {
		t.Errorf("faults %v", f)
	}
}

func among(ids []note.ID) func(note.ID) bool {
	return func(id note.ID) bool { return slices.Contains(ids, id) }
}

func TestMergeKeepsFewSegments(t *testing.T) {
	ctx := context.Background()
	_, srcs := plainNotes(2, 60)
	s := openTest(t, t.TempDir())
	hot := blobs(srcs)[20:]
	isHot := map[note.ID]bool{}
	for _, b := range hot {
		isHot[b] = true
	}
	for i := range srcs {
		if err := s.Add(ctx, srcs[i:i+1]); err != nil {
			t.Fatal(err)
		}
		if err := s.Merge(ctx, among(hot)); err != nil {
			t.Fatal(err)
		}
		warm, cold := s.split(among(hot))
		if len(warm) > maxHot || len(cold) > maxCold {
			t.Fatalf("after %d: %d hot segments and %d cold", i, len(warm), len(cold))
		}
		if n, b, _ := s.Stats(); b != i+1 || len(files(t, s, ".zap")) != n || len(files(t, s, ".ids")) != n {
			t.Fatalf("after %d: %d blobs, %d segments, %v", i, b, n, files(t, s, ""))
		}
	}
	n, err := s.Drop(ctx, func(id note.ID) bool { return isHot[id] })
	if err != nil || n != 20 {
		t.Fatalf("dropped %d, %v", n, err)
	}
	if m := s.Missing(blobs(srcs)); len(m) != 20 {
		t.Errorf("%d missing after drop, want 20", len(m))
	}
	if f := s.Verify(); len(f) != 0 {
		t.Errorf("faults %v", f)
	}
	if _, err := s.Drop(ctx, func(note.ID) bool { return false }); err != nil || len(files(t, s, ".zap")) != 0 {
		t.Errorf("drop all: %v, %v", err, files(t, s, ""))
	}
}

func TestMergeSetsColdNotesApart(t *testing.T) {
	ctx := context.Background()
	_, srcs := plainNotes(3, 60)
	s := openTest(t, t.TempDir())
	for i := 0; i < 60; i += 10 {
		if err := s.Add(ctx, srcs[i:i+10]); err != nil {
			t.Fatal(err)
		}
	}
	var hot []note.ID
	for i, b := range blobs(srcs) {
		if i%2 == 0 {
			hot = append(hot, b)
		}
	}
	if err := s.Merge(ctx, among(hot)); err != nil {
		t.Fatal(err)
	}
	mixed := 0
	for _, d := range s.snapshot() {
		n := 0
		for _, e := range d.sidecar.entries {
			for _, h := range hot {
				if e.blob == h {
					n++
				}
			}
		}
		if n > 0 && n < len(d.sidecar.entries) {
			mixed++
		}
	}
	if mixed > 0 {
		t.Errorf("%d segments are mixed", mixed)
	}
}

func TestAddTogether(t *testing.T) {
	w, srcs := plainNotes(11, 40)
	s := openTest(t, t.TempDir())
	var g sync.WaitGroup
	for i := range 8 {
		g.Go(func() {
			for k := range 4 {
				from := 5 * ((i + k) % 8) // every note is added by several, some at the same moment
				if err := s.Add(context.Background(), srcs[from:from+5]); err != nil {
					t.Error(err)
				}
			}
		})
	}
	g.Wait()
	if err := s.Merge(context.Background(), among(blobs(srcs))); err != nil {
		t.Error(err)
	}
	if f := s.Verify(); len(f) != 0 || len(s.Missing(blobs(srcs))) != 0 {
		t.Errorf("faults %v, missing %d", f, len(s.Missing(blobs(srcs))))
	}
	v, err := s.View(w.members, nil, w.load)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := answers(t, v), answers(t, w.view(t)); got != want {
		t.Error(firstDifference(got, want))
	}
}

// TestMergeOfRepetitions merges two segments of the same notes: the result may
// have the key of one of them.
func TestMergeOfRepetitions(t *testing.T) {
	ctx, dir := context.Background(), t.TempDir()
	w, srcs := plainNotes(10, 6)
	a, b := openTest(t, dir), openTest(t, dir)
	back := slices.Clone(srcs)
	slices.Reverse(back)
	if err := errors.Join(a.Add(ctx, srcs), b.Add(ctx, back), a.Refresh()); err != nil {
		t.Fatal(err)
	}
	if err := a.rewrite(ctx, a.snapshot(), func(note.ID) int { return 0 }); err != nil {
		t.Fatal(err)
	}
	for _, s := range []*Segments{a, openTest(t, dir)} {
		if n, blobs, _ := s.Stats(); n != 1 || blobs != 6 || len(s.segs[0].sidecar.entries) != 6 {
			t.Errorf("%d segments, %d blobs", n, blobs)
		}
		if f := s.Verify(); len(f) != 0 {
			t.Errorf("faults %v", f)
		}
		if _, err := s.View(w.members, nil, w.load); err != nil {
			t.Error(err)
		}
	}
}

func TestDamagedSegmentsAreMissing(t *testing.T) {
	w, srcs := plainNotes(4, 20)
	for _, c := range []struct {
		name, suffix string
		damage       func([]byte) []byte
		onOpen       bool // noticed when opened, not only by Verify
	}{
		{"truncated segment", ".zap", func(b []byte) []byte { return b[:len(b)-1] }, true},
		{"empty segment", ".zap", func([]byte) []byte { return nil }, true},
		{"flipped bit", ".zap", func(b []byte) []byte { b[len(b)/2] ^= 4; return b }, false},
		{"flipped footer", ".zap", func(b []byte) []byte { b[len(b)-30] ^= 0xff; return b }, false},
		{"longer segment", ".zap", func(b []byte) []byte { return append(b, 0) }, true},
		{"flipped sidecar", ".ids", func(b []byte) []byte { b[len(b)/2] ^= 4; return b }, true},
		{"truncated sidecar", ".ids", func(b []byte) []byte { return b[:len(b)/2] }, true},
		{"empty sidecar", ".ids", func([]byte) []byte { return nil }, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			ctx, dir := context.Background(), t.TempDir()
			s, err := OpenSegments(dir, "en")
			if err != nil {
				t.Fatal(err)
			}
			if err := errors.Join(s.Add(ctx, srcs[:10]), s.Add(ctx, srcs[10:]), s.Close()); err != nil {
				t.Fatal(err)
			}
			file := files(t, s, c.suffix)[0]
			b, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, c.damage(b), 0o644); err != nil {
				t.Fatal(err)
			}
			s = openTest(t, dir)
			if c.onOpen && len(s.Faults()) != 1 {
				t.Errorf("faults on open: %v", s.Faults())
			}
			if f := s.Verify(); len(f) != 1 {
				t.Errorf("faults: %v", f)
			}
			missing := s.Missing(blobs(srcs))
			if len(missing) != 10 {
				t.Fatalf("%d missing, want 10", len(missing))
			}
			if err := s.Add(ctx, srcs); err != nil { // mends it
				t.Fatal(err)
			}
			s = openTest(t, dir)
			if f := s.Verify(); len(f) != 0 || len(s.Missing(blobs(srcs))) != 0 {
				t.Errorf("after mending: %v", f)
			}
			if _, err := s.View(w.members, nil, w.load); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestUncleanSessionIsChecked(t *testing.T) {
	ctx, dir := context.Background(), t.TempDir()
	_, srcs := plainNotes(5, 10)
	s := openTest(t, dir)
	if err := s.Add(ctx, srcs); err != nil {
		t.Fatal(err)
	}
	file := files(t, s, ".zap")[0]
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	b[len(b)/3] ^= 1
	if err := os.WriteFile(file, b, 0o644); err != nil {
		t.Fatal(err)
	}
	if other := openTest(t, dir); len(other.Faults()) != 1 {
		t.Errorf("a damaged segment of an unfinished session: faults %v", other.Faults())
	}
}

// TestCrash stops a writer after every step of adding and merging. Whatever is
// left, the next process opens it, misses at most what was being added, and
// answers as if nothing had happened once that is added again.
func TestCrash(t *testing.T) {
	ctx := context.Background()
	w, srcs := plainNotes(6, 24)
	crash := errors.New("crash")
	want := answers(t, w.view(t))
	for stop := 0; ; stop++ {
		dir := t.TempDir()
		s := openTest(t, dir)
		for i := range 5 {
			if err := s.Add(ctx, srcs[4*i:4*i+4]); err != nil {
				t.Fatal(err)
			}
		}
		step, at := 0, ""
		s.step = func(name string) error {
			if step++; step > stop {
				at = name
				return crash
			}
			return nil
		}
		err := s.Add(ctx, srcs[20:])
		if err == nil {
			err = s.Merge(ctx, among(blobs(srcs)[:12]))
		}
		if err != nil && !errors.Is(err, crash) {
			t.Fatal(err)
		}
		finished := err == nil

		next := openTest(t, dir)
		if m := next.Missing(blobs(srcs)); len(m) != 0 && len(m) != 4 {
			t.Fatalf("stopped at %q: %d missing", at, len(m))
		}
		if f := next.Verify(); len(f) != 0 {
			t.Fatalf("stopped at %q: faults %v", at, f)
		}
		if err := errors.Join(next.Add(ctx, srcs), next.Merge(ctx, among(blobs(srcs)))); err != nil {
			t.Fatal(err)
		}
		v, err := next.View(w.members, nil, w.load)
		if err != nil {
			t.Fatal(err)
		}
		if got := answers(t, v); got != want {
			t.Fatalf("stopped at %q: %s", at, firstDifference(got, want))
		}
		if finished {
			if stop < 4 {
				t.Errorf("only %d steps", stop)
			}
			return
		}
	}
}

func TestLeftoversAreSwept(t *testing.T) {
	ctx, dir := context.Background(), t.TempDir()
	_, srcs := plainNotes(7, 10)
	s := openTest(t, dir)
	if err := s.Add(ctx, srcs[:5]); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"x.zap.1.tmp", "merge.2.tmp", "orphan.zap"} {
		if err := os.WriteFile(filepath.Join(s.dir, name), []byte("left"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	next := openTest(t, dir)
	if n, b, _ := next.Stats(); n != 1 || b != 5 || len(next.Faults()) != 0 {
		t.Errorf("%d segments, %d blobs, faults %v", n, b, next.Faults())
	}
	if err := next.Add(ctx, srcs[5:]); err != nil {
		t.Fatal(err)
	}
	left := strings.Join(files(t, next, ""), " ")
	if strings.Contains(left, ".tmp") || strings.Contains(left, "orphan") {
		t.Errorf("left over: %s", left)
	}
}

func TestRefreshSeesOthers(t *testing.T) {
	ctx, dir := context.Background(), t.TempDir()
	w, srcs := plainNotes(8, 40)
	writer, reader := openTest(t, dir), openTest(t, dir)
	for i := 0; i < 40; i += 5 {
		if err := writer.Add(ctx, srcs[i:i+5]); err != nil {
			t.Fatal(err)
		}
	}
	if len(reader.Missing(blobs(srcs))) != 40 {
		t.Error("seen before Refresh")
	}
	if err := reader.Refresh(); err != nil || len(reader.Missing(blobs(srcs))) != 0 {
		t.Fatalf("not seen after Refresh: %v", err)
	}
	v, err := reader.View(w.members, nil, w.load)
	if err != nil {
		t.Fatal(err)
	}
	before := answers(t, v)
	if err := errors.Join(writer.Merge(ctx, among(blobs(srcs))), reader.Refresh()); err != nil {
		t.Fatal(err)
	}
	if n, _, _ := reader.Stats(); n > maxHot {
		t.Errorf("%d segments after merge", n)
	}
	if after := answers(t, v); after != before { // its segments' files are gone
		t.Error(firstDifference(after, before))
	}
}

func TestClosed(t *testing.T) {
	s := openTest(t, t.TempDir())
	_, srcs := plainNotes(9, 2)
	if err := errors.Join(s.Close(), s.Close()); err != nil {
		t.Fatal(err)
	}
	if err := s.Add(context.Background(), srcs); err == nil {
		t.Error("added to closed segments")
	}
	if err := s.Refresh(); err == nil {
		t.Error("refreshed closed segments")
	}
}

func FuzzSidecar(f *testing.F) {
	side := sidecar{size: 7, entries: []entry{{blob: note.ID{1}, lens: [storedFields]uint32{1, 2, 3, 4, 5, 600}}}}
	whole := side.encode()
	f.Add(whole[:len(whole)-sha256.Size])
	f.Add([]byte(sidecarMagic))
	f.Fuzz(func(t *testing.T, b []byte) {
		check := sha256.Sum256(b)
		s, err := decodeSidecar(append(b, check[:]...))
		if err != nil {
			return
		}
		again, err := decodeSidecar(s.encode())
		if err != nil || !slices.Equal(s.entries, again.entries) || s.size != again.size || s.sum != again.sum {
			t.Errorf("%x: decoded %v, and again %v, %v", b, s, again, err)
		}
	})
}
