package vault

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"kb/note"
)

// Suggestions are links that notes could have.
type Suggestions struct {
	Mentions   []Suggestion `json:"mentions"`   // names of notes that stand in others and are no links, the surest first
	Total      int          `json:"total"`      // mentions, listed or not
	Neighbours []Suggestion `json:"neighbours"` // near notes of those that are linked least, never linked
	Compared   string       `json:"compared"`   // how neighbours were found: vector or text
	Degraded   string       `json:"degraded,omitempty"`

	Draft  string `json:"draft,omitempty"` // that apply made
	Branch string `json:"branch,omitempty"`
	Commit string `json:"commit,omitempty"`
	Review string `json:"review,omitempty"`
	Linked int    `json:"linked,omitempty"` // mentions that are links there
}

// Suggestion is one link that a note could have.
type Suggestion struct {
	Collection  string  `json:"collection"`
	Path        string  `json:"path"` // of the note that could have the link
	Line        int     `json:"line,omitempty"`
	Text        string  `json:"text,omitempty"`    // the words that could be the link
	Context     string  `json:"context,omitempty"` // their line
	Target      string  `json:"target"`            // the path of the note that it would lead to
	TargetTitle string  `json:"target_title"`
	Score       float64 `json:"score"`
}

// suggestLinks finds links that the notes could have; apply proposes those of the
// mentions.
func (v *Vault) suggestLinks(ctx context.Context, p LinksParams) (*LinksResult, error) {
	if p.Apply && p.At != "" {
		return nil, errorf(Usage, "apply and at are both given").hint("a draft starts from the base branch")
	}
	if p.Apply {
		return v.applyLinks(ctx, p)
	}
	w, err := v.read(ctx, p.At)
	if err != nil {
		return nil, err
	}
	keep, err := w.suggestFor(ctx, p)
	if err != nil {
		return nil, err
	}
	found, err := w.mentions(ctx, keep)
	if err != nil {
		return nil, err
	}
	r := newLinksResult(w)
	r.Suggested = &Suggestions{Mentions: []Suggestion{}, Neighbours: []Suggestion{}, Total: len(found)}
	for _, u := range found[:min(len(found), p.Most)] {
		r.Suggested.Mentions = append(r.Suggested.Mentions, w.suggestion(u))
	}
	return r, w.neighbours(ctx, p, keep, r.Suggested)
}

// suggestFor returns whether a doc is asked about.
func (w *view) suggestFor(ctx context.Context, p LinksParams) (func(i int) bool, error) {
	cols, err := w.v.collections(p.Collection)
	if err != nil {
		return nil, err
	}
	if p.Path == "" {
		return func(i int) bool { return slices.Contains(cols, w.docs[i].col) }, nil
	}
	one, err := w.findDoc(ctx, p.Path)
	return func(i int) bool { return i == one }, err
}

// unlinked is a mention that is no link: the first of its note.
type unlinked struct {
	mention
	from  int // the doc that has it
	line  int
	text  string
	at    string // its line
	cased bool   // written as a name is
	score float64
}

// mentions finds in docs the names of others that they do not link to, the surest
// first.
func (w *view) mentions(ctx context.Context, keep func(i int) bool) ([]unlinked, error) {
	g, err := w.graph(ctx)
	if err != nil {
		return nil, err
	}
	tries := w.nameTries()
	docsOf := map[note.ID][]int{}
	for i, d := range w.docs {
		docsOf[d.blob] = append(docsOf[d.blob], i)
	}
	var all []unlinked
	said := map[string]int{} // by target and name: notes that say it without a link
	err = w.load(ctx, w.blobs(), func(id note.ID, src []byte, err error) error {
		if err != nil {
			return nil // a note that cannot be read mentions nothing
		}
		for _, i := range docsOf[id] {
			for _, u := range w.unlinkedIn(g, tries[w.docs[i].col], i, src) {
				said[nameKey(u.mention)]++
				all = append(all, u)
			}
		}
		return ctx.Err()
	})
	if err != nil {
		return nil, err
	}
	e := w.evidence(g, said)
	return e.surest(slices.DeleteFunc(all, func(u unlinked) bool { return !keep(u.from) })), nil
}

// exactKey is nameKey with case.
func exactKey(doc int, words string) string { return fmt.Sprint(doc, "=", oneSpace(words)) }

func nameKey(m mention) string { return fmt.Sprint(m.doc, " ", m.name) }

// nameTries are the names of each collection's notes: titles, file names, aliases.
func (w *view) nameTries() map[*collection]*names {
	tries := map[*collection]*names{}
	for i, d := range w.docs {
		if tries[d.col] == nil {
			tries[d.col] = newNames()
		}
		for _, name := range w.sayableNames(i) {
			tries[d.col].add(oneSpace(name), i)
		}
	}
	return tries
}

