package vault

import (
	"context"
	"errors"
	"slices"
	"strings"

	"kb/gitstore"
)

// apart reports whether a path is in a directory .kb, where a vault keeps its
// prompts, templates and recipes. They are orders, not knowledge: no note of a
// collection, unless its patterns name that directory, and so in no search, count
// or site. [Vault.GetDocument] reads them by their path.
func apart(path string) bool {
	return strings.HasPrefix(path, ".kb/") || strings.Contains(path, "/.kb/")
}

// findApart returns the Markdown file that is apart at a path, as committed, if the
// caller sees it; else the error that there is no such note.
func (v *Vault) findApart(ctx context.Context, name, at string, missing error) (found, error) {
	collection, p, cited := "", strings.TrimSpace(name), citation{}
	if strings.HasPrefix(p, scheme) {
		var bad *Error
		if cited, bad = parseCitation(p); bad != nil {
			return found{}, bad
		}
		collection, p = cited.Collection, cited.Path
		if cited.Commit != "" {
			at = cited.Commit
		}
	} else if before, after, ok := strings.Cut(p, ":"); ok {
		collection, p = before, after
	}
	if !apart(p) || gitstore.CheckPath(p, false) != nil {
		return found{}, missing
	}
	w, err := v.read(ctx, at)
	if err != nil {
		return found{}, err
	}
	var docs []doc
	for _, c := range v.cols {
		if collection != "" && c.Name != collection {
			continue
		}
		d, ok, err := w.docApart(ctx, c, p)
		if err != nil {
			return found{}, err
		}
		if ok {
			docs = append(docs, d)
		}
	}
	if len(docs) == 0 {
		return found{}, missing
	}
	of := &view{v, &contents{key: w.key + "\napart", bases: w.bases, worktree: w.worktree, tree: w.tree, draft: w.draft, gone: w.gone, docs: slices.Concat(w.docs, docs)}}
	i := len(w.docs)
	if len(docs) > 1 {
		i, err = of.only(name, []int{i, i + 1})
	}
	return found{view: of, doc: i, fragment: cited.Fragment}, err
}

// docApart finds the file of a collection, as far as the caller sees it.
func (w *view) docApart(ctx context.Context, c *collection, p string) (d doc, ok bool, err error) {
	id := w.commitOf(c)
	if id.IsZero() || !c.names(p) {
		return d, false, nil
	}
	f, err := c.repo.File(id, c.full(p))
	if errors.Is(err, gitstore.ErrNotFound) {
		return d, false, nil
	}
	if err != nil {
		return d, false, errorf(Internal, "read %s: %w", p, err)
	}
	s, err := w.v.sight(ctx)
	if err != nil {
		return d, false, err
	}
	seen, err := s.past(ctx, c, p, f.Blob)
	return doc{col: c, path: p, blob: f.Blob}, seen, err
}

// protectedApart is why no draft changes a file that is apart, nil for another.
func (v *Vault) protectedApart(p string) error {
	if !apart(p) {
		return nil
	}
	return errorf(Protected, "%s is protected: programs and agents take orders from .kb", clip(p, 200)).hint("no draft changes it; a person can, with git")
}
