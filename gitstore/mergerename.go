package gitstore

import (
	"cmp"
	"errors"
	"maps"
	"path"
	"slices"
	"strings"

	"kb/note"
)

// Renames are looked for among what a side removed and what it added: of the same
// bytes; of the same file name, where that is the only one, and three quarters of
// the bytes; of half the bytes, most alike first.
const (
	minAlike     = 0.5
	minSameName  = 0.75
	maxPairs     = 1 << 20 // comparisons of one side; above that, changed files count as new
	maxAlikeSize = 8 << 20 // bytes of a file that is compared
)

// findRenames finds the renames of both sides. Changed files matter only where the
// other side did something to the old path, or added to its directory.
func (t *treeMerge) findRenames() error {
	find := func(side, other map[string]change, tree oid) (map[string]string, error) {
		s := renameSearch{merger: t.merger, changes: side, other: other, names: map[string]string{}, taken: map[string]bool{}}
		err := s.run(tree)
		return s.names, err
	}
	var err error
	if t.ourNames, err = find(t.ours, t.theirs, t.oursTree); err != nil {
		return err
	}
	t.theirNames, err = find(t.theirs, t.ours, t.theirsTree)
	return err
}

type renameSearch struct {
	*merger
	changes, other map[string]change
	removed, added []string
	names          map[string]string // from → to
	taken          map[string]bool   // to
	lost           map[string]bool   // directories that this side has no more, and to which the other added

	lenient bool // a file that is missing is like no other
	missed  bool // one was
}

func (s *renameSearch) run(tree oid) error {
	for p, c := range s.changes {
		switch {
		case c.removed() && c.old.mode().isFile():
			s.removed = append(s.removed, p)
		case c.added() && c.now.mode().isFile():
			s.added = append(s.added, p)
		}
	}
	if len(s.removed) == 0 || len(s.added) == 0 {
		return nil
	}
	slices.Sort(s.removed)
	slices.Sort(s.added)
	s.exact()
	if err := s.findLost(tree); err != nil {
		return err
	}
	if err := s.sameName(); err != nil {
		return err
	}
	return s.alike()
}

func (s *renameSearch) join(from, to string) {
	s.names[from], s.taken[to] = to, true
}

func (s *renameSearch) exact() {
	sources := map[oid][]string{}
	for _, p := range s.removed {
		sources[s.changes[p].old.id] = append(sources[s.changes[p].old.id], p)
	}
	for _, to := range s.added {
		best := ""
		for _, from := range sources[s.changes[to].now.id] {
			if s.names[from] == "" && (best == "" || path.Base(from) == path.Base(to) && path.Base(best) != path.Base(to)) {
				best = from
			}
		}
		if best != "" {
			s.join(best, to)
		}
	}
}

// left lists what is not joined yet; of the sources only those that matter.
func (s *renameSearch) left() (from, to []string) {
	for _, p := range s.removed {
		if s.names[p] == "" {
			from = append(from, p)
		}
	}
	for _, p := range s.added {
		if !s.taken[p] {
			to = append(to, p)
		}
	}
	return from, to
}

// findLost finds the directories whose new place, if they have one, is a question.
func (s *renameSearch) findLost(tree oid) error {
	s.lost = map[string]bool{}
	for p, c := range s.other {
		if !c.added() {
			continue
		}
		for dir := path.Dir(p); dir != "."; dir = path.Dir(dir) {
			if _, known := s.lost[dir]; known {
				break
			}
			has, err := s.hasDir(tree, dir)
			if err != nil {
				return err
			}
			s.lost[dir] = !has
		}
	}
	return nil
}

func (s *renameSearch) matters(from string) bool {
	_, touched := s.other[from]
	for dir := path.Dir(from); dir != "." && !touched; dir = path.Dir(dir) {
		touched = s.lost[dir]
	}
	return touched
}

