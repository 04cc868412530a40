package gitstore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"kb/note"
)

// scan is one walk over a work tree. It first collects the files there are,
// then looks at each; both with several goroutines.
type scan struct {
	ctx    context.Context
	repo   *Repo
	root   *os.Root
	keep   func(string) bool
	cache  StatCache
	prefix string // of the wanted directory, with a slash unless it is the root

	mu       sync.Mutex
	found    []candidate
	others   []string // refused by keep; relative to the wanted directory
	problems []Problem
}

// candidate is a file that belongs to the tree.
type candidate struct {
	path    string // from the root of the work tree
	tracked note.ID
	eol     eolMode
	other   bool // refused by keep

	present bool
	hash    note.ID
	size    int64
}

// place is a directory on the way, with what applies in it.
type place struct {
	dir     string // from the root, "" or with a slash at its end
	tracked *tree  // what HEAD has there; never nil
	rules   []ignoreRule
	attrs   attributes
	ignored bool // by a rule on it or above it: only what is tracked counts
}

// descend goes from the root of the work tree to the wanted directory. ok is
// false when it does not belong to the tree.
func (s *scan) descend(base CommitID, dir string) (p place, ok bool, err error) {
	root := oid{}
	if !base.IsZero() {
		c, err := s.repo.node(base)
		if err != nil {
			return place{}, false, err
		}
		root = oid(c.tree)
	}
	p.tracked, err = s.repo.treeOf(root)
	if err != nil {
		return place{}, false, err
	}
	p.rules, p.attrs = s.repo.ignoreFiles(), s.repo.attributes()
	if dir == "" {
		return p, true, nil
	}
	for name := range strings.SplitSeq(dir, "/") {
		p = s.enter(p)
		info, err := os.Lstat(s.abs(p.dir + name))
		switch {
		case isMissing(err):
			return place{}, false, nil
		case err != nil:
			s.unreadable(p.dir+name, err)
			return place{}, false, nil
		case !info.IsDir():
			s.problem(p.dir+name, ProblemSymlink, "not a directory itself; it is not followed")
			return place{}, false, nil
		}
		if p, ok, err = s.child(p, name); err != nil || !ok {
			return place{}, false, err
		}
	}
	return p, true, nil
}

// ignoreFiles reads the ignore rules that apply everywhere.
func (r *Repo) ignoreFiles() []ignoreRule {
	var rules []ignoreRule
	for _, file := range []string{r.config.excludesFile, filepath.Join(r.commonDir, "info", "exclude")} {
		if b, err := readSmall(file); err == nil {
			rules = append(rules, parseIgnore("", string(b))...)
		}
	}
	return rules
}

// enter adds the rules that stand in the directory itself.
func (s *scan) enter(p place) place {
	if b, err := s.readRules(p.dir + ".gitignore"); err == nil {
		p.rules = append(p.rules[:len(p.rules):len(p.rules)], parseIgnore(p.dir, string(b))...)
	}
	if b, err := s.readRules(p.dir + ".gitattributes"); err == nil {
		p.attrs = p.attrs.with(parseAttributes(p.dir, string(b)))
	}
	return p
}

// readRules reads a small file of the work tree; a link is not followed.
func (s *scan) readRules(name string) ([]byte, error) {
	info, err := os.Lstat(s.abs(name))
	if err != nil || !info.Mode().IsRegular() {
		return nil, fs.ErrNotExist
	}
	return readAs(s.root, name, info)
}

// child is the directory name in p, if it belongs to the tree.
func (s *scan) child(p place, name string) (place, bool, error) {
	c := place{dir: p.dir + name + "/", tracked: &tree{}, rules: p.rules, attrs: p.attrs}
	e := p.tracked.find(name)
	c.ignored = p.ignored || ignored(p.rules, p.dir+name, true)
	switch {
	case e != nil && e.mode == modeSubmodule:
		s.problem(p.dir+name, ProblemSubmodule, "a submodule; it is a repository of its own")
		return place{}, false, nil
	case e != nil && e.mode == modeDir:
		t, err := s.repo.treeOf(e.id)
		c.tracked = t
		return c, err == nil, err
	}
	return c, !c.ignored, nil
}

