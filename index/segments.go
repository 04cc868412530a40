package index

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	segment "github.com/blevesearch/scorch_segment_api/v2"
	zap "github.com/blevesearch/zapx/v17"

	"kb/note"
)

// textRecipe names what this package does with a note's text. Any change to the
// terms, fields, positions or files of a segment changes it.
const textRecipe = "text/2"

// Segments is a directory of text segments, one per recipe below the directory
// it was opened on. Any number of processes may read it, without a lock, while
// at most one adds, merges or drops; who that is, is the caller's business. Its
// methods are safe for concurrent use.
type Segments struct {
	dir    string
	recipe string
	lang   *language

	mu     sync.RWMutex
	segs   []*diskSegment // by key
	at     map[note.ID]place
	faults []Fault
	closed bool

	write      sync.RWMutex // held by Merge, Drop and Close; shared by Adds
	begin      sync.Mutex   // held while the session begins
	committing sync.Mutex   // held while an added segment is written
	writing    atomic.Bool  // the mark of an unfinished session is ours
	builders   sync.Pool    // of *builder
	scratches  sync.Pool    // of *scratch
	names      nameCache
	texts      textCache

	// step, when set by a test, runs between the steps of a commit; an error
	// stops there, as a crash would.
	step func(string) error
}

// Fault is a segment that cannot be used. Its notes count as missing.
type Fault struct {
	Segment string // file name
	Err     error
}

// place is where a blob's text is indexed.
type place struct {
	seg *diskSegment
	num int32
}

// diskSegment is an open segment. It stays mapped until the Segments and every
// view that uses it have let go.
type diskSegment struct {
	key     string
	sidecar *sidecar
	zap     segment.Segment
	refs    atomic.Int32
}

func (d *diskSegment) acquire() { d.refs.Add(1) }

func (d *diskSegment) release() {
	if d.refs.Add(-1) == 0 {
		d.zap.Close()
	}
}

// OpenSegments opens the segments below dir for a language (see [Languages]; ""
// is English). What is missing is not an error: a directory that does not exist
// holds nothing. Damaged segments are left out and reported by Faults.
func OpenSegments(dir, lang string) (*Segments, error) {
	s, err := NoSegments(lang)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256([]byte(s.recipe))
	s.dir = filepath.Join(dir, fmt.Sprintf("%x", sum[:8]))
	if err := s.Refresh(); err != nil {
		return nil, err
	}
	return s, nil
}

// NoSegments are segments of no directory, which hold nothing and to which nothing can
// be added: views of them have notes in their overlay alone.
func NoSegments(lang string) (*Segments, error) {
	l, err := newLanguage(lang)
	if err != nil {
		return nil, err
	}
	s := &Segments{lang: l, at: map[note.ID]place{}}
	s.recipe = fmt.Sprintf("%s %s %s zap/%d", textRecipe, note.Recipe, l.name, zap.Version)
	s.builders.New = func() any { return &builder{an: newAnalyzer(l)} }
	s.scratches.New = func() any { return new(scratch) }
	return s, nil
}

// Recipe names what the segments were derived with.
func (s *Segments) Recipe() string { return s.recipe }

// Has reports whether blob is indexed.
func (s *Segments) Has(blob note.ID) bool {
	s.mu.RLock()
	defer s.mu.RUnlock()
	_, ok := s.at[blob]
	return ok
}

// Missing returns those of blobs that are not indexed, each once, in their order.
func (s *Segments) Missing(blobs []note.ID) []note.ID {
	s.mu.RLock()
	defer s.mu.RUnlock()
	var out []note.ID
	seen := map[note.ID]bool{}
	for _, b := range blobs {
		if _, ok := s.at[b]; !ok && !seen[b] {
			seen[b] = true
			out = append(out, b)
		}
	}
	return out
}

// Stats counts what is stored.
func (s *Segments) Stats() (segments, blobs int, bytes int64) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	for _, d := range s.segs {
		bytes += d.sidecar.size
	}
	return len(s.segs), len(s.at), bytes
}

// Faults returns what was found damaged so far and is left out.
func (s *Segments) Faults() []Fault {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return slices.Clone(s.faults)
}

// Refresh sees what another process has added, merged or dropped.
func (s *Segments) Refresh() error {
	const tries = 20
	var err error
	for range tries {
		var keys []string
		if keys, err = s.list(); err != nil {
			return err
		}
		if err = s.load(keys); !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return fmt.Errorf("list segments: %w", err)
}

// list returns the keys of the directory, sorted. It lists until two listings
// agree: a single one may miss a merged segment and its inputs both.
func (s *Segments) list() ([]string, error) {
	last, err := s.listOnce()
	for err == nil {
		var keys []string
		if keys, err = s.listOnce(); err == nil && slices.Equal(keys, last) {
			return keys, nil
		}
		last = keys
	}
	return nil, err
}

func (s *Segments) listOnce() ([]string, error) {
	files, err := os.ReadDir(s.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list segments: %w", err)
	}
	var keys []string
	for _, f := range files {
		if key, ok := strings.CutSuffix(f.Name(), ".ids"); ok {
			keys = append(keys, key)
		}
	}
	return keys, nil
}

// load makes keys the open segments. It returns an error that is
// fs.ErrNotExist when one of them went away.
func (s *Segments) load(keys []string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return errors.New("segments are closed")
	}
	open := map[string]*diskSegment{}
	for _, d := range s.segs {
		open[d.key] = d
	}
	unclean := s.unclean()
	var segs []*diskSegment
	var faults []Fault
	for _, key := range keys {
		d := open[key]
		if d == nil {
			var err error
			if d, err = s.open(key, unclean); errors.Is(err, fs.ErrNotExist) && !s.has(key+".ids") {
				releaseNew(segs, open)
				return err
			} else if err != nil {
				faults = append(faults, Fault{key + ".zap", err})
				continue
			}
		}
		segs = append(segs, d)
	}
	s.faults = faults
	s.install(segs)
	return nil
}

