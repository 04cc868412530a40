package vault

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"kb/draft"
)

// SourcesParams selects notes that were made of sources.
type SourcesParams struct {
	Prefix     string `json:"prefix,omitempty" arg:"" help:"only sources that begin so: https://example.org/, file:papers/"`
	Collection string `json:"collection,omitempty" help:"needed when several are writable"`
	Draft      string `json:"draft,omitempty" default:"inbox" help:"draft whose notes count too, while it is open"`
}

// Sources lists what notes were made of.
type Sources struct {
	Sources []NoteSource `json:"sources"`
	Deleted []NoteSource `json:"deleted"` // of notes that people deleted
	Total   int          `json:"total"`
}

// NoteSource is what a note was made of, and how it is asked again.
type NoteSource struct {
	Source       string   `json:"source"`
	Path         string   `json:"path"`
	Title        string   `json:"title,omitempty"`
	Type         string   `json:"source_type,omitempty"`
	Hash         string   `json:"source_hash,omitempty"`
	Fetched      string   `json:"fetched,omitempty"`
	ETag         string   `json:"etag,omitempty"`
	LastModified string   `json:"last_modified,omitempty"`
	Original     string   `json:"original,omitempty"`
	Tags         []string `json:"tags,omitempty"`
	Edited       bool     `json:"edited,omitempty"` // people changed the note since
}

var sourcesOp = define(Op{
	Name:     "kb_sources",
	Summary:  "List the sources that notes were made of, by kb add",
	Examples: []string{"kb sources", "kb sources https://example.org/"},
	People:   true,
}, (*Vault).Sources)

// Sources lists the sources of a collection's notes, those on the draft included,
// by source. It asks no other machine.
func (v *Vault) Sources(ctx context.Context, p SourcesParams) (*Sources, error) {
	c, err := v.writable(p.Collection)
	if err != nil {
		return nil, err
	}
	g, err := v.groundOf(ctx, c, p.Draft)
	if err != nil {
		return nil, err
	}
	s, err := newShelf(ctx, g)
	if err != nil {
		return nil, err
	}
	r := &Sources{Sources: []NoteSource{}, Deleted: []NoteSource{}}
	for _, from := range slices.Sorted(maps.Keys(s.sources)) {
		if !strings.HasPrefix(from, p.Prefix) {
			continue
		}
		x, err := s.describe(from)
		if err != nil {
			return nil, err
		}
		r.Sources = append(r.Sources, x)
	}
	for _, from := range slices.Sorted(maps.Keys(s.deleted)) {
		if strings.HasPrefix(from, p.Prefix) {
			r.Deleted = append(r.Deleted, NoteSource{Source: from, Path: s.deleted[from]})
		}
	}
	r.Total = len(r.Sources)
	return r, nil
}

// groundOf reads a collection as a draft leaves it, or would begin with.
func (v *Vault) groundOf(ctx context.Context, c *collection, name string) (*ground, error) {
	if err := draft.CheckName(name); name != "" && err != nil {
		return nil, draftError(err)
	}
	tip, err := v.baseToRead(c.repo)
	if err != nil {
		return nil, err
	}
	on := tip
	if id, err := c.repo.Resolve(draftRefs + name); err == nil {
		on = id
	}
	return v.ground(ctx, c, on, tip)
}

// describe tells of a source what its note says.
func (s *shelf) describe(from string) (NoteSource, error) {
	x := NoteSource{Source: from, Path: s.sources[from]}
	id, ok := s.g.blob(x.Path)
	if !ok { // the draft is older than the note
		i, there := s.g.docAt(s.g.col.Name, x.Path)
		if !there {
			return x, nil
		}
		id = s.g.docs[i].blob
	}
	src, err := s.g.bytes(id)
	if err != nil {
		return x, err
	}
	_, body, n := splitNote(src)
	r := s.records[x.Path]
	x.Title, x.Type, x.Hash, x.Tags = n.TitleAt(x.Path), r.kind, r.hash, n.Strings("tags")
	x.Fetched, x.ETag, x.LastModified, x.Original = r.fetched, r.etag, r.modified, r.original
	x.Edited = bodyHash(body) != x.Hash
	return x, nil
}

// Text lists sources and notes.
func (r *Sources) Text(t *Text) {
	for _, x := range r.Sources {
		edited := ""
		if x.Edited {
			edited = t.Dim(" edited")
		}
		t.Printf("%s %s%s\n", t.Accent(x.Path), t.Plain(x.Source), edited)
	}
	for _, x := range r.Deleted {
		t.Printf("%s %s %s\n", t.Dim("deleted"), t.Accent(x.Path), t.Plain(x.Source))
	}
	t.Printf("%s\n", t.Dim(fmt.Sprintf("%s, %d deleted", plural(r.Total, "source"), len(r.Deleted))))
}