// walk collects the files below a place.
func (s *scan) walk(top place) error {
	g := newGroup(s.ctx)
	var visit func(p place) error
	visit = func(p place) error {
		children, err := s.list(p)
		for _, c := range children {
			g.do(func() error { return visit(c) })
		}
		return err
	}
	g.do(func() error { return visit(top) })
	return g.wait()
}

// list reads one directory and returns the directories in it.
func (s *scan) list(p place) ([]place, error) {
	entries, err := os.ReadDir(s.abs(p.dir))
	if err != nil && !isMissing(err) {
		s.unreadable(strings.TrimSuffix(p.dir, "/"), err)
	}
	has := func(name string) bool {
		_, ok := slices.BinarySearchFunc(entries, name, func(e fs.DirEntry, n string) int { return strings.Compare(e.Name(), n) })
		return ok
	}
	if p.dir != "" && has(".git") && s.isRepository(p) {
		return nil, nil
	}
	if has(".gitignore") || has(".gitattributes") {
		p = s.enter(p)
	}
	if strings.Count(p.dir, "/") >= MaxDepth {
		s.problem(p.dir, ProblemTooDeep, fmt.Sprintf("more than %d directories deep", MaxDepth))
		return nil, nil
	}
	var files []candidate
	var others []string
	var dirs []place
	for _, e := range entries {
		if e.IsDir() {
			c, ok, err := s.directory(p, e.Name())
			if err != nil {
				return nil, err
			}
			if ok {
				dirs = append(dirs, c)
			}
		} else if c, ok := s.file(p, e); ok && c.other {
			others = append(others, c.path[len(s.prefix):])
		} else if ok {
			files = append(files, c)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.found, s.others = append(s.found, files...), append(s.others, others...)
	if len(s.found)+len(s.others) > maxEntries {
		return nil, fmt.Errorf("%w: more than %d files", ErrTooLarge, maxEntries)
	}
	return dirs, nil
}

// isRepository reports a directory that has a .git of its own.
func (s *scan) isRepository(p place) bool {
	_, ok, err := locateAt(s.abs(p.dir))
	if ok || err != nil {
		s.problem(strings.TrimSuffix(p.dir, "/"), ProblemRepository, "a repository of its own")
	}
	return ok || err != nil
}

// directory decides whether to go into a directory.
func (s *scan) directory(p place, name string) (place, bool, error) {
	if why := unsafeName(name); why != "" {
		if !strings.EqualFold(name, ".git") && !p.ignored {
			s.problem(p.dir+name, ProblemUnsafePath, why)
		}
		return place{}, false, nil
	}
	if abs := s.abs(p.dir + name); abs == s.repo.gitDir || abs == s.repo.commonDir {
		return place{}, false, nil
	}
	return s.child(p, name)
}

// file decides whether an entry that is no directory belongs to the tree.
func (s *scan) file(p place, d fs.DirEntry) (candidate, bool) {
	name := d.Name()
	isLink := d.Type()&fs.ModeSymlink != 0
	if !d.Type().IsRegular() && !isLink || strings.EqualFold(name, ".git") {
		return candidate{}, false // sockets, pipes, devices
	}
	full := p.dir + name
	wanted := isLink || s.keep == nil || s.keep(full[len(s.prefix):])
	c := candidate{path: full, other: !wanted}
	if e := p.tracked.find(name); e != nil && (e.mode.isFile() || e.mode == modeLink) {
		if e.mode.isFile() {
			c.tracked = note.ID(e.id)
		}
	} else if p.ignored || ignored(p.rules, full, false) {
		return candidate{}, false
	}
	if why := unsafeName(name); why != "" {
		s.problem(full, ProblemUnsafePath, why)
		return candidate{}, false
	}
	if isLink {
		s.problem(full, ProblemSymlink, "a symbolic link; it is not followed")
		return candidate{}, false
	}
	if wanted {
		c.eol = p.attrs.mode(full)
	}
	return c, true
}

// hash looks at every file found.
func (s *scan) hash() error {
	const run = 256
	var next atomic.Int64
	g := newGroup(s.ctx)
	for range g.limit {
		g.do(func() error {
			for {
				end := int(next.Add(run))
				if end-run >= len(s.found) {
					return nil
				}
				if err := s.ctx.Err(); err != nil {
					return err
				}
				for i := end - run; i < min(end, len(s.found)); i++ {
					s.look(&s.found[i])
				}
			}
		})
	}
	return g.wait()
}

// look finds a file's hash, from the cache if the file is as it was, else from
// its bytes. A file that changes while it is read is read again.
func (s *scan) look(c *candidate) {
	if s.cache != nil {
		if now, ok := lstat(s.abs(c.path)); ok && s.cached(c, now) {
			return
		}
	}
	const tries = 5
	for try := 1; ; try++ {
		info, err := os.Lstat(s.abs(c.path))
		switch {
		case isMissing(err) || err == nil && !info.Mode().IsRegular():
			return
		case err != nil:
			s.unreadable(c.path, err)
			return
		case info.Size() > MaxBlob:
			s.problem(c.path, ProblemTooLarge, fmt.Sprintf("%d bytes, the limit is %d", info.Size(), MaxBlob))
			return
		}
		stat := statOf(info)
		stat.Hashed = s.repo.now().UnixNano()
		src, err := readAs(s.root, c.path, info)
		changed := errors.Is(err, errReplaced) || isMissing(err) || err == nil && !s.unchanged(c.path, stat)
		switch {
		case changed && try < tries:
		case isMissing(err):
			return
		case err != nil:
			s.unreadable(c.path, err)
			return
		default:
			s.take(c, src, stat, !changed)
			return
		}
	}
}

// take hashes a file's bytes, and remembers the hash if they are sure to be
// those that stat describes.
func (s *scan) take(c *candidate, src []byte, stat Stat, sure bool) {
	src, fact := s.repo.toGit(src, c.eol, c.tracked)
	stat.EOL = uint8(fact)
	c.present, c.hash, c.size = true, note.Hash(src), int64(len(src))
	if s.cache != nil && sure {
		s.cache.Put(c.path, stat, c.hash)
	}
}

// cached fills c from the cache if what is there still holds.
func (s *scan) cached(c *candidate, now Stat) bool {
	if s.cache == nil {
		return false
	}
	was, id, ok := s.cache.Get(c.path)
	fact := eolFact(was.EOL)
	if !ok || !was.sameFile(now) || !was.settled() || !fact.holds(c.eol, id, c.tracked) {
		return false
	}
	c.present, c.hash, c.size = true, id, now.Size
	if fact == eolConverted || fact == eolForced {
		c.size = -1
	}
	return true
}

// unchanged reports whether the file is still what stat says.
func (s *scan) unchanged(path string, stat Stat) bool {
	now, ok := lstat(s.abs(path))
	return ok && stat.sameFile(now)
}

var errReplaced = errors.New("another file has taken its place")

// readAs reads the regular file that info describes, and no other.
func readAs(root *os.Root, path string, info os.FileInfo) ([]byte, error) {
	f, err := root.OpenFile(filepath.FromSlash(path), openFlags, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	now, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !os.SameFile(info, now) {
		return nil, errReplaced
	}
	if now.Size() > MaxBlob {
		return nil, fmt.Errorf("%w: %d bytes, the limit is %d", ErrTooLarge, now.Size(), MaxBlob)
	}
	buf := bytes.NewBuffer(make([]byte, 0, now.Size()+bytes.MinRead))
	if _, err := buf.ReadFrom(io.LimitReader(f, MaxBlob+1)); err != nil {
		return nil, err
	}
	if buf.Len() > MaxBlob {
		return nil, fmt.Errorf("%w: it has grown past %d bytes", ErrTooLarge, MaxBlob)
	}
	return buf.Bytes(), nil
}

// abs returns a path from the root of the work tree as the system wants it. The
// paths here are clean, except that those of directories may end in a slash.
func (s *scan) abs(path string) string {
	return s.repo.workTree + string(filepath.Separator) + filepath.FromSlash(strings.TrimSuffix(path, "/"))
}

// problem notes what is left out; its path becomes relative to the wanted
// directory, "." for that itself or what leads to it.
func (s *scan) problem(path, code, message string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	rel, below := strings.CutPrefix(path, s.prefix)
	if !below || rel == "" {
		rel = "."
	}
	s.problems = append(s.problems, Problem{rel, code, message})
}

func (s *scan) unreadable(path string, err error) {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		err = pe.Err // without the absolute path
	}
	s.problem(path, ProblemUnreadable, err.Error())
}
