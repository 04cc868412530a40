package gitstore

import (
	"container/heap"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/go-git/go-git/v5/plumbing/filemode"

	"kb/note"
)

// Past is what history tells of the regular files of a commit. It is a plain
// value, made to be stored.
type Past struct {
	Commit CommitID
	Files  map[string]FilePast // by path from the repository's root
	Gaps   bool                // files were missing, as in a partial clone: renames with changes may be
}

// FilePast is the history of one file, across renames.
type FilePast struct {
	Versions []PastVersion // newest first, at most the limit
	More     bool          // there are older ones
	Names    []FormerName  // paths that it had before, newest first, at most mostNames
}

// PastVersion is a commit that changed a file, or gave it another name.
type PastVersion struct {
	Commit CommitID
	Path   string // of the file in that commit; "" for the path that it has now
	Blob   note.ID
}

// FormerName is a path that a file had before.
type FormerName struct {
	Path string
	When int64 // the committer date, in Unix seconds, of the last version under it
}

const (
	mostNames = 32
	// mostAlike bounds the comparisons for one commit: one that removes and adds
	// more is a reorganisation, of which only the files of equal bytes are followed.
	mostAlike = 1024
)

// Pasts finds the past of every regular file at a commit in one walk of its
// history, with at most limit versions of each. It simplifies history as Log
// does, and follows a file to an old path from which it was renamed, be it with
// changes that leave at least half of it. Where two files come from one, by renames
// on different lines of a merge, its past is that of both; within one commit it is
// that of the file that kept the name.
//
// known, which may be nil, returns what Pasts made of an ancestor with the same
// limit; the walk goes no further there.
func (r *Repo) Pasts(ctx context.Context, id CommitID, limit int, known func(CommitID) (*Past, bool)) (*Past, error) {
	w := pastWalk{repo: r, ctx: ctx, known: known, limit: limit, queue: map[CommitID]*pastPoint{}}
	p, err := w.run(id)
	if err != nil {
		return nil, fmt.Errorf("follow the files of %s: %w", id, err)
	}
	return p, nil
}

// pastWalk goes from a commit to its ancestors, newest first.
type pastWalk struct {
	repo    *Repo
	ctx     context.Context
	known   func(CommitID) (*Past, bool)
	limit   int
	shallow map[CommitID]bool
	gaps    bool

	paths []string   // by file
	pasts []FilePast // by file
	queue map[CommitID]*pastPoint
	heap  pastHeap

	leaves func(*graphCommit) bool // nil, or tells where the walk is to end with errFar
}

// pastPoint is a commit that the walk has yet to visit, with the files that it is
// to explain, by their paths there.
type pastPoint struct {
	commit *graphCommit
	files  pastFiles
}

// pastFiles tells which of the files in question a path of some commit has become:
// one, but for those that different lines of a merge renamed differently.
type pastFiles map[string][]int

func (f pastFiles) add(path string, files []int) {
	if f[path] == nil {
		f[path] = files
		return
	}
	for _, n := range files {
		if !slices.Contains(f[path], n) {
			f[path] = append(slices.Clip(f[path]), n)
		}
	}
}

func (w *pastWalk) run(id CommitID) (*Past, error) {
	files, _, err := w.repo.Files(w.ctx, id, "")
	if err != nil {
		return nil, err
	}
	paths := make([]string, len(files))
	for i, f := range files {
		paths[i] = f.Path
	}
	return w.follow(id, paths)
}

// follow finds the past of the files at paths of a commit.
func (w *pastWalk) follow(id CommitID, paths []string) (_ *Past, err error) {
	if w.shallow, err = w.repo.shallow(); err != nil {
		return nil, err
	}
	w.paths, w.pasts = paths, make([]FilePast, len(paths))
	all := make(pastFiles, len(paths))
	for i, path := range paths {
		all[path] = []int{i}
	}
	if err := w.give(id, all); err != nil {
		return nil, err
	}
	for len(w.heap) > 0 {
		p := heap.Pop(&w.heap).(*pastPoint)
		delete(w.queue, p.commit.id)
		if err := w.visit(p); err != nil {
			return nil, err
		}
	}
	out := &Past{Commit: id, Files: make(map[string]FilePast, len(paths)), Gaps: w.gaps}
	for i, path := range w.paths {
		out.Files[path] = w.pasts[i]
	}
	return out, nil
}

// give makes a commit responsible for files, of which it takes possession.
func (w *pastWalk) give(id CommitID, files pastFiles) error {
	if len(files) == 0 {
		return nil
	}
	if p := w.queue[id]; p != nil {
		for path, become := range files {
			p.files.add(path, become)
		}
		return nil
	}
	c, err := w.repo.node(id)
	if err != nil {
		return err
	}
	p := &pastPoint{c, files}
	w.queue[id] = p
	heap.Push(&w.heap, p)
	return nil
}

// visit explains the files of a commit, or passes them on to its parents.
func (w *pastWalk) visit(p *pastPoint) error {
	if err := w.ctx.Err(); err != nil {
		return err
	}
	if w.leaves != nil && w.leaves(p.commit) {
		return errFar
	}
	if w.known != nil {
		if known, ok := w.known(p.commit.id); ok {
			if err := w.takeOver(p.files, known); err != nil {
				return err
			}
		}
	}
	if len(p.files) == 0 {
		return nil
	}
	parents := p.commit.parents
	if w.shallow[p.commit.id] {
		parents = nil
	}
	return w.passOn(p, parents)
}

