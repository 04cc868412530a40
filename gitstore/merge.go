package gitstore

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"kb/note"
)

// ConflictKind says why a path could not be merged.
type ConflictKind string

const (
	ConflictContent       ConflictKind = "content"        // both changed the same lines
	ConflictBinary        ConflictKind = "binary"         // both changed something that is no text
	ConflictAddAdd        ConflictKind = "add/add"        // both added the path, with different text
	ConflictModifyDelete  ConflictKind = "modify/delete"  // one changed what the other removed
	ConflictRenameDelete  ConflictKind = "rename/delete"  // one renamed what the other removed
	ConflictRenameRename  ConflictKind = "rename/rename"  // both renamed it, to different paths
	ConflictRenameAdd     ConflictKind = "rename/add"     // one renamed to a path that the other added
	ConflictFileLocation  ConflictKind = "file location"  // one added to a directory that the other renamed
	ConflictDirectoryFile ConflictKind = "directory/file" // one has a file where the other has a directory
	ConflictMode          ConflictKind = "mode"           // both changed what the path is
	ConflictLink          ConflictKind = "link"           // both changed a symbolic link or a submodule
)

// Conflict is something that a person has to decide. Blobs that are not there are
// zero.
type Conflict struct {
	Kind    ConflictKind
	Path    string // where the merged tree has it
	From    string // where their base has it, if that is elsewhere
	Also    string // where theirs has it, or would have it, if that is elsewhere
	Base    note.ID
	Ours    note.ID
	Theirs  note.ID
	Clashes []Clash // where, for text
}

// MergeResult is what became of a merge.
type MergeResult struct {
	Tree      TreeID     // stored; text in conflict stands in it between markers
	Bases     []CommitID // what was taken for the state before both
	Conflicts []Conflict // by path; none: Tree can be committed
}

// Merge merges two commits: what differs from their common ancestor on one side
// is taken, and where both sides differ, text is merged by lines. Files that one
// side renamed, as they were or with changes, are followed. It does what git
// merge does: several common ancestors are merged first, .gitattributes of ours
// can say merge=union or -merge, and a directory that one side renamed is a
// question for what the other added to it. Nothing but objects is written.
// Errors wrap [ErrUnrelated] for commits without a common ancestor, and
// [ErrUnsafePath] where theirs adds what [CheckPath] refuses.
func (r *Repo) Merge(ctx context.Context, ours, theirs CommitID) (*MergeResult, error) {
	return r.merge(ctx, ours, theirs, r.writeObject)
}

func (r *Repo) merge(ctx context.Context, ours, theirs CommitID, put func(object) (oid, error)) (*MergeResult, error) {
	m := newMerger(ctx, r)
	res, err := m.commits(ours, theirs)
	if err == nil {
		err = m.flush(oid(res.Tree), kindTree, put)
	}
	if err != nil {
		return nil, fmt.Errorf("merge %s and %s: %w", ours, theirs, err)
	}
	return res, nil
}

// merger merges trees. What it makes stays in memory until it is known to be part
// of the result.
type merger struct {
	ctx     context.Context
	repo    *Repo
	names   labels
	depth   int // of merges of common ancestors
	made    map[oid]object
	trees   map[oid]rawTree
	spans   map[oid]spanCounts
	attrs   *attributes
	ours    oid // the tree that says how files are merged
	entries int
}

func newMerger(ctx context.Context, r *Repo) *merger {
	return &merger{ctx: ctx, repo: r, made: map[oid]object{}, trees: map[oid]rawTree{}, spans: map[oid]spanCounts{}}
}

func (m *merger) put(o object) (oid, error) {
	id := hashObject(o)
	m.made[id] = o
	return id, nil
}

func (m *merger) read(k kind, id oid) ([]byte, error) {
	if o, ok := m.made[id]; ok && o.kind == k {
		return o.data, nil
	}
	o, err := m.repo.objectOf(k, id)
	return o.data, err
}

func (m *merger) readTree(id oid) ([]byte, error) { return m.read(kindTree, id) }

// tree reads a tree once.
func (m *merger) tree(id oid) (rawTree, error) {
	if t, ok := m.trees[id]; ok {
		return t, nil
	}
	w := treeWriter{ctx: m.ctx, repo: m.repo, read: m.readTree}
	t, _, err := w.load(id)
	if err != nil {
		return nil, err
	}
	if m.entries += len(t); m.entries > maxEntries {
		return nil, fmt.Errorf("%w: more than %d entries", ErrTooLarge, maxEntries)
	}
	m.trees[id] = t
	return t, nil
}

// flush stores what was made and is reached from an object.
func (m *merger) flush(id oid, k kind, put func(object) (oid, error)) error {
	o, ok := m.made[id]
	if !ok {
		if k == kindTree && !m.repo.has(id) {
			_, err := put(object{kind: kindTree}) // the empty tree
			return err
		}
		return nil
	}
	if k == kindTree {
		t, err := m.tree(id)
		if err != nil {
			return err
		}
		for _, e := range t {
			if err := m.flush(e.id, e.kind(), put); err != nil {
				return err
			}
		}
	}
	delete(m.made, id)
	_, err := put(o)
	return err
}

