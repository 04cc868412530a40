package embed

import (
	"context"
	"slices"

	"kb/cas"
	"kb/note"
	"kb/vector"
)

// View returns the view of ids, which are distinct, and how much of it is
// covered. It is nil unless that is all.
func (x *Index) View(ctx context.Context, ids []note.ID) (*View, Coverage, error) {
	c := Coverage{Notes: len(ids)}
	ids = slices.SortedFunc(slices.Values(ids), compareIDs)
	b, err := x.build(ctx, ids)
	if err == nil && x.packs.worth(len(b.found)) {
		// Without room for a file, the vectors are searched in memory.
		if err := x.repack(ctx); err == nil {
			if b, err = x.build(ctx, ids); err != nil {
				return nil, c, err
			}
		}
	}
	if err != nil {
		return nil, c, err
	}
	unsettled, err := b.settle(ctx)
	if err != nil {
		return nil, c, err
	}
	c.Missing = len(unsettled)
	for i := range b.ids {
		if b.known[i] && !slices.ContainsFunc(b.openOf(i), func(o open) bool { return unsettled[o.text] }) {
			c.Done++
		}
	}
	if !c.Complete() {
		return nil, c, nil
	}
	b.link()
	return b.View, c, nil
}

func compareIDs(a, b note.ID) int { return slices.Compare(a[:], b[:]) }

// building is a view that is being made.
type building struct {
	*View
	known []bool // by note: its texts are known, or it has none that can be
	opens []open // chunks that the file of vectors lacks, in order
	found map[cas.Hash][]float32
}

// open is a chunk whose vector is not in the file.
type open struct {
	chunk int
	text  cas.Hash
}

// openOf returns the open chunks of note i.
func (b *building) openOf(i int) []open {
	order := func(o open, chunk int32) int { return o.chunk - int(chunk) }
	from, _ := slices.BinarySearchFunc(b.opens, b.first[i], order)
	to, _ := slices.BinarySearchFunc(b.opens, b.first[i+1], order)
	return b.opens[from:to]
}

// build finds the vectors of ids, which ascend: in the file, else in the store.
func (x *Index) build(ctx context.Context, ids []note.ID) (*building, error) {
	base, roster := x.packs.current()
	rows := roster.of(ids)
	var rest []note.ID
	for i, id := range ids {
		if rows[i] == nil {
			rest = append(rest, id)
		}
	}
	lists, err := x.facts.Chunks(ctx, x.chunks, rest)
	if err != nil {
		return nil, err
	}
	b := &building{View: &View{index: x, ids: ids}, known: make([]bool, len(ids))}
	if base != nil {
		b.packs = append(b.packs, base)
	}
	for i, id := range ids {
		b.first = append(b.first, int32(len(b.chunks)))
		b.known[i] = rows[i] != nil || lists[id] != nil || x.isUnreadable(id)
		for _, row := range rows[i] {
			b.add(i, place{0, row})
		}
		for _, h := range lists[id] {
			b.look(i, base, h)
		}
	}
	b.first = append(b.first, int32(len(b.chunks)))
	if len(b.opens) > 0 {
		b.found, err = x.facts.Vectors(ctx, x.vectors, b.texts())
	}
	return b, err
}

func (b *building) add(note int, at place) {
	b.chunks = append(b.chunks, at)
	b.owner = append(b.owner, int32(note))
}

// look adds the chunk of a text, as base has it.
func (b *building) look(note int, base *vector.Pack, text cas.Hash) {
	if base != nil {
		if row, ok := base.Find(vector.Key(text)); ok {
			b.add(note, place{0, int32(row)})
			return
		}
	}
	b.opens = append(b.opens, open{len(b.chunks), text})
	b.add(note, place{nowhere, nowhere})
}

// texts are those of the open chunks.
func (b *building) texts() []cas.Hash {
	out := make([]cas.Hash, len(b.opens))
	for i, o := range b.opens {
		out[i] = o.text
	}
	return out
}

// settle puts the vectors that were found into a pack in memory, and returns the
// texts that have none and did not fail. A vector that is stored but cannot be
// read is dropped, to be made again.
func (b *building) settle(ctx context.Context) (unsettled map[cas.Hash]bool, err error) {
	extra, err := b.index.inMemory(b.found)
	if err != nil {
		return nil, err
	}
	if extra != nil {
		b.packs = append(b.packs, extra)
	}
	unsettled = map[cas.Hash]bool{}
	for _, o := range b.opens {
		if b.found[o.text] == nil {
			unsettled[o.text] = true
			continue
		}
		row, _ := extra.Find(vector.Key(o.text)) // it was made of them
		b.chunks[o.chunk] = place{int32(len(b.packs) - 1), int32(row)}
	}
	return unsettled, b.index.dropFailed(ctx, unsettled)
}

// dropFailed removes the texts that failed for good, and from the store the
// vectors that it has but cannot read.
func (x *Index) dropFailed(ctx context.Context, unsettled map[cas.Hash]bool) error {
	var texts []cas.Hash
	for h := range unsettled {
		texts = append(texts, h)
	}
	if len(texts) == 0 {
		return nil
	}
	failed, err := x.facts.Failures(ctx, x.vectors, texts)
	if err != nil {
		return err
	}
	absent, err := x.facts.MissingVectors(x.vectors, texts)
	if err != nil {
		return err
	}
	isAbsent := make(map[cas.Hash]bool, len(absent))
	for _, h := range absent {
		isAbsent[h] = true
		if failed[h].Attempts >= Attempts {
			delete(unsettled, h)
		}
	}
	return x.dropDamaged(ctx, slices.DeleteFunc(texts, func(h cas.Hash) bool { return isAbsent[h] }))
}

// dropDamaged removes those of texts' vectors that cannot be read. Others were
// stored only just now.
func (x *Index) dropDamaged(ctx context.Context, texts []cas.Hash) error {
	if len(texts) == 0 {
		return nil
	}
	whole, err := x.facts.Vectors(ctx, x.vectors, texts)
	if err != nil {
		return err
	}
	var damaged []cas.Key
	for _, h := range texts {
		if whole[h] == nil {
			damaged = append(damaged, cas.Vectors.Key(x.vectors, h[:]))
		}
	}
	return x.facts.Delete(damaged...)
}
