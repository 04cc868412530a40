package gitstore

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/format/index"

	"kb/note"
)

// maxIndex is more than the index of any repository of notes has.
const maxIndex = 1 << 28

// sparse adds the files that a sparse checkout leaves out of the work tree, as the
// index has them: they are not deleted. An index with whole directories left out
// (index.sparse) is not understood; then they are taken as deleted, and a Problem
// says so.
func (s *scan) sparse(t *Tree) error {
	if _, err := os.Lstat(filepath.Join(s.repo.gitDir, "info", "sparse-checkout")); err != nil {
		return nil // it never was one
	}
	entries, err := s.repo.indexEntries()
	if errors.Is(err, index.ErrUnknownExtension) {
		s.problems = append(s.problems, Problem{".", ProblemSparse, "a sparse index; git sparse-checkout reapply --no-sparse-index makes one that is understood"})
		return nil
	}
	if err != nil {
		return err
	}
	there := make(map[string]bool, len(t.Files))
	for _, f := range t.Files {
		there[f.Path] = true
	}
	for _, e := range entries {
		path, below := strings.CutPrefix(e.Name, s.prefix)
		if !e.SkipWorktree || !below || there[path] || CheckPath(e.Name, false) != nil ||
			e.Mode != filemode.Regular && e.Mode != filemode.Executable {
			continue
		}
		if s.keep != nil && !s.keep(path) {
			s.others = append(s.others, path)
			continue
		}
		t.Files = append(t.Files, File{path, note.ID(e.Hash), -1})
	}
	return nil
}

// indexEntries reads the index, nothing where there is none.
func (r *Repo) indexEntries() ([]*index.Entry, error) {
	name := filepath.Join(r.gitDir, "index")
	info, err := os.Stat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if info.Size() > maxIndex {
		return nil, fmt.Errorf("%s: %w", name, ErrTooLarge)
	}
	raw, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	var x index.Index
	if err := index.NewDecoder(bytes.NewReader(raw)).Decode(&x); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return x.Entries, nil
}
