package vault

import (
	"context"

	"kb/index"
	"kb/note"
)

// past is note for the past: what bears the title of a note that is hidden now,
// at a path that the base branch does not have any more, was that note.
func (s *sight) past(ctx context.Context, c *collection, p string, blob note.ID) (bool, error) {
	seen, err := s.note(ctx, c, p, blob)
	if err != nil || !seen || s.all {
		return seen, err
	}
	left, err := s.withoutRenamed(ctx, []doc{{col: c, path: p, blob: blob}})
	return len(left) > 0, err
}

// withoutRenamed leaves out the docs that s hides under the path that they have
// now. What is not committed is nobody's past.
func (s *sight) withoutRenamed(ctx context.Context, docs []doc) ([]doc, error) {
	stands := make(map[docKey]bool, len(s.now.docs))
	for _, d := range s.now.docs {
		stands[docKey{d.col, d.path}] = true
	}
	var left []doc
	for _, d := range docs {
		if !d.uncommitted && !stands[docKey{d.col, d.path}] {
			left = append(left, d)
		}
	}
	if len(left) == 0 {
		return docs, nil
	}
	hidden, err := s.hiddenTitles(ctx)
	if err != nil || len(hidden) == 0 {
		return docs, err
	}
	titles, err := s.v.titlesOf(ctx, left)
	if err != nil {
		return nil, err
	}
	var kept []doc
	for _, d := range docs {
		if title, ok := titles[docKey{d.col, d.path}]; !ok || !hidden[docKey{d.col, title}] {
			kept = append(kept, d)
		}
	}
	return kept, nil
}

// hiddenTitles are the titles that s hides of the base branches, by collection.
func (s *sight) hiddenTitles(ctx context.Context) (map[docKey]bool, error) {
	var hidden []doc
	for _, d := range s.now.docs {
		if !s.claimed(d.col, d.path, s.now.claims[docKey{d.col, d.path}]) {
			hidden = append(hidden, d)
		}
	}
	titles, err := s.v.titlesOf(ctx, hidden)
	out := make(map[docKey]bool, len(titles))
	for k, title := range titles {
		out[docKey{k.col, title}] = true
	}
	return out, err
}

// titlesOf returns the title of each doc as names are compared.
func (v *Vault) titlesOf(ctx context.Context, docs []doc) (map[docKey]string, error) {
	ids := make([]note.ID, len(docs))
	for i, d := range docs {
		ids[i] = d.blob
	}
	cards, err := v.store.cards(ctx, v.cfg.Language, ids, fetchOf(docs))
	if err != nil {
		return nil, err
	}
	titles := make(map[docKey]string, len(docs))
	for _, d := range docs {
		title := fileTitle(d.path)
		if c := cards[d.blob]; c != nil && c.title != "" {
			title = c.title
		}
		titles[docKey{d.col, d.path}] = foldName(title)
	}
	return titles, nil
}

// fetchOf reads the committed blobs of docs.
func fetchOf(docs []doc) index.Fetch {
	repos := map[note.ID]*repo{}
	for _, d := range docs {
		repos[d.blob] = d.col.repo
	}
	return func(ctx context.Context, ids []note.ID, fn func(note.ID, []byte, error) error) error {
		mine := map[*repo][]note.ID{}
		for _, id := range ids {
			mine[repos[id]] = append(mine[repos[id]], id)
		}
		for r, ids := range mine {
			if err := r.Blobs(ctx, ids, fn); err != nil {
				return err
			}
		}
		return nil
	}
}
