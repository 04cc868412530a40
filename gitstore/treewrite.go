package gitstore

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"

	"kb/note"
)

// FileMode says what a file that is written may be.
type FileMode uint8

const (
	ModeKeep       FileMode = iota // as it was; regular if it is new
	ModeRegular                    // 100644
	ModeExecutable                 // 100755
)

// Edit is one change to a tree: a file put at a path, or removed.
type Edit struct {
	Path   string // from the root of the tree
	Blob   note.ID
	Src    []byte // the bytes, if they are not stored yet; then Blob does not matter
	Mode   FileMode
	Delete bool // remove the file; Blob, Src and Mode do not matter
}

// EditTree applies edits to a tree, the zero TreeID being empty, and stores the
// trees that this changes: the work does not depend on the size of the rest.
// Entries that listings leave out stay as they are; a directory without
// entries is dropped. The edits are one change: their order does not matter, and
// a file may be removed to make room for a directory, or for a name that
// differs in case.
//
// Names that are new must be portable ([CheckPath]) and must not fold to the
// name of a sibling ([FoldPath]). Errors wrap [ErrUnsafePath]; [ErrPathConflict]
// for a collision, for a file where a directory stands or the reverse, for
// something that is no regular file, and for a path edited twice; or
// [ErrNotFound] for a blob, or a file to remove, that is not there.
func (r *Repo) EditTree(ctx context.Context, base TreeID, edits []Edit) (TreeID, error) {
	return r.editTree(ctx, base, edits, r.writeObject, nil)
}

func (r *Repo) editTree(ctx context.Context, base TreeID, edits []Edit, put func(object) (oid, error), read func(oid) ([]byte, error)) (TreeID, error) {
	w := treeWriter{ctx: ctx, repo: r, checked: true, put: put, read: read, clash: func(path, why string) error {
		return fmt.Errorf("%w: %s %s", ErrPathConflict, path, why)
	}}
	changes := make([]pathEdit, len(edits))
	for i, e := range edits {
		if err := CheckPath(e.Path, false); err != nil {
			return TreeID{}, fmt.Errorf("edit tree: %w", err)
		}
		blob, err := w.blob(e)
		if err != nil {
			return TreeID{}, fmt.Errorf("edit %s: %w", e.Path, err)
		}
		changes[i] = pathEdit{e.Path, rawEntry{id: blob, bits: e.Mode.bits()}, e.Delete}
	}
	id, err := w.edit(oid(base), "", changes)
	if err == nil && id == (oid{}) {
		id, err = put(object{kind: kindTree})
	}
	if err != nil {
		return TreeID{}, fmt.Errorf("edit tree %s: %w", base, err)
	}
	return TreeID(id), nil
}

// TreeAfter returns the tree that a base becomes by changes, such as
// [Repo.DiffTrees] lists, and stores nothing. It refuses no name: a change that
// something stands in the way of is left out. A base with all that a listing
// shows of another tree differs from that tree in what no listing shows.
func (r *Repo) TreeAfter(ctx context.Context, base TreeID, changes []Change) (TreeID, error) {
	hash := func(o object) (oid, error) { return hashObject(o), nil }
	leaveOut := func(string, string) error { return nil }
	var edits []pathEdit
	for _, c := range changes {
		if c.From != "" {
			edits = append(edits, pathEdit{path: c.From, removed: true})
		}
		edits = append(edits, pathEdit{c.Path, rawEntry{id: oid(c.New)}, c.Kind == Removed})
	}
	w := treeWriter{ctx: ctx, repo: r, put: hash, clash: leaveOut}
	id, err := w.edit(oid(base), "", edits)
	if err != nil {
		return TreeID{}, fmt.Errorf("apply changes to tree %s: %w", base, err)
	}
	if id == (oid{}) {
		id = hashObject(object{kind: kindTree})
	}
	return TreeID(id), nil
}

// blob finds or stores what an edit puts.
func (w *treeWriter) blob(e Edit) (oid, error) {
	switch {
	case e.Delete:
		return oid{}, nil
	case len(e.Src) > MaxBlob:
		return oid{}, fmt.Errorf("%w: %d bytes, the limit is %d", ErrTooLarge, len(e.Src), MaxBlob)
	case e.Src != nil:
		return w.put(object{kindBlob, e.Src})
	case !w.repo.has(oid(e.Blob)):
		return oid{}, fmt.Errorf("blob %s: %w", e.Blob, ErrNotFound)
	}
	return oid(e.Blob), nil
}

