package vault

import (
	"context"

	"kb/index"
	"kb/note"
	"kb/site"
)

// siteSearch is what a site's search ranks by: the statistics of its docs alone,
// so that what is not published leaves no trace in them.
func (w *view) siteSearch(ctx context.Context, docs []*site.Doc) (*site.SearchData, error) {
	language := site.SearchLanguage(w.v.cfg.Language)
	x, err := w.v.store.index(language)
	if err != nil {
		return nil, err
	}
	members := make([]index.Member, len(docs))
	for i, d := range docs {
		members[i] = index.Member{Collection: d.Collection, Path: d.Path, Blob: d.Blob}
	}
	text, err := x.ViewOf(ctx, members, w.load, func(id note.ID) (*note.Note, []byte, error) { return w.note(w.where[id]) })
	if err != nil {
		return nil, err
	}
	stops, err := index.StopWords(w.v.cfg.Language)
	if err != nil {
		return nil, err
	}
	articles, err := index.Articles(w.v.cfg.Language)
	if err != nil {
		return nil, err
	}
	stats := text.Statistics()
	return &site.SearchData{
		Language: language, Average: stats.Average, Stops: stops, Articles: articles, Notes: stats.Order, Obsolete: stats.Obsolete,
		Each: func(ctx context.Context, fn func(string, []site.SearchPosting) error) error {
			var list []site.SearchPosting
			return text.EachTerm(ctx, func(term string, postings []index.Posting) error {
				list = list[:0]
				for _, p := range postings {
					list = append(list, site.SearchPosting(p))
				}
				return fn(term, list)
			})
		},
		Streams: func(ctx context.Context, fn func(int, [site.SearchFields]uint32, []byte) error) error {
			return text.EachStream(ctx, fn)
		},
		Hash: index.TermHash,
	}, nil
}
