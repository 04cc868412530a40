package gitstore

import (
	"bufio"
	"crypto"
	"crypto/sha1"
	"encoding/binary"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sort"
	"strings"

	"github.com/go-git/go-git/v5/plumbing/format/idxfile"
	"github.com/go-git/go-git/v5/plumbing/hash"
)

// go-git's own SHA-1, which detects prepared collisions, takes longer over an
// index than all the rest of opening it. Here it only guards against damage.
func init() {
	if err := hash.RegisterHash(crypto.SHA1, sha1.New); err != nil {
		panic(err) // unreachable: SHA-1 is known there
	}
}

// packIndex says where in a pack the objects are. It looks them up in the tables
// that go-git has read and checked: go-git's own lookup takes a lock and
// remembers every answer.
type packIndex struct {
	tables idxfile.MemoryIndex
}

// readPackIndex reads an index file whole, checked against its checksum.
func readPackIndex(file string) (*packIndex, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%w: not a regular file", ErrCorrupt)
	case info.Size() > maxSmall:
		return nil, fmt.Errorf("%w: %d bytes", ErrTooLarge, info.Size())
	}
	return decodePackIndex(f, info)
}

// sizedReader tells go-git how long the index is, which it compares with the
// number of objects before it takes memory for them.
type sizedReader struct {
	io.Reader
	info fs.FileInfo
}

func (r sizedReader) Stat() (fs.FileInfo, error) { return r.info, nil }

func decodePackIndex(r io.Reader, info fs.FileInfo) (x *packIndex, err error) {
	defer func() {
		if p := recover(); p != nil {
			x, err = nil, fmt.Errorf("%w: pack index: %v", ErrCorrupt, p)
		}
	}()
	x = &packIndex{}
	src := sizedReader{bufio.NewReaderSize(r, 64<<10), info}
	err = idxfile.NewDecoder(src).Decode(&x.tables)
	if err != nil {
		return nil, fmt.Errorf("%w: pack index: %w", ErrCorrupt, err)
	}
	return x, nil
}

// bucket returns the names that start with byte b, sorted, and the offsets that
// belong to them.
func (x *packIndex) bucket(b byte) (names, offsets []byte) {
	k := x.tables.FanoutMapping[b]
	if k < 0 || k >= len(x.tables.Names) {
		return nil, nil
	}
	return x.tables.Names[k], x.tables.Offset32[k]
}

// search returns the number of the first name that is not before id.
func search(names []byte, id oid) int {
	return sort.Search(len(names)/len(id), func(i int) bool {
		return string(names[i*len(id):(i+1)*len(id)]) >= string(id[:])
	})
}

// find returns the offset of id in the pack.
func (x *packIndex) find(id oid) (int64, bool) {
	names, offsets := x.bucket(id[0])
	i := search(names, id)
	if i*len(id) == len(names) || oid(names[i*len(id):]) != id {
		return 0, false
	}
	off := binary.BigEndian.Uint32(offsets[i*4:])
	if off>>31 == 0 {
		return int64(off), true
	}
	at := int(off&^(1<<31)) * 8
	if at+8 > len(x.tables.Offset64) {
		return 0, false
	}
	wide := binary.BigEndian.Uint64(x.tables.Offset64[at:])
	return int64(wide), wide>>63 == 0
}

// withPrefix calls fn with every name that starts with the given hexadecimal
// digits, of which there are at least two.
func (x *packIndex) withPrefix(digits string, fn func(oid)) {
	lowest, _ := parseOID(digits + strings.Repeat("0", 40-len(digits)))
	names, _ := x.bucket(lowest[0])
	for i := search(names, lowest) * len(lowest); i < len(names); i += len(lowest) {
		id := oid(names[i:])
		if !strings.HasPrefix(id.String(), digits) {
			return
		}
		fn(id)
	}
}
