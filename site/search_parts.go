package site

import (
	"bytes"
	"compress/flate"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
)

// errNoPart says that search data of the build before is missing, or is not what
// it was: then all of it is made anew.
var errNoPart = errors.New("no such part of the search data")

const (
	hashSize  = 10
	checkSize = 2
)

// partName is the file of a part of the search data. It says which part it is, not
// what is in it: else a word more or less would be another name in a list of all.
// A client asks for it with the name of the index behind a ?, so that none that
// some cache has of another index is taken for it; and compares its check, so
// that a file that changed on the server meanwhile is not, either.
func partName(kind, name string) string {
	return assetDir + "/q/" + kind + "." + name + ".js"
}

// fnv1a is a hash that a few lines of the client compute, too.
func fnv1a(basis uint32, data []byte) uint32 {
	h := basis
	for _, c := range data {
		h = (h ^ uint32(c)) * 16777619
	}
	return h
}

const fnvBasis = 2166136261

// nameOf is the name of the part that begins with a key.
func nameOf(key string) string {
	return fmt.Sprintf("%08x%08x", fnv1a(fnvBasis, []byte(key)), fnv1a(^uint32(fnvBasis), []byte(key)))
}

// checkOf is what tells the bytes of a part from those that it had before.
func checkOf(data []byte) string {
	const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	h := fnv1a(fnvBasis, data)
	h ^= h>>12 ^ h>>24
	return string([]byte{digits[h>>6&63], digits[h&63]})
}

// putPart writes bytes as a script that hands them over: compressed, since not
// every host does, in base64, since a script is text. What is there already is not
// made again. It returns the check of the bytes.
func (b *builder) putPart(kind, name string, data []byte) (check string, err error) {
	return b.putPartOf(kind, name, "", data)
}

// putPartOf writes a part, and records for the next build what it is of.
func (b *builder) putPartOf(kind, name, of string, data []byte) (check string, err error) {
	file, key := partName(kind, name), sumOf(data)[:hashSize]+of
	if b.out.keep(file, key) {
		return checkOf(data), nil
	}
	packed, err := deflate(data)
	if err != nil {
		return "", err
	}
	raw := fmt.Appendf(nil, "kb.%s(%q)\n", kind, base64.StdEncoding.EncodeToString(packed))
	return checkOf(data), b.out.put(file, key, raw)
}

// deflaters are dear to make.
var deflaters = sync.Pool{New: func() any {
	w, _ := flate.NewWriter(nil, flate.DefaultCompression) // fails only for other levels
	return w
}}

func deflate(data []byte) ([]byte, error) {
	var packed bytes.Buffer
	w := deflaters.Get().(*flate.Writer)
	defer deflaters.Put(w)
	w.Reset(&packed)
	if _, err := w.Write(data); err != nil {
		return nil, err
	}
	err := w.Close()
	return packed.Bytes(), err
}

// keepPart leaves a part as it is.
func (b *builder) keepPart(kind, name string) error {
	if b.out.renewal != nil {
		return nil // it stays unless it is dropped
	}
	file := partName(kind, name)
	if !b.out.keep(file, b.out.keyOf(file)) {
		return fmt.Errorf("%w: %s", errNoPart, file)
	}
	return nil
}

// loadPart returns the bytes of a part that the build before wrote.
func (b *builder) loadPart(kind, name string) ([]byte, error) {
	file := partName(kind, name)
	raw, err := b.out.root.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errNoPart, err)
	}
	raw = bytes.TrimSuffix(bytes.TrimPrefix(raw, []byte("kb."+kind+"(\"")), []byte("\")\n"))
	packed := make([]byte, base64.StdEncoding.DecodedLen(len(raw)))
	n, err := base64.StdEncoding.Decode(packed, raw)
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w", errNoPart, file, err)
	}
	data, err := io.ReadAll(flate.NewReader(bytes.NewReader(packed[:n])))
	if err != nil || !strings.HasPrefix(b.out.keyOf(file), sumOf(data)[:hashSize]) {
		return nil, fmt.Errorf("%w: %s is damaged", errNoPart, file)
	}
	return data, nil
}

// partReader reads what uvarints and the like wrote. After an error it reads
// nothing, and says so in bad.
type partReader struct {
	data []byte
	bad  bool
}

func (r *partReader) number() int {
	n, size := binary.Uvarint(r.data)
	if size <= 0 || n > 1<<40 {
		r.data, r.bad = nil, true
		return 0
	}
	r.data = r.data[size:]
	return int(n)
}

func (r *partReader) take(n int) []byte {
	if n < 0 || n > len(r.data) {
		r.data, r.bad = nil, true
		return nil
	}
	out := r.data[:n:n]
	r.data = r.data[n:]
	return out
}

// key reads a term after the one before.
func (r *partReader) key(before string) string {
	shared := r.number()
	rest := r.take(r.number())
	if shared > len(before) {
		r.data, r.bad = nil, true
		return ""
	}
	return before[:shared] + string(rest)
}

// postings reads what postingList made.
func (r *partReader) postings() []SearchPosting {
	n := r.number()
	if n > len(r.data) {
		r.data, r.bad = nil, true
		return nil
	}
	out := make([]SearchPosting, n)
	last := 0
	for i := range out {
		last += r.number()
		out[i].Note = last
	}
	for i, kind := range slices.Clone(r.take(n)) {
		out[i].Name, out[i].Folder = kind>>SearchFields&1 == 1, kind>>(SearchFields+1)&1 == 1
		for f := range SearchFields {
			if kind>>f&1 == 1 {
				out[i].Counts[f] = uint32(r.number())
			}
		}
	}
	return out
}

// skipPostings reads past what postingList made.
func (r *partReader) skipPostings() (n int) {
	n = r.number()
	for range min(n, len(r.data)) {
		r.number()
	}
	for _, kind := range r.take(n) {
		for kind &= 1<<SearchFields - 1; kind > 0; kind &= kind - 1 {
			r.number()
		}
	}
	return n
}

// notePlaces is where a term stands in one note, as a list of places has it after
// the note.
type notePlaces struct {
	note  int
	where []byte
}

// places reads what a placeList made.
func (r *partReader) places() (out []notePlaces) {
	note := 0
	for len(r.data) > 0 && !r.bad {
		note += r.number()
		at := r.data
		for fields := r.take(1); len(fields) > 0 && fields[0] > 0; fields = []byte{fields[0] & (fields[0] - 1)} {
			for range min(r.number(), len(r.data)) {
				if r.number()%2 == 1 {
					r.number()
				}
			}
		}
		out = append(out, notePlaces{note, at[:len(at)-len(r.data)]})
	}
	return out
}
