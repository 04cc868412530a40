package gitstore

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// Locks on refs are git's: whoever creates <file>.lock may replace <file>, by
// renaming the lock onto it. A process that dies leaves its lock, and git leaves
// it at that. Ours are found again:
//
//	kb/refs.guard   held with the kernel's lock, by one writer of ours at a time;
//	                lists the files whose locks that writer makes, one a line
//	kb/pending-N    hard link to the lock of line N
//
// The next writer removes a listed lock if, and only if, it is the same file as
// the pending one: so it never removes a lock of git's. Where the file system has
// no hard links, a lock is created as git creates it, and a dead writer's stays.
type guard struct {
	repo   *Repo
	file   *os.File
	until  time.Time
	locks  int   // how many are listed
	listed int64 // in so many bytes
}

// lockPatience is how long a writer waits for others.
const lockPatience = 10 * time.Second

// guarded runs fn as the only writer of refs among those that use this package.
func (r *Repo) guarded(fn func(*guard) error) error {
	dir := filepath.Join(r.commonDir, "kb")
	if err := makeDir(dir); err != nil {
		return err
	}
	f, err := os.OpenFile(filepath.Join(dir, "refs.guard"), os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return err
	}
	defer f.Close()
	g := &guard{repo: r, file: f, until: time.Now().Add(r.patience)}
	err = g.wait(f.Name(), func() (bool, error) { return flock(f) })
	if err == nil {
		err = g.recover()
	}
	if err != nil {
		return err
	}
	return fn(g)
}

// wait tries until it succeeds, fails, or takes too long.
func (g *guard) wait(file string, try func() (bool, error)) error {
	for pause := time.Millisecond; ; pause = min(2*pause, 16*time.Millisecond) {
		if ok, err := try(); ok || err != nil {
			return err
		}
		if time.Now().After(g.until) {
			return fmt.Errorf("%w: another process holds %s; if none does, remove it", ErrLocked, file)
		}
		time.Sleep(pause/2 + rand.N(pause))
	}
}

// recover removes the locks of a writer that died.
func (g *guard) recover() error {
	list, err := io.ReadAll(io.LimitReader(g.file, 1<<20))
	if err != nil {
		return err
	}
	for i, name := range strings.Split(strings.TrimSuffix(string(list), "\n"), "\n") {
		if name == "" || !filepath.IsLocal(name) {
			break
		}
		lock := filepath.Join(g.repo.commonDir, name) + ".lock"
		mine, err1 := os.Lstat(g.pending(i))
		there, err2 := os.Lstat(lock)
		if err1 == nil && err2 == nil && os.SameFile(mine, there) {
			if err := os.Remove(lock); err != nil {
				return err
			}
		}
		if err := os.Remove(g.pending(i)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return g.file.Truncate(0)
}

func (g *guard) pending(i int) string {
	return filepath.Join(g.repo.commonDir, "kb", "pending-"+strconv.Itoa(i))
}

// list records that a lock is about to be made. A line that is cut off names one
// that was not made yet.
func (g *guard) list(name string) error {
	_, err := g.file.WriteAt([]byte(name+"\n"), g.listed)
	g.listed += int64(len(name) + 1)
	g.locks++
	return err
}

// refLock is a lock that is held.
type refLock struct {
	guard   *guard
	file    string // what it locks
	pending string
	out     *os.File // the lock, to be written
	done    bool
}

func (l *refLock) name() string { return l.file + ".lock" }

// lock locks a file of the common directory, to be replaced by the given bytes.
func (g *guard) lock(file string, b []byte) (*refLock, error) {
	rel, err := filepath.Rel(g.repo.commonDir, file)
	if err != nil {
		return nil, err
	}
	l := &refLock{guard: g, file: file, pending: g.pending(g.locks)}
	if err := g.list(rel); err != nil {
		return nil, err
	}
	os.Remove(l.pending) // never truncate: it may be linked to what is in use
	if l.out, err = os.OpenFile(l.pending, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666); err != nil {
		return nil, err
	}
	if err = l.write(b); err == nil {
		g.repo.step("lock written")
		err = g.wait(l.name(), l.take)
	}
	if err != nil {
		l.out.Close()
		os.Remove(l.pending)
		return nil, err
	}
	g.repo.step("locked")
	return l, nil
}

// take makes the lock, unless somebody else has it.
func (l *refLock) take() (bool, error) {
	err := os.Link(l.pending, l.name())
	switch {
	case err == nil:
		return true, nil
	case errors.Is(err, fs.ErrExist):
		return false, nil
	case errors.Is(err, fs.ErrNotExist):
		// git removes empty directories at any time.
		if err := makeDir(filepath.Dir(l.file)); !errors.Is(err, fs.ErrNotExist) {
			return false, err
		}
		return false, nil
	case isMissing(err):
		return false, fmt.Errorf("%w: a ref stands where %s needs a directory", ErrRefConflict, l.file)
	}
	return l.takeUnlinked()
}

// takeUnlinked makes the lock where there are no hard links.
func (l *refLock) takeUnlinked() (bool, error) {
	f, err := os.OpenFile(l.name(), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if errors.Is(err, fs.ErrExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	b, err := os.ReadFile(l.pending)
	if err == nil {
		l.out.Close()
		l.out = f
		err = l.write(b)
	}
	if err != nil {
		f.Close()
		os.Remove(l.name())
	}
	return err == nil, err
}

// write adds to the lock's bytes, durably.
func (l *refLock) write(b []byte) error {
	if len(b) == 0 {
		return nil
	}
	if _, err := l.out.Write(b); err != nil {
		return err
	}
	return l.out.Sync()
}

// commit puts the lock in the place of the file.
func (l *refLock) commit() error {
	if err := l.out.Close(); err != nil {
		return err
	}
	if err := os.Rename(l.name(), l.file); err != nil {
		return err
	}
	l.done = true
	l.guard.repo.step("ref moved")
	os.Remove(l.pending)
	return syncLeft(filepath.Dir(l.file))
}

// undo gives up a lock that was not committed.
func (l *refLock) undo() {
	if !l.done {
		l.out.Close()
		os.Remove(l.name())
		os.Remove(l.pending)
	}
}
