package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"kb/ingest"
	"kb/internal/fetch"
	"kb/vault"
)

// recipeCommands are those of kb recipe that are no operation alone.
type recipeCommands struct {
	Run  recipeRunCmd  `cmd:"" help:"Bring in what a recipe says, on a draft."`
	Cron recipeCronCmd `cmd:"" help:"Print what a scheduler needs to run a recipe: nothing is installed."`
}

type recipeRunCmd struct {
	Name         string `arg:"" help:"Recipe."`
	Collection   string `help:"Which takes the notes (default: what the recipe says)." placeholder:"NAME"`
	Draft        string `help:"Draft to add to (default: recipe- and its name)." placeholder:"NAME"`
	DryRun       bool   `help:"Show the notes, write nothing. Commands run."`
	AllowPrivate bool   `help:"Fetch from this machine and its network too."`
	Yes          bool   `help:"Never ask: fail where a command was not confirmed before."`
	Trust        string `help:"Confirm the commands of the recipe whose hash this is, as kb recipe list --json shows it." placeholder:"HASH"`
}

// Run runs commands and reads pages in this process, and adds notes in the one that
// owns the vault's derived data.
func (a recipeRunCmd) Run(c *cli) (err error) {
	s, err := c.service(vault.Person)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	calls := &calls{c, s}
	x, err := findRecipe(c, calls, a.Name, a.Collection)
	if err != nil {
		return err
	}
	if err := a.confirm(c, x); err != nil {
		return err
	}
	if a.Draft == "" {
		a.Draft = "recipe-" + x.Name
	}
	web := &fetch.Client{UserAgent: "kb/" + vault.Version + " (runs a recipe of a knowledge base)", AllowPrivate: a.AllowPrivate, Offline: s.Config().Offline}
	bar := c.newProgress()
	defer bar.finish()
	adder := &ingest.Adder{Vault: calls, Reader: &ingest.Reader{Web: web}, Report: bar.report, Options: ingest.Options{
		Collection: x.Collection, Directory: x.Recipe.Directory, Template: x.Recipe.Template, Tags: x.Recipe.Tags, Draft: a.Draft, DryRun: a.DryRun,
		Message: "Run recipe " + x.Name, LeaveDeleted: true}}
	r, err := runRecipe(c.ctx, adder, x)
	bar.finish()
	if err != nil {
		return err
	}
	return c.conclude(s.Config(), r)
}

// findRecipe reads a recipe of the branch, which is right.
func findRecipe(c *cli, calls *calls, name, collection string) (*vault.RecipeInfo, error) {
	if name == "" {
		return nil, &vault.Error{Code: vault.Usage, Message: "no recipe is named", Hint: "kb recipe list"}
	}
	found, err := callOp[vault.Recipes](c.ctx, calls, "recipe_list", vault.RecipeParams{Name: name, Collection: collection})
	if err != nil {
		return nil, err
	}
	if n := len(found.Recipes); n > 1 {
		return nil, &vault.Error{Code: vault.Usage, Message: fmt.Sprintf("%d repositories have a recipe %s", n, name), Hint: "--collection NAME tells which is meant"}
	}
	x := &found.Recipes[0]
	if !x.OK {
		return nil, &vault.Error{Code: vault.Usage, Message: x.Message, Hint: x.Hint}
	}
	return x, nil
}

// runRecipe brings in what the sources of a recipe give. A command that fails ends
// the run before anything is written.
func runRecipe(ctx context.Context, adder *ingest.Adder, x *vault.RecipeInfo) (*vault.Added, error) {
	var pages []ingest.Source
	var notes []vault.Import
	for i := range x.Recipe.Sources {
		from := &x.Recipe.Sources[i]
		if from.URL != "" {
			page, err := ingest.FromURL(from.URL)
			if err != nil {
				return nil, addError(err)
			}
			pages = append(pages, page)
			continue
		}
		output, err := runCommand(ctx, x.Name, from)
		if err != nil {
			return nil, fmt.Errorf("recipe %s: %s: %w", x.Name, from.Command[0], err)
		}
		list, err := ingest.Outputs(x.Name, from.Format, output)
		if err != nil {
			return nil, fmt.Errorf("recipe %s: %s: %w", x.Name, from.Command[0], err)
		}
		notes = append(notes, list...)
	}
	r, err := adder.Take(ctx, notes)
	if err != nil || len(pages) == 0 {
		return r, err
	}
	more, err := adder.Run(ctx, pages)
	if err == nil {
		r.Join(more)
	}
	return r, err
}

