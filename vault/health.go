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

// HealthParams asks what is wrong with the notes.
type HealthParams struct {
	Collection string `json:"collection,omitempty" help:"only this collection"`
	StaleDays  int    `json:"stale_days,omitempty" default:"90" min:"1" max:"36500" help:"a note is stale when it did not change for so long"`
	MinWords   int    `json:"min_words,omitempty" default:"50" min:"0" help:"a note with fewer words is a stub"`
	Against    string `json:"against,omitempty" help:"only what is wrong now and was not in this view"`
	MaxTokens  int    `json:"max_tokens,omitempty" default:"4000" min:"100" help:"budget of the answer; counts stay whole"`
	Cursor     string `json:"cursor,omitempty" help:"next of an answer"`
	Format     string `json:"format,omitempty" hidden:"" enum:"github" help:"print annotations for a workflow"`
	Fix        bool   `json:"fix,omitempty" hidden:"" help:"propose what is safe to mend, as a draft: moved links, their case, dates of creation"`
	FailOn     string `json:"fail_on,omitempty" hidden:"" enum:"any,new" help:"exit with 6 when something is found; new needs against"`
	atParam
}

// HealthResult is what is wrong, by collection and kind.
type HealthResult struct {
	Checked     int                `json:"total_documents_checked"`
	Issues      int                `json:"total_issues"`
	Collections []CollectionHealth `json:"collections"`
	Mode        string             `json:"mode"`               // how near duplicates were found: text or hybrid
	Degraded    string             `json:"degraded,omitempty"` // why it is not hybrid
	Truncated   bool               `json:"truncated,omitempty"`
	Next        string             `json:"next,omitempty"`
	Seen
	Format string `json:"format,omitempty" schema:"-"`
	Fail   bool   `json:"failed,omitempty" schema:"-"`

	Fix *Mends `json:"fix,omitempty" schema:"-"` // what fix proposed
}

// CollectionHealth is what is wrong with the notes of a collection. Counts is
// by the name of the list, before the budget cut any.
type CollectionHealth struct {
	Name                 string         `json:"name"`
	Dir                  string         `json:"dir,omitempty"` // of the collection, within its repository
	Counts               map[string]int `json:"counts"`
	MissingCreated       []Issue        `json:"missing_created"`
	MissingUpdated       []Issue        `json:"missing_updated"`
	NoTags               []Issue        `json:"no_tags"`
	Stale                []Issue        `json:"stale"`
	Stubs                []Issue        `json:"stubs"`
	Orphans              []Issue        `json:"orphans"`
	BrokenLinks          []Issue        `json:"broken_links"`
	BrokenEmbeds         []Issue        `json:"broken_embeds"`
	DuplicateTitles      []Issue        `json:"duplicate_titles"`
	NearDuplicates       []Issue        `json:"near_duplicates"`
	MalformedFrontmatter []Issue        `json:"malformed_frontmatter"`
	Flagged              []Issue        `json:"flagged"`
	Conflicting          []Issue        `json:"conflicting"`
	ObsoleteLinks        []Issue        `json:"obsolete_links"`
	AmbiguousLinks       []Issue        `json:"ambiguous_links"`
}

// Issue is one thing wrong with a note, and what mends it.
type Issue struct {
	Path    string `json:"path"`
	Line    int    `json:"line"`
	Message string `json:"message"`
	Mend    string `json:"mend"`
}

var healthOp = define(Op{
	Name:        "kb_health",
	Title:       "Check the notes",
	Summary:     "Find what is wrong with the notes, and what mends it",
	Description: "Broken links and embeds, orphans, stubs, stale and flagged notes, missing dates and tags, duplicates, malformed frontmatter: each with note, line and mend. against=REV shows only what is new since.",
	Examples:    []string{"kb health", "kb health --fix", "kb health --against main --fail-on new --format github"},
}, (*Vault).Health)

