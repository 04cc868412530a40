// Package cas keeps facts: what was derived from bytes that git names, stored
// under the hash of those bytes and the recipe that derived it.
//
// Everything in a store can be made again, and the package makes use of that.
// A store that is damaged or too old is moved aside and begun anew; a value
// that fails its checksum is reported and counts as absent. Callers therefore
// always know how to derive a fact again, also one that [Store.Missing] did
// not name.
//
// The store is a Badger database, which one process at a time can open. The
// package knows nothing of git, and of notes only how to encode them.
package cas

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/dgraph-io/badger/v4"

	"kb/internal/diskfull"
)

var (
	ErrLocked   = errors.New("another process has the store open")
	ErrNewer    = errors.New("the store was written by a newer version")
	ErrReadOnly = errors.New("the directory cannot be written")
	ErrFull     = errors.New("no space left for the store")
	ErrTooLarge = errors.New("value too large")
	ErrClosed   = errors.New("store is closed")
)

// Store is an open store. It is safe for concurrent use.
type Store struct {
	dir string
	log func(format string, args ...any)
	now func() time.Time

	lock *os.File // dir.lock, held from Open to Close

	mu sync.RWMutex // held exclusively to close and to reopen
	db *badger.DB   // nil when closed

	write    sync.Mutex             // serializes writes, so that GC never deletes a fresh fact
	cutSince map[[sumSize]byte]bool // sums of bodies cut while GC runs, else nil; under write
	collect  sync.Mutex             // one GC at a time

	recipeMu sync.RWMutex // the innermost lock: mu, then write, then recipeMu
	names    map[RecipeID]string
	numbers  map[string]RecipeID

	eventMu sync.Mutex
	events  []Event
}

// Event is something that happened to a store and that a person may want to
// know. Code is stable: damaged, rebuilt, bad_value.
type Event struct {
	Code    string    `json:"code"`
	Message string    `json:"message"`
	Time    time.Time `json:"time"`
}

// maxEvents bounds what a store remembers; a disk that goes bad has no end of them.
const maxEvents = 100

// Open opens the store in dir, which it creates if need be, and which should
// hold nothing else. Beside it stands dir.lock. A store of an older [Schema] is replaced by an empty one,
// and so is a damaged one, which is kept as dir.damaged-N until the next is.
// Both are told to log and by [Store.Events]. log may be nil.
//
// The error is [ErrLocked], [ErrNewer], [ErrReadOnly], [ErrFull], or something
// else that making the store anew would not mend.
func Open(dir string, log func(format string, args ...any)) (*Store, error) {
	return open(dir, log, time.Now)
}

func open(dir string, log func(format string, args ...any), now func() time.Time) (*Store, error) {
	if log == nil {
		log = func(string, ...any) {}
	}
	s := &Store{dir: filepath.Clean(dir), log: log, now: now}
	err := s.openLocked()
	if diskfull.Is(err) && !errors.Is(err, ErrFull) {
		err = fmt.Errorf("%w: %w", ErrFull, err)
	}
	if err != nil {
		return nil, fmt.Errorf("open store %s: %w", dir, err)
	}
	return s, nil
}

// openLocked opens the store under its lock, which is a file beside the
// directory: unlike Badger's own, it is held also while the directory is
// examined and moved.
func (s *Store) openLocked() (err error) {
	if err := writable(s.dir); err != nil {
		return err
	}
	s.lock, err = os.OpenFile(s.dir+".lock", os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	if err = lockFile(s.lock); err == nil {
		err = s.start()
	}
	if err != nil {
		s.lock.Close()
	}
	return err
}

// start opens what is in the directory, or moves it away and begins anew.
func (s *Store) start() error {
	err := s.attach()
	switch {
	case errors.Is(err, errOlder):
		if err := os.RemoveAll(s.dir); err != nil {
			return err
		}
		s.event("rebuilt", "the store was of an older version: everything is derived again")
	case errors.Is(err, errDamaged):
		aside, moveErr := moveAside(s.dir)
		if moveErr != nil {
			return errors.Join(err, moveErr)
		}
		s.event("damaged", "%v: kept as %s, and everything is derived again", err, filepath.Base(aside))
	default:
		return err
	}
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return err
	}
	return s.attach()
}