// kept are the variables of the environment that the command of a recipe sees.
var kept = []string{"PATH", "HOME", "LANG", "LC_ALL", "TZ", "TMPDIR", "TEMP", "SYSTEMROOT", "XDG_CONFIG_HOME", "XDG_CACHE_HOME"}

// runCommand runs the command of a source in an empty directory, without standard
// input, and returns what it printed.
func runCommand(ctx context.Context, recipe string, from *vault.RecipeSource) ([]byte, error) {
	dir, err := os.MkdirTemp("", "kb-recipe-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	inner, cancel := context.WithTimeout(ctx, from.MaxTime())
	defer cancel()
	cmd := exec.CommandContext(inner, from.Command[0], from.Command[1:]...)
	out, said := &limited{most: ingest.MaxOutput, full: cancel}, &limited{most: 4 << 10}
	cmd.Dir, cmd.Stdout, cmd.Stderr, cmd.WaitDelay = dir, out, said, 5*time.Second
	cmd.Env = []string{"KB_RECIPE=" + recipe}
	for _, name := range kept {
		if value, ok := os.LookupEnv(name); ok {
			cmd.Env = append(cmd.Env, name+"="+value)
		}
	}
	err = cmd.Run()
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case out.over:
		return nil, fmt.Errorf("it prints more than %d MB", ingest.MaxOutput>>20)
	case inner.Err() != nil:
		return nil, fmt.Errorf("it took more than %v", from.MaxTime())
	case err != nil:
		return nil, fmt.Errorf("%w: %s", err, strings.TrimSpace(said.kept.String()))
	}
	return out.kept.Bytes(), nil
}

// limited keeps the beginning of what is written. The buffer is not embedded: its
// ReadFrom would take all.
type limited struct {
	kept bytes.Buffer
	most int
	over bool
	full func() // is told when there is more; may be nil
}

func (l *limited) Write(p []byte) (int, error) {
	room := l.most - l.kept.Len()
	if len(p) > room {
		if l.over = true; l.full != nil {
			l.full()
		}
	}
	_, _ = l.kept.Write(p[:min(len(p), room)]) // never fails
	return len(p), nil
}

// confirm sees to it that a person has read the commands of a recipe as it is now.
func (a recipeRunCmd) confirm(c *cli, x *vault.RecipeInfo) error {
	commands := x.Recipe.Commands()
	if len(commands) == 0 {
		return nil
	}
	file, err := trustFile()
	if err != nil {
		return err
	}
	known, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if slices.Contains(strings.Fields(string(known)), x.Hash) {
		return nil
	}
	if a.Trust != "" && a.Trust == x.Hash {
		return trust(file, x.Hash)
	}
	for _, from := range commands {
		fmt.Fprintf(c.err, "%s runs: %q\n", x.Path, from.Command)
	}
	if a.Trust == "" && !a.Yes && c.confirmed("Run what this recipe says, now and as long as it stays the same?") {
		return trust(file, x.Hash)
	}
	return &vault.Error{Code: vault.Forbidden, Message: fmt.Sprintf("recipe %s runs commands that nobody has confirmed", x.Name),
		Hint: "read " + x.Path + ", then kb recipe run " + x.Name + " on a terminal, or with --trust " + x.Hash}
}

// trustFile is where the hashes of recipes are kept whose commands were confirmed.
func trustFile() (string, error) {
	dir := os.Getenv("XDG_CONFIG_HOME")
	if !filepath.IsAbs(dir) {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", err
		}
		dir = filepath.Join(home, ".config")
	}
	return filepath.Join(dir, "kb", "trusted-recipes"), nil
}

func trust(file, hash string) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return fmt.Errorf("remember what was confirmed: %w", err)
	}
	f, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("remember what was confirmed: %w", err)
	}
	_, err = f.WriteString(hash + "\n")
	return errors.Join(err, f.Close())
}
