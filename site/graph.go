package site

import (
	"path"
	"slices"
	"strings"

	"kb/note"
)

// place names a doc or file.
type place struct{ collection, path string }

// graph is how the docs of a set hang together: which page each has, where its
// links lead, and what leads to it.
type graph struct {
	set       *Set
	pages     []string // by doc: the name of its page
	files     map[place]int
	docs      map[place]int
	numbers   map[*Doc]int
	resolvers map[string]*note.Resolver
	targets   [][]target // by doc: where its links lead, in source order
	out       [][]edge   // by doc, in source order
	in        [][]edge   // by doc, in the order of the linking docs
}

// edge is a link, seen from one of its ends: doc is the other.
type edge struct {
	doc  int
	link *note.Link
}

// target is where a link leads that stays in its collection: the number of a doc
// or of a file, else -1.
type target struct {
	link      *note.Link
	doc, file int
}

// newGraph names the pages of a set and follows its links.
func newGraph(set *Set, names *namer) *graph {
	g := &graph{
		set: set, files: map[place]int{}, docs: map[place]int{}, numbers: map[*Doc]int{},
		resolvers: map[string]*note.Resolver{}, pages: make([]string, len(set.Docs)),
		targets: make([][]target, len(set.Docs)), out: make([][]edge, len(set.Docs)), in: make([][]edge, len(set.Docs)),
	}
	paths := map[string][]string{}
	for i, d := range set.Docs {
		g.docs[place{d.Collection, d.Path}] = i
		g.numbers[d] = i
		paths[d.Collection] = append(paths[d.Collection], d.Path)
	}
	for _, first := range []bool{true, false} { // index.md is its folder's page before README.md is
		for i, d := range set.Docs {
			if isIndexNote(d) == first {
				g.pages[i] = names.claim(pageName(g.prefix(d.Collection), d.Path), d.Collection+":"+d.Path)
			}
		}
	}
	for i, f := range set.Files {
		g.files[place{f.Collection, f.Path}] = i
		paths[f.Collection] = append(paths[f.Collection], f.Path)
	}
	for collection, p := range paths {
		g.resolvers[collection] = note.NewResolver(p)
	}
	for i, d := range set.Docs {
		g.follow(i, d)
	}
	return g
}

// follow finds where the links of doc i lead.
func (g *graph) follow(i int, d *Doc) {
	for k := range d.Note.Links {
		l := &d.Note.Links[k]
		if l.Target == "" {
			continue
		}
		to := g.resolvers[d.Collection].Resolve(d.Path, *l)
		if to.External {
			continue
		}
		t := target{link: l, doc: -1, file: -1}
		if j, ok := g.docs[place{d.Collection, to.Path}]; ok && to.Path != "" {
			t.doc = j
		} else if j, ok := g.files[place{d.Collection, to.Path}]; ok && to.Path != "" {
			t.file = j
		}
		g.targets[i] = append(g.targets[i], t)
		if t.doc >= 0 && t.doc != i {
			g.out[i] = append(g.out[i], edge{t.doc, l})
			g.in[t.doc] = append(g.in[t.doc], edge{i, l})
		}
	}
}

// prefix is the directory of a collection's pages: none when it is the only one.
func (g *graph) prefix(collection string) string {
	if len(g.set.Collections) == 1 {
		return ""
	}
	return collection
}

// docOf returns the doc that a link in d leads to.
func (g *graph) docOf(d *Doc, l note.Link) (int, bool) {
	if l.Target == "" {
		return g.numbers[d], l.Kind != note.AutoLink
	}
	t := g.resolvers[d.Collection].Resolve(d.Path, l)
	j, ok := g.docs[place{d.Collection, t.Path}]
	return j, ok && t.Path != ""
}

// neighbours lists the other ends of edges, each once, in order.
func neighbours(edges []edge) (out []int) {
	var seen map[int]bool
	for i, e := range edges {
		if i == few {
			seen = map[int]bool{}
			for _, j := range out {
				seen[j] = true
			}
		}
		if i < few && slices.Contains(out, e.doc) || seen[e.doc] {
			continue
		}
		if i >= few {
			seen[e.doc] = true
		}
		out = append(out, e.doc)
	}
	return out
}

// few is up to how many edges looking at all is the quickest.
const few = 16

// folderOf is the directory of a doc: "" or with a final slash.
func folderOf(d *Doc) string {
	dir, _ := path.Split(d.Path)
	return dir
}

func isIndexNote(d *Doc) bool {
	return strings.EqualFold(strings.TrimSuffix(path.Base(d.Path), path.Ext(d.Path)), "index")
}

// isFolderNote reports whether d is the note of its folder.
func isFolderNote(d *Doc) bool {
	return isIndex(strings.TrimSuffix(path.Base(d.Path), path.Ext(d.Path)))
}
