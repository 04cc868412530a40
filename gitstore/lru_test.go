package gitstore

import (
	"encoding/binary"
	"fmt"
	"runtime"
	"testing"
)

// What a cache counts is what it takes, also where values are small and their
// keep is most of it.
func TestLRUCountsWhatItTakes(t *testing.T) {
	for _, size := range []int{0, 40, 1000} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			before := heapBytes()
			c := newLRU[entryKey, object](8 << 20)
			for i := range int64(100_000) {
				c.put(entryKey{nil, i}, object{kindBlob, make([]byte, size)}, size)
			}
			took := heapBytes() - before
			if took > int64(c.max)*5/4 {
				t.Errorf("%d values counted as %d bytes take %d", len(c.items), c.size, took)
			}
			runtime.KeepAlive(c)
		})
	}
}

func heapBytes() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// Parsed trees and commits count as what they take, too.
func TestCachedHistoryCountsWhatItTakes(t *testing.T) {
	r := mustOpen(t, newRepo(t, map[string]string{"a": "1"}))
	raw := make([]byte, 0, 100*30)
	for i := range 100 {
		raw = append(fmt.Appendf(raw, "100644 n%03d.md\x00", i), make([]byte, 20)...)
	}
	before := heapBytes()
	for i := range uint32(2000) {
		id := oid(binary.BigEndian.AppendUint32(make([]byte, 16), i))
		entries, err := parseTree(raw)
		if err != nil {
			t.Fatal(err)
		}
		tree := cleanTree(entries)
		r.trees.put(id, tree, tree.bytes(raw))
		parent := CommitID(id)
		r.graph.put(parent, &graphCommit{id: parent, parents: []CommitID{parent}, author: fmt.Sprint("author ", i)}, graphBytes+20+len("author 1"))
	}
	took, counted := heapBytes()-before, int64(r.trees.size+r.graph.size)
	if took > counted*6/5 || took < counted*3/4 {
		t.Errorf("counted as %d bytes, they take %d", counted, took)
	}
	runtime.KeepAlive(r)
}

// get makes a value the last that is pushed out.
func TestLRUOrder(t *testing.T) {
	c := newLRU[int, string](8 * itemBytes)
	for i := range 8 {
		c.put(i, "v", 0)
	}
	c.get(0)
	c.put(8, "v", 0)
	if _, ok := c.get(0); !ok {
		t.Error("0 was asked for, and is gone")
	}
	if _, ok := c.get(1); ok {
		t.Error("1 was not asked for, and is there")
	}
	c.put(9, "v", 2*itemBytes)
	if _, ok := c.get(9); ok {
		t.Error("a value of more than a quarter is kept")
	}
	c.drop(func(k int) bool { return k%2 == 0 })
	if len(c.items) != 3 || c.size != 3*itemBytes {
		t.Errorf("%d items of %d bytes are left, want 3", len(c.items), c.size)
	}
	for i := c.ring.next; i != &c.ring; i = i.next {
		if i.key%2 == 0 {
			t.Errorf("%d is still in line", i.key)
		}
	}
}
