package vault

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// holding is what only one note of a collection should have: its title, an alias,
// the value of a property that identifies what it is about.
type holding struct {
	col        *collection
	key, value string
}

// holdings finds the docs that have such a thing.
func (w *view) holdings(ctx context.Context) (*table[holding], error) {
	if _, err := w.allCards(ctx); err != nil {
		return nil, err
	}
	var was *table[holding]
	var cards []*card
	s := w.earlier(func(c *contents) bool { was, cards = c.held, c.cards; return was != nil })
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.held == nil {
		w.held = tableOf(w, s, was, cards, heldBy)
	}
	return w.held, nil
}

// heldBy lists what a note has of the kind, each once.
func heldBy(d doc, c *card) []holding {
	all := []holding{titleOf(d, c)}
	for _, a := range c.aliases {
		if h := aliasOf(d, a); !slices.Contains(all, h) {
			all = append(all, h)
		}
	}
	for _, t := range c.claimed() {
		all = append(all, holding{d.col, t.key, t.value})
	}
	return all
}

func titleOf(d doc, c *card) holding { return holding{d.col, "title", foldName(c.titleAt(d.path))} }

func aliasOf(d doc, alias string) holding { return holding{d.col, "aliases", foldName(alias)} }

// shared marks what doc i has that an earlier one has, too.
func (x *inspector) shared(m *marks, i int) {
	d, c := x.docs[i], x.cards[i]
	if x.firstWith(titleOf(d, c)) != i {
		m.add(findDuplicateTitles, 1, 0, sayDuplicateTitle)
	}
	first := len(*m)
	for n, a := range c.aliases {
		if x.firstWith(aliasOf(d, a)) != i {
			m.add(findConflicting, c.lineOf("aliases"), n, sayAlias)
		}
	}
	for n, t := range c.claimed() {
		h := holding{d.col, t.key, t.value}
		if len(x.held.at(h)) <= mostRivals && x.firstWith(h) != i {
			m.add(findConflicting, c.lineOf(t.key), n, sayRival)
		}
	}
	slices.SortStableFunc((*m)[first:], func(a, b mark) int {
		this, _ := a.say(x, i, a)
		that, _ := b.say(x, i, b)
		return strings.Compare(this, that)
	})
}

// firstWith is the first doc that holds h.
func (x *inspector) firstWith(h holding) int {
	first := x.held.at(h)[0]
	i, _ := x.find(first.col, first.path)
	return i
}

func sayDuplicateTitle(x *inspector, i int, _ mark) (message, mend string) {
	d, c := x.docs[i], x.cards[i]
	return fmt.Sprintf("%q is also the title of %s", c.titleAt(d.path), x.docs[x.firstWith(titleOf(d, c))].path), "rename one, or merge them"
}

func sayAlias(x *inspector, i int, m mark) (message, mend string) {
	alias := x.cards[i].aliases[m.nth]
	return fmt.Sprintf("alias %q also belongs to %s", alias, x.docs[x.firstWith(aliasOf(x.docs[i], alias))].path), "keep the alias in one of them"
}
