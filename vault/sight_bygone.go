package vault

import (
	"context"
	"maps"
	"slices"

	"kb/gitstore"
	"kb/note"
)

// bygone is where notes that a caller does not see now were before, in all
// collections of their repositories, and what they said there.
type bygone struct {
	paths map[repoPath]bool // but those at which the caller sees a note now
	blobs map[note.ID]bool  // but those that the caller sees as a note now
	ever  map[note.ID]bool  // blobs with those, too
}

// repoPath is a path from the root of a repository.
type repoPath struct {
	repo *repo
	path string
}

func (d doc) place() repoPath { return repoPath{d.col.repo, d.col.full(d.path)} }

// mostBygones is how many scopes' bygones are remembered.
const mostBygones = 16

// bygones are those of s, followed across renames. They cost a walk of history
// where notes are hidden, once for each state of the base branches.
func (s *sight) bygones(ctx context.Context) (*bygone, error) {
	if s.all {
		return &bygone{}, nil
	}
	if s.was != nil {
		return s.was, nil
	}
	key := s.key()
	s.v.mu.Lock()
	known := s.v.bygones[key]
	s.v.mu.Unlock()
	if known == nil {
		var err error
		if known, err = s.findBygones(ctx); err != nil {
			return nil, err
		}
		s.v.mu.Lock()
		defer s.v.mu.Unlock()
		if s.v.bygones == nil || len(s.v.bygones) >= mostBygones {
			s.v.bygones = map[string]*bygone{}
		}
		s.v.bygones[key] = known
	}
	s.was = known
	return known, nil
}

func (s *sight) findBygones(ctx context.Context) (*bygone, error) {
	b := &bygone{paths: map[repoPath]bool{}, blobs: map[note.ID]bool{}}
	hidden := map[*repo][]doc{}
	var shown []doc
	for _, d := range s.now.docs {
		if s.claimed(d.col, d.path, s.now.claims[docKey{d.col, d.path}]) {
			shown = append(shown, d)
		} else {
			hidden[d.col.repo] = append(hidden[d.col.repo], d)
		}
	}
	if len(hidden) == 0 {
		return b, nil
	}
	long := map[repoPath]bool{} // of notes that have more versions than a past tells
	pasts := map[*repo]*gitstore.Past{}
	for r, docs := range hidden {
		past, err := s.v.store.past(ctx, r, s.now.tips[r])
		if err != nil {
			return nil, errorf(Internal, "follow notes through history: %w", err)
		}
		pasts[r] = past
		for _, d := range docs {
			b.add(d, past.Files[d.place().path], long)
		}
	}
	if err := b.addTaken(ctx, shown, long, pasts); err != nil {
		return nil, err
	}
	b.ever = maps.Clone(b.blobs)
	for _, d := range shown {
		delete(b.paths, d.place())
		delete(b.blobs, d.blob)
	}
	delete(b.blobs, note.Hash(nil)) // says nothing
	return b, nil
}

// add adds what the past of a hidden doc tells.
func (b *bygone) add(d doc, past gitstore.FilePast, long map[repoPath]bool) {
	b.blobs[d.blob] = true
	for _, x := range past.Versions {
		b.blobs[x.Blob] = true
	}
	for _, name := range past.Names {
		at := repoPath{d.col.repo, name.Path}
		b.paths[at] = true
		if past.More {
			long[at] = true
		}
	}
}

// addTaken adds what stood at paths that others have taken since, of notes with
// long pasts: all that is not of the note that is there now.
func (b *bygone) addTaken(ctx context.Context, shown []doc, long map[repoPath]bool, pasts map[*repo]*gitstore.Past) error {
	if len(long) == 0 {
		return nil
	}
	for _, d := range shown {
		at := d.place()
		if !long[at] {
			continue
		}
		versions, err := at.repo.Log(ctx, pasts[at.repo].Commit, at.path, 0)
		if err != nil {
			return errorf(Internal, "history of %s: %w", d.path, err)
		}
		stood := map[note.ID]bool{}
		for _, x := range versions {
			stood[x.Blob] = !x.Blob.IsZero()
		}
		for _, x := range pasts[at.repo].Files[at.path].Versions {
			stood[x.Blob] = false
		}
		maps.DeleteFunc(stood, func(_ note.ID, hide bool) bool { return !hide })
		maps.Copy(b.blobs, stood)
	}
	return nil
}

// has reports whether the note of those bytes at a path is, or may have been, one
// that is hidden now. What is not committed was at no path before; a zero blob is
// that of no file.
func (b *bygone) has(d doc) bool {
	return b.blobs[d.blob] || !d.uncommitted && b.paths[d.place()]
}

// withoutBygone leaves out the docs that were what s hides now.
func (s *sight) withoutBygone(ctx context.Context, docs []doc) ([]doc, error) {
	b, err := s.bygones(ctx)
	if err != nil || len(b.blobs) == 0 {
		return docs, err
	}
	return slices.DeleteFunc(docs, b.has), nil
}
