package index

import (
	"context"
	"math"
	"testing"
)

// The exported postings score as Search does: for every term of the view, a query
// of that term alone gives what the formula gives on them.
func TestPostingsScoreAsSearch(t *testing.T) {
	v := vaultOf(`-- guides/Retry Policy.md --
---
title: Retry policy
tags: [howto/net]
aliases: [Back off]
rating: 4
---
# Retry policy
Retry with fooBar and jitter. Guides retry.
## Limits of retrying
日本語のノート
-- guides/old retry.md --
---
status: obsolete
---
Old guides. Café.
-- copy/Retry Policy.md --
Old words, wi-fi.
`).view(t)
	stats := v.Statistics()
	terms := 0
	err := v.EachTerm(context.Background(), func(term string, list []Posting) error {
		if term[0] == tagMark[0] {
			return nil
		}
		terms++
		u := &unit{terms: []string{term}, fields: allFields, factor: 1, times: 1}
		s := v.segs.scratches.Get().(*scratch)
		defer v.segs.scratches.Put(s)
		s.grow(len(v.docs), len(v.parts))
		e := &evaluation{scratch: s, v: v, ctx: context.Background()}
		defer s.reset()
		if err := e.collect(u); err != nil {
			return err
		}
		if len(e.touched) != len(list) {
			t.Errorf("%q: %d notes, want %d", term, len(list), len(e.touched))
		}
		for _, p := range list {
			var w float64
			for f, n := range p.Counts {
				if n > 0 {
					rel := float64(stats.Lengths[p.Note][f]) / stats.Average[f]
					w += float64(fieldWeight[f]*float64(n)) / (1 - fieldB[f] + float64(fieldB[f]*rel))
				}
			}
			switch {
			case p.Name:
				w += fieldWeight[fieldName]
			case p.Folder:
				w += folderWeight
			}
			if got := e.weight[p.Note]; math.Float64bits(got) != math.Float64bits(w) {
				t.Errorf("%q in note %d weighs %v, want %v", term, p.Note, w, got)
			}
		}
		return nil
	})
	if err != nil || terms < 10 {
		t.Errorf("%d terms, %v", terms, err)
	}
}
