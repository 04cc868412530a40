package convert

import (
	"archive/zip"
	"errors"
	"fmt"
	"io"
	"strings"
)

// archive reads the entries of a zip file, and counts what they expand to.
type archive struct {
	files    map[string]*zip.File
	expanded int64
}

func (s *sniffed) archive() *archive {
	a := &archive{files: map[string]*zip.File{}}
	for _, f := range s.zip.File {
		a.files[strings.TrimPrefix(f.Name, "/")] = f
	}
	return a
}

// encrypted is the flag of an entry that needs a password.
const encrypted = 1

// read returns the bytes of an entry. Its stated size is not believed.
func (a *archive) read(name string) ([]byte, error) {
	f := a.files[name]
	if f == nil {
		return nil, fmt.Errorf("%w: %s is not in the archive", ErrDamaged, name)
	}
	if f.Flags&encrypted != 0 {
		return nil, fmt.Errorf("%w: the archive needs a password", ErrEncrypted)
	}
	r, err := f.Open()
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrDamaged, name, err)
	}
	most := min(maxEntry, maxExpanded-a.expanded)
	b, err := io.ReadAll(io.LimitReader(r, most+1))
	a.expanded += int64(len(b))
	if err = errors.Join(err, r.Close()); err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrDamaged, name, err)
	}
	if int64(len(b)) > most {
		return nil, fmt.Errorf("%w: %s expands to more than %d MB", ErrTooLarge, name, most>>20)
	}
	return b, nil
}

// entryText is the beginning of an entry, "" when it cannot be read.
func (s *sniffed) entryText(name string, most int) string {
	for _, f := range s.zip.File {
		if f.Name != name {
			continue
		}
		r, err := f.Open()
		if err != nil {
			return ""
		}
		defer r.Close()
		b, _ := io.ReadAll(io.LimitReader(r, int64(most)))
		return string(b)
	}
	return ""
}
