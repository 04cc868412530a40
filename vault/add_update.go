package vault

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"

	"kb/draft"
	"kb/gitstore"
	"kb/note"
)

// update plans what becomes of a note whose source is read again.
func (a *adding) update(ctx context.Context, n *Import, x *imported, done *AddedNote) error {
	id, ok := a.g.blob(done.Path)
	if !ok && a.stale[done.Path] {
		return a.ahead(x, done)
	}
	src, err := a.g.bytes(id)
	if err != nil {
		return err
	}
	head, body, now := splitNote(src)
	done.Title = now.TitleAt(done.Path)
	was := a.records[done.Path].hash
	if was == x.hash {
		why := "unchanged"
		if bodyHash(body) != x.hash {
			why = "the source is unchanged; the note was edited since"
		}
		a.skip(why, done)
		return nil
	}
	if err := a.v.checkTarget(a.col, done.Path, false); err != nil {
		return err
	}
	merged := x.body
	if bodyHash(body) != was {
		if merged, done.Conflict, err = a.mergeEdits(ctx, done.Path, was, body, x.body); err != nil {
			return err
		}
		done.Reason = "edits of the note are kept"
		if done.Conflict {
			done.Reason = "people and the source changed the same lines: kb review edit " + a.p.Draft + " decides"
		}
	}
	return a.replace(n, x, head, merged, done)
}

// ahead deals with a document whose note is in the branch and not in the draft,
// which was started before.
func (a *adding) ahead(x *imported, done *AddedNote) error {
	if a.hashes[x.hash] == done.Path {
		a.skip("unchanged", done)
		return nil
	}
	if a.dropped[done.Path] {
		return errorf(Conflict, "draft %s removes %s: merge or reject the draft first, or name another with --draft", a.p.Draft, done.Path)
	}
	return errorf(Conflict, "%s changed, and draft %s was started before it was there: merge or reject the draft first, or name another with --draft", done.Path, a.p.Draft)
}

// replace plans a note's new text: its own frontmatter with the bookkeeping of the
// new import, and the merged text.
func (a *adding) replace(n *Import, x *imported, head, merged []byte, done *AddedNote) error {
	fields := bookkeeping(n, x)
	if _, has := (&note.Note{Fields: fieldsOf(head)}).Field(fieldFrom); has {
		fields[0].Key = fieldFrom
	}
	rewrite := func(body []byte) ([]byte, error) {
		src, err := note.SetFields(slices.Concat(head, []byte("\n"), body), fields)
		if err != nil {
			return nil, errorf(Usage, "the frontmatter of %s: %w", done.Path, err).hint("mend it by hand, and add again")
		}
		return src, nil
	}
	src, err := rewrite(merged)
	if err != nil {
		return err
	}
	if err := a.beside(done.Path, n.Files, done); err != nil {
		return err
	}
	if !bytes.Equal(merged, x.body) {
		pure, err := rewrite(x.body)
		if err != nil {
			return err
		}
		a.pristine = append(a.pristine, fileChange{path: done.Path, now: pure})
	}
	a.changes = append(a.changes, fileChange{path: done.Path, now: src})
	a.hashes[x.hash], a.planned[n.Source] = done.Path, true
	done.Pending = true
	a.result.Updated = append(a.result.Updated, *done)
	return nil
}

func fieldsOf(head []byte) []note.Field {
	n, _ := note.Parse(head)
	return n.Fields
}

// mergeEdits brings together what people and the source made of the text that was
// imported last. Where both changed the same lines, or that text is not to be
// found, both stand between conflict markers.
func (a *adding) mergeEdits(ctx context.Context, at, hash string, ours, theirs []byte) (merged []byte, clash bool, err error) {
	base, err := a.importedText(ctx, at, hash)
	if err != nil {
		return nil, false, err
	}
	merged, clashes := gitstore.MergeText(base, ours, theirs)
	if len(clashes) == 0 {
		return canonicalBody(merged), false, nil
	}
	named := strings.NewReplacer("<<<<<<< ours", "<<<<<<< note", ">>>>>>> theirs", ">>>>>>> source").Replace(string(merged))
	return canonicalBody([]byte(named)), true, nil
}