func (e rawEntry) kind() kind {
	if e.mode() == modeDir {
		return kindTree
	}
	return kindBlob
}

func (e rawEntry) isZero() bool { return e.bits == 0 }

// commits merges two commits by their common ancestors.
func (m *merger) commits(ours, theirs CommitID) (*MergeResult, error) {
	bases, err := m.repo.MergeBases(m.ctx, ours, theirs)
	if err != nil {
		return nil, err
	}
	if len(bases) == 0 {
		return nil, ErrUnrelated
	}
	a, err := m.repo.node(ours)
	if err != nil {
		return nil, err
	}
	b, err := m.repo.node(theirs)
	if err != nil {
		return nil, err
	}
	m.ours = oid(a.tree)
	base, err := m.virtualBase(bases)
	if err != nil {
		return nil, err
	}
	m.names = labels{ours.String(), theirs.String()}
	tree, conflicts, err := m.mergeTrees(base, oid(a.tree), oid(b.tree))
	if err != nil {
		return nil, err
	}
	return &MergeResult{Tree: TreeID(tree), Bases: bases, Conflicts: conflicts}, nil
}

// virtualBase merges common ancestors with each other, oldest first. Its
// conflicts stay in it, as markers.
func (m *merger) virtualBase(bases []CommitID) (oid, error) {
	last := bases[len(bases)-1]
	c, err := m.repo.node(last)
	if err != nil {
		return oid{}, err
	}
	merged := oid(c.tree)
	inner := *m
	inner.depth++
	inner.names = labels{"Temporary merge branch 1", "Temporary merge branch 2"}
	for _, id := range slices.Backward(bases[:len(bases)-1]) {
		below, err := m.repo.MergeBases(m.ctx, last, id)
		if err != nil {
			return oid{}, err
		}
		base := oid{}
		if len(below) > 0 {
			if c, err = m.repo.node(below[0]); err != nil {
				return oid{}, err
			}
			base = oid(c.tree)
		}
		if c, err = m.repo.node(id); err != nil {
			return oid{}, err
		}
		if merged, _, err = inner.mergeTrees(base, merged, oid(c.tree)); err != nil {
			return oid{}, err
		}
	}
	return merged, nil
}

// change is what one side did at a path. What is not there is zero.
type change struct{ old, now rawEntry }

func (c change) added() bool   { return c.old.isZero() }
func (c change) removed() bool { return c.now.isZero() }

// diff collects what differs between two trees, below prefix.
func (m *merger) diff(a, b oid, prefix string, found map[string]change) error {
	if a == b {
		return nil
	}
	if err := m.ctx.Err(); err != nil {
		return err
	}
	old, err := m.tree(a)
	if err != nil {
		return err
	}
	now, err := m.tree(b)
	if err != nil {
		return err
	}
	for name, x := range old {
		if err := m.diffEntry(x, now[name], prefix+name, found); err != nil {
			return err
		}
	}
	for name, y := range now {
		if _, both := old[name]; both {
			continue
		}
		if err := m.diffEntry(rawEntry{}, y, prefix+name, found); err != nil {
			return err
		}
	}
	return nil
}

func (m *merger) diffEntry(x, y rawEntry, name string, found map[string]change) error {
	if x.sameAs(y) {
		return nil
	}
	var a, b oid
	if !x.isZero() && x.mode() == modeDir {
		a, x = x.id, rawEntry{}
	}
	if !y.isZero() && y.mode() == modeDir {
		b, y = y.id, rawEntry{}
	}
	if !x.isZero() || !y.isZero() {
		found[name] = change{x, y}
	}
	return m.diff(a, b, name+"/", found)
}

// sameAs compares entries; modes that git takes for the same are the same.
func (e rawEntry) sameAs(o rawEntry) bool {
	return e.id == o.id && e.isZero() == o.isZero() && (e.isZero() || e.mode() == o.mode())
}

// treeMerge is the merge of two trees on its way.
type treeMerge struct {
	*merger
	base, oursTree, theirsTree oid

	ours, theirs map[string]change
	ourNames     map[string]string // renames: from → to
	theirNames   map[string]string
	done         map[string]bool     // paths of theirs that are dealt with
	edits        map[string]rawEntry // to be made to ours; zero: remove
	conflicts    []Conflict
}

// mergeTrees merges two trees by a third.
func (m *merger) mergeTrees(base, ours, theirs oid) (oid, []Conflict, error) {
	switch {
	case ours == theirs || base == theirs:
		return ours, nil, nil
	case base == ours:
		return theirs, nil, nil
	}
	t := &treeMerge{merger: m, base: base, oursTree: ours, theirsTree: theirs, ours: map[string]change{}, theirs: map[string]change{},
		done: map[string]bool{}, edits: map[string]rawEntry{}}
	for _, step := range []func() error{
		func() error { return m.diff(base, ours, "", t.ours) },
		func() error { return m.diff(base, theirs, "", t.theirs) },
		t.findRenames, t.mergeRenamed, t.askLocations, t.mergeRest,
	} {
		if err := step(); err != nil {
			return oid{}, nil, err
		}
	}
	tree, err := t.apply()
	slices.SortStableFunc(t.conflicts, func(a, b Conflict) int { return strings.Compare(a.Path, b.Path) })
	return tree, t.conflicts, err
}

