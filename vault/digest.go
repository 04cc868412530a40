package vault

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"kb/note"
)

// DigestParams asks for an overview.
type DigestParams struct {
	Collection string   `json:"collection,omitempty" help:"only this collection"`
	Scope      []string `json:"scope,omitempty" help:"only these sections or path prefixes"`
	Days       int      `json:"days,omitempty" default:"7" min:"0" max:"36500" help:"how far back recent goes"`
	MaxTokens  int      `json:"max_tokens,omitempty" default:"800" min:"100" help:"budget"`
	atParam
}

// Digest is an overview of the vault.
type Digest struct {
	TotalDocuments int                `json:"total_documents"`
	TotalSections  int                `json:"total_sections"`
	Collections    []CollectionDigest `json:"collections"`
	Truncated      bool               `json:"truncated,omitempty"`
	Seen
}

// CollectionDigest is an overview of a collection.
type CollectionDigest struct {
	Name     string          `json:"name"`
	DocCount int             `json:"doc_count"`
	Sections []SectionDigest `json:"sections"`
	Recent   []RecentNote    `json:"recent"`
	Wanted   []WantedNote    `json:"wanted"`
}

// SectionDigest is an overview of a section: topics are the words and tags that
// set it apart from the rest of the vault.
type SectionDigest struct {
	Name     string   `json:"name"`
	DocCount int      `json:"doc_count"`
	Topics   []string `json:"topics"`
	Hint     string   `json:"hint"`
}

// RecentNote is a note that changed lately.
type RecentNote struct {
	Path  string `json:"path"`
	Title string `json:"title"`
	Date  string `json:"date"`
}

// WantedNote is a note that does not exist but is linked to.
type WantedNote struct {
	Target string `json:"target"`
	Count  int    `json:"count"`
}

var digestOp = define(Op{
	Name:        "kb_digest",
	Title:       "Survey the vault",
	Summary:     "Survey the vault: sections, topics, what changed lately",
	Description: "What the vault holds, in under 800 tokens: collections, sections with their topics, recent changes, notes that are linked but missing. Call it first in a session.",
	Examples:    []string{"kb digest", "kb digest --days 30 --scope guides"},
}, (*Vault).Digest)

// Digest surveys the view. Recency is counted back from the view's own commit.
func (v *Vault) Digest(ctx context.Context, p DigestParams) (*Digest, error) {
	w, cols, cards, err := v.readCards(ctx, p.At, p.Collection)
	if err != nil {
		return nil, err
	}
	s, err := w.surveyor(ctx, p, cards)
	if err != nil {
		return nil, err
	}
	d := &Digest{Collections: []CollectionDigest{}, Seen: w.seen()}
	for _, c := range cols {
		cd := s.collection(c)
		d.TotalDocuments += cd.DocCount
		d.TotalSections += len(cd.Sections)
		d.Collections = append(d.Collections, cd)
	}
	d.fit(p.MaxTokens)
	return d, nil
}

// surveyor holds what the digest of every collection needs.
type surveyor struct {
	*view
	keep  test
	graph *linkGraph
	date  func(int, *card) dated
	since string
	rest  map[string]int // in how many notes of the view a topic occurs
}

func (w *view) surveyor(ctx context.Context, p DigestParams, cards []*card) (*surveyor, error) {
	keep, err := Filter{Selection: Selection{Collection: p.Collection, Scope: p.Scope}}.keep(ctx, w)
	if err != nil {
		return nil, err
	}
	date, err := w.datesOf(ctx)
	if err != nil {
		return nil, err
	}
	g, err := w.graph(ctx)
	if err != nil {
		return nil, err
	}
	s := &surveyor{view: w, keep: keep, graph: g, date: date, rest: map[string]int{}}
	s.since = w.clock().AddDate(0, 0, -p.Days).Format(time.DateOnly)
	for i, c := range cards {
		for _, t := range w.topicsOf(i, c) {
			s.rest[t]++
		}
	}
	return s, nil
}

func (s *surveyor) collection(c *collection) CollectionDigest {
	cd := CollectionDigest{Name: c.Name, Sections: []SectionDigest{}, Recent: []RecentNote{}, Wanted: []WantedNote{}}
	bySection := map[string][]int{}
	for i, d := range s.docs {
		if d.col != c || s.keep != nil && !s.keep(i) {
			continue
		}
		cd.DocCount++
		bySection[section(d.path)] = append(bySection[section(d.path)], i)
		if date := s.date(i, s.cards[i]).updated; date != "" && date >= s.since {
			cd.Recent = append(cd.Recent, RecentNote{d.path, s.titleOf(i, s.cards[i]), date})
		}
	}
	for name, docs := range bySection {
		cd.Sections = append(cd.Sections, SectionDigest{Name: name, DocCount: len(docs), Topics: s.topics(docs), Hint: c.describe(name)})
	}
	slices.SortFunc(cd.Sections, func(a, b SectionDigest) int {
		return cmp.Or(cmp.Compare(b.DocCount, a.DocCount), strings.Compare(a.Name, b.Name))
	})
	slices.SortFunc(cd.Recent, func(a, b RecentNote) int {
		return cmp.Or(strings.Compare(b.Date, a.Date), strings.Compare(a.Path, b.Path))
	})
	cd.Wanted = s.wanted(c)
	return cd
}