// kinds names the lists of a CollectionHealth in the order of their weight.
func (h *CollectionHealth) kinds() []struct {
	name string
	list *[]Issue
} {
	return []struct {
		name string
		list *[]Issue
	}{
		{"malformed_frontmatter", &h.MalformedFrontmatter},
		{"broken_links", &h.BrokenLinks},
		{"broken_embeds", &h.BrokenEmbeds},
		{"flagged", &h.Flagged},
		{"duplicate_titles", &h.DuplicateTitles},
		{"conflicting", &h.Conflicting},
		{"obsolete_links", &h.ObsoleteLinks},
		{"ambiguous_links", &h.AmbiguousLinks},
		{"near_duplicates", &h.NearDuplicates},
		{"orphans", &h.Orphans},
		{"stubs", &h.Stubs},
		{"stale", &h.Stale},
		{"no_tags", &h.NoTags},
		{"missing_created", &h.MissingCreated},
		{"missing_updated", &h.MissingUpdated},
	}
}

// writes reports whether the call adds to the repository.
func (p HealthParams) writes() bool { return p.Fix }

// Health checks every note of the view.
func (v *Vault) Health(ctx context.Context, p HealthParams) (*HealthResult, error) {
	if p.FailOn == "new" && p.Against == "" {
		return nil, errorf(Usage, "fail_on new compares with a view").hint("--against main")
	}
	w, offset, err := v.readFrom(ctx, p.Cursor, p.At)
	if err != nil {
		return nil, err
	}
	r, err := w.healthSince(ctx, p)
	if err != nil {
		return nil, err
	}
	r.count()
	if p.Fix {
		if r.Fix, err = v.mend(ctx, p.Collection); err != nil {
			return nil, err
		}
	}
	r.Format, r.Fail = p.Format, p.FailOn != "" && r.Issues > 0
	if p.Format == "" {
		r.cut(w, offset, p.MaxTokens)
	}
	return r, nil
}

// healthSince checks the view, less what was wrong in the view that p compares
// with. Both are compared alike, by words unless both have their vectors.
func (w *view) healthSince(ctx context.Context, p HealthParams) (*HealthResult, error) {
	by := w.comparison(ctx)
	if p.Against == "" {
		return w.health(ctx, p, by)
	}
	old, err := w.v.read(ctx, p.Against)
	if err != nil {
		return nil, err
	}
	formerly := old.comparison(ctx)
	if by.meaning == nil || formerly.meaning == nil {
		by.words(cmp.Or(by.degraded, formerly.degraded))
		formerly.words(by.degraded)
	}
	r, err := w.health(ctx, p, by)
	if err != nil {
		return nil, err
	}
	r.onlyShared(old, w)
	before, err := old.health(ctx, p, formerly)
	if err != nil {
		return nil, err
	}
	r.subtract(before, formerPaths(old, w))
	return r, nil
}

// inspector holds what the checks of one view need.
type inspector struct {
	*view
	HealthParams
	by    *comparison
	graph *linkGraph
	date  func(int, *card) dated
	old   string // a note that last changed before this day is stale
}

func (w *view) health(ctx context.Context, p HealthParams, by *comparison) (*HealthResult, error) {
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
	x := inspector{view: w, HealthParams: p, by: by, graph: g, date: date}
	x.old = w.clock().AddDate(0, 0, -p.StaleDays).Format(time.DateOnly)
	r := &HealthResult{Seen: w.seen(), Collections: []CollectionHealth{}}
	for _, c := range cols {
		h, n, err := x.collection(ctx, c)
		if err != nil {
			return nil, err
		}
		r.Checked += n
		r.Collections = append(r.Collections, h)
	}
	r.Mode, r.Degraded = by.mode, by.degraded
	return r, nil
}

func (x *inspector) collection(ctx context.Context, c *collection) (h CollectionHealth, checked int, err error) {
	h = CollectionHealth{Name: c.Name, Dir: c.dir}
	for _, k := range h.kinds() {
		*k.list = []Issue{}
	}
	var docs []int
	for i, d := range x.docs {
		if d.col == c {
			docs = append(docs, i)
			x.note(&h, i)
			x.linksOf(&h, i)
		}
	}
	x.titles(&h, docs)
	x.aliases(&h, docs)
	err = x.duplicates(ctx, &h, docs)
	return h, len(docs), err
}

func (x *inspector) issue(list *[]Issue, i, line int, mend, format string, args ...any) {
	*list = append(*list, Issue{Path: x.docs[i].path, Line: max(line, 1), Message: fmt.Sprintf(format, args...), Mend: mend})
}

