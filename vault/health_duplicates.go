package vault

import (
	"context"
	"errors"
	"fmt"

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

// addTwins finds those of the docs from one number to another that mean nearly the same
// as an earlier one, where their words do not say so, and returns how many.
func (x *inspection) addTwins(ctx context.Context, from, to int) (n int, err error) {
	if x.by.meaning == nil {
		return 0, nil
	}
	twins, err := x.meant(ctx, x.long(from, to))
	if err != nil && !errors.Is(err, errMeaning) {
		return 0, err
	}
	if err != nil {
		x.v.store.log("near duplicates: %v", err)
		x.by.words("the vectors failed: compared by words")
	}
	for _, t := range twins {
		if _, told := x.twins[t.doc]; !told && !x.duplicate(t.doc) {
			x.twins[t.doc] = t
			n++
		}
	}
	return n, nil
}

const mendDuplicate = "merge them, or link one to the other"

func sayNearDuplicate(x *inspector, i int, _ mark) (message, mend string) {
	like := x.alike.by[i]
	return fmt.Sprintf("about %.0f %% the same as %s", 100*like.share, x.docs[like.doc].path), mendDuplicate
}

// sayMeansTheSame is about the doc of that number.
func sayMeansTheSame(x *inspector, _ int, m mark) (message, mend string) {
	return "means nearly the same as " + x.docs[m.nth].path, mendDuplicate
}

// twin is a note that means nearly the same as one before it.
type twin struct{ doc, of int }

// meant finds notes that say nearly the same in any words.
func (x *inspector) meant(ctx context.Context, docs []int) ([]twin, error) {
	first := map[note.ID]int{}
	var ids []note.ID
	for _, i := range docs {
		if _, ok := first[x.docs[i].blob]; !ok {
			first[x.docs[i].blob] = i
			ids = append(ids, x.docs[i].blob)
		}
	}
	if len(ids) > mostEach {
		return x.meantOf(ctx, docs)
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
func (x *inspector) meantOf(ctx context.Context, docs []int) (twins []twin, err error) {
	for _, i := range docs {
		like := x.alike.by[i]
		if like.share < sameWords || like.share >= nearDuplicate {
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
			twins = append(twins, twin{i, int(like.doc)})
		}
	}
	return twins, nil
}
