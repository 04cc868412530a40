package index

import (
	"context"
	"errors"
	"sync"
	"testing"

	"kb/cas"
	"kb/note"
)

func openIndex(t *testing.T) *Index {
	t.Helper()
	facts, err := cas.Open(t.TempDir(), t.Logf)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { facts.Close() })
	x, err := New(openTest(t, t.TempDir()), facts)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func ids(w *vault) (out []note.ID) {
	for _, m := range w.members {
		out = append(out, m.Blob)
	}
	return out
}

func TestSyncDerivesOnce(t *testing.T) {
	ctx := context.Background()
	w, srcs := plainNotes(20, 40)
	x := openIndex(t)
	var mu sync.Mutex
	most := 0
	n, err := x.Sync(ctx, append(ids(w), ids(w)...), w.fetch, func(done, total int) {
		mu.Lock()
		defer mu.Unlock()
		if most = max(most, done); total != 40 {
			t.Errorf("%d of %d", done, total)
		}
	})
	if err != nil || n != 40 || most != 40 {
		t.Fatalf("added %d, told %d, %v", n, most, err)
	}
	for _, s := range srcs {
		if _, ok, err := x.facts.Note(x.recipe, s.Blob); err != nil || !ok {
			t.Errorf("no record of %s: %v", s.Blob, err)
		}
	}
	again := func(context.Context, []note.ID, func(note.ID, []byte, error) error) error {
		return errors.New("fetched again")
	}
	if n, err := x.Sync(ctx, ids(w), again, nil); n != 0 || err != nil {
		t.Errorf("again: added %d, %v", n, err)
	}
	v, err := x.ViewOf(ctx, w.members, again, w.load)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := answers(t, v), answers(t, w.view(t)); got != want {
		t.Error(firstDifference(got, want))
	}
}

// TestSyncFails loses one note of many, then the whole fetch.
func TestSyncFails(t *testing.T) {
	ctx := context.Background()
	w, _ := plainNotes(21, 30)
	x := openIndex(t)
	broken := errors.New("broken")
	lose := func(ctx context.Context, ids []note.ID, fn func(note.ID, []byte, error) error) error {
		for i, id := range ids {
			var err error
			if i == 3 {
				err = broken
			}
			if err := fn(id, []byte(w.raw[id]), err); err != nil {
				return err
			}
		}
		return nil
	}
	if n, err := x.Sync(ctx, ids(w)[:20], lose, nil); n != 19 || err != nil {
		t.Errorf("one is unreadable: added %d, %v", n, err)
	}
	fail := func(context.Context, []note.ID, func(note.ID, []byte, error) error) error { return broken }
	if n, err := x.Sync(ctx, ids(w), fail, nil); n != 0 || !errors.Is(err, broken) {
		t.Errorf("nothing is readable: added %d, %v", n, err)
	}
	if m := x.Missing(ids(w)); len(m) != 11 {
		t.Errorf("%d missing, want 11", len(m))
	}
	canceled, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := x.Sync(canceled, ids(w), w.fetch, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
	if n, err := x.Sync(ctx, ids(w), w.fetch, nil); n != 11 || err != nil {
		t.Errorf("mended: added %d, %v", n, err)
	}
}