func (s *renameSearch) sameName() error {
	from, to := s.left()
	byName := func(paths []string) map[string][]string {
		m := map[string][]string{}
		for _, p := range paths {
			m[path.Base(p)] = append(m[path.Base(p)], p)
		}
		return m
	}
	targets := byName(to)
	for name, sources := range byName(from) {
		if len(sources) != 1 || len(targets[name]) != 1 || !s.matters(sources[0]) {
			continue
		}
		score, err := s.score(sources[0], targets[name][0])
		if err != nil {
			return err
		}
		if score >= minSameName {
			s.join(sources[0], targets[name][0])
		}
	}
	return nil
}

func (s *renameSearch) alike() error {
	type pair struct {
		from, to string
		score    float64
		sameName bool
	}
	var pairs []pair
	from, to := s.left()
	from = slices.DeleteFunc(from, func(p string) bool { return !s.matters(p) })
	if len(from)*len(to) > maxPairs {
		return nil
	}
	for _, f := range from {
		for _, t := range to {
			score, err := s.score(f, t)
			if err != nil {
				return err
			}
			if score >= minAlike {
				pairs = append(pairs, pair{f, t, score, path.Base(f) == path.Base(t)})
			}
		}
	}
	slices.SortStableFunc(pairs, func(a, b pair) int {
		switch {
		case a.score != b.score:
			return cmp.Compare(b.score, a.score)
		case a.sameName != b.sameName && a.sameName:
			return -1
		case a.sameName != b.sameName:
			return 1
		}
		return 0
	})
	for _, p := range pairs {
		if s.names[p.from] == "" && !s.taken[p.to] {
			s.join(p.from, p.to)
		}
	}
	return nil
}

