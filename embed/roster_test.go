package embed

import (
	"encoding/binary"
	"hash/crc32"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kb/note"
)

func testRoster() *roster {
	return &roster{ids: []note.ID{{1}, {3}, {7}}, ends: []uint32{2, 2, 5}, rows: []int32{4, 0, 1, 1, 3}}
}

func TestRoster(t *testing.T) {
	r, err := decodeRoster(testRoster().encode(5), 5)
	if err != nil || !cmp.Equal(r, testRoster(), cmp.AllowUnexported(roster{})) {
		t.Fatalf("decoded as %+v, %v", r, err)
	}
	got := r.of([]note.ID{{0}, {1}, {2}, {3}, {7}, {9}})
	if d := cmp.Diff([][]int32{nil, {4, 0}, nil, {}, {1, 1, 3}, nil}, got); d != "" {
		t.Error(d)
	}
	if got := (*roster)(nil).of([]note.ID{{1}}); got[0] != nil {
		t.Errorf("no roster has %v", got)
	}
}

func TestRosterRefuses(t *testing.T) {
	good := testRoster().encode(5)
	sealed := func(b []byte) []byte {
		return binary.LittleEndian.AppendUint32(b, crc32.Checksum(b, castagnoli))
	}
	many := slices.Clone(good[:len(good)-4])
	binary.LittleEndian.PutUint32(many[rosterStart+4:], 1<<31)
	for name, b := range map[string][]byte{
		"nothing": nil, "cut": good[:len(good)-1], "another pack": testRoster().encode(6), "too many notes": sealed(many),
		"a row that is none":   (&roster{ids: []note.ID{{1}}, ends: []uint32{1}, rows: []int32{5}}).encode(5),
		"an end beyond":        (&roster{ids: []note.ID{{1}}, ends: []uint32{2}, rows: []int32{0}}).encode(5),
		"ends that go back":    (&roster{ids: []note.ID{{1}, {2}}, ends: []uint32{1, 0}, rows: []int32{0}}).encode(5),
		"rows without a note":  (&roster{ends: []uint32{}, rows: []int32{0}}).encode(5),
		"another magic number": sealed(append([]byte("x"), good[1:len(good)-4]...)),
	} {
		if r, err := decodeRoster(b, 5); err == nil {
			t.Errorf("%s: %+v", name, r)
		}
	}
}

// With a roster or without, a view is the same.
func TestRosterChangesNothing(t *testing.T) {
	w := randomWorld(rand.New(rand.NewPCG(6, 1)), 60)
	ids := w.ids()
	x, dir := openIndex(t, (&counting{}).model())
	x.packs.few = 10
	mustSync(t, x, ids[:50], w)
	mustView(t, x, ids[:50])
	mustSync(t, x, ids, w) // the last ten are in no file
	if x.packs.notes == nil || len(x.packs.notes.ids) != 50 {
		t.Fatalf("the roster is %+v", x.packs.notes)
	}
	want := answers(t, mustView(t, x, ids), ids)
	x.packs.notes = nil
	if got := answers(t, mustView(t, x, ids), ids); got != want {
		t.Error("without a roster, answers differ")
	}
	if err := x.Close(); err != nil {
		t.Fatal(err)
	}
	if _, r := x.packs.current(); r == nil {
		t.Error("the roster is not read again")
	}
	if files, _ := filepath.Glob(filepath.Join(dir, "vec", "*", "*")); len(files) != 2 {
		t.Errorf("files: %v", files)
	}
}

func FuzzRoster(f *testing.F) {
	f.Add(testRoster().encode(5))
	f.Fuzz(func(t *testing.T, b []byte) {
		if r, err := decodeRoster(b, 5); err == nil {
			r.of([]note.ID{{1}, {3}, {7}})
		}
	})
}
