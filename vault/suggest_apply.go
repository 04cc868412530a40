package vault

import (
	"context"
	"errors"
	"net/url"
	"path"
	"path/filepath"
	"strings"

	"kb/draft"
	"kb/note"
)

// applyLinks proposes the surest mentions as links, in one commit on a draft.
func (v *Vault) applyLinks(ctx context.Context, p LinksParams) (*LinksResult, error) {
	c, err := v.writable(p.Collection)
	if err != nil {
		return nil, err
	}
	p.Collection = c.Name
	s := &Suggestions{Mentions: []Suggestion{}, Neighbours: []Suggestion{}}
	d := drafting{vault: v, col: c, draft: p.Draft, title: "Link mentions", subject: "Link mentions of notes"}
	var on *ground
	d.edit = func(ctx context.Context, g *ground) (changes []fileChange, err error) {
		on = g
		changes, err = g.linkMentions(ctx, p, s)
		return changes, err
	}
	written, err := d.run(ctx)
	if err != nil && !errors.Is(err, draft.ErrNoChange) {
		return nil, err
	}
	if err == nil {
		s.Draft, s.Branch, s.Commit, s.Review = written.Draft, written.Branch, written.Commit, written.Review
	}
	r := newLinksResult(on.view)
	r.Suggested = s
	return r, nil
}

// linkMentions writes the links into the notes. One that the draft changed
// already is left alone.
func (g *ground) linkMentions(ctx context.Context, p LinksParams, s *Suggestions) (changes []fileChange, err error) {
	keep, err := g.suggestFor(ctx, p)
	if err != nil {
		return nil, err
	}
	found, err := g.mentions(ctx, keep)
	if err != nil {
		return nil, err
	}
	s.Mentions, s.Total, s.Linked = []Suggestion{}, len(found), 0
	byDoc, order := map[int][]unlinked{}, []int(nil)
	for _, u := range found[:min(len(found), p.Most)] {
		if byDoc[u.from] == nil {
			order = append(order, u.from)
		}
		byDoc[u.from] = append(byDoc[u.from], u)
	}
	graph, err := g.graph(ctx)
	if err != nil {
		return nil, err
	}
	writer := linkWriter{note.NewResolver(g.paths()), graph.prefersMarkdown(g.view, g.col)}
	for _, i := range order {
		at := g.docs[i].path
		if _, changed := g.drafted[at]; changed || g.v.checkTarget(g.col, at, false) != nil {
			continue
		}
		src, err := g.bytes(g.docs[i].blob)
		if err != nil {
			return nil, err
		}
		var links []note.NewLink
		for _, u := range byDoc[i] {
			if with, ok := writer.link(at, g.docs[u.doc].path, u.text); ok {
				links = append(links, note.NewLink{Span: u.Span, With: with})
				s.Mentions = append(s.Mentions, g.suggestion(u))
			}
		}
		now, err := note.AddLinks(src, links)
		if err != nil {
			s.Mentions = s.Mentions[:len(s.Mentions)-len(links)] // a note that would read otherwise stays
			continue
		}
		s.Linked += len(links)
		changes = append(changes, fileChange{path: at, now: now})
	}
	return changes, nil
}

// prefersMarkdown reports whether the notes of c link with [text](path) more than
// with [[name]].
func (g *linkGraph) prefersMarkdown(w *view, c *collection) bool {
	markdown := 0
	for i := range g.by {
		for _, l := range g.out(i) {
			if w.docs[i].col != c {
				continue
			}
			if l.link.Kind == note.MarkdownLink {
				markdown++
			} else {
				markdown--
			}
		}
	}
	return markdown > 0
}

// linkWriter writes links as a collection does.
type linkWriter struct {
	files    *note.Resolver
	markdown bool
}

// link is the link of words in the note at from to the note at to, in the shortest
// form that leads there and nowhere else.
func (x linkWriter) link(from, to, words string) (string, bool) {
	if strings.ContainsAny(words, "[]|\n") {
		return "", false
	}
	if x.markdown {
		rel, err := filepath.Rel(filepath.FromSlash(path.Dir(from)), filepath.FromSlash(to))
		target := filepath.ToSlash(rel)
		escaped := strings.NewReplacer("(", "%28", ")", "%29").Replace((&url.URL{Path: target}).EscapedPath())
		return "[" + words + "](" + escaped + ")", err == nil && x.leads(note.MarkdownLink, from, target, to)
	}
	stem := strings.TrimSuffix(to, path.Ext(to))
	for _, target := range []string{path.Base(stem), stem} {
		if strings.ContainsAny(target, "[]|#^") || !x.leads(note.WikiLink, from, target, to) {
			continue
		}
		if target == words {
			return "[[" + words + "]]", true
		}
		return "[[" + target + "|" + words + "]]", true
	}
	return "", false
}

func (x linkWriter) leads(kind note.LinkKind, from, target, to string) bool {
	t := x.files.Resolve(from, note.Link{Kind: kind, Target: target})
	return t.Path == to && len(t.Ambiguous) == 0
}