// sayableNames are the names of doc i. That of a file which stands for its folder is
// none.
func (w *view) sayableNames(i int) []string {
	names := append([]string{w.titleOf(i, w.cards[i])}, w.cards[i].aliases...)
	stem := fileTitle(w.docs[i].path)
	if folder := strings.ToLower(strings.TrimLeft(stem, "_")); folder == "readme" || folder == "index" {
		return slices.DeleteFunc(names, func(n string) bool { return n == stem })
	}
	return append(names, stem)
}

// unlinkedIn finds the mentions in one doc, of each other doc that it does not link
// the first that is written as a name, else the first. What stands nowhere in the source need not be parsed.
func (w *view) unlinkedIn(g *linkGraph, t *names, i int, src []byte) (out []unlinked) {
	known := map[int]bool{i: true}
	for _, e := range g.out(i) {
		known[e.doc] = true
	}
	for _, b := range g.of(i).broken {
		if b.near != "" { // by a name that it has: to be mended, not added
			if j, ok := w.docAt(w.docs[i].col.Name, b.near); ok {
				known[j] = true
			}
		}
	}
	fresh := func(m mention) bool { return !known[m.doc] }
	if !slices.ContainsFunc(t.find(string(src)), fresh) {
		return nil
	}
	text, spans := note.Prose(src)
	first := map[int]int{} // by doc, where it is in out
	for _, s := range spans {
		part := string(text[s.Start:s.End])
		for _, m := range t.find(part) {
			words := part[m.Start:m.End]
			cased := nameCased(part[:m.Start], words) && (len(wordsOf(words)) > 1 || slices.Contains(w.sayableNames(m.doc), words))
			k, again := first[m.doc]
			if !fresh(m) || again && (out[k].cased || !cased) {
				continue
			}
			u := unlinked{mention: m, from: i, text: words, cased: cased}
			u.Start, u.End = m.Start+s.Start, m.End+s.Start
			u.line, u.at = note.LineAt(text, u.Start), lineAround(text, u.Start)
			if again {
				out[k] = u
				continue
			}
			first[m.doc] = len(out)
			out = append(out, u)
		}
	}
	return out
}

// nameCased reports whether words are written as names are, and not only because
// a sentence begins with them.
func nameCased(before, words string) bool {
	capitals := 0
	for i, r := range words {
		if unicode.IsUpper(r) && (i > 0 || !beginsSentence(before)) {
			capitals++
		}
	}
	return capitals > 0
}

func beginsSentence(before string) bool {
	before = strings.TrimRight(before, " \t\"'“‘(*_")
	last, _ := utf8.DecodeLastRuneInString(before)
	return before == "" || strings.ContainsRune(".!?:;\n-•", last)
}

// lineAround is the line at an offset.
func lineAround(text []byte, at int) string {
	start := strings.LastIndexByte(string(text[:at]), '\n') + 1
	line, _, _ := strings.Cut(string(text[start:]), "\n")
	return oneSpace(line)
}

func (w *view) suggestion(u unlinked) Suggestion {
	d, to := w.docs[u.from], w.docs[u.doc]
	return Suggestion{Collection: d.col.Name, Path: d.path, Line: u.line, Text: u.text, Context: oneLine(u.at, 200),
		Target: to.path, TargetTitle: w.titleOf(u.doc, w.cards[u.doc]), Score: math.Round(u.score*1000) / 1000}
}

func (s *Suggestions) text(t *Text) {
	if s.Draft != "" {
		t.Printf("%s %s\n%s %s\n", t.Strong("draft "+s.Draft), t.Dim(plural(s.Linked, "link")), t.Dim("review:"), s.Review)
	}
	t.Printf("%s\n", t.Strong(fmt.Sprintf("%s of %s without a link", plural(len(s.Mentions), "mention"), thousands(s.Total))))
	for _, m := range s.Mentions {
		t.hanging("", "    ", []styled{{m.Path, "36"}, {fmt.Sprintf(":%d  ", m.Line), ""}, {m.Text, "1"}, {" → ", "2"}, {m.Target, "36"}})
		t.Wrap("    ", t.Plain(m.Context))
	}
	if len(s.Neighbours) == 0 {
		return
	}
	t.Printf("%s %s\n", t.Strong("near notes, never linked"), t.Dim("by "+s.Compared))
	for _, n := range s.Neighbours {
		t.hanging("", "    ", []styled{{n.Path, "36"}, {" - ", "2"}, {n.Target, "36"}, {fmt.Sprintf(" %.2f", n.Score), "2"}})
	}
}
