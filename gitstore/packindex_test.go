package gitstore

import (
	"bytes"
	"crypto/sha1"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestPackIndexDamage damages every part of an index of git's.
func TestPackIndexDamage(t *testing.T) {
	t.Parallel()
	d := newRepo(t, map[string]string{"a": "a", "b": "b", "c": "c"})
	git(t, d, "repack", "-adq")
	file := indexFiles([]string{filepath.Join(d, ".git", "objects")})[0]
	good, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := readIndexBytes(t, good); err != nil {
		t.Fatal(err)
	}
	for i := range good {
		bad := bytes.Clone(good)
		bad[i] ^= 0x10
		if _, err := readIndexBytes(t, bad); !errors.Is(err, ErrCorrupt) {
			t.Errorf("byte %d changed: %v", i, err)
		}
	}
	for n := 0; n < len(good); n += 7 {
		if _, err := readIndexBytes(t, good[:n]); !errors.Is(err, ErrCorrupt) {
			t.Errorf("cut off at %d: %v", n, err)
		}
	}
}

type sizeOnly struct {
	fs.FileInfo
	size int
}

func (s sizeOnly) Size() int64 { return int64(s.size) }

func readIndexBytes(t testing.TB, b []byte) (*packIndex, error) {
	t.Helper()
	return decodePackIndex(bytes.NewReader(b), sizeOnly{size: len(b)})
}

func FuzzPackIndex(f *testing.F) {
	f.Add([]byte("\xfftOc\x00\x00\x00\x02"+strings.Repeat("\x00", 1024+20)), []byte{1})
	f.Add(append([]byte("\xfftOc\x00\x00\x00\x02"), bytes.Repeat([]byte{0, 0, 0, 1}, 256+12)...), []byte{1})
	f.Fuzz(func(t *testing.T, b, name []byte) {
		sum := sha1.Sum(b) // else nothing gets past the checksum
		x, err := readIndexBytes(t, append(b, sum[:]...))
		if err != nil {
			return
		}
		var id oid
		copy(id[:], name)
		x.find(id)
		x.withPrefix(id.String()[:4], func(oid) {})
	})
}
