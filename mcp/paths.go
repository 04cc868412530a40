package mcp

import (
	"cmp"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"kb/vault"
)

var absolute = regexp.MustCompile(`(^|[\s"'(=\[<])((?:/|[A-Za-z]:[\\/])[^\s"'()\[\]<>:]*[\\/][^\s"'()\[\]<>:]+)`)

// scrubber takes absolute paths out of what an agent is told: where things lie
// on the machine is not its business.
type scrubber struct{ known []string }

// newScrubber knows the places of a vault, whatever characters are in them.
func newScrubber(c *vault.Config) scrubber {
	var s scrubber
	add := func(dir string) {
		if dir != "" && dir != "." && filepath.Dir(dir) != dir {
			s.known = append(s.known, dir)
		}
	}
	for _, col := range c.Collections {
		add(col.Path)
		if real, err := filepath.EvalSymlinks(col.Path); err == nil {
			add(real)
		}
	}
	add(c.CacheDir)
	if c.File != "" {
		add(filepath.Dir(c.File))
	}
	if home, err := os.UserHomeDir(); err == nil {
		add(home)
	}
	slices.SortFunc(s.known, func(a, b string) int {
		return cmp.Or(cmp.Compare(len(b), len(a)), strings.Compare(a, b))
	})
	return s
}

// clean replaces the known places by "…", and any other absolute path by its
// last part.
func (s scrubber) clean(text string) string {
	for _, dir := range s.known {
		text = strings.ReplaceAll(text, dir, "…")
	}
	return absolute.ReplaceAllStringFunc(text, func(m string) string {
		g := absolute.FindStringSubmatch(m)
		return g[1] + "…/" + path.Base(strings.ReplaceAll(g[2], `\`, "/"))
	})
}
