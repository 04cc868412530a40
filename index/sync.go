package index

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"kb/cas"
	"kb/note"
)

// Index is what is derived from a vault's notes for one language: the records
// of what they say, and the segments that make them searchable. Both are keyed
// by blob and recipe, so what Sync does once is done for every commit and path.
// It is safe for concurrent use.
type Index struct {
	*Segments
	facts  *cas.Store // nil: nothing can be written
	recipe cas.RecipeID
}

// Fetch reads the bytes of blobs and calls fn with each, one at a time and in
// any order; err says that one blob cannot be read. An error that fn returns
// ends the fetch.
type Fetch func(ctx context.Context, ids []note.ID, fn func(id note.ID, src []byte, err error) error) error

// batchBytes is how much text is fetched, and recorded, at once: enough to
// amortise a write, little enough to keep memory flat.
const batchBytes = 1 << 20

// New joins segments and facts. With nil facts nothing is written: notes that
// the segments lack are parsed and indexed in memory for each view.
func New(segs *Segments, facts *cas.Store) (*Index, error) {
	x := &Index{Segments: segs, facts: facts}
	if facts == nil {
		return x, nil
	}
	var err error
	x.recipe, err = facts.Recipe(note.Recipe)
	return x, err
}

// Writable reports whether what is derived is kept.
func (x *Index) Writable() bool { return x.facts != nil }

// Sync indexes those of ids that are not indexed yet, and returns how many it
// added. It is safe to repeat and to interrupt: a blob counts as indexed only
// when all that is derived from it is durable. Blobs that cannot be read are
// left out. Report, which may be nil, is told how many are on their way; it may
// be called by several goroutines at a time.
func (x *Index) Sync(ctx context.Context, ids []note.ID, fetch Fetch, report func(done, total int)) (added int, err error) {
	missing := x.Missing(ids)
	if len(missing) == 0 || !x.Writable() {
		return 0, nil
	}
	var count, done atomic.Int64
	tell := func(n int) {
		if total := done.Add(int64(n)); report != nil {
			report(int(total), len(missing))
		}
	}
	g, ctx := errgroup.WithContext(ctx)
	batches := make(chan []raw)
	for range runtime.GOMAXPROCS(0) {
		g.Go(func() error { return x.derive(ctx, batches, tell, &count) })
	}
	g.Go(func() error {
		defer close(batches)
		return fetchBatches(ctx, missing, fetch, batches)
	})
	err = g.Wait()
	return int(count.Load()), err
}

// raw is a blob as it was read.
type raw struct {
	id  note.ID
	src []byte
}

func fetchBatches(ctx context.Context, ids []note.ID, fetch Fetch, out chan<- []raw) error {
	var batch []raw
	size := 0
	send := func() error {
		if len(batch) == 0 {
			return nil
		}
		select {
		case out <- batch:
			batch, size = nil, 0
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	err := fetch(ctx, ids, func(id note.ID, src []byte, err error) error {
		if err != nil {
			return ctx.Err() // unreadable: it stays missing, and its view says so
		}
		batch = append(batch, raw{id, src})
		if size += len(src); size >= batchBytes {
			return send()
		}
		return ctx.Err()
	})
	if err != nil {
		return err
	}
	return send()
}

// derive keeps what batches say: the records of each batch at once, and its
// text, by which a blob counts as indexed, later with that of others as one
// segment. It counts what is indexed, and tells of what is on its way.
func (x *Index) derive(ctx context.Context, batches <-chan []raw, tell func(int), count *atomic.Int64) error {
	b := x.builders.Get().(*builder)
	defer x.builders.Put(b)
	b.begin()
	keep := func() error {
		n := len(b.entries)
		if err := x.addBuilt(ctx, b); err != nil {
			return fmt.Errorf("store text: %w", err)
		}
		count.Add(int64(n))
		b.begin()
		return nil
	}
	for batch := range batches {
		if err := x.record(ctx, b, batch); err != nil {
			return err
		}
		tell(len(batch))
		if b.full() {
			if err := keep(); err != nil {
				return err
			}
		}
	}
	return keep()
}

// record keeps the records of a batch, and gives its text to b.
func (x *Index) record(ctx context.Context, b *builder, batch []raw) error {
	records := make(map[note.ID]*note.Note, len(batch))
	for _, r := range batch {
		if err := ctx.Err(); err != nil {
			return err
		}
		n, text := note.Parse(r.src)
		records[r.id] = n
		b.add(&Source{Blob: r.id, Note: n, Text: text})
	}
	if err := x.facts.PutNotes(x.recipe, records); err != nil {
		return fmt.Errorf("store notes: %w", err)
	}
	return nil
}

// Note returns what a blob says: from its record, or parsed from what read
// returns.
func (x *Index) Note(id note.ID, read func() ([]byte, error)) (*note.Note, error) {
	if x.facts != nil {
		n, ok, err := x.facts.Note(x.recipe, id)
		if err != nil && !errors.Is(err, cas.ErrClosed) {
			return nil, err
		}
		if ok {
			return n, nil
		}
	}
	src, err := read()
	if err != nil {
		return nil, err
	}
	n, _ := note.Parse(src)
	return n, nil
}

// Notes calls fn with what each of ids says, one at a time and in any order.
// Records that were lost are made again, and kept if there is room. fn must not
// call the index.
func (x *Index) Notes(ctx context.Context, ids []note.ID, fetch Fetch, fn func(note.ID, *note.Note)) error {
	lost := ids
	if x.facts != nil {
		known := make(map[note.ID]bool, len(ids))
		err := x.facts.NotesOf(ctx, x.recipe, ids, func(id note.ID, n *note.Note) {
			known[id] = true
			fn(id, n)
		})
		if err != nil {
			return err
		}
		lost = slices.DeleteFunc(slices.Clone(ids), func(id note.ID) bool { return known[id] })
	}
	if len(lost) == 0 {
		return nil
	}
	again := map[note.ID]*note.Note{}
	err := fetch(ctx, lost, func(id note.ID, src []byte, err error) error {
		n := unreadable(err)
		if err == nil {
			n, _ = note.Parse(src)
			again[id] = n
		}
		fn(id, n)
		return nil
	})
	if err != nil || x.facts == nil || len(again) == 0 {
		return err
	}
	if err := x.facts.PutNotes(x.recipe, again); !errors.Is(err, cas.ErrFull) {
		return err
	}
	return nil
}

// unreadable stands for a note whose bytes git does not have.
func unreadable(err error) *note.Note {
	if err == nil {
		return nil
	}
	return &note.Note{Problems: []note.Problem{{Code: "unreadable", Message: err.Error()}}}
}

// ViewOf makes the view of members. Those that are not indexed, because they
// cannot be read or because nothing can be written, are indexed in memory.
func (x *Index) ViewOf(ctx context.Context, members []Member, fetch Fetch, load Loader) (*View, error) {
	ids := make([]note.ID, len(members))
	for i, m := range members {
		ids[i] = m.Blob
	}
	var overlay []Source
	if missing := x.Missing(ids); len(missing) > 0 {
		err := fetch(ctx, missing, func(id note.ID, src []byte, err error) error {
			if err != nil {
				overlay = append(overlay, Source{Blob: id, Note: unreadable(err)})
				return nil
			}
			n, text := note.Parse(src)
			overlay = append(overlay, Source{Blob: id, Note: n, Text: text})
			return nil
		})
		if err != nil {
			return nil, err
		}
		slices.SortFunc(overlay, func(a, b Source) int { return slices.Compare(a.Blob[:], b.Blob[:]) })
	}
	return x.View(members, overlay, load)
}
