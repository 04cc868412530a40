package draft

import (
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
	used := map[string]bool{}
	p.chosen = []string{}
	for _, c := range changes {
		if !p.wanted(used, c.Path, c.From) {
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
	own, err := p.own(p.ctx, p.draft.Base, p.draft.Tip)
	if err != nil {
		return err
	}
	c := &gitstore.Commit{Tree: p.whole, Parents: []gitstore.CommitID{p.done.Commit}, Author: p.draft.Author, Committer: p.committer}
	if len(p.conflicts) > 0 {
		if err := p.restOfConflict(c, tip); err != nil {
			return err
		}
	}
	body := "The rest of a draft of which a part was merged:\n\n" + subjects(own)
	list := append([]gitstore.Trailer{{Key: trailerDraft, Value: p.draft.localName()}}, credits(own)...)
	c.Message = gitstore.CommitMessage(tip.Subject, body, list)
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
