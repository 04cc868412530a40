package index

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// sessionMark exists while a process writes, and after one that did not end well.
const sessionMark = "writing"

// unclean returns when the session began that has not ended, or zero.
func (s *Segments) unclean() time.Time {
	if s.writing.Load() {
		return time.Time{}
	}
	info, err := os.Stat(filepath.Join(s.dir, sessionMark))
	if err != nil {
		return time.Time{}
	}
	return info.ModTime()
}

// beginWriting prepares the directory, once: it marks the session and removes
// what an earlier one left half done.
func (s *Segments) beginWriting() error {
	s.mu.RLock()
	closed := s.closed
	s.mu.RUnlock()
	if closed {
		return errors.New("segments are closed")
	}
	s.begin.Lock()
	defer s.begin.Unlock()
	if s.writing.Load() {
		return nil
	}
	if err := os.MkdirAll(s.dir, 0o755); err != nil {
		return fmt.Errorf("write segments: %w", err)
	}
	if err := os.WriteFile(filepath.Join(s.dir, sessionMark), nil, 0o644); err != nil {
		return fmt.Errorf("write segments: %w", err)
	}
	s.sweep()
	s.writing.Store(true)
	return nil
}

func (s *Segments) endWriting() error {
	if !s.writing.Swap(false) {
		return nil
	}
	err := os.Remove(filepath.Join(s.dir, sessionMark))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// sweep removes temporary files, segments without a sidecar, and segments that
// were found damaged. What cannot be removed yet (Windows, still mapped
// somewhere) is left for the next sweep.
func (s *Segments) sweep() {
	files, err := os.ReadDir(s.dir)
	if err != nil {
		return
	}
	have := map[string]bool{}
	for _, f := range files {
		have[f.Name()] = true
	}
	for name := range have {
		key, isZap := strings.CutSuffix(name, ".zap")
		if strings.HasSuffix(name, ".tmp") || isZap && !have[key+".ids"] {
			os.Remove(filepath.Join(s.dir, name))
		}
	}
	for _, f := range s.Faults() {
		s.remove(strings.TrimSuffix(f.Segment, ".zap"))
	}
}

// remove deletes a segment's files, sidecar first.
func (s *Segments) remove(key string) {
	os.Remove(filepath.Join(s.dir, key+".ids"))
	os.Remove(filepath.Join(s.dir, key+".zap"))
}

// keyOf names a segment by what went into it: zap's bytes differ from build to build.
func (s *Segments) keyOf(entries []entry) string {
	h := sha256.New()
	io.WriteString(h, s.recipe)
	for i := range entries {
		h.Write(entries[i].blob[:])
	}
	return fmt.Sprintf("%x", h.Sum(nil)[:16])
}

// commit writes a segment and makes it exist, unless one of the same notes was
// just written: two files of one key must not be mixed, since zap's bytes differ.
func (s *Segments) commit(entries []entry, zapFile io.WriterTo) error {
	s.committing.Lock()
	defer s.committing.Unlock()
	key := s.keyOf(entries)
	if slices.ContainsFunc(s.snapshot(), func(d *diskSegment) bool { return d.key == key }) {
		return nil
	}
	d, err := s.persist(entries, zapFile)
	if err != nil {
		return fmt.Errorf("write segment: %w", err)
	}
	s.replace([]*diskSegment{d}, nil)
	return nil
}

// replace installs added instead of removed, and of what has the same key, and
// deletes the files of removed.
func (s *Segments) replace(added, removed []*diskSegment) {
	again := func(d *diskSegment) bool {
		return slices.ContainsFunc(added, func(a *diskSegment) bool { return a.key == d.key })
	}
	s.mu.Lock()
	segs := slices.DeleteFunc(slices.Clone(s.segs), func(d *diskSegment) bool {
		return slices.Contains(removed, d) || again(d)
	})
	var gone []string
	for _, d := range removed {
		// A merge that only leaves out repetitions may have its input's key.
		if !again(d) {
			gone = append(gone, d.key)
		}
	}
	s.install(append(segs, added...))
	s.mu.Unlock()
	for _, key := range gone {
		s.remove(key)
	}
}

// persist writes <key>.zap, then <key>.ids, each durable before it gets its name.
func (s *Segments) persist(entries []entry, zapFile io.WriterTo) (*diskSegment, error) {
	key := s.keyOf(entries)
	side := &sidecar{entries: entries}
	h := sha256.New()
	if err := s.writeFile(key+".zap", func(w io.Writer) (err error) {
		side.size, err = zapFile.WriteTo(io.MultiWriter(w, h))
		return err
	}); err != nil {
		return nil, err
	}
	copy(side.sum[:], h.Sum(nil))
	if err := s.writeFile(key+".ids", func(w io.Writer) error {
		_, err := w.Write(side.encode())
		return err
	}); err != nil {
		return nil, err
	}
	return openZap(key, filepath.Join(s.dir, key+".zap"), side)
}

// writeFile writes a file under a temporary name, syncs it, renames it, and
// syncs the directory.
func (s *Segments) writeFile(name string, fill func(io.Writer) error) error {
	f, err := os.CreateTemp(s.dir, name+".*.tmp")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // without effect once renamed
	err = fill(f)
	if err == nil {
		err = s.passed("written " + name)
	}
	if err == nil {
		err = f.Sync()
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return err
	}
	if err := os.Rename(f.Name(), filepath.Join(s.dir, name)); err != nil {
		return err
	}
	syncDir(s.dir)
	return s.passed("renamed " + name)
}

func (s *Segments) passed(step string) error {
	if s.step == nil {
		return nil
	}
	return s.step(step)
}

// syncDir makes renames durable where the system can; some cannot sync a directory.
func syncDir(dir string) {
	if f, err := os.Open(dir); err == nil {
		f.Sync()
		f.Close()
	}
}
