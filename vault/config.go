package vault

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"unicode"

	"github.com/bmatcuk/doublestar/v4"
)

// ConfigName is the name under which a vault's configuration is looked for.
const ConfigName = "kb.yaml"

// Config says what a vault is: its collections and how they are read. The yaml
// keys are the ones a person writes; after [Config.resolve] every path in it is
// absolute and every default is filled in, and it travels as JSON to the
// process that owns the derived store.
type Config struct {
	CacheDir    string             `yaml:"cache_dir" json:"cache_dir"`
	View        string             `yaml:"view" json:"view"`
	DraftBase   string             `yaml:"draft_base" json:"draft_base"`
	Language    string             `yaml:"language" json:"language"`
	Protected   []string           `yaml:"protected" json:"protected"`
	Model       string             `yaml:"model" json:"model"`
	Collections []CollectionConfig `yaml:"collections" json:"collections"`
	Search      SearchConfig       `yaml:"search" json:"search"`
	Vector      VectorConfig       `yaml:"vector" json:"vector"`
	Review      ReviewConfig       `yaml:"review" json:"review"`
	Site        SiteConfig         `yaml:"site" json:"site"`
	Visibility  VisibilityConfig   `yaml:"visibility" json:"visibility"`

	File    string `yaml:"-" json:"file,omitempty"`    // where it was read, "" when there was none
	Offline bool   `yaml:"-" json:"offline,omitempty"` // $KB_OFFLINE: nothing is asked of other machines

	Implicit bool `yaml:"-" json:"implicit,omitempty"` // no file speaks of collections: the repository is the only one
}

// CollectionConfig is one directory of notes inside a git repository.
type CollectionConfig struct {
	Name        string          `yaml:"name" json:"name"`
	Path        string          `yaml:"path" json:"path"`
	Description string          `yaml:"description" json:"description"`
	Writable    bool            `yaml:"writable" json:"writable"`
	Include     []string        `yaml:"include" json:"include"`
	Exclude     []string        `yaml:"exclude" json:"exclude"`
	Visibility  string          `yaml:"visibility" json:"visibility" enum:"public,team,private"` // of its notes, where nothing else is said
	Sections    []SectionConfig `yaml:"sections" json:"sections"`

	line int // in File, for messages
}

// SectionConfig describes a section: a first-level directory of a collection.
type SectionConfig struct {
	Prefix      string `yaml:"prefix" json:"prefix"`
	Description string `yaml:"description" json:"description"`
}

// SearchConfig holds the defaults of the search operation.
type SearchConfig struct {
	Mode         string  `yaml:"mode" json:"mode" enum:"hybrid,text,vector"`
	MaxResults   int     `yaml:"max_results" json:"max_results"`
	MaxLimit     int     `yaml:"max_limit" json:"max_limit"`
	MinScore     float64 `yaml:"min_score" json:"min_score"`
	VectorWeight string  `yaml:"vector_weight" json:"vector_weight"`
	Diversity    float64 `yaml:"diversity" json:"diversity"`
	Fallback     *bool   `yaml:"fallback" json:"fallback"`
}

// VectorConfig chooses how nearest neighbours are found.
type VectorConfig struct {
	ANN string `yaml:"ann" json:"ann" enum:"exact,hnsw"`
}

// ReviewConfig holds what a draft must have before it is merged.
type ReviewConfig struct {
	Required []string `yaml:"required" json:"required"`
	MinWords int      `yaml:"min_words" json:"min_words"`
	Online   bool     `yaml:"online" json:"online"`
}

// SiteConfig configures the static site.
type SiteConfig struct {
	Title   string   `yaml:"title" json:"title"`
	Exclude []string `yaml:"exclude" json:"exclude"`
	BaseURL string   `yaml:"base_url" json:"base_url"`
	Related string   `yaml:"related" json:"related" enum:"auto,always,never"` // whether pages list notes about the same

	Translations []string `yaml:"translations" json:"translations"` // directories of one language, which {lang} stands for
}

