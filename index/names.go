package index

import (
	"slices"
	"strings"
	"sync"
)

// nameCache remembers the terms of paths, which all views of a Segments share.
// A term is a number here; what a view answers does not depend on the numbers.
type nameCache struct {
	mu    sync.Mutex
	an    *analyzer
	toks  []token
	terms []string
	ids   map[string]int32
	paths map[string][]nameRef
}

// nameRef is a term of a path: its number times two, plus one when it stands in
// the file name and not only in a folder's.
type nameRef int32

func (r nameRef) term() int32 { return int32(r >> 1) }

// maxPaths bounds the cache: beyond it, it starts anew.
const maxPaths = 1 << 20

// nameIndex tells which notes of a view have a term in a path.
type nameIndex struct {
	terms []string // by number, as the cache knew them when the view was made
	start []int32  // by number: where its docs begin in docs
	docs  []namedDoc
	words map[string]int32 // only the view's terms
	order func() []string  // words, sorted when first asked for
}

// namedDoc is a note that has a term in a path, times two, plus one when in a
// file name.
type namedDoc int32

func (n namedDoc) doc() int32 { return int32(n >> 1) }

func (n namedDoc) weight() float64 {
	if n&1 == 1 {
		return fieldWeight[fieldName]
	}
	return folderWeight
}

// index returns the name index of v. A note at several paths has the terms of all.
func (c *nameCache) index(v *View) nameIndex {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.an == nil || len(c.paths) > maxPaths {
		c.an, c.terms = newAnalyzer(v.segs.lang), nil
		c.ids, c.paths = map[string]int32{}, map[string][]nameRef{}
	}
	rows := make([][]nameRef, len(v.docs))
	for d := range v.docs {
		for i, m := range v.docs[d].members {
			t := c.path(v.members[m].Path)
			if i == 0 {
				rows[d] = t
				continue
			}
			t = append(slices.Clone(rows[d]), t...)
			rows[d] = distinctNames(t)
		}
	}
	return c.invert(rows)
}

// invert is a counting sort of (term, doc) by term.
func (c *nameCache) invert(rows [][]nameRef) nameIndex {
	x := nameIndex{terms: c.terms, start: make([]int32, len(c.terms)+1)}
	for _, row := range rows {
		for _, t := range row {
			x.start[t.term()+1]++
		}
	}
	x.words = map[string]int32{}
	for t := range c.terms {
		if x.start[t+1] > 0 {
			x.words[c.terms[t]] = int32(t)
		}
		x.start[t+1] += x.start[t]
	}
	x.order = sync.OnceValue(func() []string { return sortedKeys(x.words) })
	x.docs = make([]namedDoc, x.start[len(c.terms)])
	next := slices.Clone(x.start)
	for d, row := range rows {
		for _, t := range row {
			x.docs[next[t.term()]] = namedDoc(int32(d)<<1 | int32(t)&1)
			next[t.term()]++
		}
	}
	return x
}

// path returns the distinct terms of a path, sorted by number: those of its
// folders and its file name, without the extension.
func (c *nameCache) path(p string) []nameRef {
	if t, ok := c.paths[p]; ok {
		return t
	}
	name := trimExtension(p)
	base := int32(strings.LastIndexByte(name, '/'))
	c.toks = c.an.tokens(c.toks[:0], []byte(name))
	var row []nameRef
	for _, t := range c.toks {
		id, ok := c.ids[t.term.text]
		if !ok {
			id = int32(len(c.terms))
			c.ids[t.term.text] = id
			c.terms = append(c.terms, t.term.text)
		}
		ref := nameRef(id << 1)
		if t.start > base {
			ref |= 1
		}
		row = append(row, ref)
	}
	row = slices.Clip(distinctNames(row))
	c.paths[p] = row
	return row
}

// distinctNames sorts refs and keeps each term once, of the file name if it can.
func distinctNames(refs []nameRef) []nameRef {
	slices.SortFunc(refs, func(a, b nameRef) int { return int(b - a) })
	refs = slices.CompactFunc(refs, func(a, b nameRef) bool { return a.term() == b.term() })
	slices.Reverse(refs)
	return refs
}

func trimExtension(p string) string {
	if i := strings.LastIndexByte(p, '.'); i > strings.LastIndexByte(p, '/')+1 {
		return p[:i]
	}
	return p
}

// beginning returns the view's terms that begin with prefix, sorted.
func (x *nameIndex) beginning(prefix string) []string {
	words := x.order()
	from, _ := slices.BinarySearch(words, prefix)
	to := len(words)
	if end := after(prefix); end != nil {
		to, _ = slices.BinarySearch(words, string(end))
	}
	return words[from:to]
}

// lookup returns the notes that have the term in a path, ascending.
func (x *nameIndex) lookup(term string) []namedDoc {
	t, ok := x.words[term]
	if !ok {
		return nil
	}
	return x.docs[x.start[t]:x.start[t+1]]
}
