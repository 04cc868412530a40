package gitstore

import (
	"context"
	"errors"
	"fmt"

	"kb/internal/diff"
)

// Origin says where a line comes from: the commit that wrote it, and the file
// and line that it was there.
type Origin struct {
	Commit CommitID
	Path   string // from the repository's root
	Line   int    // from 1
}

// Blame returns the origin of each line of the file at a path (from the
// repository's root) as of a commit. A line is a parent's if the comparison of
// the two texts has it in both; a merge gives each line to the first parent that
// has it. Renames are followed where the file was not changed by them. Where a
// shallow clone ends, lines are its oldest commit's. A file that is not there is
// [ErrNotFound].
func (r *Repo) Blame(ctx context.Context, id CommitID, path string) ([]Origin, error) {
	text, err := r.textAt(id, path)
	if err != nil {
		return nil, fmt.Errorf("blame %s: %w", path, err)
	}
	b := blame{ctx: ctx, repo: r, origins: make([]Origin, len(diff.Lines(text)))}
	all := make([]blamed, len(b.origins))
	for i := range all {
		all[i] = blamed{i, i}
	}
	b.pass(id, path, all)
	for len(b.queue) > 0 && err == nil {
		next := b.queue[len(b.queue)-1]
		b.queue = b.queue[:len(b.queue)-1]
		err = b.step(next)
	}
	if err != nil {
		return nil, fmt.Errorf("blame %s at %s: %w", path, id, err)
	}
	return b.origins, nil
}

// blamed is a line of the file that was asked for, and where it is in the version
// that is looked at.
type blamed struct{ asked, here int }

type blame struct {
	ctx     context.Context
	repo    *Repo
	origins []Origin
	queue   []blamePoint
}

// blamePoint is a version that has lines whose origin is not known yet.
type blamePoint struct {
	id    CommitID
	path  string
	lines []blamed
}

func (b *blame) pass(id CommitID, path string, lines []blamed) {
	if len(lines) > 0 {
		b.queue = append(b.queue, blamePoint{id, path, lines})
	}
}

// step finds the commit that made the version, gives its parents what they have
// of the lines, and leaves it the others.
func (b *blame) step(p blamePoint) error {
	versions, err := b.repo.Log(b.ctx, p.id, p.path, 1)
	if err != nil {
		return err
	}
	made := versions[0]
	now, err := b.repo.Blob(made.Blob)
	if err != nil {
		return err
	}
	lines := p.lines
	for _, parent := range made.Commit.Parents {
		path, err := b.pathBefore(parent, made)
		if err != nil || path == "" {
			if err != nil {
				return err
			}
			continue
		}
		old, err := b.repo.textAt(parent, path)
		if err != nil {
			return err
		}
		var theirs []blamed
		theirs, lines = inherit(old, now, lines)
		b.pass(parent, path, theirs)
	}
	for _, l := range lines {
		b.origins[l.asked] = Origin{made.Commit.ID, made.Path, l.here + 1}
	}
	return nil
}

// pathBefore is where a parent has the file of a version, "" for nowhere.
func (b *blame) pathBefore(parent CommitID, v Version) (string, error) {
	_, err := b.repo.File(parent, v.Path)
	switch {
	case err == nil:
		return v.Path, nil
	case !errors.Is(err, ErrNotFound):
		return "", err
	}
	from, err := b.repo.renamedFrom(b.ctx, parent, v.Commit.ID, v.Path)
	if from == v.Path {
		from = ""
	}
	return from, err
}

// inherit parts lines into those that the old text has, with their places there,
// and the rest.
func inherit(old, now []byte, lines []blamed) (theirs, ours []blamed) {
	kept := diff.Kept(old, now)
	for _, l := range lines {
		if there, ok := kept[l.here]; ok {
			theirs = append(theirs, blamed{l.asked, there})
		} else {
			ours = append(ours, l)
		}
	}
	return theirs, ours
}

// textAt reads a file of a commit.
func (r *Repo) textAt(id CommitID, path string) ([]byte, error) {
	f, err := r.File(id, path)
	if err != nil {
		return nil, err
	}
	return r.Blob(f.Blob)
}