// note checks what concerns one note alone.
func (x *inspector) note(h *CollectionHealth, i int) {
	c := x.cards[i]
	for _, p := range c.problems {
		if p.Code == "malformed_frontmatter" || p.Code == "duplicate_key" {
			x.issue(&h.MalformedFrontmatter, i, p.Line, mendNote[p.Code], "%s", p.Message)
		}
	}
	for _, key := range []string{"created", "updated"} {
		value := c.created
		list := &h.MissingCreated
		if key == "updated" {
			value, list = c.updated, &h.MissingUpdated
		}
		_, ok := note.ParseDate(value)
		switch {
		case value == "":
			x.issue(list, i, 1, fmt.Sprintf("add %s: %s", key, x.known(i, key)), "no %s date", key)
		case !ok:
			x.issue(list, i, c.lineOf(key), "a date is 2026-01-31", "%s is not a date: %s", key, clip(value, 40))
		}
	}
	if len(c.tags) == 0 {
		x.issue(&h.NoTags, i, 1, "add tags: [ … ]", "no tags")
	}
	if c.words < x.MinWords {
		x.issue(&h.Stubs, i, 1, "write it, or merge it into another note", "only %s", plural(c.words, "word"))
	}
	x.flag(h, i)
	if d := max(x.date(i, c).updated, c.day(keyConfirmed)); d != "" && d < x.old && !c.obsolete {
		x.issue(&h.Stale, i, 1, "bring it up to date, or confirm it: kb_edit confirm", "unchanged since %s", d)
	}
	if len(x.graph.in[i]) == 0 && len(x.graph.out[i]) == 0 {
		x.issue(&h.Orphans, i, 1, "link to it from a note that needs it", "no link leads to or from it")
	}
}

// known is the date that history has for a key, for a mend.
func (x *inspector) known(i int, key string) string {
	d := x.date(i, x.cards[i])
	if key == "created" {
		return cmp.Or(d.created, "YYYY-MM-DD")
	}
	return cmp.Or(d.updated, "YYYY-MM-DD")
}

func (x *inspector) linksOf(h *CollectionHealth, i int) {
	for _, b := range x.graph.broken[i] {
		list := &h.BrokenLinks
		if b.link.Embed {
			list = &h.BrokenEmbeds
		}
		x.issue(list, i, b.link.Line, b.mend(), "%s: %s", linkName(b.link), b.why)
	}
	for _, u := range x.graph.unsure[i] {
		x.issue(&h.AmbiguousLinks, i, u.link.Line, u.mend(), "%s could mean any of %s: %s", linkName(u.link), plural(len(u.paths), "file"), clip(strings.Join(u.paths, ", "), 200))
	}
	for _, e := range x.graph.out[i] {
		if c := x.cards[e.doc]; c.obsolete && !x.cards[i].obsolete {
			mend := "link to what replaced it"
			if c.superseded != "" {
				mend = "link to " + c.superseded
			}
			x.issue(&h.ObsoleteLinks, i, e.link.Line, mend, "links to %s, which is obsolete", x.docs[e.doc].path)
		}
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

func (x *inspector) titles(h *CollectionHealth, docs []int) {
	byTitle := map[string][]int{}
	for _, i := range docs {
		key := foldName(x.titleOf(i, x.cards[i]))
		byTitle[key] = append(byTitle[key], i)
	}
	for _, same := range byTitle {
		for _, i := range same[min(1, len(same)):] {
			x.issue(&h.DuplicateTitles, i, 1, "rename one, or merge them", "%q is also the title of %s", x.titleOf(i, x.cards[i]), x.docs[same[0]].path)
		}
	}
	sortIssues(h.DuplicateTitles)
}

// aliases finds names that two notes claim.
func (x *inspector) aliases(h *CollectionHealth, docs []int) {
	first := map[string]int{}
	for _, i := range docs {
		for _, a := range x.cards[i].aliases {
			key := foldName(a)
			if j, ok := first[key]; ok && j != i {
				x.issue(&h.Conflicting, i, x.cards[i].lineOf("aliases"), "keep the alias in one of them", "alias %q also belongs to %s", a, x.docs[j].path)
				continue
			}
			first[key] = i
		}
	}
	sortIssues(h.Conflicting)
}

func sortIssues(list []Issue) {
	slices.SortFunc(list, func(a, b Issue) int {
		return cmp.Or(strings.Compare(a.Path, b.Path), cmp.Compare(a.Line, b.Line), strings.Compare(a.Message, b.Message))
	})
}

// onlyShared leaves the collections that both views have.
func (r *HealthResult) onlyShared(a, b *view) {
	r.Collections = slices.DeleteFunc(r.Collections, func(h CollectionHealth) bool {
		c, err := b.v.collection(h.Name)
		return err != nil || !a.reads(c) || !b.reads(c)
	})
}

// formerPaths maps a collection and the path of a note that was renamed since
// to its former path.
func formerPaths(old, now *view) map[[2]string]string {
	out := map[[2]string]string{}
	for i, j := range renames(old, now) {
		if now.docs[i].col == old.docs[j].col {
			out[[2]string{now.docs[i].col.Name, now.docs[i].path}] = old.docs[j].path
		}
	}
	return out
}

// subtract leaves what before does not have, wherever in the note it stands and
// whatever the note was called.
func (r *HealthResult) subtract(before *HealthResult, former map[[2]string]string) {
	for i := range r.Collections {
		h := &r.Collections[i]
		known := map[[3]string]bool{}
		for j := range before.Collections {
			if b := &before.Collections[j]; b.Name == h.Name {
				for _, k := range b.kinds() {
					for _, x := range *k.list {
						known[[3]string{k.name, x.Path, withoutNumbers(x.Message)}] = true
					}
				}
			}
		}
		for _, k := range h.kinds() {
			*k.list = slices.DeleteFunc(*k.list, func(x Issue) bool {
				was := cmp.Or(former[[2]string{h.Name, x.Path}], x.Path)
				return known[[3]string{k.name, was, withoutNumbers(x.Message)}]
			})
		}
	}
}

// withoutNumbers is a message as it stays while a note grows or ages.
func withoutNumbers(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			return -1
		}
		return r
	}, s)
}

