package site

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"kb/note"
)

// place names a doc or file.
type place struct{ collection, path string }

func (p place) compare(o place) int {
	return cmp.Or(strings.Compare(p.collection, o.collection), strings.Compare(p.path, o.path))
}

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

	known func(from *Doc, l *note.Link) (target, bool) // nil, or where links lead without asking resolvers
}

// edge is a link, seen from one of its ends: doc is the other.
type edge struct {
	doc   int
	nth   int // among the links of the note that it stands in
	start int // where in that note
}

// target is where a link leads that stays in its collection: the number of a doc
// or of a file, else -1.
type target struct {
	nth       int // among the note's links
	start     int // where it stands
	doc, file int
	embed     bool
	part      bool // it names a part of what it leads to
}

// newGraph names the pages of a set and follows its links.
func newGraph(set *Set, names *namer) *graph {
	g := &graph{
		set: set, files: map[place]int{}, docs: map[place]int{}, numbers: map[*Doc]int{},
		resolvers: map[string]*note.Resolver{}, pages: make([]string, len(set.Docs)),
		targets: make([][]target, len(set.Docs)), out: make([][]edge, len(set.Docs)), in: make([][]edge, len(set.Docs)),
	}
	g.place()
	for _, first := range []bool{true, false} { // index.md is its folder's page before README.md is
		for i, d := range set.Docs {
			if isIndexNote(d) == first {
				g.pages[i] = names.claim(pageName(g.prefix(d.Collection), d.Path), d.Collection+":"+d.Path)
			}
		}
	}
	for i, d := range set.Docs {
		g.targets[i] = g.follow(d)
	}
	g.connect()
	return g
}

// place makes the tables of docs and files by their places.
func (g *graph) place() {
	paths := map[string][]string{}
	for i, d := range g.set.Docs {
		g.docs[place{d.Collection, d.Path}] = i
		g.numbers[d] = i
		paths[d.Collection] = append(paths[d.Collection], d.Path)
	}
	for i, f := range g.set.Files {
		g.files[place{f.Collection, f.Path}] = i
		paths[f.Collection] = append(paths[f.Collection], f.Path)
	}
	for collection, p := range paths {
		g.resolvers[collection] = note.NewResolver(p)
	}
}

// follow finds where the links of a doc lead.
func (g *graph) follow(d *Doc) (out []target) {
	for k := range d.Note.Links {
		l := &d.Note.Links[k]
		if l.Target == "" {
			continue
		}
		if t, external := g.lookup(d, l); !external {
			t.nth, t.start, t.embed, t.part = k, l.Start, l.Embed, l.Fragment != ""
			out = append(out, t)
		}
	}
	return out
}

// lookup finds where a link in a doc leads, if not out of its collection.
func (g *graph) lookup(from *Doc, l *note.Link) (t target, external bool) {
	t = target{doc: -1, file: -1}
	if note.LeadsOut(*l) {
		return t, true
	}
	if g.known != nil {
		if t, ok := g.known(from, l); ok {
			return t, false
		}
	}
	to := g.resolvers[from.Collection].Resolve(from.Path, *l)
	if j, ok := g.docs[place{from.Collection, to.Path}]; ok && to.Path != "" {
		t.doc = j
	} else if j, ok := g.files[place{from.Collection, to.Path}]; ok && to.Path != "" {
		t.file = j
	}
	return t, false
}

// connect makes the edges of the targets.
func (g *graph) connect() {
	for i, targets := range g.targets {
		for _, t := range targets {
			if t.doc >= 0 && t.doc != i {
				g.out[i] = append(g.out[i], edge{t.doc, t.nth, t.start})
				g.in[t.doc] = append(g.in[t.doc], edge{i, t.nth, t.start})
			}
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
	t, _ := g.lookup(d, &l)
	return t.doc, t.doc >= 0
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
