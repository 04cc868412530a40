package cas

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/dgraph-io/badger/v4"

	"kb/note"
)

const templateNotes = 200

// template makes the directory of a store with notes in it, closed well or
// left by a process that was killed.
func template(t *testing.T, killed bool) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "facts")
	if killed {
		cmd, out := startWriter(t, dir, 0)
		for out.Scan() && out.Text() != fmt.Sprint("stored ", templateNotes/10) {
		}
		cmd.Process.Kill()
		cmd.Wait()
		return dir
	}
	s, err := Open(dir, t.Logf)
	if err != nil {
		t.Fatal(err)
	}
	r := testRecipe(t, s, "test/1")
	notes := map[note.ID]*note.Note{}
	for i := range templateNotes {
		id, n := testNote(i)
		notes[id] = n
	}
	large := Fact{WorkTree.Key(r, []byte("x")), make([]byte, 2*pieceSize)}
	if err := errors.Join(s.PutNotes(r, notes), s.Put(large), s.Close()); err != nil {
		t.Fatal(err)
	}
	return dir
}

// A manifest that forgot its tables is not a new store.
func TestForgottenTables(t *testing.T) {
	dir := template(t, false)
	if err := os.Truncate(filepath.Join(dir, badger.ManifestFilename), 8); err != nil {
		t.Fatal(err)
	}
	s := openTest(t, dir, newClock())
	if e := s.Events(); len(e) != 1 || e[0].Code != "damaged" {
		t.Errorf("events = %v, want damaged", e)
	}
}

// files is a directory in memory, without the zeros at the end of its files:
// logs are mapped longer than they are.
type files map[string]content

type content struct {
	data []byte
	size int64
}

func readFiles(t *testing.T, dir string) files {
	t.Helper()
	fs := files{}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		b, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		fs[e.Name()] = content{bytes.TrimRight(b, "\x00"), int64(len(b))}
	}
	return fs
}

func (fs files) write(t *testing.T, dir string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, c := range fs {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.WriteFile(path, c.data, 0o600), os.Truncate(path, c.size)); err != nil {
			t.Fatal(err)
		}
	}
}

// damages are what can happen to a file.
var damages = []struct {
	name string
	do   func(r *rand.Rand, b []byte) []byte
}{
	{"bit", func(r *rand.Rand, b []byte) []byte {
		b[r.IntN(len(b))] ^= 1 << r.IntN(8)
		return b
	}},
	{"bit near the end", func(r *rand.Rand, b []byte) []byte {
		b[len(b)-1-r.IntN(min(len(b), 64))] ^= 1 << r.IntN(8)
		return b
	}},
	{"bit near the start", func(r *rand.Rand, b []byte) []byte {
		b[r.IntN(min(len(b), 256))] ^= 1 << r.IntN(8)
		return b
	}},
	{"garbage", func(r *rand.Rand, b []byte) []byte {
		for i := r.IntN(len(b)); i < len(b); i++ {
			b[i] = byte(r.Uint32())
		}
		return b
	}},
	{"zeros", func(r *rand.Rand, b []byte) []byte {
		clear(b[r.IntN(len(b)):])
		return b
	}},
	{"cut", func(r *rand.Rand, b []byte) []byte { return b[:r.IntN(len(b))] }},
	{"emptied", func(*rand.Rand, []byte) []byte { return nil }},
	{"longer", func(r *rand.Rand, b []byte) []byte { return append(b, "garbage"...) }},
	{"removed", nil},
}

// Whatever happens to its files, a store opens, gives what was put or nothing, and
// works. KB_CAS_DAMAGE_ROUNDS asks for more than a few seconds of it.
func TestDamagedFiles(t *testing.T) {
	rounds := 1
	if n, err := strconv.Atoi(os.Getenv("KB_CAS_DAMAGE_ROUNDS")); err == nil {
		rounds = n
	}
	for _, killed := range []bool{false, true} {
		whole := readFiles(t, template(t, killed))
		for file := range whole {
			for _, d := range damages {
				for seed := range rounds {
					name := fmt.Sprintf("killed %v, %s, %s, %d", killed, file, d.name, seed)
					hurt := whole.damaged(file, uint64(seed), d.do)
					if hurt == nil {
						continue
					}
					dir := filepath.Join(t.TempDir(), "facts")
					hurt.write(t, dir)
					checkDamaged(t, name, dir)
				}
			}
		}
	}
}

// damaged returns a copy of fs with a damage to a file, or nil where that has nothing to damage.
func (fs files) damaged(file string, seed uint64, do func(*rand.Rand, []byte) []byte) files {
	fs = maps.Clone(fs)
	c := fs[file]
	switch {
	case do == nil:
		delete(fs, file)
	case len(c.data) == 0:
		return nil
	default:
		data := do(rand.New(rand.NewPCG(seed, 1)), bytes.Clone(c.data))
		size := c.size
		if int64(len(c.data)) == size {
			size = int64(len(data))
		}
		fs[file] = content{data, max(size, int64(len(data)))}
	}
	return fs
}