// topics are the tags and title words that set docs apart: frequent in them,
// less so in the rest of the vault.
func (s *surveyor) topics(docs []int) []string {
	const most = 8
	counts := map[string]int{}
	for _, i := range docs {
		for _, t := range s.topicsOf(i, s.cards[i]) {
			counts[t]++
		}
	}
	type topic struct {
		name  string
		score float64
	}
	var all []topic
	for name, n := range counts {
		if n < 2 && len(docs) > 3 {
			continue
		}
		inside := float64(n) / float64(len(docs))
		outside := float64(s.rest[name]-n+1) / float64(len(s.docs)-len(docs)+2)
		all = append(all, topic{name, float64(n) * inside / (inside + outside)})
	}
	slices.SortFunc(all, func(a, b topic) int {
		return cmp.Or(cmp.Compare(b.score, a.score), strings.Compare(a.name, b.name))
	})
	out := []string{}
	for _, t := range all[:min(most, len(all))] {
		out = append(out, t.name)
	}
	return out
}

// topicsOf are what one note is about: its tags and the longer words of its
// title, each once.
func (w *view) topicsOf(i int, c *card) []string {
	var out []string
	add := func(s string) {
		if s = strings.ToLower(s); !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	for _, t := range c.tags {
		add(t)
	}
	words := strings.FieldsFunc(w.titleOf(i, c), func(r rune) bool { return !unicode.IsLetter(r) })
	for _, word := range words {
		if len([]rune(word)) > 3 && !commonWord[strings.ToLower(word)] {
			add(word)
		}
	}
	return out
}

// commonWord holds title words that are no topic.
var commonWord = func() map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields("with from this that about into your their what when where which have does using based over between note notes untitled") {
		m[w] = true
	}
	return m
}()

// wanted lists the link targets of c's notes that no note answers to, by how
// many notes link to them.
func (s *surveyor) wanted(c *collection) []WantedNote {
	const most = 10
	counts := map[string]int{}
	for i, d := range s.docs {
		if d.col != c {
			continue
		}
		seen := map[string]bool{}
		for _, b := range s.graph.of(i).broken {
			l := b.link
			if b.why != noNote || l.Kind != note.WikiLink || l.Embed || seen[l.Target] || strings.Contains(l.Target, ".") {
				continue
			}
			seen[l.Target] = true
			counts[l.Target]++
		}
	}
	out := []WantedNote{}
	for target, n := range counts {
		out = append(out, WantedNote{target, n})
	}
	slices.SortFunc(out, func(a, b WantedNote) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), strings.Compare(a.Target, b.Target))
	})
	return out[:min(most, len(out))]
}

// fit shortens the lists, the longest first, until the digest is within the
// budget. Counts stay whole.
func (d *Digest) fit(budget int) {
	for d.tokens() > budget {
		longest, cut := 0, func() {}
		consider := func(n, least int, f func()) {
			if n > least && n > longest {
				longest, cut = n, f
			}
		}
		for i := range d.Collections {
			c := &d.Collections[i]
			consider(3*len(c.Recent), 9, func() { c.Recent = c.Recent[:len(c.Recent)/2] })
			consider(2*len(c.Wanted), 4, func() { c.Wanted = c.Wanted[:len(c.Wanted)/2] })
			consider(4*len(c.Sections), 20, func() { c.Sections = c.Sections[:len(c.Sections)*3/4] })
			for j := range c.Sections {
				s := &c.Sections[j]
				consider(8*len(s.Topics), 16, func() { s.Topics = s.Topics[:len(s.Topics)-1] })
			}
		}
		if longest == 0 {
			return
		}
		cut()
		d.Truncated = true
	}
}

func (d *Digest) tokens() int {
	n := 30
	for _, c := range d.Collections {
		n += 20
		for _, s := range c.Sections {
			n += 15 + Tokens(s.Name) + Tokens(s.Hint) + Tokens(strings.Join(s.Topics, `", "`))
		}
		for _, r := range c.Recent {
			n += 15 + Tokens(r.Path) + Tokens(r.Title)
		}
		for _, w := range c.Wanted {
			n += 8 + Tokens(w.Target)
		}
	}
	return n
}

// Text writes the overview.
func (d *Digest) Text(t *Text) {
	t.Printf("%s in %s · %s\n", t.Strong(plural(d.TotalDocuments, "note")), plural(d.TotalSections, "section"), t.Dim(d.Seen.text()))
	for _, c := range d.Collections {
		t.Printf("\n%s  %s\n", t.Strong(c.Name), t.Dim(plural(c.DocCount, "note")))
		for _, s := range c.Sections {
			label := SectionInfo{Name: s.Name}.label()
			about := visible(strings.Join(nonEmpty([]string{s.Hint, strings.Join(s.Topics, ", ")}), " - "))
			t.Hang("  ", "      ", strings.TrimRight(fmt.Sprintf("%s %s %s", t.Accent(label), t.Dim(fmt.Sprintf("(%d)", s.DocCount)), about), " "))
		}
		if len(c.Recent) > 0 {
			t.Printf("  %s\n", t.Dim("recent"))
		}
		var recent [][]string
		for _, r := range c.Recent {
			recent = append(recent, []string{"    " + t.Dim(r.Date), t.Plain(r.Title), t.Accent(r.Path)})
		}
		t.Table(recent)
		if len(c.Wanted) > 0 {
			var names []string
			for _, w := range c.Wanted {
				names = append(names, fmt.Sprintf("%s (%d)", w.Target, w.Count))
			}
			t.Hang("  ", "      ", t.Dim("linked but missing:")+" "+visible(strings.Join(names, ", ")))
		}
	}
	if d.Truncated {
		t.Printf("%s\n", t.Dim("[truncated: raise max_tokens for more]"))
	}
}
