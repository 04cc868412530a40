package vector

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"testing"
)

// charsmapOf builds the table of replacements, in the plainest way: every node
// gets 256 units of its own.
func charsmapOf(replace map[string]string) []byte {
	type node struct {
		next  map[byte]int
		value int // offset into text, or -1
	}
	nodes, text := []node{{map[byte]int{}, -1}}, []byte{}
	var keys []string
	for k := range replace {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	for _, k := range keys {
		at := 0
		for i := range len(k) {
			next, ok := nodes[at].next[k[i]]
			if !ok {
				next = len(nodes)
				nodes[at].next[k[i]] = next
				nodes = append(nodes, node{map[byte]int{}, -1})
			}
			at = next
		}
		nodes[at].value = len(text)
		text = append(append(text, replace[k]...), 0)
	}
	// Node n has its children at base(n) ^ label, and its value at base(n).
	base := func(n int) uint32 { return uint32(n+1) << 8 }
	units := make([]uint32, (len(nodes)+1)*256)
	place := func(at uint32, n int, label byte) {
		// The offset leads from the unit to the base; 8 bits of it are shifted out.
		units[at] = (at^base(n))>>8<<10 | 1<<9 | uint32(label)
		if (at^base(n))&0xFF != 0 {
			units[at] = (at^base(n))<<10 | uint32(label)
		}
		if nodes[n].value >= 0 {
			units[at] |= 1 << 8
			units[base(n)] = uint32(nodes[n].value) | 1<<31
		}
	}
	place(0, 0, 0)
	for n := range nodes {
		for label, child := range nodes[n].next {
			place(base(n)^uint32(label), child, label)
		}
	}
	src := binary.LittleEndian.AppendUint32(nil, uint32(4*len(units)))
	for _, u := range units {
		src = binary.LittleEndian.AppendUint32(src, u)
	}
	return append(src, text...)
}

func TestCharsmap(t *testing.T) {
	src := charsmapOf(map[string]string{"ﬁ": "fi", "e\u0301": "é", "Ａ": "A", "\t": " ", "\r": " ", "\u00ad": "", "½": "1⁄2"})
	normalizer := fmt.Sprintf(`{"type":"Precompiled","precompiled_charsmap":%q}`, base64.StdEncoding.EncodeToString(src))
	all, err := parseNormalizer(json.RawMessage(normalizer))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ text, want string }{
		{"", ""},
		{"plain text", "plain text"},
		{"ﬁne Ａ", "fine A"},
		{"cafe\u0301 e", "café e"},
		{"e\u0301\u0301\u0301", "e\u0301\u0301\u0301"}, // too long to be looked up as one
		{"a\tb\r\nc\rd", "a b c d"},
		{"so\u00adft ½", "soft 1⁄2"},
		{"\x00中", "\x00中"},
	} {
		if got := all[0](c.text); got != c.want {
			t.Errorf("%q becomes %q, want %q", c.text, got, c.want)
		}
	}
	for _, bad := range []string{`""`, `"AA=="`, `"/////w=="`, `"*"`, `5`} {
		_, err := parseNormalizer(json.RawMessage(`{"type":"Precompiled","precompiled_charsmap":` + bad + `}`))
		if !errors.Is(err, ErrModel) {
			t.Errorf("charsmap %s: got %v, want %v", bad, err, ErrModel)
		}
	}
}

func FuzzCharsmap(f *testing.F) {
	f.Add(charsmapOf(map[string]string{"a": "b", "é": "e"})[1020:], "aé\u0301")
	f.Add([]byte{8, 0, 0, 0, 0, 1, 0, 0, 0xFF, 0xFF, 0xFF, 0xFF}, "x")
	f.Fuzz(func(t *testing.T, src []byte, text string) {
		if m, err := parseCharsmap(src); err == nil {
			m.apply(text)
		}
	})
}
