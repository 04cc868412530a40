package vault

import (
	"context"
	"path"
	"slices"
	"strings"
)

// found is a note that a caller named, with the view it was found in: a
// citation has a commit of its own.
type found struct {
	*view
	doc      int
	fragment string // the citation's, "" when it has none
}

// find returns the note that name means: a path where that is unique, else
// collection:path, a title, an alias, or a citation, which is read at its own
// commit. at is the view for everything else.
func (v *Vault) find(ctx context.Context, name, at string) (found, error) {
	name = strings.TrimSpace(name)
	if strings.HasPrefix(name, scheme) {
		return v.findCitation(ctx, name, at)
	}
	w, err := v.read(ctx, at)
	if err != nil {
		return found{}, err
	}
	i, err := w.findDoc(ctx, name)
	return found{view: w, doc: i}, err
}

func (v *Vault) findCitation(ctx context.Context, name, at string) (found, error) {
	c, bad := parseCitation(name)
	if bad != nil {
		return found{}, bad
	}
	if c.Commit != "" {
		at = c.Commit
	}
	if err := v.recognise(&c); err != nil {
		return found{}, err
	}
	w, err := v.read(ctx, at)
	if err != nil {
		return found{}, err
	}
	if i, ok := w.docAt(c.Collection, c.Path); ok {
		return found{view: w, doc: i, fragment: c.Fragment}, nil
	}
	return found{}, w.notFound(c.Path, []string{c.Path})
}

// recognise gives a citation the name that its collection has here: a repository
// without a configuration is called for its directory, which is another in another
// clone. If it has the commit, it is meant.
func (v *Vault) recognise(c *citation) error {
	_, err := v.collection(c.Collection)
	if err == nil || !v.cfg.Implicit || c.Commit == "" {
		return err
	}
	id, rerr := v.cols[0].repo.Resolve(c.Commit)
	if rerr != nil || !strings.HasPrefix(id.String(), c.Commit) {
		return err
	}
	c.Collection = v.cols[0].Name
	return nil
}

func (w *view) docAt(collection, p string) (int, bool) {
	for _, c := range w.v.cols {
		if c.Name == collection {
			return w.find(c, p)
		}
	}
	return 0, false
}

func (w *view) findDoc(ctx context.Context, name string) (int, error) {
	if name == "" {
		return 0, errorf(Usage, "no note is named").hint("a path, a title, an alias, or kb://…")
	}
	p := strings.TrimPrefix(path.Clean("/"+name), "/")
	for _, try := range []string{name, p, p + ".md", p + ".markdown"} {
		if docs := w.at(try); len(docs) > 0 {
			return w.only(name, docs)
		}
	}
	if col, rest, ok := strings.Cut(name, ":"); ok {
		for _, try := range []string{rest, rest + ".md"} {
			if i, ok := w.docAt(col, strings.TrimPrefix(try, "/")); ok {
				return i, nil
			}
		}
	}
	titles, err := w.titles(ctx)
	if err != nil {
		return 0, err
	}
	if docs := titles.docs(foldName(name)); len(docs) > 0 {
		return w.only(name, docs)
	}
	return 0, w.notFound(name, w.candidates(titles, name))
}

// only returns the single doc, or says which there are.
func (w *view) only(name string, docs []int) (int, error) {
	if len(docs) == 1 {
		return docs[0], nil
	}
	var names []string
	for _, i := range docs[:min(len(docs), 10)] {
		names = append(names, w.docs[i].col.Name+":"+w.docs[i].path)
	}
	return 0, errorf(Usage, "%q names %d notes", clip(name, 200), len(docs)).hint("one of: %s", strings.Join(names, ", "))
}

// candidates are the paths and titles that a mistaken name is compared with.
func (w *view) candidates(titles named, name string) []string {
	near := nearest(path.Base(name), titles.keys(), 3)
	var paths []string
	for _, n := range near {
		docs := titles.docs(n)
		for _, i := range docs[:min(2, len(docs))] {
			paths = append(paths, w.docs[i].path)
		}
	}
	return append(paths, name)
}

func keysOf[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// allPaths are the paths of the docs, each once.
func (w *view) allPaths() []string {
	paths := make([]string, len(w.docs))
	for i, d := range w.docs {
		paths[i] = d.path
	}
	slices.Sort(paths)
	return slices.Compact(paths)
}

// notFound says that there is no such note, and which there are nearby.
func (w *view) notFound(name string, near []string) *Error {
	err := errorf(NotFound, "no note %q in %s", clip(name, 200), w.short())
	near = slices.DeleteFunc(near, func(p string) bool { return len(w.at(p)) == 0 })
	for _, p := range nearest(name, w.allPaths(), 3) {
		if !slices.Contains(near, p) {
			near = append(near, p)
		}
	}
	if len(near) > 0 {
		return err.hint("did you mean %s?", strings.Join(near[:min(3, len(near))], ", "))
	}
	return err.hint("search finds a note by its words; list_sections shows where notes are")
}
