package vault

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"kb/note"
)

// linked lists the other ends, each note once, at its first link.
func (w *view) linked(ends []linkTo) []Linked {
	out := []Linked{}
	seen := map[int]bool{}
	for _, e := range ends {
		if seen[e.doc] {
			continue
		}
		seen[e.doc] = true
		out = append(out, w.linkedDoc(e))
	}
	return out
}

func (w *view) linkedDoc(e linkTo) Linked {
	d := w.docs[e.doc]
	return Linked{Path: d.path, Title: w.titleOf(e.doc, w.cards[e.doc]), Collection: d.col.Name, Line: e.link.Line, Text: e.link.Text}
}

// Linked is a note at the other end of a link.
type Linked struct {
	Path       string `json:"path"`
	Title      string `json:"title"`
	Collection string `json:"collection"`
	Line       int    `json:"line"` // of the link, in the note that has it
	Text       string `json:"text"`
}

// LinksParams names a note whose links are wanted; without one, the graph is.
type LinksParams struct {
	Path       string `json:"path,omitempty" arg:"" help:"note: path, title, alias or citation; without it the whole graph"`
	Direction  string `json:"direction,omitempty" enum:"both,out,in" default:"both" help:"which links"`
	Depth      int    `json:"depth,omitempty" default:"1" min:"1" max:"5" help:"how many links away"`
	Collection string `json:"collection,omitempty" help:"graph of this collection only"`
	MaxTokens  int    `json:"max_tokens,omitempty" default:"6000" min:"100" help:"budget"`
	Cursor     string `json:"cursor,omitempty" help:"next of an answer"`

	Suggest bool   `json:"suggest,omitempty" hidden:"" help:"instead: mentions of notes that are no links, and near notes never linked"`
	Most    int    `json:"most,omitempty" hidden:"" default:"50" min:"1" max:"10000" help:"suggestions of each kind"`
	Apply   bool   `json:"apply,omitempty" hidden:"" help:"propose the mentions as links, as a draft"`
	Draft   string `json:"draft,omitempty" hidden:"" help:"draft to add to (default: a new one)"`
	atParam
}

// writes reports whether p adds to the repository.
func (p LinksParams) writes() bool { return p.Apply }

// LinksResult is the links of a note, or the graph.
type LinksResult struct {
	Path            string          `json:"path,omitempty"`
	Out             []Linked        `json:"out"`
	In              []Linked        `json:"in"`
	Broken          []BrokenLink    `json:"broken"`
	Ambiguous       []AmbiguousLink `json:"ambiguous"`
	Nodes           []Node          `json:"nodes"`
	Edges           []Edge          `json:"edges"`
	NodeCount       int             `json:"node_count"` // before the budget cut any
	EdgeCount       int             `json:"edge_count"`
	Orphans         int             `json:"orphans"`
	UnresolvedLinks int             `json:"unresolved_links"`
	AmbiguousLinks  int             `json:"ambiguous_links"`
	Truncated       bool            `json:"truncated,omitempty"`
	Next            string          `json:"next,omitempty"`

	Suggested *Suggestions `json:"suggested,omitempty" schema:"-"` // what suggest found
	Seen
}

// BrokenLink is a link that leads nowhere.
type BrokenLink struct {
	Path  string `json:"path"` // what it names
	Title string `json:"title"`
	Line  int    `json:"line"`
	Text  string `json:"text"`
	Why   string `json:"why"`
	Near  string `json:"near,omitempty"` // the note that may be meant
}

// AmbiguousLink is a link by a name that several files have.
type AmbiguousLink struct {
	Path       string   `json:"path"` // what it names
	Line       int      `json:"line"`
	Means      string   `json:"means"`      // the file that it is taken for
	Candidates []string `json:"candidates"` // all files of the name
}

// maxCandidates bounds the files listed of one name.
const maxCandidates = 10

// Node is a note of the graph; one that is linked to but does not exist has
// exists false.
type Node struct {
	Path    string   `json:"path"`
	Title   string   `json:"title"`
	Tags    []string `json:"tags"`
	Aliases []string `json:"aliases"`
	Exists  bool     `json:"exists"`
	Orphan  bool     `json:"orphan"` // no link leads to or from it
}

// Edge is all links from one note to another.
type Edge struct {
	From     string `json:"from"`
	To       string `json:"to"`
	Count    int    `json:"count"`
	Resolved bool   `json:"resolved"`
}

