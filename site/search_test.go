package site

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A change in one place does not move where files end elsewhere.
func TestShardsEndAlike(t *testing.T) {
	const target = 4096
	type item struct {
		key  string
		size int
	}
	r := rand.New(rand.NewPCG(1, 2))
	var items []item
	for i := range 20000 {
		items = append(items, item{fmt.Sprint("term", i), 5 + r.IntN(60)})
	}
	ends := func(items []item) (keys []string) {
		size := 0
		for _, it := range items {
			if size += it.size; shardEnds(size, it.size, target, it.key) {
				if size < target/2 || size > 2*target+it.size {
					t.Errorf("a file of %d bytes, want about %d", size, target)
				}
				keys = append(keys, it.key)
				size = 0
			}
		}
		return keys
	}
	before := ends(items)
	if n := len(before); n < 20000*35/target/2 || n > 20000*35/target*2 {
		t.Errorf("%d files", n)
	}
	for range 20 {
		changed := slices.Clone(items)
		at := r.IntN(len(changed))
		changed[at].size += 40
		after := ends(slices.Insert(changed, r.IntN(len(items)), item{"new", 30}))
		lost := 0
		for _, key := range before {
			if !slices.Contains(after, key) {
				lost++
			}
		}
		if lost > 12 {
			t.Errorf("a term more and one longer: %d of %d files end elsewhere", lost, len(before))
		}
	}
}

// What is greater than all that is in one file, and not than what begins the next.
func TestBetween(t *testing.T) {
	for _, tt := range [][3]string{
		{"", "a", "a"}, {"abc", "abd", "abd"}, {"abc", "b", "b"}, {"abcdef", "abdxyz", "abd"}, {"a", "abc", "ab"}, {"é", "êtes", "ê"}, {"z", "日本", "日"},
	} {
		if got := between(tt[0], tt[1]); got != tt[2] {
			t.Errorf("between(%q, %q) = %q, want %q", tt[0], tt[1], got, tt[2])
		}
	}
}

// stream is sections of words, by field, as streams have them.
func stream(sections ...[]uint32) (out []byte) {
	for _, s := range sections {
		out = binary.LittleEndian.AppendUint32(append(out, byte(s[0])), uint32(len(s)-1))
		for _, w := range s[1:] {
			out = append(out, byte(w), byte(w>>8), byte(w>>16))
		}
	}
	return out
}

// The words of a section follow each other, from place to place and from block to
// block.
func TestReadStream(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var sections [][]uint32
	var lines []int
	for f := range uint32(40) {
		s := []uint32{f % (SearchFields + 1)}
		for range r.IntN(100) {
			s = append(s, uint32(r.IntN(1<<24)))
		}
		sections, lines = append(sections, s), append(lines, 1+r.IntN(40))
	}
	words := readStream(stream(sections...), lines)
	at := map[int]bool{}
	for _, s := range sections {
		for i, hash := range s[1:] {
			w := words[0]
			words = words[1:]
			if w.hash != hash || w.field != byte(s[0]) || at[w.at] {
				t.Fatalf("word %d is %+v, want %d", i, w, hash)
			}
			at[w.at] = true
			if last := i+2 == len(s); last && w.next != 0 || !last && w.next != words[0].at {
				t.Fatalf("behind %+v there is %+v", w, words)
			}
		}
	}
	if len(words) > 0 {
		t.Errorf("%d words too many", len(words))
	}
}

// A word in the place of another moves none, and a word more those of its line.
func TestPlacesStay(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	text, body := []byte(nil), []uint32{bodyField}
	for range 1500 {
		text = append(text, "word"...)
		text = append(text, " \n"[r.IntN(9)/8])
		body = append(body, r.Uint32()&(1<<24-1))
	}
	before := readStream(stream(body), wordsInLines(text))
	var moved []int
	for range 200 {
		at := r.IntN(len(before) - 1)
		changed := slices.Clone(body)
		changed[1+at] = 1
		for i, w := range readStream(stream(changed), wordsInLines(text)) {
			if i != at && w != before[i] {
				t.Fatalf("another word at %d moves that at %d from %+v to %+v", at, i, before[i], w)
			}
		}
		after := readStream(stream(slices.Insert(slices.Clone(body), 1+at, 1)), wordsInLines(slices.Insert(slices.Clone(text), 5*at, []byte("more ")...)))
		n := 0
		for i, w := range before[at:] {
			if after[at+1+i] != w {
				n++
			}
		}
		moved = append(moved, n)
	}
	slices.Sort(moved)
	if moved[100] > 10 || moved[160] > 25 {
		t.Errorf("a word more moves %d words, half of the times; one of five times %d", moved[100], moved[160])
	}
}

// Lines have as many words as a search counts, in most texts.
func TestWordsInLines(t *testing.T) {
	got := wordsInLines([]byte("# A title\n\n - don't `foo-bar`, 3 times\n東京 is\n...\nend"))
	if diff := cmp.Diff([]int{2, 5, 3, 1}, got); diff != "" {
		t.Error(diff)
	}
}

// Places are listed by note, field and place.
func TestPlaces(t *testing.T) {
	p := places{}
	p.add(2, readStream(stream([]uint32{0, 7, 8}, []uint32{5, 7, 7, 9}, []uint32{SearchFields, 8}), []int{2, 1}))
	p.add(5, readStream(stream([]uint32{5, 8}), nil))
	got := map[uint32][]byte{}
	for hash, l := range p {
		got[hash] = l.buf
	}
	want := map[uint32][]byte{
		7: {2, 1 | 1<<5, 1, 2 * 0, 2, 2 * 8, 2*1 + 1, 7},
		8: {2, 1 | 1<<SearchFields, 1, 2*1 + 1, 0, 1, 2*24 + 1, 0, 3, 1 << 5, 1, 1, 0},
		9: {2, 1 << 5, 1, 2*16 + 1, 0},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
