package vault

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/url"
	"path"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// recipeDir is where a vault keeps recipes, below the root of its repository. No
// draft changes it.
const recipeDir = ".kb/recipes"

// Recipe says what is brought into a vault again and again, and where to.
type Recipe struct {
	Description string         `yaml:"description" json:"description,omitempty"`
	Sources     []RecipeSource `yaml:"sources" json:"sources"`
	Directory   string         `yaml:"directory" json:"directory,omitempty"`
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
func readRecipe(file string, src []byte) (*Recipe, error) {
	in := &Config{File: file}
	tree, err := parser.ParseBytes(src, 0)
	if err != nil {
		return nil, in.errorAt(yamlErrorLine(err), "%s", yamlErrorText(err))
	}
	if len(tree.Docs) != 1 || tree.Docs[0].Body == nil {
		return nil, in.errorAt(0, "want one YAML document").hint("sources: [{url: https://example.org/feed.xml}]")
	}
	body := tree.Docs[0].Body
	if err := in.checkNode(body, reflect.TypeFor[Recipe](), ""); err != nil {
		return nil, err
	}
	r := &Recipe{}
	if err := yaml.NodeToValue(body, r); err != nil {
		return nil, in.errorAt(yamlErrorLine(err), "%s", yamlErrorText(err))
	}
	if len(r.Sources) == 0 {
		return nil, in.errorAt(0, "no sources").hint("sources: [{url: https://example.org/feed.xml}]")
	}
	if dir := r.Directory; dir != "" && !filepath.IsLocal(filepath.FromSlash(dir)) {
		return nil, in.errorAt(0, "directory: %q is not inside the collection", clip(dir, 100))
	}
	lines := sourceLines(body)
	for i := range r.Sources {
		line := 0
		if i < len(lines) {
			line = lines[i]
		}
		if why, hint := r.Sources[i].problem(); why != "" {
			return nil, in.errorAt(line, "%s", why).hint("%s", hint)
		}
	}
	return r, nil
}

// sourceLines are the lines on which the sources of a recipe begin.
func sourceLines(body ast.Node) (lines []int) {
	m, ok := body.(*ast.MappingNode)
	if !ok {
		if one, single := body.(*ast.MappingValueNode); single {
			m = &ast.MappingNode{Values: []*ast.MappingValueNode{one}}
		} else {
			return nil
		}
	}
	for _, p := range m.Values {
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

// RecipeParams selects recipes.
type RecipeParams struct {
	Name       string `json:"name,omitempty" arg:"" help:"only this recipe"`
	Collection string `json:"collection,omitempty" help:"which takes the notes; needed when several are writable"`
}

// Recipes are the recipes of a vault as they are in the branch that drafts are for.
type Recipes struct {
	Commit  string       `json:"commit"`
	Recipes []RecipeInfo `json:"recipes"`
	Checked bool         `json:"checked,omitempty"` // kb recipe check asked
}

// RecipeInfo is a recipe, or what is wrong with it.
type RecipeInfo struct {
	Name    string  `json:"name"`
	Path    string  `json:"path"`
	Hash    string  `json:"hash"` // of the file; what a person confirms
	OK      bool    `json:"ok"`
	Message string  `json:"message,omitempty"`
	Hint    string  `json:"hint,omitempty"`
	Recipe  *Recipe `json:"recipe,omitempty"`
}

var recipeListOp = define(Op{
	Name:     "recipe_list",
	Under:    "recipe",
	Summary:  "List the recipes of the vault: what they bring, and how often",
	Examples: []string{"kb recipe list"},
	People:   true,
}, (*Vault).RecipeList)

var recipeCheckOp = define(Op{
	Name:     "recipe_check",
	Under:    "recipe",
	Summary:  "Check recipes, with the lines of what is wrong",
	Examples: []string{"kb recipe check", "kb recipe check papers"},
	People:   true,
}, (*Vault).RecipeCheck)

// RecipeCheck is [Vault.RecipeList] whose result is a failure where a recipe is
// wrong.
func (v *Vault) RecipeCheck(ctx context.Context, p RecipeParams) (*Recipes, error) {
	r, err := v.RecipeList(ctx, p)
	if err == nil {
		r.Checked = true
	}
	return r, err
}

// RecipeList reads recipes from the commit of the branch that drafts are for, never
// from a draft or the work tree.
func (v *Vault) RecipeList(ctx context.Context, p RecipeParams) (*Recipes, error) {
	c, err := v.writable(p.Collection)
	if err != nil {
		return nil, err
	}
	_, tip, err := v.draftStore(c.repo)
	if err != nil {
		return nil, err
	}
	files, _, err := c.repo.Files(ctx, tip, recipeDir)
	if err != nil {
		return nil, errorf(Internal, "list recipes: %w", err)
	}
	r := &Recipes{Commit: tip.String(), Recipes: []RecipeInfo{}}
	var names []string
	for _, f := range files {
		name, ok := strings.CutSuffix(f.Path, ".yaml")
		if !ok || p.Name != "" && name != p.Name {
			continue
		}
		names = append(names, name)
		src, err := c.repo.Blob(f.Blob)
		if err != nil {
			return nil, errorf(Internal, "read %s/%s: %w", recipeDir, f.Path, err)
		}
		r.Recipes = append(r.Recipes, recipeInfo(name, src))
	}
	if p.Name != "" && len(names) == 0 {
		return nil, errorf(NotFound, "no recipe %q in %s of the branch", clip(p.Name, 60), recipeDir).hint("kb recipe list; a new one counts when it is committed")
	}
	return r, nil
}

func recipeInfo(name string, src []byte) RecipeInfo {
	sum := sha256.Sum256(src)
	x := RecipeInfo{Name: name, Path: recipeDir + "/" + name + ".yaml", Hash: hex.EncodeToString(sum[:])}
	var err error
	if !recipeName.MatchString(name) {
		err = errorf(Usage, "%s: a recipe's name is up to 50 of a-z, 0-9 and -", x.Path)
	} else {
		x.Recipe, err = readRecipe(x.Path, src)
	}
	if err != nil {
		e := AsError(err)
		x.Message, x.Hint = e.Message, e.Hint
	}
	x.OK = err == nil
	return x
}

// ExitCode is that of failed checks, where checking was asked for.
func (r *Recipes) ExitCode() Code {
	if r.Checked && slices.ContainsFunc(r.Recipes, func(x RecipeInfo) bool { return !x.OK }) {
		return Failed
	}
	return ""
}

// Text lists recipes.
func (r *Recipes) Text(t *Text) {
	for _, x := range r.Recipes {
		if !x.OK {
			t.Printf("%s\n", t.Warn(x.Message))
			if x.Hint != "" {
				t.Printf("  %s\n", t.Dim(x.Hint))
			}
			continue
		}
		t.Printf("%s %s\n", t.Accent(x.Name), t.Plain(cmp.Or(x.Recipe.Description, "ok")))
	}
	t.Printf("%s\n", t.Dim(plural(len(r.Recipes), "recipe")))
}
