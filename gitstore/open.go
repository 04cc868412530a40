package gitstore

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"kb/note"
)

// Repo is an open repository. Its methods may be called concurrently.
type Repo struct {
	gitDir    string
	commonDir string
	workTree  string // "" when bare
	config    *settings
	partial   bool // objects may be missing by intention
	now       func() time.Time
	fault     func(step string) // for tests; nil for none
	patience  time.Duration     // how long to wait for locks
	writing   chan struct{}     // holds the turn to write refs, among those that use this Repo

	packs packStore
	bases *lru[entryKey, object] // unpacked objects, likely bases of the next
	trees *lru[oid, *tree]
	graph *lru[CommitID, *graphCommit]
	fresh *lru[oid, object] // trees just written, which the next commit is likely to change

	rootOnce sync.Once
	root     *os.Root // the work tree, opened on first use
	rootErr  error
}

// Cache sizes. Trees and the graph make walks of history cheap; bases serve
// reading in pack order, where the next one is near: four times as many save
// nothing that can be measured.
const (
	baseCacheBytes  = 4 << 20
	treeCacheBytes  = 16 << 20
	graphCacheBytes = 12 << 20
	freshCacheBytes = 4 << 20
)

// Open opens the repository that holds dir, looking upward as git does. Only
// when dir is "" are $GIT_DIR and $GIT_WORK_TREE honoured, and without them
// the current directory is meant.
func Open(dir string) (*Repo, error) {
	found, err := locate(dir)
	if err != nil {
		return nil, err
	}
	r := &Repo{
		gitDir:    found.gitDir,
		commonDir: found.gitDir,
		now:       time.Now,
		patience:  lockPatience,
		writing:   make(chan struct{}, 1),
		bases:     newLRU[entryKey, object](baseCacheBytes),
		trees:     newLRU[oid, *tree](treeCacheBytes),
		graph:     newLRU[CommitID, *graphCommit](graphCacheBytes),
		fresh:     newLRU[oid, object](freshCacheBytes),
	}
	if r.commonDir, err = commonDir(found.gitDir); err != nil {
		return nil, err
	}
	if r.config, err = loadConfig(r.gitDir, r.commonDir); err != nil {
		return nil, fmt.Errorf("open %s: %w", r.gitDir, err)
	}
	if r.partial, err = r.config.check(); err != nil {
		return nil, fmt.Errorf("open %s: %w", r.gitDir, err)
	}
	r.workTree = r.findWorkTree(found)
	r.packs.objectDirs = objectDirs(filepath.Join(r.commonDir, "objects"))
	r.packs.forget = func(p *pack) { r.bases.drop(func(k entryKey) bool { return k.pack == p }) }
	return r, nil
}

// WorkTree returns the root of the work tree, "" for a bare repository.
func (r *Repo) WorkTree() string { return r.workTree }

// GitDir returns the directory that holds HEAD.
func (r *Repo) GitDir() string { return r.gitDir }

// CommonDir returns the directory that holds objects and refs. Linked work
// trees of one repository share it.
func (r *Repo) CommonDir() string { return r.commonDir }

// Close releases the repository's files. Calls after Close fail.
func (r *Repo) Close() error {
	r.packs.close()
	r.rootOnce.Do(func() { r.rootErr = fs.ErrClosed })
	if r.root != nil {
		return r.root.Close()
	}
	return nil
}

// Rel returns dir, a directory of the work tree, relative to the work tree's
// root with slashes; "" for the root itself. Symbolic links on the way to the
// work tree are resolved; dir need not exist.
func (r *Repo) Rel(dir string) (string, error) {
	if r.workTree == "" {
		return "", fmt.Errorf("%s: %w", r.gitDir, ErrNoWorkTree)
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", fmt.Errorf("locate %s: %w", dir, err)
	}
	rel, err := filepath.Rel(r.workTree, resolveExisting(abs))
	if err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return "", fmt.Errorf("%s is outside the work tree %s", dir, r.workTree)
	}
	if rel == "." {
		return "", nil
	}
	return filepath.ToSlash(rel), nil
}

// resolveExisting resolves the links of as much of abs as exists.
func resolveExisting(abs string) string {
	if p, err := filepath.EvalSymlinks(abs); err == nil {
		return p
	}
	parent := filepath.Dir(abs)
	if parent == abs {
		return abs
	}
	return filepath.Join(resolveExisting(parent), filepath.Base(abs))
}

// location is where discovery ended.
type location struct {
	gitDir   string
	workTree string // "" when gitDir was met as a directory of its own
	explicit bool   // workTree is from the environment
}

func locate(dir string) (location, error) {
	if dir == "" {
		if env := os.Getenv("GIT_DIR"); env != "" {
			return locateEnv(env)
		}
		dir = "."
	}
	start, err := filepath.Abs(dir)
	if err == nil {
		start, err = filepath.EvalSymlinks(start)
	}
	if err != nil {
		return location{}, fmt.Errorf("%w: %w", ErrNotRepository, err)
	}
	for p := start; ; p = filepath.Dir(p) {
		if loc, ok, err := locateAt(p); ok || err != nil {
			return loc, err
		}
		if p == filepath.Dir(p) {
			return location{}, fmt.Errorf("%s: %w (nor any directory above it)", dir, ErrNotRepository)
		}
	}
}