func releaseNew(segs []*diskSegment, open map[string]*diskSegment) {
	for _, d := range segs {
		if open[d.key] != d {
			d.release()
		}
	}
}

func (s *Segments) has(name string) bool {
	_, err := os.Stat(filepath.Join(s.dir, name))
	return err == nil
}

// install replaces the open segments, letting go of those that are not in segs,
// and maps every blob to the first segment that holds it. The caller holds mu.
func (s *Segments) install(segs []*diskSegment) {
	slices.SortFunc(segs, func(a, b *diskSegment) int { return strings.Compare(a.key, b.key) })
	if slices.Equal(segs, s.segs) {
		return
	}
	for _, d := range s.segs {
		if !slices.Contains(segs, d) {
			d.release()
		}
	}
	s.segs = segs
	n := 0
	for _, d := range segs {
		n += len(d.sidecar.entries)
	}
	s.at = make(map[note.ID]place, n)
	for _, d := range segs {
		for i := range d.sidecar.entries {
			if _, ok := s.at[d.sidecar.entries[i].blob]; !ok {
				s.at[d.sidecar.entries[i].blob] = place{d, int32(i)}
			}
		}
	}
}

// open opens one segment. Its length is always checked, since reading a mapping
// past the end of its file kills the process; its hash only when it was written
// in a session that did not end, given as the session's start.
func (s *Segments) open(key string, unclean time.Time) (*diskSegment, error) {
	side, modified, err := s.readSidecar(key)
	if err != nil {
		return nil, err
	}
	path := filepath.Join(s.dir, key+".zap")
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if info.Size() != side.size {
		return nil, fmt.Errorf("segment has %d bytes, want %d", info.Size(), side.size)
	}
	if !unclean.IsZero() && !modified.Before(unclean) {
		if err := checkSum(path, side); err != nil {
			return nil, err
		}
	}
	return openZap(key, path, side)
}

func (s *Segments) readSidecar(key string) (*sidecar, time.Time, error) {
	path := filepath.Join(s.dir, key+".ids")
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, time.Time{}, err
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, time.Time{}, err
	}
	side, err := decodeSidecar(b)
	return side, info.ModTime(), err
}

// openZap maps a segment. zap trusts its file, so that a damaged one may panic
// in it: that is an error here.
func openZap(key, path string, side *sidecar) (d *diskSegment, err error) {
	defer func() {
		if p := recover(); p != nil {
			d, err = nil, fmt.Errorf("open segment: %v", p)
		}
	}()
	var plugin zap.ZapPlugin
	z, err := plugin.Open(path)
	if err != nil {
		return nil, fmt.Errorf("open segment: %w", err)
	}
	if z.Count() != uint64(len(side.entries)) {
		z.Close()
		return nil, fmt.Errorf("segment has %d notes, want %d", z.Count(), len(side.entries))
	}
	d = &diskSegment{key: key, sidecar: side, zap: z}
	d.acquire()
	return d, nil
}

func checkSum(path string, side *sidecar) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return err
	}
	if !slices.Equal(h.Sum(nil), side.sum[:]) {
		return errors.New("segment is damaged: hash differs")
	}
	return nil
}

// Verify reads every segment whole and compares it with its sidecar. What is
// damaged is left out from now on, so that its notes are missing.
func (s *Segments) Verify() []Fault {
	if err := s.Refresh(); err != nil {
		return []Fault{{s.dir, err}}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var good []*diskSegment
	for _, d := range s.segs {
		path := filepath.Join(s.dir, d.key+".zap")
		if err := checkSum(path, d.sidecar); err != nil && !errors.Is(err, fs.ErrNotExist) {
			s.faults = append(s.faults, Fault{d.key + ".zap", err})
			continue
		}
		good = append(good, d)
	}
	s.install(good)
	return slices.Clone(s.faults)
}

// Close lets go of the segments. Views made before keep what they use.
func (s *Segments) Close() error {
	s.write.Lock()
	defer s.write.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil
	}
	s.install(nil)
	s.closed = true
	return s.endWriting()
}

// Add indexes notes as one segment, durable when Add returns. Notes that are
// indexed already, or repeated, are left out. Several may add at a time.
func (s *Segments) Add(ctx context.Context, srcs []Source) error {
	b := s.builders.Get().(*builder)
	defer s.builders.Put(b)
	b.begin()
	for _, src := range s.unknown(srcs) {
		b.add(&src)
	}
	return s.addBuilt(ctx, b)
}

// addBuilt makes the notes that were added to b a segment.
func (s *Segments) addBuilt(ctx context.Context, b *builder) error {
	if err := ctx.Err(); err != nil || len(b.entries) == 0 {
		return err
	}
	s.write.RLock()
	defer s.write.RUnlock()
	if err := s.beginWriting(); err != nil {
		return err
	}
	z, entries, err := b.finish()
	if err != nil {
		return err
	}
	defer z.Close()
	return s.commit(entries, z.(io.WriterTo))
}

func (s *Segments) unknown(srcs []Source) []Source {
	s.mu.RLock()
	defer s.mu.RUnlock()
	var out []Source
	seen := map[note.ID]bool{}
	for _, src := range srcs {
		if _, ok := s.at[src.Blob]; !ok && !seen[src.Blob] {
			seen[src.Blob] = true
			out = append(out, src)
		}
	}
	return out
}
