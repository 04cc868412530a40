package embed

import (
	"context"
	"errors"

	"sync"
	"sync/atomic"

	"kb/cas"
	"kb/note"
	"kb/vector"
)

// Fetch reads the bytes of blobs and calls fn with each, one at a time and in
// any order; err says that one blob cannot be read. An error that fn returns
// ends the fetch.
type Fetch func(ctx context.Context, ids []note.ID, fn func(id note.ID, src []byte, err error) error) error

// Index is the vectors of one model. It is safe for concurrent use.
type Index struct {
	*stored
	graphs *graphs // nil when all is searched by the scan
}

// stored is what all have in common who search the vectors of one model, however
// they do.
type stored struct {
	model   *Model
	facts   *cas.Store
	chunks  cas.RecipeID
	vectors cas.RecipeID
	packs   packs

	turn    chan struct{} // holds the turn to embed
	changes atomic.Int64  // of what is stored

	mu          sync.Mutex
	unreadable  map[note.ID]bool // blobs that could not be read last time
	done, total int              // of the Sync at work
}

// New returns the index of a model's vectors: facts keeps them, and dir what is
// derived from them to search fast.
func New(facts *cas.Store, dir string, m *Model) (*Index, error) {
	print, err := m.Fingerprint()
	if err != nil {
		return nil, err
	}
	x := &stored{model: m, facts: facts, turn: make(chan struct{}, 1), unreadable: map[note.ID]bool{}}
	if x.chunks, err = facts.Recipe(Recipe); err != nil {
		return nil, err
	}
	if x.vectors, err = facts.Recipe(VectorRecipe(print)); err != nil {
		return nil, err
	}
	x.packs = packs{dir: packDir(dir, print), print: print, few: fewVectors}
	return &Index{stored: x}, nil
}

// VectorRecipe is the recipe of the vectors of a model.
func VectorRecipe(fingerprint string) string { return "vector/1 " + fingerprint }

// Recipes names what vectors are derived with.
func (x *Index) Recipes() []string { return []string{Recipe, VectorRecipe(x.packs.print)} }

// Owns reports whether x stores what key names, or would.
func (x *Index) Owns(key cas.Key) bool {
	if key.Kind == cas.Chunks {
		return key.Recipe == x.chunks
	}
	return key.Recipe == x.vectors
}

// TextsOf returns the hashes of the texts of those of ids that are known.
func (x *Index) TextsOf(ctx context.Context, ids []note.ID) (map[cas.Hash]bool, error) {
	lists, err := x.facts.Chunks(ctx, x.chunks, ids)
	out := map[cas.Hash]bool{}
	for _, list := range lists {
		for _, h := range list {
			out[h] = true
		}
	}
	return out, err
}

// Forget forgets the file of vectors: the next [View] makes it again.
func (x *Index) Forget() {
	x.packs.discard()
	x.changes.Add(1)
}

// Failed counts the texts on which the model failed for good.
func (x *Index) Failed(ctx context.Context) (n int) {
	_ = x.facts.Each(ctx, cas.Failures, x.vectors, func(string, []byte) error { // as far as it can be read
		n++
		return nil
	})
	return n
}

// Model returns the model of x.
func (x *Index) Model() *Model { return x.model }

// Busy reports whether a Sync embeds at the moment.
func (x *Index) Busy() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.total > 0
}

// Changes counts the times that something was stored: what was incomplete may
// be complete when it changed.
func (x *Index) Changes() int64 { return x.changes.Load() }

// Damaged reports whether err says that a file of vectors is damaged. It is
// forgotten then, and made again by the next View.
func (x *Index) Damaged(err error) bool {
	if !errors.Is(err, vector.ErrPack) {
		return false
	}
	x.Forget()
	return true
}

// Close closes files, also for those that are approximately x. The store and the
// model stay open.
func (x *Index) Close() error { return x.packs.close() }