// importedText finds the text of a hash in the history of a note, also in that of
// drafts which were squashed: the hash proves that it is the one that was imported.
// It is empty when no version has it.
func (a *adding) importedText(ctx context.Context, at, hash string) ([]byte, error) {
	text, err := a.textOfHash(ctx, a.g.on, at, hash)
	if text != nil || err != nil {
		return text, err
	}
	refs, err := a.col.repo.Refs(keptRefs)
	if err != nil {
		return nil, errorf(Internal, "history of %s: %w", at, err)
	}
	for _, ref := range refs {
		if ref.Err != nil {
			continue // leads nowhere
		}
		if text, err := a.textOfHash(ctx, ref.Commit, at, hash); text != nil || err != nil {
			return text, err
		}
	}
	return nil, nil
}

// textOfHash looks through the versions of a note as of a commit.
func (a *adding) textOfHash(ctx context.Context, id gitstore.CommitID, at, hash string) ([]byte, error) {
	versions, err := a.col.repo.Log(ctx, id, a.col.full(at), 0)
	if err != nil && !errors.Is(err, gitstore.ErrNotFound) {
		return nil, errorf(Internal, "history of %s: %w", at, err)
	}
	for _, x := range versions {
		if x.Blob.IsZero() {
			continue
		}
		src, err := a.g.bytes(x.Blob)
		if err != nil {
			return nil, err
		}
		if _, body, _ := splitNote(src); bodyHash(body) == hash {
			return body, nil
		}
	}
	return nil, nil
}

// deletedSources finds the sources of notes that people deleted, by their last
// path: notes of history that no view has any more. Only the first-parent history
// of the branch is looked at, where deletions that were merged stand, and what
// people, not agents, did on the draft.
func (g *ground) deletedSources(ctx context.Context, present map[string]string) (map[string]string, error) {
	removed, err := g.removedByPeople(ctx)
	if err != nil {
		return nil, err
	}
	gone := map[string]string{}
	for _, x := range removed {
		n, err := g.parsed(x.Old)
		if err != nil {
			return nil, err
		}
		from := recordOf(n).known()
		if _, there := present[from]; from != "" && !there && gone[from] == "" {
			gone[from] = x.Path
		}
	}
	return gone, nil
}

// removedByPeople are the notes that the collection had, the latest removal first.
func (g *ground) removedByPeople(ctx context.Context) (removed []gitstore.Change, err error) {
	r := g.col.repo
	commits, err := r.ownCommits(ctx, g.tip, g.on)
	if err != nil {
		return nil, err
	}
	for _, c := range commits {
		if len(c.Parents) != 1 || draft.ByAgent(c) {
			continue
		}
		changes, err := r.Diff(ctx, c.Parents[0], c.ID, g.col.dir)
		if err != nil {
			return nil, errorf(Internal, "list what %s removes: %w", short(c.ID), err)
		}
		for _, x := range changes {
			if x.Kind == gitstore.Removed && g.col.holds(x.Path) {
				removed = append(removed, x)
			}
		}
	}
	before, err := g.v.removedNotes(ctx, g.col, g.tip)
	return append(removed, before...), err
}

// removedNotes are the notes that a collection had before a commit, newest first.
func (v *Vault) removedNotes(ctx context.Context, c *collection, at gitstore.CommitID) ([]gitstore.Change, error) {
	removed, err := c.repo.Removed(ctx, at, c.dir)
	if err != nil {
		return nil, errorf(Internal, "look for deleted notes: %w", err)
	}
	return slices.DeleteFunc(removed, func(x gitstore.Change) bool { return !c.holds(x.Path) }), nil
}