var linksOp = define(Op{
	Name:        "kb_links",
	Title:       "Follow links",
	Summary:     "Show the links of a note, or the graph of all",
	Description: "Links to and from a note, with line and text, broken or ambiguous; depth follows further. Without path: the graph of the vault as nodes and edges.",
	Examples:    []string{"kb links guides/retry.md", "kb links --json | jq '.orphans'", "kb links --suggest", "kb links --apply --draft links"},
}, (*Vault).Links)

// Links lists the links of a note, or makes the graph.
func (v *Vault) Links(ctx context.Context, p LinksParams) (*LinksResult, error) {
	if p.Suggest || p.Apply {
		return v.suggestLinks(ctx, p)
	}
	if p.Path == "" {
		return v.wholeGraph(ctx, p)
	}
	from, err := resume(p.Cursor, p.At)
	if err != nil {
		return nil, err
	}
	f, err := v.find(ctx, p.Path, from.at)
	if err != nil {
		return nil, err
	}
	if err := from.check(f.view); err != nil {
		return nil, err
	}
	g, err := f.graph(ctx)
	if err != nil {
		return nil, err
	}
	r := newLinksResult(f.view)
	r.Path = f.docs[f.doc].path
	if p.Direction != "in" {
		r.Out = f.reach(g.out, f.doc, p.Depth)
		for _, b := range g.of(f.doc).broken {
			r.Broken = append(r.Broken, BrokenLink{Path: linkName(b.link), Title: b.link.Target, Line: b.link.Line,
				Text: b.link.Text, Why: string(b.why), Near: b.near})
		}
		for _, u := range g.of(f.doc).unsure {
			r.Ambiguous = append(r.Ambiguous, AmbiguousLink{Path: linkName(u.link), Line: u.link.Line, Means: u.path,
				Candidates: u.paths[:min(maxCandidates, len(u.paths))]})
		}
	}
	if p.Direction != "out" {
		r.In = f.reach(g.in, f.doc, p.Depth)
	}
	r.UnresolvedLinks, r.AmbiguousLinks = len(r.Broken), len(r.Ambiguous)
	r.cut(f.view, from.offset, p.MaxTokens)
	return r, nil
}

func newLinksResult(w *view) *LinksResult {
	return &LinksResult{Out: []Linked{}, In: []Linked{}, Broken: []BrokenLink{}, Ambiguous: []AmbiguousLink{}, Nodes: []Node{}, Edges: []Edge{}, Seen: w.seen()}
}

// reach lists the notes within depth links, nearest first.
func (w *view) reach(links func(i int) []linkTo, from, depth int) []Linked {
	out := []Linked{}
	seen := map[int]bool{from: true}
	ring := []int{from}
	for range depth {
		var next []int
		for _, i := range ring {
			for _, e := range links(i) {
				if !seen[e.doc] {
					seen[e.doc] = true
					next = append(next, e.doc)
					out = append(out, w.linkedDoc(e))
				}
			}
		}
		ring = next
	}
	return out
}

func linkName(l *note.Link) string {
	if l.Fragment == "" {
		return l.Target
	}
	return l.Target + "#" + l.Fragment
}

func (v *Vault) wholeGraph(ctx context.Context, p LinksParams) (*LinksResult, error) {
	w, offset, err := v.readFrom(ctx, p.Cursor, p.At)
	if err != nil {
		return nil, err
	}
	cols, err := v.collections(p.Collection)
	if err != nil {
		return nil, err
	}
	if _, err := w.allCards(ctx); err != nil {
		return nil, err
	}
	g, err := w.graph(ctx)
	if err != nil {
		return nil, err
	}
	r := newLinksResult(w)
	for i, d := range w.docs {
		if !slices.Contains(cols, d.col) {
			continue
		}
		orphan := len(g.out(i)) == 0 && len(g.in(i)) == 0
		if orphan {
			r.Orphans++
		}
		c := w.cards[i]
		r.Nodes = append(r.Nodes, Node{Path: w.name(i), Title: w.titleOf(i, c), Tags: fewTags(c.tags),
			Aliases: append([]string{}, c.aliases...), Exists: true, Orphan: orphan})
		r.Edges = append(r.Edges, w.edges(g, i)...)
		r.UnresolvedLinks += len(g.of(i).broken)
		r.AmbiguousLinks += len(g.of(i).unsure)
	}
	r.addMissing()
	r.NodeCount, r.EdgeCount = len(r.Nodes), len(r.Edges)
	r.cut(w, offset, p.MaxTokens)
	return r, nil
}

