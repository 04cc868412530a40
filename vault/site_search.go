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
	d, err := searchWords(w.v.cfg.Language)
	if err != nil {
		return nil, err
	}
	stats := text.Statistics()
	d.Average, d.Notes, d.Lengths, d.Obsolete = stats.Average, stats.Order, stats.Lengths, stats.Obsolete
	d.Each = func(ctx context.Context, fn func(string, []site.SearchPosting) error) error {
		return eachTerm(ctx, text, fn)
	}
	d.Streams = text.EachStream
	d.Alone = func(ctx context.Context, n int, blob note.ID) (*site.SearchNote, error) {
		raw, err := w.readBlob(ctx, members[stats.Order[n]].Collection, blob)
		if err != nil {
			return nil, err
		}
		parsed, decoded := note.Parse(raw)
		one, err := text.Alone(n, index.Source{Blob: blob, Note: parsed, Text: decoded})
		if err != nil {
			return nil, err
		}
		return searchNote(ctx, one, decoded[parsed.Body:])
	}
	return d, nil
}

// searchWords is what a site's search knows of its language.
func searchWords(language string) (*site.SearchData, error) {
	stops, err := index.StopWords(language)
	if err != nil {
		return nil, err
	}
	articles, err := index.Articles(language)
	return &site.SearchData{Language: site.SearchLanguage(language), Stops: stops, Articles: articles, Hash: index.TermHash}, err
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

// searchNote is what a view of one note, of that text after its frontmatter, adds to
// a site's search.
func searchNote(ctx context.Context, one *index.View, body []byte) (*site.SearchNote, error) {
	stats := one.Statistics()
	out := &site.SearchNote{Terms: map[string]site.SearchPosting{}, Body: body, Lengths: stats.Lengths[0], Obsolete: len(stats.Obsolete) > 0}
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
