package vault

import (
	"context"
	"errors"
	"path"
	"slices"
	"strings"

	"kb/gitstore"
	"kb/note"
)

// placement finds where merging puts the notes that say so: a note that the
// draft adds goes to the path, or the directory, that its property target names,
// and loses the property. Links among the draft's notes are mended.
type placement struct {
	*proposal
	files map[string]note.ID // of the merged tree
	taken map[string]bool    // their paths, folded
	texts map[*proposedEdit][]byte
}

// place fills in what merging does beside, and the tree that it gives.
func (p *proposal) place(ctx context.Context) error {
	p.placing, p.tree = nil, p.merge.Tree
	if !slices.ContainsFunc(p.edits, (*proposedEdit).asksForPlace) {
		return nil
	}
	files, _, err := p.repo.TreeFiles(ctx, p.merge.Tree, "")
	if err != nil {
		return errorf(Internal, "list the files to be: %w", err)
	}
	x := placement{proposal: p, files: map[string]note.ID{}, taken: map[string]bool{}, texts: map[*proposedEdit][]byte{}}
	for _, f := range files {
		x.files[f.Path] = f.Blob
		x.taken[gitstore.FoldPath(f.Path)] = true
	}
	for _, e := range p.edits {
		if e.placed, e.misplaced = x.target(e); e.placed == e.path {
			e.placed = ""
		}
	}
	if slices.ContainsFunc(p.edits, func(e *proposedEdit) bool { return !e.skip && p.conflicting(e.full()) }) {
		return nil
	}
	for _, step := range []func() error{x.withoutTarget, x.mendLinks, x.store} {
		if err := step(); err != nil {
			return err
		}
	}
	p.tree, err = p.repo.EditTree(ctx, p.merge.Tree, p.placing)
	if errors.Is(err, gitstore.ErrPathConflict) {
		return errorf(Conflict, "place the notes of the draft: %w", err).hint("kb review edit changes their target")
	}
	if err != nil {
		return errorf(Internal, "place the notes of the draft: %w", err)
	}
	return nil
}

// asksForPlace reports whether a note of the draft's own names a target.
func (e *proposedEdit) asksForPlace() bool {
	if e.kind != gitstore.Added || e.note == nil || e.skip {
		return false
	}
	_, has := e.note.Field("target")
	return has
}

// target is the path that merging gives a note: its own, unless it names
// another. The error says why it cannot go there.
func (x *placement) target(e *proposedEdit) (string, error) {
	if !e.asksForPlace() {
		return e.path, nil
	}
	want := strings.TrimSpace(e.note.String("target"))
	to := strings.TrimPrefix(want, "./")
	switch {
	case want == "":
		return "", errorf(Usage, "it is empty")
	case strings.HasSuffix(to, "/"):
		to += path.Base(e.path)
	case !e.col.holds(to) && e.col.holds(to+".md"):
		to += ".md"
	}
	if to == e.path {
		return to, nil
	}
	if err := x.v.checkTarget(e.col, to, true); err != nil {
		return "", err
	}
	key := gitstore.FoldPath(e.fullOf(to))
	if x.taken[key] {
		return "", errorf(Conflict, "there is a note at %s already", to)
	}
	x.taken[key] = true
	return to, nil
}

// withoutTarget takes the property out of the notes that have it. Where the
// frontmatter cannot be edited it stays: checks say so.
func (x *placement) withoutTarget() error {
	for _, e := range x.edits {
		if e.asksForPlace() && e.misplaced == nil {
			if src, err := note.SetFields(e.now, []note.Field{{Key: "target"}}); err == nil {
				x.texts[e] = src
			}
		}
	}
	return nil
}

// mendLinks rewrites the links of the draft's notes to those that are placed
// elsewhere.
func (x *placement) mendLinks() error {
	for _, c := range x.repo.cols {
		moved := map[string]string{}
		for _, e := range x.edits {
			if e.col == c && e.placed != "" {
				moved[e.path] = e.placed
			}
		}
		if len(moved) == 0 {
			continue
		}
		renamer, err := note.NewRenamer(x.pathsOf(c), moved)
		if err != nil {
			return errorf(Internal, "place the notes of the draft: %w", err)
		}
		for _, e := range x.edits {
			if e.col != c || e.note == nil || !renamer.Affects(e.path, e.note.Links) {
				continue
			}
			src, err := x.text(e)
			if err != nil {
				return err
			}
			if mended, n, err := renamer.RenameLinks(e.path, src); err == nil && n > 0 {
				x.texts[e] = mended
			}
		}
	}
	return nil
}

// pathsOf are the files of a collection, relative to it.
func (x *placement) pathsOf(c *collection) (paths []string) {
	for full := range x.files {
		if col, p := x.repo.locate(full); col == c {
			paths = append(paths, p)
		}
	}
	slices.Sort(paths)
	return paths
}

// text is a note as merging leaves it, so far.
func (x *placement) text(e *proposedEdit) ([]byte, error) {
	if src, ok := x.texts[e]; ok {
		return src, nil
	}
	src, err := x.repo.Blob(x.files[e.full()])
	if err != nil {
		return nil, errorf(Internal, "read %s: %w", e.path, err)
	}
	return src, nil
}

// store adds the edits.
func (x *placement) store() error {
	for _, e := range x.edits {
		_, changed := x.texts[e]
		if !changed && e.placed == "" {
			continue
		}
		src, err := x.text(e)
		if err != nil {
			return err
		}
		if e.placed != "" {
			x.placing = append(x.placing, gitstore.Edit{Path: e.full(), Delete: true})
		}
		x.placing = append(x.placing, gitstore.Edit{Path: e.fullOf(e.destination()), Src: src})
	}
	return nil
}
