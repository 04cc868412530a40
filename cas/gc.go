package cas

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/dgraph-io/badger/v4"
)

// Grace is how old a fact should be before [Store.GC] may drop it: a fact can
// be written before the ref that reaches it is.
const Grace = time.Hour

// GCReport tells what a [Store.GC] did, or would do.
type GCReport struct {
	Kept    int          `json:"kept"`
	Dropped map[Kind]int `json:"dropped"`
	Bytes   int64        `json:"bytes"`  // of the values dropped
	Pieces  int          `json:"pieces"` // left over from interrupted writes
	Before  int64        `json:"before"` // size on disk
	After   int64        `json:"after"`
}

// gcBatch is how many keys are deleted at once, while writers wait.
const gcBatch = 1000

// GC drops the facts that keep does not want and that are older than grace,
// and gives their space back. A fact that is written while GC runs stays. Other calls
// may run at the same time; they wait for moments only. keep is asked once for each
// fact older than grace; it must not call the store.
func (s *Store) GC(ctx context.Context, keep func(Key) bool, grace time.Duration, dryRun bool) (GCReport, error) {
	s.collect.Lock()
	defer s.collect.Unlock()
	defer s.watchCuts()()
	rep := GCReport{Dropped: map[Kind]int{}}
	rep.Before, _ = s.Size()
	rep.After = rep.Before
	g := collector{s: s, keep: keep, before: s.now().Add(-grace), report: &rep, live: map[[sumSize]byte]bool{}}
	if err := g.scan(ctx); err != nil {
		return rep, fmt.Errorf("gc: %w", err)
	}
	rep.Pieces = len(g.orphans)
	if dryRun || len(g.doomed)+len(g.orphans) == 0 {
		return rep, nil
	}
	if err := g.drop(ctx); err != nil {
		return rep, fmt.Errorf("gc: %w", err)
	}
	if err := s.compact(); err != nil {
		return rep, fmt.Errorf("gc: compact: %w", err)
	}
	rep.After, _ = s.Size()
	return rep, nil
}

type collector struct {
	s      *Store
	keep   func(Key) bool
	before time.Time
	report *GCReport

	doomed  []doomed
	orphans [][]byte // keys of pieces that no fact has
	live    map[[sumSize]byte]bool
}

// doomed is an entry as it was when it was found to be of no use.
type doomed struct {
	key     []byte
	version uint64
	pieces  pieceHead // of size 0 when there are none
}

// scan finds what there is to drop.
func (g *collector) scan(ctx context.Context) error {
	return g.s.view(func(txn *badger.Txn) error {
		for _, l := range facts {
			if err := scanPrefix(ctx, txn, []byte{byte(l.kind)}, g.visit); err != nil {
				return err
			}
		}
		return scanPrefix(ctx, txn, piecePrefix, func(item *badger.Item) error {
			if sum, _, err := parsePieceKey(item.Key()); err != nil || !g.live[sum] {
				g.orphans = append(g.orphans, item.KeyCopy(nil))
			}
			return nil
		})
	})
}

func scanPrefix(ctx context.Context, txn *badger.Txn, prefix []byte, fn func(*badger.Item) error) error {
	o := badger.DefaultIteratorOptions
	o.Prefix = prefix
	it := txn.NewIterator(o)
	defer it.Close()
	for it.Rewind(); it.Valid(); it.Next() {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := fn(it.Item()); err != nil {
			return err
		}
	}
	return nil
}

// visit decides about one fact. One that cannot be read is of no use.
func (g *collector) visit(item *badger.Item) error {
	key, keyErr := parseKey(item.Key())
	return item.Value(func(v []byte) error {
		at, form, body, err := unseal(g.s.recipeName(key.Recipe), item.Key(), v)
		var h pieceHead
		if err == nil && form == pieces {
			h, err = parsePieceHead(body)
			g.live[h.sum] = true // what is doomed takes its own pieces along
		}
		if keyErr == nil && err == nil && (!at.Before(g.before) || g.keep(key)) {
			g.report.Kept++
			return nil
		}
		g.doomed = append(g.doomed, doomed{item.KeyCopy(nil), item.Version(), h})
		g.report.Dropped[Kind(item.Key()[0])]++
		g.report.Bytes += int64(len(v) + h.size)
		return nil
	})
}

