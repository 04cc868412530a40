package vault

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"kb/cas"
	"kb/embed"
	"kb/note"
	"kb/vector"
)

// embedders are the embedding models that the callers of a store use, and the
// vectors of each. A model is named by its directory and the state of its files,
// so that one that is exchanged is another.
type embedders struct {
	store *Store
	open  func(dir string, o vector.Options) (vector.Embedder, error)

	mu      sync.Mutex
	indexes map[string]*embed.Index // by how they are searched, and model
	broken  map[string]error
}

func newEmbedders(s *Store) *embedders {
	return &embedders{store: s, open: vector.Open, indexes: map[string]*embed.Index{}, broken: map[string]error{}}
}

// index returns the vectors of the model that c names, or says why there are none.
func (e *embedders) index(c *Config) (x *embed.Index, why string) {
	dir, found := c.modelDir(c.Model)
	name := filepath.Base(c.Model)
	switch {
	case c.Model == noModel:
		return nil, "the configuration names no embedding model"
	case !found && isModelPath(c.Model):
		return nil, fmt.Sprintf("there is no embedding model in %s", name)
	case !found:
		return nil, fmt.Sprintf("no embedding model is installed (kb model pull %s)", name)
	case e.store.facts == nil:
		return nil, "vectors need a cache that can be written"
	}
	x, err := e.indexOf(dir, c.Vector.ANN)
	if err != nil {
		return nil, modelError(dir, err)
	}
	return x, ""
}

// modelError says why a model cannot be used, without naming its place.
func modelError(dir string, err error) string {
	name := filepath.Base(dir)
	return fmt.Sprintf("the embedding model %s cannot be used: %s", name, strings.ReplaceAll(err.Error(), dir, name))
}

// indexOf returns the vectors of the model in dir, to be searched exactly or by a
// graph as ann says.
func (e *embedders) indexOf(dir, ann string) (*embed.Index, error) {
	state, err := modelState(dir)
	if err != nil {
		return nil, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	x, err := e.exactIndex(dir, state)
	if err != nil || ann != "hnsw" {
		return x, err
	}
	near := e.indexes[ann+state]
	if near == nil {
		near = x.Approximate(e.store.log)
		e.indexes[ann+state] = near
	}
	return near, nil
}

// exactIndex returns the vectors of the model in dir, to be searched exactly. All
// who use the model share them, so that nothing is embedded for one of them that
// another is embedding.
func (e *embedders) exactIndex(dir, state string) (*embed.Index, error) {
	if x := e.indexes[state]; x != nil {
		return x, nil
	}
	if err := e.broken[state]; err != nil {
		return nil, err
	}
	x, err := e.openIndex(dir, state)
	if errors.Is(err, vector.ErrModel) || errors.Is(err, vector.ErrUnsupported) {
		e.broken[state] = err // it stays so until its files change
	}
	if err == nil {
		e.indexes[state] = x
	}
	return x, err
}

// fingerprintRecipe is of the facts that say what fingerprint the model in a
// directory has: it need not be loaded to answer what needs no vectors.
const fingerprintRecipe = "fingerprint/1"

func (e *embedders) openIndex(dir, state string) (*embed.Index, error) {
	known, _ := e.store.get(cas.WorkTree, fingerprintRecipe, []byte(state))
	options := vector.Options{}
	if m, ok := vector.ModelByName(filepath.Base(dir)); ok {
		options = m.Options
	}
	m := embed.NewModel(func() (vector.Embedder, error) { return e.open(dir, options) }, string(known), embed.Idle)
	x, err := embed.New(e.store.facts, e.store.vectorDir(), m)
	if err != nil {
		return nil, err
	}
	if known == nil {
		print, err := m.Fingerprint()
		if err != nil {
			return nil, err
		}
		return x, e.store.put(cas.WorkTree, fingerprintRecipe, []byte(state), []byte(print))
	}
	return x, nil
}

// modelState names a model: its directory, the sizes and times of the files in
// it, and the program that reads them.
func modelState(dir string) (string, error) {
	h := sha256.New()
	add := func(name string, info fs.FileInfo) {
		fmt.Fprintf(h, "%s %d %d\n", name, info.Size(), info.ModTime().UnixNano())
	}
	fmt.Fprintln(h, dir)
	if exe, err := os.Executable(); err == nil {
		if info, err := os.Stat(exe); err == nil {
			add(exe, info)
		}
	}
	err := fs.WalkDir(os.DirFS(dir), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := fs.Stat(os.DirFS(dir), name) // through a link
		if err == nil {
			add(name, info)
		}
		return nil
	})
	return string(h.Sum(nil)), err
}

