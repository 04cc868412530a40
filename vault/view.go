package vault

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
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
	whole    bool  // nothing is hidden of it
	docs     []doc // by (collection, path)
	gone     []doc // notes of the base commit that the work tree lacks
	problems []gitstore.Problem
	others   map[*collection][]string // files that are no notes: what links may lead to as well

	placing sync.Once
	firsts  map[note.ID]int // see where

	synced atomic.Bool // all that is derived of the docs is there
	gaps   gaps

	resolving sync.Once

	mu      sync.Mutex
	finders map[*collection]*note.Resolver // see keptResolvers
	text    *index.View
	cards   []*card
	names   *table[string] // by folded title, file name, alias
	dates   map[*repo]*gitstore.Dates
	dated   []*dated // by doc
	links   *linkGraph
	alike   *overlaps
	held    *table[holding]
	checkup *checkup
	near    map[*embed.Index]*covered // vectors, by the model they are of
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

// dayKey is today for work trees: what is not committed is dated so.
func (v *Vault) dayKey(bases []base) string {
	if !slices.ContainsFunc(bases, func(b base) bool { return b.worktree }) {
		return ""
	}
	return " " + v.now().UTC().Format(time.DateOnly)
}

// readBases returns the view of those commits or trees.
func (v *Vault) readBases(ctx context.Context, bases []base) (_ *view, err error) {
	s, err := v.sight(ctx)
	if err != nil {
		return nil, err
	}
	w := &view{v, &contents{bases: bases, whole: s.all, others: map[*collection][]string{}}}
	trees, err := w.scan(ctx)
	if err != nil {
		return nil, err
	}
	if w.draft, err = w.onlyDrafted(ctx); err != nil {
		return nil, err
	}
	w.key = fmt.Sprintf("%s\n%v %s%s%s", s.key(), w.draft, baseKey(bases), trees.key(), v.dayKey(bases))
	if old := v.cachedView(w.key); old != nil {
		return &view{v, old}, nil
	}
	listed, err := w.listSince(ctx, s)
	if err == nil && !listed {
		err = w.listAll(ctx, s, trees)
	}
	if err != nil {
		return nil, err
	}
	w.lookForGaps()
	return &view{v, v.cacheView(w.contents)}, nil
}

// listAll lists what w's commits and work trees have and s lets through.
func (w *view) listAll(ctx context.Context, s *sight, trees worktrees) error {
	for _, b := range w.bases {
		if err := w.list(ctx, s, b, trees); err != nil {
			return err
		}
	}
	if err := s.keep(ctx, w.contents); err != nil {
		return err
	}
	w.finish()
	return nil
}

// worktrees are the files on disk of the collections that are read from there.
type worktrees map[*collection]*gitstore.Tree

// key identifies what was found.
func (t worktrees) key() string {
	var ids []string
	for c, tree := range t {
		others := strings.Join(tree.Others, "\x00")
		beside := sha256.Sum256(fmt.Appendf([]byte(others), "\x00%q", tree.Problems)) // the tree itself names files alone
		ids = append(ids, fmt.Sprintf("%s %s %x", c.Name, tree.ID, beside))
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
		if s.file(c, p.Path) && !slices.Contains(w.problems, p) { // what is committed and on disk is one file
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

// finish sorts the docs, and names those of work trees.
func (w *view) finish() {
	if !slices.IsSortedFunc(w.docs, doc.compare) {
		slices.SortFunc(w.docs, doc.compare)
	}
	if !w.worktree {
		return
	}
	var list []byte
	for _, d := range w.docs {
		list = append(append(append(append(list, d.col.Name...), 0), d.path...), 0)
		list = append(list, d.blob[:]...)
	}
	sum := sha256.Sum256(list)
	w.tree = hex.EncodeToString(sum[:20])
}

// at returns the docs of that path: one per collection.
func (w *view) at(path string) (docs []int) {
	for _, c := range w.v.cols {
		if i, ok := w.find(c, path); ok {
			docs = append(docs, i)
		}
	}
	slices.Sort(docs)
	return docs
}

func (v *Vault) cachedView(key string) *contents {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.lookup(key)
}

// lookup finds a view in memory. One of which a note could not be read is left to
// those who have it: the next call tries anew.
func (v *Vault) lookup(key string) *contents {
	i := slices.IndexFunc(v.views, func(w *contents) bool { return w.key == key })
	if i < 0 {
		return nil
	}
	w := v.views[i]
	if w.gaps.any() {
		v.evict(i)
		return nil
	}
	v.views = append(slices.Delete(v.views, i, i+1), w)
	return w
}

func (v *Vault) evict(i int) {
	gone := v.views[i]
	v.views = slices.Delete(v.views, i, i+1)
	v.relations = slices.DeleteFunc(v.relations, func(r relation) bool { return r.now == gone || r.then == gone })
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
		v.evict(0)
	}
	return w
}

// forgetViews drops what is kept in memory of views.
func (v *Vault) forgetViews() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.views, v.relations = nil, nil
}

// blobs returns each blob of the view once, in order of its first doc.
func (w *view) blobs() []note.ID { return w.blobsSince(nil).ids() }

// load reads the bytes of blobs of the view.
func (w *view) load(ctx context.Context, ids []note.ID, fn func(note.ID, []byte, error) error) error {
	return w.blobsSince(nil).load(ctx, ids, fn)
}

// pass hands a blob on, and remembers when one could not be read.
func (w *view) pass(fn func(note.ID, []byte, error) error, id note.ID, src []byte, err error) error {
	if err != nil {
		w.gaps.add(id)
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
