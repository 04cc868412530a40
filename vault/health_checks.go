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

// finding is an issue not yet in words: of a quarter of a million, an answer
// shows a hundred.
type finding struct {
	doc, line int
	other     int // what else it is about: a doc, or the place in a list of the doc's
	say       wording
}

// wording puts a finding into words.
type wording func(x *inspector, f finding) (message, mend string)

// inspector holds what the checks of one view need.
type inspector struct {
	*view
	HealthParams
	by    *comparison
	graph *linkGraph
	names []docNames
	date  func(int, *card) dated
	old   string // a note that last changed before this day is stale
}

// inspection is what is wrong with the notes of a view.
type inspection struct {
	inspector
	checked int
	found   []*collectionFindings
}

// collectionFindings are those of one collection, each list in the order of its notes.
type collectionFindings struct {
	col    *collection
	lists  [findKinds][]finding
	counts map[string]int // of the whole lists, see [CollectionHealth]
}

func (f *collectionFindings) add(kind checkKind, doc, line, other int, say wording) {
	f.lists[kind] = append(f.lists[kind], finding{doc, max(line, 1), other, say})
}

// inspect checks every note of the collections that p names.
func (w *view) inspect(ctx context.Context, p HealthParams, by *comparison) (*inspection, error) {
	cols, err := w.v.collections(p.Collection)
	if err != nil {
		return nil, err
	}
	g, err := w.graph(ctx)
	if err != nil {
		return nil, err
	}
	date, err := w.datesOf(ctx)
	if err != nil {
		return nil, err
	}
	x := &inspection{inspector: inspector{view: w, HealthParams: p, by: by, graph: g, date: date, names: w.called}}
	x.old = w.clock().AddDate(0, 0, -p.StaleDays).Format(time.DateOnly)
	for _, c := range cols {
		f := &collectionFindings{col: c}
		n, err := x.collection(ctx, f)
		if err != nil {
			return nil, err
		}
		x.checked += n
		x.found = append(x.found, f)
	}
	return x, nil
}

func (x *inspector) collection(ctx context.Context, f *collectionFindings) (checked int, err error) {
	var docs []int
	for i, d := range x.docs {
		if d.col == f.col {
			docs = append(docs, i)
			x.note(f, i)
			x.linksOf(f, i)
		}
	}
	x.titles(f, docs)
	x.aliases(f, docs)
	x.rivals(f, docs)
	x.sortConflicting(f)
	return len(docs), x.duplicates(ctx, f, docs)
}

// result counts what was found.
func (x *inspection) result() *HealthResult {
	r := &HealthResult{Checked: x.checked, Seen: x.view.seen(), Mode: x.by.mode, Degraded: x.by.degraded}
	for _, f := range x.found {
		f.counts = map[string]int{}
		for kind, k := range (&CollectionHealth{}).kinds() {
			f.counts[k.name] = len(f.lists[kind])
			r.Issues += len(f.lists[kind])
		}
	}
	return r
}

// note checks what concerns one note alone.
func (x *inspector) note(f *collectionFindings, i int) {
	c := x.cards[i]
	for n, p := range c.problems {
		if p.Code == "malformed_frontmatter" || p.Code == "duplicate_key" {
			f.add(findMalformed, i, p.Line, n, sayProblem)
		}
	}
	x.dated(f, i, findMissingCreated, "created", c.created)
	x.dated(f, i, findMissingUpdated, "updated", c.updated)
	if len(c.tags) == 0 {
		f.add(findNoTags, i, 1, 0, sayNoTags)
	}
	if c.words < x.MinWords {
		f.add(findStubs, i, 1, 0, sayStub)
	}
	if c.flagged() {
		f.add(findFlagged, i, c.lineOf(keyFlagged), 0, sayFlagged)
	}
	if d := x.lastTouched(i); d != "" && d < x.old && !c.obsolete {
		f.add(findStale, i, 1, 0, sayStale)
	}
	if len(x.graph.in[i]) == 0 && len(x.graph.out[i]) == 0 {
		f.add(findOrphans, i, 1, 0, sayOrphan)
	}
}

// dated checks one of the two dates of a note.
func (x *inspector) dated(f *collectionFindings, i int, kind checkKind, key, value string) {
	if value == "" {
		f.add(kind, i, 1, 0, sayNoDate[key])
	} else if _, ok := note.ParseDate(value); !ok {
		f.add(kind, i, x.cards[i].lineOf(key), 0, sayBadDate[key])
	}
}

// lastTouched is the day on which a note was last changed or confirmed.
func (x *inspector) lastTouched(i int) string {
	c := x.cards[i]
	return max(x.date(i, c).updated, c.day(keyConfirmed))
}

func (x *inspector) linksOf(f *collectionFindings, i int) {
	for n, b := range x.graph.broken[i] {
		kind := findBrokenLinks
		if b.link.Embed {
			kind = findBrokenEmbeds
		}
		f.add(kind, i, b.link.Line, n, sayBroken)
	}
	for n, u := range x.graph.unsure[i] {
		f.add(findAmbiguousLinks, i, u.link.Line, n, sayAmbiguous)
	}
	for _, e := range x.graph.out[i] {
		if x.cards[e.doc].obsolete && !x.cards[i].obsolete {
			f.add(findObsoleteLinks, i, e.link.Line, e.doc, sayObsolete)
		}
	}
}

