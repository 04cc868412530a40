package vault

import (
	"context"
	"slices"
	"strings"

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
	where := w.where()
	text, err := x.ViewOf(ctx, members, w.load, func(id note.ID) (*note.Note, []byte, error) { return w.note(where[id]) })
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
		Language: language, Average: stats.Average, Stops: stops, Articles: articles, Notes: stats.Order, Lengths: stats.Lengths, Obsolete: stats.Obsolete,
		Each: func(ctx context.Context, fn func(string, []site.SearchPosting) error) error {
			return eachTerm(ctx, text, fn)
		},
		Streams: text.EachStream,
		Alone: func(ctx context.Context, n int, blob note.ID) (*site.SearchNote, error) {
			raw, err := w.readBlob(ctx, members[stats.Order[n]].Collection, blob)
			if err != nil {
				return nil, err
			}
			parsed, decoded := note.Parse(raw)
			one, err := text.Alone(n, index.Source{Blob: blob, Note: parsed, Text: decoded})
			if err != nil {
				return nil, err
			}
			out, err := searchNote(ctx, one)
			if err == nil {
				out.Body = decoded[parsed.Body:]
			}
			return out, err
		},
		Hash: index.TermHash,
	}, nil
}

func eachTerm(ctx context.Context, text *index.View, fn func(string, []site.SearchPosting) error) error {
	var list []site.SearchPosting
	return text.EachTerm(ctx, func(term string, postings []index.Posting) error {
		list = list[:0]
		for _, p := range postings {
			list = append(list, site.SearchPosting(p))
		}
		return fn(term, list)
	})
}

// searchNote is what a view of one note adds to a site's search.
func searchNote(ctx context.Context, one *index.View) (*site.SearchNote, error) {
	out := &site.SearchNote{Terms: map[string]site.SearchPosting{}}
	err := eachTerm(ctx, one, func(term string, postings []site.SearchPosting) error {
		out.Terms[strings.Clone(term)] = postings[0]
		return nil
	})
	if err != nil {
		return nil, err
	}
	return out, one.EachStream(ctx, func(_ int, stream []byte) error {
		out.Stream = slices.Clone(stream)
		return nil
	})
}
