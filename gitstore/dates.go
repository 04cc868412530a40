package gitstore

import (
	"bytes"
	"container/heap"
	"context"
	"encoding/gob"
	"fmt"
	"maps"
	"slices"
	"time"
)

// Dates says when the regular files of a commit were made and last changed. It
// is immutable, and can be stored with gob. Those of a commit share what they
// have in common with those of an ancestor that they were made of.
type Dates struct {
	Commit CommitID
	files  *datedFiles
	over   map[string]*Date // over files; nil for a file that is gone
}

// datedFiles are dates by path from the repository's root.
type datedFiles struct{ at map[string]Date }

// DatesOf are Dates of some files of a commit that somebody else knows.
func DatesOf(id CommitID, files map[string]Date) *Dates {
	return &Dates{Commit: id, files: &datedFiles{files}}
}

// At returns the date of the file at a path from the repository's root.
func (d *Dates) At(path string) (Date, bool) {
	if date, ok := d.over[path]; ok {
		if date == nil {
			return Date{}, false
		}
		return *date, true
	}
	date, ok := d.files.at[path]
	return date, ok
}

// Differing lists the paths at which d and o may not say the same. It is false
// when that would be most of them.
func (d *Dates) Differing(o *Dates) ([]string, bool) {
	if d.files != o.files {
		return nil, false
	}
	paths := slices.Collect(maps.Keys(d.over))
	for p := range o.over {
		if _, ok := d.over[p]; !ok {
			paths = append(paths, p)
		}
	}
	return paths, true
}

// all makes one map of d's dates.
func (d *Dates) all() map[string]Date {
	if len(d.over) == 0 {
		return d.files.at
	}
	all := maps.Clone(d.files.at)
	for path, date := range d.over {
		if date == nil {
			delete(all, path)
		} else {
			all[path] = *date
		}
	}
	return all
}

// storedDates is how Dates are stored.
type storedDates struct {
	Commit CommitID
	Files  map[string]Date
}

// GobEncode implements [gob.GobEncoder].
func (d *Dates) GobEncode() ([]byte, error) {
	var b bytes.Buffer
	err := gob.NewEncoder(&b).Encode(storedDates{d.Commit, d.all()})
	return b.Bytes(), err
}

// GobDecode implements [gob.GobDecoder].
func (d *Dates) GobDecode(data []byte) error {
	var s storedDates
	if err := gob.NewDecoder(bytes.NewReader(data)).Decode(&s); err != nil {
		return err
	}
	*d = Dates{Commit: s.Commit, files: &datedFiles{s.Files}}
	return nil
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

func (w *dateWalk) run(id CommitID) (d *Dates, err error) {
	if w.shallow, err = w.repo.shallow(); err != nil {
		return nil, err
	}
	from, changed, err := w.nearest(id)
	if err != nil {
		return nil, err
	}
	if from != nil {
		return w.update(id, from, changed)
	}
	files, _, err := w.repo.Files(w.ctx, id, "")
	if err != nil {
		return nil, err
	}
	paths := make([]string, len(files))
	for i, f := range files {
		paths[i] = f.Path
	}
	if err := w.walk(id, paths); err != nil {
		return nil, err
	}
	all := make(map[string]Date, len(paths))
	for i, path := range w.paths {
		all[path] = w.dates[i]
	}
	return &Dates{Commit: id, files: &datedFiles{all}}, nil
}

// nearest finds known dates on the line of first parents, and the paths at which
// one of the commits since differs from its first parent: whether the file is
// there at id. All others the walk would pass along that line as they are. Nil
// where the line is long, or most files changed.
func (w *dateWalk) nearest(id CommitID) (*Dates, map[string]bool, error) {
	const far, most = 200, 2000
	changed := map[string]bool{}
	for range far {
		if w.known == nil || len(changed) > most {
			break
		}
		if d, ok := w.known(id); ok && d.Commit == id {
			return d, changed, nil
		}
		c, err := w.repo.node(id)
		if err != nil {
			return nil, nil, err
		}
		if len(c.parents) == 0 || w.shallow[id] {
			break
		}
		id = c.parents[0]
		parent, err := w.repo.node(id)
		if err != nil {
			return nil, nil, err
		}
		d := treeDiff{ctx: w.ctx, repo: w.repo, modes: true, found: func(ch Change) {
			if _, later := changed[ch.Path]; !later {
				changed[ch.Path] = ch.Kind != Removed
			}
		}}
		if err := d.trees(oid(parent.tree), oid(c.tree), "", 1); err != nil {
			return nil, nil, err
		}
	}
	return nil, nil, nil
}

// update makes the dates of a commit of those that are known of an ancestor.
func (w *dateWalk) update(id CommitID, from *Dates, changed map[string]bool) (*Dates, error) {
	if id == from.Commit {
		return from, nil
	}
	var there []string
	for path, is := range changed {
		if is {
			there = append(there, path)
		}
	}
	if err := w.walk(id, there); err != nil {
		return nil, err
	}
	d := &Dates{Commit: id, files: from.files, over: make(map[string]*Date, len(from.over)+len(changed))}
	maps.Copy(d.over, from.over)
	for path := range changed {
		d.over[path] = nil
	}
	for i, path := range w.paths {
		d.over[path] = &w.dates[i]
	}
	if len(d.over) > 64+len(d.files.at)/16 {
		d.files, d.over = &datedFiles{d.all()}, nil
	}
	return d, nil
}

// walk dates the files at paths of a commit.
func (w *dateWalk) walk(id CommitID, paths []string) error {
	w.paths, w.number = paths, make(map[string]int32, len(paths))
	w.dates = make([]Date, len(paths))
	all := make(fileSet, len(paths))
	for i, path := range paths {
		w.number[path] = int32(i)
		all[int32(i)] = struct{}{}
	}
	if err := w.give(id, all); err != nil {
		return err
	}
	for len(w.heap) > 0 {
		p := heap.Pop(&w.heap).(*datePoint)
		delete(w.queue, p.commit.id)
		if err := w.visit(p); err != nil {
			return err
		}
	}
	return nil
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
		if d, ok := w.known(c.id); ok {
			w.takeOver(p.files, d)
		}
		if len(p.files) == 0 {
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

// takeOver takes dates from those of an ancestor, if it has all of them, and takes
// the files from the walk, but for those that it follows on another line too: that
// may have a newer commit that added the path.
func (w *dateWalk) takeOver(files fileSet, from *Dates) {
	for n := range files {
		if _, ok := from.At(w.paths[n]); !ok {
			return // not the Dates of this commit: walk on
		}
	}
	for n := range files {
		d := &w.dates[n]
		if !d.Commit.IsZero() && w.follows(n) {
			continue
		}
		was, _ := from.At(w.paths[n])
		if d.Commit.IsZero() {
			d.Commit, d.Updated, d.Author = was.Commit, was.Updated, was.Author
		}
		if d.Created.IsZero() {
			d.Created, d.Shallow = was.Created, was.Shallow
		}
		delete(files, n)
	}
}

// follows reports whether a commit that the walk has yet to visit carries a file.
func (w *dateWalk) follows(n int32) bool {
	for _, p := range w.heap {
		if _, ok := p.files[n]; ok {
			return true
		}
	}
	return false
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