func locateEnv(gitDir string) (location, error) {
	g, err := filepath.Abs(gitDir)
	if err != nil || !isGitDir(g) {
		return location{}, fmt.Errorf("GIT_DIR=%s: %w", gitDir, ErrNotRepository)
	}
	w := os.Getenv("GIT_WORK_TREE")
	if w == "" {
		return location{gitDir: g}, nil
	}
	if w, err = filepath.Abs(w); err != nil {
		return location{}, fmt.Errorf("GIT_WORK_TREE: %w", err)
	}
	return location{gitDir: g, workTree: resolveExisting(w), explicit: true}, nil
}

// locateAt looks for a repository at p itself.
func locateAt(p string) (location, bool, error) {
	dot := filepath.Join(p, ".git")
	info, err := os.Stat(dot)
	switch {
	case err == nil && info.IsDir():
		if isGitDir(dot) {
			return location{gitDir: dot, workTree: p}, true, nil
		}
	case err == nil:
		g, err := readGitFile(dot)
		return location{gitDir: g, workTree: p}, err == nil, err
	}
	if isGitDir(p) {
		return location{gitDir: p}, true, nil
	}
	return location{}, false, nil
}

// readGitFile follows a .git file as submodules and linked work trees have.
func readGitFile(file string) (string, error) {
	b, err := readSmall(file)
	if err != nil {
		return "", err
	}
	g, ok := strings.CutPrefix(strings.TrimSpace(string(b)), "gitdir:")
	if !ok {
		return "", fmt.Errorf("%s: %w: it does not start with \"gitdir:\"", file, ErrNotRepository)
	}
	g = absFrom(filepath.Dir(file), strings.TrimSpace(g))
	if !isGitDir(g) {
		return "", fmt.Errorf("%s: %w: it names %s, which is none", file, ErrNotRepository, g)
	}
	return g, nil
}

func isGitDir(dir string) bool {
	if _, err := os.Lstat(filepath.Join(dir, "HEAD")); err != nil {
		return false
	}
	common, err := commonDir(dir)
	return err == nil && isDir(filepath.Join(common, "objects")) && isDir(filepath.Join(common, "refs"))
}

func commonDir(gitDir string) (string, error) {
	b, err := readSmall(filepath.Join(gitDir, "commondir"))
	if errors.Is(err, fs.ErrNotExist) {
		return gitDir, nil
	}
	if err != nil {
		return "", err
	}
	return absFrom(gitDir, strings.TrimSpace(string(b))), nil
}

// findWorkTree applies git's rules: the environment, then core.worktree, then
// where .git was found.
func (r *Repo) findWorkTree(found location) string {
	linked := r.commonDir != r.gitDir
	switch {
	case found.explicit:
		return found.workTree
	case r.config.workTree != "" && (!linked || r.config.workTreeOwn):
		return resolveExisting(absFrom(r.gitDir, r.config.workTree))
	case r.config.bare && !linked:
		return ""
	case found.workTree == "" && filepath.Base(r.gitDir) == ".git":
		return filepath.Dir(r.gitDir)
	}
	return found.workTree
}

// objectDirs returns dir and what its alternates lead to. Like git it ignores
// alternates that are missing.
func objectDirs(dir string) []string {
	const maxDepth, maxDirs = 5, 64
	seen := map[string]bool{}
	var dirs []string
	var add func(dir string, depth int)
	add = func(dir string, depth int) {
		if seen[dir] || depth > maxDepth || len(dirs) == maxDirs || !isDir(dir) {
			return
		}
		seen[dir] = true
		dirs = append(dirs, dir)
		b, err := readSmall(filepath.Join(dir, "info", "alternates"))
		if err != nil {
			return
		}
		for line := range strings.Lines(string(b)) {
			if line = strings.TrimRight(line, "\r\n"); line != "" && line[0] != '#' {
				add(absFrom(dir, line), depth+1)
			}
		}
	}
	add(dir, 0)
	return dirs
}

// Partial reports whether objects may be missing by intention.
func (r *Repo) Partial() bool { return r.partial }

// Shallow reports whether history ends where somebody cut it.
func (r *Repo) Shallow() (bool, error) {
	ends, err := r.shallow()
	return len(ends) > 0, err
}

// Has reports whether the repository has a blob, without reading it.
func (r *Repo) Has(id note.ID) bool { return r.has(oid(id)) }

// shallow returns the commits whose parents the repository does not have.
func (r *Repo) shallow() (map[CommitID]bool, error) {
	b, err := readSmall(filepath.Join(r.commonDir, "shallow"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	set := map[CommitID]bool{}
	for line := range strings.Lines(string(b)) {
		if id, ok := parseOID(strings.TrimSpace(line)); ok {
			set[CommitID(id)] = true
		}
	}
	return set, nil
}

// maxSmall bounds the files of a repository that are read whole.
const maxSmall = 256 << 20

// readSmall reads a regular file of the repository. A FIFO or a device in its
// place is an error, not a wait.
func readSmall(file string) ([]byte, error) {
	info, err := os.Stat(file)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("read %s: not a regular file", file)
	}
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxSmall+1))
	if err == nil && len(b) > maxSmall {
		err = fmt.Errorf("read %s: %w", file, ErrTooLarge)
	}
	return b, err
}

func isDir(p string) bool {
	info, err := os.Stat(p)
	return err == nil && info.IsDir()
}

// absFrom makes p absolute, starting at dir.
func absFrom(dir, p string) string {
	if !filepath.IsAbs(p) {
		p = filepath.Join(dir, p)
	}
	return filepath.Clean(p)
}
