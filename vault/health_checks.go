package vault

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"kb/note"
)

// checkKind is one of the lists of a [CollectionHealth], in the order of their
// weight.
type checkKind int

const (
	findMalformed checkKind = iota
	findBrokenLinks
	findBrokenEmbeds
	findFlagged
	findDuplicateTitles
	findConflicting
	findObsoleteLinks
	findAmbiguousLinks
	findNearDuplicates
	findOrphans
	findStubs
	findStale
	findNoTags
	findMissingCreated
	findMissingUpdated
	findKinds // how many there are
)

// mark is an issue with a doc, not yet in words: of a quarter of a million, an answer
// shows a hundred.
type mark struct {
	kind checkKind
	line int32
	nth  int32 // which of the doc's problems, broken links, aliases...
	say  wording
}

// wording puts an issue with doc i into words.
type wording func(x *inspector, i int, m mark) (message, mend string)

// finding is a mark and the doc that has it.
type finding struct {
	doc int
	mark
}

// inspector holds what the checks of one view need.
type inspector struct {
	*view
	by    *comparison
	graph *linkGraph
	days  []*dated
	held  *table[holding]
	alike *overlaps

	minWords int
	old      string // a note that last changed before this day is stale
}

// inspector makes ready what is derived of the view for its checks at a time.
func (w *view) inspector(ctx context.Context, p HealthParams, by *comparison, at time.Time) (x inspector, err error) {
	x = inspector{view: w, by: by, minWords: p.MinWords, old: at.AddDate(0, 0, -p.StaleDays).Format(time.DateOnly)}
	if x.graph, err = w.graph(ctx); err != nil {
		return x, err
	}
	if x.days, err = w.days(ctx); err != nil {
		return x, err
	}
	if x.held, err = w.holdings(ctx); err != nil {
		return x, err
	}
	x.alike, err = w.worded(ctx, max(p.MinWords, 20))
	return x, err
}

// check marks what is wrong with doc i.
func (x *inspector) check(i int) []mark {
	m := marks(nil)
	x.note(&m, i)
	x.linksOf(&m, i)
	x.shared(&m, i)
	if x.duplicate(i) {
		m.add(findNearDuplicates, 1, 0, sayNearDuplicate)
	}
	return slices.Clip(m)
}

type marks []mark

func (m *marks) add(kind checkKind, line, nth int, say wording) {
	*m = append(*m, mark{kind, int32(max(line, 1)), int32(nth), say})
}

// note checks what concerns one note alone.
func (x *inspector) note(m *marks, i int) {
	c := x.cards[i]
	for n, p := range c.problems {
		if p.Code == "malformed_frontmatter" || p.Code == "duplicate_key" {
			m.add(findMalformed, p.Line, n, sayProblem)
		}
	}
	m.dated(c, findMissingCreated, "created", c.created)
	m.dated(c, findMissingUpdated, "updated", c.updated)
	if len(c.tags) == 0 {
		m.add(findNoTags, 1, 0, sayNoTags)
	}
	if c.words < x.minWords {
		m.add(findStubs, 1, 0, sayStub)
	}
	if c.flagged() {
		m.add(findFlagged, c.lineOf(keyFlagged), 0, sayFlagged)
	}
	if x.stale(i) {
		m.add(findStale, 1, 0, sayStale)
	}
	if len(x.graph.in(i)) == 0 && len(x.graph.out(i)) == 0 {
		m.add(findOrphans, 1, 0, sayOrphan)
	}
}

// dated checks one of the two dates of a note.
func (m *marks) dated(c *card, kind checkKind, key, value string) {
	if value == "" {
		m.add(kind, 1, 0, sayNoDate[key])
	} else if _, ok := note.ParseDate(value); !ok {
		m.add(kind, c.lineOf(key), 0, sayBadDate[key])
	}
}

func (x *inspector) stale(i int) bool {
	d := x.lastTouched(i)
	return d != "" && d < x.old && !x.cards[i].obsolete
}

// lastTouched is the day on which a note was last changed or confirmed.
func (x *inspector) lastTouched(i int) string {
	return max(x.days[i].updated, x.cards[i].day(keyConfirmed))
}

