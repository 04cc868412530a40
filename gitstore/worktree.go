package gitstore

import (
	"cmp"
	"context"
	"crypto/sha1"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"kb/note"
)

// Options say what of a work tree is wanted.
type Options struct {
	Dir   string                 // below the root of the work tree; "" for all of it
	Keep  func(path string) bool // which paths, relative to Dir; nil for all. Others are only named
	Cache StatCache              // nil for none: then every file is read
}

// Tree is a work tree as it would be if it were committed.
type Tree struct {
	Base     CommitID // the commit that HEAD named; zero on an unborn branch
	ID       TreeID   // equal for equal Files; no object of git
	Files    []File   // sorted bytewise
	Others   []string // paths of the regular files that Options.Keep refused, sorted; nothing else is known of them
	Problems []Problem
}

// Worktree lists the regular files of the work tree: those that HEAD's commit
// has, and those that are not ignored, each with the hash that `git add` would
// give it (line ends converted as core.autocrlf and the attributes text and eol
// ask; filters are not run). What is staged does not matter. Files that a sparse
// checkout leaves out are those of the index. Nothing is written.
//
// The work tree may change meanwhile: each file's hash is that of bytes which it
// held at some moment of the call, and a file that vanishes is absent. What
// cannot be read is a Problem.
func (r *Repo) Worktree(ctx context.Context, o Options) (*Tree, error) {
	if r.workTree == "" {
		return nil, fmt.Errorf("%s: %w", r.gitDir, ErrNoWorkTree)
	}
	dir, err := cleanDir(o.Dir)
	if err != nil {
		return nil, err
	}
	root, err := r.openRoot()
	if err != nil {
		return nil, fmt.Errorf("open work tree: %w", err)
	}
	t := &Tree{Files: []File{}}
	_, t.Base, err = r.Head()
	if err != nil && !errors.Is(err, ErrUnborn) {
		return nil, err
	}
	s := scan{ctx: ctx, repo: r, root: root, keep: o.Keep, cache: o.Cache, prefix: dir}
	if dir != "" {
		s.prefix += "/"
	}
	if err := s.run(t, dir); err != nil {
		return nil, fmt.Errorf("list work tree %s: %w", r.workTree, err)
	}
	return t, nil
}

// HasDir reports whether the files of a directory belong to the work tree: it is
// there, and no rule ignores it.
func (r *Repo) HasDir(ctx context.Context, dir string) (bool, error) {
	dir, err := cleanDir(dir)
	if err != nil || r.workTree == "" {
		return false, err
	}
	root, err := r.openRoot()
	if err != nil {
		return false, fmt.Errorf("open work tree: %w", err)
	}
	_, base, err := r.Head()
	if err != nil && !errors.Is(err, ErrUnborn) {
		return false, err
	}
	s := scan{ctx: ctx, repo: r, root: root}
	_, ok, err := s.descend(base, dir)
	return ok, err
}

// openRoot opens the work tree once, so that no symbolic link leads out of it.
func (r *Repo) openRoot() (*os.Root, error) {
	r.rootOnce.Do(func() { r.root, r.rootErr = os.OpenRoot(r.workTree) })
	return r.root, r.rootErr
}

// run walks, hashes, and fills t.
func (s *scan) run(t *Tree, dir string) error {
	top, ok, err := s.descend(t.Base, dir)
	if err == nil && ok {
		err = s.walk(top)
	}
	if err == nil {
		err = s.hash()
	}
	if err != nil {
		return err
	}
	for i := range s.found {
		if c := &s.found[i]; c.present {
			t.Files = append(t.Files, File{c.path[len(s.prefix):], c.hash, c.size})
		}
	}
	if err := s.sparse(t); err != nil {
		return err
	}
	slices.SortFunc(t.Files, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	slices.SortFunc(s.problems, func(a, b Problem) int {
		return cmp.Or(strings.Compare(a.Path, b.Path), strings.Compare(a.Code, b.Code))
	})
	slices.Sort(s.others)
	t.Problems, t.Others = s.problems, s.others
	t.ID = listID(t.Files)
	return nil
}

// listID names a list of files by its paths and blobs.
func listID(files []File) TreeID {
	h := sha1.New()
	var line []byte
	for _, f := range files {
		line = append(append(append(line[:0], f.Path...), 0), f.Blob[:]...)
		h.Write(line)
	}
	return TreeID(h.Sum(nil))
}

// InWorktree reports whether the work tree has something at a path, which is
// given from its root, tracked or not.
func (r *Repo) InWorktree(name string) bool {
	if r.workTree == "" || CheckPath(name, false) != nil {
		return false
	}
	root, err := r.openRoot()
	if err != nil {
		return false
	}
	_, err = root.Lstat(filepath.FromSlash(name))
	return err == nil
}

// ReadWorktree returns the bytes of a work tree file, its path given from the
// root of the work tree, as they were when they had the hash want: line ends
// are converted if that is what gives it. If the file does not have that hash
// any more, or is gone, the error wraps [ErrChanged].
func (r *Repo) ReadWorktree(name string, want note.ID) ([]byte, error) {
	if r.workTree == "" {
		return nil, fmt.Errorf("%s: %w", r.gitDir, ErrNoWorkTree)
	}
	if err := CheckPath(name, false); err != nil {
		return nil, err
	}
	root, err := r.openRoot()
	if err != nil {
		return nil, fmt.Errorf("open work tree: %w", err)
	}
	info, err := root.Lstat(filepath.FromSlash(name))
	if err == nil && !info.Mode().IsRegular() {
		return nil, fmt.Errorf("read %s: %w: it is not a regular file any more", name, ErrChanged)
	}
	var src []byte
	if err == nil {
		src, err = readAs(root, name, info)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("read %s: %w: it is gone", name, ErrChanged)
	case err != nil:
		return nil, fmt.Errorf("read %s: %w", name, err)
	case note.Hash(src) == want:
		return src, nil
	}
	if lf, _ := r.toGit(src, eolText, note.ID{}); note.Hash(lf) == want {
		return lf, nil
	}
	return nil, fmt.Errorf("read %s: %w", name, ErrChanged)
}
