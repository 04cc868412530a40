package vault

import (
	"bufio"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// countingFile is a file being written, with a buffer before it.
type countingFile struct {
	*bufio.Writer
	n int
}

func (f *countingFile) Write(p []byte) (int, error) {
	n, err := f.Writer.Write(p)
	f.n += n
	return n, err
}

// writeFileWhole writes a file through a temporary one beside it, so that it
// appears whole or not at all, and returns its length.
func writeFileWhole(name string, fill func(*countingFile) error) (int, error) {
	tmp, err := os.CreateTemp(filepath.Dir(name), "."+filepath.Base(name)+".*")
	if err != nil {
		return 0, reasonOf(err) // not the name that nobody chose
	}
	f := &countingFile{Writer: bufio.NewWriter(tmp)}
	err = fill(f)
	if err == nil {
		err = errors.Join(f.Flush(), tmp.Chmod(0o644), tmp.Sync())
	}
	err = errors.Join(err, tmp.Close())
	if err == nil {
		err = os.Rename(tmp.Name(), name)
	}
	if err != nil {
		return 0, errors.Join(err, os.Remove(tmp.Name()))
	}
	return f.n, nil
}

// reasonOf is why a file could not be opened, without its name.
func reasonOf(err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	return err
}
