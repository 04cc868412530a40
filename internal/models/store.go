package models

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/gofrs/flock"

	"kb/vector"
)

var (
	// ErrUnknown is wrapped by errors about a model that is not installed.
	ErrUnknown = errors.New("no such model")
	// ErrBusy is wrapped by errors of what another process does already.
	ErrBusy = errors.New("another process is at it")
	// ErrHash is wrapped by errors about files that are not what they must be.
	ErrHash = errors.New("not the file that was published")
	// ErrName is wrapped by errors about names that no model can have.
	ErrName = errors.New("a model's name has letters, digits, dots, dashes and underscores")
)

// A Store is a directory of models. It need not exist.
type Store struct {
	Dir string
	// Progress is called with how many bytes of all are there; it may be nil.
	// total is 0 when it is not known.
	Progress func(done, total int64, what string)

	wrap func(io.Writer) io.Writer // put before downloaded files by tests; nil
}

// A Lock says what an installed model is: the content of model.lock.
type Lock struct {
	Name     string `json:"name"`
	Source   string `json:"source"` // a repository and its revision, or the file it was taken from
	Revision string `json:"revision,omitempty"`
	Engine   string `json:"engine"` // native, static or hugot: what runs it
	Dim      int    `json:"dim"`
	Files    []File `json:"files"`
}

// A File is one of a model, with how its hash is known.
type File struct {
	Path   string `json:"path"`
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256"`
	Proof  Proof  `json:"proof"`
}

// Proof says what a file was compared with when it was installed.
type Proof string

// From the best to none.
const (
	Published Proof = "published" // with a hash that kb knows
	ByHub     Proof = "hub"       // with the hash that the hub itself gives
	First     Proof = "first"     // with nothing: it is what came the first time
)

// Installed is a model that is there.
type Installed struct {
	Lock
	Dir  string
	Size int64
}

var validName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$`)

// path returns where the model of a name is, or would be.
func (s *Store) path(name string) (string, error) {
	if !validName.MatchString(name) {
		return "", fmt.Errorf("model %q: %w", name, ErrName)
	}
	return filepath.Join(s.Dir, name), nil
}

// List returns the installed models by name. A directory without a model.lock,
// that somebody put there, counts.
func (s *Store) List() ([]Installed, error) {
	entries, err := os.ReadDir(s.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	} else if err != nil {
		return nil, fmt.Errorf("list models: %w", err)
	}
	var all []Installed
	for _, e := range entries {
		if !e.IsDir() || !validName.MatchString(e.Name()) {
			continue
		}
		m, err := s.Get(e.Name())
		if err != nil {
			return nil, err
		}
		all = append(all, m)
	}
	return all, nil
}

// Get returns an installed model.
func (s *Store) Get(name string) (Installed, error) {
	dir, err := s.path(name)
	if err != nil {
		return Installed{}, err
	}
	m := Installed{Dir: dir, Lock: Lock{Name: name}}
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return m, fmt.Errorf("model %s is not installed: %w", name, ErrUnknown)
	}
	src, err := os.ReadFile(filepath.Join(dir, vector.LockName))
	switch {
	case err == nil:
		if err := json.Unmarshal(src, &m.Lock); err != nil {
			return m, fmt.Errorf("model %s: %s: %w", name, vector.LockName, err)
		}
		m.Name = name
	case !errors.Is(err, fs.ErrNotExist):
		return m, fmt.Errorf("model %s: %w", name, err)
	}
	m.Size, err = sizeOf(dir)
	return m, err
}

func sizeOf(dir string) (total int64, err error) {
	err = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			total += info.Size()
		}
		return err
	})
	return total, err
}

// Remove removes an installed model, and what a broken download left of it.
func (s *Store) Remove(name string) error {
	dir, err := s.path(name)
	if err != nil {
		return err
	}
	unlock, err := s.lock(name)
	if err != nil {
		return err
	}
	defer unlock()
	_, missing := os.Stat(dir)
	_, noPart := os.Stat(s.staging(name))
	if missing != nil && noPart != nil {
		return fmt.Errorf("model %s is not installed: %w", name, ErrUnknown)
	}
	if missing == nil {
		// Whoever opens it now finds all of it, or nothing.
		if err := os.Rename(dir, s.trash(name)); err != nil {
			return fmt.Errorf("remove model %s: %w", name, err)
		}
	}
	return errors.Join(os.RemoveAll(s.trash(name)), os.RemoveAll(s.staging(name)))
}

func (s *Store) staging(name string) string { return filepath.Join(s.Dir, "."+name+".part") }
func (s *Store) trash(name string) string   { return filepath.Join(s.Dir, "."+name+".old") }

// lock keeps other processes from installing the model of a name.
func (s *Store) lock(name string) (unlock func(), err error) {
	if err := os.MkdirAll(s.Dir, 0o755); err != nil {
		return nil, fmt.Errorf("model %s: %w", name, err)
	}
	l := flock.New(filepath.Join(s.Dir, "."+name+".lock"))
	ok, err := l.TryLock()
	if err == nil && !ok {
		err = ErrBusy
	}
	if err != nil {
		return nil, fmt.Errorf("model %s: %w", name, err)
	}
	return func() { _ = l.Unlock() }, nil
}

// install moves the staged files of a model, with its lock, to where it is
// looked for. What was there goes.
func (s *Store) install(l Lock) error {
	staged, dir := s.staging(l.Name), filepath.Join(s.Dir, l.Name)
	if err := writeLock(staged, l); err != nil {
		return err
	}
	if err := os.RemoveAll(s.trash(l.Name)); err != nil {
		return err
	}
	if err := os.Rename(dir, s.trash(l.Name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("replace model %s: %w", l.Name, err)
	}
	if err := os.Rename(staged, dir); err != nil {
		return fmt.Errorf("install model %s: %w", l.Name, err)
	}
	return os.RemoveAll(s.trash(l.Name))
}

func writeLock(dir string, l Lock) error {
	src, err := json.MarshalIndent(l, "", "  ")
	if err != nil {
		return err
	}
	name := filepath.Join(dir, vector.LockName)
	f, err := os.CreateTemp(dir, ".lock-*")
	if err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	defer os.Remove(f.Name())
	_, err = f.Write(append(src, '\n'))
	if err = errors.Join(err, f.Sync(), f.Close()); err == nil {
		err = errors.Join(os.Chmod(f.Name(), 0o644), os.Rename(f.Name(), name))
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return nil
}

// report tells how far work is.
func (s *Store) report(done, total int64, what string) {
	if s.Progress != nil {
		s.Progress(done, total, strings.TrimSpace(what))
	}
}
