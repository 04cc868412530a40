package site

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/gofrs/flock"
)

// ErrNotOurs is wrapped by errors about an output directory that holds something
// other than a site made here. Nothing in it is touched.
var ErrNotOurs = errors.New("not a site of kb")

// ErrBusy is wrapped when another process builds the same site.
var ErrBusy = errors.New("another build of this site is under way")

// generator names the program in a manifest, and so says that a directory is a
// site that a build may change.
const generator = "kb"

// buildFile keeps what each page was made of, so that the next build leaves alone
// what would not change. The site works without it.
const buildFile = assetDir + "/build.json"

// siteScript is the script of a site that every page loads under the same name.
const siteScript = assetDir + "/site.js"

// unfinished is there while a build changes a site: what the manifest says is then
// not to be relied on. It lists the files that the build adds, a line each, and
// before the manifest that does not name them, those that it removes.
const unfinished = ".kb-unfinished"

// output is the directory of a site being built.
type output struct {
	dir    string
	root   *os.Root
	fresh  string    // a new site is built here and renamed to dir; "" when dir is changed in place
	trust  bool      // what the manifest says of dir is so
	sealed time.Time // when that was written: after all other files

	lock    *flock.Flock // on the file unfinished, while dir is changed
	journal *os.File     // names of files that one of the two manifests does not have
	earlier []string     // such names, of a build that did not finish
	renewal *renewal     // nil, or where to look for files that are not in files

	mu      sync.Mutex
	files   map[string]*file
	made    map[string]bool // directories
	written int
	count   int      // files of the site, when it is finished
	stale   []string // files that the site no longer has, then

	manifest string // SHA-256 of the manifest that was written
}

// file is one file of a site, or something else that has a key: before, and as
// this build makes it.
type file struct {
	was, sum    string // SHA-256; "" for none
	wasKey, key string // what it was made of
	wasSize     int64
	size        int64

	data []byte // of a renewal: what is to be written
	gone bool   // likewise: it is to be removed
}

// openOutput prepares dir: a directory that is not there, is empty, or is a
// site of ours.
func openOutput(dir string) (*output, error) {
	o := &output{dir: dir, files: map[string]*file{}, made: map[string]bool{}}
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
	if err := o.resume(); err != nil {
		return nil, errors.Join(err, o.root.Close())
	}
	return o, nil
}

// resume makes ready to change a site in place.
func (o *output) resume() error {
	raw, err := o.root.ReadFile(manifestFile)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if m, _ := readManifest(raw, func(string, string) {}); m.Generator != generator {
		if _, err := o.root.Stat(unfinished); err != nil && o.builtNames() == nil {
			return fmt.Errorf("%w: %s has files and no sound %s", ErrNotOurs, o.dir, manifestFile)
		}
	}
	started, err := o.take(o.dir)
	if err != nil {
		return err
	}
	if o.journal, err = o.root.OpenFile(unfinished, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644); err != nil {
		return errors.Join(err, o.lock.Close())
	}
	return o.readBefore(started)
}

