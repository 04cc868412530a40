package gitstore

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// packStore is the list of packs of all object directories. A list is
// immutable; it is replaced when another process has repacked, which a miss
// tells, and a look every now and then. What packs that are gone take, memory
// and disk, is then given back.
type packStore struct {
	objectDirs []string
	forget     func(*pack) // is told of packs that nobody will read again

	mu      sync.Mutex
	current *packList
	looked  time.Time // when the directories were listed last
	closed  bool
}

// lookAgain is how long a list is used without a look at the directories.
const lookAgain = time.Second

// packList is one state of the pack directories.
type packList struct {
	packs   []*pack
	names   []string // the index files that were listed, also those that failed
	broken  []error  // packs that could not be read
	partial bool     // a pack vanished while it was being opened
	users   int      // guarded by packStore.mu; the store itself is one
}

// acquire returns the current list, which stays open until it is released.
func (s *packStore) acquire() (*packList, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, fs.ErrClosed
	}
	switch {
	case s.current == nil:
		s.replace()
	case time.Since(s.looked) > lookAgain:
		if s.looked = time.Now(); !slices.Equal(s.current.names, indexFiles(s.objectDirs)) {
			s.replace()
		}
	}
	s.current.users++
	return s.current, nil
}

func (s *packStore) release(l *packList) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.drop(l)
}

// drop gives up one use of l. s.mu is held.
func (s *packStore) drop(l *packList) {
	if l.users--; l.users > 0 {
		return
	}
	for _, p := range l.packs {
		if p.lists--; p.lists == 0 {
			p.file.Close()
			s.forget(p)
		}
	}
}

// replace lists the packs anew. Those that stayed as they were stay open. s.mu
// is held.
func (s *packStore) replace() {
	old := s.current
	s.current, s.looked = openPacks(s.objectDirs, old), time.Now()
	if old != nil {
		s.drop(old)
	}
}

// changed reports whether there is, or now is, a list that may hold more than l.
func (s *packStore) changed(l *packList) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || s.current != l {
		return true // the next acquire says which
	}
	same := slices.Equal(l.names, indexFiles(s.objectDirs))
	if same && !l.partial {
		return false
	}
	s.replace()
	return !same || !s.current.partial // an index may have no pack for good
}

func (s *packStore) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	if s.current != nil {
		s.drop(s.current)
		s.current = nil
	}
}

// indexFiles lists the pack indexes, also of packs that are not named pack-*:
// git maintenance writes loose-*.
func indexFiles(objectDirs []string) []string {
	var files []string
	for _, dir := range objectDirs {
		dir = filepath.Join(dir, "pack")
		entries, err := os.ReadDir(dir)
		if err != nil {
			continue
		}
		for _, e := range entries {
			if strings.HasSuffix(e.Name(), ".idx") {
				files = append(files, filepath.Join(dir, e.Name()))
			}
		}
	}
	return files
}

// openPacks lists the packs, with those of the list before that are the same.
func openPacks(objectDirs []string, before *packList) *packList {
	l := &packList{names: indexFiles(objectDirs), users: 1}
	for _, name := range l.names {
		p, err := before.open(name)
		switch {
		case err == nil:
			p.lists++
			l.packs = append(l.packs, p)
		case errors.Is(err, fs.ErrNotExist):
			l.partial = true
		default:
			l.broken = append(l.broken, err)
		}
	}
	return l
}

// open opens a pack, unless the list has it already. l may be nil.
func (l *packList) open(indexFile string) (*pack, error) {
	if l != nil {
		for _, p := range l.packs {
			if p.isAt(packFile(indexFile)) {
				return p, nil
			}
		}
	}
	return openPack(indexFile)
}

// pack is an open pack with its index. It is immutable and is read with
// ReadAt only.
type pack struct {
	index *packIndex
	name  string
	file  *os.File
	info  fs.FileInfo
	size  int64
	lists int // guarded by packStore.mu
}

func packFile(indexFile string) string { return strings.TrimSuffix(indexFile, ".idx") + ".pack" }

// isAt reports whether the file of that name is still the one that is open.
func (p *pack) isAt(name string) bool {
	if p.name != name {
		return false
	}
	info, err := os.Stat(name)
	return err == nil && os.SameFile(info, p.info) // git changes the time of packs that stay
}

func openPack(indexFile string) (*pack, error) {
	index, err := readPackIndex(indexFile)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", indexFile, err)
	}
	p := &pack{name: packFile(indexFile), index: index}
	if p.file, err = os.Open(p.name); err != nil {
		return nil, err
	}
	if p.info, err = checkPackHeader(p.file); err != nil {
		p.file.Close()
		return nil, fmt.Errorf("read %s: %w", p.name, err)
	}
	p.size = p.info.Size()
	return p, nil
}

func checkPackHeader(f *os.File) (fs.FileInfo, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	var header [12]byte
	if _, err := f.ReadAt(header[:], 0); err != nil {
		return nil, fmt.Errorf("%w: no pack header", ErrCorrupt)
	}
	version := binary.BigEndian.Uint32(header[4:])
	if string(header[:4]) != "PACK" || version != 2 && version != 3 {
		return nil, fmt.Errorf("%w: no pack header", ErrCorrupt)
	}
	return info, nil
}
