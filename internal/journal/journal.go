// Package journal appends lines to files that are turned over when they have
// grown, by any number of processes at once.
package journal

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/gofrs/flock"
)

// File is a file to which lines are appended. When it has grown to its limit, it
// becomes FILE.1, FILE.1 becomes FILE.2, and the last is removed. It is safe for
// concurrent use, also by several processes.
type File struct {
	path string
	most int64 // bytes of one file
	keep int   // files beside the current one

	mu sync.Mutex
	f  *os.File
}

// Open opens a file for appending, and makes it if need be; only this user can
// read it.
func Open(path string, most int64, keep int) (*File, error) {
	j := &File{path: path, most: most, keep: keep}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	if err := j.reopen(); err != nil {
		return nil, err
	}
	return j, nil
}

// Write appends one line, which ends with a newline.
func (j *File) Write(line []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	info, err := j.current()
	if err != nil {
		return 0, err
	}
	if info.Size() > 0 && info.Size()+int64(len(line)) > j.most {
		if err := j.turn(); err != nil {
			return 0, err
		}
	}
	return j.f.Write(line)
}

// Close closes the file. Later writes fail.
func (j *File) Close() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.f.Close()
}

// current sees to it that the open file is the one that has the name: another
// process may have turned it over.
func (j *File) current() (os.FileInfo, error) {
	open, err := j.f.Stat()
	if err != nil {
		return nil, err
	}
	named, err := os.Stat(j.path)
	if err == nil && os.SameFile(open, named) {
		return open, nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if err := errors.Join(j.f.Close(), j.reopen()); err != nil {
		return nil, err
	}
	return j.f.Stat()
}

func (j *File) reopen() (err error) {
	j.f, err = os.OpenFile(j.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	return err
}

// turn begins a new file, unless another process did so meanwhile.
func (j *File) turn() (err error) {
	lock := flock.New(j.path+".lock", flock.SetPermissions(0o600))
	if err := lock.Lock(); err != nil {
		return fmt.Errorf("lock %s: %w", lock.Path(), err)
	}
	defer func() { err = errors.Join(err, lock.Unlock()) }()
	info, err := j.current()
	if err != nil || info.Size() < j.most/2 {
		return err
	}
	if err := j.f.Close(); err != nil { // some systems rename no file that is open
		return err
	}
	for i := j.keep; i > 0; i-- {
		from := name(j.path, i-1)
		if err := os.Rename(from, name(j.path, i)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return errors.Join(err, j.reopen())
		}
	}
	return j.reopen()
}

// name is that of the i-th file before the current one.
func name(path string, i int) string {
	if i == 0 {
		return path
	}
	return fmt.Sprintf("%s.%d", path, i)
}

// tailBytes is how much of a file is looked at for its last lines.
const tailBytes = 1 << 20

// Tail returns the last lines that were appended, at most n, the oldest first. A
// file that is not there has none.
func Tail(path string, n int) ([]string, error) {
	lines := []string{}
	for i := 0; len(lines) < n; i++ {
		before, err := lastLines(name(path, i))
		if errors.Is(err, fs.ErrNotExist) {
			break
		}
		if err != nil {
			return nil, err
		}
		lines = append(before, lines...)
	}
	return lines[max(0, len(lines)-n):], nil
}

func lastLines(path string) ([]string, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	start := max(0, info.Size()-tailBytes)
	raw, err := io.ReadAll(io.NewSectionReader(f, start, info.Size()-start))
	if err != nil {
		return nil, err
	}
	if start > 0 { // the first line is not whole
		_, raw, _ = bytes.Cut(raw, []byte("\n"))
	}
	return slices.DeleteFunc(strings.Split(string(raw), "\n"), func(s string) bool { return s == "" }), nil
}
