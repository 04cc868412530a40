package index

import (
	"cmp"
	"errors"
	"fmt"
	"runtime"
	"slices"

	segment "github.com/blevesearch/scorch_segment_api/v2"

	"kb/note"
)

// ErrMissing says that notes of a view are neither indexed nor in its overlay.
var ErrMissing = errors.New("notes are not indexed")

// Member is a note at a path of a view: a doc.
type Member struct {
	Collection, Path string
	Blob             note.ID
}

// Loader returns a note and its decoded text, as note.Parse returned them.
type Loader func(note.ID) (*note.Note, []byte, error)

// View is a set of docs that is searched with statistics of its own. It is
// immutable and safe for concurrent use, and its answers are a function of its
// members, their bytes and the recipe.
type View struct {
	segs    *Segments
	members []Member
	docs    []viewNote // in the order of their first members
	byBlob  map[note.ID]int32
	parts   []part
	names   nameIndex
	load    Loader
	// avg is the average length of each field over the notes that have it.
	avg [storedFields]float64
}

// viewNote is a blob of the view: bytes at one path or several.
type viewNote struct {
	blob    note.ID
	members []int32 // indexes into View.members, by (collection, path)
	entryFlags
}

// part is the notes of a view that one segment holds.
type part struct {
	seg     segment.Segment
	entries []entry
	docOf   []int32 // by the segment's number: index into docs, or -1
}

// View makes a view of members. Overlay holds notes that are not in the
// segments; they are indexed in memory, for this view. Every member's blob must
// be in one of the two, else the error is ErrMissing. Load is called for the
// notes that are shown, and by literal and regex searches.
func (s *Segments) View(members []Member, overlay []Source, load Loader) (*View, error) {
	v := &View{segs: s, members: members, load: load}
	order := memberOrder(members)
	v.byBlob = make(map[note.ID]int32, len(members))
	rows := make([]int32, len(members)) // backing of viewNote.members
	for _, m := range order {
		blob := members[m].Blob
		d, ok := v.byBlob[blob]
		if !ok {
			d = int32(len(v.docs))
			v.byBlob[blob] = d
			n := len(v.docs)
			rows[n] = m
			v.docs = append(v.docs, viewNote{blob: blob, members: rows[n : n+1 : n+1]})
			continue
		}
		v.docs[d].members = append(v.docs[d].members, m)
	}
	err := v.place(overlay)
	for try := 0; try < 3 && len(overlay) > 0 && errors.Is(err, ErrMissing); try++ {
		v.parts = nil // a note was dropped since the overlay left it out
		err = v.place(overlay)
	}
	if err != nil {
		return nil, err
	}
	v.sum()
	v.names = s.names.index(v)
	return v, nil
}

// memberOrder returns the indexes of members by collection and path.
func memberOrder(members []Member) []int32 {
	order := make([]int32, len(members))
	for i := range order {
		order[i] = int32(i)
	}
	less := func(a, b int32) int { return compareMembers(&members[a], &members[b]) }
	if !slices.IsSortedFunc(order, less) {
		slices.SortStableFunc(order, less)
	}
	return order
}

func compareMembers(a, b *Member) int {
	return cmp.Or(cmp.Compare(a.Collection, b.Collection), cmp.Compare(a.Path, b.Path))
}

// place finds every note of the view in the overlay or the segments.
func (v *View) place(overlay []Source) error {
	over, entries, err := v.buildOverlay(overlay)
	if err != nil {
		return err
	}
	placed := newBitset(len(v.docs))
	if over != nil {
		p := part{over, entries, nobody(len(entries))}
		for i := range entries {
			d := v.byBlob[entries[i].blob]
			p.docOf[i] = d
			placed.add(d)
			v.docs[d].entryFlags = entries[i].entryFlags
		}
		v.parts = append(v.parts, p)
	}
	return v.locate(placed)
}

// locate finds the notes that are not placed yet in the segments.
func (v *View) locate(placed bitset) error {
	s := v.segs
	s.mu.RLock()
	defer s.mu.RUnlock()
	parts := map[*diskSegment]int{}
	missing := 0
	for d := range v.docs {
		n := &v.docs[d]
		if placed.has(int32(d)) {
			continue
		}
		at, ok := s.at[n.blob]
		if !ok {
			missing++
			continue
		}
		k, ok := parts[at.seg]
		if !ok {
			k = len(v.parts)
			parts[at.seg] = k
			v.parts = append(v.parts, part{at.seg.zap, at.seg.sidecar.entries, nobody(len(at.seg.sidecar.entries))})
		}
		v.parts[k].docOf[at.num] = int32(d)
		n.entryFlags = v.parts[k].entries[at.num].entryFlags
	}
	if missing > 0 {
		return fmt.Errorf("view: %w: %d of %d", ErrMissing, missing, len(v.docs))
	}
	v.hold(parts)
	return nil
}

// buildOverlay indexes those notes of overlay that the view has and the
// segments have not.
func (v *View) buildOverlay(overlay []Source) (segment.Segment, []entry, error) {
	var srcs []Source
	for _, src := range v.segs.unknown(overlay) {
		if _, ok := v.byBlob[src.Blob]; ok {
			srcs = append(srcs, src)
		}
	}
	if len(srcs) == 0 {
		return nil, nil, nil
	}
	b := v.segs.builders.Get().(*builder)
	defer v.segs.builders.Put(b)
	return b.build(srcs)
}

func nobody(n int) []int32 {
	d := make([]int32, n)
	for i := range d {
		d[i] = -1
	}
	return d
}

// hold keeps the segments mapped until the view is unreachable.
func (v *View) hold(parts map[*diskSegment]int) {
	held := make([]*diskSegment, 0, len(parts))
	for d := range parts {
		d.acquire()
		held = append(held, d)
	}
	runtime.AddCleanup(v, func(held []*diskSegment) {
		for _, d := range held {
			d.release()
		}
	}, held)
}

// sum computes the average lengths.
func (v *View) sum() {
	var s lengthSum
	for _, p := range v.parts {
		for i, d := range p.docOf {
			if d >= 0 {
				s.add(&p.entries[i].lens)
			}
		}
	}
	v.avg = s.average()
}

// lengthSum adds up the lengths of fields, and counts the notes that have them.
type lengthSum struct{ total, having [storedFields]uint64 }

func (s *lengthSum) add(lens *[storedFields]uint32) {
	for f, n := range lens {
		if n > 0 {
			s.total[f] += uint64(n)
			s.having[f]++
		}
	}
}

func (s *lengthSum) average() (avg [storedFields]float64) {
	for f := range avg {
		avg[f] = 1
		if s.having[f] > 0 {
			avg[f] = float64(s.total[f]) / float64(s.having[f])
		}
	}
	return avg
}

// Average is the average length of each field over the notes that have it, as
// [Statistics] has it of notes of those lengths.
func Average(lengths [][StoredFields]uint32) [StoredFields]float64 {
	var s lengthSum
	for i := range lengths {
		s.add(&lengths[i])
	}
	return s.average()
}

// note returns the view's number of a note.
func (v *View) note(id note.ID) (int32, bool) {
	d, ok := v.byBlob[id]
	return d, ok
}

// Len returns the number of notes that statistics count: distinct blobs.
func (v *View) Len() int { return len(v.docs) }
