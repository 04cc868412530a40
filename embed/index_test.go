package embed

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kb/cas"
	"kb/note"
	"kb/vector"
)

// counting is vector.Letters that counts what it embeds, and fails as it is told.
type counting struct {
	vector.Letters
	mu    sync.Mutex
	texts map[string]int
	fails func(text string) bool
	stop  func(embedded int)
}

func (c *counting) Embed(ctx context.Context, texts []string, k vector.Kind) ([][]float32, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, t := range texts {
		if c.fails != nil && c.fails(t) {
			return nil, errors.New("vector is not finite")
		}
	}
	out, err := c.Letters.Embed(ctx, texts, k)
	if err != nil {
		return nil, err
	}
	for _, t := range texts {
		c.texts[t]++
	}
	if c.stop != nil {
		c.stop(len(c.texts))
	}
	return out, nil
}

func (c *counting) model() *Model {
	c.texts = map[string]int{}
	return NewModel(func() (vector.Embedder, error) { return c, nil }, "", time.Hour)
}

// world is notes by blob.
type world map[note.ID]string

func (w world) fetch(ctx context.Context, ids []note.ID, fn func(note.ID, []byte, error) error) error {
	for _, id := range ids {
		src, ok := w[id]
		err := error(nil)
		if !ok {
			err = errors.New("no such blob")
		}
		if err := fn(id, []byte(src), err); err != nil {
			return err
		}
	}
	return nil
}

func (w world) ids() []note.ID {
	return slices.SortedFunc(maps.Keys(w), func(a, b note.ID) int { return slices.Compare(a[:], b[:]) })
}

func randomWorld(r *rand.Rand, n int) world {
	words := strings.Fields("alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi rho sigma tau")
	text := func(n int) string {
		var out []string
		for range n {
			out = append(out, words[min(r.IntN(len(words)), r.IntN(len(words)))])
		}
		return strings.Join(out, " ")
	}
	w := world{}
	for i := range n {
		src := "---\ntitle: " + text(1) + "\n---\n"
		if i%5 == 0 { // a text that other notes have, too
			src = fmt.Sprintf("---\nnumber: %d\n---\n", i) + []string{"kappa lambda\n\n", "alpha beta\n\n"}[i/5%2]
			w[note.Hash([]byte(src))] = src
			continue
		}
		for range r.IntN(4) {
			src += "# " + text(1) + "\n\n" + text(40+r.IntN(40)) + "\n\n"
		}
		w[note.Hash([]byte(src))] = src
	}
	return w
}

func openStore(t testing.TB, dir string) *cas.Store {
	t.Helper()
	s, err := cas.Open(filepath.Join(dir, "facts"), t.Logf)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if faults, err := s.Verify(context.Background()); err == nil && len(faults) > 0 {
			t.Errorf("Verify: %v", faults)
		}
		s.Close()
	})
	return s
}

func openIndex(t testing.TB, m *Model) (*Index, string) {
	t.Helper()
	dir := t.TempDir()
	x, err := New(openStore(t, dir), filepath.Join(dir, "vec"), m)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { x.Close() })
	return x, dir
}

