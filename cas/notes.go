package cas

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"kb/note"
)

// Note returns what the blob id says under recipe r, and whether the store
// knows it.
func (s *Store) Note(r RecipeID, id note.ID) (*note.Note, bool, error) {
	key := Notes.Key(r, id[:])
	b, ok, err := s.Get(key)
	if err != nil || !ok {
		return nil, false, err
	}
	n := s.decodeNote(key, b)
	return n, n != nil, nil
}

// decodeNote returns nil, and reports it, for bytes that are no note.
func (s *Store) decodeNote(key Key, b []byte) *note.Note {
	n, err := decodeNote(string(b))
	if err != nil {
		s.event("bad_value", "fact %s: %v", key, err)
		return nil
	}
	return n
}

// PutNotes stores notes under recipe r in one durable batch.
func (s *Store) PutNotes(r RecipeID, notes map[note.ID]*note.Note) error {
	facts := make([]Fact, 0, len(notes))
	// sorted, because Badger writes a batch faster in the order of its keys
	for _, id := range slices.SortedFunc(maps.Keys(notes), compareIDs) {
		b, err := encodeNote(notes[id])
		if err != nil {
			return fmt.Errorf("encode note %s: %w", id, err)
		}
		facts = append(facts, Fact{Notes.Key(r, id[:]), b})
	}
	return s.Put(facts...)
}

// MissingNotes returns those of ids, each once and in their order, that have no
// note under recipe r.
func (s *Store) MissingNotes(r RecipeID, ids []note.ID) ([]note.ID, error) {
	keys := make([]string, len(ids))
	for i, id := range ids {
		keys[i] = string(id[:])
	}
	keys, err := s.Missing(Notes, r, keys)
	missing := make([]note.ID, len(keys))
	for i, k := range keys {
		copy(missing[i][:], k)
	}
	return missing, err
}

// NotesOf calls fn with those of ids that have a note under recipe r, ordered by
// id. It takes a fraction of the time that Note takes for each. fn must not call
// the store.
func (s *Store) NotesOf(ctx context.Context, r RecipeID, ids []note.ID, fn func(note.ID, *note.Note)) error {
	return s.EachOf(ctx, Notes, r, ids, func(id note.ID, body []byte) error {
		n, err := decodeNote(string(body))
		if err == nil {
			fn(id, n)
		}
		return err
	})
}

// EachOf calls fn with the facts of the kind and recipe that there are of those
// blobs, ordered by id. A value that is damaged, or that fn does not understand, is
// reported and counts as absent. fn must not call the store.
func (s *Store) EachOf(ctx context.Context, k Kind, r RecipeID, ids []note.ID, fn func(id note.ID, body []byte) error) error {
	keys := make([]string, len(ids))
	for i, id := range ids {
		keys[i] = string(id[:])
	}
	return s.some(ctx, k, r, keys, func(id string, body []byte) error { return fn(note.ID([]byte(id)), body) })
}

// EachNote calls fn with every note under recipe r, ordered by id, until fn fails.
func (s *Store) EachNote(ctx context.Context, r RecipeID, fn func(note.ID, *note.Note) error) error {
	return s.Each(ctx, Notes, r, func(id string, b []byte) error {
		n := s.decodeNote(Key{Notes, r, id}, b)
		if n == nil {
			return nil
		}
		return fn(note.ID([]byte(id)), n)
	})
}

// DeleteNotes removes the notes of ids under recipe r.
func (s *Store) DeleteNotes(r RecipeID, ids ...note.ID) error {
	keys := make([]Key, len(ids))
	for i, id := range ids {
		keys[i] = Notes.Key(r, id[:])
	}
	return s.Delete(keys...)
}

func compareIDs(a, b note.ID) int { return slices.Compare(a[:], b[:]) }
