package cas

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/dgraph-io/badger/v4"
)

// maxBody is the longest value: as many pieces as a key can number.
const maxBody = pieceSize << 16

// Fact is a key and its value.
type Fact struct {
	Key   Key
	Value []byte
}

// Get returns the value of a fact, which the caller may keep and change, and
// whether the store has it. A value that is damaged is reported as an [Event]
// and counts as absent.
func (s *Store) Get(key Key) ([]byte, bool, error) {
	if err := key.check(); err != nil {
		return nil, false, err
	}
	var body []byte
	err := s.view(func(txn *badger.Txn) (err error) {
		body, err = s.read(txn, key)
		return err
	})
	return s.present(key, body, err)
}

// present turns the outcome of a read into what Get answers.
func (s *Store) present(key Key, body []byte, err error) ([]byte, bool, error) {
	switch {
	case err == nil:
		return body, true, nil
	case errors.Is(err, badger.ErrKeyNotFound):
		return nil, false, nil
	case errors.Is(err, ErrClosed):
		return nil, false, fmt.Errorf("read fact %s: %w", key, err)
	}
	s.event("bad_value", "fact %s: %v", key, err)
	return nil, false, nil
}

func (s *Store) view(fn func(*badger.Txn) error) error {
	return s.withDB(func(db *badger.DB) error { return db.View(fn) })
}

// read returns a copy of the body of the fact named key.
func (s *Store) read(txn *badger.Txn, key Key) ([]byte, error) {
	item, err := txn.Get(key.bytes())
	if err != nil {
		return nil, err
	}
	_, body, err := s.itemBody(txn, key, item)
	return body, err
}

// itemBody returns when the fact in item was written, and a copy of its body.
func (s *Store) itemBody(txn *badger.Txn, key Key, item *badger.Item) (at time.Time, body []byte, err error) {
	err = item.Value(func(v []byte) error {
		when, form, b, err := unseal(s.recipeName(key.Recipe), item.Key(), v)
		if err != nil {
			return err
		}
		at = when
		if form == pieces {
			body, err = joinPieces(txn, item.Key(), b)
			return err
		}
		body = append(make([]byte, 0, len(b)), b...)
		return nil
	})
	return at, body, err
}