// score tells how much of the larger of two files the other has too.
func (s *renameSearch) score(from, to string) (float64, error) {
	a, err := s.spansOf(s.changes[from].old.id)
	var b spanCounts
	if err == nil {
		b, err = s.spansOf(s.changes[to].now.id)
	}
	if s.lenient && errors.Is(err, ErrNotFound) {
		s.missed = true
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	larger, smaller := max(a.size, b.size), min(a.size, b.size)
	if larger == 0 || float64(larger-smaller) > float64(larger)*(1-minAlike) {
		return 0, nil
	}
	common := 0
	for text, n := range a.counts {
		common += min(n, b.counts[text])
	}
	return float64(common) / float64(larger), nil
}

// spanCounts are the pieces of a file, lines of at most 64 bytes, each with how
// many bytes of the file are such.
type spanCounts struct {
	size   int
	counts map[string]int
}

func (m *merger) spansOf(id oid) (spanCounts, error) {
	const longest = 64
	if c, ok := m.spans[id]; ok {
		return c, nil
	}
	b, err := m.read(kindBlob, id)
	if err != nil {
		return spanCounts{}, err
	}
	c := spanCounts{counts: map[string]int{}}
	if len(b) <= maxAlikeSize {
		c.size = len(b)
		text := string(b) // the keys share it
		for len(text) > 0 {
			n := strings.IndexByte(text[:min(len(text), longest)], '\n') + 1
			if n == 0 {
				n = min(len(text), longest)
			}
			c.counts[text[:n]] += n
			text = text[n:]
		}
	}
	m.spans[id] = c
	return c, nil
}

// mergeRenamed merges what a side renamed and the other touched.
func (t *treeMerge) mergeRenamed() error {
	renamed := maps.Clone(t.ourNames)
	maps.Copy(renamed, t.theirNames)
	for _, from := range slices.Sorted(maps.Keys(renamed)) {
		ours, byUs := t.ourNames[from]
		theirs, byThem := t.theirNames[from]
		var err error
		switch {
		case byUs && byThem:
			err = t.renamedByBoth(from, ours, theirs)
		case byUs:
			err = t.renamedByUs(from, ours)
		default:
			err = t.renamedByThem(from, theirs)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (t *treeMerge) renamedByBoth(from, ours, theirs string) error {
	t.done[from], t.done[theirs] = true, true
	base, a, b := t.ours[from].old, t.ours[ours].now, t.theirs[theirs].now
	if ours == theirs {
		return t.mergeFile(base, a, b, Conflict{Path: ours, From: from})
	}
	c := Conflict{Path: ours, From: from, Also: theirs, Base: note.ID(base.id), Ours: note.ID(a.id), Theirs: note.ID(b.id)}
	e, err := t.mergeEntry(base, a, b, &c)
	if err != nil {
		return err
	}
	c.Kind = ConflictRenameRename
	t.edits[ours], t.edits[theirs] = e, e
	t.conflict(c)
	return nil
}

func (t *treeMerge) renamedByUs(from, to string) error {
	theirs, touched := t.theirs[from]
	if !touched {
		return nil
	}
	t.done[from] = true
	ours := t.ours[to].now
	c := Conflict{Path: to, From: from, Base: note.ID(theirs.old.id), Ours: note.ID(ours.id)}
	if theirs.removed() {
		c.Kind = ConflictRenameDelete
		t.conflict(c)
		return nil
	}
	if other, ok := t.theirs[to]; ok && other.added() {
		t.done[to] = true
		c.Kind, c.Theirs = ConflictRenameAdd, note.ID(other.now.id)
		t.conflict(c)
		return nil
	}
	return t.mergeFile(theirs.old, ours, theirs.now, c)
}

func (t *treeMerge) renamedByThem(from, to string) error {
	ours, touched := t.ours[from]
	if !touched {
		return nil // removed and added, as far as we are concerned
	}
	t.done[from], t.done[to] = true, true
	theirs := t.theirs[to].now
	c := Conflict{Path: to, From: from, Base: note.ID(ours.old.id), Theirs: note.ID(theirs.id)}
	if ours.removed() {
		c.Kind = ConflictRenameDelete
		t.edits[to] = theirs
		t.conflict(c)
		return nil
	}
	if other, ok := t.ours[to]; ok && other.added() {
		c.Kind, c.Ours = ConflictRenameAdd, note.ID(other.now.id)
		t.conflict(c)
		return nil
	}
	t.edits[from] = rawEntry{}
	return t.mergeFile(ours.old, ours.now, theirs, c)
}

// askLocations finds what one side added to directories that the other renamed.
func (t *treeMerge) askLocations() error {
	if err := t.askLocation(t.oursTree, t.ourNames, t.theirs, false); err != nil {
		return err
	}
	return t.askLocation(t.theirsTree, t.theirNames, t.ours, true)
}

func (t *treeMerge) askLocation(side oid, names map[string]string, other map[string]change, otherIsOurs bool) error {
	dirs := renamedDirs(names)
	for dir := range dirs {
		has, err := t.hasDir(side, dir)
		if err != nil {
			return err
		}
		if has {
			delete(dirs, dir)
		}
	}
	for p, c := range other {
		if !c.added() || len(dirs) == 0 {
			continue
		}
		dir := path.Dir(p)
		for dirs[dir] == "" && dir != "." {
			dir = path.Dir(dir)
		}
		if dir == "." {
			continue
		}
		k := Conflict{Kind: ConflictFileLocation, Path: p, Also: path.Join(dirs[dir], p[len(dir):])}
		if otherIsOurs {
			k.Ours = note.ID(c.now.id)
		} else {
			k.Theirs = note.ID(c.now.id)
		}
		t.conflict(k)
	}
	return nil
}

// renamedDirs tells where most of what was in each directory went.
func renamedDirs(names map[string]string) map[string]string {
	votes := map[string]map[string]int{}
	for from, to := range names {
		// Where a/c became b/c, a became b.
		for a, b := path.Dir(from), path.Dir(to); a != b && a != "."; a, b = path.Dir(a), path.Dir(b) {
			if votes[a] == nil {
				votes[a] = map[string]int{}
			}
			votes[a][b]++
			if path.Base(a) != path.Base(b) {
				break
			}
		}
	}
	dirs := map[string]string{}
	for dir, targets := range votes {
		dirs[dir] = slices.MaxFunc(slices.Sorted(maps.Keys(targets)), func(a, b string) int { return cmp.Compare(targets[a], targets[b]) })
	}
	return dirs
}

func (m *merger) hasDir(root oid, dir string) (bool, error) {
	for name := range strings.SplitSeq(dir, "/") {
		t, err := m.tree(root)
		if err != nil {
			return false, err
		}
		e := t[name]
		if e.isZero() || e.mode() != modeDir {
			return false, nil
		}
		root = e.id
	}
	return true, nil
}
