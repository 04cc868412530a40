package cas

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/dgraph-io/badger/v4"
	"github.com/google/go-cmp/cmp"

	"kb/note"
)

func TestNotesRoundTrip(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "facts")
	deep := any("bottom")
	for range 200 {
		deep = []any{deep}
	}
	want := map[note.ID]*note.Note{
		{1}: {},
		{2}: {Binary: true, Problems: []note.Problem{{Code: "binary", Message: "not text"}}},
		{3}: {
			Title: "Ünïcode 漢字", Aliases: []string{"x", ""}, Words: 7, Body: 12, Summary: "s",
			Fields: []note.Field{
				{Key: "s", Value: "text", Line: 1}, {Key: "b", Value: true}, {Key: "nil", Value: nil},
				{Key: "i", Value: int64(-5)}, {Key: "max", Value: int64(math.MaxInt64)}, {Key: "min", Value: int64(math.MinInt64)},
				{Key: "f", Value: 1.5}, {Key: "whole", Value: 3.0}, {Key: "inf", Value: math.Inf(-1)}, {Key: "tiny", Value: 5e-324},
				{Key: "list", Value: []any{"a", int64(1), nil, []any{}, map[string]any{"k": []any{false}}}},
				{Key: "map", Value: map[string]any{"z": int64(1), "a": map[string]any{}}},
				{Key: "bytes", Value: "not \xff UTF-8"}, {Key: "deep", Value: deep},
			},
			Headings: []note.Heading{{Level: 1, Text: "T", Slug: "t", Line: 1, Start: 0, End: 9}},
			Links:    []note.Link{{Kind: note.WikiLink, Embed: true, Target: "t", Fragment: "f", Text: "x", Line: 3, Start: 4, End: 5}},
			Blocks:   []note.Block{{ID: "b", Line: 1, Start: 2, End: 3}},
			Chunks:   []note.Chunk{{Start: 0, End: 9, Line: 1, EndLine: 2, Heading: -1}},
			Skip:     []note.Span{{Start: 1, End: 2}},
		},
		{4}: {Links: make([]note.Link, 200_000)}, // cut into pieces
	}
	c := newClock()
	s := openTest(t, dir, c)
	r := testRecipe(t, s, "note/1")
	if err := s.PutNotes(r, want); err != nil {
		t.Fatal(err)
	}
	check := func(s *Store) {
		t.Helper()
		for id, w := range want {
			got, ok, err := s.Note(r, id)
			if !ok || err != nil {
				t.Fatalf("Note(%s) = %v, %v", id, ok, err)
			}
			if !reflect.DeepEqual(got, w) { // cmp.Diff takes forever over the depth
				t.Errorf("note %s = %.1000v, want %.1000v", id, got, w)
			}
		}
		var ids []note.ID
		s.EachNote(t.Context(), r, func(id note.ID, n *note.Note) error {
			ids = append(ids, id)
			return nil
		})
		if diff := cmp.Diff([]note.ID{{1}, {2}, {3}, {4}}, ids); diff != "" {
			t.Errorf("EachNote (-want +got):\n%s", diff)
		}
	}
	check(s)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = openTest(t, dir, c)
	check(s)
	if err := s.DeleteNotes(r, note.ID{1}, note.ID{4}, note.ID{9}); err != nil {
		t.Fatal(err)
	}
	missing, err := s.MissingNotes(r, []note.ID{{9}, {2}, {4}, {3}, {9}, {1}})
	if diff := cmp.Diff([]note.ID{{9}, {4}, {1}}, missing); diff != "" || err != nil {
		t.Errorf("MissingNotes, error %v (-want +got):\n%s", err, diff)
	}
}

// The same note is the same bytes, whatever order its maps have.
func TestEncodingIsDeterministic(t *testing.T) {
	n := &note.Note{Fields: []note.Field{{Key: "m", Value: map[string]any{"a": "1", "b": "2", "cc": "3", "d": "4"}}}}
	want, _ := encodeNote(n)
	for range 50 {
		if got, _ := encodeNote(n); !bytes.Equal(got, want) {
			t.Fatalf("got %x, want %x", got, want)
		}
	}
}

