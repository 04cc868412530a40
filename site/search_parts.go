package site

import (
	"bytes"
	"compress/flate"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
)

// errNoPart says that search data of the build before is missing, or is not what
// its name says: then all of it is made anew.
var errNoPart = errors.New("no such part of the search data")

// hashes are those that a list has.
func (l fileList) hashes() (out []string) {
	for ; len(l) >= hashSize; l = l[hashSize:] {
		out = append(out, string(l[:hashSize]))
	}
	return out
}

// keepPart leaves a part as it is.
func (b *builder) keepPart(function, hash string) error {
	if name := partName(function, hash); !b.out.has(name) && !b.out.keep(name, partKey) {
		return fmt.Errorf("%w: %s", errNoPart, name)
	}
	return nil
}

func (b *builder) keepParts(function string, list fileList) error {
	for _, hash := range list.hashes() {
		if err := b.keepPart(function, hash); err != nil {
			return err
		}
	}
	return nil
}

// loadPart returns the bytes of a part that putPart wrote.
func (b *builder) loadPart(function, hash string) ([]byte, error) {
	name := partName(function, hash)
	raw, err := b.out.root.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errNoPart, err)
	}
	raw = bytes.TrimSuffix(bytes.TrimPrefix(raw, []byte("kb."+function+"(\"")), []byte("\")\n"))
	packed := make([]byte, base64.StdEncoding.DecodedLen(len(raw)))
	n, err := base64.StdEncoding.Decode(packed, raw)
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w", errNoPart, name, err)
	}
	data, err := io.ReadAll(flate.NewReader(bytes.NewReader(packed[:n])))
	if err != nil || sumOf(data)[:hashSize] != hash {
		return nil, fmt.Errorf("%w: %s is damaged", errNoPart, name)
	}
	return data, nil
}

func (b *builder) loadJSON(function, hash string, data any) error {
	raw, err := b.loadPart(function, hash)
	if err == nil && json.Unmarshal(raw, data) != nil {
		err = fmt.Errorf("%w: %s", errNoPart, partName(function, hash))
	}
	return err
}

// loadIndex returns the index that the build before wrote to a file.
func (b *builder) loadIndex(name string) (*searchIndex, error) {
	raw, err := b.out.root.ReadFile(name)
	if err != nil || hashed("search.js", raw) != name {
		return nil, fmt.Errorf("%w: %s", errNoPart, path.Base(name))
	}
	x := &searchIndex{}
	if json.Unmarshal(bytes.TrimSuffix(bytes.TrimPrefix(raw, []byte("kb.search(")), []byte(")\n")), x) != nil || !x.sound() {
		return nil, fmt.Errorf("%w: %s", errNoPart, path.Base(name))
	}
	return x, nil
}

// sound reports whether an index has as many of each as belong together.
func (x *searchIndex) sound() bool {
	n := len(x.First)
	return x.Version == searchVersion && len(x.Terms) == n*hashSize && len(x.Places) == n*hashSize && len(x.Texts) == hashSize
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
		r.bad = true
		return ""
	}
	return before[:shared] + string(rest)
}

// postings reads what postingList made.
func (r *partReader) postings() []SearchPosting {
	n := r.number()
	if n > len(r.data) {
		r.bad = true
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

// skipPostings reads past what postingList made, and returns it.
func (r *partReader) skipPostings() []byte {
	all := r.data
	n := r.number()
	for range min(n, len(r.data)) {
		r.number()
	}
	kinds := r.take(n)
	for _, kind := range kinds {
		for kind &= 1<<SearchFields - 1; kind > 0; kind &= kind - 1 {
			r.number()
		}
	}
	return all[:len(all)-len(r.data)]
}

// notePlaces is where a term stands in one note, as placeList writes it after the
// note.
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
				r.number()
			}
		}
		out = append(out, notePlaces{note, at[:len(at)-len(r.data)]})
	}
	return out
}

// termEntry is a term as files of terms and places have it.
type termEntry struct {
	term        string
	list, where []byte
}

// readTerms reads a file of terms and that of places beside it.
func readTerms(terms, places []byte) ([]termEntry, bool) {
	t, p := partReader{data: terms}, partReader{data: places}
	out := make([]termEntry, 0, min(t.number(), len(terms)))
	before := ""
	for len(t.data) > 0 && !t.bad && !p.bad {
		before = t.key(before)
		out = append(out, termEntry{before, t.skipPostings(), p.take(p.number())})
	}
	return out, !t.bad && !p.bad && len(p.data) == 0 && len(out) > 0
}

// readWords reads a file of words.
func readWords(data []byte) (out []wordCount, ok bool) {
	r := partReader{data: data}
	r.number()
	before := ""
	for len(r.data) > 0 && !r.bad {
		before = r.key(before)
		out = append(out, wordCount{before, r.number()})
	}
	return out, !r.bad
}
