package gitstore

import (
	"bytes"
	"compress/zlib"
	"crypto/sha1"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"kb/note"
)

// WriteBlob stores a blob, which is durable when the call returns. One that the
// repository already has is not written again.
func (r *Repo) WriteBlob(src []byte) (note.ID, error) {
	if len(src) > MaxBlob {
		return note.ID{}, fmt.Errorf("write blob: %w: %d bytes, the limit is %d", ErrTooLarge, len(src), MaxBlob)
	}
	id, err := r.writeObject(object{kindBlob, src})
	return note.ID(id), err
}

// hashObject names an object.
func hashObject(o object) oid {
	h := sha1.New()
	fmt.Fprintf(h, "%s %d\x00", o.kind, len(o.data))
	h.Write(o.data)
	return oid(h.Sum(nil))
}

// writeObject stores an object as a loose file, unless it is there.
func (r *Repo) writeObject(o object) (oid, error) {
	id := hashObject(o)
	if r.freshen(id) {
		return id, nil
	}
	return id, r.writeLoose(id, o)
}

// freshen reports whether the repository has an object, and makes it look new,
// so that a garbage collection at this moment does not take it for left over.
func (r *Repo) freshen(id oid) bool {
	files, err := r.copies(id)
	if err != nil {
		return false
	}
	now := time.Now()
	for _, file := range files {
		if os.Chtimes(file, now, now) == nil {
			return true
		}
	}
	return false
}

// copies lists the files that may hold an object: packs, and its own.
func (r *Repo) copies(id oid) ([]string, error) {
	l, err := r.packs.acquire()
	if err != nil {
		return nil, err
	}
	defer r.packs.release(l)
	var files []string
	for _, p := range l.packs {
		if _, ok := p.index.find(id); ok {
			files = append(files, p.name)
		}
	}
	for _, dir := range r.packs.objectDirs {
		files = append(files, looseFile(dir, id))
	}
	return files, nil
}

func looseFile(dir string, id oid) string {
	name := id.String()
	return filepath.Join(dir, name[:2], name[2:])
}

// has reports whether the repository has an object, without reading it.
func (r *Repo) has(id oid) bool {
	for {
		files, err := r.copies(id)
		if err != nil {
			return false
		}
		for _, file := range files {
			if _, err := os.Stat(file); err == nil {
				return true
			}
		}
		l, err := r.packs.acquire()
		if err != nil {
			return false
		}
		again := r.packs.changed(l)
		r.packs.release(l)
		if !again {
			return false
		}
	}
}

// writeLoose writes an object's own file.
func (r *Repo) writeLoose(id oid, o object) error {
	w := looseWrite{id: id, object: o}
	if err := w.name(r, w.write(r)); err != nil {
		return err
	}
	return syncLeft(filepath.Dir(w.file))
}

// looseWrite is an object on its way into a file. Under the file's name there is
// never anything but the whole object.
type looseWrite struct {
	id     oid
	object object
	file   string
	temp   string
}

// write writes the object, durably, under another name.
func (w *looseWrite) write(r *Repo) error {
	deflated, err := deflateObject(w.id, w.object)
	if err != nil {
		return err
	}
	w.file = looseFile(r.packs.objectDirs[0], w.id)
	f, err := createIn(filepath.Dir(w.file))
	if err != nil {
		return err
	}
	w.temp = f.Name()
	if err = writeSynced(f, deflated); err == nil {
		err = os.Chmod(w.temp, 0o444)
	}
	return err
}

// name gives the object its name, unless writing failed.
func (w *looseWrite) name(r *Repo, failed error) error {
	if failed == nil {
		r.step("object written")
		failed = os.Rename(w.temp, w.file)
	}
	if failed != nil {
		if w.temp != "" {
			os.Remove(w.temp)
		}
		return fmt.Errorf("write %s %s: %w", w.object.kind, w.id, failed)
	}
	r.step("object named")
	return nil
}

// syncLeft is syncDir of a directory which git removes when it has packed what
// was in it.
func syncLeft(dir string) error {
	if err := syncDir(dir); !isMissing(err) {
		return err
	}
	return nil
}

// createIn makes a temporary file in a directory of loose objects, which git
// removes whenever it finds it empty. git also removes what is left of the files.
func createIn(dir string) (*os.File, error) {
	const tries = 100
	for try := 1; ; try++ {
		err := makeDir(dir)
		var f *os.File
		if err == nil {
			f, err = os.CreateTemp(dir, "tmp_obj_")
		}
		if !isMissing(err) || try == tries {
			return f, err
		}
	}
}

// deflateObject makes the bytes of an object's file. The level is git's for these;
// of a tree, which is mostly hashes, half the time saves a fifth less.
func deflateObject(id oid, o object) ([]byte, error) {
	var b bytes.Buffer
	level := zlib.BestSpeed
	if o.kind == kindTree {
		level = zlib.HuffmanOnly
	}
	w, err := zlib.NewWriterLevel(&b, level)
	if err != nil {
		return nil, err // unreachable: the level exists
	}
	fmt.Fprintf(w, "%s %d\x00", o.kind, len(o.data))
	if _, err := w.Write(o.data); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	if hashObject(o) != id {
		return nil, fmt.Errorf("%w: it changed while it was written", ErrCorrupt)
	}
	return b.Bytes(), nil
}

// writeSynced writes a file, makes its bytes durable, and closes it.
func writeSynced(f *os.File, b []byte) error {
	_, err := f.Write(b)
	if err == nil {
		err = f.Sync()
	}
	if e := f.Close(); err == nil {
		err = e
	}
	return err
}

// makeDir makes a directory and those above it, durably. It may be gone again, or
// a directory above it, when the call returns, if git keeps house.
func makeDir(dir string) error {
	if isDir(dir) {
		return nil
	}
	if err := makeDir(filepath.Dir(dir)); err != nil {
		return err
	}
	if err := os.Mkdir(dir, 0o777); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return syncLeft(filepath.Dir(dir))
}

// step marks a moment at which a test may end the process.
func (r *Repo) step(name string) {
	if r.fault != nil {
		r.fault(name)
	}
}

// OnStep has fn called at every step of writing that lasts, so that a test can end
// the process there. It is set before the repository is used.
func (r *Repo) OnStep(fn func(step string)) { r.fault = fn }