// VisibilityConfig says who sees which notes: the default, and patterns of paths.
type VisibilityConfig struct {
	Default string   `yaml:"default" json:"default" enum:"public,team,private"`
	Public  []string `yaml:"public" json:"public"`
	Team    []string `yaml:"team" json:"team"`
	Private []string `yaml:"private" json:"private"`
}

// Committed returns c for readers elsewhere: what they see by default is the
// commit that drafts start from, not somebody's work tree.
func (c *Config) Committed() *Config {
	d := *c
	if d.View == worktree {
		d.View = cmp.Or(d.DraftBase, "HEAD")
	}
	return &d
}

// Locate is how a configuration is found; the zero value looks around the
// current directory.
type Locate struct {
	File     string // --config
	Dir      string // --vault: look here instead of in the current directory
	CacheDir string // --cache-dir
}

// LoadConfig finds, reads and checks the configuration: Locate.File, then
// $KB_CONFIG, then kb.yaml in Dir or a parent up to the repository's root, then
// the user's own kb.yaml. With none of them, or one that does not speak of
// collections, the git repository around Dir is a vault with one writable collection.
func LoadConfig(l Locate) (*Config, error) {
	file, err := l.find()
	if err != nil {
		return nil, err
	}
	c := &Config{}
	if file != "" {
		if c, err = readConfig(file); err != nil {
			return nil, err
		}
	}
	if c.Collections == nil {
		if c.Collections, err = implicitCollection(l.dir()); err != nil {
			return nil, err
		}
		c.Implicit = true
	}
	for _, dir := range []string{os.Getenv("KB_CACHE_DIR"), l.CacheDir} {
		if dir == "" {
			continue
		}
		if c.CacheDir, err = absolute(".", dir); err != nil {
			return nil, err
		}
	}
	c.Offline = os.Getenv("KB_OFFLINE") != ""
	return c, c.resolve()
}

func (l Locate) dir() string {
	if l.Dir == "" {
		return "."
	}
	return l.Dir
}

func (l Locate) find() (string, error) {
	for _, f := range []string{l.File, os.Getenv("KB_CONFIG")} {
		if f == "" {
			continue
		}
		f, err := expand(f)
		if err != nil {
			return "", err
		}
		if _, err := os.Stat(f); err != nil {
			return "", errorf(NotFound, "read configuration %s: %w", f, errors.Unwrap(err)).
				hint("kb init writes one")
		}
		return filepath.Abs(f)
	}
	if f := upward(l.dir()); f != "" || l.Dir != "" {
		return f, nil
	}
	if f := userConfig(); isFile(f) {
		return f, nil
	}
	return "", nil
}

// userConfig is where a person keeps the configuration of no particular
// directory.
func userConfig() string {
	dir := os.Getenv("XDG_CONFIG_HOME")
	if !filepath.IsAbs(dir) {
		home, err := os.UserHomeDir()
		if err != nil {
			return ""
		}
		dir = filepath.Join(home, ".config")
	}
	return filepath.Join(dir, "kb", ConfigName)
}

// upward looks for kb.yaml in dir and its parents, up to the directory that
// holds .git.
func upward(dir string) string {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return ""
	}
	for {
		if f := filepath.Join(dir, ConfigName); isFile(f) {
			return f
		}
		if _, err := os.Stat(filepath.Join(dir, ".git")); err == nil || filepath.Dir(dir) == dir {
			return ""
		}
		dir = filepath.Dir(dir)
	}
}

func isFile(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.Mode().IsRegular()
}

// implicitCollection is the vault that a repository is when no configuration names
// collections.
func implicitCollection(dir string) ([]CollectionConfig, error) {
	info, err := os.Stat(dir)
	if err != nil {
		return nil, errorf(NotFound, "open vault %s: %w", dir, errors.Unwrap(err)).
			hint("--vault names a directory inside a git repository")
	}
	if !info.IsDir() {
		return nil, errorf(Usage, "open vault %s: not a directory", dir).
			hint("--vault names a directory; a configuration file goes with --config")
	}
	root, called, err := namedRepository(dir)
	if err != nil {
		return nil, err
	}
	name := strings.TrimSuffix(filepath.Base(called), ".git")
	return []CollectionConfig{{Name: collectionName(name), Path: root, Writable: true}}, nil
}

