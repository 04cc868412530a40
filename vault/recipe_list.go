package vault

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"path"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"kb/gitstore"
)

// RecipeParams selects recipes.
type RecipeParams struct {
	Name       string `json:"name,omitempty" arg:"" help:"only this recipe"`
	Collection string `json:"collection,omitempty" help:"which takes the notes (default: the one that the recipe names, or the only writable one)"`
}

// Recipes are the recipes of a vault as they are in the branch that drafts are for.
type Recipes struct {
	Commit  string       `json:"commit,omitempty"` // "" where several repositories have some
	Recipes []RecipeInfo `json:"recipes"`
	Checked bool         `json:"checked,omitempty"` // kb recipe check asked
}

// RecipeInfo is a recipe, or what is wrong with it.
type RecipeInfo struct {
	Name       string  `json:"name"`
	Path       string  `json:"path"`
	Hash       string  `json:"hash"`                 // of the file; what a person confirms
	Collection string  `json:"collection,omitempty"` // that takes its notes
	OK         bool    `json:"ok"`
	Message    string  `json:"message,omitempty"`
	Hint       string  `json:"hint,omitempty"`
	Recipe     *Recipe `json:"recipe,omitempty"`
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
	repos, err := v.recipeRepos(p.Collection)
	if err != nil {
		return nil, err
	}
	r := &Recipes{Recipes: []RecipeInfo{}}
	for _, in := range repos {
		tip, err := v.baseToRead(in)
		if err != nil {
			return nil, err
		}
		if len(repos) == 1 {
			r.Commit = tip.String()
		}
		if err := v.addRecipes(ctx, r, in, tip, p); err != nil {
			return nil, err
		}
	}
	if p.Name != "" && len(r.Recipes) == 0 {
		return nil, errorf(NotFound, "no recipe %q in %s of the branch", clip(p.Name, 60), recipeDir).hint("kb recipe list; a new one counts when it is committed")
	}
	return r, nil
}

// recipeRepos are the repositories of the collections that take changes, or of one.
func (v *Vault) recipeRepos(name string) (list []*repo, err error) {
	if name != "" || !slices.ContainsFunc(v.cols, func(c *collection) bool { return c.Writable }) {
		c, err := v.writable(name)
		if err != nil {
			return nil, err
		}
		return []*repo{c.repo}, nil
	}
	for _, c := range v.cols {
		if c.Writable && !slices.Contains(list, c.repo) {
			list = append(list, c.repo)
		}
	}
	return list, nil
}

// addRecipes reads the recipes of a repository.
func (v *Vault) addRecipes(ctx context.Context, r *Recipes, in *repo, tip gitstore.CommitID, p RecipeParams) error {
	files, _, err := in.Files(ctx, tip, recipeDir)
	if err != nil {
		return errorf(Internal, "list recipes: %w", err)
	}
	for _, f := range files {
		name, ok := strings.CutSuffix(f.Path, ".yaml")
		if !ok || p.Name != "" && name != p.Name {
			continue
		}
		src, err := in.Blob(f.Blob)
		if err != nil {
			return errorf(Internal, "read %s/%s: %w", recipeDir, f.Path, err)
		}
		x, err := v.recipeInfo(ctx, name, src, p.Collection)
		if err != nil {
			return err
		}
		r.Recipes = append(r.Recipes, x)
	}
	return nil
}

// recipeInfo reads a recipe for a collection, by default the one that it names.
func (v *Vault) recipeInfo(ctx context.Context, name string, src []byte, collection string) (RecipeInfo, error) {
	sum := sha256.Sum256(src)
	x := RecipeInfo{Name: name, Path: recipeDir + "/" + name + ".yaml", Hash: hex.EncodeToString(sum[:])}
	err := error(errorf(Usage, "%s: a recipe's name is up to 50 of a-z, 0-9 and -", x.Path))
	if recipeName.MatchString(name) {
		var body ast.Node
		if x.Recipe, body, err = readRecipe(x.Path, src); err == nil {
			err = v.fit(ctx, &x, body, collection)
		}
	}
	if err != nil {
		e := AsError(err)
		if e.Code == Internal {
			return x, err
		}
		x.Message, x.Hint, x.Recipe = e.Message, e.Hint, nil
	}
	x.OK = err == nil
	return x, nil
}

// fit checks a recipe against the vault: there is a collection that takes its notes,
// a place for them, and a template that asks for no more than a recipe has.
func (v *Vault) fit(ctx context.Context, x *RecipeInfo, body ast.Node, collection string) error {
	in := &Config{File: x.Path}
	at := func(key string, err error) error {
		e := AsError(err)
		if e.Code == Internal {
			return err
		}
		return in.errorAt(keyLine(body, key), "%s: %s", key, e.Message).hint("%s", e.Hint)
	}
	c, err := v.writable(cmp.Or(collection, x.Recipe.Collection))
	if err != nil {
		return at("collection", err)
	}
	x.Collection = c.Name
	if err := v.checkTarget(c, path.Join(x.Recipe.Directory, "x.md"), true); err != nil {
		return at("directory", err)
	}
	if x.Recipe.Template == "" {
		return nil
	}
	tip, err := v.baseToRead(c.repo)
	if err != nil {
		return err
	}
	t, err := v.template(ctx, c, tip, x.Recipe.Template)
	if err == nil {
		_, _, err = t.render(importedTexts("", "", "", ""), nil)
	}
	if err != nil {
		return at("template", err)
	}
	return nil
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
