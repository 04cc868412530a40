// Package export writes the docs of a view as one Markdown document, as chunks
// for machines, as llms.txt, or as a bundle of files.
//
// What it writes is a function of the docs: no clock, no map order. It streams:
// one doc is in memory at a time, and those that it embeds. The package sees no
// git and no store; it is given docs and asks for their text.
package export

import (
	"cmp"
	"slices"

	"kb/note"
)

// Doc is a note at a path, with what an export says of it. All but the text is
// known before the export begins.
type Doc struct {
	Collection string
	Path       string // within the collection
	Title      string
	Tags       []string
	Created    string // YYYY-MM-DD, "" when unknown
	Updated    string
	Status     string
	URI        string // citation
	Summary    string
	Slugs      []string // anchors of its headings
}

// Set is the docs to export, in order, and how to read them.
type Set struct {
	Docs []Doc
	// Paths are those of every note that links may lead to, by collection; of
	// these, links to notes outside the set keep pointing at their files.
	Paths map[string][]string
	// Read returns a doc's parse and text. It is called in order, and for embeds.
	Read func(i int) (*note.Note, []byte, error)

	index     map[place]int
	anchors   []string
	resolvers map[string]*note.Resolver
}

type place struct{ collection, path string }

// prepare makes what links are resolved with.
func (s *Set) prepare() {
	if s.index != nil {
		return
	}
	s.index = make(map[place]int, len(s.Docs))
	s.anchors = make([]string, len(s.Docs))
	s.resolvers = map[string]*note.Resolver{}
	taken := map[string]int{}
	for i, d := range s.Docs {
		s.index[place{d.Collection, d.Path}] = i
		a := cmp.Or(note.Slug(pathWords(d.Path)), "note")
		n := taken[a]
		taken[a]++
		if n > 0 {
			a = numbered(a, n, taken)
		}
		s.anchors[i] = a
	}
	for c, paths := range s.Paths {
		s.resolvers[c] = note.NewResolver(paths)
	}
}

// target is where a link of doc i leads: to a doc of the set, to a note outside
// it, or out of the collection.
type target struct {
	doc      int    // index into Docs, -1 when it is not in the set
	path     string // within the collection; "" when the link is broken
	fragment string
	external bool
}

func (s *Set) resolve(i int, l note.Link) target {
	d := s.Docs[i]
	if l.Target == "" {
		return target{doc: i, path: d.Path, fragment: l.Fragment}
	}
	r := s.resolvers[d.Collection]
	if r == nil {
		return target{doc: -1}
	}
	t := r.Resolve(d.Path, l)
	if t.External {
		return target{doc: -1, external: true}
	}
	out := target{doc: -1, path: t.Path, fragment: t.Fragment}
	if j, ok := s.index[place{d.Collection, t.Path}]; ok {
		out.doc = j
	}
	return out
}

// anchor is the id of a heading of doc i in the export, or of the doc itself
// when it has no such heading.
func (s *Set) anchor(i int, slug string) string {
	if slug == "" || !slices.Contains(s.Docs[i].Slugs, slug) {
		return s.anchors[i]
	}
	return s.anchors[i] + "--" + slug
}
