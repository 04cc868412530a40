package gitstore

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"sort"
	"strings"
)

// mode is what an entry of a tree is; old and odd file modes are folded into
// these as git folds them.
type mode uint8

const (
	modeFile mode = iota
	modeExec
	modeDir
	modeLink
	modeSubmodule
)

func (m mode) isFile() bool { return m == modeFile || m == modeExec }

// treeEntry is one name of a tree.
type treeEntry struct {
	name string
	mode mode
	id   oid
}

// compare orders entries as git does: a directory as if its name ended in "/".
func (e *treeEntry) compare(o *treeEntry) int {
	n := min(len(e.name), len(o.name))
	if c := strings.Compare(e.name[:n], o.name[:n]); c != 0 {
		return c
	}
	return cmp.Compare(e.byteAt(n), o.byteAt(n))
}

// byteAt returns the byte at i of the name as it is sorted. A name and the
// slash after it end here, so what may follow does not matter.
func (e *treeEntry) byteAt(i int) int {
	switch {
	case i < len(e.name):
		return int(e.name[i])
	case e.mode == modeDir:
		return '/'
	}
	return -1
}

// tree is a parsed tree without what is dangerous in it: sorted, every name
// once and safe.
type tree struct {
	entries  []treeEntry
	problems []Problem // of the names left out; Path is the bare name
}

// find returns the entry of that name, nil if there is none.
func (t *tree) find(name string) *treeEntry {
	for _, m := range [...]mode{modeFile, modeDir} {
		want := treeEntry{name: name, mode: m}
		i := sort.Search(len(t.entries), func(i int) bool { return t.entries[i].compare(&want) >= 0 })
		if i < len(t.entries) && t.entries[i].name == name {
			return &t.entries[i]
		}
	}
	return nil
}

// treeOf reads a tree; the zero hash is the empty tree.
func (r *Repo) treeOf(id oid) (*tree, error) {
	if id == (oid{}) {
		return &tree{}, nil
	}
	if t, ok := r.trees.get(id); ok {
		return t, nil
	}
	o, err := r.objectOf(kindTree, id)
	if err != nil {
		return nil, err
	}
	raw, err := parseTree(o.data)
	if err != nil {
		return nil, fmt.Errorf("read tree %s: %w", id, err)
	}
	t := cleanTree(raw)
	r.trees.put(id, t, t.bytes(o.data))
	return t, nil
}

// bytes is what a tree takes that was parsed of data: its names are a copy of
// that, and of its entries there is often room for more.
func (t *tree) bytes(data []byte) int {
	const itself, entry = 48, 40
	return itself + len(data) + cap(t.entries)*entry
}

// parseTree reads the entries of a tree in the order in which they stand,
// whatever their names.
func parseTree(data []byte) ([]treeEntry, error) {
	const typicalEntry = 40
	entries := make([]treeEntry, 0, len(data)/typicalEntry+1)
	text := string(data) // the names share it
	for len(data) > 0 {
		bits, nameAt, end, err := cutEntry(data)
		if err != nil {
			return nil, err
		}
		e := treeEntry{name: text[nameAt:end], mode: foldMode(bits), id: oid(data[end+1:])}
		entries = append(entries, e)
		data, text = data[end+21:], text[end+21:]
	}
	return entries, nil
}

// cutEntry reads the first entry of a tree: its mode, and where its name begins
// and ends. The hash is after the byte that ends the name.
func cutEntry(data []byte) (bits, nameAt, end int, err error) {
	digits := bytes.IndexByte(data, ' ')
	if digits < 1 || digits > 7 {
		return 0, 0, 0, errTree
	}
	for _, c := range data[:digits] {
		if c < '0' || c > '7' {
			return 0, 0, 0, errTree
		}
		bits = bits<<3 | int(c-'0')
	}
	end = bytes.IndexByte(data, 0)
	if end <= digits+1 || len(data) < end+21 {
		return 0, 0, 0, errTree
	}
	return bits, digits + 1, end, nil
}

var errTree = fmt.Errorf("%w: malformed tree", ErrCorrupt)

func foldMode(bits int) mode {
	switch bits & 0o170000 {
	case 0o100000:
		if bits&0o100 != 0 {
			return modeExec
		}
		return modeFile
	case 0o120000:
		return modeLink
	case 0o040000:
		return modeDir
	}
	return modeSubmodule
}

// cleanTree takes out unsafe and repeated names; of the latter the first stays.
// It takes possession of raw.
func cleanTree(raw []treeEntry) *tree {
	if isClean(raw) {
		return &tree{entries: raw}
	}
	t := &tree{entries: raw[:0]}
	for _, e := range raw {
		if why := unsafeName(e.name); why != "" {
			t.problems = append(t.problems, Problem{e.name, ProblemUnsafePath, why})
			continue
		}
		t.entries = append(t.entries, e)
	}
	slices.SortStableFunc(t.entries, func(a, b treeEntry) int { return a.compare(&b) })
	t.dropRepeated()
	return t
}

// isClean reports whether there is certainly nothing to take out or to sort.
func isClean(entries []treeEntry) bool {
	for i := range entries {
		e := &entries[i]
		if unsafeName(e.name) != "" {
			return false
		}
		if i == 0 {
			continue
		}
		before := &entries[i-1]
		if before.compare(e) >= 0 || e.mode == modeDir && strings.HasPrefix(before.name, e.name) {
			return false
		}
	}
	return true
}

func (t *tree) dropRepeated() {
	kept := t.entries[:0]
	for i, e := range t.entries {
		same := i > 0 && t.entries[i-1].name == e.name
		if !same && e.mode == modeDir && i > 0 && strings.HasPrefix(t.entries[i-1].name, e.name) {
			file := (&tree{entries: kept}).find(e.name) // a file and a directory need not be neighbours
			same = file != nil
		}
		if same {
			t.problems = append(t.problems, Problem{e.name, ProblemDuplicate, "the name stands twice in its tree; the first is taken"})
			continue
		}
		kept = append(kept, e)
	}
	t.entries = kept
}

// subtree descends from root to dir, "" for root itself. A dir that is not a
// directory there is the empty tree, with the entry that stands in its place,
// if any.
func (r *Repo) subtree(root oid, dir string) (oid, *treeEntry, error) {
	if dir == "" {
		return root, nil, nil
	}
	for name := range strings.SplitSeq(dir, "/") {
		t, err := r.treeOf(root)
		if err != nil {
			return oid{}, nil, err
		}
		e := t.find(name)
		if e == nil || e.mode != modeDir {
			return oid{}, e, nil
		}
		root = e.id
	}
	return root, nil, nil
}
