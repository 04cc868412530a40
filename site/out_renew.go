package site

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// renewal is the files of a site as the build before left them, of which few are to
// change: what was made of each is looked up when it is asked for. Nothing is written
// until all is made, so that a build can be made in the usual way instead.
type renewal struct {
	sums, made listing // of the manifest and of the build file
	begun      bool    // something is being written
}

// openRenewal prepares to change a few files of the site that a build left with a
// manifest of that hash. It returns [ErrAnew] where there is no such site, or a file
// in it is not as that build left it.
func openRenewal(dir, manifest string) (*output, error) {
	target, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrAnew, err)
	}
	o := &output{dir: target, files: map[string]*file{}, made: map[string]bool{}, trust: true, renewal: &renewal{}}
	if o.root, err = os.OpenRoot(target); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrAnew, err)
	}
	info, err := o.root.Stat(manifestFile)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%w: %w", ErrAnew, err), o.root.Close())
	}
	o.sealed = info.ModTime()
	started, err := o.take(target)
	if err != nil || started {
		return nil, errors.Join(fmt.Errorf("%w: another build", ErrAnew), err, o.lock.Close(), o.root.Close())
	}
	o.journal, err = o.root.OpenFile(unfinished, os.O_APPEND|os.O_WRONLY, 0o644)
	if err == nil {
		err = o.readRenewal(manifest)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%w: %w", ErrAnew, err), o.release())
	}
	return o, nil
}

// readRenewal reads the manifest and the build file, and looks at every file.
func (o *output) readRenewal(manifest string) error {
	raw, err := o.root.ReadFile(manifestFile)
	if err != nil {
		return err
	}
	sums, _, ok := listingOf(string(raw), filesBegin, filesEnd, filesIndent)
	if !ok || sumOf(raw) != manifest {
		return fmt.Errorf("%s is of another build", manifestFile)
	}
	if raw, err = o.root.ReadFile(buildFile); err != nil {
		return err
	}
	made, _, ok := listingOf(string(raw), keysBegin, keysEnd, "")
	if sum, _ := sums.find(buildFile); !ok || sum != sumOf(raw) {
		return fmt.Errorf("%s was changed", buildFile)
	}
	o.renewal.sums, o.renewal.made = sums, made
	return o.untouched()
}

// untouched looks whether all files are there, have the size that they had, and were
// not written since.
func (o *output) untouched() error {
	l := &looker{top: o.dir}
	defer l.close()
	changed := ""
	o.renewal.made.each(func(name, value string) bool {
		_, size, ok := readLine(value)
		if name[0] == '#' {
			return true // what something that is no file was made of
		}
		if !ok || !l.untouched(name, size, o.sealed) {
			changed = name
		}
		return changed == ""
	})
	if changed != "" {
		return fmt.Errorf("%s was changed", changed)
	}
	return nil
}

// file is a file, or something else that has a key, as it was before.
func (r *renewal) file(name string) *file {
	sum, isFile := r.sums.find(name)
	value, hasKey := r.made.find(name)
	if !isFile && !hasKey {
		return nil
	}
	f := &file{was: sum}
	if key, size, ok := readLine(value); ok {
		f.wasKey, f.wasSize = key, size
	}
	return f
}

// named lists the files whose names begin so, without that.
func (r *renewal) named(prefix string) (names []string) {
	for at, _ := r.sums.seek(prefix); at < len(r.sums.body); {
		name, _, end := r.sums.line(at)
		rest, ok := strings.CutPrefix(name, prefix)
		if !ok {
			break
		}
		names = append(names, rest)
		at = end + len(betweenLines)
	}
	return names
}

// drop says that a file is no longer one of the site.
func (o *output) drop(name string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if f := o.known(name); f != nil && f.sum == "" {
		f.gone = true
	}
}

// renewed reports whether what the manifest or the build file says of f changes.
func (f *file) renewed() bool {
	return f.gone || f.sum+f.key != "" && (f.sum != f.was || f.key != f.wasKey || f.size != f.wasSize)
}

// finishRenewal writes what changed, the manifest after all else.
func (o *output) finishRenewal(m Manifest) error {
	changed := func() []string {
		return slices.DeleteFunc(slices.Sorted(maps.Keys(o.files)), func(name string) bool { return !o.files[name].renewed() })
	}
	made := o.renewal.made.appendChanged([]byte(keysBegin), changed(), func(name string) (string, bool) {
		return o.files[name].line(), !o.files[name].gone
	})
	if err := o.put(buildFile, "", append(made, keysEnd...)); err != nil {
		return err
	}
	names := changed()
	o.renewal.begun = true
	for _, name := range names {
		if data := o.files[name].data; data != nil {
			if err := o.replace(name, data); err != nil {
				return fmt.Errorf("write %s: %w", name, err)
			}
		}
	}
	m.Generator = generator
	head, err := m.head()
	if err != nil {
		return err
	}
	sums := o.renewal.sums.appendChanged(append(head, filesBegin...), names, func(name string) (string, bool) {
		return o.files[name].sum, o.files[name].sum != ""
	})
	o.count = o.renewal.sums.count() + 1
	for _, name := range names {
		o.count += boolInt(o.files[name].sum != "") - boolInt(o.files[name].was != "")
	}
	if err := o.seal(append(sums, filesEnd...)); err != nil {
		return err
	}
	return o.release()
}

// giveUp leaves the site as it was, if nothing was written yet; else it is marked as
// unfinished.
func (o *output) giveUp() error {
	if o.renewal.begun {
		return o.abandon()
	}
	return o.release()
}

// ErrAnew is returned by [Renew] when a site is to be built by [Build] instead.
var ErrAnew = errors.New("the site is to be built anew")
