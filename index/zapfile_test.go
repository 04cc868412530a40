package index

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/RoaringBitmap/roaring/v2"
	segment "github.com/blevesearch/scorch_segment_api/v2"
	zap "github.com/blevesearch/zapx/v17"
)

// randomFile writes a segment of n notes, whose term in 1/k of the notes is "k".
// It returns what each term's postings are, and each note's stream.
func randomFile(t *testing.T, r *rand.Rand, z *zapFile, n int) (segment.Segment, map[string][]posting, [][]byte) {
	t.Helper()
	z.reset()
	var streams [][]byte
	for range n {
		s := bytes.Repeat([]byte{byte(r.IntN(9)), 7}, r.IntN(50))
		streams = append(streams, s)
		z.note(s)
	}
	want := map[string][]posting{}
	var terms []*term
	for _, k := range []int{1, 2, 3, 10, 100, 1000, 5000} {
		name := fmt.Sprint(k)
		for i := range n {
			if r.IntN(k) == 0 {
				want[name] = append(want[name], posting{freq: 1 + r.Uint64N(1<<r.IntN(40)), note: uint32(i)})
			}
		}
		if len(want[name]) > 0 {
			terms = append(terms, &term{text: name})
		}
	}
	terms = append(terms, &term{text: "alone"})
	want["alone"] = []posting{{freq: 1, note: uint32(n - 1)}}
	seg, err := z.segment(terms, func(t *term) []posting { return want[t.text] })
	if err != nil {
		t.Fatal(err)
	}
	return seg, want, streams
}

// checkFile compares a segment with what it should hold; shift is how many
// notes stand before.
func checkFile(t *testing.T, seg segment.Segment, want map[string][]posting, streams [][]byte, shift int) {
	t.Helper()
	dict, err := seg.Dictionary(zapTerms)
	if err != nil {
		t.Fatal(err)
	}
	for name, ps := range want {
		list, err := dict.PostingsList([]byte(name), nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		it := list.Iterator(true, false, false, nil)
		var got []posting
		for p, err := it.Next(); p != nil; p, err = it.Next() {
			if err != nil {
				t.Fatal(err)
			}
			if i := int(p.Number()) - shift; i >= 0 && i < len(streams) {
				got = append(got, posting{freq: p.Frequency(), note: uint32(i)})
			}
		}
		if !slices.Equal(got, ps) {
			t.Fatalf("%d notes, term %q: %d postings, want %d", len(streams), name, len(got), len(ps))
		}
	}
	for i, want := range streams {
		var got []byte
		if err := seg.VisitStoredFields(uint64(shift+i), func(name string, _ byte, v []byte, _ []uint64) bool {
			if name == zapStream {
				got = bytes.Clone(v)
			}
			return true
		}); err != nil || !bytes.Equal(got, want) {
			t.Fatalf("note %d: stream %v, want %v, %v", i, got, want, err)
		}
	}
}

// TestZapReadsOurFiles has zap read segments from memory and from disk, and
// merge them with each other.
func TestZapReadsOurFiles(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 8))
	var z zapFile
	var plugin zap.ZapPlugin
	for _, n := range []int{1, 2, 1023, 1024, 1025, 5000} {
		seg, want, streams := randomFile(t, r, &z, n)
		checkFile(t, seg, want, streams, 0)

		path := filepath.Join(t.TempDir(), "a.zap")
		f, err := os.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := seg.(io.WriterTo).WriteTo(f); err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		disk, err := plugin.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer disk.Close()
		if disk.Count() != uint64(n) {
			t.Errorf("%d notes, want %d", disk.Count(), n)
		}
		checkFile(t, disk, want, streams, 0)

		other, want2, streams2 := randomFile(t, r, &z, 700)
		merged := filepath.Join(t.TempDir(), "m.zap")
		if _, _, err := plugin.Merge([]segment.Segment{disk, other}, []*roaring.Bitmap{nil, nil}, merged, nil, nil); err != nil {
			t.Fatal(err)
		}
		both, err := plugin.Open(merged)
		if err != nil {
			t.Fatal(err)
		}
		defer both.Close()
		checkFile(t, both, want, streams, 0)
		checkFile(t, both, want2, streams2, n)
	}
}