// drop deletes what scan found and nobody has written since.
func (g *collector) drop(ctx context.Context) error {
	for batch := range slices.Chunk(g.doomed, gcBatch) {
		if err := g.deleteBatch(ctx, func(db *badger.DB, b *badger.WriteBatch) error {
			return g.dropFacts(db, b, batch)
		}); err != nil {
			return err
		}
	}
	for batch := range slices.Chunk(g.orphans, gcBatch) {
		if err := g.deleteBatch(ctx, func(_ *badger.DB, b *badger.WriteBatch) error {
			return g.dropOrphans(b, batch)
		}); err != nil {
			return err
		}
	}
	return nil
}

func (g *collector) deleteBatch(ctx context.Context, fill func(*badger.DB, *badger.WriteBatch) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return g.s.withDB(func(db *badger.DB) error {
		g.s.write.Lock()
		defer g.s.write.Unlock()
		return g.s.commitLocked(db, 0, func(b *badger.WriteBatch) error { return fill(db, b) })
	})
}

func (g *collector) dropFacts(db *badger.DB, b *badger.WriteBatch, batch []doomed) error {
	return db.View(func(txn *badger.Txn) error {
		for _, d := range batch {
			item, err := txn.Get(d.key)
			if err != nil || item.Version() != d.version {
				continue
			}
			if err := b.Delete(d.key); err != nil {
				return err
			}
			if err := deletePieces(b, d.pieces); err != nil {
				return err
			}
		}
		return nil
	})
}

func (g *collector) dropOrphans(b *badger.WriteBatch, batch [][]byte) error {
	for _, key := range batch {
		if sum, _, err := parsePieceKey(key); err == nil && g.s.cutSince[sum] {
			continue
		}
		if err := b.Delete(key); err != nil {
			return err
		}
	}
	return nil
}

// watchCuts makes the store remember which bodies are cut from now on, until
// the function that it returns is called.
func (s *Store) watchCuts() (stop func()) {
	set := func(m map[[sumSize]byte]bool) {
		s.write.Lock()
		defer s.write.Unlock()
		s.cutSince = m
	}
	set(map[[sumSize]byte]bool{})
	return func() { set(nil) }
}

// compact makes the database give back the space of what was deleted. Badger
// compacts its newest tables only when it is told at opening to do so at
// closing, hence the two rounds.
func (s *Store) compact() error {
	if err := s.reopen(true); err != nil {
		return err
	}
	err := s.withDB(func(db *badger.DB) error {
		if err := settle(db); err != nil {
			return err
		}
		return db.Flatten(1)
	})
	if err != nil {
		return err
	}
	return s.reopen(false)
}

// settle makes sure that Badger knows that the reads before are over: until then a
// compaction keeps what was deleted. It learns of them through a channel that
// holds 100, so they are known when as many more were sent.
func settle(db *badger.DB) error {
	for range 200 {
		if err := db.View(func(*badger.Txn) error { return nil }); err != nil {
			return err
		}
	}
	return nil
}

// reopen waits for running calls. When it fails, the store is closed to all
// but Close.
func (s *Store) reopen(compactAtClose bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.db == nil {
		return ErrClosed
	}
	if err := roomToWrite(s.dir, 0); err != nil {
		return err
	}
	db := s.db
	s.db = nil
	if err := closeBadger(db); err != nil {
		return err
	}
	o := badgerOptions(s.dir, s.log)
	o.CompactL0OnClose = compactAtClose
	var err error
	s.db, err = openBadger(o)
	return err
}