func TestPutGet(t *testing.T) {
	s := openTest(t, filepath.Join(t.TempDir(), "facts"), newClock())
	r, other := testRecipe(t, s, "a/1"), testRecipe(t, s, "a/2")
	key := WorkTree.Key(r, []byte("/home/me/vault"))
	for _, size := range []int{0, 1, pieceSize, pieceSize + 1, 3 * pieceSize, 5*pieceSize + 7, 10} {
		want := bytes.Repeat([]byte{byte(size), 2, 3}, size/3+1)[:size]
		if err := s.Put(Fact{key, want}); err != nil {
			t.Fatal(err)
		}
		got, ok, err := s.Get(key)
		if !ok || err != nil || !bytes.Equal(got, want) {
			t.Errorf("Get after Put of %d bytes = %d bytes, %v, %v", size, len(got), ok, err)
		}
		if n, want := countPieces(t, s), (size-1)/pieceSize+1; size > pieceSize && n != want || size <= pieceSize && n != 0 {
			t.Errorf("%d bytes: %d pieces are stored, want %d", size, n, want)
		}
	}
	for _, absent := range []Key{WorkTree.Key(other, []byte("/home/me/vault")), WorkTree.Key(r, []byte("/home/me/vaul")), Dates.Key(r, make([]byte, 20))} {
		if b, ok, err := s.Get(absent); ok || err != nil {
			t.Errorf("Get(%s) = %q, %v, %v, want absent", absent, b, ok, err)
		}
	}
}

