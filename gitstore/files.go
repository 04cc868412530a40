package gitstore

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"kb/note"
)

// File is a regular file of a commit or of the work tree.
type File struct {
	Path string // relative to the listed directory, with slashes
	Blob note.ID
	Size int64 // -1 when unknown
}

// Files lists the regular files below dir ("" for all) at a commit, sorted
// bytewise, with what it left out. A dir that the commit does not have has no
// files.
func (r *Repo) Files(ctx context.Context, id CommitID, dir string) ([]File, []Problem, error) {
	c, err := r.node(id)
	if err != nil {
		return nil, nil, err
	}
	return r.TreeFiles(ctx, TreeID(c.tree), dir)
}

// TreeFiles is [Repo.Files] of a tree that need not be a commit's.
func (r *Repo) TreeFiles(ctx context.Context, id TreeID, dir string) ([]File, []Problem, error) {
	dir, err := cleanDir(dir)
	if err != nil {
		return nil, nil, err
	}
	l := listing{ctx: ctx, repo: r}
	top, instead, err := r.subtree(oid(id), dir)
	if err == nil && instead != nil {
		l.skip(".", instead.mode)
	}
	if err == nil {
		err = l.walk(top, "", 1)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("list %s at %s: %w", show(dir), id, err)
	}
	return l.files, l.problems, nil
}

// FilesSince tells how [Repo.TreeFiles] of b differs from that of a, sorted by
// path and with nothing renamed. It is false where what the listings leave out may
// be another, too.
func (r *Repo) FilesSince(ctx context.Context, a, b TreeID, dir string) ([]Change, bool, error) {
	dir, err := cleanDir(dir)
	if err != nil {
		return nil, false, err
	}
	var tops [2]oid
	for i, id := range [...]TreeID{a, b} {
		top, instead, err := r.subtree(oid(id), dir)
		if err != nil {
			return nil, false, fmt.Errorf("compare trees %s and %s: %w", a, b, err)
		}
		if instead != nil {
			return nil, false, nil
		}
		tops[i] = top
	}
	changes := []Change{}
	d := treeDiff{ctx: ctx, repo: r, found: func(c Change) { changes = append(changes, c) }}
	if err := d.trees(tops[0], tops[1], "", 1); err != nil {
		return nil, false, fmt.Errorf("compare trees %s and %s: %w", a, b, err)
	}
	slices.SortFunc(changes, func(x, y Change) int { return strings.Compare(x.Path, y.Path) })
	return changes, !d.omits, nil
}

// File returns the regular file at a path (from the repository's root) of a
// commit. None is [ErrNotFound].
func (r *Repo) File(id CommitID, path string) (File, error) {
	c, err := r.node(id)
	if err != nil {
		return File{}, err
	}
	if err := CheckPath(path, false); err != nil {
		return File{}, err
	}
	e, err := r.fileAt(c, path)
	if err != nil {
		return File{}, fmt.Errorf("find %s at %s: %w", path, id, err)
	}
	if e == nil {
		return File{}, fmt.Errorf("find %s at %s: %w", path, id, ErrNotFound)
	}
	return File{Path: path, Blob: note.ID(e.id), Size: -1}, nil
}

// listing collects what a walk over a tree finds.
type listing struct {
	ctx      context.Context
	repo     *Repo
	files    []File
	problems []Problem
	entries  int
}

// walk goes through a tree in its own order, which is that of the full paths.
func (l *listing) walk(id oid, prefix string, depth int) error {
	if err := l.ctx.Err(); err != nil {
		return err
	}
	if depth > MaxDepth {
		l.problems = append(l.problems, Problem{prefix, ProblemTooDeep, fmt.Sprintf("more than %d directories deep", MaxDepth)})
		return nil
	}
	t, err := l.repo.treeOf(id)
	if err != nil {
		return err
	}
	if l.entries += len(t.entries) + len(t.problems); l.entries > maxEntries {
		return fmt.Errorf("%w: more than %d entries", ErrTooLarge, maxEntries)
	}
	for _, p := range t.problems {
		p.Path = prefix + p.Path
		l.problems = append(l.problems, p)
	}
	for i := range t.entries {
		if err := l.entry(&t.entries[i], prefix, depth); err != nil {
			return err
		}
	}
	return nil
}

func (l *listing) entry(e *treeEntry, prefix string, depth int) error {
	path := prefix + e.name
	switch e.mode {
	case modeDir:
		return l.walk(e.id, path+"/", depth+1)
	case modeFile, modeExec:
		l.files = append(l.files, File{Path: path, Blob: note.ID(e.id), Size: -1})
	default:
		l.skip(path, e.mode)
	}
	return nil
}

// skip notes an entry that is neither file nor directory.
func (l *listing) skip(path string, m mode) {
	switch m {
	case modeLink:
		l.problems = append(l.problems, Problem{path, ProblemSymlink, "a symbolic link; it is not followed"})
	case modeSubmodule:
		l.problems = append(l.problems, Problem{path, ProblemSubmodule, "a submodule; it is a repository of its own"})
	}
}

// cleanDir checks a directory given by a caller; "" and "." are the root.
func cleanDir(dir string) (string, error) {
	if dir == "" || dir == "." {
		return "", nil
	}
	return dir, CheckPath(dir, false)
}

// show names a directory in an error.
func show(dir string) string {
	if dir == "" {
		return "the root"
	}
	return dir
}
