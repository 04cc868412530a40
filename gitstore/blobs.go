package gitstore

import (
	"cmp"
	"context"
	"math"
	"runtime"
	"slices"
	"sync"

	"kb/note"
)

// Blobs reads many blobs, in the order in which they lie in the packs, with
// several readers. It calls fn once for each element of ids, never twice at a
// time, with the blob's bytes, which fn may keep, or with the error that
// reading it gave. An error from fn ends the reading and is returned.
func (r *Repo) Blobs(ctx context.Context, ids []note.ID, fn func(id note.ID, src []byte, err error) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	sorted, err := r.packOrder(ids)
	if err != nil {
		return err
	}
	todo, done := make(chan []note.ID), make(chan []readBlob)
	go deal(ctx, sorted, todo)
	var readers sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), 8) {
		readers.Go(func() { r.readBlobs(ctx, todo, done) })
	}
	go func() { readers.Wait(); close(done) }()
	for batch := range done {
		for _, b := range batch {
			if err == nil {
				err = ctx.Err()
			}
			if err == nil {
				err = fn(b.id, b.src, b.err)
			}
		}
		if err != nil {
			cancel() // and wait for the readers to notice
		}
	}
	if err == nil {
		err = ctx.Err()
	}
	return err
}

type readBlob struct {
	id  note.ID
	src []byte
	err error
}

// deal hands out runs of ids, so that neighbours in a pack, which share delta
// bases, go to one reader.
func deal(ctx context.Context, ids []note.ID, todo chan<- []note.ID) {
	defer close(todo)
	const run = 64
	for batch := range slices.Chunk(ids, run) {
		select {
		case todo <- batch:
		case <-ctx.Done():
			return
		}
	}
}

// readBlobs reads runs until there are none, passing results on before they
// take much memory.
func (r *Repo) readBlobs(ctx context.Context, todo <-chan []note.ID, done chan<- []readBlob) {
	const most = 1 << 20
	for ids := range todo {
		var batch []readBlob
		size := 0
		for i, id := range ids {
			src, err := r.Blob(id)
			batch = append(batch, readBlob{id, src, err})
			if size += len(src); size < most && i < len(ids)-1 {
				continue
			}
			select {
			case done <- batch:
			case <-ctx.Done():
				return
			}
			batch, size = nil, 0
		}
	}
}

// packOrder sorts ids by pack and offset, loose objects last.
func (r *Repo) packOrder(ids []note.ID) ([]note.ID, error) {
	l, err := r.packs.acquire()
	if err != nil {
		return nil, err
	}
	defer r.packs.release(l)
	type placed struct {
		id     note.ID
		pack   int
		offset int64
	}
	places := make([]placed, len(ids))
	last := 0
	for i, id := range ids {
		p := placed{id, math.MaxInt, 0}
		for k := range l.packs {
			k = (last + k) % len(l.packs) // neighbours tend to share a pack
			if off, ok := l.packs[k].index.find(oid(id)); ok {
				p.pack, p.offset, last = k, off, k
				break
			}
		}
		places[i] = p
	}
	slices.SortStableFunc(places, func(a, b placed) int {
		return cmp.Or(cmp.Compare(a.pack, b.pack), cmp.Compare(a.offset, b.offset))
	})
	sorted := make([]note.ID, len(ids))
	for i, p := range places {
		sorted[i] = p.id
	}
	return sorted, nil
}
