package vault

import (
	"context"
	"maps"
	"slices"
	"strings"
)

// table lists docs by a key. It is immutable: another that is made of it shares
// what did not change, and holds for another view, since docs are in it by path.
type table[K comparable] struct {
	base map[K][]docKey
	over map[K][]docKey // instead of what base has
}

// at lists the docs of a key, in their order.
func (t *table[K]) at(key K) []docKey {
	if docs, ok := t.over[key]; ok {
		return docs
	}
	return t.base[key]
}

// tableOf makes the table of a view's docs, of that of an earlier view where there
// is one: s is nil, or was is the table and cards are the cards of s.then.
func tableOf[K comparable](w *view, s *since, was *table[K], cards []*card, keys func(doc, *card) []K) *table[K] {
	if s == nil {
		t := &table[K]{base: make(map[K][]docKey, len(w.docs))}
		for i, d := range w.docs {
			for _, key := range keys(d, w.cards[i]) {
				t.base[key] = append(t.base[key], docKey{d.col, d.path})
			}
		}
		return t
	}
	t := was.edit()
	for _, j := range s.gone {
		for _, key := range keys(s.then.docs[j], cards[j]) {
			t.drop(key, s.then.docs[j])
		}
	}
	for _, i := range s.fresh {
		for _, key := range keys(w.docs[i], w.cards[i]) {
			t.add(key, w.docs[i])
		}
	}
	return t
}

// edit returns a table like t, to be changed by add and drop.
func (t *table[K]) edit() *table[K] {
	const least = 64
	if len(t.over) <= least+len(t.base)/16 {
		over := make(map[K][]docKey, len(t.over))
		maps.Copy(over, t.over)
		return &table[K]{t.base, over}
	}
	all := maps.Clone(t.base)
	for key, docs := range t.over {
		if len(docs) == 0 {
			delete(all, key)
		} else {
			all[key] = docs
		}
	}
	return &table[K]{all, map[K][]docKey{}}
}

func (t *table[K]) add(key K, d doc) {
	docs := t.at(key)
	if at, there := slices.BinarySearchFunc(docs, d, docKey.compare); !there {
		t.over[key] = slices.Insert(slices.Clone(docs), at, docKey{d.col, d.path})
	}
}

func (t *table[K]) drop(key K, d doc) {
	docs := t.at(key)
	if at, there := slices.BinarySearchFunc(docs, d, docKey.compare); there {
		t.over[key] = slices.Delete(slices.Clone(docs), at, at+1)
	}
}

// keys are those that docs have.
func (t *table[K]) keys() []K {
	var keys []K
	for key := range t.base {
		if _, ok := t.over[key]; !ok {
			keys = append(keys, key)
		}
	}
	for key, docs := range t.over {
		if len(docs) > 0 {
			keys = append(keys, key)
		}
	}
	return keys
}

func (k docKey) compare(d doc) int {
	if c := strings.Compare(k.col.Name, d.col.Name); c != 0 {
		return c
	}
	return strings.Compare(k.path, d.path)
}

// named finds the docs of a view by what they are called.
type named struct {
	w *view
	*table[string]
}

// titles finds docs by folded title, file name and alias.
func (w *view) titles(ctx context.Context) (named, error) {
	if _, err := w.allCards(ctx); err != nil {
		return named{}, err
	}
	var was *table[string]
	var cards []*card
	s := w.earlier(func(c *contents) bool { was, cards = c.names, c.cards; return was != nil })
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.names == nil {
		w.names = tableOf(w, s, was, cards, namesOf)
	}
	return named{w, w.names}, nil
}

// namesOf are what a note is called, each once, in the form in which names are
// compared.
func namesOf(d doc, c *card) (all []string) {
	for _, name := range append([]string{c.titleAt(d.path), fileTitle(d.path)}, c.aliases...) {
		if key := foldName(name); key != "" && !slices.Contains(all, key) {
			all = append(all, key)
		}
	}
	return all
}

// docs are those of a name.
func (n named) docs(name string) []int { return n.w.numbers(n.at(name)) }

// numbers are the places of docs that the view has.
func (w *view) numbers(keys []docKey) []int {
	var docs []int
	for _, k := range keys {
		if i, ok := w.find(k.col, k.path); ok {
			docs = append(docs, i)
		}
	}
	return docs
}
