package vault

import (
	"context"
	"slices"

	"kb/gitstore"
	"kb/note"
)

// surroundings are the other notes that a draft is checked among: those of its
// branch, and those that merging would give. What many drafts have in common is
// taken from the branch, so that one more draft costs little.
type surroundings struct {
	before, after *view
	was           *linkGraph      // of before
	titles        named           // of before
	gone          map[string]bool // paths, within the repository, that the draft removes
	now           map[*collection]*note.Resolver
}

// inContext checks what depends on the other notes: links, titles, and notes that
// say the same.
func (c *checker) inContext(ctx context.Context) (err error) {
	s := surroundings{gone: map[string]bool{}}
	for _, e := range c.edits {
		if e.was != "" || e.kind == gitstore.Removed {
			s.gone[e.fullOf(e.former())] = true
		}
	}
	if s.before, err = c.before(ctx); err != nil {
		return err
	}
	if s.was, err = s.before.graph(ctx); err != nil {
		return err
	}
	if s.titles, err = s.before.titles(ctx); err != nil {
		return err
	}
	if s.after, err = c.merged(ctx); err != nil {
		return err
	}
	if _, err = s.after.allCards(ctx); err != nil {
		return err
	}
	c.links(&s)
	for _, e := range c.edits {
		if i, ok := s.after.docOfEdit(e); ok && e.kind == gitstore.Added && !c.conflicting(e.full()) {
			c.sameTitle(&s, e, i)
			c.sameText(s.after, e, i)
		}
	}
	return nil
}

// links reports the links of the draft's notes that lead nowhere, and those of
// other notes that the draft breaks.
func (c *checker) links(s *surroundings) {
	for _, l := range c.linking(s) {
		for k := range s.after.cards[l.after].links {
			b, broken := s.broken(l.after, &s.after.cards[l.after].links[k])
			if broken && (l.before < 0 || !hasBroken(s.was.of(l.before).broken, b)) {
				c.reportLink(l.edit, s.after.docs[l.after], b)
			}
		}
	}
}

// broken reports whether a link of a doc leads nowhere after the merge. Where it
// led before settles most: only what is not there any more is looked for among
// all notes that will be.
func (s *surroundings) broken(i int, l *note.Link) (brokenLink, bool) {
	d := s.after.docs[i]
	t := s.before.keptResolvers()[d.col].Resolve(d.path, *l)
	if _, why := s.after.leadsTo(t, i, l); why == "" && !t.Folder && !s.gone[d.col.full(t.Path)] {
		return brokenLink{}, false
	}
	if s.now == nil {
		s.now = s.after.resolvers()
	}
	j, why := s.after.leadsTo(s.now[d.col].Resolve(d.path, *l), i, l)
	switch why {
	case "":
		return brokenLink{}, false
	case noNote:
		return missing(l, s.titled(d.col, l.Target)), true
	}
	return brokenLink{link: l, why: why, near: s.after.docs[j].path}, true
}

// titled is the path of a note of that title or alias, "" for none.
func (s *surroundings) titled(c *collection, title string) string {
	for _, j := range s.titles.docs(foldName(title)) {
		d := s.before.docs[j]
		if _, stays := s.after.docAt(c.Name, d.path); stays && d.col == c {
			return d.path
		}
	}
	return ""
}

// linker is a note whose links the draft may have broken.
type linker struct {
	after  int           // in the merged view
	before int           // in the branch's; -1 for a new note
	edit   *proposedEdit // the draft's own change to it, or to what it links to
}

// linking lists the draft's notes, and those that link to a note which it changes,
// removes or moves.
func (c *checker) linking(s *surroundings) (out []linker) {
	before, after := s.before, s.after
	seen := map[int]bool{}
	add := func(i, j int, e *proposedEdit) {
		if !seen[i] {
			seen[i] = true
			out = append(out, linker{i, j, e})
		}
	}
	for _, e := range c.edits {
		if i, ok := after.docOfEdit(e); ok && !c.conflicting(e.full()) {
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
		for _, from := range s.was.in(j) {
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

// sameTitle looks for a note of the branch with the title of a new one.
func (c *checker) sameTitle(s *surroundings, e *proposedEdit, i int) {
	title := s.after.titleOf(i, s.after.cards[i])
	for _, j := range s.titles.docs(foldName(title)) {
		o := s.before.docs[j]
		if k, stays := s.after.docAt(e.col.Name, o.path); stays && k != i && o.col == e.col && foldName(s.after.titleOf(k, s.after.cards[k])) == foldName(title) {
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
