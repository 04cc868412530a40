package site

import (
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

// Words have places that follow each other within a section, and none beyond.
func TestPlaces(t *testing.T) {
	p := places{}
	p.add(2, []byte{0, 2, 0, 0, 0, 7, 0, 0, 8, 0, 0 /* title: 7 8 */, 5, 3, 0, 0, 0, 7, 0, 0, 7, 0, 0, 9, 0, 0 /* body: 7 7 9 */, SearchFields, 1, 0, 0, 0, 8, 0, 0})
	p.add(5, []byte{5, 1, 0, 0, 0, 8, 0, 0})
	got := map[uint32][]byte{}
	for hash, l := range p {
		got[hash] = l.buf
	}
	want := map[uint32][]byte{
		7: {2, 1 | 1<<5, 1, 0, 2, 3, 1},
		8: {2, 1 | 1<<SearchFields, 1, 1, 1, 7, 3, 1 << 5, 1, 0},
		9: {2, 1 << 5, 1, 5},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
