package gitstore

import (
	"bufio"
	"bytes"
	"compress/zlib"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"kb/note"
)

// kind is the type of an object as packs number it; 0 is none.
type kind uint8

const (
	kindCommit kind = 1
	kindTree   kind = 2
	kindBlob   kind = 3
	kindTag    kind = 4
)

func (k kind) String() string {
	return [...]string{"object", "commit", "tree", "blob", "tag"}[k]
}

// object is what a hash names. Its bytes are shared: nobody writes to them.
type object struct {
	kind kind
	data []byte
}

// Blob returns the bytes of a blob, checked against id. The caller may change
// them.
func (r *Repo) Blob(id note.ID) ([]byte, error) {
	o, err := r.objectOf(kindBlob, oid(id))
	if err != nil {
		return nil, err
	}
	return bytes.Clone(o.data), nil
}

// objectOf reads an object that must be of one kind.
func (r *Repo) objectOf(k kind, id oid) (object, error) {
	if o, ok := r.fresh.get(id); ok && o.kind == k {
		return o, nil
	}
	o, err := r.object(id)
	if err != nil {
		return object{}, fmt.Errorf("read %s %s: %w", k, id, err)
	}
	if o.kind != k {
		return object{}, fmt.Errorf("read %s %s: %w: it is a %s", k, id, ErrCorrupt, o.kind)
	}
	return o, nil
}

// object reads an object of any kind, checked against its hash.
func (r *Repo) object(id oid) (object, error) {
	for {
		l, err := r.packs.acquire()
		if err != nil {
			return object{}, err
		}
		o, err := r.search(l, id)
		// git moves objects between loose files and packs at any time: where there
		// is a new list, what was missing may be in it.
		again := errors.Is(err, ErrNotFound) && r.packs.changed(l)
		r.packs.release(l)
		if !again {
			return o, err
		}
	}
}

// search looks for id in l and among the loose objects. A damaged copy does not
// hide a good one.
func (r *Repo) search(l *packList, id oid) (object, error) {
	var failed error
	for _, p := range l.packs {
		off, ok := p.index.find(id)
		if !ok {
			continue
		}
		o, err := r.unpack(p, off)
		if err == nil {
			err = o.verify(id)
		}
		if err == nil {
			return o, nil
		}
		failed = errors.Join(failed, fmt.Errorf("%s: %w", filepath.Base(p.name), err))
	}
	for _, dir := range r.packs.objectDirs {
		o, err := readLoose(dir, id)
		if err == nil {
			return o, nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			failed = errors.Join(failed, err)
		}
	}
	if failed != nil {
		return object{}, failed
	}
	return object{}, r.missing(l)
}

// missing says why an object may be missing.
func (r *Repo) missing(l *packList) error {
	switch {
	case r.partial:
		return fmt.Errorf("%w: this is a partial clone; `git fetch --refetch --no-filter` brings what it left out", ErrMissing)
	case len(l.broken) > 0:
		return fmt.Errorf("%w, and a pack cannot be read: %w", ErrMissing, l.broken[0])
	}
	return ErrMissing
}

func (o object) verify(id oid) error {
	if hashObject(o) != id {
		return fmt.Errorf("%w: its bytes do not have its hash", ErrCorrupt)
	}
	return nil
}

// readLoose reads an object that has a file of its own.
func readLoose(dir string, id oid) (object, error) {
	f, err := os.Open(looseFile(dir, id))
	if err != nil {
		return object{}, err
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return object{}, fmt.Errorf("loose object: %w: not a regular file", ErrCorrupt)
	}
	o, err := inflateLoose(f)
	if err == nil {
		err = o.verify(id)
	}
	if err != nil {
		return object{}, fmt.Errorf("loose object: %w", err)
	}
	return o, nil
}

func inflateLoose(src io.Reader) (object, error) {
	z, err := zlib.NewReader(bufio.NewReader(src))
	if err != nil {
		return object{}, fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	defer z.Close()
	body := bufio.NewReader(z)
	k, size, err := looseHeader(body)
	if err != nil {
		return object{}, err
	}
	if size > MaxBlob {
		return object{}, fmt.Errorf("%w: %d bytes, the limit is %d", ErrTooLarge, size, MaxBlob)
	}
	// A header may lie in both directions; the buffer grows with what is there.
	var data bytes.Buffer
	n, err := io.CopyN(&data, body, size+1)
	if n != size || err != io.EOF {
		return object{}, fmt.Errorf("%w: its header says %d bytes", ErrCorrupt, size)
	}
	return object{k, data.Bytes()}, nil
}

// looseHeader reads "blob 12\x00".
func looseHeader(r *bufio.Reader) (kind, int64, error) {
	var header []byte
	for {
		c, err := r.ReadByte()
		if err != nil || len(header) == 32 {
			return 0, 0, fmt.Errorf("%w: no header", ErrCorrupt)
		}
		if c == 0 {
			break
		}
		header = append(header, c)
	}
	name, digits, _ := strings.Cut(string(header), " ")
	size, err := strconv.ParseUint(digits, 10, 63)
	if err != nil {
		return 0, 0, fmt.Errorf("%w: bad header", ErrCorrupt)
	}
	for k := kindCommit; k <= kindTag; k++ {
		if k.String() == name {
			return k, int64(size), nil
		}
	}
	return 0, 0, fmt.Errorf("%w: bad header", ErrCorrupt)
}