// joinPieces reads the body that was cut for key; head is the sealed pieceHead.
func joinPieces(txn *badger.Txn, key, head []byte) ([]byte, error) {
	h, err := parsePieceHead(head)
	if err != nil {
		return nil, err
	}
	body := make([]byte, 0, h.size)
	for i := range h.count() {
		item, err := txn.Get(pieceKey(h.sum, i))
		if errors.Is(err, badger.ErrKeyNotFound) {
			return nil, fmt.Errorf("piece %d of %d is gone", i, h.count())
		}
		if err != nil {
			return nil, err
		}
		err = item.Value(func(v []byte) error {
			body = append(body, v...)
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	if newPieceHead(key, body) != h {
		return nil, errSeal
	}
	return body, nil
}

// Put stores facts durably, replacing those that are there. When it fails,
// some may be stored, each of them whole. The error is [ErrFull] when the disk
// has no room for them.
func (s *Store) Put(facts ...Fact) error {
	size := 0
	for _, f := range facts {
		if err := s.checkFact(f); err != nil {
			return err
		}
		size += len(f.Value) + len(f.Key.ID) + sealSize
	}
	if len(facts) == 0 {
		return nil
	}
	err := s.commit(size, func(b *badger.WriteBatch) error {
		for _, f := range facts {
			if err := s.putOne(b, f); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("write %d facts: %w", len(facts), err)
	}
	return nil
}

func (s *Store) checkFact(f Fact) error {
	if err := f.Key.check(); err != nil {
		return err
	}
	if s.recipeName(f.Key.Recipe) == "" {
		return fmt.Errorf("key %s: the store has no such recipe", f.Key)
	}
	if len(f.Value) > maxBody {
		return fmt.Errorf("fact %s of %d bytes: %w", f.Key, len(f.Value), ErrTooLarge)
	}
	return nil
}

// putOne adds a fact to the batch: pieces before the head that names them, and
// the end of the pieces it replaces after it. Badger commits in that order.
func (s *Store) putOne(b *badger.WriteBatch, f Fact) error {
	key, now := f.Key.bytes(), s.now()
	old, hadPieces := s.oldPieces(f.Key)
	form, body := byte(whole), f.Value
	var h pieceHead
	if len(f.Value) > pieceSize {
		h = newPieceHead(key, f.Value)
		form, body = pieces, h.bytes()
		if s.cutSince != nil {
			s.cutSince[h.sum] = true
		}
		for i := range h.count() {
			if err := b.Set(pieceKey(h.sum, i), cut(f.Value, i)); err != nil {
				return err
			}
		}
	}
	if err := b.Set(key, seal(s.recipeName(f.Key.Recipe), key, now, form, body)); err != nil {
		return err
	}
	if hadPieces && old.sum != h.sum {
		return deletePieces(b, old)
	}
	return nil
}

// oldPieces returns the pieces that the stored fact has, if it has any. A
// fact that cannot be read has none: [Store.GC] finds them.
func (s *Store) oldPieces(key Key) (h pieceHead, ok bool) {
	k := key.bytes()
	err := s.db.View(func(txn *badger.Txn) error {
		item, err := txn.Get(k)
		if err != nil {
			return err
		}
		return item.Value(func(v []byte) error {
			_, form, body, err := unseal(s.recipeName(key.Recipe), k, v)
			if err != nil || form != pieces {
				return err
			}
			h, err = parsePieceHead(body)
			ok = err == nil
			return err
		})
	})
	return h, ok && err == nil
}

func deletePieces(b *badger.WriteBatch, h pieceHead) error {
	for i := range h.count() {
		if err := b.Delete(pieceKey(h.sum, i)); err != nil {
			return err
		}
	}
	return nil
}

// Delete removes facts durably. To delete what is not there is a no-op.
func (s *Store) Delete(keys ...Key) error {
	for _, k := range keys {
		if err := k.check(); err != nil {
			return err
		}
	}
	if len(keys) == 0 {
		return nil
	}
	err := s.commit(0, func(b *badger.WriteBatch) error {
		for _, k := range keys {
			if err := s.deleteOne(b, k); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("delete %d facts: %w", len(keys), err)
	}
	return nil
}

func (s *Store) deleteOne(b *badger.WriteBatch, k Key) error {
	old, hadPieces := s.oldPieces(k)
	if err := b.Delete(k.bytes()); err != nil {
		return err
	}
	if hadPieces {
		return deletePieces(b, old)
	}
	return nil
}

// commit makes durable what fill puts into a batch of about size bytes. It
// alone writes, one batch at a time.
func (s *Store) commit(size int, fill func(*badger.WriteBatch) error) error {
	return s.withDB(func(db *badger.DB) error {
		s.write.Lock()
		defer s.write.Unlock()
		return s.commitLocked(db, size, fill)
	})
}

// commitLocked is commit for one who holds s.write.
func (s *Store) commitLocked(db *badger.DB, size int, fill func(*badger.WriteBatch) error) error {
	if size > 0 { // to delete is allowed on a full disk
		if err := roomToWrite(s.dir, size); err != nil {
			return err
		}
	}
	b := db.NewWriteBatch()
	defer b.Cancel()
	if err := fill(b); err != nil {
		return err
	}
	if err := b.Flush(); err != nil {
		return err
	}
	return db.Sync()
}

// Each calls fn with every fact of a kind and recipe, ordered by id, as they
// were when Each was called, until fn fails. The id and value are fn's to
// keep. Damaged values are left out, and reported.
func (s *Store) Each(ctx context.Context, k Kind, r RecipeID, fn func(id string, value []byte) error) error {
	return s.view(func(txn *badger.Txn) error {
		o := badger.DefaultIteratorOptions
		o.Prefix = kindPrefix(k, r)
		it := txn.NewIterator(o)
		defer it.Close()
		for it.Rewind(); it.Valid(); it.Next() {
			if err := ctx.Err(); err != nil {
				return err
			}
			key, err := parseKey(it.Item().Key())
			if err != nil {
				s.event("bad_value", "%v", err)
				continue
			}
			_, body, err := s.itemBody(txn, key, it.Item())
			if _, ok, err := s.present(key, body, err); !ok {
				if err != nil {
					return err
				}
				continue
			}
			if err := fn(key.ID, body); err != nil {
				return err
			}
		}
		return nil
	})
}

// some calls fn with those of ids that have a fact of the kind and recipe,
// ordered by id. A value that is damaged, or that fn cannot read, is left out
// and reported.
func (s *Store) some(ctx context.Context, k Kind, r RecipeID, ids []string, fn func(id string, body []byte) error) error {
	err := s.view(func(txn *badger.Txn) error {
		w := newWalker(txn, kindPrefix(k, r))
		defer w.it.Close()
		for _, id := range slices.Compact(slices.Sorted(slices.Values(ids))) {
			if err := ctx.Err(); err != nil {
				return err
			}
			if !w.has(id) {
				continue
			}
			key := Key{k, r, id}
			_, body, err := s.itemBody(txn, key, w.it.Item())
			if err == nil {
				err = fn(id, body)
			}
			if err != nil {
				s.event("bad_value", "fact %s: %v", key, err)
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("read facts: %w", err)
	}
	return nil
}

// Missing returns those of ids, each once and in their order, that have no fact of the kind
// and recipe. It does not read values, so [Store.Get] may still find one damaged.
func (s *Store) Missing(k Kind, r RecipeID, ids []string) ([]string, error) {
	has := make(map[string]bool, len(ids))
	err := s.view(func(txn *badger.Txn) error {
		w := newWalker(txn, kindPrefix(k, r))
		defer w.it.Close()
		for _, id := range slices.Sorted(slices.Values(ids)) {
			has[id] = w.has(id)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("look for facts: %w", err)
	}
	missing := []string{}
	for _, id := range ids {
		if !has[id] {
			has[id] = true
			missing = append(missing, id)
		}
	}
	return missing, nil
}

// walker looks for ids in ascending order.
type walker struct {
	it     *badger.Iterator
	prefix []byte
	key    []byte // scratch
}

func newWalker(txn *badger.Txn, prefix []byte) *walker {
	it := txn.NewIterator(badger.IteratorOptions{Prefix: prefix})
	it.Rewind()
	return &walker{it: it, prefix: prefix}
}

func (w *walker) has(id string) bool {
	w.key = append(append(w.key[:0], w.prefix...), id...)
	if w.behind() {
		w.it.Next() // where most are present, that is all
	}
	if w.behind() {
		w.it.Seek(w.key)
	}
	return w.it.Valid() && bytes.Equal(w.it.Item().Key(), w.key)
}

func (w *walker) behind() bool {
	return w.it.Valid() && bytes.Compare(w.it.Item().Key(), w.key) < 0
}