// vectorDir is where vectors are kept to be searched.
func (s *Store) vectorDir() string { return filepath.Join(s.dir, "vec") }

func (e *embedders) close() (err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, x := range e.indexes {
		err = errors.Join(err, x.Close())
		x.Model().Unload()
	}
	return err
}

// embed embeds what the view lacks, newest notes first, and returns how many
// texts that were.
func (w *view) embed(ctx context.Context, x *embed.Index) (int, error) {
	return x.Sync(ctx, w.newest(ctx), w.load, func(done, total int) { w.v.report(done, total, "embedding") })
}

// newest returns the blobs of the view, those that changed last first.
func (w *view) newest(ctx context.Context) []note.ID {
	history, err := w.history(ctx)
	if err != nil {
		return w.blobs() // the order is a courtesy
	}
	where := w.where()
	changed := func(id note.ID) time.Time {
		d := w.docs[where[id]]
		if d.uncommitted {
			return w.v.now()
		}
		if h := history[d.col.repo]; h != nil {
			f, _ := h.At(d.col.full(d.path))
			return f.Updated
		}
		return time.Time{}
	}
	ids := w.blobs()
	slices.SortStableFunc(ids, func(a, b note.ID) int { return changed(b).Compare(changed(a)) })
	return ids
}

// background embeds views one after another, while their callers are answered.
type background struct {
	store  *Store
	ctx    context.Context
	cancel context.CancelFunc
	done   sync.WaitGroup

	mu      sync.Mutex
	waiting map[string]*view // by what they were made of
	working bool
}

// EmbedInBackground lets s embed what its callers' views lack, until Close.
func (s *Store) EmbedInBackground() {
	b := &background{store: s, waiting: map[string]*view{}}
	b.ctx, b.cancel = context.WithCancel(context.Background())
	s.background = b
}

// want asks for a view to be embedded.
func (b *background) want(w *view) {
	if b == nil {
		return
	}
	v := *w.v
	v.progress = nil // it is the call's
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.ctx.Err() != nil {
		return
	}
	b.waiting[w.key] = &view{&v, w.contents}
	if !b.working {
		b.working = true
		b.done.Go(b.work)
	}
}

func (b *background) next() *view {
	b.mu.Lock()
	defer b.mu.Unlock()
	for key, w := range b.waiting {
		delete(b.waiting, key)
		if b.ctx.Err() == nil {
			return w
		}
	}
	b.working = false
	return nil
}

func (b *background) work() {
	for w := b.next(); w != nil; w = b.next() {
		if err := b.embed(w); err != nil && b.ctx.Err() == nil {
			b.store.log("embed %s: %v", w.short(), err)
		}
	}
}

func (b *background) embed(w *view) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	x, why := b.store.embedders.index(w.v.cfg)
	if x == nil {
		return errors.New(why)
	}
	start := time.Now()
	n, err := w.embed(b.ctx, x)
	if n > 0 {
		b.store.log("embedded %s of %s in %.1f s", plural(n, "text"), w.short(), time.Since(start).Seconds())
	}
	if err != nil {
		return err
	}
	_, err = w.covered(b.ctx, x) // the next search finds it made
	return err
}

// stop ends the work and waits for that.
func (b *background) stop() {
	if b == nil {
		return
	}
	b.mu.Lock()
	b.cancel()
	b.mu.Unlock()
	b.done.Wait()
}
