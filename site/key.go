package site

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
)

// keyer hashes what something is made of: two lists of parts have one key only if
// they are the same.
type keyer struct{ buf []byte }

func (k *keyer) put(parts ...string) {
	for _, p := range parts {
		k.buf = binary.AppendUvarint(k.buf, uint64(len(p)))
		k.buf = append(k.buf, p...)
	}
}

func (k *keyer) number(n int) { k.buf = binary.AppendVarint(k.buf, int64(n)) }

func (k *keyer) links(links ...link) {
	k.number(len(links))
	for _, l := range links {
		k.put(l.URL, l.Text)
	}
}

// sum is the key; the keyer begins anew.
func (k *keyer) sum() string {
	sum := sha256.Sum256(k.buf)
	k.buf = k.buf[:0]
	return hex.EncodeToString(sum[:12])
}
