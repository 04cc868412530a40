package cas

import (
	"errors"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kb/note"
)

func TestVectors(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "facts")
	s := openTest(t, dir, newClock())
	r, other := testRecipe(t, s, "vector/1 a"), testRecipe(t, s, "vector/1 b")
	want := map[Hash][]float32{{1}: {1, -0.5}, {2}: {}, {1, 1}: {0, 3e-40}}
	if err := s.PutVectors(r, want); err != nil {
		t.Fatal(err)
	}
	got, err := s.Vectors(t.Context(), r, []Hash{{9}, {2}, {1, 1}, {1}, {1}})
	if err != nil || !cmp.Equal(got, want) {
		t.Errorf("Vectors = %v, %v, want %v", got, err, want)
	}
	if got, err := s.Vectors(t.Context(), other, []Hash{{1}}); len(got) > 0 || err != nil {
		t.Errorf("another model's vectors are %v, %v", got, err)
	}
	missing, err := s.MissingVectors(r, []Hash{{9}, {1}, {0}, {9}})
	if err != nil || !cmp.Equal(missing, []Hash{{9}, {0}}) {
		t.Errorf("MissingVectors = %v, %v", missing, err)
	}
	var order []Hash
	err = s.EachVector(t.Context(), r, func(h Hash, v []float32) error {
		order = append(order, h)
		return nil
	})
	if err != nil || !cmp.Equal(order, []Hash{{1}, {1, 1}, {2}}) {
		t.Errorf("EachVector goes %v, %v", order, err)
	}
	enough := errors.New("enough")
	if err := s.EachVector(t.Context(), r, func(Hash, []float32) error { return enough }); !errors.Is(err, enough) {
		t.Errorf("EachVector: %v, want what fn says", err)
	}
}

func TestChunksAndFailures(t *testing.T) {
	s := openTest(t, filepath.Join(t.TempDir(), "facts"), newClock())
	r := testRecipe(t, s, "chunk/1")
	want := map[note.ID][]Hash{{1}: {{7}, {8}, {7}}, {2}: {}}
	if err := s.PutChunks(r, want); err != nil {
		t.Fatal(err)
	}
	got, err := s.Chunks(t.Context(), r, []note.ID{{2}, {3}, {1}})
	if err != nil || !cmp.Equal(got, want) {
		t.Errorf("Chunks = %v, %v, want %v", got, err, want)
	}
	each := map[note.ID][]Hash{}
	err = s.EachChunks(t.Context(), r, func(id note.ID, list []Hash) error {
		each[id] = list
		return nil
	})
	if err != nil || !cmp.Equal(each, want) {
		t.Errorf("EachChunks gives %v, %v, want %v", each, err, want)
	}
	failure := Failure{3, "vector is not finite"}
	if err := s.PutFailure(r, Hash{7}, failure); err != nil {
		t.Fatal(err)
	}
	failures, err := s.Failures(t.Context(), r, []Hash{{7}, {8}})
	if err != nil || !cmp.Equal(failures, map[Hash]Failure{{7}: failure}) {
		t.Errorf("Failures = %v, %v", failures, err)
	}
}

// A sealed value that is not what its kind says counts as absent, and Verify
// names it.
func TestMalformedVectors(t *testing.T) {
	s, err := Open(filepath.Join(t.TempDir(), "facts"), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	r := testRecipe(t, s, "vector/1")
	h := Hash{5}
	for _, bad := range []Fact{
		{Vectors.Key(r, h[:]), []byte{2, 0, 0, 0, 0}},
		{Vectors.Key(r, make([]byte, hashSize)), []byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1}},
		{Chunks.Key(r, make([]byte, 20)), make([]byte, 33)},
		{Failures.Key(r, h[:]), nil},
	} {
		if err := s.Put(bad); err != nil {
			t.Fatal(err)
		}
	}
	if faults, err := s.Verify(t.Context()); len(faults) != 4 || err != nil {
		t.Errorf("Verify = %v, %v, want 4 faults", faults, err)
	}
	vectors, err1 := s.Vectors(t.Context(), r, []Hash{h, {}})
	chunks, err2 := s.Chunks(t.Context(), r, []note.ID{{}})
	failures, err3 := s.Failures(t.Context(), r, []Hash{h})
	err4 := s.EachVector(t.Context(), r, func(h Hash, v []float32) error { return errors.New("no vector") })
	err5 := s.EachChunks(t.Context(), r, func(note.ID, []Hash) error { return errors.New("no list") })
	if err := errors.Join(err1, err2, err3, err4, err5); err != nil || len(vectors)+len(chunks)+len(failures) > 0 {
		t.Errorf("got %v, %v, %v, %v; want nothing", vectors, chunks, failures, err)
	}
	if n := len(s.Events()); n == 0 {
		t.Error("no event tells of it")
	}
}
