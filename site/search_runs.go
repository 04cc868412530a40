package site

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// run is a kind of items that are in files in the byte order of their keys.
type run struct {
	kind   string // of its files
	beside string // of files beside them with what is seldom asked for; "" for none
	target int    // bytes of a file before compression, with what is beside it
	skip   func(*partReader)
}

// item is one of a run: what belongs to its key, and what of that is in the file
// beside.
type item struct {
	key          string
	data, beside []byte
}

func compareItem(it item, key string) int { return strings.Compare(it.key, key) }

// shards are the files of a run: where each begins - the shortest string above all
// keys before it - and their checks.
type shards struct {
	first  []string
	checks string
}

// of is the number of the file that a key is in, if anywhere; -1 for none.
func (s *shards) of(key string) int {
	at, exact := slices.BinarySearch(s.first, key)
	if exact {
		return at
	}
	return at - 1
}

// runWriter makes the files of a run of items as they come.
type runWriter struct {
	run
	b      *builder
	out    shards
	list   keyed
	beside []byte
	before string // the last key of the file before
}

func (w *runWriter) size() int { return len(w.list.buf) + len(w.beside) }

func (w *runWriter) add(it item) error {
	if w.list.n == 0 {
		w.out.first = append(w.out.first, between(w.before, it.key))
	}
	size := w.size()
	w.list.key(it.key)
	w.list.buf = append(w.list.buf, it.data...)
	if w.run.beside != "" {
		w.beside = append(uvarints(w.beside, len(it.beside)), it.beside...)
	}
	if !shardEnds(w.size(), w.size()-size, w.target, it.key) {
		return nil
	}
	return w.flush()
}

func (w *runWriter) flush() error {
	if w.list.n == 0 {
		return nil
	}
	w.before = w.list.last
	name, data := nameOf(w.out.first[len(w.out.first)-1]), w.list.take()
	if w.run.beside != "" {
		check, err := w.b.putPart(w.run.beside, name, w.beside)
		if err != nil {
			return err
		}
		data, w.beside = append([]byte(check), data...), nil
	}
	check, err := w.b.putPart(w.kind, name, data)
	w.out.checks += check
	return err
}

// between returns the shortest beginning of next that is greater than last.
func between(last, next string) string {
	for i := range next {
		if s := next[:i]; s > last {
			return s
		}
	}
	return next
}

// keyed is a list of keys in byte order with what belongs to each: a count of
// keys, then for each the length of what it shares with the one before, the
// length of the rest, the rest, and its own.
type keyed struct {
	buf  []byte
	n    int
	last string
}

func (k *keyed) key(key string) {
	shared := 0
	for shared < len(key) && shared < len(k.last) && key[shared] == k.last[shared] {
		shared++
	}
	k.buf = append(uvarints(k.buf, shared, len(key)-shared), key[shared:]...)
	k.last = key
	k.n++
}

// take returns the list and empties it.
func (k *keyed) take() []byte {
	out := append(uvarints(nil, k.n), k.buf...)
	*k = keyed{}
	return out
}

// putFirst writes where the files of the runs begin.
func (b *builder) putFirst(runs ...*shards) (name string, err error) {
	var data []byte
	for _, s := range runs {
		var list keyed
		for _, first := range s.first {
			list.key(first)
		}
		data = append(data, list.take()...)
	}
	name = sumOf(data)[:hashSize]
	_, err = b.putPart("first", name, data)
	return name, err
}

// loadFirst reads what putFirst wrote.
func (b *builder) loadFirst(name string, runs ...*shards) error {
	data, err := b.loadPart("first", name)
	if err != nil {
		return err
	}
	r := partReader{data: data}
	for _, s := range runs {
		before := ""
		for n := min(r.number(), len(r.data)); n > 0; n-- {
			before = r.key(before)
			s.first = append(s.first, before)
		}
		if r.bad || len(s.checks) != checkSize*len(s.first) || !slices.IsSorted(s.first) {
			return fmt.Errorf("%w: where files begin", errNoPart)
		}
	}
	return nil
}

// runChange makes the files of a run from those of the build before.
type runChange struct {
	run
	b      *builder
	before shards
	now    shards         // see apply
	read   map[int][]item // files of the build before, by number
}

func (b *builder) runChange(r run, checks string) *runChange {
	return &runChange{run: r, b: b, before: shards{checks: checks}, read: map[int][]item{}}
}

