package vault

import (
	"context"

	"kb/cas"
	"kb/embed"
	"kb/note"
)

// liveVectors are the vectors that a collection of garbage keeps: of the model in
// use, and of the texts of live blobs.
type liveVectors struct {
	index *embed.Index // nil when no model is in use
	all   bool         // it is not known which are in use
	live  map[note.ID]bool
	texts map[cas.Hash]bool
	store *Store
}

func (v *Vault) liveVectors(ctx context.Context, live map[note.ID]bool) (*liveVectors, error) {
	x, _ := v.store.embedders.index(v.cfg)
	// A model that cannot be opened may be there again tomorrow.
	l := &liveVectors{index: x, all: x == nil && v.cfg.Model != noModel, live: live, store: v.store}
	if x == nil {
		return l, nil
	}
	ids := make([]note.ID, 0, len(live))
	for id := range live {
		ids = append(ids, id)
	}
	var err error
	l.texts, err = x.TextsOf(ctx, ids)
	return l, err
}

func (l *liveVectors) keep(k cas.Key) bool {
	switch {
	case l.all:
		return true
	case l.index == nil || !l.index.Owns(k):
		return false
	case k.Kind == cas.Chunks:
		return l.live[note.ID([]byte(k.ID))]
	}
	return l.texts[cas.Hash([]byte(k.ID))]
}

// clean removes the files of vectors that were dropped. They are made again of
// those that stay.
func (l *liveVectors) clean(r cas.GCReport) error {
	if l.all || r.Dropped[cas.Vectors] == 0 {
		return nil
	}
	if l.index != nil {
		l.index.Forget()
	}
	return embed.Clean(l.store.vectorDir())
}
