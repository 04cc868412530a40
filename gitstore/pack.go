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
)

// packStore is the list of packs of all object directories. A list is
// immutable; a miss replaces it when another process has repacked.
type packStore struct {
	objectDirs []string

	mu      sync.Mutex
	current *packList
	closed  bool
}

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
	if s.current == nil {
		s.current = openPacks(s.objectDirs)
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
	if l.users--; l.users == 0 {
		for _, p := range l.packs {
			p.file.Close()
		}
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
	s.current = openPacks(s.objectDirs)
	s.drop(l)
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

func openPacks(objectDirs []string) *packList {
	l := &packList{names: indexFiles(objectDirs), users: 1}
	for _, name := range l.names {
		p, err := openPack(name)
		switch {
		case err == nil:
			l.packs = append(l.packs, p)
		case errors.Is(err, fs.ErrNotExist):
			l.partial = true
		default:
			l.broken = append(l.broken, err)
		}
	}
	return l
}

// pack is an open pack with its index. It is immutable and is read with
// ReadAt only.
type pack struct {
	index *packIndex
	name  string
	file  *os.File
	size  int64
}

func openPack(indexFile string) (*pack, error) {
	index, err := readPackIndex(indexFile)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", indexFile, err)
	}
	p := &pack{name: strings.TrimSuffix(indexFile, ".idx") + ".pack", index: index}
	if p.file, err = os.Open(p.name); err != nil {
		return nil, err
	}
	if p.size, err = checkPackHeader(p.file); err != nil {
		p.file.Close()
		return nil, fmt.Errorf("read %s: %w", p.name, err)
	}
	return p, nil
}

func checkPackHeader(f *os.File) (size int64, err error) {
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	var header [12]byte
	if _, err := f.ReadAt(header[:], 0); err != nil {
		return 0, fmt.Errorf("%w: no pack header", ErrCorrupt)
	}
	version := binary.BigEndian.Uint32(header[4:])
	if string(header[:4]) != "PACK" || version != 2 && version != 3 {
		return 0, fmt.Errorf("%w: no pack header", ErrCorrupt)
	}
	return info.Size(), nil
}
