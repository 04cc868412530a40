package site

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path"
)

// put writes a file unless it is there with the same bytes. key, which may be
// empty, is what it was made of.
func (o *output) put(name, key string, data []byte) error {
	sum := sumOf(data)
	o.mu.Lock()
	f := o.at(name)
	if f.sum != "" {
		o.mu.Unlock()
		return fmt.Errorf("two files of the site are called %s", name)
	}
	f.sum, f.key, f.size = sum, key, int64(len(data))
	if o.renewal != nil && f.was != sum {
		f.data = data
		o.written++
	}
	o.mu.Unlock()
	if o.renewal != nil {
		return nil // written when all is made
	}
	if o.fresh == "" && (f.was == sum || !o.trust) && o.holds(name, data) {
		return nil
	}
	if err := o.replace(name, data); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	o.mu.Lock()
	o.written++
	o.mu.Unlock()
	return nil
}

// holds reports whether the file on disk has those bytes.
func (o *output) holds(name string, data []byte) bool {
	info, err := o.root.Lstat(name)
	if err != nil || !info.Mode().IsRegular() || info.Size() != int64(len(data)) {
		return false
	}
	if o.trust && !info.ModTime().After(o.sealed) {
		return true // and the manifest has its hash
	}
	had, err := o.root.ReadFile(name)
	return err == nil && bytes.Equal(had, data)
}

// replace writes a file so that a reader sees the old or the new one, whole.
func (o *output) replace(name string, data []byte) error {
	if err := o.mkdir(path.Dir(name)); err != nil {
		return err
	}
	if o.fresh != "" {
		return o.root.WriteFile(name, data, 0o644)
	}
	if o.isNew(name) {
		if err := o.announce(name); err != nil {
			return err
		}
	}
	tmp := name + ".kb-new"
	if err := o.root.WriteFile(tmp, data, 0o644); err != nil {
		return errors.Join(err, ignoreMissing(o.root.Remove(tmp)))
	}
	if err := o.root.Rename(tmp, name); err != nil {
		return errors.Join(err, ignoreMissing(o.root.Remove(tmp)))
	}
	return nil
}

// announce adds names to the journal, in one write.
func (o *output) announce(names ...string) error {
	if o.journal == nil || len(names) == 0 {
		return nil
	}
	var lines []byte
	for _, name := range names {
		lines = append(append(lines, escapePath(name)...), '\n')
	}
	_, err := o.journal.Write(lines)
	return err
}

// isNew reports whether the manifest before does not name a file. It never names
// itself.
func (o *output) isNew(name string) bool {
	if name == manifestFile {
		return false
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	f := o.known(name)
	return f == nil || f.was == ""
}

func (o *output) mkdir(dir string) error {
	o.mu.Lock()
	done := o.made[dir]
	o.mu.Unlock()
	if done || dir == "." {
		return nil
	}
	if err := o.root.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	o.mu.Lock()
	o.made[dir] = true
	o.mu.Unlock()
	return nil
}

func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
