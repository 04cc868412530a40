package gitstore

import (
	"container/heap"
	"context"
	"fmt"
	"maps"
	"time"
)

// Dates says when the regular files of a commit were made and last changed. It
// is a plain value, made to be stored.
type Dates struct {
	Commit CommitID
	Files  map[string]Date // by path from the repository's root
}

// Date is the history of one file in brief. Its times are committer dates, in
// UTC, the order in which commits came to be here.
type Date struct {
	Created time.Time // of the newest commit that added the path
	Updated time.Time // of Commit
	Author  string    // of Commit
	Commit  CommitID  // the last that changed the file: `git log -1 -- path`
	Shallow bool      // a shallow clone ends before the file begins: Created, and maybe the rest, is the oldest known
}

// Dates finds the dates of every regular file at a commit in one walk of its
// history. It simplifies history as git log does: a merge that left a file as
// one parent has it says nothing about the file, and the walk follows that
// parent.
//
// known, which may be nil, returns the Dates of an ancestor if the caller has
// them; the walk goes no further there. It is asked for every commit met, and
// what it returns is not changed.
func (r *Repo) Dates(ctx context.Context, id CommitID, known func(CommitID) (*Dates, bool)) (*Dates, error) {
	w := dateWalk{repo: r, ctx: ctx, known: known, queue: map[CommitID]*datePoint{}}
	d, err := w.run(id)
	if err != nil {
		return nil, fmt.Errorf("find dates at %s: %w", id, err)
	}
	return d, nil
}

// dateWalk goes from a commit to its ancestors, newest first. Each commit
// carries the files whose dates it is to explain.
type dateWalk struct {
	repo    *Repo
	ctx     context.Context
	known   func(CommitID) (*Dates, bool)
	shallow map[CommitID]bool

	paths  []string
	number map[string]int32
	dates  []Date // by number

	queue  map[CommitID]*datePoint
	heap   pointHeap
	visits int
}

// datePoint is a commit that the walk has yet to visit.
type datePoint struct {
	commit *graphCommit
	files  fileSet
}

// fileSet holds the numbers of files.
type fileSet map[int32]struct{}

func (w *dateWalk) run(id CommitID) (*Dates, error) {
	files, _, err := w.repo.Files(w.ctx, id, "")
	if err != nil {
		return nil, err
	}
	if w.shallow, err = w.repo.shallow(); err != nil {
		return nil, err
	}
	w.paths, w.number = make([]string, len(files)), make(map[string]int32, len(files))
	w.dates = make([]Date, len(files))
	all := make(fileSet, len(files))
	for i, f := range files {
		w.paths[i], w.number[f.Path] = f.Path, int32(i)
		all[int32(i)] = struct{}{}
	}
	if err := w.give(id, all); err != nil {
		return nil, err
	}
	for len(w.heap) > 0 {
		p := heap.Pop(&w.heap).(*datePoint)
		delete(w.queue, p.commit.id)
		if err := w.visit(p); err != nil {
			return nil, err
		}
	}
	d := &Dates{Commit: id, Files: make(map[string]Date, len(files))}
	for i, path := range w.paths {
		d.Files[path] = w.dates[i]
	}
	return d, nil
}

// give makes a commit responsible for files, of which it takes possession.
func (w *dateWalk) give(id CommitID, files fileSet) error {
	if len(files) == 0 {
		return nil
	}
	if p := w.queue[id]; p != nil {
		if len(p.files) < len(files) {
			p.files, files = files, p.files
		}
		maps.Copy(p.files, files)
		return nil
	}
	c, err := w.repo.node(id)
	if err != nil {
		return err
	}
	p := &datePoint{c, files}
	w.queue[id] = p
	heap.Push(&w.heap, p)
	return nil
}

// visit explains the files of a commit, or passes them on to its parents.
func (w *dateWalk) visit(p *datePoint) error {
	if err := w.ctx.Err(); err != nil {
		return err
	}
	c := p.commit
	// A file is carried along several lines after a merge that changed it, until
	// one of them explains it. Looking for such in a large set at every commit
	// would cost more than carrying them.
	if w.visits++; len(p.files) <= 64 || w.visits%64 == 0 {
		maps.DeleteFunc(p.files, func(n int32, _ struct{}) bool { return !w.dates[n].Created.IsZero() })
	}
	if len(p.files) == 0 {
		return nil
	}
	if w.known != nil {
		if d, ok := w.known(c.id); ok && w.takeOver(p.files, d) {
			return nil
		}
	}
	if len(c.parents) == 0 || w.shallow[c.id] {
		for n := range p.files {
			w.dates[n].Shallow = w.dates[n].Created.IsZero() && len(c.parents) > 0
			w.explain(n, c, true)
		}
		return nil
	}
	return w.passOn(p)
}

