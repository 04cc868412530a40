package vault

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"kb/embed"
	"kb/note"
)

// nearDuplicate is how much two notes have in common to be reported.
const nearDuplicate = 0.8

// What two notes must have in common in meaning to be reported. Half of the words
// kept is enough among notes whose number allows to compare each with each;
// among more, a note is only compared with the one that has most words in common
// with it, and must match it nearly.
// docs/decisions/duplicates.md has the figures.
var sameMeaning = embed.Bar{Match: 0.8, Apart: 0.4}

const (
	nearlySameMeaning = 0.9
	sameWords         = 0.4
)

// mostEach is of how many notes each is compared with each: less than a second's
// work. Only tests change it.
var mostEach = 6000

// comparison says how notes are compared with each other.
type comparison struct {
	mode     string // text or hybrid
	degraded string // why it is text
	meaning  *meaning
}

// comparison returns how the notes of the view are compared: by words, and by
// meaning if every chunk has its vector.
func (w *view) comparison(ctx context.Context) *comparison {
	by := &comparison{mode: "hybrid"}
	var why string
	if by.meaning, _, why = w.vectors(ctx); by.meaning == nil {
		by.words(why + ": compared by words")
	}
	return by
}

// words lets only words count.
func (by *comparison) words(why string) { *by = comparison{mode: "text", degraded: why} }

// duplicates finds notes that say nearly the same: by their words, and by their
// meaning.
func (x *inspector) duplicates(ctx context.Context, f *collectionFindings, docs []int) error {
	var long []int
	for _, i := range docs {
		if x.cards[i].words >= max(x.MinWords, 20) {
			long = append(long, i)
		}
	}
	worded := x.worded(f.col, long)
	reported := map[int]bool{}
	for _, i := range long {
		if like, ok := worded[i]; ok && like.share >= nearDuplicate {
			reported[i] = true
			f.add(findNearDuplicates, i, 1, like.doc, sayNearDuplicate)
		}
	}
	if x.by.meaning != nil {
		twins, err := x.meant(ctx, long, worded)
		if err != nil && !errors.Is(err, errMeaning) {
			return err
		}
		if err != nil {
			x.v.store.log("near duplicates: %v", err)
			x.by.words("the vectors failed: compared by words")
		}
		for _, t := range twins {
			if !reported[t.doc] {
				reported[t.doc] = true
				f.add(findNearDuplicates, t.doc, 1, t.of, sayMeansTheSame)
			}
		}
	}
	slices.SortFunc(f.lists[findNearDuplicates], func(a, b finding) int { return cmp.Compare(a.doc, b.doc) })
	return nil
}

const mendDuplicate = "merge them, or link one to the other"

func sayNearDuplicate(x *inspector, f finding) (message, mend string) {
	like := x.cards[f.doc].sketch.Similar(x.cards[f.other].sketch)
	return fmt.Sprintf("about %.0f %% the same as %s", 100*like, x.docs[f.other].path), mendDuplicate
}

func sayMeansTheSame(x *inspector, f finding) (message, mend string) {
	return "means nearly the same as " + x.docs[f.other].path, mendDuplicate
}

// twin is a note that means nearly the same as one before it.
type twin struct{ doc, of int }

// meant finds notes that say nearly the same in any words.
func (x *inspector) meant(ctx context.Context, docs []int, worded map[int]overlap) ([]twin, error) {
	first := map[note.ID]int{}
	var ids []note.ID
	for _, i := range docs {
		if _, ok := first[x.docs[i].blob]; !ok {
			first[x.docs[i].blob] = i
			ids = append(ids, x.docs[i].blob)
		}
	}
	if len(ids) > mostEach {
		return x.meantOf(ctx, docs, worded)
	}
	near, err := x.by.meaning.view.Twins(ctx, ids, sameMeaning)
	if err != nil {
		return nil, x.by.meaning.fail(ctx, err)
	}
	var twins []twin
	for _, i := range docs {
		for _, t := range near[x.docs[i].blob] {
			if j := first[t.ID]; first[x.docs[i].blob] == i {
				twins = append(twins, twin{max(i, j), min(i, j)})
			}
		}
	}
	return twins, nil
}

// meantOf compares each note with the one that has most words in common with it.
func (x *inspector) meantOf(ctx context.Context, docs []int, worded map[int]overlap) (twins []twin, err error) {
	for _, i := range docs {
		like, ok := worded[i]
		if !ok || like.share < sameWords || like.share >= nearDuplicate {
			continue
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		match, err := x.by.meaning.view.Match(x.docs[i].blob, x.docs[like.doc].blob)
		if err != nil {
			return nil, x.by.meaning.fail(ctx, err)
		}
		if match >= nearlySameMeaning {
			twins = append(twins, twin{i, like.doc})
		}
	}
	return twins, nil
}
