package cas

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/badger/v4/options"
)

var (
	errDamaged = errors.New("the store is damaged")
	errOlder   = errors.New("the store is of an older version")
)

const memTable = 16 << 20

func badgerOptions(dir string, log func(string, ...any)) badger.Options {
	o := badger.DefaultOptions(dir)
	o.Logger = logger{log}
	o.MetricsEnabled = false
	o.DetectConflicts = false
	o.MemTableSize = memTable
	o.NumMemtables = 2
	o.ValueLogFileSize = 1 << 20 // never used: no value reaches ValueThreshold
	o.NumCompactors = 2
	// Uncompressed blocks are read where they are mapped, so there is no cache
	// to size and every read checks its block.
	o.Compression = options.None
	o.BlockCacheSize = 0
	o.ChecksumVerificationMode = options.OnBlockRead
	return o
}

// openBadger opens the database in o.Dir. An error that tells of its files, and
// not of the machine, is errDamaged.
func openBadger(o badger.Options) (db *badger.DB, err error) {
	if err := roomToWrite(o.Dir, 0); err != nil {
		return nil, err
	}
	// Badger opens tables in goroutines of its own, where a panic over a bad one would
	// end the process, so bad ones are found before.
	if err := checkTables(o); err != nil {
		return nil, fmt.Errorf("%w: %w", errDamaged, err)
	}
	if err := dropEmptyLogs(o.Dir); err != nil {
		return nil, err
	}
	defer recoverInto(&err)
	db, err = badger.Open(o)
	if err != nil {
		return nil, classify(err)
	}
	return db, nil
}

// dropEmptyLogs removes write-ahead logs without a byte: a process was killed
// between making one and giving it its size. They hold nothing, but Badger takes
// one for damage ("Create a new file").
func dropEmptyLogs(dir string) error {
	logs, err := filepath.Glob(filepath.Join(globEscape(dir), "*.mem"))
	if err != nil {
		return err
	}
	for _, name := range logs {
		if info, err := os.Stat(name); err == nil && info.Size() == 0 {
			if err := os.Remove(name); err != nil {
				return err
			}
		}
	}
	return nil
}

func closeBadger(db *badger.DB) (err error) {
	defer recoverInto(&err)
	return db.Close()
}

// classify tells what an error of badger.Open means. Badger wraps without %w,
// so the text is all there is.
func classify(err error) error {
	text := err.Error()
	if strings.Contains(text, "Cannot acquire directory lock") { // by a program that is not ours
		return fmt.Errorf("%w: %w", ErrLocked, err)
	}
	for _, e := range []syscall.Errno{syscall.ENOSPC, syscall.EDQUOT, syscall.EFBIG} {
		if strings.Contains(text, e.Error()) {
			return fmt.Errorf("%w: %w", ErrFull, err)
		}
	}
	for _, e := range []syscall.Errno{syscall.EACCES, syscall.EPERM, syscall.EROFS, syscall.EMFILE, syscall.ENFILE, syscall.ENOMEM} {
		if strings.Contains(text, e.Error()) {
			return err
		}
	}
	return fmt.Errorf("%w: %w", errDamaged, err)
}

func isReadOnly(err error) bool { return errors.Is(err, syscall.EROFS) }

// moveAside renames dir to dir.damaged-N, N one more than the last, and removes the
// earlier ones.
func moveAside(dir string) (string, error) {
	old, err := filepath.Glob(globEscape(dir) + ".damaged-*")
	if err != nil {
		return "", err
	}
	last := 0
	for _, o := range old {
		var n int
		if _, err := fmt.Sscanf(strings.TrimPrefix(o, dir), ".damaged-%d", &n); err == nil {
			last = max(last, n)
		}
	}
	aside := fmt.Sprintf("%s.damaged-%d", dir, last+1)
	if err := os.Rename(dir, aside); err != nil {
		return "", err
	}
	for _, o := range old {
		if err := os.RemoveAll(o); err != nil {
			return "", err
		}
	}
	return aside, nil
}

// globEscape makes dir stand for itself in a pattern.
func globEscape(dir string) string {
	if os.PathSeparator == '\\' {
		return dir // filepath.Match has no escapes on Windows
	}
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(dir)
}

// diskSize returns the bytes that the files below dir take, which for sparse
// files is less than their length.
func diskSize(dir string) (int64, error) {
	var size int64
	err := filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return ignoreGone(err)
		}
		info, err := e.Info()
		if err == nil {
			size += allocated(info)
		}
		return ignoreGone(err)
	})
	return size, err
}

// ignoreGone forgives a file that was deleted while it was looked at.
func ignoreGone(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// logger passes on what Badger says and a person should hear.
type logger struct{ log func(string, ...any) }

func (l logger) Errorf(f string, args ...any)   { l.log("badger: "+strings.TrimSpace(f), args...) }
func (l logger) Warningf(f string, args ...any) { l.log("badger: "+strings.TrimSpace(f), args...) }
func (l logger) Infof(string, ...any)           {}
func (l logger) Debugf(string, ...any)          {}
