package vault

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"kb/embed"
	"kb/gitstore"
	"kb/index"
	"kb/note"
)

// doc is a note at a path of a view.
type doc struct {
	col         *collection
	path        string // within the collection
	blob        note.ID
	uncommitted bool // the work tree's text differs from the base commit's
}

// view is what one call reads, for its caller.
type view struct {
	v *Vault
	*contents
}

// contents are the docs of a commit in each repository, or of the work trees, as
// one audience sees them. They are immutable and shared by calls; what is
// derived from them is computed at most once.
type contents struct {
	key      string // what they were made of
	bases    []base
	worktree bool
	tree     string
	draft    bool  // of a commit that only drafts reach
	docs     []doc // by (collection, path)
	gone     []doc // notes of the base commit that the work tree lacks
	problems []gitstore.Problem
	others   map[*collection][]string // files that are no notes: what links may lead to as well

	byPath   map[string]int   // path → its first doc
	samePath map[string][]int // path → docs, where several collections have it
	where    map[note.ID]int  // blob → first doc, to read it

	synced  atomic.Bool // all that is derived of the docs is there
	partial atomic.Bool // a note could not be read: what was derived is not to be kept

	resolving sync.Once

	mu      sync.Mutex
	finders map[*collection]*note.Resolver // see keptResolvers
	text    *index.View
	cards   []*card
	called  []docNames
	names   map[string][]int // folded title, alias → docs
	dates   map[*repo]*gitstore.Dates
	links   *linkGraph
	alike   map[comparedBy]map[int]overlap // what notes have in common with an earlier one
	near    map[*embed.Index]*covered      // vectors, by the model they are of
}

const cachedViews = 6

// read returns the view that at means now. Nothing about it is stale: the
// revision is resolved, and a work tree is looked through, at each call.
func (v *Vault) read(ctx context.Context, at string) (*view, error) {
	bases, err := v.resolve(at)
	if err != nil {
		return nil, err
	}
	return v.readBases(ctx, bases)
}

// readBases returns the view of those commits or trees.
func (v *Vault) readBases(ctx context.Context, bases []base) (_ *view, err error) {
	s, err := v.sight(ctx)
	if err != nil {
		return nil, err
	}
	w := &view{v, &contents{bases: bases, others: map[*collection][]string{}}}
	trees, err := w.scan(ctx)
	if err != nil {
		return nil, err
	}
	if w.draft, err = w.onlyDrafted(ctx); err != nil {
		return nil, err
	}
	w.key = fmt.Sprintf("%s\n%v %s%s", s.key(), w.draft, baseKey(bases), trees.key())
	if old := v.cachedView(w.key); old != nil {
		return &view{v, old}, nil
	}
	for _, b := range bases {
		if err := w.list(ctx, s, b, trees); err != nil {
			return nil, err
		}
	}
	if err := s.keep(ctx, w.contents); err != nil {
		return nil, err
	}
	w.finish()
	return &view{v, v.cacheView(w.contents)}, nil
}

// worktrees are the files on disk of the collections that are read from there.
type worktrees map[*collection]*gitstore.Tree

// key identifies what was found.
func (t worktrees) key() string {
	var ids []string
	for c, tree := range t {
		ids = append(ids, c.Name+" "+tree.ID.String())
	}
	slices.Sort(ids)
	return strings.Join(ids, "\n")
}

// scan looks through the work trees.
func (w *view) scan(ctx context.Context) (worktrees, error) {
	trees := worktrees{}
	for _, b := range w.bases {
		if !b.worktree {
			continue
		}
		w.worktree = true
		for _, c := range b.repo.cols {
			tree, err := b.repo.Worktree(ctx, gitstore.Options{Dir: c.dir, Keep: c.holds, Cache: b.repo.stat})
			if err != nil {
				return nil, errorf(Internal, "read the work tree of %s: %w", c.Name, err)
			}
			trees[c] = tree
		}
	}
	return trees, nil
}