func (m FileMode) bits() filemode.FileMode {
	switch m {
	case ModeRegular:
		return filemode.Regular
	case ModeExecutable:
		return filemode.Executable
	}
	return 0
}

// rawEntry is an entry of a tree just as it stands there, its name apart. Bits
// that are 0 stand for those of the file that is replaced.
type rawEntry struct {
	id   oid
	bits filemode.FileMode
}

func (e rawEntry) mode() mode { return foldMode(int(e.bits)) }

// pathEdit puts an entry at a path, or removes what is there.
type pathEdit struct {
	path    string
	entry   rawEntry
	removed bool
}

// treeWriter makes trees from trees.
type treeWriter struct {
	ctx     context.Context
	repo    *Repo
	checked bool                         // refuse what EditTree refuses
	put     func(object) (oid, error)    // stores a tree
	clash   func(path, why string) error // what cannot be; nil: leave that edit out
	read    func(oid) ([]byte, error)    // nil: from the repository
}

// rawTree is a tree by name.
type rawTree map[string]rawEntry

// edit applies edits below prefix, of which the paths are given from there. It
// returns the zero hash for an empty tree.
func (w *treeWriter) edit(base oid, prefix string, edits []pathEdit) (oid, error) {
	if err := w.ctx.Err(); err != nil {
		return oid{}, err
	}
	t, names, err := w.load(base)
	if err != nil {
		return oid{}, err
	}
	before := make(map[string]bool, len(edits))
	files, below := splitEdits(edits)
	mark := func(name string) { _, before[name] = t[name] }
	for _, e := range files {
		mark(e.path)
	}
	for name := range below {
		mark(name)
	}
	if err := w.remove(t, prefix, files); err != nil {
		return oid{}, err
	}
	for _, name := range slices.Sorted(maps.Keys(below)) { // in order, so that the same error comes first
		if err := w.descend(t, prefix, name, below[name]); err != nil {
			return oid{}, err
		}
	}
	if err := w.add(t, prefix, files); err != nil {
		return oid{}, err
	}
	if w.checked {
		if err := w.checkNew(t, prefix, before); err != nil {
			return oid{}, err
		}
	}
	return w.store(t, names, before)
}

// splitEdits separates what happens in a directory from what happens below.
func splitEdits(edits []pathEdit) (files []pathEdit, below map[string][]pathEdit) {
	below = map[string][]pathEdit{}
	for _, e := range edits {
		name, rest, isBelow := strings.Cut(e.path, "/")
		if !isBelow {
			files = append(files, e)
			continue
		}
		e.path = rest
		below[name] = append(below[name], e)
	}
	slices.SortStableFunc(files, func(a, b pathEdit) int { return strings.Compare(a.path, b.path) })
	return files, below
}

func (w *treeWriter) remove(t rawTree, prefix string, files []pathEdit) error {
	for i, e := range files {
		old, ok := t[e.path]
		switch {
		case w.checked && i > 0 && files[i-1].path == e.path:
			return w.clash(prefix+e.path, "is edited twice")
		case !e.removed:
		case !ok && w.checked:
			return fmt.Errorf("remove %s: %w", prefix+e.path, ErrNotFound)
		case w.checked && !old.mode().isFile():
			return w.clash(prefix+e.path, "is not a regular file")
		case ok && old.mode() != modeDir:
			delete(t, e.path)
		}
	}
	return nil
}

// descend applies edits to the directory name of t.
func (w *treeWriter) descend(t rawTree, prefix, name string, edits []pathEdit) error {
	old, ok := t[name]
	if ok && old.mode() != modeDir {
		if !w.checked && !slices.ContainsFunc(edits, func(e pathEdit) bool { return !e.removed }) {
			return nil
		}
		return w.clash(prefix+name, "is not a directory")
	}
	id, err := w.edit(old.id, prefix+name+"/", edits)
	if err != nil {
		return err
	}
	if id == (oid{}) {
		delete(t, name)
	} else {
		t[name] = rawEntry{id, filemode.Dir}
	}
	return nil
}

func (w *treeWriter) add(t rawTree, prefix string, files []pathEdit) error {
	for _, e := range files {
		if e.removed {
			continue
		}
		old, ok := t[e.path]
		switch {
		case ok && old.mode() == modeDir:
			if err := w.clash(prefix+e.path, "is a directory"); err != nil {
				return err
			}
			continue
		case ok && w.checked && !old.mode().isFile():
			return w.clash(prefix+e.path, "is not a regular file")
		case e.entry.bits == 0 && ok:
			e.entry.bits = old.bits
		case e.entry.bits == 0:
			e.entry.bits = filemode.Regular
		}
		t[e.path] = e.entry
	}
	return nil
}

