package vault

import (
	"context"
	"maps"
	"slices"

	"kb/note"
)

// move gives notes other paths, and mends the links of the whole collection. texts
// are notes that the same change edits, as it leaves them; protected are those whose
// links stay as they are.
func (g *ground) move(ctx context.Context, moved map[string]string, texts map[string][]byte) (changes []fileChange, protected []string, err error) {
	cards, err := g.allCards(ctx)
	if err != nil {
		return nil, nil, err
	}
	renamer, err := note.NewRenamer(g.paths(), moved)
	if err != nil {
		return nil, nil, errorf(Conflict, "%w", err)
	}
	texts = maps.Clone(texts)
	for p, links := range g.linking(cards) {
		_, edited := texts[p]
		_, moves := moved[p]
		if edited || !moves && !renamer.Affects(p, links) {
			continue
		}
		if !moves && g.v.protection(g.col, p) != "" {
			protected = append(protected, p)
			continue
		}
		id, _ := g.blob(p)
		if texts[p], err = g.bytes(id); err != nil {
			return nil, nil, err
		}
	}
	for _, p := range slices.Sorted(maps.Keys(texts)) {
		now, _, err := renamer.RenameLinks(p, texts[p])
		if err != nil {
			return nil, nil, editError(p, err)
		}
		to, moves := moved[p]
		if !moves {
			changes = append(changes, fileChange{path: p, now: now})
			continue
		}
		changes = append(changes, fileChange{path: p}, fileChange{path: to, now: now})
	}
	slices.Sort(protected)
	return changes, protected, nil
}

// paths are all files of the collection as the change finds them.
func (g *ground) paths() []string {
	out := slices.Clone(g.others[g.col])
	for _, d := range g.docs {
		if _, changed := g.drafted[d.path]; d.col == g.col && !changed {
			out = append(out, d.path)
		}
	}
	for p, id := range g.drafted {
		if !id.IsZero() {
			out = append(out, p)
		}
	}
	return out
}

// linking yields the notes of the collection with their links.
func (g *ground) linking(cards []*card) func(yield func(string, []note.Link) bool) {
	return func(yield func(string, []note.Link) bool) {
		for i, d := range g.docs {
			if _, changed := g.drafted[d.path]; d.col == g.col && !changed && !yield(d.path, cards[i].links) {
				return
			}
		}
		for p, id := range g.drafted {
			if id.IsZero() {
				continue
			}
			n, err := g.parsed(id)
			if err == nil && !yield(p, n.Links) {
				return
			}
		}
	}
}
