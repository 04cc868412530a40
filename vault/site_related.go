package vault

import (
	"context"
	"runtime"

	"golang.org/x/sync/errgroup"

	"kb/index"
	"kb/site"
)

// Up to how many notes a site compares all with all: by their vectors, and by their
// words, which takes longer.
const (
	mostByMeaning = 5000
	mostByWords   = 200
	mostRelated   = 10 // of each
)

// siteRelated sets the docs that are about the same as each: by their vectors if
// all have them, else by words. Where the site has too many notes for it, there
// are none, unless site.related is always.
func (w *view) siteRelated(ctx context.Context, docs []*site.Doc) error {
	meaning, _, _ := w.vectors(ctx)
	most := mostByWords
	if meaning != nil {
		most = mostByMeaning
	}
	if !w.v.relates(len(docs), most) {
		return nil
	}
	cards, err := w.allCards(ctx)
	if err != nil {
		return err
	}
	published := make([]*site.Doc, len(w.docs)) // by their numbers in the view
	for _, d := range docs {
		if i, ok := w.docAt(d.Collection, d.Path); ok {
			published[i] = d
		}
	}
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(runtime.GOMAXPROCS(0))
	for i, d := range published {
		if d == nil {
			continue
		}
		g.Go(func() error {
			q := index.Query{Max: mostRelated, Finished: true, Keep: func(j int) bool { return published[j] != nil && w.docs[j].blob != d.Blob }}
			_, found, err := w.searchLike(ctx, d.Blob, q, w.gist(i, cards[i]))
			if err != nil {
				return err
			}
			for _, h := range found.Hits {
				d.Related = append(d.Related, published[h.Member])
			}
			return nil
		})
	}
	return g.Wait()
}

// relates reports whether a site of so many notes says which are related, where
// those of most may be compared.
func (v *Vault) relates(docs, most int) bool {
	asked := v.cfg.Site.Related
	return asked != "never" && (docs <= most || asked == "always")
}

// mayRelate reports whether a site of so many notes might: without a model, by words.
func (v *Vault) mayRelate(docs int) bool {
	most := mostByMeaning
	if x, _ := v.store.embedders.index(v.cfg); x == nil {
		most = mostByWords
	}
	return v.relates(docs, most)
}