// name is a doc's path, with its collection where there are several.
func (w *view) name(i int) string {
	if len(w.v.cols) == 1 {
		return w.docs[i].path
	}
	return w.docs[i].col.Name + ":" + w.docs[i].path
}

// edges are the links of doc i, those to one note together.
func (w *view) edges(g *linkGraph, i int) []Edge {
	var out []Edge
	add := func(to string, resolved bool) {
		for k := range out {
			if out[k].To == to && out[k].Resolved == resolved {
				out[k].Count++
				return
			}
		}
		out = append(out, Edge{From: w.name(i), To: to, Count: 1, Resolved: resolved})
	}
	for _, e := range g.out(i) {
		add(w.name(e.doc), true)
	}
	for _, b := range g.of(i).broken {
		if b.why == noNote || b.why == onlyAlias {
			add(b.link.Target, false)
		}
	}
	slices.SortFunc(out, func(a, b Edge) int { return strings.Compare(a.To, b.To) })
	return out
}

// addMissing adds a node for each note that is linked to but does not exist.
func (r *LinksResult) addMissing() {
	seen := map[string]bool{}
	for _, e := range r.Edges {
		if !e.Resolved && !seen[e.To] {
			seen[e.To] = true
			r.Nodes = append(r.Nodes, Node{Path: e.To, Title: e.To, Tags: []string{}, Aliases: []string{}})
		}
	}
	slices.SortStableFunc(r.Nodes, func(a, b Node) int {
		return cmp.Or(-cmp.Compare(btoi(a.Exists), btoi(b.Exists)), strings.Compare(a.Path, b.Path))
	})
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// cut leaves one page of the lists in r.
func (r *LinksResult) cut(w *view, offset, budget int) {
	next := page([]pile{
		pileOf(&r.Out, costs[Linked](25)),
		pileOf(&r.In, costs[Linked](25)),
		pileOf(&r.Broken, costs[BrokenLink](25)),
		pileOf(&r.Ambiguous, costs[AmbiguousLink](25)),
		pileOf(&r.Nodes, costs[Node](30)),
		pileOf(&r.Edges, costs[Edge](25)),
	}, offset, budget)
	if next > 0 {
		r.Truncated, r.Next = true, w.cursor(next)
	}
}

// Text writes the links as lists.
func (r *LinksResult) Text(t *Text) {
	if r.Suggested != nil {
		r.Suggested.text(t)
		t.Printf("%s\n", t.Dim(r.Seen.text()))
		return
	}
	if r.Path == "" {
		t.Printf("%s, %s, %s, %s, %s\n", t.Strong(plural(r.NodeCount, "node")), plural(r.EdgeCount, "edge"),
			plural(r.Orphans, "orphan"), plural(r.UnresolvedLinks, "broken link"), plural(r.AmbiguousLinks, "ambiguous link"))
		t.Printf("%s\n", t.Dim(r.Seen.text()))
		return
	}
	list := func(name string, links []Linked) {
		if len(links) == 0 {
			return
		}
		t.Printf("%s\n", t.Strong(name))
		for _, l := range links {
			t.Printf("  %s  %s  %s\n", t.Plain(l.Title), t.Accent(l.Path), t.Dim(clip(oneSpace(l.Text), 60)))
		}
	}
	list("links to", r.Out)
	list("linked from", r.In)
	if len(r.Broken) > 0 {
		t.Printf("%s\n", t.Strong("broken"))
		for _, b := range r.Broken {
			t.Printf("  %s\n", t.Warn(strings.Join(nonEmpty([]string{b.Path, b.Why, b.Near}), " - ")))
		}
	}
	if len(r.Ambiguous) > 0 {
		t.Printf("%s\n", t.Strong("ambiguous"))
		for _, a := range r.Ambiguous {
			t.Printf("  %s\n", t.Warn(fmt.Sprintf("%s - taken for %s, of %s", a.Path, a.Means, strings.Join(a.Candidates, ", "))))
		}
	}
	t.more(r.Next)
	t.Printf("%s\n", t.Dim(r.Seen.text()))
}

func oneSpace(s string) string { return strings.Join(strings.Fields(s), " ") }
