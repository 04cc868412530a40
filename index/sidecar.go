package index

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"

	"kb/note"
)

// A segment is two files: <key>.zap, and the sidecar <key>.ids, which is renamed
// into place last and thereby makes the segment exist. A sidecar is
//
//	magic    "kbids1\n"
//	length   uvarint: bytes of the .zap
//	sum      32 bytes: SHA-256 of the .zap
//	count    uvarint: notes
//	notes    each: blob (20 bytes), flags (1 byte), tokens per stored field (uvarints)
//	check    32 bytes: SHA-256 of all the above
//
// A note's number in the .zap is its place in the list.
const sidecarMagic = "kbids1\n"

// The flags of a note.
const (
	flagObsolete = 1 << iota
	flagPlain
)

var errSidecar = errors.New("sidecar is damaged")

type sidecar struct {
	size    int64
	sum     [sha256.Size]byte
	entries []entry
}

func (s *sidecar) encode() []byte {
	b := make([]byte, 0, 64+len(s.entries)*(len(note.ID{})+10))
	b = append(b, sidecarMagic...)
	b = binary.AppendUvarint(b, uint64(s.size))
	b = append(b, s.sum[:]...)
	b = binary.AppendUvarint(b, uint64(len(s.entries)))
	for i := range s.entries {
		e := &s.entries[i]
		b = append(b, e.blob[:]...)
		flags := byte(0)
		if e.obsolete {
			flags |= flagObsolete
		}
		if e.plain {
			flags |= flagPlain
		}
		b = append(b, flags)
		for _, n := range e.lens {
			b = binary.AppendUvarint(b, uint64(n))
		}
	}
	check := sha256.Sum256(b)
	return append(b, check[:]...)
}

// decodeSidecar reads what encode wrote, and refuses everything else.
func decodeSidecar(b []byte) (*sidecar, error) {
	end := len(b) - sha256.Size
	if end < len(sidecarMagic) || !bytes.HasPrefix(b, []byte(sidecarMagic)) {
		return nil, fmt.Errorf("%w: not a sidecar", errSidecar)
	}
	if check := sha256.Sum256(b[:end]); !bytes.Equal(check[:], b[end:]) {
		return nil, fmt.Errorf("%w: checksum differs", errSidecar)
	}
	r := cursor{b: b[len(sidecarMagic):end]}
	s := &sidecar{size: int64(r.uvarint())}
	copy(s.sum[:], r.next(sha256.Size))
	n := r.uvarint()
	if n > uint64(len(r.b)) {
		return nil, fmt.Errorf("%w: %d notes in %d bytes", errSidecar, n, len(b))
	}
	s.entries = make([]entry, n)
	for i := range s.entries {
		e := &s.entries[i]
		copy(e.blob[:], r.next(len(e.blob)))
		if f := r.next(1); len(f) == 1 {
			e.obsolete, e.plain = f[0]&flagObsolete != 0, f[0]&flagPlain != 0
		}
		for f := range e.lens {
			e.lens[f] = uint32(r.uvarint())
		}
	}
	if r.bad || len(r.b) != 0 {
		return nil, fmt.Errorf("%w: length differs", errSidecar)
	}
	return s, nil
}

// cursor reads from the front of b; after a short read it is bad and reads zeros.
type cursor struct {
	b   []byte
	bad bool
}

func (c *cursor) next(n int) []byte {
	if len(c.b) < n {
		c.b, c.bad = nil, true
		return nil
	}
	v := c.b[:n]
	c.b = c.b[n:]
	return v
}

func (c *cursor) uvarint() uint64 {
	v, n := binary.Uvarint(c.b)
	if n <= 0 {
		c.b, c.bad = nil, true
		return 0
	}
	c.b = c.b[n:]
	return v
}
