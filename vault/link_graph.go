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
	out    [][]linkTo // by doc, in source order
	in     [][]linkTo // by doc, in order of the linking docs
	broken [][]brokenLink
	unsure [][]unsureLink
}

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
		old.graph, old.called = c.links, c.called
		return old.graph != nil
	})
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.links != nil && !w.partial.Load() {
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
	titles    map[string][]int
}

func newLinkGraph(docs int) *linkGraph {
	return &linkGraph{out: make([][]linkTo, docs), in: make([][]linkTo, docs), broken: make([][]brokenLink, docs), unsure: make([][]unsureLink, docs)}
}

// all resolves every link.
func (r linkReader) all() *linkGraph {
	g := newLinkGraph(len(r.docs))
	for i := range r.docs {
		r.links(g, i)
	}
	g.invert()
	return g
}

// invert makes in of out.
func (g *linkGraph) invert() {
	for i, out := range g.out {
		for _, e := range out {
			g.in[e.doc] = append(g.in[e.doc], linkTo{i, e.link})
		}
	}
}

// links resolves the links of doc i.
func (r linkReader) links(g *linkGraph, i int) {
	for k := range r.cards[i].links {
		r.follow(g, i, &r.cards[i].links[k])
	}
}

// follow adds one link of doc i to the graph.
func (r linkReader) follow(g *linkGraph, i int, l *note.Link) {
	t := r.resolvers[r.docs[i].col].Resolve(r.docs[i].path, *l)
	j, why := r.leadsTo(t, i, l)
	if len(t.Ambiguous) > 0 && !t.External {
		g.unsure[i] = append(g.unsure[i], unsureLink{l, t.Path, t.Ambiguous})
	}
	switch {
	case why == noNote:
		near := ""
		if docs := r.titles[foldName(l.Target)]; len(docs) > 0 {
			near = r.docs[docs[0]].path
		}
		g.broken[i] = append(g.broken[i], missing(l, near))
		return
	case j < 0:
		return
	case why != "":
		g.broken[i] = append(g.broken[i], brokenLink{link: l, why: why, near: r.docs[j].path})
	}
	if j != i {
		g.out[i] = append(g.out[i], linkTo{j, l})
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
	b := brokenLink{link: l, why: noNote, near: near}
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
