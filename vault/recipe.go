package vault

import (
	"fmt"
	"net/url"
	"path"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"

	"kb/internal/secrets"
)

// recipeDir is where a vault keeps recipes, below the root of its repository. No
// draft changes it.
const recipeDir = ".kb/recipes"

// Recipe says what is brought into a vault again and again, and where to.
type Recipe struct {
	Description string         `yaml:"description" json:"description,omitempty"`
	Sources     []RecipeSource `yaml:"sources" json:"sources"`
	Collection  string         `yaml:"collection" json:"collection,omitempty"`
	Directory   string         `yaml:"directory" json:"directory,omitempty"`
	Template    string         `yaml:"template" json:"template,omitempty"`
	Tags        []string       `yaml:"tags" json:"tags,omitempty"`
	Schedule    string         `yaml:"schedule" json:"schedule,omitempty" enum:"hourly,daily,weekly,monthly"`
}

// RecipeSource is a page, a feed, or a command that prints notes.
type RecipeSource struct {
	URL     string   `yaml:"url" json:"url,omitempty"`
	Command []string `yaml:"command" json:"command,omitempty"`
	Format  string   `yaml:"format" json:"format,omitempty" enum:"markdown,jsonl"`
	Timeout string   `yaml:"timeout" json:"timeout,omitempty"`
}

// The time that a command of a recipe has.
const (
	recipeTimeout     = 5 * time.Minute
	mostRecipeTimeout = time.Hour
)

// MaxTime is the time that the command of s has.
func (s *RecipeSource) MaxTime() time.Duration {
	d, err := time.ParseDuration(s.Timeout)
	if err != nil || d <= 0 || d > mostRecipeTimeout {
		return recipeTimeout
	}
	return d
}

// Commands are the sources of r that run a program.
func (r *Recipe) Commands() (list []RecipeSource) {
	for _, s := range r.Sources {
		if len(s.Command) > 0 {
			list = append(list, s)
		}
	}
	return list
}

var recipeName = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,49}$`)

// readRecipe reads a recipe. Whatever does not fit is an error that names the file,
// the line and what would be accepted.
func readRecipe(file string, src []byte) (*Recipe, ast.Node, error) {
	in := &Config{File: file}
	tree, err := in.parse(src)
	if err != nil {
		return nil, nil, err
	}
	if len(tree.Docs) != 1 || tree.Docs[0].Body == nil {
		return nil, nil, in.errorAt(0, "want one YAML document").hint("sources: [{url: https://example.org/feed.xml}]")
	}
	body := tree.Docs[0].Body
	if err := in.checkNode(body, reflect.TypeFor[Recipe](), ""); err != nil {
		return nil, nil, err
	}
	r := &Recipe{}
	if err := yaml.NodeToValue(body, r); err != nil {
		return nil, nil, in.errorAt(yamlErrorLine(err), "%s", yamlErrorText(err))
	}
	return r, body, r.check(in, body)
}

// check looks for what is wrong with a recipe wherever it is used.
func (r *Recipe) check(in *Config, body ast.Node) error {
	if len(r.Sources) == 0 {
		return in.errorAt(keyLine(body, "sources"), "no sources").hint("sources: [{url: https://example.org/feed.xml}]")
	}
	if dir := r.Directory; dir != "" && !filepath.IsLocal(filepath.FromSlash(dir)) {
		return in.errorAt(keyLine(body, "directory"), "directory: %q is not inside the collection", clip(dir, 100)).hint("a directory such as news/2026")
	}
	lines := sourceLines(body)
	for i := range r.Sources {
		line := 0
		if i < len(lines) {
			line = lines[i]
		}
		if why, hint := r.Sources[i].problem(); why != "" {
			return in.errorAt(line, "%s", why).hint("%s", hint)
		}
	}
	return nil
}

// keyLine is the line of a key of a recipe, 0 without one.
func keyLine(body ast.Node, key string) int {
	for _, p := range pairs(body) {
		if p.Key.String() == key {
			return line(p.Key)
		}
	}
	return 0
}

// pairs are the keys and values of a mapping.
func pairs(body ast.Node) []*ast.MappingValueNode {
	switch m := body.(type) {
	case *ast.MappingNode:
		return m.Values
	case *ast.MappingValueNode:
		return []*ast.MappingValueNode{m}
	}
	return nil
}

// sourceLines are the lines on which the sources of a recipe begin.
func sourceLines(body ast.Node) (lines []int) {
	for _, p := range pairs(body) {
		if list, ok := p.Value.(*ast.SequenceNode); ok && p.Key.String() == "sources" {
			for _, n := range list.Values {
				lines = append(lines, line(n))
			}
		}
	}
	return lines
}

// problem says what is wrong with a source.
func (s *RecipeSource) problem() (why, hint string) {
	if (s.URL == "") == (len(s.Command) == 0) {
		return "a source is a url or a command", "{url: https://example.org/feed.xml} or {command: [program, argument], format: jsonl}"
	}
	if s.URL != "" {
		u, err := url.Parse(s.URL)
		switch {
		case s.Format+s.Timeout != "":
			return "format and timeout are a command's", "leave them out"
		case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil:
			return fmt.Sprintf("url: %q", clip(s.URL, 100)), "an http or https URL without a password"
		}
		if name := secrets.InQuery(u.RawQuery); name != "" {
			return fmt.Sprintf("url: its %s may be a secret, and would stand in the notes", name), "give it without, or fetch it with a command"
		}
		return "", ""
	}
	program := s.Command[0]
	if program == "" || strings.ContainsAny(program, `/\`) && !path.IsAbs(program) && !filepath.IsAbs(program) {
		return fmt.Sprintf("command: %q is looked for where the command runs, an empty directory", clip(program, 100)),
			"a program of the PATH, or its whole path: what is in the work tree may be a draft's"
	}
	if d, err := time.ParseDuration(s.Timeout); s.Timeout != "" && (err != nil || d <= 0 || d > mostRecipeTimeout) {
		return fmt.Sprintf("timeout: %q", clip(s.Timeout, 40)), "such as 30s or 10m, up to an hour"
	}
	return "", ""
}
