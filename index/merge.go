package index

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/RoaringBitmap/roaring/v2"
	segment "github.com/blevesearch/scorch_segment_api/v2"
	zap "github.com/blevesearch/zapx/v17"

	"kb/note"
)

// maxHot is how many segments hold the notes that most views show; maxCold, how
// many hold the rest.
const (
	maxHot  = 4
	maxCold = 8
)

// Merge keeps segments few: at most four with notes of hot (those of the branch
// that is read most), notes that are only in other views apart. It rewrites
// small segments more often than large ones, reads and writes in a stream, and
// removes its inputs when the merged segment is durable. Open views keep working.
// Hot is not called while there are few.
func (s *Segments) Merge(ctx context.Context, hot func(note.ID) bool) error {
	s.write.Lock()
	defer s.write.Unlock()
	if len(s.snapshot()) <= min(maxHot, maxCold) {
		return nil
	}
	warm, cold := s.split(hot)
	if in := choose(warm, maxHot); in != nil {
		if err := s.rewrite(ctx, in, func(b note.ID) int {
			if hot(b) {
				return 0
			}
			return 1
		}); err != nil {
			return err
		}
		_, cold = s.split(hot)
	}
	if in := choose(cold, maxCold); in != nil {
		return s.rewrite(ctx, in, func(note.ID) int { return 0 })
	}
	return nil
}

// Drop removes the notes that keep does not want, and returns how many.
func (s *Segments) Drop(ctx context.Context, keep func(note.ID) bool) (int, error) {
	s.write.Lock()
	defer s.write.Unlock()
	dropped := 0
	for _, d := range s.snapshot() {
		n := 0
		for i := range d.sidecar.entries {
			if !keep(d.sidecar.entries[i].blob) {
				n++
			}
		}
		if n == 0 {
			continue
		}
		if err := s.rewrite(ctx, []*diskSegment{d}, func(b note.ID) int {
			if keep(b) {
				return 0
			}
			return -1
		}); err != nil {
			return dropped, err
		}
		dropped += n
	}
	return dropped, nil
}

func (s *Segments) snapshot() []*diskSegment {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return slices.Clone(s.segs)
}

// split tells segments with hot notes from the others, each by size, largest first.
func (s *Segments) split(hot func(note.ID) bool) (warm, cold []*diskSegment) {
	for _, d := range s.snapshot() {
		if slices.ContainsFunc(d.sidecar.entries, func(e entry) bool { return hot(e.blob) }) {
			warm = append(warm, d)
		} else {
			cold = append(cold, d)
		}
	}
	bySize := func(a, b *diskSegment) int { return int(b.sidecar.size - a.sidecar.size) }
	slices.SortStableFunc(warm, bySize)
	slices.SortStableFunc(cold, bySize)
	return warm, cold
}

// choose returns the segments to merge so that at most most remain: the smallest
// ones, and further ones as long as they are not much larger than what is
// merged already. Nil when there are few enough.
func choose(segs []*diskSegment, most int) []*diskSegment {
	if len(segs) <= most {
		return nil
	}
	first := max(most-2, 0) // leaves room for what comes next
	var sum int64
	for _, d := range segs[first:] {
		sum += d.sidecar.size
	}
	for first > 0 && segs[first-1].sidecar.size < 2*sum {
		first--
		sum += segs[first].sidecar.size
	}
	return segs[first:]
}

// rewrite replaces segments by one for each group of their notes (negative:
// none), leaving out notes that another segment holds as well.
func (s *Segments) rewrite(ctx context.Context, in []*diskSegment, group func(note.ID) int) error {
	if err := s.beginWriting(); err != nil {
		return err
	}
	var added []*diskSegment
	for g := range 2 {
		d, err := s.mergeGroup(ctx, in, func(d *diskSegment, i int) bool {
			b := d.sidecar.entries[i].blob
			return group(b) == g && s.owns(d, b)
		})
		if err != nil {
			releaseNew(added, nil)
			return fmt.Errorf("merge segments: %w", err)
		}
		if d != nil {
			added = append(added, d)
		}
	}
	s.replace(added, in)
	return nil
}

// owns reports whether d is where the blob is looked up.
func (s *Segments) owns(d *diskSegment, blob note.ID) bool {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.at[blob].seg == d
}

// mergeGroup writes the notes that want selects as one segment; nil for none.
func (s *Segments) mergeGroup(ctx context.Context, in []*diskSegment, want func(*diskSegment, int) bool) (*diskSegment, error) {
	m := merger{ctx: ctx}
	var entries []entry
	for _, d := range in {
		drop := roaring.New()
		for i := range d.sidecar.entries {
			if want(d, i) {
				entries = append(entries, d.sidecar.entries[i])
			} else {
				drop.Add(uint32(i))
			}
		}
		if drop.GetCardinality() < uint64(len(d.sidecar.entries)) {
			m.segs = append(m.segs, d.zap)
			m.drops = append(m.drops, drop)
		}
	}
	if len(entries) == 0 {
		return nil, nil
	}
	tmp, err := os.CreateTemp(s.dir, "merge.*.tmp")
	if err != nil {
		return nil, err
	}
	m.path = tmp.Name()
	tmp.Close()
	defer os.Remove(m.path)
	return s.persist(entries, &m)
}

// merger writes a merged segment: zap merges into a file, which is then copied
// under the hash that the sidecar wants.
type merger struct {
	ctx   context.Context
	segs  []segment.Segment
	drops []*roaring.Bitmap
	path  string
}

// WriteTo implements io.WriterTo.
func (m *merger) WriteTo(w io.Writer) (n int64, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("read segment: %v", p)
		}
	}()
	var plugin zap.ZapPlugin
	stop := make(chan struct{})
	unhook := context.AfterFunc(m.ctx, func() { close(stop) })
	defer unhook()
	if _, _, err := plugin.Merge(m.segs, m.drops, m.path, stop, nil); err != nil {
		if m.ctx.Err() != nil {
			err = m.ctx.Err()
		}
		return 0, err
	}
	f, err := os.Open(m.path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	return io.Copy(w, f)
}