func (x *inspector) linksOf(m *marks, i int) {
	links := x.graph.of(i)
	for n, b := range links.broken {
		kind := findBrokenLinks
		if b.link.Embed {
			kind = findBrokenEmbeds
		}
		m.add(kind, b.link.Line, n, sayBroken)
	}
	for n, u := range links.unsure {
		m.add(findAmbiguousLinks, u.link.Line, n, sayAmbiguous)
	}
	for n, e := range links.out {
		if x.cards[e.doc].obsolete && !x.cards[i].obsolete {
			m.add(findObsoleteLinks, e.link.Line, n, sayObsolete)
		}
	}
}

func sayProblem(x *inspector, i int, m mark) (message, mend string) {
	p := x.cards[i].problems[m.nth]
	return p.Message, mendNote[p.Code]
}

// sayNoDate and sayBadDate are by the name of the date.
var (
	sayNoDate  = map[string]wording{"created": noDate("created"), "updated": noDate("updated")}
	sayBadDate = map[string]wording{"created": badDate("created"), "updated": badDate("updated")}
)

func noDate(key string) wording {
	return func(x *inspector, i int, _ mark) (message, mend string) {
		day := x.days[i].created
		if key == "updated" {
			day = x.days[i].updated
		}
		return fmt.Sprintf("no %s date", key), fmt.Sprintf("add %s: %s", key, cmp.Or(day, "YYYY-MM-DD"))
	}
}

func badDate(key string) wording {
	return func(x *inspector, i int, _ mark) (message, mend string) {
		value := x.cards[i].created
		if key == "updated" {
			value = x.cards[i].updated
		}
		return fmt.Sprintf("%s is not a date: %s", key, clip(value, 40)), "a date is 2026-01-31"
	}
}

func sayNoTags(*inspector, int, mark) (message, mend string) { return "no tags", "add tags: [ … ]" }

func sayStub(x *inspector, i int, _ mark) (message, mend string) {
	return "only " + plural(x.cards[i].words, "word"), "write it, or merge it into another note"
}

func sayStale(x *inspector, i int, _ mark) (message, mend string) {
	return "unchanged since " + x.lastTouched(i), "bring it up to date, or confirm it: " + howToConfirm
}

func sayOrphan(*inspector, int, mark) (message, mend string) {
	return "no link leads to or from it", "link to it from a note that needs it"
}

func sayBroken(x *inspector, i int, m mark) (message, mend string) {
	b := x.graph.of(i).broken[m.nth]
	return fmt.Sprintf("%s: %s", linkName(b.link), b.why), b.mend()
}

func sayAmbiguous(x *inspector, i int, m mark) (message, mend string) {
	u := x.graph.of(i).unsure[m.nth]
	return fmt.Sprintf("%s could mean any of %s: %s", linkName(u.link), plural(len(u.paths), "file"), clip(strings.Join(u.paths, ", "), 200)), u.mend()
}

func sayObsolete(x *inspector, i int, m mark) (message, mend string) {
	to := x.graph.out(i)[m.nth].doc
	mend = "link to what replaced it"
	if c := x.cards[to]; c.superseded != "" {
		mend = "link to " + c.superseded
	}
	return fmt.Sprintf("links to %s, which is obsolete", x.docs[to].path), mend
}

// mend is the link by its path from the collection's root.
func (u unsureLink) mend() string {
	if u.link.Kind == note.MarkdownLink {
		return "link to /" + u.path
	}
	return "[[" + strings.TrimSuffix(u.path, ".md") + "]]"
}

func (b brokenLink) mend() string {
	switch {
	case b.why == onlyAlias:
		return fmt.Sprintf("[[%s|%s]]", fileTitle(b.near), b.link.Target)
	case b.near != "" && b.why == noNote:
		return "[[" + fileTitle(b.near) + "]]"
	case b.near != "":
		return "name a heading or block of " + b.near
	}
	return "write the note, or remove the link"
}

// lineOf is the line of a property.
func (c *card) lineOf(key string) int {
	for _, f := range c.fields {
		if strings.EqualFold(f.Key, key) {
			return f.Line
		}
	}
	return 1
}
