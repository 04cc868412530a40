package vault

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"sync"
	"sync/atomic"

	"kb/cas"
	"kb/gitstore"
	"kb/index"
	"kb/internal/diskfull"
	"kb/note"
)

// Version is the program's own, set at build time.
var Version = "dev"

// Store is the derived data of one vault, open in this process: what [Config.ID]
// names below the cache directory. All of it can be made again.
type Store struct {
	dir   string
	facts *cas.Store // nil when the cache cannot be written
	why   error      // it cannot be
	log   func(format string, args ...any)

	embedders  *embedders
	background *background // nil unless views are embedded in the background

	damageTold atomic.Bool // see tellDamage

	syncing chan struct{} // holds the turn to index
	walking chan struct{} // holds the turn to walk history

	mu      sync.Mutex
	indexes map[string]*index.Index // by language
	stats   map[string]*statCache   // by work tree
	notes   map[note.ID]*note.Note  // what hits were shown of lately
	brief   map[note.ID]*card
	most    int // notes of the largest view that asked for cards
	said    map[note.ID]*claim
	history map[gitstore.CommitID]*gitstore.Dates
	pasts   map[gitstore.CommitID]*gitstore.Past
	owner   OwnerInfo
}

// Sizes of the caches in memory; each is emptied when it is full. Cards that are
// more than twice the notes of a view are mostly of notes as they were: a small
// vault keeps a few of those.
const (
	cachedNotes   = 2000
	cachedCards   = 150000
	fewCards      = 1000
	cachedHistory = 4
)

// OpenStore opens the derived data in dir for reading and writing. The caller
// has seen to it that no other process does.
func OpenStore(dir string, log func(format string, args ...any)) (*Store, error) {
	facts, err := cas.Open(filepath.Join(dir, "facts"), log)
	if err != nil {
		return nil, storeError(dir, err)
	}
	s := ReadOnlyStore(dir, nil, log)
	s.facts = facts
	return s, nil
}

// ReadOnlyStore uses whatever derived data dir holds without writing any, which why
// says the reason of: what is missing is derived in memory, for each view. dir need
// not exist.
func ReadOnlyStore(dir string, why error, log func(format string, args ...any)) *Store {
	s := &Store{
		dir:     dir,
		why:     why,
		log:     log,
		syncing: make(chan struct{}, 1),
		walking: make(chan struct{}, 1),
		indexes: map[string]*index.Index{},
		stats:   map[string]*statCache{},
		notes:   map[note.ID]*note.Note{},
		brief:   map[note.ID]*card{},
		said:    map[note.ID]*claim{},
		history: map[gitstore.CommitID]*gitstore.Dates{},
		pasts:   map[gitstore.CommitID]*gitstore.Past{},
		owner:   OwnerInfo{PID: os.Getpid(), Version: Version},
	}
	s.embedders = newEmbedders(s)
	return s
}

func storeError(dir string, err error) error {
	switch {
	case errors.Is(err, cas.ErrNewer):
		return errorf(Conflict, "open %s: %w", dir, err).hint("update kb, or give it another --cache-dir")
	case errors.Is(err, cas.ErrLocked):
		return errorf(Busy, "open %s: %w", dir, err)
	}
	return err
}

// isFull reports whether an error of what writes derived data says that there is
// no room for it.
func isFull(err error) bool { return errors.Is(err, cas.ErrFull) || diskfull.Is(err) }

// unlessFull is the error of keeping what only saves time, which needs no room to
// be right: that there is none is logged.
func (s *Store) unlessFull(err error) error {
	if !isFull(err) {
		return err
	}
	s.log("what is derived is not kept: %v", err)
	return nil
}

const fullHint = "make room, or give kb another --cache-dir"

// unwritable says to somebody who wants derived data to be kept why it is not.
func (s *Store) unwritable() error {
	if isFull(s.why) {
		return errorf(Internal, "%w", s.why).hint(fullHint)
	}
	return errorf(ReadOnly, "%s cannot be written", s.where()).hint("--cache-dir puts it elsewhere")
}

// Close writes what is worth keeping and closes everything.
func (s *Store) Close() error {
	s.background.stop()
	s.mu.Lock()
	defer s.mu.Unlock()
	err := s.embedders.close()
	for _, c := range s.stats {
		err = errors.Join(err, c.save())
	}
	for _, x := range s.indexes {
		err = errors.Join(err, x.Close())
	}
	if s.facts != nil {
		err = errors.Join(err, s.unlessFull(s.facts.Close())) // nothing that was stored is lost
	}
	return err
}

// index returns the index for a language.
func (s *Store) index(language string) (*index.Index, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if x := s.indexes[language]; x != nil {
		return x, nil
	}
	segs, err := index.OpenSegments(filepath.Join(s.dir, "lex"), language)
	if err != nil {
		return nil, errorf(Usage, "language %q: %w", language, err)
	}
	for _, f := range segs.Faults() {
		s.log("text segment %s is damaged and will be made again: %v", f.Segment, f.Err)
	}
	x, err := index.New(segs, s.facts)
	if err != nil {
		return nil, errors.Join(err, segs.Close())
	}
	s.indexes[language] = x
	return x, nil
}

// sync indexes what the view lacks; without room, readers do so in memory.
func (w *view) sync(ctx context.Context) error {
	x, err := w.v.store.index(w.v.cfg.Language)
	if err != nil {
		return err
	}
	_, err = w.syncInto(ctx, x)
	return w.v.store.unlessFull(err)
}

