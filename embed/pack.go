package embed

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"kb/cas"
	"kb/vector"
)

// packs is the file in which a model's vectors are searched: a copy of those in
// the store, made when many are missing in the last one. What it lacks is
// searched in memory.
type packs struct {
	dir   string
	print string
	few   int // see fewVectors

	mu    sync.Mutex
	tried bool // to open the file
	base  *vector.Pack
	notes *roster // of base
}

// packDir is where the packs of a model are, below dir.
func packDir(dir, fingerprint string) string {
	sum := sha256.Sum256([]byte(fingerprint))
	return filepath.Join(dir, hex.EncodeToString(sum[:8]))
}

const packSuffix = ".pack"

// A file of vectors is worth making for more than fewVectors that it would add,
// and for an eighth of what it has.
const (
	fewVectors = 512
	worthPart  = 8
)

// worth reports whether a new file is worth it that would have n vectors more.
func (p *packs) worth(n int) bool {
	base, _ := p.current()
	return n > p.few && (base == nil || n > base.Len()/worthPart)
}

// current returns the pack of the file, and its roster; nil when there is none.
func (p *packs) current() (*vector.Pack, *roster) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.tried {
		return p.base, p.notes
	}
	p.tried = true
	names, _ := filepath.Glob(filepath.Join(p.dir, "*"+packSuffix)) // ascending
	for _, name := range slices.Backward(names) {
		if p.base != nil || !p.open(name) {
			removePack(name) // older, or damaged
		}
	}
	return p.base, p.notes
}

// open opens a file and its roster, and reports whether both are sound.
func (p *packs) open(name string) bool {
	pack, err := vector.OpenPack(name, p.print)
	if err != nil {
		return false
	}
	notes := readRoster(rosterName(name), pack.Len())
	if notes == nil {
		pack.Close()
		return false
	}
	p.base, p.notes = pack, notes
	return true
}

// isCurrent reports whether base is the pack of the file.
func (p *packs) isCurrent(base *vector.Pack) bool {
	now, _ := p.current()
	return now == base
}

func rosterName(pack string) string { return strings.TrimSuffix(pack, packSuffix) + rosterSuffix }

// removePack removes a pack and its roster. Where a view has the pack open and
// that matters, it goes another time.
func removePack(name string) {
	os.Remove(name)
	os.Remove(rosterName(name))
}

// discard forgets the file, which turned out to be damaged.
func (p *packs) discard() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.base, p.notes, p.tried = nil, nil, true
	os.RemoveAll(p.dir)
}

// close closes the file.
func (p *packs) close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.base == nil {
		return nil
	}
	base := p.base
	p.base, p.notes, p.tried = nil, nil, false
	return base.Close()
}

// replace makes a pack of all that write writes the current one, with the roster
// that list makes of it. Views go on with the one before.
func (p *packs) replace(write func(*bufio.Writer) error, list func(*vector.Pack) (*roster, error)) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := os.MkdirAll(p.dir, 0o700); err != nil {
		return err
	}
	old, _ := filepath.Glob(filepath.Join(p.dir, "*"+packSuffix))
	name := filepath.Join(p.dir, nextName(old))
	if err := writeFile(name, write); err != nil {
		return err
	}
	base, err := vector.OpenPack(name, p.print)
	if err != nil {
		return err
	}
	notes, err := list(base)
	if err == nil {
		err = writeFile(rosterName(name), func(w *bufio.Writer) error {
			_, err := w.Write(notes.encode(base.Len()))
			return err
		})
	}
	if err != nil {
		return errors.Join(err, base.Close())
	}
	for _, n := range old {
		removePack(n)
	}
	p.base, p.notes, p.tried = base, notes, true
	return nil
}

// writeFile puts a file in place whole.
func writeFile(name string, write func(*bufio.Writer) error) error {
	tmp, err := os.CreateTemp(filepath.Dir(name), "new-*")
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name())
	w := bufio.NewWriterSize(tmp, 1<<20)
	if err := errors.Join(write(w), w.Flush(), tmp.Sync(), tmp.Close()); err != nil {
		return err
	}
	return os.Rename(tmp.Name(), name)
}

// nextName follows the names of packs, which ascend.
func nextName(old []string) string {
	n := 0
	for _, name := range old {
		fmt.Sscanf(strings.TrimSuffix(filepath.Base(name), packSuffix), "%d", &n)
	}
	return fmt.Sprintf("%08d%s", n+1, packSuffix)
}

// repack makes a new file of all vectors of the model.
func (x *Index) repack(ctx context.Context) error {
	enough := errors.New("enough")
	dim := 0
	err := x.facts.EachVector(ctx, x.vectors, func(_ cas.Hash, v []float32) error {
		dim = len(v)
		return enough
	})
	if !errors.Is(err, enough) {
		return err
	}
	write := func(w *bufio.Writer) (err error) {
		all := func(yield func(vector.Key, []float32) bool) {
			err = x.facts.EachVector(ctx, x.vectors, func(h cas.Hash, v []float32) error {
				if !yield(vector.Key(h), v) {
					return enough
				}
				return nil
			})
		}
		werr := vector.WritePack(w, x.packs.print, dim, all)
		return errors.Join(werr, err)
	}
	return x.packs.replace(write, func(p *vector.Pack) (*roster, error) { return x.newRoster(ctx, p) })
}

// inMemory returns a pack of some vectors; nil of none.
func (x *Index) inMemory(vectors map[cas.Hash][]float32) (*vector.Pack, error) {
	keys := slices.SortedFunc(maps.Keys(vectors), func(a, b cas.Hash) int { return slices.Compare(a[:], b[:]) })
	if len(keys) == 0 {
		return nil, nil
	}
	return vector.NewPack(x.packs.print, len(vectors[keys[0]]), func(yield func(vector.Key, []float32) bool) {
		for _, h := range keys {
			if !yield(vector.Key(h), vectors[h]) {
				return
			}
		}
	})
}

// Clean removes the packs below dir but those of the given models.
func Clean(dir string, fingerprints ...string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	keep := map[string]bool{}
	for _, print := range fingerprints {
		keep[filepath.Base(packDir(dir, print))] = true
	}
	for _, e := range entries {
		if !keep[e.Name()] {
			err = errors.Join(err, os.RemoveAll(filepath.Join(dir, e.Name())))
		}
	}
	return err
}