// apply makes the collected edits.
func (t *treeMerge) apply() (oid, error) {
	w := treeWriter{ctx: t.ctx, repo: t.repo, put: t.put, read: t.readTree, clash: func(path, _ string) error {
		t.conflict(Conflict{Kind: ConflictDirectoryFile, Path: path})
		return nil
	}}
	edits := make([]pathEdit, 0, len(t.edits))
	for _, path := range slices.Sorted(maps.Keys(t.edits)) {
		e := t.edits[path]
		if t.theirs[path].added() && !e.isZero() {
			if err := CheckPath(path, false); err != nil {
				return oid{}, err
			}
		}
		edits = append(edits, pathEdit{path, e, e.isZero()})
	}
	id, err := w.edit(t.oursTree, "", edits)
	if err == nil && id == (oid{}) {
		id = hashObject(object{kind: kindTree})
	}
	return id, err
}

func (t *treeMerge) conflict(c Conflict) { t.conflicts = append(t.conflicts, c) }

// mergeRest merges the paths that no rename has to do with.
func (t *treeMerge) mergeRest() error {
	for _, p := range slices.Sorted(maps.Keys(t.theirs)) {
		if t.done[p] {
			continue
		}
		theirs := t.theirs[p]
		ours, both := t.ours[p]
		c := Conflict{Path: p, Base: note.ID(theirs.old.id), Ours: note.ID(ours.now.id), Theirs: note.ID(theirs.now.id)}
		switch {
		case !both:
			t.edits[p] = theirs.now
		case ours.now.sameAs(theirs.now):
		case theirs.removed():
			c.Kind = ConflictModifyDelete
			t.conflict(c)
		case ours.removed():
			c.Kind = ConflictModifyDelete
			t.conflict(c)
			t.edits[p] = theirs.now
		default:
			if err := t.mergeFile(theirs.old, ours.now, theirs.now, c); err != nil {
				return err
			}
		}
	}
	return nil
}

// mergeFile merges what three trees have at a path, and puts it at c.Path.
func (t *treeMerge) mergeFile(base, ours, theirs rawEntry, c Conflict) error {
	c.Base, c.Ours, c.Theirs = note.ID(base.id), note.ID(ours.id), note.ID(theirs.id)
	e, err := t.mergeEntry(base, ours, theirs, &c)
	if err != nil {
		return fmt.Errorf("%s: %w", c.Path, err)
	}
	t.edits[c.Path] = e
	if c.Kind != "" {
		t.conflict(c)
	}
	return nil
}

// mergeEntry merges modes and contents. It sets c.Kind if they clash.
func (t *treeMerge) mergeEntry(base, ours, theirs rawEntry, c *Conflict) (rawEntry, error) {
	merged := ours
	is := func(a, b rawEntry) bool { return a.isZero() == b.isZero() && (a.isZero() || a.mode() == b.mode()) }
	switch {
	case is(ours, theirs), is(theirs, base):
	case is(ours, base):
		merged.bits = theirs.bits
	default:
		c.Kind = ConflictMode
	}
	switch {
	case ours.id == theirs.id || theirs.id == base.id:
		return merged, nil
	case ours.id == base.id:
		merged.id = theirs.id
		return merged, nil
	case !ours.mode().isFile() || !theirs.mode().isFile():
		c.Kind = ConflictLink
		return merged, nil
	}
	return t.mergeBlobs(base, merged, theirs, c)
}

// maxMergeText bounds what is merged by lines.
const maxMergeText = 16 << 20

func (t *treeMerge) mergeBlobs(base, ours, theirs rawEntry, c *Conflict) (rawEntry, error) {
	var texts [3][]byte
	binary := false
	for i, e := range [...]rawEntry{base, ours, theirs} {
		if e.isZero() || !e.mode().isFile() {
			continue
		}
		var err error
		if texts[i], err = t.read(kindBlob, e.id); err != nil {
			return ours, err
		}
		binary = binary || isBinary(texts[i]) || len(texts[i]) > maxMergeText
	}
	driver, err := t.driver(c.Path)
	if err != nil {
		return ours, err
	}
	if binary || driver == "unset" || driver == "binary" {
		c.Kind = ConflictBinary
		return ours, nil
	}
	text, clashes := mergeText(texts[0], texts[1], texts[2], t.names, 7+2*t.depth, driver == "union")
	if c.Clashes = clashes; len(clashes) > 0 {
		c.Kind = ConflictContent
		if base.isZero() {
			c.Kind = ConflictAddAdd
		}
	}
	ours.id, err = t.put(object{kindBlob, text})
	return ours, err
}

// isBinary applies the rule that git has for diffs and merges.
func isBinary(b []byte) bool {
	const looked = 8000
	return bytes.IndexByte(b[:min(len(b), looked)], 0) >= 0
}
