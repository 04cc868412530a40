package site

import (
	"errors"
	"fmt"
	"maps"
	"net/url"
	"os"
	"path"
	"slices"
	"strings"
)

// finish writes the manifest, removes what is stale, and puts a new site in its
// place.
func (o *output) finish(m Manifest) error {
	raw, err := o.list(m)
	if err == nil {
		err = o.seal(raw)
	}
	if err != nil {
		return errors.Join(err, o.abandon())
	}
	if o.fresh != "" {
		return o.swap()
	}
	return o.release()
}

// list writes the build file, and makes the manifest.
func (o *output) list(m Manifest) ([]byte, error) {
	names := slices.Sorted(maps.Keys(o.files))
	if err := o.put(buildFile, "", o.keys(names)); err != nil {
		return nil, err
	}
	if at, had := slices.BinarySearch(names, buildFile); !had {
		names = slices.Insert(names, at, buildFile)
	}
	names = slices.DeleteFunc(names, func(name string) bool { return o.files[name].sum == "" })
	o.count = len(names) + 1
	m.Generator = generator
	raw, err := m.text(names, func(name string) string { return o.files[name].sum })
	if err != nil {
		return nil, err
	}
	return raw, nil
}

// seal writes the manifest, after all other files: from then on the site is what it
// says, and what it does not name is removed.
func (o *output) seal(manifest []byte) error {
	o.stale = o.left()
	if err := o.announce(o.stale...); err != nil {
		return err
	}
	if err := o.replace(manifestFile, manifest); err != nil {
		return fmt.Errorf("write %s: %w", manifestFile, err)
	}
	o.manifest = sumOf(manifest)
	return o.sweep()
}

// release ends a change of a site in place.
func (o *output) release() error {
	err := errors.Join(o.journal.Close(), o.root.Remove(unfinished), o.lock.Close())
	if err != nil { // some systems keep an open file: then it goes when it is closed
		err = ignoreMissing(o.root.Remove(unfinished))
	}
	return errors.Join(err, o.root.Close())
}

// swap renames a new site to where it belongs: dir is missing or empty.
func (o *output) swap() error {
	if err := errors.Join(o.lock.Close(), o.root.Remove(unfinished), o.root.Close()); err != nil {
		return err
	}
	if err := ignoreMissing(os.Remove(o.dir)); err != nil {
		return errors.Join(fmt.Errorf("%w: %w", ErrBusy, err), os.RemoveAll(o.fresh))
	}
	if err := os.Rename(o.fresh, o.dir); err != nil {
		return errors.Join(fmt.Errorf("%w: %w", ErrBusy, err), os.RemoveAll(o.fresh))
	}
	return nil
}

// abandon leaves things as they were, as far as that is still possible: a new
// site goes, an old one stays and is marked as unfinished.
func (o *output) abandon() error {
	err := errors.Join(o.root.Close(), o.lock.Close())
	if o.journal != nil {
		err = errors.Join(err, o.journal.Close())
	}
	if o.fresh != "" {
		err = errors.Join(err, os.RemoveAll(o.fresh))
	}
	return err
}

// sweep removes the files that earlier builds wrote and this one did not. What
// somebody else put beside them stays.
func (o *output) sweep() error {
	dirs := map[string]bool{}
	for _, name := range o.stale {
		if err := ignoreMissing(o.root.Remove(name)); err != nil {
			return fmt.Errorf("remove %s: %w", name, err)
		}
		for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
			dirs[dir] = true
		}
	}
	deepest := slices.SortedFunc(maps.Keys(dirs), func(a, b string) int { return strings.Count(b, "/") - strings.Count(a, "/") })
	for _, dir := range deepest {
		_ = o.root.Remove(dir) // fails while something is in it, as it should
	}
	return nil
}

// left lists what earlier builds wrote and this one did not, in order.
func (o *output) left() (names []string) {
	for _, escaped := range o.earlier {
		if name, err := url.PathUnescape(escaped); err == nil && name != manifestFile && !o.has(name) {
			names = append(names, name)
		}
	}
	for name, f := range o.files {
		if f.was != "" && f.sum == "" && (o.renewal == nil || f.gone) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}
