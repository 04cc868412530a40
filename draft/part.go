package draft

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"kb/gitstore"
)

// pick takes what is to be merged out of the whole.
func (p *merging) pick() (err error) {
	p.picked = p.whole
	if len(p.req.Only) > 0 {
		if err := p.choose(); err != nil {
			return err
		}
		if p.picked, err = p.batch.TakeFiles(p.ctx, p.whole, p.onto.Tree, p.chosen); err != nil {
			return fmt.Errorf("merge draft %s in part: %w", p.draft.Name, err)
		}
	}
	for _, part := range p.req.Parts {
		if p.chosen != nil && !slices.Contains(p.chosen, part.Path) {
			return fmt.Errorf("merge draft %s in part: %w: %s is not among what is to be merged", p.draft.Name, ErrNoChange, part.Path)
		}
	}
	if p.picked, err = p.batch.EditTree(p.ctx, p.picked, p.req.Parts); err != nil {
		return fmt.Errorf("merge draft %s in part: %w", p.draft.Name, err)
	}
	if p.picked == p.onto.Tree && p.picked != p.whole {
		return fmt.Errorf("merge draft %s in part: %w", p.draft.Name, ErrNoChange)
	}
	return p.batch.Flush()
}

// choose finds the paths that Only stands for.
func (p *merging) choose() error {
	changes, err := p.Repo.DiffTrees(p.ctx, p.onto.Tree, p.whole)
	if err != nil {
		return err
	}
	were, err := p.were()
	if err != nil {
		return err
	}
	used := map[string]bool{}
	p.chosen = []string{}
	for _, c := range changes {
		if !p.wanted(used, c.Path, c.From, were[c.Path]) {
			continue
		}
		p.chosen = append(p.chosen, c.Path)
		if c.From != "" {
			p.chosen = append(p.chosen, c.From)
		}
	}
	for _, c := range p.conflicts {
		if p.wanted(used, c.Path, c.From, c.Also) {
			return p.conflict()
		}
	}
	for _, only := range p.req.Only {
		if !used[only] {
			return fmt.Errorf("merge draft %s in part: %w at %s; it changes %s", p.draft.Name, ErrNoChange, only, paths(changes))
		}
	}
	return nil
}

// were are the paths at which the draft knows files that the branch moved since, by
// those that they have now.
func (p *merging) were() (map[string]string, error) {
	if len(p.bases) == 0 {
		return nil, nil
	}
	changes, err := p.Repo.Diff(p.ctx, p.bases[0], p.done.Before, "")
	were := map[string]string{}
	for _, c := range changes {
		if c.From != "" {
			were[c.Path] = c.From
		}
	}
	return were, err
}

// wanted reports whether Only has one of the paths, or a directory above it, and
// marks what it used.
func (p *merging) wanted(used map[string]bool, paths ...string) bool {
	found := false
	for _, only := range p.req.Only {
		for _, path := range paths {
			if path == only || path != "" && strings.HasPrefix(path, strings.TrimSuffix(only, "/")+"/") {
				used[only], found = true, true
			}
		}
	}
	return found
}

func paths(changes []gitstore.Change) string {
	const most = 20
	var list []string
	for _, c := range changes {
		if len(list) == most {
			list = append(list, "…")
			break
		}
		list = append(list, c.Path)
	}
	return strings.Join(list, ", ")
}

// rest makes a draft of what is not merged: one commit.
func (p *merging) rest() error {
	if p.picked == p.whole && len(p.conflicts) == 0 {
		return nil
	}
	tip, err := p.Repo.Commit(p.draft.Tip)
	if err != nil {
		return err
	}
	own, err := p.ownOfRest()
	if err != nil {
		return err
	}
	c := &gitstore.Commit{Tree: p.whole, Parents: []gitstore.CommitID{p.done.Commit}, Author: author(own, p.draft), Committer: p.committer}
	if len(p.conflicts) > 0 {
		if err := p.restOfConflict(c, tip); err != nil {
			return err
		}
	}
	body := "The rest of a draft of which a part was merged:\n\n" + subjects(own)
	list := slices.Concat([]gitstore.Trailer{{Key: trailerDraft, Value: p.draft.localName()}}, imported(own, p.draft.localName()), credits(own))
	subject := tip.Subject
	if len(own) > 0 {
		subject = own[0].Subject
	}
	c.Message = gitstore.CommitMessage(subject, body, list)
	p.done.Rest, err = p.batch.WriteCommit(p.ctx, c)
	return err
}

// restOfConflict leaves the rest where the draft began, for there is no merge
// of it.
func (p *merging) restOfConflict(c, tip *gitstore.Commit) error {
	base, err := p.Repo.Commit(p.bases[0])
	if err != nil {
		return err
	}
	c.Parents = []gitstore.CommitID{base.ID}
	done := slices.DeleteFunc(slices.Clone(p.chosen), func(path string) bool {
		return slices.ContainsFunc(p.req.Parts, func(e gitstore.Edit) bool { return e.Path == path })
	})
	c.Tree, err = p.batch.TakeFiles(p.ctx, base.Tree, tip.Tree, done)
	return err
}

// ownOfPart lists the draft's commits that made what is merged, newest first.
func (p *merging) ownOfPart() ([]*gitstore.Commit, error) {
	own, err := p.own(p.ctx, p.draft.Base, p.draft.Tip)
	if err != nil || p.chosen == nil {
		return own, err
	}
	paths := map[string]bool{}
	for _, path := range p.chosen {
		paths[path] = true
	}
	for _, e := range p.req.Edits {
		paths[e.Path] = true // where it was, too
	}
	return p.touching(p.ctx, own, paths)
}

// ownOfRest lists the draft's commits that made what is not merged, newest first.
func (p *merging) ownOfRest() ([]*gitstore.Commit, error) {
	own, err := p.own(p.ctx, p.draft.Base, p.draft.Tip)
	if err != nil {
		return nil, err
	}
	changes, err := p.Repo.DiffTrees(p.ctx, p.picked, p.whole)
	if err != nil {
		return nil, err
	}
	paths := map[string]bool{}
	for _, c := range changes {
		paths[c.Path], paths[c.From] = true, true
	}
	for _, c := range p.conflicts {
		paths[c.Path], paths[c.From], paths[c.Also] = true, true, true
	}
	return p.touching(p.ctx, own, paths)
}

// touching keeps the commits, newest first, that changed one of some files, under
// the names that they had then; all, if none is found.
func (s *Store) touching(ctx context.Context, own []*gitstore.Commit, paths map[string]bool) ([]*gitstore.Commit, error) {
	delete(paths, "")
	var found []*gitstore.Commit
	for _, c := range own {
		changes, err := s.madeBy(ctx, c)
		if err != nil {
			return nil, err
		}
		touched := false
		for _, change := range changes {
			if paths[change.Path] || paths[change.From] {
				touched = true
				paths[change.Path] = true
				if change.From != "" {
					paths[change.From] = true
				}
			}
		}
		if touched {
			found = append(found, c)
		}
	}
	if len(found) == 0 {
		return own, nil
	}
	return found, nil
}

// madeBy lists what a commit changed.
func (s *Store) madeBy(ctx context.Context, c *gitstore.Commit) ([]gitstore.Change, error) {
	var parent gitstore.CommitID
	if len(c.Parents) > 0 {
		parent = c.Parents[0]
	}
	return s.Repo.Diff(ctx, parent, c.ID, "")
}

// author is who wrote the newest of some commits, else the draft.
func author(own []*gitstore.Commit, d *Draft) gitstore.Signature {
	if len(own) == 0 {
		return d.Author
	}
	return own[0].Author
}
