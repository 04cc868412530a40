package vault

import (
	"context"
	"errors"
	"maps"
	"strings"

	"kb/gitstore"
	"kb/note"
)

// ground is what a change of a collection is made on: the tip of a draft, or for
// a new draft the commit that it starts from. It costs what the draft changed,
// not what the collection holds: the rest is the view of the branch that drafts
// start from, which is kept.
type ground struct {
	*view
	col     *collection
	on      gitstore.CommitID
	tip     gitstore.CommitID  // of the branch that drafts start from
	drafted map[string]note.ID // notes that stand otherwise at on than in the view; zero: gone
}

// ground reads what a change is made on. tip is that of the branch that drafts
// start from.
func (v *Vault) ground(ctx context.Context, c *collection, on, tip gitstore.CommitID) (*ground, error) {
	w, err := v.readBases(ctx, []base{{repo: c.repo, commit: tip}})
	if err != nil {
		return nil, err
	}
	g := &ground{view: w, col: c, on: on, tip: tip, drafted: map[string]note.ID{}}
	if on == tip {
		return g, nil
	}
	changes, err := c.repo.Diff(ctx, tip, on, c.dir)
	if err != nil {
		return nil, errorf(Internal, "compare the draft with its base: %w", err)
	}
	s, err := v.sight(ctx)
	if err != nil {
		return nil, err
	}
	came := map[string]note.ID{} // after all that went: a path may be both
	for _, change := range changes {
		seen, err := s.change(ctx, c.repo, inRepository(c, change))
		if err != nil {
			return nil, err
		}
		if change.From != "" && c.holds(change.From) {
			g.drafted[change.From] = note.ID{}
		}
		if c.holds(change.Path) && seen {
			came[change.Path] = change.New
		} else if c.holds(change.Path) {
			came[change.Path] = note.ID{} // what the caller does not see is not there
		}
	}
	maps.Copy(g.drafted, came)
	return g, nil
}

// inRepository is a change of a collection with the repository's paths.
func inRepository(c *collection, change gitstore.Change) gitstore.Change {
	change.Path = c.full(change.Path)
	if change.From != "" {
		change.From = c.full(change.From)
	}
	return change
}

// blob returns the note at a path.
func (g *ground) blob(p string) (note.ID, bool) {
	if id, ok := g.drafted[p]; ok {
		return id, !id.IsZero()
	}
	i, ok := g.docAt(g.col.Name, p)
	if !ok {
		return note.ID{}, false
	}
	return g.docs[i].blob, true
}

// bytes reads a note by its blob.
func (g *ground) bytes(id note.ID) ([]byte, error) {
	src, err := g.col.repo.Blob(id)
	if err != nil {
		return nil, errorf(Internal, "read %s: %w", id, err)
	}
	return src, nil
}

// taken reports whether a new note at p would be in the way of a file that is
// there, also for a file system that does not tell their names apart, and also if
// the user has not committed that file: it would be in the way of the merge.
func (g *ground) taken(p string) bool {
	for at, id := range g.drafted {
		if !id.IsZero() && strings.EqualFold(at, p) {
			return true
		}
	}
	for _, d := range g.docs {
		if d.col == g.col && strings.EqualFold(d.path, p) && !g.gone(d.path) {
			return true
		}
	}
	_, err := g.col.repo.File(g.on, g.col.full(p)) // a file that is no note
	return !errors.Is(err, gitstore.ErrNotFound) || g.uncommitted(p)
}

// uncommitted reports whether the work tree of the branch that drafts start from
// has a file at p, which the branch lacks.
func (g *ground) uncommitted(p string) bool {
	ref, _, err := g.v.draftBase(g.col.repo)
	if err != nil {
		return false
	}
	branch, _, err := g.col.repo.Head()
	return err == nil && branch == ref && !g.gone(p) && g.col.repo.InWorktree(g.col.full(p))
}

// gone reports whether the draft removed the note at p.
func (g *ground) gone(p string) bool {
	id, ok := g.drafted[p]
	return ok && id.IsZero()
}

// titled returns the path of the note of a title, in the branch that drafts
// start from or in the draft.
func (g *ground) titled(ctx context.Context, title string) (string, bool, error) {
	want := foldName(title)
	for at, id := range g.drafted {
		if id.IsZero() {
			continue
		}
		n, err := g.parsed(id)
		if err != nil {
			return "", false, err
		}
		if foldName(n.TitleAt(at)) == want {
			return at, true, nil
		}
	}
	names, err := g.titles(ctx)
	if err != nil {
		return "", false, err
	}
	for _, i := range names.docs(want) {
		_, changed := g.drafted[g.docs[i].path]
		if g.docs[i].col == g.col && !changed && foldName(g.titleOf(i, g.cards[i])) == want {
			return g.docs[i].path, true, nil
		}
	}
	return "", false, nil
}

// parsed returns what a note says.
func (g *ground) parsed(id note.ID) (*note.Note, error) {
	return g.v.store.note(g.v.cfg.Language, id, func() ([]byte, error) { return g.bytes(id) })
}
