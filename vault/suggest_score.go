package vault

import (
	"cmp"
	"math"
	"slices"
	"strings"
)

// evidence is what a view tells of its notes' names.
type evidence struct {
	said     map[string]int   // by doc and name: notes that say it without a link
	linked   map[string]int   // likewise: notes that link to the doc by it; and by the very words
	sections map[string][]int // docs with a heading of that text
	notes    int
}

func (w *view) evidence(g *linkGraph, said map[string]int) *evidence {
	e := &evidence{said: said, linked: map[string]int{}, sections: map[string][]int{}, notes: len(w.docs)}
	for i := range g.by {
		once := map[string]bool{}
		for _, l := range g.out(i) {
			once[nameKey(mention{doc: l.doc, name: foldName(l.link.Text)})] = true
			once[exactKey(l.doc, l.link.Text)] = true
		}
		for key := range once {
			e.linked[key]++
		}
		once = map[string]bool{}
		for _, h := range w.cards[i].headings {
			once[foldName(h)] = true
		}
		for h := range once {
			e.sections[h] = append(e.sections[h], i)
		}
	}
	return e
}

// surest scores mentions, leaves out those that are probably no names, and sorts
// the rest.
func (e *evidence) surest(all []unlinked) []unlinked {
	var out []unlinked
	for _, u := range all {
		if u.score = e.sureness(u); u.score > 0 {
			out = append(out, u)
		}
	}
	slices.SortStableFunc(out, func(a, b unlinked) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.from, b.from), cmp.Compare(a.Start, b.Start))
	})
	return out
}

// Bounds of what may be the name of a note.
const (
	oftenLinked = 0.25 // share of the notes that say a text which link it: then it is a name, however common
	wordLinked  = 0.5  // likewise of one word without a capital, and
	wordLinks   = 3    // how many notes link it
	commonShare = 0.02 // share of all notes that say a text: beyond it a text that nobody links is common
	fewNotesSay = 5    // so many notes may say it in any vault
)

// namesSection reports whether another note than the named one has a heading of
// the text.
func (e *evidence) namesSection(u unlinked) bool {
	return slices.ContainsFunc(e.sections[u.name], func(i int) bool { return i != u.doc })
}

// sureness tells how sure a mention is meant as the name of its note, 0 for not at
// all. What is a heading of other notes names a section. Of a text that many notes
// say and none links, the words are meant. One word must be written as a name, with
// a capital where no sentence begins, unless those who say it link it. Several
// words, and words that few say or many link, are surer.
func (e *evidence) sureness(u unlinked) float64 {
	said, linked := float64(e.said[nameKey(u.mention)]), float64(e.linked[nameKey(u.mention)])
	words := float64(len(wordsOf(u.text)))
	if words == 1 && !u.cased { // Apple is no apple
		linked = float64(e.linked[exactKey(u.doc, strings.ToLower(u.text))])
	}
	share := linked / (linked + said)
	common := said > max(fewNotesSay, commonShare*float64(e.notes))
	switch {
	case e.namesSection(u), common && share < oftenLinked, words == 1 && !u.cased && (share < wordLinked || linked < wordLinks):
		return 0
	}
	rare := 1 - math.Log1p(said)/math.Log(float64(3+e.notes))
	score := (0.4 + 0.6*share) * rare * (1 - 1/(1+words))
	if u.cased {
		return 2 * score
	}
	return score
}
