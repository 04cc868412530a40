package vault

import (
	"context"
	"errors"
	"fmt"

	"kb/gitstore"
	"kb/note"
)

// sight decides which notes a call sees. It is the only place that does: a view
// is made of what its caller's sight lets through, and what is read beside a view
// - drafts, versions - asks it, too.
//
// A note is judged by the configuration as it is now and by its frontmatter, both
// as read and as it stands at the same path of the base branch now: what was
// made private is private at every commit, and a draft shows nothing that its
// base hides. A note that is hidden now is hidden under the paths that it had
// before, too, and by its bytes; see [bygone]. Where the base branch has no such
// path any more, a note of the past is known by its title as well; see [sight.past].
type sight struct {
	v *Vault
	scope
	now *standing
	was *bygone // nil until it is asked for
}

// standing is the notes of the base branches, and what they say of themselves.
type standing struct {
	key    string // the branches' commits
	tips   map[*repo]gitstore.CommitID
	docs   []doc
	claims map[docKey]*claim
}

// sight of v's caller.
func (v *Vault) sight(ctx context.Context) (*sight, error) {
	s := &sight{v: v, scope: v.scope(), now: &standing{}}
	if s.all {
		return s, nil
	}
	var err error
	s.now, err = v.baseClaims(ctx)
	return s, err
}

// paths is the sight of v's caller as far as paths alone tell.
func (v *Vault) paths() *sight { return &sight{v: v, scope: v.scope(), now: &standing{}} }

// key names all that s depends on beside the configuration.
func (s *sight) key() string { return s.scope.key() + "\n" + s.now.key }

// baseClaims reads the base branches, unless that is known already.
func (v *Vault) baseClaims(ctx context.Context) (*standing, error) {
	tips, key := map[*repo]gitstore.CommitID{}, ""
	for _, r := range v.repos {
		tip, err := v.baseBranch(r)
		if errors.Is(err, gitstore.ErrUnborn) || errors.Is(err, gitstore.ErrNoRevision) {
			continue
		}
		if err != nil {
			return nil, errorf(Internal, "find the branch that drafts start from: %w", err)
		}
		tips[r] = tip
		key += fmt.Sprintf("%s %s\n", r.GitDir(), tip)
	}
	v.mu.Lock()
	known := v.stands
	v.mu.Unlock()
	if known != nil && known.key == key {
		return known, nil
	}
	st := &standing{key: key, tips: tips, claims: map[docKey]*claim{}}
	for r, tip := range tips {
		if err := v.addStanding(ctx, st, r, tip); err != nil {
			return nil, err
		}
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.stands = st
	return st, nil
}

// addStanding reads one repository. A note that says nothing, where the usual is
// that everybody sees it, need not be known.
func (v *Vault) addStanding(ctx context.Context, st *standing, r *repo, tip gitstore.CommitID) error {
	var docs []doc
	for _, c := range r.cols {
		files, _, err := r.Files(ctx, tip, c.dir)
		if err != nil {
			return errorf(Internal, "list %s at %s: %w", c.Name, tip, err)
		}
		for _, f := range files {
			if c.names(f.Path) {
				docs = append(docs, doc{col: c, path: f.Path, blob: f.Blob})
			}
		}
	}
	claims, err := v.claims(ctx, docs)
	if err != nil {
		return err
	}
	st.docs = append(st.docs, docs...)
	for _, d := range docs {
		if says := claims[d.blob]; says != nil || d.col.usual() != Public {
			st.claims[docKey{d.col, d.path}] = says
		}
	}
	return nil
}

// file reports whether a file that is no note is seen: what the configuration
// says of its path decides.
func (s *sight) file(c *collection, p string) bool {
	return s.all || s.admits(s.v.level(c, p, nil), nil)
}

// path reports whether a note at a path may be seen, as far as the path tells.
func (s *sight) path(c *collection, p string) bool {
	return s.all || s.sees.reaches(s.v.byPath(c, p).stricter(Public))
}

// claimed reports whether a note that says so of itself is seen.
func (s *sight) claimed(c *collection, p string, says *claim) bool {
	if s.all {
		return true
	}
	if !s.admits(s.v.level(c, p, says), says.owners()) {
		return false
	}
	now, stands := s.now.claims[docKey{c, p}]
	return !stands || s.admits(s.v.level(c, p, now), now.owners())
}

func (c *claim) owners() []string {
	if c == nil {
		return nil
	}
	return c.Owners
}

// note reports whether the note of those bytes is seen at a path.
func (s *sight) note(ctx context.Context, c *collection, p string, blob note.ID) (bool, error) {
	if s.all {
		return true, nil
	}
	d := doc{col: c, path: p, blob: blob}
	claims, err := s.v.claims(ctx, []doc{d})
	if err != nil || !s.claimed(c, p, claims[blob]) {
		return false, err
	}
	b, err := s.bygones(ctx)
	return err == nil && !b.has(d), err
}

// change reports whether all of a change of a repository is seen: the note or
// file as it is, and as it was. What is outside every collection is not.
func (s *sight) change(ctx context.Context, r *repo, change gitstore.Change) (bool, error) {
	if s.all {
		return true, nil
	}
	from := change.From
	if from == "" {
		from = change.Path
	}
	seen, err := s.repoFile(ctx, r, change.Path, change.New)
	if err != nil || !seen {
		return false, err
	}
	return s.repoFile(ctx, r, from, change.Old)
}

// repoFile reports whether a file of a repository, note or not, is seen: in each
// collection that has it, where they nest. A zero blob is that of no file.
func (s *sight) repoFile(ctx context.Context, r *repo, full string, blob note.ID) (bool, error) {
	if s.all {
		return true, nil
	}
	found := false
	for _, c := range r.cols {
		p, inside := c.within(full)
		if !inside {
			continue
		}
		found = true
		seen, err := s.path(c, p), error(nil)
		switch {
		case !c.names(p):
			seen = s.file(c, p)
		case !blob.IsZero():
			seen, err = s.note(ctx, c, p, blob)
		case seen:
			var b *bygone
			b, err = s.bygones(ctx)
			seen = err == nil && !b.has(doc{col: c, path: p})
		}
		if err != nil || !seen {
			return false, err
		}
	}
	return found, nil
}

// keep removes from w what s does not let through. w lists its docs as far as
// their paths tell.
func (s *sight) keep(ctx context.Context, w *contents) error {
	if s.all {
		return nil
	}
	claims, err := s.v.claims(ctx, append(w.gone, w.docs...))
	if err != nil {
		return err
	}
	seen := func(docs []doc) (kept []doc) {
		for _, d := range docs {
			if says := claims[d.blob]; s.claimed(d.col, d.path, says) {
				kept = append(kept, d)
			} else if says != nil && says.unread {
				w.gaps.add(d.blob)
			}
		}
		return kept
	}
	if w.docs, err = s.withoutBygone(ctx, seen(w.docs)); err != nil {
		return err
	}
	if w.gone, err = s.withoutBygone(ctx, seen(w.gone)); err != nil {
		return err
	}
	if w.draft { // its notes may bear any title
		return nil
	}
	w.docs, err = s.withoutRenamed(ctx, w.docs)
	return err
}
