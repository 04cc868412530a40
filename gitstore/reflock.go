package gitstore

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Locks on refs are git's: whoever creates <file>.lock may replace <file>, by
// renaming the lock onto it. A process that dies leaves its lock, and git leaves
// it at that. Ours are found again:
//
//	kb/refs.guard   held with the kernel's lock, by one writer of ours at a time;
//	                lists the files whose locks that writer makes, one a line,
//	                the work trees that it changes, and last that it has decided
//	kb/pending-N    hard link to the lock that is listed as number N
//
// The next writer removes a listed lock if, and only if, it is the same file as
// the pending one: so it never removes a lock of git's. If the dead writer had
// decided, the next one does with the lock what it is for: several refs move as
// one. Where the file system has no hard links, a lock is created as git creates
// it, and a dead writer's stays.
type guard struct {
	repo    *Repo
	file    *os.File
	until   time.Time
	locks   int   // how many are listed
	listed  int64 // in so many bytes
	decided bool  // what is listed is to happen
}

// Lines of the guard that are no files.
const (
	decidedLine = "> decided"
	followLine  = "> follow "
	packedFile  = "packed-refs"
)

// lockPatience is how long a writer waits for other processes. Those of this one
// stand in a line, which moves: they wait for lineFactor times as long.
const (
	lockPatience = 10 * time.Second
	lineFactor   = 12
)

// guarded runs fn as the only writer of refs among those that use this package.
func (r *Repo) guarded(fn func(*guard) error) error {
	select {
	case r.writing <- struct{}{}:
		defer func() { <-r.writing }()
	case <-time.After(lineFactor * r.patience):
		return fmt.Errorf("%w: many in this process write refs", ErrLocked)
	}
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
	if err == nil {
		err = fn(g)
	}
	return err
}

// wait tries until it succeeds, fails, or takes too long.
func (g *guard) wait(file string, try func() (bool, error)) error {
	for pause := time.Millisecond; ; pause = min(2*pause, 16*time.Millisecond) {
		if ok, err := try(); ok || err != nil {
			return err
		}
		if time.Now().After(g.until) {
			return fmt.Errorf("%w: another process holds %s; if none does, remove it", ErrLocked, g.repo.shown(file))
		}
		time.Sleep(pause/2 + rand.N(pause))
	}
}

// shown is a file of the common directory as messages name it: not every reader of
// theirs is to know where the repository is.
func (r *Repo) shown(file string) string {
	rel, err := filepath.Rel(filepath.Dir(r.commonDir), file)
	if err != nil {
		return filepath.Base(file)
	}
	return filepath.ToSlash(rel)
}

// recover ends what a writer that died has left.
func (g *guard) recover() error {
	list, err := io.ReadAll(io.LimitReader(g.file, 1<<20))
	if err != nil || len(list) == 0 {
		return err
	}
	var files []string
	var follows []follow
	for line := range strings.SplitSeq(strings.TrimSuffix(string(list), "\n"), "\n") {
		rest, isFollow := strings.CutPrefix(line, followLine)
		switch {
		case line == decidedLine:
			g.decided = true
		case isFollow:
			follows = append(follows, g.repo.parseFollow(rest)...)
		case line != "" && filepath.IsLocal(line):
			files = append(files, line)
		}
	}
	if err := g.recoverLocks(files); err != nil {
		return err
	}
	for _, f := range follows {
		f.recover(g.decided)
	}
	g.decided = false
	return g.clear()
}

// recoverLocks does away with the locks of a dead writer. packed-refs comes
// first, so that no value in it comes to light.
func (g *guard) recoverLocks(files []string) error {
	order := make([]int, len(files))
	for i := range files {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return boolInt(files[b] == packedFile) - boolInt(files[a] == packedFile)
	})
	for _, i := range order {
		file := filepath.Join(g.repo.commonDir, files[i])
		mine, err1 := os.Lstat(g.pending(i))
		there, err2 := os.Lstat(file + ".lock")
		if err1 == nil && err2 == nil && os.SameFile(mine, there) {
			end := func() error { return os.Remove(file + ".lock") }
			if g.decided {
				end = func() error { return g.finish(file, g.pending(i)) }
			}
			if err := end(); err != nil {
				return err
			}
		}
		if err := os.Remove(g.pending(i)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// Settle ends what a process that died while it moved refs has left: wholly or
// not at all. Every writer does that first; who only reads may do it to see no
// half of it. It does not wait for writers that live.
func (r *Repo) Settle() error {
	f, err := os.OpenFile(filepath.Join(r.commonDir, "kb", "refs.guard"), os.O_RDWR, 0)
	if err != nil {
		if isMissing(err) || errors.Is(err, fs.ErrPermission) {
			return nil
		}
		return err
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || info.Size() == 0 {
		return err
	}
	if mine, err := flock(f); err != nil || !mine {
		return err
	}
	g := &guard{repo: r, file: f, until: time.Now().Add(r.patience)}
	return g.recover()
}

// decide makes everything listed durable, and that it is to happen.
func (g *guard) decide() error {
	if err := g.list(decidedLine); err != nil {
		return err
	}
	if err := g.file.Sync(); err != nil {
		return err
	}
	g.decided = true
	g.repo.step("refs decided")
	return nil
}

// clear forgets what was listed.
func (g *guard) clear() error {
	g.decided, g.locks, g.listed = false, 0, 0
	return g.file.Truncate(0)
}

func (g *guard) pending(i int) string {
	return filepath.Join(g.repo.commonDir, "kb", "pending-"+strconv.Itoa(i))
}

// list records what is about to be done. A line that is cut off names something
// that was not done yet.
func (g *guard) list(line string) error {
	_, err := g.file.WriteAt([]byte(line+"\n"), g.listed)
	g.listed += int64(len(line) + 1)
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
	g.locks++
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
	case err == nil, l.linked():
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
		return false, fmt.Errorf("%w: a ref stands where %s needs a directory", ErrRefConflict, l.guard.repo.shown(l.file))
	}
	return l.takeUnlinked()
}

// linked reports whether the lock is there after all: a network file system may
// lose its answer, and then says that the file exists.
func (l *refLock) linked() bool {
	mine, err := l.out.Stat()
	if err != nil {
		return false
	}
	there, err := os.Lstat(l.name())
	return err == nil && os.SameFile(mine, there)
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
		l.done = true
		l.out.Close()
		os.Remove(l.name())
		os.Remove(l.pending)
	}
}
