package access

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"github.com/gofrs/flock"
)

// tokenFile is the form of a token file.
type tokenFile struct {
	Version int     `json:"version"`
	Tokens  []Token `json:"tokens"`
}

const (
	fileVersion = 1
	maxFile     = 4 << 20
)

// readTokens reads a token file. One that others can write is as good as none.
func readTokens(path string) ([]Token, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if runtime.GOOS != "windows" && info.Mode().Perm()&0o022 != 0 {
		return nil, fmt.Errorf("%s can be written by others: chmod 600 it", path)
	}
	raw, err := io.ReadAll(io.LimitReader(f, maxFile))
	if err != nil {
		return nil, err
	}
	var file tokenFile
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if err := d.Decode(&file); err != nil {
		return nil, fmt.Errorf("%s is no token file: %w", path, err)
	}
	if file.Version != fileVersion {
		return nil, fmt.Errorf("%s is of version %d, and this kb knows %d", path, file.Version, fileVersion)
	}
	return file.Tokens, nil
}

// change replaces what the file holds by what edit makes of it, one process at
// a time, wholly or not at all.
func (t *Tokens) change(edit func([]Token) ([]Token, error)) (err error) {
	if err := os.MkdirAll(filepath.Dir(t.Path), 0o700); err != nil {
		return err
	}
	lock := flock.New(t.Path+".lock", flock.SetPermissions(0o600))
	if err := lock.Lock(); err != nil {
		return fmt.Errorf("lock %s: %w", lock.Path(), err)
	}
	defer func() { err = errors.Join(err, lock.Unlock()) }()
	held, err := readTokens(t.Path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if held, err = edit(held); err != nil {
		return err
	}
	raw, err := json.MarshalIndent(tokenFile{fileVersion, held}, "", "  ")
	if err != nil {
		return err
	}
	return replace(t.Path, append(raw, '\n'))
}

// replace writes a file that only this user reads, through another beside it.
func replace(path string, raw []byte) error {
	tmp, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*") // 0600
	if err != nil {
		return err
	}
	_, err = tmp.Write(raw)
	err = errors.Join(err, tmp.Sync(), tmp.Close())
	if err == nil {
		err = os.Rename(tmp.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(tmp.Name()))
	}
	return nil
}