// list adds one repository's docs, as far as their paths tell that they are seen.
func (w *view) list(ctx context.Context, s *sight, b base, trees worktrees) error {
	if b.commit.IsZero() {
		return nil
	}
	for _, c := range b.repo.cols {
		committed, problems, err := b.files(ctx, c.dir)
		if err != nil {
			return errorf(Internal, "list %s at %s: %w", c.Name, b.commit, err)
		}
		w.addProblems(s, c, problems)
		tree := trees[c]
		if tree == nil {
			w.addFiles(s, c, committed)
			w.addOthers(s, c, pathsOf(committed))
			continue
		}
		w.addProblems(s, c, tree.Problems)
		w.compareFiles(s, c, tree.Files, committed)
		w.addOthers(s, c, tree.Others)
	}
	return nil
}

func (w *view) addProblems(s *sight, c *collection, problems []gitstore.Problem) {
	for _, p := range problems {
		if s.file(c, p.Path) {
			w.problems = append(w.problems, p)
		}
	}
}

// addFiles adds the notes among the files of a commit.
func (w *view) addFiles(s *sight, c *collection, files []gitstore.File) {
	for _, f := range files {
		if c.holds(f.Path) && s.path(c, f.Path) {
			w.docs = append(w.docs, doc{col: c, path: f.Path, blob: f.Blob})
		}
	}
}

// compareFiles is addFiles of a work tree: it tells what is not committed.
func (w *view) compareFiles(s *sight, c *collection, files, committed []gitstore.File) {
	old := make(map[string]note.ID, len(committed))
	for _, f := range committed {
		if c.holds(f.Path) && s.path(c, f.Path) {
			old[f.Path] = f.Blob
		}
	}
	first := len(w.docs)
	w.addFiles(s, c, files)
	for i := range w.docs[first:] {
		d := &w.docs[first+i]
		was, ok := old[d.path]
		d.uncommitted = !ok || was != d.blob
		delete(old, d.path)
	}
	for p, blob := range old {
		w.gone = append(w.gone, doc{col: c, path: p, blob: blob})
	}
}

// addOthers remembers the files that are no notes: pictures, attachments.
func (w *view) addOthers(s *sight, c *collection, paths []string) {
	for _, p := range paths {
		if !c.names(p) && s.file(c, p) {
			w.others[c] = append(w.others[c], p)
		}
	}
}

func pathsOf(files []gitstore.File) []string {
	paths := make([]string, len(files))
	for i, f := range files {
		paths[i] = f.Path
	}
	return paths
}

// finish sorts the docs and builds the maps.
func (w *view) finish() {
	if !slices.IsSortedFunc(w.docs, doc.compare) {
		slices.SortFunc(w.docs, doc.compare)
	}
	w.byPath = make(map[string]int, len(w.docs))
	w.samePath = map[string][]int{}
	w.where = make(map[note.ID]int, len(w.docs))
	var list []byte
	for i, d := range w.docs {
		if first, ok := w.byPath[d.path]; !ok {
			w.byPath[d.path] = i
		} else if len(w.samePath[d.path]) == 0 {
			w.samePath[d.path] = []int{first, i}
		} else {
			w.samePath[d.path] = append(w.samePath[d.path], i)
		}
		if _, ok := w.where[d.blob]; !ok {
			w.where[d.blob] = i
		}
		if w.worktree {
			list = append(append(append(append(list, d.col.Name...), 0), d.path...), 0)
			list = append(list, d.blob[:]...)
		}
	}
	if w.worktree {
		sum := sha256.Sum256(list)
		w.tree = hex.EncodeToString(sum[:20])
	}
}

// at returns the docs of that path: one per collection.
func (w *view) at(path string) []int {
	if docs := w.samePath[path]; docs != nil {
		return docs
	}
	if i, ok := w.byPath[path]; ok {
		return []int{i}
	}
	return nil
}

func (v *Vault) cachedView(key string) *contents {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.lookup(key)
}

func (v *Vault) lookup(key string) *contents {
	i := slices.IndexFunc(v.views, func(w *contents) bool { return w.key == key })
	if i < 0 {
		return nil
	}
	w := v.views[i]
	v.views = append(slices.Delete(v.views, i, i+1), w)
	return w
}

// cacheView keeps w, or returns the equal view that is kept already.
func (v *Vault) cacheView(w *contents) *contents {
	v.mu.Lock()
	defer v.mu.Unlock()
	if old := v.lookup(w.key); old != nil {
		return old
	}
	v.views = append(v.views, w)
	if len(v.views) > cachedViews {
		v.views = slices.Delete(v.views, 0, 1)
	}
	return w
}

