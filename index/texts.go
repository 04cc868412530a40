package index

import (
	"container/list"
	"errors"
	"fmt"
	"slices"
	"sync"

	"kb/note"
)

// textCache keeps the notes read last, by blob, so that repeated searches do
// not read them again. The zero value is ready.
type textCache struct {
	mu    sync.Mutex
	byID  map[note.ID]*list.Element
	order list.List // of *cachedText, latest first
	size  int
}

type cachedText struct {
	id    note.ID
	note  *note.Note
	text  []byte
	once  sync.Once
	found []spot // after once
}

// spot is where a term stands in a text: what a search needs of a token, small
// enough to keep.
type spot struct {
	hash       uint32
	start, end int32
	main       bool
}

// spots returns the terms of what the note says to a reader, in order.
func (t *cachedText) spots(b *builder) []spot {
	t.once.Do(func() {
		for _, s := range spoken(t.note, t.text) {
			t.found = b.spots(t.found, t.text, s.Start, s.End)
		}
	})
	return t.found
}

// spots appends the terms of text[from:to].
func (b *builder) spots(dst []spot, text []byte, from, to int) []spot {
	b.an.begin()
	b.toks = b.an.tokens(b.toks[:0], text[from:to])
	dst = slices.Grow(dst, len(b.toks))
	for _, t := range b.toks {
		dst = append(dst, spot{t.term.hash, int32(from) + t.start, int32(from) + t.end, t.kind == mainToken})
	}
	return dst
}

// size estimates what t keeps in memory: text, parse and spots.
func (t *cachedText) size() int { return 1024 + 4*len(t.text) }

// maxTexts bounds the bytes that are kept.
const maxTexts = 64 << 20

func (c *textCache) get(id note.ID) *cachedText {
	c.mu.Lock()
	defer c.mu.Unlock()
	el := c.byID[id]
	if el == nil {
		return nil
	}
	c.order.MoveToFront(el)
	return el.Value.(*cachedText)
}

func (c *textCache) put(t *cachedText) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.byID == nil {
		c.byID = map[note.ID]*list.Element{}
	}
	if c.byID[t.id] != nil || t.size() > maxTexts/4 {
		return
	}
	c.byID[t.id] = c.order.PushFront(t)
	c.size += t.size()
	for c.size > maxTexts {
		last := c.order.Back()
		old := c.order.Remove(last).(*cachedText)
		delete(c.byID, old.id)
		c.size -= old.size()
	}
}

// text returns a note of the view and its text.
func (v *View) text(d int32) (*cachedText, error) {
	id := v.docs[d].blob
	if t := v.segs.texts.get(id); t != nil {
		return t, nil
	}
	if v.load == nil {
		return nil, errors.New("view has no loader")
	}
	n, text, err := v.load(id)
	if err != nil {
		return nil, fmt.Errorf("load note %s: %w", id, err)
	}
	t := &cachedText{id: id, note: n, text: text}
	v.segs.texts.put(t)
	return t, nil
}
