package cas

import (
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kb/note"
)

// A record has every field of a note, also one that is new.
func TestRecordIsWhole(t *testing.T) {
	var want note.Note
	n := 0
	fill(reflect.ValueOf(&want).Elem(), &n)
	body, err := encodeNote(&want)
	if err != nil {
		t.Fatal(err)
	}
	got, err := decodeNote(string(body))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(&want, got); diff != "" {
		t.Errorf("read from its record (-want +got):\n%s", diff)
	}
	for end := range body {
		if _, err := decodeNote(string(body[:end])); err == nil {
			t.Fatalf("the first %d bytes of %d are a note", end, len(body))
		}
	}
	if _, err := decodeNote(string(body) + "\x00"); err == nil {
		t.Error("more than a note is one")
	}
}

// fill gives every part of v another value that is not zero.
func fill(v reflect.Value, n *int) {
	*n++
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			fill(v.Field(i), n)
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		for i := range v.Len() {
			fill(v.Index(i), n)
		}
	case reflect.String:
		v.SetString(string(rune('a' + *n)))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int:
		v.SetInt(int64(*n) - 40)
	case reflect.Uint8, reflect.Uint32:
		v.SetUint(uint64(*n % 256))
	case reflect.Interface:
		v.Set(reflect.ValueOf(map[string]any{"k": []any{int64(*n), 0.5, true, nil}}))
	default:
		panic("a note has a field of kind " + v.Kind().String())
	}
}

// A property that no parser makes is refused, not lost.
func TestRecordOfUnknownValue(t *testing.T) {
	deep := any("bottom")
	for range maxDepth + 1 {
		deep = []any{deep}
	}
	for _, value := range []any{7, struct{}{}, []any{uint(1)}, deep} {
		if _, err := encodeNote(&note.Note{Fields: []note.Field{{Value: value}}}); err == nil {
			t.Errorf("a property of type %T has a record", value)
		}
	}
}

func FuzzDecodeNote(f *testing.F) {
	f.Add("")
	for i := range 3 {
		_, n := testNote(i)
		body, err := encodeNote(n)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(body))
	}
	f.Fuzz(func(t *testing.T, body string) {
		n, err := decodeNote(body)
		if err != nil {
			return
		}
		again, err := encodeNote(n)
		if err != nil {
			t.Fatal(err)
		}
		back, err := decodeNote(string(again))
		if err != nil {
			t.Fatal(err)
		}
		if twice, err := encodeNote(back); err != nil || string(twice) != string(again) {
			t.Errorf("%x becomes %x, then %x: %v", body, again, twice, err)
		}
	})
}

// NotesOf gives of those that are asked for the ones that there are, each once, in
// the order of their ids.
func TestNotesOf(t *testing.T) {
	s := openTest(t, t.TempDir()+"/facts", newClock())
	r := testRecipe(t, s, "note/1")
	if err := s.PutNotes(r, map[note.ID]*note.Note{{1}: {Title: "one"}, {2}: {Title: "two"}, {3}: {Title: "three"}, {4}: {Title: "four"}}); err != nil {
		t.Fatal(err)
	}
	bad := note.ID{3}
	if err := s.Put(Fact{Notes.Key(r, bad[:]), []byte("no note")}); err != nil {
		t.Fatal(err)
	}
	var got []string
	err := s.NotesOf(t.Context(), r, []note.ID{{4}, {3}, {9}, {1}, {4}}, func(id note.ID, n *note.Note) {
		got = append(got, id.String()[:2]+" "+n.Title)
	})
	if diff := cmp.Diff([]string{"01 one", "04 four"}, got); diff != "" || err != nil {
		t.Errorf("NotesOf, error %v (-want +got):\n%s", err, diff)
	}
	if e := s.Events(); len(e) != 1 || e[0].Code != "bad_value" {
		t.Errorf("events = %v, want one of the note that is none", e)
	}
}
