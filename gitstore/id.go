package gitstore

import (
	"encoding/hex"
	"fmt"
)

// oid names any object of the repository, whatever its kind.
type oid [20]byte

func (id oid) String() string { return hex.EncodeToString(id[:]) }

// parseOID reads exactly 40 hexadecimal digits.
func parseOID[S string | []byte](s S) (oid, bool) {
	var id oid
	if len(s) != hex.EncodedLen(len(id)) {
		return oid{}, false
	}
	_, err := hex.Decode(id[:], []byte(s))
	return id, err == nil
}

// CommitID is the hash of a commit.
type CommitID [20]byte

// ParseCommitID reads the 40 hexadecimal digits that String writes.
func ParseCommitID(s string) (CommitID, error) {
	id, ok := parseOID(s)
	if !ok {
		return CommitID{}, fmt.Errorf("parse commit hash %q: want 40 hexadecimal digits", s)
	}
	return CommitID(id), nil
}

// String returns the hash as 40 lower-case hexadecimal digits.
func (id CommitID) String() string { return oid(id).String() }

// IsZero reports whether id is the zero CommitID, which no commit has.
func (id CommitID) IsZero() bool { return id == CommitID{} }

// MarshalText implements [encoding.TextMarshaler].
func (id CommitID) MarshalText() ([]byte, error) { return []byte(id.String()), nil }

// UnmarshalText implements [encoding.TextUnmarshaler].
func (id *CommitID) UnmarshalText(b []byte) error {
	v, err := ParseCommitID(string(b))
	if err == nil {
		*id = v
	}
	return err
}

// TreeID is the hash of a tree.
type TreeID [20]byte

// ParseTreeID reads the 40 hexadecimal digits that String writes.
func ParseTreeID(s string) (TreeID, error) {
	id, ok := parseOID(s)
	if !ok {
		return TreeID{}, fmt.Errorf("parse tree hash %q: want 40 hexadecimal digits", s)
	}
	return TreeID(id), nil
}

// String returns the hash as 40 lower-case hexadecimal digits.
func (id TreeID) String() string { return oid(id).String() }

// IsZero reports whether id is the zero TreeID, which no tree has.
func (id TreeID) IsZero() bool { return id == TreeID{} }

// MarshalText implements [encoding.TextMarshaler].
func (id TreeID) MarshalText() ([]byte, error) { return []byte(id.String()), nil }

// UnmarshalText implements [encoding.TextUnmarshaler].
func (id *TreeID) UnmarshalText(b []byte) error {
	v, err := ParseTreeID(string(b))
	if err == nil {
		*id = v
	}
	return err
}
