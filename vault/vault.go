package vault

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/bmatcuk/doublestar/v4"

	"kb/gitstore"
)

// Audience is who calls: what a parameter may be, and how far the caller sees who
// says nothing of that.
type Audience string

// A person sees every note of the collections; an agent does not see private
// ones. [Caller] can say otherwise.
const (
	Person Audience = "person"
	Agent  Audience = "agent"
)

// Vault is the configured collections, opened for one audience. It is safe for
// concurrent use; [Vault.WithProgress] and [Vault.As] give a copy for one call.
type Vault struct {
	*shared
	audience Audience
	caller   Caller
	progress func(done, total int, what string)
}

// shared is what all copies of a Vault have in common.
type shared struct {
	cfg   *Config
	repos []*repo
	cols  []*collection // in configured order
	store *Store

	rules []pathRule // who sees what, by path

	mu        sync.Mutex
	views     []*contents               // most recently used last
	relations []relation                // between views
	stands    *standing                 // what base branches said last of who sees their notes
	bygones   map[string]*bygone        // where notes were that somebody does not see now, by [sight.key]
	checked   map[string][]CheckFinding // what was wrong with drafts
	trees     []*builtTree              // what sites of work trees were made of, the last ones
	now       func() time.Time
}

// repo is one git repository and the collections in it.
type repo struct {
	*gitstore.Repo
	cols   []*collection
	stat   *statCache
	opened []os.FileInfo // of its directories, to see when others stand in their place
}

// collection is one configured collection, bound to its repository.
type collection struct {
	CollectionConfig
	repo *repo
	dir  string // its directory within the repository, slash separated; "" is the root
	all  bool   // includes every Markdown note: the default patterns, nothing excluded

	apart []string // patterns of Include that name what is apart: those are notes, too
}

// Open opens the repositories of c. What is derived from them is kept in store,
// which may serve several vaults.
func Open(c *Config, store *Store, a Audience) (*Vault, error) {
	s := &shared{cfg: c, store: store, now: time.Now, rules: c.Visibility.pathRules()}
	for _, cc := range c.Collections {
		if err := s.addCollection(cc); err != nil {
			return nil, errors.Join(err, s.close())
		}
	}
	return &Vault{shared: s, audience: a}, nil
}

func (s *shared) addCollection(cc CollectionConfig) error {
	g, err := openRepository(cc.Path)
	if err != nil {
		return err
	}
	r := s.repoOf(g)
	dir := ""
	if r.WorkTree() != "" { // a bare repository has only its root
		if dir, err = r.Rel(cc.Path); err != nil {
			return errorf(Usage, "collection %s: %w", cc.Name, err)
		}
	}
	col := &collection{CollectionConfig: cc, repo: r, dir: dir}
	col.all = len(cc.Exclude) == 0 && slices.Equal(cc.Include, []string{"**/*.md", "**/*.markdown"})
	for _, pattern := range cc.Include {
		if apart(pattern) {
			col.apart = append(col.apart, pattern)
		}
	}
	r.cols = append(r.cols, col)
	s.cols = append(s.cols, col)
	return nil
}

// repoOf returns the repository that g is another opening of, or g. Two work
// trees of one repository have commits in common but not HEAD: they stay two.
func (s *shared) repoOf(g *gitstore.Repo) *repo {
	for _, r := range s.repos {
		if r.GitDir() == g.GitDir() {
			g.Close()
			return r
		}
	}
	r := &repo{Repo: g, stat: s.store.statCache(g.WorkTree())}
	for _, dir := range r.places() {
		info, _ := os.Stat(dir) // nil when it is gone already
		r.opened = append(r.opened, info)
	}
	s.repos = append(s.repos, r)
	return r
}

// places are the directories that r was opened from.
func (r *repo) places() []string {
	if r.WorkTree() == "" {
		return []string{r.GitDir()}
	}
	return []string{r.GitDir(), r.WorkTree()}
}

// moved reports whether a repository is gone, or another stands in its place.
func (s *shared) moved() bool {
	for _, r := range s.repos {
		for i, dir := range r.places() {
			info, err := os.Stat(dir)
			if err != nil || r.opened[i] == nil || !os.SameFile(info, r.opened[i]) {
				return true
			}
		}
	}
	return false
}

// Close closes the repositories. The store stays open.
func (v *Vault) Close() error { return v.close() }

func (s *shared) close() (err error) {
	for _, r := range s.repos {
		err = errors.Join(err, r.Close())
	}
	return err
}

// WithProgress returns a copy of v that reports how far long work is.
func (v *Vault) WithProgress(f func(done, total int, what string)) *Vault {
	c := *v
	c.progress = f
	return &c
}

func (v *Vault) report(done, total int, what string) {
	if v.progress != nil {
		v.progress(done, total, what)
	}
}

// Config returns the resolved configuration. It is not to be changed.
func (v *Vault) Config() *Config { return v.cfg }