// blobs returns each blob of the view once, in order of its first doc.
func (w *view) blobs() []note.ID {
	ids := make([]note.ID, 0, len(w.where))
	for i, d := range w.docs {
		if w.where[d.blob] == i {
			ids = append(ids, d.blob)
		}
	}
	return ids
}

// load reads the bytes of blobs of the view, wherever they are: in a
// repository's objects or, not yet committed, in its work tree.
func (w *view) load(ctx context.Context, ids []note.ID, fn func(note.ID, []byte, error) error) error {
	for _, b := range w.bases {
		var mine []note.ID
		for _, id := range ids {
			if d := w.docs[w.where[id]]; d.col.repo != b.repo {
				continue
			} else if d.uncommitted {
				src, err := w.bytes(w.where[id])
				if errors.Is(err, gitstore.ErrChanged) {
					return err // the view is out of date
				}
				if err := w.pass(fn, id, src, err); err != nil {
					return err
				}
			} else {
				mine = append(mine, id)
			}
		}
		err := b.repo.Blobs(ctx, mine, func(id note.ID, src []byte, err error) error { return w.pass(fn, id, src, err) })
		if err != nil {
			return err
		}
	}
	return nil
}

// pass hands a blob on, and remembers when one could not be read.
func (w *view) pass(fn func(note.ID, []byte, error) error, id note.ID, src []byte, err error) error {
	if err != nil {
		w.partial.Store(true)
	}
	return fn(id, src, err)
}

// bytes reads one doc.
func (w *view) bytes(i int) ([]byte, error) { return w.docs[i].bytes() }

func (d doc) bytes() ([]byte, error) {
	if d.uncommitted {
		src, err := d.col.repo.ReadWorktree(d.col.full(d.path), d.blob)
		if err == nil {
			return src, nil
		}
		// Changed since it was listed; the listed bytes may stand in git all the same.
		if src, gitErr := d.col.repo.Blob(d.blob); gitErr == nil {
			return src, nil
		}
		return nil, errorf(Conflict, "read %s: %w", d.path, err).hint("it changed while it was read: ask again")
	}
	src, err := d.col.repo.Blob(d.blob)
	if err != nil {
		return nil, errorf(Internal, "read %s: %w", d.path, err)
	}
	return src, nil
}

// note reads and parses one doc. The text is what Parse decoded.
func (w *view) note(i int) (*note.Note, []byte, error) {
	src, err := w.bytes(i)
	if err != nil {
		return nil, nil, err
	}
	n, text := note.Parse(src)
	return n, text, nil
}

// recorded is note by its record, which is kept: nothing is parsed that was parsed
// before, and nothing stays in memory.
func (w *view) recorded(i int) (*note.Note, []byte, error) {
	src, err := w.bytes(i)
	if err != nil {
		return nil, nil, err
	}
	x, err := w.v.store.index(w.v.cfg.Language)
	if err != nil {
		return nil, nil, err
	}
	n, err := x.Note(w.docs[i].blob, func() ([]byte, error) { return src, nil })
	return n, note.Text(src), err
}

// uri is the citation of a doc: pinned to the commit that was read, or
// unpinned when the work tree's text is not in it.
func (w *view) uri(i int, fragment string) string {
	d := w.docs[i]
	c := citation{Collection: d.col.Name, Path: d.path, Fragment: fragment}
	if !d.uncommitted {
		c.Commit = w.commitOf(d.col).String()
	}
	return c.String()
}

// section is the first directory of a path, "" for a note at the root.
func section(p string) string {
	dir, _, ok := strings.Cut(p, "/")
	if !ok {
		return ""
	}
	return dir
}

// clock is the time that recency is measured from: the committer date of the
// base commit, or today for a work tree.
func (w *view) clock() time.Time {
	if w.worktree {
		return w.v.now().UTC()
	}
	var last time.Time
	for _, b := range w.bases {
		if c, err := b.repo.Commit(b.commit); err == nil && c.Committer.When.After(last) {
			last = c.Committer.When
		}
	}
	return last.UTC()
}

// fileTitle is a note's title when it names none itself.
func fileTitle(p string) string {
	return strings.TrimSuffix(path.Base(p), path.Ext(p))
}