// passOn gives each file to the first parent that has it unchanged, and one that
// differs from all, as a version, to every one that has it.
func (w *pastWalk) passOn(p *pastPoint, parents []CommitID) error {
	mine := p.files
	older := make([]map[string]string, len(parents)) // where a parent has what differs, by its path here
	for i, parent := range parents {
		if len(mine) == 0 {
			break
		}
		from, err := w.differing(parent, p.commit, mine)
		if err != nil {
			return err
		}
		left := make(pastFiles, len(from))
		for path := range from {
			left[path] = mine[path]
			delete(mine, path)
		}
		if err := w.give(parent, mine); err != nil {
			return err
		}
		mine, older[i] = left, from
	}
	for _, path := range slices.Sorted(maps.Keys(mine)) {
		file, err := w.repo.fileAt(p.commit, path)
		if err != nil {
			return err
		}
		for _, n := range mine[path] {
			w.record(n, PastVersion{p.commit.id, path, note.ID(file.id)})
			w.addName(n, FormerName{path, p.commit.when})
		}
	}
	for i, parent := range parents {
		files := pastFiles{}
		for path, become := range mine {
			if from := older[i][path]; from != "" {
				files.add(from, become)
			}
		}
		if err := w.give(parent, files); err != nil {
			return err
		}
	}
	return nil
}

// differing tells where a parent has those of a commit's files that are not as
// they were there; "" if it has not.
func (w *pastWalk) differing(parent CommitID, c *graphCommit, mine pastFiles) (map[string]string, error) {
	pc, err := w.repo.node(parent)
	if err != nil {
		return nil, err
	}
	changes, err := w.repo.diffTrees(w.ctx, oid(pc.tree), oid(c.tree))
	if err != nil {
		return nil, err
	}
	from := map[string]string{}
	left := map[string]change{} // what may be a rename with changes, whoever asks: of whose past it is does not depend on that
	added := false
	for _, ch := range changes {
		_, is := mine[ch.Path]
		switch {
		case ch.Kind == Removed:
			left[ch.Path] = change{old: rawEntry{oid(ch.Old), filemode.Regular}}
		case ch.Kind == Added:
			left[ch.Path] = change{now: rawEntry{oid(ch.New), filemode.Regular}}
			if is {
				from[ch.Path], added = "", true
			}
		case !is:
		case ch.Kind == Renamed:
			from[ch.Path] = ch.From
		default:
			from[ch.Path] = ch.Path
		}
	}
	if !added {
		return from, nil
	}
	names, gaps, err := w.repo.renamesAmong(w.ctx, left)
	w.gaps = w.gaps || gaps
	for was, now := range names {
		if _, is := mine[now]; is {
			from[now] = was
		}
	}
	return from, err
}

// renamesAmong pairs what was removed with what was added, by how alike they are.
// Files that are missing are left out; gaps reports that there are such.
func (r *Repo) renamesAmong(ctx context.Context, changes map[string]change) (names map[string]string, gaps bool, err error) {
	removed := map[string]change{}
	for path, c := range changes {
		if c.removed() {
			removed[path] = c
		}
	}
	if n := len(removed) * (len(changes) - len(removed)); n == 0 || n > mostAlike {
		return nil, false, nil
	}
	s := renameSearch{merger: newMerger(ctx, r), changes: changes, other: removed, names: map[string]string{}, taken: map[string]bool{}, lenient: true}
	err = s.run(oid{})
	return s.names, s.missed, err
}

// record adds a version.
func (w *pastWalk) record(n int, v PastVersion) {
	p := &w.pasts[n]
	if v.Path == w.paths[n] {
		v.Path = ""
	}
	if len(p.Versions) == w.limit {
		p.More = true
		return
	}
	p.Versions = append(p.Versions, v)
}

func (w *pastWalk) addName(n int, name FormerName) {
	p := &w.pasts[n]
	if name.Path == w.paths[n] || len(p.Names) == mostNames || slices.ContainsFunc(p.Names, func(had FormerName) bool { return had.Path == name.Path }) {
		return
	}
	p.Names = append(p.Names, name)
}

// takeOver adds what is known of an ancestor's files and takes those from the
// walk, but for files that it follows on another line too: their versions are yet
// to be put in order.
func (w *pastWalk) takeOver(files pastFiles, known *Past) error {
	places := map[int]int{} // at which a file is followed
	count := func(files pastFiles) {
		for _, become := range files {
			for _, n := range become {
				places[n]++
			}
		}
	}
	count(files)
	for _, p := range w.queue {
		count(p.files)
	}
	for path, become := range files {
		was, ok := known.Files[path]
		if !ok {
			continue
		}
		var left []int
		for _, n := range become {
			if places[n] > 1 {
				left = append(left, n)
			} else if err := w.extend(n, path, was); err != nil {
				return err
			}
		}
		if left == nil {
			delete(files, path)
		} else {
			files[path] = left
		}
	}
	return nil
}

// extend adds the past that a file had under a path, and that path: its own past
// does not name it.
func (w *pastWalk) extend(n int, path string, was FilePast) error {
	if len(was.Versions) > 0 {
		c, err := w.repo.node(was.Versions[0].Commit)
		if err != nil {
			return err
		}
		w.addName(n, FormerName{path, c.when})
	}
	for _, v := range was.Versions {
		if v.Path == "" {
			v.Path = path
		}
		w.record(n, v)
	}
	w.pasts[n].More = w.pasts[n].More || was.More
	for _, name := range was.Names {
		w.addName(n, name)
	}
	return nil
}

// pastHeap orders commits as pointHeap does.
type pastHeap []*pastPoint

func (h pastHeap) Len() int           { return len(h) }
func (h pastHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h pastHeap) Less(i, j int) bool { return h[i].commit.newer(h[j].commit) }
func (h *pastHeap) Push(x any)        { *h = append(*h, x.(*pastPoint)) }
func (h *pastHeap) Pop() any {
	old := *h
	p := old[len(old)-1]
	*h = old[:len(old)-1]
	return p
}