// collectionName makes a repository's directory name fit to be a collection's.
func collectionName(dir string) string {
	name := strings.Map(func(r rune) rune {
		if strings.ContainsRune(badInName, r) || unicode.IsControl(r) || unicode.IsSpace(r) {
			return '-'
		}
		return r
	}, dir)
	if name == "" || badName(name) {
		return "vault"
	}
	return name
}

// badInName cannot stand in a collection's name: it would end the name within a
// citation or a collection:path.
const badInName = ":/@#?% \\\"'`<>()[]{}|*"

func badName(name string) bool {
	return name == "." || name == ".." || strings.ContainsAny(name, badInName) ||
		strings.IndexFunc(name, func(r rune) bool { return unicode.IsControl(r) || unicode.IsSpace(r) }) >= 0
}

// fillLists makes empty lists of those that are not given: they are shown as [].
func (c *Config) fillLists() {
	lists := []*[]string{&c.Protected, &c.Visibility.Public, &c.Visibility.Team, &c.Visibility.Private, &c.Site.Exclude, &c.Site.Translations}
	for i := range c.Collections {
		lists = append(lists, &c.Collections[i].Exclude)
		if c.Collections[i].Sections == nil {
			c.Collections[i].Sections = []SectionConfig{}
		}
	}
	for _, list := range lists {
		if *list == nil {
			*list = []string{}
		}
	}
}

// resolve checks c, fills in the defaults and makes its paths absolute.
func (c *Config) resolve() error {
	base := "."
	if c.File != "" {
		base = filepath.Dir(c.File)
	}
	if err := c.checkCollections(base); err != nil {
		return err
	}
	c.fillLists()
	for _, list := range [][]string{c.Visibility.Public, c.Visibility.Team, c.Visibility.Private, c.Protected, c.Site.Exclude} {
		for _, p := range list {
			if !doublestar.ValidatePattern(p) {
				return c.errorAt(0, "bad pattern %q", p).hint("a pattern is journal/** or **/private.md")
			}
		}
	}
	for _, p := range c.Site.Translations {
		if strings.Count(p, langPlace) != 1 || !filepath.IsLocal(p) {
			return c.errorAt(0, "site: bad translations %q", p).hint("a directory with {lang} for its language: pages.{lang} or {lang}")
		}
	}
	if c.Search.MaxResults < 0 || c.Search.MaxLimit < 0 || c.Search.MinScore < 0 {
		return c.errorAt(0, "search: a number is negative").hint("max_results, max_limit and min_score are 0 or more")
	}
	if err := c.checkVectorSearch(); err != nil {
		return err
	}
	setDefault(&c.View, "worktree")
	setDefault(&c.Language, "en")
	setDefault(&c.Search.Mode, "hybrid")
	setDefault(&c.Search.MaxResults, 10)
	setDefault(&c.Search.MaxLimit, 50)
	setDefault(&c.Search.VectorWeight, "auto")
	setDefault(&c.Search.Fallback, new(true))
	setDefault(&c.Site.Related, "auto")
	setDefault(&c.Vector.ANN, "exact")
	setDefault(&c.Review.MinWords, 3)
	setDefault(&c.Visibility.Default, string(Public))
	for i := range c.Collections {
		setDefault(&c.Collections[i].Visibility, c.Visibility.Default)
	}
	if err := c.resolveModel(base); err != nil {
		return err
	}
	if c.Review.Required == nil { // an empty list asks for nothing
		c.Review.Required = []string{"title", "tags", "created"}
	}
	if c.CacheDir == "" {
		dir, err := userCacheDir()
		if err != nil {
			return err
		}
		c.CacheDir = dir
	}
	dir, err := absolute(base, c.CacheDir)
	c.CacheDir = dir
	return err
}

