package cas

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/dgraph-io/badger/v4"
	"github.com/google/go-cmp/cmp"
)

func TestGC(t *testing.T) {
	c := newClock()
	s := openTest(t, filepath.Join(t.TempDir(), "facts"), c)
	r, old := testRecipe(t, s, "r/2"), testRecipe(t, s, "r/1")
	key := func(r RecipeID, name string) Key { return WorkTree.Key(r, []byte(name)) }
	big := bytes.Repeat([]byte("x"), 3*pieceSize)
	put := func(keys ...Key) {
		t.Helper()
		for _, k := range keys {
			if err := s.Put(Fact{k, big}); err != nil {
				t.Fatal(err)
			}
		}
	}
	put(key(r, "kept"), key(r, "dropped"), key(old, "dropped"))
	c.t = c.t.Add(2 * Grace)
	put(key(r, "fresh"))
	keep := func(k Key) bool { return k.Recipe == r && k.ID == "kept" }

	want := GCReport{Kept: 2, Dropped: map[Kind]int{WorkTree: 2}}
	for _, dryRun := range []bool{true, false} {
		got, err := s.GC(t.Context(), keep, Grace, dryRun)
		if err != nil {
			t.Fatal(err)
		}
		if got.Bytes < 6*pieceSize || dryRun != (got.After == got.Before) || got.After > got.Before {
			t.Errorf("dry run %v: %+v", dryRun, got)
		}
		got.Bytes, got.Before, got.After = 0, 0, 0
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("dry run %v (-want +got):\n%s", dryRun, diff)
		}
	}
	for k, want := range map[Key]bool{key(r, "kept"): true, key(r, "fresh"): true, key(r, "dropped"): false, key(old, "dropped"): false} {
		if b, ok, err := s.Get(k); ok != want || err != nil || ok && !bytes.Equal(b, big) {
			t.Errorf("after GC Get(%s) = %d bytes, %v, %v, want %v", k, len(b), ok, err, want)
		}
	}
	if n := countPieces(t, s); n != 6 {
		t.Errorf("%d pieces are left, want 6", n)
	}
	if id := testRecipe(t, s, "r/1"); id != old {
		t.Errorf("recipe without facts has the number %d, had %d", id, old)
	}
}

// A fact that is written while GC runs stays, with its pieces.
func TestGCWhileWriting(t *testing.T) {
	c := newClock()
	s := openTest(t, filepath.Join(t.TempDir(), "facts"), c)
	r := testRecipe(t, s, "r/1")
	small, large := WorkTree.Key(r, []byte("small")), WorkTree.Key(r, []byte("zlarge"))
	body := bytes.Repeat([]byte("x"), 2*pieceSize)
	put := func() {
		if err := s.Put(Fact{small, []byte("v")}, Fact{large, body}); err != nil {
			t.Error(err)
		}
	}
	put()
	// the head of the large fact goes, so that its pieces are orphans
	s.db.Update(func(txn *badger.Txn) error { return txn.Delete(large.bytes()) })
	c.t = c.t.Add(2 * Grace)
	asked := 0
	rep, err := s.GC(t.Context(), func(Key) bool {
		asked++
		put() // after the snapshot that GC reads
		return false
	}, Grace, false)
	if err != nil || asked != 1 || rep.Pieces != 2 {
		t.Errorf("GC = %+v, %v; asked %d times", rep, err, asked)
	}
	for _, k := range []Key{small, large} {
		if _, ok, err := s.Get(k); !ok || err != nil {
			t.Errorf("Get(%s) = %v, %v, want it", k, ok, err)
		}
	}
}

func TestGCDropsOrphans(t *testing.T) {
	s := openTest(t, filepath.Join(t.TempDir(), "facts"), newClock())
	r := testRecipe(t, s, "r/1")
	key := WorkTree.Key(r, []byte("x"))
	s.Put(Fact{key, make([]byte, 2*pieceSize)})
	s.db.Update(func(txn *badger.Txn) error { return txn.Delete(key.bytes()) })
	rep, err := s.GC(t.Context(), func(Key) bool { return true }, Grace, false)
	if err != nil || rep.Pieces != 2 || countPieces(t, s) != 0 {
		t.Errorf("GC = %+v, %v; %d pieces are left", rep, err, countPieces(t, s))
	}
}

func TestGCCancelled(t *testing.T) {
	s := openTest(t, filepath.Join(t.TempDir(), "facts"), newClock())
	r := testRecipe(t, s, "r/1")
	for i := range 10 {
		s.Put(Fact{Key: WorkTree.Key(r, fmt.Append(nil, i))})
	}
	ctx, cancel := context.WithCancel(t.Context())
	_, err := s.GC(ctx, func(Key) bool { cancel(); return false }, -time.Hour, false)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error = %v, want context.Canceled", err)
	}
	if infos, _ := s.Recipes(); infos[0].Facts[WorkTree] != 10 {
		t.Errorf("facts = %v, want 10", infos[0].Facts)
	}
}