func checkDamaged(t *testing.T, name, dir string) {
	t.Helper()
	s, err := Open(dir, nil)
	if err != nil {
		t.Errorf("%s: %v", name, err)
		return
	}
	defer s.Close()
	r := testRecipe(t, s, "test/1")
	lost := map[note.ID]*note.Note{}
	for i := range templateNotes {
		id, want := testNote(i)
		got, ok, err := s.Note(r, id)
		if err != nil || ok && !reflect.DeepEqual(got, want) {
			t.Errorf("%s: note %d = %v, %v", name, i, got, err)
		}
		if !ok {
			lost[id] = want
		}
	}
	if err := s.PutNotes(r, lost); err != nil {
		t.Errorf("%s: put: %v", name, err)
	}
	if missing, err := s.MissingNotes(r, slices.Collect(maps.Keys(lost))); len(missing) > 0 || err != nil {
		t.Errorf("%s: after put %d are missing, %v", name, len(missing), err)
	}
	if len(lost) > 0 && len(s.Events()) == 0 && !strings.Contains(name, ".mem") {
		t.Errorf("%s: %d notes are lost and nothing is said", name, len(lost))
	}
	if faults, err := s.Verify(t.Context()); err != nil || len(faults) > 0 && len(lost) == 0 && len(s.Events()) == 0 {
		t.Errorf("%s: Verify: %v, %v", name, faults, err)
	}
}

// Verify finds what is wrong with an open store, and Get does not give it.
func TestVerify(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "facts")
	s, err := Open(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	r := testRecipe(t, s, "note/1")
	good, bad, garbage := WorkTree.Key(r, []byte("good")), WorkTree.Key(r, []byte("bad")), Notes.Key(r, make([]byte, 20))
	cutShort := WorkTree.Key(r, []byte("cut"))
	large := make([]byte, 2*pieceSize)
	if err := s.Put(Fact{good, []byte("x")}, Fact{bad, []byte("x")}, Fact{garbage, []byte("no note")}, Fact{cutShort, large}); err != nil {
		t.Fatal(err)
	}
	if faults, err := s.Verify(t.Context()); len(faults) != 1 || err != nil || faults[0].Key != garbage.String() {
		t.Errorf("Verify = %v, %v, want the note that is none", faults, err)
	}
	nobody := WorkTree.Key(r+1, []byte("x")).bytes()
	err = s.db.Update(func(txn *badger.Txn) error {
		v := seal("note/1", bad.bytes(), s.now(), whole, []byte("x"))
		v[len(v)-1] ^= 4
		return errors.Join(
			txn.Set(bad.bytes(), v),
			txn.Set([]byte("??"), nil),
			txn.Set(nobody, seal("", nobody, s.now(), whole, nil)),
			txn.Set(recipeKey(9), []byte("x")),
			txn.Delete(pieceKey(newPieceHead(cutShort.bytes(), large).sum, 1)),
		)
	})
	if err != nil {
		t.Fatal(err)
	}
	faults, err := s.Verify(t.Context())
	if len(faults) != 6 || err != nil {
		t.Errorf("Verify = %v, %v, want 6 faults", faults, err)
	}
	for _, k := range []Key{bad, cutShort} {
		if b, ok, err := s.Get(k); ok || err != nil {
			t.Errorf("Get(%s) = %d bytes, %v, %v, want absent", k, len(b), ok, err)
		}
	}
	if _, ok, _ := s.Note(r, note.ID{}); ok {
		t.Error("there is a note that is none")
	}
	if n := len(s.Events()); n != 3 {
		t.Errorf("%d events, want 3", n)
	}
	s.GC(t.Context(), func(Key) bool { return true }, Grace, false)
	if _, ok, err := s.Get(good); !ok || err != nil {
		t.Errorf("after GC the good fact is gone: %v", err)
	}
}

func FuzzUnseal(f *testing.F) {
	f.Add([]byte{}, []byte("key"))
	f.Add(seal("r", []byte("key"), newClock().t, whole, []byte("body")), []byte("key"))
	f.Add(seal("r", []byte("key"), newClock().t, pieces, newPieceHead(nil, nil).bytes()), []byte("key"))
	f.Fuzz(func(t *testing.T, v, key []byte) {
		if k, err := parseKey(key); err == nil && !bytes.Equal(k.bytes(), key) {
			t.Errorf("key %x is parsed as %v", key, k)
		}
		at, form, body, err := unseal("r", key, v)
		if err != nil {
			return
		}
		if again := seal("r", key, at, form, body); !bytes.Equal(again, v) {
			t.Errorf("%x is unsealed and sealed as %x", v, again)
		}
		if h, err := parsePieceHead(body); err == nil && h.size > maxBody {
			t.Errorf("a head of %d bytes", h.size)
		}
	})
}