// ID names the derived data of the configured vault: a hash of the common
// directories of its repositories, so that linked work trees share it.
func (c *Config) ID() (string, error) {
	var dirs []string
	for _, cc := range c.Collections {
		r, err := openRepository(cc.Path)
		if err != nil && c.File != "" && AsError(err).Code == NotFound {
			return "", c.errorAt(cc.line, "collection %s: %s is not inside a git repository", cc.Name, cc.Path).
				hint("path names a directory inside a git repository; git init makes one")
		}
		if err != nil {
			return "", err
		}
		dir := r.CommonDir()
		r.Close()
		if real, err := filepath.EvalSymlinks(dir); err == nil {
			dir = real
		}
		dirs = append(dirs, filepath.ToSlash(dir))
	}
	slices.Sort(dirs)
	sum := sha256.Sum256([]byte(strings.Join(slices.Compact(dirs), "\n")))
	return hex.EncodeToString(sum[:8]), nil
}

// hash names a configuration: two with the same hash are answered by one Vault.
func (c *Config) hash() string {
	b, _ := json.Marshal(c) // a Config holds nothing that JSON cannot
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:8])
}

// openRepository opens the repository around dir, with errors for people.
func openRepository(dir string) (*gitstore.Repo, error) {
	r, err := gitstore.Open(dir)
	switch {
	case errors.Is(err, gitstore.ErrNotRepository):
		return nil, errorf(NotFound, "%s is not inside a git repository", dir).
			hint("git init %s && git -C %s add . && git -C %s commit -m 'first notes'", dir, dir, dir)
	case errors.Is(err, gitstore.ErrUnsupported):
		return nil, errorf(Usage, "open %s: %w", dir, err)
	case err != nil:
		return nil, errorf(Internal, "open %s: %w", dir, err)
	}
	return r, nil
}

// Repository is the root of the work tree of a collection's repository; without a
// name, of the first collection that takes changes. It is "" where there is none.
func (c *Config) Repository(collection string) string {
	for _, cc := range c.Collections {
		if cc.Name == collection || collection == "" && cc.Writable {
			if root, err := repositoryRoot(cc.Path); err == nil {
				return root
			}
		}
	}
	return ""
}

func repositoryRoot(dir string) (string, error) {
	root, _, err := namedRepository(dir)
	return root, err
}

// namedRepository is repositoryRoot, with the directory that the repository is
// called for: of a linked work tree, that of the main one.
func namedRepository(dir string) (root, called string, err error) {
	r, err := openRepository(dir)
	if err != nil {
		return "", "", err
	}
	defer r.Close()
	root = cmp.Or(r.WorkTree(), r.GitDir())
	common := r.CommonDir()
	switch {
	case r.WorkTree() == "" || r.GitDir() == common:
		return root, root, nil
	case filepath.Base(common) == ".git":
		return root, filepath.Dir(common), nil
	}
	return root, common, nil
}

// collection returns the collection of that name.
func (s *shared) collection(name string) (*collection, error) {
	var names []string
	for _, c := range s.cols {
		if c.Name == name {
			return c, nil
		}
		names = append(names, c.Name)
	}
	err := errorf(NotFound, "no collection %q", name)
	if near := nearest(name, names, 1); len(near) > 0 {
		return nil, err.hint("did you mean %s? collections: %s", near[0], strings.Join(names, ", "))
	}
	return nil, err.hint("collections: %s", strings.Join(names, ", "))
}

// collections returns the collection of that name, or all for "".
func (s *shared) collections(name string) ([]*collection, error) {
	if name == "" {
		return s.cols, nil
	}
	c, err := s.collection(name)
	return []*collection{c}, err
}

// holds reports whether the note at path belongs to the collection: Markdown that
// its patterns name, and that is not [apart].
func (c *collection) holds(path string) bool {
	return c.names(path) && (!apart(path) || matchAny(c.apart, path))
}

// names reports whether the collection's patterns name the file at path.
func (c *collection) names(path string) bool {
	if c.all {
		return strings.HasSuffix(path, ".md") || strings.HasSuffix(path, ".markdown")
	}
	return matchAny(c.Include, path) && !matchAny(c.Exclude, path)
}

// full is the path of one of c's notes within the repository.
func (c *collection) full(path string) string {
	if c.dir == "" {
		return path
	}
	return c.dir + "/" + path
}

// within returns the path in c of a file of its repository, if it is in c.
func (c *collection) within(full string) (string, bool) {
	if c.dir == "" {
		return full, true
	}
	return strings.CutPrefix(full, c.dir+"/")
}

// locate finds the collection that a path of the repository is in, the innermost
// when they nest, and the path within it. A file outside all keeps its path.
func (r *repo) locate(full string) (found *collection, path string) {
	path = full
	for _, c := range r.cols {
		p, inside := c.within(full)
		if inside && (found == nil || len(c.dir) > len(found.dir)) {
			found, path = c, p
		}
	}
	return found, path
}

func matchAny(patterns []string, path string) bool {
	for _, p := range patterns {
		if doublestar.MatchUnvalidated(p, path) {
			return true
		}
	}
	return false
}

// ctxErr is ctx's error as ours.
func ctxErr(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return AsError(err)
	}
	return nil
}