func (c *Config) checkVectorSearch() error {
	if d := c.Search.Diversity; d < 0 || d > 1 {
		return c.errorAt(0, "search: diversity %v", d).hint("diversity is 0 to 1")
	}
	if w := c.Search.VectorWeight; w != "" && w != "auto" {
		if f, err := strconv.ParseFloat(w, 64); err != nil || !(f >= 0 && f <= mostWeight) {
			return c.errorAt(0, "search: vector_weight %s", w).hint("vector_weight is auto, or 0 (words alone) to %d", mostWeight)
		}
	}
	return nil
}

// mostWeight is the largest weight of a cosine beside words, whose score is 1 at
// most: words hardly count with it.
const mostWeight = 10

func (c *Config) checkCollections(base string) error {
	if len(c.Collections) == 0 {
		return c.errorAt(0, "no collections").hint("collections: [{name: notes, path: .}]")
	}
	seen := map[string]bool{}
	for i := range c.Collections {
		col := &c.Collections[i]
		switch {
		case col.Name == "":
			return c.errorAt(col.line, "a collection has no name").hint("name: notes")
		case badName(col.Name):
			return c.errorAt(col.line, "collection name %q", col.Name).hint("a name has no spaces and none of : / @ # ? %% \\")
		case seen[col.Name]:
			return c.errorAt(col.line, "two collections are named %q", col.Name)
		case col.Path == "":
			return c.errorAt(col.line, "collection %s has no path", col.Name).hint("path: . for the directory of %s", ConfigName)
		}
		seen[col.Name] = true
		dir := col.Path
		if c.File != "" { // else it is a directory that exists, whatever its name holds
			var err error
			if dir, err = absolute(base, col.Path); err != nil {
				return err
			}
		}
		if info, err := os.Stat(dir); err != nil || !info.IsDir() {
			return c.errorAt(col.line, "collection %s: no directory %s", col.Name, dir)
		}
		col.Path = dir
		if len(col.Include) == 0 {
			col.Include = []string{"**/*.md", "**/*.markdown"}
		}
		for _, p := range append(append([]string{}, col.Include...), col.Exclude...) {
			if !doublestar.ValidatePattern(p) {
				return c.errorAt(col.line, "collection %s: bad pattern %q", col.Name, p)
			}
		}
	}
	return nil
}

func (c *Config) errorAt(line int, format string, args ...any) *Error {
	where := ConfigName
	if c.File != "" {
		where = c.File
	}
	if line > 0 {
		where = fmt.Sprintf("%s:%d", where, line)
	}
	return errorf(Usage, "%s: %s", where, fmt.Sprintf(format, args...))
}

func setDefault[T comparable](p *T, v T) {
	var zero T
	if *p == zero {
		*p = v
	}
}

// expand replaces a leading ~ and $VAR. A variable that is not set is an error:
// $HOEM/notes must not become /notes.
func expand(p string) (string, error) {
	if p == "~" || strings.HasPrefix(p, "~/") {
		if home, err := os.UserHomeDir(); err == nil {
			p = home + p[1:]
		}
	}
	unset := ""
	out := os.Expand(p, func(name string) string {
		value, ok := os.LookupEnv(name)
		if !ok {
			unset = name
		}
		return value
	})
	if unset != "" {
		return "", errorf(Usage, "path %s: the environment has no variable %s", p, unset).
			hint("set it, or write the path out")
	}
	return out, nil
}

func absolute(base, p string) (string, error) {
	p, err := expand(p)
	if err != nil {
		return "", err
	}
	p = filepath.FromSlash(p)
	if !filepath.IsAbs(p) {
		p = filepath.Join(base, p)
	}
	return filepath.Abs(p)
}

// userCacheDir is $XDG_CACHE_HOME/kb, or the system's own place for caches.
func userCacheDir() (string, error) {
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", errorf(Usage, "no place for derived data: %w", err).hint("set cache_dir, --cache-dir or $KB_CACHE_DIR")
	}
	return filepath.Join(dir, "kb"), nil
}

// CacheDir is where derived data is kept: flag, else $KB_CACHE_DIR, else the
// user's own cache.
func CacheDir(flag string) (string, error) {
	for _, dir := range []string{flag, os.Getenv("KB_CACHE_DIR")} {
		if dir != "" {
			return absolute(".", dir)
		}
	}
	return userCacheDir()
}
