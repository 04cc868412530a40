package note

import (
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"strconv"
)

// ID is the identity of a note's bytes: the SHA-1 that git gives a blob of
// them. Two notes with the same bytes have the same ID, wherever they stand.
type ID [sha1.Size]byte

// Hash returns the ID of src, computed as `git hash-object` does: SHA-1 of
// "blob <length>\0" followed by the bytes.
func Hash(src []byte) ID {
	h := sha1.New()
	h.Write(strconv.AppendInt([]byte("blob "), int64(len(src)), 10))
	h.Write([]byte{0})
	h.Write(src)
	return ID(h.Sum(nil))
}

// ParseID reads the 40 hexadecimal digits that String writes.
func ParseID(s string) (ID, error) {
	var id ID
	if len(s) != hex.EncodedLen(len(id)) {
		return ID{}, fmt.Errorf("parse blob hash %q: want 40 hexadecimal digits", s)
	}
	if _, err := hex.Decode(id[:], []byte(s)); err != nil {
		return ID{}, fmt.Errorf("parse blob hash %q: %w", s, err)
	}
	return id, nil
}

// String returns the ID as 40 lower-case hexadecimal digits.
func (id ID) String() string { return hex.EncodeToString(id[:]) }

// IsZero reports whether id is the zero ID, which no bytes have.
func (id ID) IsZero() bool { return id == ID{} }

// MarshalText implements [encoding.TextMarshaler], so that an ID is hexadecimal
// in JSON.
func (id ID) MarshalText() ([]byte, error) { return []byte(id.String()), nil }

// UnmarshalText implements [encoding.TextUnmarshaler].
func (id *ID) UnmarshalText(b []byte) error {
	v, err := ParseID(string(b))
	if err == nil {
		*id = v
	}
	return err
}