// syncInto indexes what the view lacks, one caller at a time: the others find it
// done. Small segments are merged on the way.
func (w *view) syncInto(ctx context.Context, x *index.Index) (added int, err error) {
	if w.synced.Load() {
		return 0, nil
	}
	old := w.earlier(func(c *contents) bool { return c.synced.Load() })
	blobs := w.blobsSince(old)
	if len(x.Missing(blobs.ids())) == 0 {
		w.synced.Store(true)
		return 0, nil
	}
	select {
	case w.v.store.syncing <- struct{}{}:
		defer func() { <-w.v.store.syncing }()
	case <-ctx.Done():
		return 0, ctxErr(ctx)
	}
	defer collectMore()()
	var mu sync.Mutex // the index reports from several goroutines
	added, err = x.Sync(ctx, blobs.ids(), blobs.load, func(done, total int) {
		mu.Lock()
		defer mu.Unlock()
		w.v.report(done, total, "indexing")
	})
	if err == nil && added > 0 {
		err = x.Merge(ctx, func(id note.ID) bool { _, ok := w.where()[id]; return ok })
	}
	if err != nil {
		if cerr := ctxErr(ctx); cerr != nil {
			return added, cerr
		}
		hint := "kb doctor looks for the cause; --cache-dir puts derived data elsewhere"
		if isFull(err) {
			hint = fullHint
		}
		return added, errorf(Internal, "index %s: %w", w.short(), err).hint("%s", hint)
	}
	w.synced.Store(true)
	return added, nil
}

// collectMore halves the garbage that may gather while a vault is indexed or
// exported, and returns what ends that. The whole of a vault's text passes through
// memory then: this keeps 38,000 notes below 400 MB for a few percent of CPU time. A
// user's own GOGC stands.
func collectMore() (end func()) {
	const usual, indexing = 100, 50
	old := debug.SetGCPercent(indexing)
	if old != usual {
		debug.SetGCPercent(old)
	}
	return func() { debug.SetGCPercent(old) }
}

// textView returns the view's searchable form.
func (w *view) textView(ctx context.Context) (*index.View, error) {
	x, err := w.v.store.index(w.v.cfg.Language)
	if err != nil {
		return nil, err
	}
	if _, err := w.syncInto(ctx, x); w.v.store.unlessFull(err) != nil {
		return nil, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.text != nil {
		return w.text, nil
	}
	members := make([]index.Member, len(w.docs))
	for i, d := range w.docs {
		members[i] = index.Member{Collection: d.col.Name, Path: d.path, Blob: d.blob}
	}
	where := w.where()
	text, err := x.ViewOf(ctx, members, w.load, func(id note.ID) (*note.Note, []byte, error) { return w.note(where[id]) })
	if err != nil {
		return nil, err
	}
	w.text = text
	return text, nil
}

// note returns what a blob says; read supplies its bytes when no record does.
func (s *Store) note(language string, id note.ID, read func() ([]byte, error)) (*note.Note, error) {
	s.mu.Lock()
	n := s.notes[id]
	s.mu.Unlock()
	if n != nil {
		return n, nil
	}
	x, err := s.index(language)
	if err != nil {
		return nil, err
	}
	if n, err = x.Note(id, read); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.notes) >= cachedNotes {
		clear(s.notes)
	}
	s.notes[id] = n
	return n, nil
}

// cards returns the cards of blobs.
func (s *Store) cards(ctx context.Context, language string, ids []note.ID, fetch index.Fetch) (map[note.ID]*card, error) {
	x, err := s.index(language)
	if err != nil {
		return nil, err
	}
	out := make(map[note.ID]*card, len(ids))
	var missing []note.ID
	s.mu.Lock()
	for _, id := range ids {
		if c := s.brief[id]; c != nil {
			out[id] = c
		} else {
			missing = append(missing, id)
		}
	}
	s.mu.Unlock()
	err = x.Notes(ctx, missing, fetch, func(id note.ID, n *note.Note) { out[id] = newCard(n) })
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.most = max(s.most, len(ids))
	if len(s.brief)+len(missing) > min(cachedCards, fewCards+2*s.most) {
		clear(s.brief)
	}
	for _, id := range missing {
		if c := out[id]; c != nil && !c.unreadable() {
			s.brief[id] = c
		}
	}
	return out, nil
}

// diskBytes is what the derived data takes on disk.
func (s *Store) diskBytes() (n int64, err error) {
	err = filepath.WalkDir(s.dir, func(_ string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return nil // whatever vanishes meanwhile takes no room
		}
		if info, err := e.Info(); err == nil {
			n += allocated(info)
		}
		return nil
	})
	return n, err
}

// recipes names what derives the facts of a language.
func (s *Store) recipes(language string) []string {
	out := []string{note.Recipe}
	if x, err := index.NoSegments(language); err == nil {
		out = append(out, x.Recipe())
	}
	return out
}

func (s *Store) ownerInfo() OwnerInfo { return s.owner }

// where names the derived data to a person.
func (s *Store) where() string { return fmt.Sprintf("the derived data in %s", s.dir) }

// allNotes returns what each blob says.
func (s *Store) allNotes(ctx context.Context, language string, ids []note.ID, fetch index.Fetch) (map[note.ID]*note.Note, error) {
	x, err := s.index(language)
	if err != nil {
		return nil, err
	}
	out := make(map[note.ID]*note.Note, len(ids))
	return out, x.Notes(ctx, ids, fetch, func(id note.ID, n *note.Note) { out[id] = n })
}
