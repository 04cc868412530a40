package vector

import (
	"bytes"
	"encoding/binary"
	"errors"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A charsmap is SentencePiece's table of replacements: a double-array trie,
// whose values are where in text the replacement stands, up to a zero byte.
type charsmap struct {
	units []uint32
	text  []byte
}

func parseCharsmap(src []byte) (*charsmap, error) {
	if len(src) < 4 {
		return nil, errors.New("charsmap is truncated")
	}
	size, src := binary.LittleEndian.Uint32(src), src[4:]
	if size%4 != 0 || uint64(size) > uint64(len(src)) {
		return nil, errors.New("charsmap is truncated")
	}
	m := &charsmap{units: make([]uint32, size/4), text: src[size:]}
	for i := range m.units {
		m.units[i] = binary.LittleEndian.Uint32(src[4*i:])
	}
	return m, nil
}

// A unit holds a label or a value, and the distance to the children.
func unitLabel(u uint32) uint32  { return u & (1<<31 | 0xFF) }
func unitOffset(u uint32) uint32 { return u >> 10 << (u & (1 << 9) >> 6) }
func unitHasLeaf(u uint32) bool  { return u>>8&1 == 1 }
func unitValue(u uint32) uint32  { return u & (1<<31 - 1) }

func (m *charsmap) unit(at uint32) uint32 {
	if at >= uint32(len(m.units)) {
		return 1 << 31 // no byte's label
	}
	return m.units[at]
}

// lookup returns the replacement of the shortest prefix of s that has one.
func (m *charsmap) lookup(s string) (replacement []byte, ok bool) {
	at := unitOffset(m.unit(0))
	for i := 0; i < len(s) && s[i] != 0; i++ {
		at ^= uint32(s[i])
		u := m.unit(at)
		if unitLabel(u) != uint32(s[i]) {
			return nil, false
		}
		at ^= unitOffset(u)
		if unitHasLeaf(u) {
			return m.replacement(unitValue(m.unit(at)))
		}
	}
	return nil, false
}

func (m *charsmap) replacement(at uint32) ([]byte, bool) {
	if at > uint32(len(m.text)) {
		return nil, false
	}
	text := m.text[at:]
	if end := bytes.IndexByte(text, 0); end >= 0 {
		text = text[:end]
	}
	return text, true
}

// apply replaces what the table has. A character with its marks counts as one,
// if that is short and the table has it; else each stands for itself.
func (m *charsmap) apply(s string) string {
	var b strings.Builder
	b.Grow(len(s))
	for s != "" {
		cluster := s[:clusterLen(s)]
		s = s[len(cluster):]
		if len(cluster) < 6 {
			if r, ok := m.lookup(cluster); ok {
				b.Write(r)
				continue
			}
		}
		for _, r := range cluster {
			if by, ok := m.lookup(string(r)); ok {
				b.Write(by)
			} else {
				b.WriteRune(r)
			}
		}
	}
	return b.String()
}

// clusterLen returns the length of the first character of s with the marks and
// joiners that follow it, or of a line's end.
func clusterLen(s string) int {
	if strings.HasPrefix(s, "\r\n") {
		return 2
	}
	first, n := utf8.DecodeRuneInString(s)
	if unicode.IsControl(first) {
		return n
	}
	for n < len(s) && s[n] >= utf8.RuneSelf {
		r, size := utf8.DecodeRuneInString(s[n:])
		if !unicode.Is(unicode.M, r) && r != '\u200c' && r != '\u200d' {
			break
		}
		n += size
	}
	return n
}