// attach opens the database as it is and reads what is always in memory.
func (s *Store) attach() (err error) {
	hadTables := hasTables(s.dir)
	s.db, err = openBadger(badgerOptions(s.dir, s.log))
	if err != nil {
		return err
	}
	if err = s.loadSchema(hadTables); err == nil {
		err = s.loadRecipes()
	}
	if err != nil {
		closeErr := closeBadger(s.db)
		s.db = nil
		return errors.Join(err, closeErr)
	}
	return nil
}

// writable reports with ErrReadOnly that nothing can be created in dir.
func writable(dir string) error {
	err := os.MkdirAll(dir, 0o700)
	if err == nil {
		var f *os.File
		if f, err = os.CreateTemp(dir, "probe-*"); err == nil {
			f.Close()
			err = os.Remove(f.Name())
		}
	}
	if errors.Is(err, fs.ErrPermission) || isReadOnly(err) {
		return fmt.Errorf("%w: %w", ErrReadOnly, err)
	}
	return err
}

// Close writes what is in memory and closes the store. Calls that run are
// finished first; later ones fail with [ErrClosed]. A second Close is a no-op.
//
// With no room to write, Close fails with [ErrFull] and leaves everything,
// and the lock, to the end of the process. Nothing that was stored is lost.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	err := s.detach()
	if errors.Is(err, ErrFull) {
		abandon(s.lock)
		s.lock = nil
	}
	if s.lock != nil {
		err = errors.Join(err, s.lock.Close())
		s.lock = nil
	}
	if err != nil {
		return fmt.Errorf("close store %s: %w", s.dir, err)
	}
	return nil
}

// detach closes the database, if it is open and there is room for that.
func (s *Store) detach() error {
	if s.db == nil {
		return nil
	}
	db := s.db
	s.db = nil
	if err := roomToClose(s.dir); err != nil {
		return err
	}
	return closeBadger(db)
}

// abandoned are the locks of stores that could not be closed: their files are
// still in use. Without a reference they would be closed, and the locks freed.
var abandoned struct {
	sync.Mutex
	locks []*os.File
}

func abandon(lock *os.File) {
	abandoned.Lock()
	defer abandoned.Unlock()
	abandoned.locks = append(abandoned.locks, lock)
}

// Sync makes everything written so far survive a crash of the machine. What
// survives a crash of the process needs no Sync, and the methods that write
// sync by themselves.
func (s *Store) Sync() error {
	return s.withDB(func(db *badger.DB) error { return db.Sync() })
}

// Size returns the bytes that the store takes on disk.
func (s *Store) Size() (int64, error) { return diskSize(s.dir) }

// Events returns what happened to the store since it was opened, oldest first.
func (s *Store) Events() []Event {
	s.eventMu.Lock()
	defer s.eventMu.Unlock()
	return append([]Event{}, s.events...)
}

func (s *Store) event(code, format string, args ...any) {
	s.eventMu.Lock()
	defer s.eventMu.Unlock()
	if len(s.events) == maxEvents {
		return
	}
	e := Event{code, fmt.Sprintf(format, args...), s.now()}
	s.events = append(s.events, e)
	s.log("store %s: %s: %s", s.dir, e.Code, e.Message)
}

// withDB runs fn on the open database. A panic inside Badger, which is its way
// to report some damage, becomes an error.
func (s *Store) withDB(fn func(*badger.DB) error) (err error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.db == nil {
		return ErrClosed
	}
	defer recoverInto(&err)
	return fn(s.db)
}

func recoverInto(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("%w: %v", errDamaged, p)
	}
}
