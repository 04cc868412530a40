package site

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// searchRenewed makes the search data of that of the build before.
func (r *renewer) searchRenewed(ctx context.Context) error {
	if r.kept.search == nil {
		return nil
	}
	key, name, _ := strings.Cut(r.out.keyOf(searchKey), " ")
	x, err := r.searchEdited(ctx, key, name)
	if errors.Is(err, errNoPart) {
		return fmt.Errorf("%w: %w", ErrAnew, err)
	}
	if err != nil {
		return err
	}
	raw, err := script("search", x)
	if err != nil {
		return err
	}
	if r.searchFile, err = r.putHashed("search.js", raw); err != nil {
		return err
	}
	if r.searchFile != name {
		r.out.drop(name)
	}
	r.out.note(searchKey, key+" "+r.searchFile)
	return nil
}

// searchEdited makes the index that takes the place of one that the build before
// wrote, and the files that it names.
func (r *renewer) searchEdited(ctx context.Context, key, name string) (*searchIndex, error) {
	before, err := r.loadIndex(name)
	if err != nil {
		return nil, err
	}
	d := *r.edits.Set.Search
	d.Notes, d.Obsolete = r.kept.search, before.Obsolete
	if d.Lengths, err = r.loadLengths(before); err != nil {
		return nil, err
	}
	r.set.Search = &d
	edits, err := r.searchEdits(ctx)
	if err != nil {
		return nil, err
	}
	d.Average = r.edits.Average(d.Lengths)
	c, err := r.newSearchChange(key, before)
	if err != nil {
		return nil, err
	}
	for _, e := range edits {
		c.change(e.n, e.old, e.now)
	}
	if err := c.changeTerms(); err != nil {
		return nil, err
	}
	texts := c.textsBefore()
	now, err := c.changeTexts(ctx)
	if err != nil {
		return nil, err
	}
	c.dropParts(before, texts, now)
	return c.x, errors.Join(r.searchLengths(c.x), c.changeRows(before, texts, now), r.stemmers(c.x))
}

// searchEdit is a note of the search data before and now.
type searchEdit struct {
	n        int
	old, now *SearchNote
}

// searchEdits compares the edited docs with what they were, by their numbers in the
// search data, and sets their lengths.
func (r *renewer) searchEdits(ctx context.Context) (out []searchEdit, err error) {
	number := make(map[int]int, len(r.edited)) // in the search data
	for n, i := range r.kept.search {
		if _, ok := slices.BinarySearch(r.edited, i); ok {
			number[i] = n
		}
	}
	for k, i := range r.edited {
		d := r.set.Docs[i]
		n, ok := number[i]
		if !ok || n >= len(r.set.Search.Lengths) {
			return nil, fmt.Errorf("%w: %s has no number", ErrAnew, d.Path)
		}
		x := searchEdit{n: n}
		if x.old, err = r.edits.Alone(ctx, d, r.was[k]); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrAnew, err)
		}
		if x.now, err = r.edits.Alone(ctx, d, d.Blob); err != nil {
			return nil, err
		}
		if x.old.Obsolete != x.now.Obsolete {
			return nil, fmt.Errorf("%w: %s became obsolete, or is so no more", ErrAnew, d.Path)
		}
		r.set.Search.Lengths[n] = x.now.Lengths
		out = append(out, x)
	}
	slices.SortFunc(out, func(a, b searchEdit) int { return a.n - b.n })
	return out, nil
}

// loadLengths returns the lengths that the build before wrote.
func (b *builder) loadLengths(before *searchIndex) ([][SearchFields]uint32, error) {
	out := make([][SearchFields]uint32, before.Notes)
	n := 0
	for notes := range slices.Chunk(out, lengthsShard) {
		raw, err := b.loadPart("lengths", strconv.Itoa(n))
		if err != nil {
			return nil, err
		}
		r := partReader{data: raw}
		for f := range SearchFields {
			for i := range notes {
				notes[i][f] = uint32(r.number())
			}
		}
		if r.bad || len(r.data) > 0 {
			return nil, fmt.Errorf("%w: lengths", errNoPart)
		}
		n++
	}
	return out, nil
}

// changeRows writes the files of rows beside which other files of texts begin.
func (c *searchChange) changeRows(before *searchIndex, was, is []textAt) error {
	c.x.Each = before.Each
	if c.x.Each <= 0 {
		return fmt.Errorf("%w: rows", errNoPart)
	}
	if slices.Equal(was, is) {
		return nil
	}
	for from := 0; from < before.Notes; from += c.x.Each {
		to := min(from+c.x.Each, before.Notes)
		texts := textsAt(is, from, to)
		if slices.Equal(textsAt(was, from, to), texts) {
			continue
		}
		if err := c.putRows(c.x, from, to, texts); err != nil {
			return err
		}
	}
	return nil
}

// dropParts drops the files of the build before that the search data does not have
// any more.
func (c *searchChange) dropParts(before *searchIndex, was, is []textAt) {
	for _, run := range []*runChange{c.listed, c.words, c.ends} {
		for _, first := range run.before.first {
			if _, stays := slices.BinarySearch(run.now.first, first); stays {
				continue
			}
			c.out.drop(partName(run.kind, nameOf(first)))
			if run.beside != "" {
				c.out.drop(partName(run.beside, nameOf(first)))
			}
		}
	}
	for _, at := range was {
		if _, stays := slices.BinarySearchFunc(is, at, textAt.compare); !stays {
			c.out.drop(partName("texts", at.name()))
		}
	}
	if before.First != c.x.First {
		c.out.drop(partName("first", before.First))
	}
}
