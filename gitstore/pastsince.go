package gitstore

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
)

// errFar ends a walk that would go beyond what it is to look at.
var errFar = errors.New("the walk leads beyond the commits in question")

// VersionsSince finds, for each file that commits after one changed, up to a
// descendant, those versions that [Repo.Pasts] of the descendant has more than that of
// the first, newest first: none for a file that is as it was on another line of a
// merge. It is false where more than versions came to be - a file came, went or has
// another mode, or what listings leave out is another - and where it cannot be told
// from these commits alone: the first is not on the descendant's line of first
// parents, or far down, or a branch that was merged since left it earlier.
func (r *Repo) VersionsSince(ctx context.Context, from, to CommitID) (map[string][]PastVersion, bool, error) {
	w := pastWalk{repo: r, ctx: ctx, limit: maxEntries, queue: map[CommitID]*pastPoint{}}
	line, paths, ok, err := r.editedSince(ctx, from, to)
	if err != nil || !ok || len(paths) == 0 {
		return nil, ok && err == nil, err
	}
	first, err := r.node(from)
	if err != nil {
		return nil, false, err
	}
	old := &Past{Commit: from, Files: map[string]FilePast{}}
	for _, path := range paths {
		old.Files[path] = FilePast{}
	}
	w.known = func(id CommitID) (*Past, bool) { return old, id == from }
	w.leaves = func(c *graphCommit) bool { return !line[c.id] && c.when <= first.when }
	past, err := w.follow(to, paths)
	if errors.Is(err, errFar) || err == nil && past.Gaps {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, fmt.Errorf("follow files from %s to %s: %w", from, to, err)
	}
	out := make(map[string][]PastVersion, len(paths))
	for path, f := range past.Files {
		out[path] = f.Versions
	}
	return out, true, nil
}

// editedSince returns the line of first parents from one commit back to another, both
// included, and the files that a commit on it has otherwise than its first parent,
// sorted. It is false where there is no such line, it is long, or more than files'
// bytes changed.
func (r *Repo) editedSince(ctx context.Context, from, to CommitID) (line map[CommitID]bool, paths []string, ok bool, err error) {
	const far, most = 200, 2000
	line, ok = map[CommitID]bool{to: true}, true
	edited := map[string]bool{}
	shallow, err := r.shallow()
	if err != nil {
		return nil, nil, false, err
	}
	for id := to; id != from; {
		c, err := r.node(id)
		if err != nil {
			return nil, nil, false, err
		}
		if len(c.parents) == 0 || shallow[id] || len(line) > far || len(edited) > most {
			return nil, nil, false, nil
		}
		id = c.parents[0]
		line[id] = true
		parent, err := r.node(id)
		if err != nil {
			return nil, nil, false, err
		}
		d := treeDiff{ctx: ctx, repo: r, modes: true, found: func(ch Change) {
			edited[ch.Path] = true
			ok = ok && ch.Kind == Changed && ch.Old != ch.New
		}}
		if err := d.trees(oid(parent.tree), oid(c.tree), "", 1); err != nil {
			return nil, nil, false, err
		}
		if !ok || d.omits {
			return nil, nil, false, nil
		}
	}
	return line, slices.Sorted(maps.Keys(edited)), true, nil
}
