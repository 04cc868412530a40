package site

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/gofrs/flock"
)

// ErrNotOurs is wrapped by errors about an output directory that holds something
// other than a site made here. Nothing in it is touched.
var ErrNotOurs = errors.New("not a site of kb")

// ErrBusy is wrapped when another process builds the same site.
var ErrBusy = errors.New("another build of this site is under way")

// Manifest is what manifest.json says of a site. It is written last: a site
// whose manifest names other bytes than there are was not finished.
type Manifest struct {
	Generator string            `json:"generator"`
	Commit    string            `json:"commit"`
	Recipes   []string          `json:"recipes"`
	Files     map[string]string `json:"files"` // SHA-256 in hexadecimal, by path
}

// generator names the program in a manifest, and so says that a directory is a
// site that a build may change.
const generator = "kb"

// buildFile keeps what each page was made of, so that the next build leaves alone
// what would not change. The site works without it.
const buildFile = assetDir + "/build.json"

// unfinished is there while a build changes a site: what the manifest says is then
// not to be relied on. It lists the files that the build adds, a line each.
const unfinished = ".kb-unfinished"

// output is the directory of a site being built.
type output struct {
	dir    string
	root   *os.Root
	fresh  string // a new site is built here and renamed to dir; "" when dir is changed in place
	before Manifest
	keysIn map[string]string // what pages were made of before, by path
	trust  bool              // what before says of dir is so

	lock    *flock.Flock // on the file unfinished, while dir is changed
	journal *os.File     // names of files that the manifest before does not have
	earlier []string     // such names, of a build that did not finish

	mu      sync.Mutex
	files   map[string]string // SHA-256 by path
	keys    map[string]string
	written int
	made    map[string]bool // directories
}

// openOutput prepares dir: a directory that is not there, is empty, or is a
// site of ours.
func openOutput(dir string) (*output, error) {
	o := &output{dir: dir, files: map[string]string{}, keys: map[string]string{}, keysIn: map[string]string{}, made: map[string]bool{}}
	if target, err := filepath.EvalSymlinks(dir); err == nil {
		dir, o.dir = target, target // where the link leads, not the link
	}
	entries, err := os.ReadDir(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist), err == nil && len(entries) == 0:
		return o, o.begin()
	case err != nil:
		return nil, err
	}
	if o.root, err = os.OpenRoot(dir); err != nil {
		return nil, err
	}
	raw, err := o.root.ReadFile(manifestFile)
	if err == nil {
		err = json.Unmarshal(raw, &o.before)
	}
	journal, started := o.root.ReadFile(unfinished)
	if o.before.Generator != generator && started != nil {
		return nil, errors.Join(fmt.Errorf("%w: %s has files and no sound %s", ErrNotOurs, dir, manifestFile), o.root.Close())
	}
	o.trust = err == nil && started != nil
	o.earlier = strings.Fields(string(journal))
	if raw, err := o.root.ReadFile(buildFile); err == nil && o.trust {
		if json.Unmarshal(raw, &o.keysIn) != nil {
			clear(o.keysIn)
		}
	}
	o.lock = flock.New(filepath.Join(dir, unfinished), flock.SetPermissions(0o644))
	if held, err := o.lock.TryLock(); err != nil || !held {
		return nil, errors.Join(fmt.Errorf("%w: %s", ErrBusy, dir), err, o.root.Close())
	}
	o.journal, err = o.root.OpenFile(unfinished, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	return o, err
}

// begin starts a new site beside where it will be.
func (o *output) begin() (err error) {
	parent := filepath.Dir(filepath.Clean(o.dir))
	if err = os.MkdirAll(parent, 0o755); err != nil {
		return err
	}
	if o.fresh, err = os.MkdirTemp(parent, "."+filepath.Base(o.dir)+".new-"); err != nil {
		return err
	}
	if err = os.Chmod(o.fresh, 0o755); err != nil {
		return err
	}
	o.root, err = os.OpenRoot(o.fresh)
	return err
}

// keep leaves a file as it is when it was made of the same before. It reports
// whether it could.
func (o *output) keep(name, key string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.trust && o.keysIn[name] == key && o.keepLocked(name, key)
}

// keepAs leaves a file as it is, whatever it was made of.
func (o *output) keepAs(name, key string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.keepLocked(name, key)
}

func (o *output) keepLocked(name, key string) bool {
	sum := o.before.Files[name]
	if sum == "" {
		return false
	}
	if info, err := o.root.Stat(name); err != nil || !info.Mode().IsRegular() {
		return false
	}
	o.files[name] = sum
	if key != "" {
		o.keys[name] = key
	}
	return true
}

// note records what something that is no file was made of.
func (o *output) note(name, key string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.keys[name] = key
}

// forget takes back what keep said.
func (o *output) forget(names ...string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, name := range names {
		delete(o.files, name)
		delete(o.keys, name)
	}
}

// put writes a file unless it is there with the same bytes. key, which may be
// empty, is what it was made of.
func (o *output) put(name, key string, data []byte) error {
	hash := sha256.Sum256(data)
	sum := hex.EncodeToString(hash[:])
	o.mu.Lock()
	if _, twice := o.files[name]; twice {
		o.mu.Unlock()
		return fmt.Errorf("two files of the site are called %s", name)
	}
	o.files[name] = sum
	if key != "" {
		o.keys[name] = key
	}
	same := o.trust && o.before.Files[name] == sum
	o.mu.Unlock()
	if (same || !o.trust && o.fresh == "") && o.holds(name, data) {
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
	info, err := o.root.Stat(name)
	if err != nil || info.Size() != int64(len(data)) {
		return false
	}
	if o.trust {
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
	if _, known := o.before.Files[name]; !known {
		if _, err := fmt.Fprintln(o.journal, escapePath(name)); err != nil {
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

// finish writes the manifest, removes what is stale, and puts a new site in its
// place.
func (o *output) finish(m Manifest) error {
	keys, err := json.Marshal(o.keys)
	if err != nil {
		return err
	}
	if err := o.put(buildFile, "", append(keys, '\n')); err != nil {
		return err
	}
	m.Generator, m.Files = generator, o.files
	raw, err := json.MarshalIndent(m, "", " ")
	if err != nil {
		return err
	}
	if err := o.replace(manifestFile, append(raw, '\n')); err != nil {
		return fmt.Errorf("write %s: %w", manifestFile, err)
	}
	if o.fresh != "" {
		return o.swap()
	}
	if err := o.sweep(); err != nil {
		return err
	}
	err = errors.Join(o.journal.Close(), o.root.Remove(unfinished), o.lock.Close())
	if err != nil { // some systems keep an open file: then it goes when it is closed
		err = ignoreMissing(o.root.Remove(unfinished))
	}
	return errors.Join(err, o.root.Close())
}

// swap renames a new site to where it belongs: dir is missing or empty.
func (o *output) swap() error {
	if err := o.root.Close(); err != nil {
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
	err := o.root.Close()
	if o.journal != nil {
		err = errors.Join(err, o.journal.Close(), o.lock.Close())
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
	for _, name := range o.stale() {
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

func (o *output) stale() (names []string) {
	for _, escaped := range o.earlier {
		if name, err := url.PathUnescape(escaped); err == nil && o.files[name] == "" {
			names = append(names, name)
		}
	}
	for name := range o.before.Files {
		if o.files[name] == "" {
			names = append(names, name)
		}
	}
	return names
}
