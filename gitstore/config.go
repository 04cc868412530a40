package gitstore

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// settings is what this package needs of a repository's configuration.
type settings struct {
	version      string
	extensions   map[string]string // lower-case names
	promisor     bool              // a remote promises missing objects
	bare         bool
	workTree     string // core.worktree
	workTreeOwn  bool   // … and it stands in config.worktree
	autoCRLF     string // lower case
	excludesFile string // absolute, "" for none
	attrsFile    string // absolute, "" for none
	user         identity
}

// identity is what the configuration says of who commits, and how.
type identity struct {
	name, email string
	sign        bool   // commit.gpgSign
	logAll      string // core.logAllRefUpdates, lower case; "" when it is not set
	includes    bool   // files that are not read here may say more
}

// loadConfig reads the user's files for what a user may set globally, then the
// repository's, then the work tree's own.
func loadConfig(gitDir, commonDir string) (*settings, error) {
	c := &settings{extensions: map[string]string{}}
	c.excludesFile, c.attrsFile = userFile("ignore"), userFile("attributes")
	for _, file := range globalFiles() {
		// A user's file that git itself would refuse is no reason not to read the repository.
		if list, err := readSettings(file); err == nil {
			c.preferences(list)
		}
	}
	list, err := readSettings(filepath.Join(commonDir, "config"))
	if err != nil {
		return nil, err
	}
	c.preferences(list)
	c.layout(list)
	if v, ok := c.extensions["worktreeconfig"]; ok && isTrue(v) {
		common := c.workTree
		if list, err = readSettings(filepath.Join(gitDir, "config.worktree")); err != nil {
			return nil, err
		}
		c.workTree = ""
		c.preferences(list)
		c.layout(list)
		c.workTreeOwn = c.workTree != ""
		c.workTree = cmp.Or(c.workTree, common)
	}
	return c, nil
}

// preferences takes what may stand in any configuration file.
func (c *settings) preferences(list []setting) {
	for _, s := range list {
		switch s.name() {
		case "core.autocrlf":
			c.autoCRLF = strings.ToLower(s.value)
		case "core.excludesfile":
			c.excludesFile = expandHome(s.value)
		case "core.attributesfile":
			c.attrsFile = expandHome(s.value)
		}
		c.user.take(&s)
	}
}

func (u *identity) take(s *setting) {
	switch s.name() {
	case "user.name":
		u.name = s.value
	case "user.email":
		u.email = s.value
	case "commit.gpgsign":
		u.sign = isTrue(s.value)
	case "core.logallrefupdates":
		u.logAll = cmp.Or(strings.ToLower(s.value), "true")
	}
	if s.section == "include" || s.section == "includeif" {
		u.includes = true
	}
}

// layout takes what only the repository's own configuration may say.
func (c *settings) layout(list []setting) {
	for _, s := range list {
		switch {
		case s.name() == "core.repositoryformatversion":
			c.version = s.value
		case s.name() == "core.bare":
			c.bare = isTrue(s.value)
		case s.name() == "core.worktree":
			c.workTree = s.value
		case s.section == "extensions":
			c.extensions[s.key] = strings.ToLower(s.value)
		case s.section == "remote" && s.key == "promisor":
			c.promisor = c.promisor || isTrue(s.value)
		}
	}
}

// check refuses what this package would misread, and reports whether objects
// may be missing because the clone is partial.
func (c *settings) check() (partial bool, err error) {
	v1 := c.version == "1"
	if c.version != "" && c.version != "0" && !v1 {
		return false, fmt.Errorf("%w: repository format version %s", ErrUnsupported, c.version)
	}
	partial = c.promisor
	for name, value := range c.extensions {
		switch name {
		case "noop", "noop-v1", "preciousobjects", "worktreeconfig", "relativeworktrees":
		case "partialclone":
			partial = true
		case "objectformat":
			if value != "sha1" {
				return false, fmt.Errorf("%w: object format %s (only sha1 is)", ErrUnsupported, value)
			}
		case "refstorage":
			if value != "files" {
				return false, fmt.Errorf("%w: ref storage %s (only files is)", ErrUnsupported, value)
			}
		default:
			if v1 {
				return false, fmt.Errorf("%w: extension %s", ErrUnsupported, name)
			}
		}
	}
	return partial, nil
}

// readSettings reads one file; a missing one is empty.
func readSettings(file string) ([]setting, error) {
	const maxConfig, maxSections = 1 << 20, 1 << 13 // go-git looks sections up one by one
	b, err := readSmall(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if len(b) > maxConfig || bytes.Count(b, []byte("[")) > maxSections {
		return nil, fmt.Errorf("read %s: %w: %d bytes", file, ErrTooLarge, len(b))
	}
	list, err := parseSettings(b)
	if err != nil {
		return nil, fmt.Errorf("parse %s: %w", file, err)
	}
	return list, nil
}

// globalFiles lists the configuration files outside the repository, least
// binding first.
func globalFiles() []string {
	files := systemFiles()
	if file, ok := os.LookupEnv("GIT_CONFIG_GLOBAL"); ok {
		return append(files, file)
	}
	files = append(files, userFile("config"))
	if home, err := os.UserHomeDir(); err == nil {
		files = append(files, filepath.Join(home, ".gitconfig"))
	}
	return files
}

func systemFiles() []string {
	if v := os.Getenv("GIT_CONFIG_NOSYSTEM"); v != "" && isTrue(v) {
		return nil
	}
	if file, ok := os.LookupEnv("GIT_CONFIG_SYSTEM"); ok {
		return []string{file}
	}
	if dir := os.Getenv("ProgramFiles"); runtime.GOOS == "windows" && dir != "" {
		return []string{filepath.Join(dir, "Git", "etc", "gitconfig")}
	}
	return []string{"/etc/gitconfig"}
}

// userFile names a file of the user's git directory.
func userFile(name string) string {
	if dir := os.Getenv("XDG_CONFIG_HOME"); dir != "" {
		return filepath.Join(dir, "git", name)
	}
	return expandHome("~/.config/git/" + name)
}

func expandHome(p string) string {
	rest, ok := strings.CutPrefix(p, "~/")
	if !ok {
		return p
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return p
	}
	return filepath.Join(home, rest)
}

// isTrue reads the boolean of a setting that is there. A key without a value is
// true.
func isTrue(s string) bool {
	switch strings.ToLower(s) {
	case "true", "yes", "on", "1", "":
		return true
	}
	return false
}