func (r *HealthResult) count() {
	for i := range r.Collections {
		h := &r.Collections[i]
		h.Counts = map[string]int{}
		for _, k := range h.kinds() {
			h.Counts[k.name] = len(*k.list)
			r.Issues += len(*k.list)
		}
	}
}

// cut leaves one page of the issues in r.
func (r *HealthResult) cut(w *view, offset, budget int) {
	const perIssue = 45
	var piles []pile
	for i := range r.Collections {
		for _, k := range r.Collections[i].kinds() {
			piles = append(piles, pileOf(k.list, costs[Issue](perIssue)))
		}
	}
	if next := page(piles, offset, budget); next > 0 {
		r.Truncated, r.Next = true, w.cursor(next)
	}
}

// ExitCode is Failed when the caller asked for that.
func (r *HealthResult) ExitCode() Code {
	if r.Fail {
		return Failed
	}
	return ""
}

// Text writes the issues by kind, or annotations.
func (r *HealthResult) Text(t *Text) {
	if r.Format == "github" {
		r.annotations(t)
		return
	}
	if r.Fix != nil {
		r.Fix.text(t)
	}
	t.Printf("%s in %s %s\n", t.Strong(plural(r.Issues, "issue")), plural(r.Checked, "note"), t.Dim(r.Seen.text()))
	for i := range r.Collections {
		h := &r.Collections[i]
		for _, k := range h.kinds() {
			if h.Counts[k.name] == 0 {
				continue
			}
			t.Printf("\n%s %s\n", t.Strong(strings.ReplaceAll(k.name, "_", " ")), t.Dim(fmt.Sprintf("%s, %d", h.Name, h.Counts[k.name])))
			const most = 10
			for _, x := range (*k.list)[:min(most, len(*k.list))] {
				t.Printf("  %s %s %s\n", t.Accent(fmt.Sprintf("%s:%d", x.Path, x.Line)), t.Plain(x.Message), t.Dim("- "+x.Mend))
			}
			if n := h.Counts[k.name] - most; n > 0 {
				t.Printf("  %s\n", t.Dim(fmt.Sprintf("and %d more", n)))
			}
		}
	}
}
