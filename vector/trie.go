package vector

import (
	"bytes"
	"cmp"
	"slices"
)

// A trie finds the pieces that a text begins with. The children of a node stand
// side by side, so that following a byte is one search in a few bytes.
type trie struct {
	label []byte  // the byte that leads to a node
	first []int32 // its first child
	count []int32 // how many children it has
	id    []int32 // the piece that ends here, or -1
}

// piece is a string of the vocabulary and its token.
type piece struct {
	text string
	id   int32
}

// newTrie builds a trie of the pieces, of which none is empty. Of equal pieces
// the one with the largest token stays.
func newTrie(pieces []piece) *trie {
	pieces = slices.Clone(pieces)
	slices.SortFunc(pieces, func(a, b piece) int {
		return cmp.Or(cmp.Compare(a.text, b.text), cmp.Compare(b.id, a.id))
	})
	pieces = slices.CompactFunc(pieces, func(a, b piece) bool { return a.text == b.text })
	t := &trie{}
	t.add(0)
	type span struct{ lo, hi, depth int }
	spans := []span{{0, len(pieces), 0}} // of the node with the same number
	for node := 0; node < len(spans); node++ {
		s := spans[node]
		if s.lo < s.hi && len(pieces[s.lo].text) == s.depth {
			t.id[node] = pieces[s.lo].id
			s.lo++
		}
		t.first[node] = int32(len(t.label))
		for s.lo < s.hi {
			c, end := pieces[s.lo].text[s.depth], s.lo+1
			for end < s.hi && pieces[end].text[s.depth] == c {
				end++
			}
			t.add(c)
			t.count[node]++
			spans = append(spans, span{s.lo, end, s.depth + 1})
			s.lo = end
		}
	}
	return t
}

func (t *trie) add(label byte) {
	t.label = append(t.label, label)
	t.first = append(t.first, 0)
	t.count = append(t.count, 0)
	t.id = append(t.id, -1)
}

// child returns the node that c leads to from node, or -1.
func (t *trie) child(node int32, c byte) int32 {
	first := t.first[node]
	i := bytes.IndexByte(t.label[first:first+t.count[node]], c)
	if i < 0 {
		return -1
	}
	return first + int32(i)
}

// longest returns the token and the length of the longest piece that s begins
// with, or -1 and 0.
func (t *trie) longest(s string) (id int32, length int) {
	id = -1
	node := int32(0)
	for i := 0; i < len(s); i++ {
		if node = t.child(node, s[i]); node < 0 {
			break
		}
		if t.id[node] >= 0 {
			id, length = t.id[node], i+1
		}
	}
	return id, length
}
