package vault

import (
	"cmp"
	"math"
	"slices"
	"strings"
)

// leastSame is the share of a directory's notes that have a value which is suggested
// to the others: what was measured is in docs/guides/tending.md.
const leastSame = 0.8

// directories knows what the notes of each directory have. Many vaults file by
// directory: there a note's words do not tell its tags, and its neighbours on disk do.
type directories struct {
	w    *view
	seen map[inDirectory]*habit
}

type inDirectory struct {
	col  *collection
	dir  string
	kind string
}

// habit is what the notes of a directory have of a kind.
type habit struct {
	notes int
	by    map[string]*holders // folded value → who has it
}

type holders struct {
	docs  []int
	spelt vote
}

func (w *view) directories() *directories {
	return &directories{w, map[inDirectory]*habit{}}
}

// agree lists what nearly all other notes of doc i's directory have, and it has not,
// the surest first. The root is a directory of anything.
func (d *directories) agree(i int, kind string, values func(i int) []string, has func(string) bool) []Verdict {
	dir := directory(d.w.docs[i].path)
	if dir == "" {
		return nil
	}
	h := d.habit(inDirectory{d.w.docs[i].col, dir, kind}, values)
	out := []Verdict{}
	for _, x := range h.by {
		others := slices.DeleteFunc(slices.Clone(x.docs), func(j int) bool { return j == i })
		share, value := float64(len(others))/float64(max(1, h.notes-1)), x.spelt.spelling()
		if len(others) < leastVotes || share < leastSame || has(value) {
			continue
		}
		v := Verdict{Value: value, Share: math.Round(share*100) / 100, Count: len(others), Of: h.notes - 1, From: fromDirectory}
		for _, j := range others[:min(len(others), mostAsked)] {
			v.Notes = append(v.Notes, d.w.docs[j].path)
		}
		out = append(out, v)
	}
	return ranked(out)
}

// habit looks through a directory, once.
func (d *directories) habit(at inDirectory, values func(i int) []string) *habit {
	if h := d.seen[at]; h != nil {
		return h
	}
	h := &habit{by: map[string]*holders{}}
	for j, x := range d.w.docs {
		if x.col != at.col || directory(x.path) != at.dir {
			continue
		}
		h.notes++
		own := map[string]bool{}
		for _, value := range values(j) {
			key := foldName(value)
			if own[key] {
				continue
			}
			own[key] = true
			if h.by[key] == nil {
				h.by[key] = &holders{spelt: vote{spelt: map[string]int{}}}
			}
			h.by[key].docs = append(h.by[key].docs, j)
			h.by[key].spelt.spelt[value]++
		}
	}
	d.seen[at] = h
	return h
}

// either joins the opinions of near notes and of a directory: of two about one value
// the surer.
func either(a, b []Verdict, most int) []Verdict {
	out := []Verdict{}
	for _, v := range ranked(slices.Concat(a, b)) {
		if !slices.ContainsFunc(out, func(o Verdict) bool { return foldName(o.Value) == foldName(v.Value) }) {
			out = append(out, v)
		}
	}
	return out[:min(len(out), most)]
}

// ranked sorts verdicts, the surest first.
func ranked(list []Verdict) []Verdict {
	slices.SortStableFunc(list, func(a, b Verdict) int {
		return cmp.Or(cmp.Compare(b.Share, a.Share), cmp.Compare(b.Count, a.Count), strings.Compare(a.Value, b.Value))
	})
	return list
}