// passOn compares a commit with its parents. A file goes to the first parent
// that has it unchanged. One that differs from all was last changed here, and,
// unless no parent has it, was made earlier by way of every parent that does.
func (w *dateWalk) passOn(p *datePoint) error {
	c, mine := p.commit, p.files
	has := map[CommitID]fileSet{} // what a parent has, but otherwise
	for _, parent := range c.parents {
		if len(mine) == 0 {
			break
		}
		changed, had, err := w.changed(parent, c, mine)
		if err != nil {
			return err
		}
		for n := range changed {
			delete(mine, n)
		}
		if err := w.give(parent, mine); err != nil {
			return err
		}
		mine, has[parent] = changed, had
	}
	older := fileSet{}
	for parent, files := range has {
		maps.DeleteFunc(files, func(n int32, _ struct{}) bool {
			_, unexplained := mine[n]
			return !unexplained
		})
		maps.Copy(older, files)
		if err := w.give(parent, files); err != nil {
			return err
		}
	}
	for n := range mine {
		_, isOlder := older[n]
		w.explain(n, c, !isOlder)
	}
	return nil
}

// changed returns those of a commit's files that a parent has not got in the
// same state, and among them those that it has in another.
func (w *dateWalk) changed(parent CommitID, c *graphCommit, mine fileSet) (changed, had fileSet, err error) {
	pc, err := w.repo.node(parent)
	if err != nil {
		return nil, nil, err
	}
	changed, had = fileSet{}, fileSet{}
	d := treeDiff{ctx: w.ctx, repo: w.repo, modes: true, found: func(ch Change) {
		n, ok := w.number[ch.Path]
		if _, is := mine[n]; !ok || !is || ch.Kind == Removed {
			return
		}
		changed[n] = struct{}{}
		if ch.Kind == Changed {
			had[n] = struct{}{}
		}
	}}
	err = d.trees(oid(pc.tree), oid(c.tree), "", 1)
	return changed, had, err
}

// explain records that a commit changed a file, and maybe made it. The first
// commit to say so is the newest.
func (w *dateWalk) explain(n int32, c *graphCommit, made bool) {
	d, when := &w.dates[n], time.Unix(c.when, 0).UTC()
	if d.Commit.IsZero() {
		d.Commit, d.Updated, d.Author = c.id, when, c.author
	}
	if made && d.Created.IsZero() {
		d.Created = when
	}
}

// takeOver takes dates from those of an ancestor, if it has all of them.
func (w *dateWalk) takeOver(files fileSet, from *Dates) bool {
	for n := range files {
		if _, ok := from.Files[w.paths[n]]; !ok {
			return false // not the Dates of this commit: walk on
		}
	}
	for n := range files {
		d, was := &w.dates[n], from.Files[w.paths[n]]
		if d.Commit.IsZero() {
			d.Commit, d.Updated, d.Author = was.Commit, was.Updated, was.Author
		}
		if d.Created.IsZero() {
			d.Created, d.Shallow = was.Created, was.Shallow
		}
	}
	return true
}

// pointHeap orders commits newest first; equal dates by hash, so that every
// walk is the same.
type pointHeap []*datePoint

func (h pointHeap) Len() int      { return len(h) }
func (h pointHeap) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *pointHeap) Push(x any)   { *h = append(*h, x.(*datePoint)) }
func (h *pointHeap) Pop() any {
	old := *h
	p := old[len(old)-1]
	*h = old[:len(old)-1]
	return p
}

func (h pointHeap) Less(i, j int) bool { return h[i].commit.newer(h[j].commit) }

// newer orders commits as walks visit them.
func (c *graphCommit) newer(than *graphCommit) bool {
	if c.when != than.when {
		return c.when > than.when
	}
	return string(c.id[:]) < string(than.id[:])
}
