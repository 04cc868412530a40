package vault

import (
	"bytes"
	"context"
	"slices"

	"kb/cas"
	"kb/gitstore"
	"kb/index"
	"kb/note"
)

// Recipes of what is kept beside notes and text.
const (
	datesRecipe = "dates/3"
	pastRecipe  = "past/4"
	statRecipe  = "stat/1"
	lastRecipe  = "last/1"
)

// statCache remembers the hashes of a work tree's files; it is kept in the
// store under the work tree's path.
type statCache struct {
	gitstore.Stats
	store    *Store
	worktree string
}

// statCache returns the cache of a work tree, read from the store at first.
func (s *Store) statCache(worktree string) *statCache {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c := s.stats[worktree]; c != nil {
		return c
	}
	c := &statCache{store: s, worktree: worktree}
	s.stats[worktree] = c
	if worktree == "" {
		return c
	}
	if b, ok := s.get(cas.WorkTree, statRecipe, worktreeKey(worktree)); ok {
		if err := c.Load(bytes.NewReader(b)); err != nil {
			s.log("stat cache of %s: %v", worktree, err)
		}
	}
	return c
}

// save keeps the cache if it changed.
func (c *statCache) save() error {
	if c.worktree == "" || !c.Changed() {
		return nil
	}
	var b bytes.Buffer
	if err := c.Save(&b); err != nil {
		return err
	}
	return c.store.put(cas.WorkTree, statRecipe, worktreeKey(c.worktree), b.Bytes())
}

// worktreeKey names a work tree by the hash of its path, which may be long.
func worktreeKey(dir string) []byte {
	id := note.Hash([]byte(dir))
	return id[:]
}

// get and put reach opaque facts. Without a store there are none, and nothing
// is kept; nor is it without room.
func (s *Store) get(k cas.Kind, recipe string, id []byte) ([]byte, bool) {
	if s.facts == nil {
		return nil, false
	}
	r, err := s.facts.Recipe(recipe)
	if err != nil {
		s.log("read %s: %v", recipe, err)
		return nil, false
	}
	b, ok, err := s.facts.Get(k.Key(r, id))
	if err != nil {
		s.log("read %s: %v", recipe, err)
	}
	return b, ok && err == nil
}

func (s *Store) put(k cas.Kind, recipe string, id, value []byte) error {
	if s.facts == nil {
		return nil
	}
	r, err := s.facts.Recipe(recipe)
	if err == nil {
		err = s.facts.Put(cas.Fact{Key: k.Key(r, id), Value: value})
	}
	return s.unlessFull(err)
}

// lastIndexed is the commit of r that was indexed last by request.
func (s *Store) lastIndexed(r *repo) (gitstore.CommitID, bool) {
	b, ok := s.get(cas.WorkTree, lastRecipe, worktreeKey(r.GitDir()))
	if !ok || len(b) != len(gitstore.CommitID{}) {
		return gitstore.CommitID{}, false
	}
	return gitstore.CommitID(b), true
}

func (s *Store) setLastIndexed(r *repo, id gitstore.CommitID) error {
	return s.put(cas.WorkTree, lastRecipe, worktreeKey(r.GitDir()), id[:])
}

// forget drops what is derived from blobs, so that it is derived again.
func (s *Store) forget(ctx context.Context, x *index.Index, ids []note.ID) error {
	drop := make(map[note.ID]bool, len(ids))
	for _, id := range ids {
		drop[id] = true
	}
	if _, err := x.Drop(ctx, func(id note.ID) bool { return !drop[id] }); err != nil {
		return err
	}
	r, err := s.facts.Recipe(note.Recipe)
	if err != nil {
		return err
	}
	s.mu.Lock()
	clear(s.notes)
	clear(s.brief)
	clear(s.said)
	s.mu.Unlock()
	for batch := range slices.Chunk(ids, 1000) {
		if err := s.facts.DeleteNotes(r, batch...); err != nil {
			return err
		}
	}
	return nil
}