// take locks a directory for this build. It reports whether a build that did not
// finish left it.
func (o *output) take(dir string) (started bool, err error) {
	mark := filepath.Join(dir, unfinished)
	f, err := os.OpenFile(mark, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if started = errors.Is(err, fs.ErrExist); err == nil {
		err = f.Close()
	}
	if err != nil && !started {
		return false, err
	}
	o.lock = flock.New(mark, flock.SetPermissions(0o644))
	if held, err := o.lock.TryLock(); err != nil || !held {
		return started, errors.Join(fmt.Errorf("%w: %s", ErrBusy, o.dir), err)
	}
	return started, nil
}

// begin starts a new site beside where it will be.
func (o *output) begin() (err error) {
	parent := filepath.Dir(filepath.Clean(o.dir))
	if err = errors.Join(os.MkdirAll(parent, 0o755), o.clearAway()); err != nil {
		return err
	}
	if o.fresh, err = os.MkdirTemp(parent, "."+filepath.Base(o.dir)+".new-"); err != nil {
		var path *fs.PathError
		if errors.As(err, &path) { // not the name that nobody chose
			err = &fs.PathError{Op: "write", Path: o.dir, Err: path.Err}
		}
		return err
	}
	if err = os.Chmod(o.fresh, 0o755); err != nil {
		return err
	}
	if _, err = o.take(o.fresh); err != nil {
		return err
	}
	o.root, err = os.OpenRoot(o.fresh)
	return err
}

// clearAway removes what builds left beside dir that were killed before their site
// was whole.
func (o *output) clearAway() error {
	left, err := filepath.Glob(filepath.Join(globEscape(filepath.Dir(o.dir)), "."+globEscape(filepath.Base(o.dir))+".new-*"))
	if err != nil {
		return err
	}
	for _, dir := range left {
		lock := flock.New(filepath.Join(dir, unfinished))
		if _, err := os.Stat(lock.Path()); err != nil {
			continue // no site of ours, or not one yet
		}
		held, err := lock.TryLock()
		if err != nil || !held {
			continue // it is being built
		}
		if err := errors.Join(lock.Close(), os.RemoveAll(dir)); err != nil {
			return err
		}
	}
	return nil
}

// globEscape makes a pattern that matches s alone.
func globEscape(s string) string {
	if runtime.GOOS == "windows" {
		return strings.ReplaceAll(s, "[", "[[]")
	}
	return strings.NewReplacer("[", `\[`, "*", `\*`, "?", `\?`, `\`, `\\`).Replace(s)
}

// readBefore reads what the last build says of the directory. Without a sound
// manifest that is the names of its files, so that those go which this build does not
// make; they are journaled, since it writes the build file anew.
func (o *output) readBefore(started bool) error {
	var m Manifest
	raw, err := o.root.ReadFile(manifestFile)
	if err == nil {
		m, err = readManifest(raw, func(name, sum string) { o.files[name] = &file{was: sum} })
	}
	sound := err == nil && m.Generator == generator
	o.trust = sound && !started
	if journal, err := o.root.ReadFile(unfinished); err == nil {
		o.earlier = strings.Fields(string(journal))
	}
	if info, err := o.root.Stat(manifestFile); err == nil {
		o.sealed = info.ModTime()
	}
	if !sound {
		names := o.builtNames()
		for _, name := range names {
			o.earlier = append(o.earlier, escapePath(name))
		}
		return o.announce(names...)
	}
	if raw, err := o.root.ReadFile(buildFile); err == nil && o.trust {
		o.readKeys(string(raw))
	}
	return nil
}

// builtNames are the names of the files that the build file lists; nil unless it is
// that of the site in the directory: whole, with the size that the site's script has.
func (o *output) builtNames() (names []string) {
	raw, err := o.root.ReadFile(buildFile)
	if err != nil || !bytes.HasSuffix(raw, []byte(keysEnd)) {
		return nil
	}
	known := false
	lines, ok := strings.CutPrefix(string(raw), keysBegin)
	err = readStrings(lines, func(name, value string) {
		_, size, sound := readLine(value)
		ok = ok && sound
		if info, err := o.root.Lstat(name); name == siteScript && err == nil {
			known = sound && info.Size() == size
		}
		names = append(names, name)
	})
	if !ok || err != nil || !known {
		return nil
	}
	return append(names, buildFile)
}

// keep leaves a file as it is when it was made of the same before. It reports
// whether it could.
func (o *output) keep(name, key string) bool {
	o.mu.Lock()
	f := o.known(name)
	o.mu.Unlock()
	if f == nil || !o.trust || f.was == "" || f.wasKey != key || key == "" || !o.intact(name, f) {
		return false
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	f.sum, f.key, f.size = f.was, key, f.wasSize
	return true
}

// intact reports whether a file is on disk as the build before left it: with the
// size that it had, and not written since; if it was, with the bytes.
func (o *output) intact(name string, f *file) bool {
	if o.renewal != nil {
		return true // all were looked at
	}
	info, err := os.Lstat(filepath.Join(o.dir, filepath.FromSlash(name)))
	if err != nil || !info.Mode().IsRegular() || info.Size() != f.wasSize {
		return false
	}
	if !info.ModTime().After(o.sealed) {
		return true
	}
	data, err := o.root.ReadFile(name)
	return err == nil && sumOf(data) == f.was
}

func sumOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// keyOf is what something was made of before; "" if that is not known.
func (o *output) keyOf(name string) string {
	o.mu.Lock()
	defer o.mu.Unlock()
	if f := o.known(name); f != nil && o.trust {
		return f.wasKey
	}
	return ""
}

// before lists the files of the build before whose names begin so, without that.
func (o *output) before(prefix string) (names []string) {
	if o.renewal != nil {
		return o.renewal.named(prefix)
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	for name, f := range o.files {
		if rest, ok := strings.CutPrefix(name, prefix); ok && f.was != "" && o.trust {
			names = append(names, rest)
		}
	}
	return names
}

// note records what something that is no file was made of.
func (o *output) note(name, key string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.at(name).key = key
}

// known is the file of a name, nil if there is none.
func (o *output) known(name string) *file {
	f := o.files[name]
	if f == nil && o.renewal != nil {
		if f = o.renewal.file(name); f != nil {
			o.files[name] = f
		}
	}
	return f
}

// at is the file of a name.
func (o *output) at(name string) *file {
	f := o.known(name)
	if f == nil {
		f = &file{}
		o.files[name] = f
	}
	return f
}

// has reports whether this build has a file already.
func (o *output) has(name string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	f := o.files[name]
	return f != nil && f.sum != ""
}

// forget takes back what keep said.
func (o *output) forget(names ...string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, name := range names {
		if f := o.files[name]; f != nil {
			f.sum, f.key = "", ""
		}
	}
}

// discard takes back what this build made below a prefix.
func (o *output) discard(prefix string) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	for name, f := range o.files {
		if f.sum == "" || !strings.HasPrefix(name, prefix) {
			continue
		}
		if f.was == "" {
			if err := ignoreMissing(o.root.Remove(name)); err != nil {
				return err
			}
		}
		f.sum, f.key = "", ""
	}
	return nil
}

// Where the members begin and end in the build file.
const (
	keysBegin = "{\n"
	keysEnd   = "}\n"
)

// keys is the build file: what each file was made of, if that is worth knowing, and
// its size.
func (o *output) keys(names []string) []byte {
	made := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return o.files[name].key+o.files[name].sum == "" })
	out := appendStrings([]byte(keysBegin), "", made, func(name string) string { return o.files[name].line() })
	return append(out, keysEnd...)
}

// line is what the build file says of f.
func (f *file) line() string { return f.key + " " + strconv.FormatInt(f.size, 10) }

// readKeys reads the build file; of one that is not sound, nothing.
func (o *output) readKeys(text string) {
	type keyed struct{ name, key string }
	read := make([]keyed, 0, len(o.files))
	if _, lines, ok := strings.Cut(text, keysBegin); !ok || readStrings(lines, func(name, value string) { read = append(read, keyed{name, value}) }) != nil {
		return
	}
	for _, k := range read {
		if key, size, ok := readLine(k.key); ok {
			f := o.at(k.name)
			f.wasKey, f.wasSize = key, size
		}
	}
}

// readLine reads what line made.
func readLine(line string) (key string, size int64, ok bool) {
	at := strings.LastIndexByte(line, ' ')
	size, err := strconv.ParseInt(line[at+1:], 10, 64)
	return line[:max(at, 0)], size, at >= 0 && err == nil
}