// titles finds notes that are called as an earlier one is.
func (x *inspector) titles(f *collectionFindings, docs []int) {
	first := make(map[string]int, len(docs))
	for _, i := range docs {
		key := x.names[i].title
		if j, ok := first[key]; ok {
			f.add(findDuplicateTitles, i, 1, j, sayDuplicateTitle)
			continue
		}
		first[key] = i
	}
}

// aliases finds names that two notes claim.
func (x *inspector) aliases(f *collectionFindings, docs []int) {
	first := map[string]int{}
	for _, i := range docs {
		for n, a := range x.cards[i].aliases {
			key := foldName(a)
			if j, ok := first[key]; ok && j != i {
				f.add(findConflicting, i, x.cards[i].lineOf("aliases"), j, sayAlias(n))
				continue
			}
			first[key] = i
		}
	}
}

// sortConflicting orders what several checks found by note and words.
func (x *inspector) sortConflicting(f *collectionFindings) {
	slices.SortStableFunc(f.lists[findConflicting], func(a, b finding) int {
		if a.doc != b.doc {
			return cmp.Compare(a.doc, b.doc)
		}
		this, _ := a.say(x, a)
		that, _ := b.say(x, b)
		return strings.Compare(this, that)
	})
}

// inWords are the findings as issues.
func (x *inspection) inWords() []CollectionHealth {
	out := make([]CollectionHealth, 0, len(x.found))
	for _, f := range x.found {
		h := CollectionHealth{Name: f.col.Name, Dir: f.col.dir, Counts: f.counts}
		for kind, k := range h.kinds() {
			*k.list = []Issue{}
			for _, n := range f.lists[kind] {
				message, mend := n.say(&x.inspector, n)
				*k.list = append(*k.list, Issue{Path: x.docs[n.doc].path, Line: n.line, Message: message, Mend: mend})
			}
		}
		out = append(out, h)
	}
	return out
}

// cut leaves one page of the findings, and returns where the next begins.
func (x *inspection) cut(offset, budget int) (next string) {
	const perIssue = 45
	var piles []pile
	for _, f := range x.found {
		for kind := range f.lists {
			piles = append(piles, pileOf(&f.lists[kind], costs[finding](perIssue)))
		}
	}
	if n := page(piles, offset, budget); n > 0 {
		return x.cursor(n)
	}
	return ""
}

func sayProblem(x *inspector, f finding) (message, mend string) {
	p := x.cards[f.doc].problems[f.other]
	return p.Message, mendNote[p.Code]
}

// sayNoDate and sayBadDate are by the name of the date.
var (
	sayNoDate  = map[string]wording{"created": noDate("created"), "updated": noDate("updated")}
	sayBadDate = map[string]wording{"created": badDate("created"), "updated": badDate("updated")}
)

func noDate(key string) wording {
	return func(x *inspector, f finding) (message, mend string) {
		known := x.date(f.doc, x.cards[f.doc])
		day := known.created
		if key == "updated" {
			day = known.updated
		}
		return fmt.Sprintf("no %s date", key), fmt.Sprintf("add %s: %s", key, cmp.Or(day, "YYYY-MM-DD"))
	}
}

func badDate(key string) wording {
	return func(x *inspector, f finding) (message, mend string) {
		value := x.cards[f.doc].created
		if key == "updated" {
			value = x.cards[f.doc].updated
		}
		return fmt.Sprintf("%s is not a date: %s", key, clip(value, 40)), "a date is 2026-01-31"
	}
}

func sayNoTags(*inspector, finding) (message, mend string) { return "no tags", "add tags: [ … ]" }

func sayStub(x *inspector, f finding) (message, mend string) {
	return "only " + plural(x.cards[f.doc].words, "word"), "write it, or merge it into another note"
}

func sayStale(x *inspector, f finding) (message, mend string) {
	return "unchanged since " + x.lastTouched(f.doc), "bring it up to date, or confirm it: kb_edit confirm"
}

func sayOrphan(*inspector, finding) (message, mend string) {
	return "no link leads to or from it", "link to it from a note that needs it"
}

func sayBroken(x *inspector, f finding) (message, mend string) {
	b := x.graph.broken[f.doc][f.other]
	return fmt.Sprintf("%s: %s", linkName(b.link), b.why), b.mend()
}

func sayAmbiguous(x *inspector, f finding) (message, mend string) {
	u := x.graph.unsure[f.doc][f.other]
	return fmt.Sprintf("%s could mean any of %s: %s", linkName(u.link), plural(len(u.paths), "file"), clip(strings.Join(u.paths, ", "), 200)), u.mend()
}

func sayObsolete(x *inspector, f finding) (message, mend string) {
	mend = "link to what replaced it"
	if c := x.cards[f.other]; c.superseded != "" {
		mend = "link to " + c.superseded
	}
	return fmt.Sprintf("links to %s, which is obsolete", x.docs[f.other].path), mend
}

func sayDuplicateTitle(x *inspector, f finding) (message, mend string) {
	return fmt.Sprintf("%q is also the title of %s", x.titleOf(f.doc, x.cards[f.doc]), x.docs[f.other].path), "rename one, or merge them"
}

// sayAlias is about the n-th alias of a note.
func sayAlias(n int) wording {
	return func(x *inspector, f finding) (message, mend string) {
		return fmt.Sprintf("alias %q also belongs to %s", x.cards[f.doc].aliases[n], x.docs[f.other].path), "keep the alias in one of them"
	}
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