// checkNew checks the names that were not there before, in their order.
func (w *treeWriter) checkNew(t rawTree, prefix string, before map[string]bool) error {
	for _, name := range slices.Sorted(maps.Keys(before)) {
		if _, is := t[name]; before[name] || !is {
			continue
		}
		if why := unportableName(name); why != "" {
			return fmt.Errorf("%w %q: %s", ErrUnsafePath, prefix+name, why)
		}
		if other, found := t.twin(name); found {
			return w.clash(prefix+name, "differs from "+other+" in case or form only")
		}
	}
	return nil
}

// twin is the first of the other names that fold to what name does.
func (t rawTree) twin(name string) (first string, found bool) {
	for other := range t {
		if other != name && sameFolded(name, other) && (!found || other < first) {
			first, found = other, true
		}
	}
	return first, found
}

// sameFolded compares names as FoldPath does, most of them without folding.
func sameFolded(a, b string) bool {
	if isASCII(a) && isASCII(b) {
		return strings.EqualFold(a, b)
	}
	return FoldPath(a) == FoldPath(b)
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// load reads a tree, and the names in it in their order; the zero hash is the empty
// one. Of a name that stands twice the first is taken.
func (w *treeWriter) load(id oid) (rawTree, []string, error) {
	if id == (oid{}) {
		return rawTree{}, nil, nil
	}
	data, err := w.bytes(id)
	if err != nil {
		return nil, nil, err
	}
	const usual = 40 // bytes of an entry
	t, names := make(rawTree, len(data)/usual), make([]string, 0, len(data)/usual)
	text := string(data) // names are parts of it
	for len(data) > 0 {
		bits, nameAt, end, err := cutEntry(data)
		if err != nil {
			return nil, nil, fmt.Errorf("read tree %s: %w", id, err)
		}
		start := len(text) - len(data)
		name := text[start+nameAt : start+end]
		if strings.Contains(name, "/") {
			return nil, nil, fmt.Errorf("read tree %s: %w: a slash in a name", id, ErrCorrupt)
		}
		if _, twice := t[name]; !twice {
			t[name] = rawEntry{oid(data[end+1:]), filemode.FileMode(bits)}
			names = append(names, name)
		}
		data = data[end+21:]
	}
	return t, names, nil
}

func (w *treeWriter) bytes(id oid) ([]byte, error) {
	if w.read != nil {
		return w.read(id)
	}
	o, err := w.repo.objectOf(kindTree, id)
	return o.data, err
}

// store writes a tree, unless it is empty. names are those that it had, in their
// order, and touched those that may have come, gone or become something else.
func (w *treeWriter) store(t rawTree, names []string, touched map[string]bool) (oid, error) {
	if len(t) == 0 {
		return oid{}, nil
	}
	return w.put(object{kindTree, t.encode(names, touched)})
}

// encode writes a tree as git does: sorted, a directory as if its name ended in a
// slash.
func (t rawTree) encode(names []string, touched map[string]bool) []byte {
	keys := make([]string, 0, len(t))
	size := 0
	add := func(name string) {
		e, ok := t[name]
		if !ok {
			return
		}
		size += len("100644 \x00") + len(name) + len(e.id)
		if e.mode() == modeDir {
			name += "/"
		}
		keys = append(keys, name)
	}
	for _, name := range names {
		if _, again := touched[name]; !again {
			add(name)
		}
	}
	for name := range touched {
		add(name)
	}
	slices.Sort(keys) // hardly anything to do: they are in order but for the last
	data := make([]byte, 0, size)
	for _, key := range keys {
		name := strings.TrimSuffix(key, "/")
		e := t[name]
		data = strconv.AppendUint(data, uint64(e.bits), 8)
		data = append(data, ' ')
		data = append(data, name...)
		data = append(data, 0)
		data = append(data, e.id[:]...)
	}
	return data
}

// encode lets go-git write an object, and takes its bytes.
func encode(o interface {
	Encode(plumbing.EncodedObject) error
}) ([]byte, error) {
	m := &plumbing.MemoryObject{}
	if err := o.Encode(m); err != nil {
		return nil, err
	}
	in, err := m.Reader()
	if err != nil {
		return nil, err
	}
	defer in.Close()
	return io.ReadAll(in)
}
