package vault

import (
	"context"
	"path"
	"slices"
	"strings"

	"kb/note"
)

// linkGraph is how the docs of a view link to each other.
type linkGraph struct {
	by []*docLinks // by doc; nil where there are no links. Not to be changed
}

// docLinks are the links of one doc, and those that lead to it.
type docLinks struct {
	out    []linkTo // in source order
	in     []linkTo // in order of the linking docs
	broken []brokenLink
	unsure []unsureLink
}

var noLinks docLinks

// of are the links of doc i.
func (g *linkGraph) of(i int) *docLinks {
	if l := g.by[i]; l != nil {
		return l
	}
	return &noLinks
}

func (g *linkGraph) out(i int) []linkTo { return g.of(i).out }
func (g *linkGraph) in(i int) []linkTo  { return g.of(i).in }

// unsureLink is a link that could mean several files: path is the one that it
// is taken for, all of them are in paths.
type unsureLink struct {
	link  *note.Link
	path  string
	paths []string
}

// linkTo is one link, seen from one of its ends: doc is the other end.
type linkTo struct {
	doc  int
	link *note.Link
}

// brokenLink is a link that leads nowhere, and why.
type brokenLink struct {
	link *note.Link
	why  breakage
	near string // the note that was probably meant, "" when there is none
	name string // what it names, as names are compared
}

type breakage string

const (
	noNote    breakage = "no such note"
	onlyAlias breakage = "only an alias: Obsidian does not follow it"
	noHeading breakage = "no such heading in the note"
	noBlock   breakage = "no such block in the note"
)

// graph resolves the links of the view, once: all of them, or where most of its
// docs are those of another view in memory those that lead elsewhere now.
func (w *view) graph(ctx context.Context) (*linkGraph, error) {
	if _, err := w.allCards(ctx); err != nil {
		return nil, err
	}
	titles, err := w.titles(ctx)
	if err != nil {
		return nil, err
	}
	resolvers := w.keptResolvers()
	var old earlierLinks
	old.since = w.earlier(func(c *contents) bool {
		old.graph, old.cards = c.links, c.cards
		return old.graph != nil
	})
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.links != nil {
		return w.links, nil
	}
	r := linkReader{w, resolvers, titles}
	if old.since == nil {
		w.links = r.all()
	} else {
		w.links = r.update(old)
	}
	return w.links, nil
}

// resolvers finds links in each collection, among its notes and other files.
func (w *view) resolvers() map[*collection]*note.Resolver {
	out := map[*collection]*note.Resolver{}
	for c, paths := range w.paths() {
		out[c] = note.NewResolver(paths)
	}
	return out
}

// paths are those of the notes and other files of each collection.
func (w *view) paths() map[*collection][]string {
	paths := map[*collection][]string{}
	for _, c := range w.v.cols {
		paths[c] = nil
	}
	for _, d := range w.docs {
		paths[d.col] = append(paths[d.col], d.path)
	}
	for c, others := range w.others {
		paths[c] = append(paths[c], others...)
	}
	return paths
}

// keptResolvers are resolvers that stay with the view, and serve every view with
// the same paths.
func (w *view) keptResolvers() map[*collection]*note.Resolver {
	w.resolving.Do(func() {
		var finders map[*collection]*note.Resolver
		s := w.earlier(func(c *contents) bool { finders = c.finders; return finders != nil })
		if s == nil || !s.placed {
			finders = w.resolvers()
		}
		w.mu.Lock()
		defer w.mu.Unlock()
		w.finders = finders
	})
	return w.finders
}

// linkReader makes the link graph of a view.
type linkReader struct {
	*view
	resolvers map[*collection]*note.Resolver
	titles    named
}

// all resolves every link.
func (r linkReader) all() *linkGraph {
	g := &linkGraph{by: make([]*docLinks, len(r.docs))}
	for i := range r.docs {
		g.by[i] = r.links(i)
	}
	for i := range g.by {
		for _, e := range g.out(i) {
			if g.by[e.doc] == nil {
				g.by[e.doc] = &docLinks{}
			}
			to := g.by[e.doc]
			to.in = append(to.in, linkTo{i, e.link})
		}
	}
	return g
}

// links resolves the links of doc i; nil for none that leads to a note, or should.
func (r linkReader) links(i int) *docLinks {
	d := &docLinks{}
	for k := range r.cards[i].links {
		r.follow(d, i, &r.cards[i].links[k])
	}
	if len(d.out)+len(d.broken)+len(d.unsure) == 0 {
		return nil
	}
	return d
}

// follow adds one link of doc i to its links.
func (r linkReader) follow(to *docLinks, i int, l *note.Link) {
	t := r.resolvers[r.docs[i].col].Resolve(r.docs[i].path, *l)
	j, why := r.leadsTo(t, i, l)
	if len(t.Ambiguous) > 0 && !t.External {
		to.unsure = append(to.unsure, unsureLink{l, t.Path, t.Ambiguous})
	}
	switch {
	case why == noNote:
		near := ""
		if docs := r.titles.docs(foldName(l.Target)); len(docs) > 0 {
			near = r.docs[docs[0]].path
		}
		to.broken = append(to.broken, missing(l, near))
		return
	case j < 0:
		return
	case why != "":
		to.broken = append(to.broken, brokenLink{link: l, why: why, near: r.docs[j].path, name: foldName(l.Target)})
	}
	if j != i {
		to.out = append(to.out, linkTo{j, l})
	}
}

// leadsTo finds the doc of a target to which a link of doc i was resolved, -1 when
// that is no note. A link that is broken says why.
func (w *view) leadsTo(t note.Target, i int, l *note.Link) (doc int, why breakage) {
	d := w.docs[i]
	switch {
	case t.External, t.Folder:
		return -1, ""
	case t.Path == "" && l.Kind == note.MarkdownLink && strings.HasPrefix(path.Join(path.Dir(d.path), l.Target)+"/", "../"):
		return -1, "" // to a file of the repository outside the collection
	case t.Path == "" && l.Target != "":
		return -1, noNote
	}
	doc = i
	if l.Target != "" {
		var ok bool
		if doc, ok = w.docAt(d.col.Name, t.Path); !ok {
			return -1, "" // an attachment
		}
	}
	return doc, w.cards[doc].missingFragment(t.Fragment, l.Kind)
}

// missing is a link to no note; near is the path of the one whose title or alias
// it names, "" for none.
func missing(l *note.Link, near string) brokenLink {
	b := brokenLink{link: l, why: noNote, near: near, name: foldName(l.Target)}
	if near != "" && l.Kind == note.WikiLink && !strings.EqualFold(fileTitle(near), l.Target) {
		b.why = onlyAlias
	}
	return b
}

// missingFragment says what is wrong with a link's fragment, "" for nothing. Ids
// of HTML are for Markdown links, as on GitHub; Obsidian does not know them.
func (c *card) missingFragment(fragment string, kind note.LinkKind) breakage {
	if fragment == "" || kind == note.MarkdownLink && slices.Contains(c.anchors, fragment) {
		return ""
	}
	if id, ok := strings.CutPrefix(fragment, "^"); ok {
		if slices.Contains(c.blocks, id) {
			return ""
		}
		return noBlock
	}
	last := fragment[strings.LastIndexByte(fragment, '#')+1:]
	slug := note.Slug(last)
	for _, s := range c.slugs {
		if s == last || s == slug {
			return ""
		}
	}
	return noHeading
}
