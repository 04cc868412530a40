package gitstore

import (
	"errors"
	"path"
	"strings"
)

// driver returns how a path is to be merged, by the .gitattributes files of ours.
func (m *merger) driver(name string) (string, error) {
	if m.attrs == nil {
		a := m.repo.attributes()
		if err := m.addAttributes(&a, m.ours, ""); err != nil {
			return "", err
		}
		m.attrs = &a
	}
	a, id := *m.attrs, m.ours
	dir, _ := path.Split(name)
	for i, part := range strings.SplitAfter(dir, "/") {
		if part == "" {
			break
		}
		t, err := m.tree(id)
		if err != nil {
			return "", err
		}
		e := t[strings.TrimSuffix(part, "/")]
		if e.isZero() || e.mode() != modeDir {
			break
		}
		id = e.id
		if err := m.addAttributes(&a, id, strings.Join(strings.SplitAfter(dir, "/")[:i+1], "")); err != nil {
			return "", err
		}
	}
	return a.mergeDriver(name), nil
}

// addAttributes adds what a directory's own file says.
func (m *merger) addAttributes(a *attributes, dir oid, base string) error {
	t, err := m.tree(dir)
	if err != nil {
		return err
	}
	e := t[".gitattributes"]
	if e.isZero() || !e.mode().isFile() {
		return nil
	}
	b, err := m.read(kindBlob, e.id)
	if errors.Is(err, ErrTooLarge) {
		return nil
	}
	if err == nil {
		*a = a.with(parseAttributes(base, string(b)))
	}
	return err
}
