package vault

import (
	"context"
	"slices"

	"kb/gitstore"
)

// inContext checks what depends on the other notes, in the view that merging
// would give: links, titles, and notes that say the same.
func (c *checker) inContext(ctx context.Context) error {
	before, err := c.before(ctx)
	if err != nil {
		return err
	}
	was, err := before.graph(ctx)
	if err != nil {
		return err
	}
	after, err := c.merged(ctx)
	if err != nil {
		return err
	}
	if _, err := after.allCards(ctx); err != nil {
		return err
	}
	titles, err := after.titles(ctx)
	if err != nil {
		return err
	}
	c.links(before, was, after, titles)
	for _, e := range c.edits {
		if i, ok := c.docOf(after, e); ok && e.kind == gitstore.Added && !c.conflicting(e.full()) {
			c.sameTitle(after, titles, e, i)
			c.sameText(after, e, i)
		}
	}
	return nil
}

// docOf is the doc that an edit gives in the merged view.
func (c *checker) docOf(after *view, e *proposedEdit) (int, bool) {
	if e.note == nil {
		return 0, false
	}
	return after.docAt(e.col.Name, e.destination())
}

// links reports the links of the draft's notes that lead nowhere, and those of
// other notes that the draft breaks.
func (c *checker) links(before *view, was *linkGraph, after *view, titles map[string][]int) {
	resolvers := after.resolvers()
	g := &linkGraph{out: make([][]linkTo, len(after.docs)), in: make([][]linkTo, len(after.docs)), broken: make([][]brokenLink, len(after.docs))}
	for _, s := range c.linking(before, was, after) {
		d := after.docs[s.after]
		for k := range after.cards[s.after].links {
			after.follow(g, resolvers[d.col], titles, s.after, &after.cards[s.after].links[k])
		}
		for _, b := range g.broken[s.after] {
			if s.before >= 0 && hasBroken(was.broken[s.before], b) {
				continue
			}
			c.reportLink(s.edit, d, b)
		}
	}
}

// linker is a note whose links the draft may have broken.
type linker struct {
	after  int           // in the merged view
	before int           // in the branch's; -1 for a new note
	edit   *proposedEdit // the draft's own change to it, or to what it links to
}

// linking lists the draft's notes, and those that link to a note which it changes,
// removes or moves.
func (c *checker) linking(before *view, was *linkGraph, after *view) (out []linker) {
	seen := map[int]bool{}
	add := func(i, j int, e *proposedEdit) {
		if !seen[i] {
			seen[i] = true
			out = append(out, linker{i, j, e})
		}
	}
	for _, e := range c.edits {
		if i, ok := c.docOf(after, e); ok && !c.conflicting(e.full()) {
			j, old := -1, false
			if e.previous != nil {
				if j, old = before.docAt(e.col.Name, e.former()); !old {
					j = -1
				}
			}
			add(i, j, e)
		}
	}
	for _, e := range c.edits {
		if e.previous == nil {
			continue
		}
		j, ok := before.docAt(e.col.Name, e.former())
		if !ok {
			continue
		}
		for _, from := range was.in[j] {
			d := before.docs[from.doc]
			if i, ok := after.docAt(d.col.Name, d.path); ok && !c.conflicting(d.col.full(d.path)) {
				add(i, from.doc, e)
			}
		}
	}
	return out
}

// hasBroken reports whether a link was broken before the draft.
func hasBroken(list []brokenLink, b brokenLink) bool {
	return slices.ContainsFunc(list, func(o brokenLink) bool { return linkName(o.link) == linkName(b.link) })
}

func (c *checker) reportLink(e *proposedEdit, d doc, b brokenLink) {
	check := checkLink
	if b.link.Embed {
		check = checkEmbed
	}
	if e.col == d.col && e.note != nil && e.destination() == d.path {
		c.report(e, b.link.Line, check, b.mend(), "%s: %s", linkName(b.link), b.why)
		return
	}
	c.report(e, 1, check, "mend the link there, too", "breaks the link %s of %s:%d", linkName(b.link), d.path, b.link.Line)
}

func (c *checker) sameTitle(after *view, titles map[string][]int, e *proposedEdit, i int) {
	title := after.titleOf(i, after.cards[i])
	for _, j := range titles[foldName(title)] {
		if o := after.docs[j]; j != i && o.col == e.col && foldName(after.titleOf(j, after.cards[j])) == foldName(title) {
			c.report(e, 1, checkTitle, "give it another title, or change that note instead", "%q is also the title of %s", title, o.path)
			return
		}
	}
}

// sameText finds the note of the collection that is most like a new one.
func (c *checker) sameText(after *view, e *proposedEdit, i int) {
	const least = 20 // words: shorter notes resemble each other
	if e.note.Words < least {
		return
	}
	best, like := -1, nearDuplicate
	for j, d := range after.docs {
		if j == i || d.col != e.col || after.cards[j].words < least {
			continue
		}
		if s := e.note.Sketch.Similar(after.cards[j].sketch); s >= like && (s > like || best < 0) {
			best, like = j, s
		}
	}
	if best >= 0 {
		c.report(e, 1, checkDuplicate, "change that note instead, or link to it", "about %.0f %% the same as %s", 100*like, after.docs[best].path)
	}
}