func countPieces(t *testing.T, s *Store) (n int) {
	t.Helper()
	err := s.view(func(txn *badger.Txn) error {
		n = countKeys(txn, piecePrefix)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestBadKeys(t *testing.T) {
	s := openTest(t, filepath.Join(t.TempDir(), "facts"), newClock())
	r := testRecipe(t, s, "a/1")
	for _, key := range []Key{
		{}, Notes.Key(r, nil), Notes.Key(r, make([]byte, 19)), Notes.Key(0, make([]byte, 20)), Notes.Key(r+1, make([]byte, 20)),
		WorkTree.Key(r, nil), WorkTree.Key(r, make([]byte, maxID+1)), Kind('?').Key(r, make([]byte, 20)), Kind('!').Key(r, make([]byte, 20)),
	} {
		if err := s.Put(Fact{Key: key}); err == nil {
			t.Errorf("Put(%s) succeeds", key)
		}
	}
}

func TestRecipes(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "facts")
	s := openTest(t, dir, newClock())
	a, b := testRecipe(t, s, "note/1"), testRecipe(t, s, "note/2")
	if a == b || a != testRecipe(t, s, "note/1") {
		t.Errorf("numbers %d and %d", a, b)
	}
	if _, err := s.Recipe(""); err == nil {
		t.Error("a recipe without a name")
	}
	s.Put(Fact{Key: Dates.Key(b, make([]byte, 20))}, Fact{Key: WorkTree.Key(b, []byte("x"))})
	s.Close()
	s = openTest(t, dir, newClock())
	got, err := s.Recipes()
	want := []RecipeInfo{{a, "note/1", map[Kind]int{}}, {b, "note/2", map[Kind]int{Dates: 1, WorkTree: 1}}}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("Recipes, error %v (-want +got):\n%s", err, diff)
	}
	if c := testRecipe(t, s, "note/3"); c != b+1 {
		t.Errorf("third number is %d", c)
	}
}

// A number that was given to another recipe does not make its facts the other's.
func TestFactBelongsToRecipeName(t *testing.T) {
	s, err := Open(filepath.Join(t.TempDir(), "facts"), t.Logf)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	r := testRecipe(t, s, "note/1")
	key := WorkTree.Key(r, []byte("x"))
	s.Put(Fact{key, []byte("old")})
	s.names[r] = "note/2"
	if b, ok, err := s.Get(key); ok || err != nil {
		t.Errorf("Get = %q, %v, %v, want absent", b, ok, err)
	}
	if e := s.Events(); len(e) != 1 || e[0].Code != "bad_value" {
		t.Errorf("events = %v", e)
	}
}

func TestConcurrentUse(t *testing.T) {
	s := openTest(t, filepath.Join(t.TempDir(), "facts"), newClock())
	var wg sync.WaitGroup
	for w := range 4 {
		wg.Go(func() {
			r, err := s.Recipe(fmt.Sprint("r/", w%2))
			if err != nil {
				t.Error(err)
			}
			key := WorkTree.Key(r, fmt.Append(nil, w))
			for i := range 20 {
				want := bytes.Repeat([]byte{byte(w)}, i*pieceSize/8)
				if err := s.Put(Fact{key, want}); err != nil {
					t.Error(err)
				}
				if got, ok, err := s.Get(key); !ok || err != nil || !bytes.Equal(got, want) {
					t.Errorf("writer %d, round %d: %d bytes, %v, %v", w, i, len(got), ok, err)
				}
			}
		})
	}
	wg.Go(func() {
		for range 3 {
			if _, err := s.GC(t.Context(), func(Key) bool { return false }, Grace, false); err != nil {
				t.Error(err)
			}
			if _, err := s.Recipes(); err != nil {
				t.Error(err)
			}
		}
	})
	wg.Wait()
	if e := s.Events(); len(e) != 0 {
		t.Errorf("events = %v", e)
	}
}

func TestClosed(t *testing.T) {
	s, err := Open(filepath.Join(t.TempDir(), "facts"), nil)
	if err != nil {
		t.Fatal(err)
	}
	r := testRecipe(t, s, "r/1")
	key := WorkTree.Key(r, []byte("x"))
	if err := errors.Join(s.Close(), s.Close()); err != nil {
		t.Fatal(err)
	}
	_, _, getErr := s.Get(key)
	_, recipeErr := s.Recipe("r/2")
	_, gcErr := s.GC(t.Context(), nil, 0, false)
	for i, err := range []error{getErr, recipeErr, gcErr, s.Put(Fact{Key: key}), s.Delete(key), s.Sync()} {
		if !errors.Is(err, ErrClosed) {
			t.Errorf("%d: error = %v, want ErrClosed", i, err)
		}
	}
}

func TestLocked(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "facts")
	cmd, out := startWriter(t, dir, 0)
	for out.Scan() && out.Text() != "stored 3" {
	}
	if _, err := Open(dir, t.Logf); !errors.Is(err, ErrLocked) {
		t.Errorf("error = %v, want ErrLocked", err)
	}
	cmd.Process.Kill()
	cmd.Wait()
	s := openTest(t, dir, newClock())
	if e := s.Events(); len(e) != 0 {
		t.Errorf("events = %v", e)
	}
	if _, err := Open(dir, nil); !errors.Is(err, ErrLocked) {
		t.Errorf("in the same process: error = %v, want ErrLocked", err)
	}
}

// What a process said is stored is there after it was killed.
func TestKilled(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "facts")
	stored := 0
	for round := range 20 {
		cmd, out := startWriter(t, dir, stored)
		last := stored
		for out.Scan() && last < stored+1+round {
			if n, err := fmt.Sscanf(out.Text(), "stored %d", &last); n != 1 && out.Text() != "open" {
				t.Fatal(out.Text(), err)
			}
		}
		cmd.Process.Kill()
		for out.Scan() {
			fmt.Sscanf(out.Text(), "stored %d", &last)
		}
		cmd.Wait()
		stored = last + 1
	}
	s := openTest(t, dir, newClock())
	r := testRecipe(t, s, "test/1")
	for i := range 10 * stored {
		id, want := testNote(i)
		got, ok, err := s.Note(r, id)
		if !ok || err != nil || !cmp.Equal(got, want) {
			t.Fatalf("note %d of %d = %v, %v, %v", i, 10*stored, got, ok, err)
		}
	}
	if e := s.Events(); len(e) != 0 {
		t.Errorf("events = %v", e)
	}
}

// A log that a kill left without a byte is no damage.
func TestEmptyLog(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "facts")
	s := openTest(t, dir, newClock())
	testRecipe(t, s, "r/1")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "00099.mem"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	s = openTest(t, dir, newClock())
	if r, err := s.Recipes(); err != nil || len(r) != 1 || len(s.Events()) != 0 {
		t.Errorf("recipes %v, %v, events %v; want the store as it was", r, err, s.Events())
	}
}