func mustSync(t testing.TB, x *Index, ids []note.ID, w world) int {
	t.Helper()
	n, err := x.Sync(t.Context(), ids, w.fetch, nil)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func mustView(t testing.TB, x *Index, ids []note.ID) *View {
	t.Helper()
	v, c, err := x.View(t.Context(), ids)
	if err != nil || v == nil {
		t.Fatalf("View = %v, %+v, %v", v, c, err)
	}
	return v
}

// answers writes what a view says to a series of questions.
func answers(t testing.TB, v *View, ids []note.ID) string {
	t.Helper()
	var b strings.Builder
	even := func(id note.ID) bool { return id[0]%2 == 0 }
	for _, q := range []string{"alpha", "kappa lambda", "the zeta of delta", "", "北京"} {
		vectors, err := vector.Letters{}.Embed(t.Context(), []string{q}, vector.Query)
		if err != nil {
			t.Fatal(err)
		}
		to := v.Toward(vectors[0])
		weight, err := v.Weight(t.Context(), to, func(id note.ID) float64 { return float64(id[0]) / 255 })
		fmt.Fprintf(&b, "%s: %x %v %v\n", q, to, weight, err)
		for _, keep := range []func(note.ID) bool{nil, even} {
			near, err := v.Nearest(t.Context(), to, 7, ids[:2], keep)
			if err != nil {
				t.Fatal(err)
			}
			for _, id := range slices.SortedFunc(maps.Keys(near), func(a, b note.ID) int { return slices.Compare(a[:], b[:]) }) {
				fmt.Fprintf(&b, "  %x %v\n", id[:4], near[id])
			}
		}
	}
	for _, id := range ids[:5] {
		d, err := v.Note(id)
		first, err1 := v.Chunk(id, 0)
		fmt.Fprintf(&b, "%x %v %v\n", d, first, errors.Join(err, err1))
	}
	twins, err := v.Twins(t.Context(), ids, Bar{0.5, 0.9})
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range ids {
		fmt.Fprintf(&b, "%x %x\n", id[:4], twins[id])
	}
	return b.String()
}

// TestExact is the promise of the package: answers depend on the view alone.
func TestExact(t *testing.T) {
	for seed := range uint64(3) {
		r := rand.New(rand.NewPCG(seed, 9))
		w := randomWorld(r, 90)
		all := w.ids()
		union, _ := openIndex(t, (&counting{}).model())
		union.packs.few = 10
		for range 4 {
			r.Shuffle(len(all), func(a, b int) { all[a], all[b] = all[b], all[a] })
			ids := slices.Clone(all[:30+r.IntN(30)])
			mustSync(t, union, ids, w)
			fresh, _ := openIndex(t, (&counting{}).model())
			mustSync(t, fresh, ids, w)
			sorted := slices.Clone(ids)
			slices.SortFunc(sorted, func(a, b note.ID) int { return slices.Compare(a[:], b[:]) })
			v := mustView(t, union, ids)
			got, want := answers(t, v, sorted), answers(t, mustView(t, fresh, sorted), sorted)
			if got != want {
				t.Fatalf("seed %d: with other notes about, %d packs:\n%s", seed, len(v.packs), cmp.Diff(want, got))
			}
		}
		if union.packs.base == nil {
			t.Error("no pack was ever made")
		}
	}
}

// What was embedded is never embedded again: not after an interruption, for
// another set of notes, or in another note.
func TestSyncResumes(t *testing.T) {
	w := randomWorld(rand.New(rand.NewPCG(1, 1)), 150)
	ids := w.ids()
	c := &counting{}
	x, _ := openIndex(t, c.model())
	total := 0
	for i := range 6 {
		ctx, cancel := context.WithCancel(t.Context())
		c.stop = func(int) {
			if i < 5 {
				cancel() // after the batch was embedded, before it is durable or the next begins
			}
		}
		n, err := x.Sync(ctx, ids, w.fetch, nil)
		if (i < 5) != errors.Is(err, context.Canceled) {
			t.Fatalf("Sync = %d, %v", n, err)
		}
		total += n
		cancel()
	}
	want := map[string]bool{}
	for _, src := range w {
		for _, text := range Texts(note.Parse([]byte(src))) {
			want[text] = true
		}
	}
	if total != len(want) || len(c.texts) != len(want) {
		t.Errorf("%d texts were stored and %d embedded of %d", total, len(c.texts), len(want))
	}
	for text, n := range c.texts {
		if n != 1 {
			t.Errorf("embedded %d times: %q", n, text)
		}
	}
	if n := mustSync(t, x, ids, w); n != 0 {
		t.Errorf("%d more are embedded", n)
	}
	moved := "---\ntitle: other\n---\n"
	w[note.Hash([]byte(moved))] = moved
	if n := mustSync(t, x, w.ids(), w); n != 0 {
		t.Errorf("a note without text: %d are embedded", n)
	}
}

func TestViewIsCompleteOrNot(t *testing.T) {
	w := randomWorld(rand.New(rand.NewPCG(2, 1)), 40)
	ids := w.ids()
	x, _ := openIndex(t, (&counting{}).model())
	if v, c, err := x.View(t.Context(), ids); v != nil || err != nil || c.Complete() || c.Part() != 0 {
		t.Errorf("nothing is embedded: View = %v, %+v, %v", v, c, err)
	}
	mustSync(t, x, ids[:20], w)
	v, c, err := x.View(t.Context(), ids)
	if v != nil || err != nil || c.Done < 20 || c.Complete() || c.Part() < 0.5 || c.Part() >= 1 {
		t.Errorf("half is embedded: View = %v, %+v, %v", v, c, err)
	}
	if v, c, err := x.View(t.Context(), nil); v == nil || err != nil || c.Part() != 1 {
		t.Errorf("a view of nothing: %v, %+v, %v", v, c, err)
	} else if near, err := v.Nearest(t.Context(), v.Toward([]float32{1}), 3, ids, nil); len(near) != 0 || err != nil {
		t.Errorf("a view of nothing finds %v, %v", near, err)
	}
	gone := note.ID{1}
	if n, err := x.Sync(t.Context(), append(ids, gone), w.fetch, nil); err != nil || n == 0 {
		t.Errorf("with a blob that cannot be read: %d, %v", n, err)
	}
	if v, c, _ := x.View(t.Context(), append(ids, gone)); v == nil {
		t.Errorf("a blob that cannot be read says nothing: %+v", c)
	}
	if v, _, _ := x.View(t.Context(), append(ids, note.ID{2})); v != nil {
		t.Error("a view is complete with a note that was never looked at")
	}
	fresh := "# new\n\nwords\n"
	w[note.Hash([]byte(fresh))] = fresh
	if err := x.Read(t.Context(), w.ids(), w.fetch); err != nil {
		t.Fatal(err)
	}
	if v, c, _ := x.View(t.Context(), w.ids()); v != nil || c.Missing != 1 || c.Notes-c.Done != 1 {
		t.Errorf("one text is missing: %v, %+v", v, c)
	}
}

// What comes first is embedded first.
func TestSyncKeepsTheOrder(t *testing.T) {
	w := randomWorld(rand.New(rand.NewPCG(7, 1)), 150)
	ids := w.ids()
	slices.Reverse(ids)
	x, _ := openIndex(t, (&counting{}).model())
	ctx, cancel := context.WithCancel(t.Context())
	if _, err := x.Sync(ctx, ids, w.fetch, func(done, total int) { cancel() }); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	_, first, err := x.View(t.Context(), ids[:3])
	_, last, err2 := x.View(t.Context(), ids[len(ids)-20:])
	if err := errors.Join(err, err2); err != nil || !first.Complete() || last.Complete() {
		t.Errorf("after a batch the first are %+v, the last %+v, %v", first, last, err)
	}
}

// Of two that embed at once, one waits, and then has nothing to do.
func TestSyncTogether(t *testing.T) {
	w := randomWorld(rand.New(rand.NewPCG(5, 1)), 60)
	c := &counting{}
	x, _ := openIndex(t, c.model())
	var wg sync.WaitGroup
	var mu sync.Mutex
	total := 0
	for range 3 {
		wg.Go(func() {
			n, err := x.Sync(t.Context(), w.ids(), w.fetch, nil)
			mu.Lock()
			defer mu.Unlock()
			if total += n; err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if total != len(c.texts) {
		t.Errorf("%d were embedded of %d", total, len(c.texts))
	}
}

// Notes with one text in common are equally near, as far as they are wanted.
func TestSharedTexts(t *testing.T) {
	w := world{}
	for i := range 4 {
		src := fmt.Sprintf("---\nnumber: %d\n---\nkappa lambda\n", i)
		w[note.Hash([]byte(src))] = src
	}
	other := "alpha beta\n"
	w[note.Hash([]byte(other))] = other
	x, _ := openIndex(t, (&counting{}).model())
	if n := mustSync(t, x, w.ids(), w); n != 2 {
		t.Errorf("%d texts are embedded, want 2", n)
	}
	v := mustView(t, x, w.ids())
	query, err := vector.Letters{}.Embed(t.Context(), []string{"kappa"}, vector.Query)
	if err != nil {
		t.Fatal(err)
	}
	one := note.Hash([]byte("---\nnumber: 1\n---\nkappa lambda\n"))
	for name, c := range map[string]struct {
		keep func(note.ID) bool
		want int
	}{
		"all": {nil, 4},
		"one": {func(id note.ID) bool { return id == one }, 1},
	} {
		near, err := v.Nearest(t.Context(), v.Toward(query[0]), 1, nil, c.keep)
		if err != nil || len(near) != c.want {
			t.Errorf("%s: %d notes, %v; want %d", name, len(near), err, c.want)
		}
		for id, n := range near {
			if c.keep != nil && !c.keep(id) || n.Cosine < 0.5 {
				t.Errorf("%s: %x is near: %+v", name, id[:4], n)
			}
		}
	}
}

func TestFailingTexts(t *testing.T) {
	w := randomWorld(rand.New(rand.NewPCG(3, 1)), 30)
	bad := "# bad\n\npoison\n"
	w[note.Hash([]byte(bad))] = bad
	tries := 0
	c := &counting{}
	c.fails = func(text string) bool {
		if strings.Contains(text, "poison") {
			tries++
			return true
		}
		return false
	}
	x, _ := openIndex(t, c.model())
	n := mustSync(t, x, w.ids(), w)
	if again := mustSync(t, x, w.ids(), w); n == 0 || again != 0 || tries != 1+Attempts {
		t.Errorf("%d embedded, then %d; the bad one was tried %d times", n, again, tries)
	}
	if n := x.Failed(t.Context()); n != 1 {
		t.Errorf("%d texts failed", n)
	}
	v := mustView(t, x, w.ids())
	near, err := v.Nearest(t.Context(), v.Toward(make([]float32, 27)), 5, []note.ID{note.Hash([]byte(bad))}, nil)
	if _, ok := near[note.Hash([]byte(bad))]; ok || err != nil {
		t.Errorf("a note without vectors is near: %v, %v", near, err)
	}
	c.fails = func(string) bool { return true }
	other := "# other\n\nwords\n"
	w[note.Hash([]byte(other))] = other
	if _, err := x.Sync(t.Context(), w.ids(), w.fetch, nil); !errors.Is(err, ErrBroken) {
		t.Errorf("a model that fails always: %v", err)
	}
	c.fails = nil
	if n := mustSync(t, x, w.ids(), w); n != 1 {
		t.Errorf("then it works: %d embedded, want the one", n)
	}
}

// Damaged vectors and damaged files are made again.
func TestDamage(t *testing.T) {
	w := randomWorld(rand.New(rand.NewPCG(4, 1)), 60)
	ids := w.ids()
	m := (&counting{}).model()
	x, dir := openIndex(t, m)
	x.packs.few = 10
	mustSync(t, x, ids, w)
	want := answers(t, mustView(t, x, ids), ids)

	packs, _ := filepath.Glob(filepath.Join(dir, "vec", "*", "*"+packSuffix))
	if len(packs) != 1 {
		t.Fatalf("packs: %v", packs)
	}
	file, err := os.ReadFile(packs[0])
	if err != nil {
		t.Fatal(err)
	}
	flip := func(at int) {
		bad := slices.Clone(file)
		bad[at] ^= 1
		if err := os.WriteFile(packs[0], bad, 0o600); err != nil {
			t.Fatal(err)
		}
		if x, err = New(x.facts, filepath.Join(dir, "vec"), m); err != nil {
			t.Fatal(err)
		}
		x.packs.few = 10
		packs, _ = filepath.Glob(filepath.Join(dir, "vec", "*", "*"+packSuffix))
	}
	flip(len(file) - 100) // seen when it is opened
	if got := answers(t, mustView(t, x, ids), ids); got != want {
		t.Error("after damage, answers differ")
	}
	packs, _ = filepath.Glob(filepath.Join(dir, "vec", "*", "*"+packSuffix))
	flip(7) // of an exact vector: seen when it is read
	v := mustView(t, x, ids)
	var bad error
	for _, id := range ids {
		if _, err := v.Note(id); err != nil {
			bad = err
		}
	}
	if bad == nil || !x.Damaged(bad) || x.Damaged(errors.New("other")) {
		t.Errorf("damage is reported as %v", bad)
	}
	if got := answers(t, mustView(t, x, ids), ids); got != want {
		t.Error("after damage, answers differ")
	}
	x.Close()
}

func TestClean(t *testing.T) {
	dir := t.TempDir()
	for _, print := range []string{"a", "b"} {
		if err := os.MkdirAll(packDir(dir, print), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(Clean(dir, "b"), Clean(filepath.Join(dir, "none"))); err != nil {
		t.Fatal(err)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "*")); len(left) != 1 || left[0] != packDir(dir, "b") {
		t.Errorf("left: %v", left)
	}
}