// items are those of a file of the build before.
func (c *runChange) items(s int) ([]item, error) {
	if read := c.read[s]; read != nil {
		return read, nil
	}
	name := nameOf(c.before.first[s])
	data, err := c.b.loadPart(c.kind, name)
	if err != nil {
		return nil, err
	}
	r, p := partReader{data: data}, partReader{}
	if c.beside != "" {
		r.take(checkSize)
		if p.data, err = c.b.loadPart(c.beside, name); err != nil {
			return nil, err
		}
	}
	out := make([]item, 0, min(r.number(), len(data)))
	before := ""
	for len(r.data) > 0 && !r.bad && !p.bad {
		before = r.key(before)
		at := r.data
		c.skip(&r)
		it := item{key: before, data: at[:len(at)-len(r.data)]}
		if c.beside != "" {
			it.beside = p.take(p.number())
		}
		out = append(out, it)
	}
	if r.bad || p.bad || len(p.data) > 0 || len(out) == 0 {
		return nil, fmt.Errorf("%w: a file of %s", errNoPart, c.kind)
	}
	c.read[s] = out
	return out, nil
}

// between returns the items of the build before with keys from one to before
// another.
func (c *runChange) between(from, to string) (out []item, err error) {
	for s := max(0, c.before.of(from)); s < len(c.before.first) && c.before.first[s] < to; s++ {
		items, err := c.items(s)
		if err != nil {
			return nil, err
		}
		a, _ := slices.BinarySearchFunc(items, from, compareItem)
		z, _ := slices.BinarySearchFunc(items, to, compareItem)
		out = append(out, items[a:max(a, z)]...)
	}
	return out, nil
}

// itemChange is an item as it is now, or one that is gone.
type itemChange struct {
	item
	gone bool
}

// apply writes the files that changes are in, and those after until a file ends
// where one did before; the others stay.
func (c *runChange) apply(changes []itemChange) (shards, error) {
	slices.SortFunc(changes, func(a, b itemChange) int { return cmp.Compare(a.key, b.key) })
	w := runWriter{run: c.run, b: c.b}
	kept := true // the file before this one stays
	for s := range c.before.first {
		n := len(changes)
		if s+1 < len(c.before.first) {
			n, _ = slices.BinarySearchFunc(changes, c.before.first[s+1], func(x itemChange, first string) int { return strings.Compare(x.key, first) })
		}
		mine := changes[:n]
		changes = changes[n:]
		if len(mine) == 0 && w.list.n == 0 && (kept || c.beginsAlike(s, w.before)) {
			if err := c.keep(s, &w.out); err != nil {
				return w.out, err
			}
			kept = true
			continue
		}
		if kept && s > 0 {
			items, err := c.items(s - 1)
			if err != nil {
				return w.out, err
			}
			w.before = items[len(items)-1].key
		}
		kept = false
		items, err := c.items(s)
		if err != nil {
			return w.out, err
		}
		if err := w.addAll(items, mine); err != nil {
			return w.out, err
		}
	}
	if err := w.addAll(nil, changes); err != nil { // where there was no file before
		return w.out, err
	}
	return w.out, w.flush()
}

// beginsAlike reports whether a file still has its name after a file that ends with
// a key.
func (c *runChange) beginsAlike(s int, before string) bool {
	items, err := c.items(s)
	return err == nil && between(before, items[0].key) == c.before.first[s]
}

// keep leaves a file as it is.
func (c *runChange) keep(s int, to *shards) error {
	name := nameOf(c.before.first[s])
	to.first = append(to.first, c.before.first[s])
	to.checks += c.before.checks[s*checkSize : (s+1)*checkSize]
	if err := c.b.keepPart(c.kind, name); err != nil || c.beside == "" {
		return err
	}
	return c.b.keepPart(c.beside, name)
}

// addAll adds the items of a file with changed ones in their places.
func (w *runWriter) addAll(items []item, changes []itemChange) error {
	for len(items) > 0 || len(changes) > 0 {
		var x itemChange
		if len(changes) == 0 || len(items) > 0 && items[0].key < changes[0].key {
			x.item, items = items[0], items[1:]
		} else {
			if len(items) > 0 && items[0].key == changes[0].key {
				items = items[1:]
			}
			x, changes = changes[0], changes[1:]
		}
		if x.gone {
			continue
		}
		if err := w.add(x.item); err != nil {
			return err
		}
	}
	return nil
}