func TestSchema(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "facts")
	set := func(version []byte) {
		t.Helper()
		db, err := openBadger(badgerOptions(dir, t.Logf))
		if err != nil {
			t.Fatal(err)
		}
		err = db.Update(func(txn *badger.Txn) error {
			if version == nil {
				return txn.Delete(schemaKey)
			}
			return txn.Set(schemaKey, version)
		})
		if err := errors.Join(err, db.Close()); err != nil {
			t.Fatal(err)
		}
	}
	s := openTest(t, dir, newClock())
	testRecipe(t, s, "r/1")
	s.Close()

	set(binary.AppendUvarint(nil, Schema+1))
	if _, err := Open(dir, nil); !errors.Is(err, ErrNewer) {
		t.Fatalf("error = %v, want ErrNewer", err)
	}
	set(nil)
	s = openTest(t, dir, newClock())
	if e := s.Events(); len(e) != 1 || e[0].Code != "damaged" {
		t.Errorf("without a schema: events = %v", e)
	}
	if infos, err := s.Recipes(); len(infos) != 0 || err != nil {
		t.Errorf("the new store has recipes %v, %v", infos, err)
	}
}

func TestKeyTable(t *testing.T) {
	seen := map[string]bool{}
	for _, d := range Keys() {
		name, _, _ := strings.Cut(d.Key, " ")
		if seen[name] || d.Value == "" || d.Meaning == "" {
			t.Errorf("key %+v", d)
		}
		seen[name] = true
	}
	for _, l := range facts {
		if !strings.HasPrefix(l.doc.Key, string(l.kind)+" recipe:2 ") {
			t.Errorf("kind %s is described as %q", l.kind, l.doc.Key)
		}
		id := bytes.Repeat([]byte{0xfe}, max(l.id, 1))
		want := l.kind.Key(258, id)
		got, err := parseKey(want.bytes())
		if err != nil || got != want {
			t.Errorf("parseKey(%x) = %v, %v, want %v", want.bytes(), got, err, want)
		}
	}
	if b, err := json.Marshal(RecipeInfo{1, "r", map[Kind]int{Notes: 2}}); string(b) != `{"id":1,"name":"r","facts":{"n":2}}` {
		t.Errorf("JSON is %s, %v", b, err)
	}
	if got, want := Notes.Key(258, slices.Repeat([]byte{7}, 20)).bytes(), "6e0102"+strings.Repeat("07", 20); fmt.Sprintf("%x", got) != want {
		t.Errorf("key is %x, want %s", got, want)
	}
}

func TestSize(t *testing.T) {
	s := openTest(t, filepath.Join(t.TempDir(), "facts"), newClock())
	r := testRecipe(t, s, "r/1")
	before, err := s.Size()
	if err != nil || before > 1<<20 {
		t.Errorf("an empty store takes %d bytes, %v", before, err)
	}
	s.Put(Fact{WorkTree.Key(r, []byte("x")), make([]byte, 4<<20)})
	if after, _ := s.Size(); after < before+4<<20 {
		t.Errorf("with 4 MiB it takes %d bytes, before %d", after, before)
	}
}

func TestEventsAreBounded(t *testing.T) {
	s := &Store{log: func(string, ...any) {}, now: newClock().now}
	for range 2 * maxEvents {
		s.event("bad_value", "x")
	}
	if n := len(s.Events()); n != maxEvents {
		t.Errorf("%d events", n)
	}
}

func TestMoveAside(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "fa[c]ts*")
	for i := range 3 {
		os.Mkdir(dir, 0o700)
		os.WriteFile(filepath.Join(dir, "n"), fmt.Append(nil, i), 0o600)
		aside, err := moveAside(dir)
		if b, _ := os.ReadFile(filepath.Join(aside, "n")); err != nil || string(b) != fmt.Sprint(i) {
			t.Fatalf("%s, %v: has %q, want %d", aside, err, b, i)
		}
		entries, _ := os.ReadDir(filepath.Dir(dir))
		if len(entries) != 1 {
			t.Errorf("round %d leaves %v", i, entries)
		}
	}
}
