package cas

import (
	"crypto/sha1"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"time"
)

// A value is sealed: bytes 0-3 are the second it was written, 4-7 a CRC-32C
// over recipe name, key, and all of the value but bytes 4-7; byte 8 is its
// form; the rest depends on the form. Because the sum covers the name of the recipe, a
// fact can never be read under another recipe that was given the same number.
const (
	sealSize = 9

	whole  = 0 // the body itself
	pieces = 1 // a pieceHead: the body is in entries of its own

	sumSize = sha1.Size

	// Badger moves values above 1 MiB into its value log, where space comes
	// back late or never, and limits a transaction to a part of its memtable.
	// Longer bodies are therefore cut.
	pieceSize = 512 << 10
)

var (
	errSeal  = errors.New("checksum does not match")
	castTab  = crc32.MakeTable(crc32.Castagnoli)
	errShape = errors.New("not a value of this store")
)

// seal returns the stored form of body.
func seal(recipe string, key []byte, at time.Time, form byte, body []byte) []byte {
	v := make([]byte, sealSize, sealSize+len(body))
	binary.LittleEndian.PutUint32(v, uint32(at.Unix()))
	v[8] = form
	v = append(v, body...)
	binary.LittleEndian.PutUint32(v[4:], sealSum(recipe, key, v))
	return v
}

// unseal checks v and returns its parts; body is a part of v.
func unseal(recipe string, key, v []byte) (at time.Time, form byte, body []byte, err error) {
	if len(v) < sealSize || v[8] > pieces {
		return at, 0, nil, errShape
	}
	if binary.LittleEndian.Uint32(v[4:]) != sealSum(recipe, key, v) {
		return at, 0, nil, errSeal
	}
	return time.Unix(int64(binary.LittleEndian.Uint32(v)), 0), v[8], v[sealSize:], nil
}

func sealSum(recipe string, key, v []byte) uint32 {
	sum := crc32.Update(0, castTab, []byte(recipe))
	sum = crc32.Update(sum, castTab, key)
	sum = crc32.Update(sum, castTab, v[:4])
	return crc32.Update(sum, castTab, v[8:])
}

// pieceHead stands for a body that was cut.
type pieceHead struct {
	sum  [sumSize]byte
	size int
}

func newPieceHead(key, body []byte) pieceHead {
	h := sha1.New()
	h.Write(key)
	h.Write(body)
	return pieceHead{[sumSize]byte(h.Sum(nil)), len(body)}
}

func (h pieceHead) count() int { return (h.size + pieceSize - 1) / pieceSize }

func (h pieceHead) bytes() []byte {
	return binary.AppendUvarint(h.sum[:], uint64(h.size))
}

func parsePieceHead(b []byte) (pieceHead, error) {
	if len(b) <= sumSize {
		return pieceHead{}, errShape
	}
	size, n := binary.Uvarint(b[sumSize:])
	if n != len(b)-sumSize || size > maxBody {
		return pieceHead{}, errShape
	}
	return pieceHead{[sumSize]byte(b), int(size)}, nil
}

// cut returns piece i of body.
func cut(body []byte, i int) []byte {
	return body[i*pieceSize : min((i+1)*pieceSize, len(body))]
}
