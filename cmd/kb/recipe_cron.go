package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"kb/vault"
)

type recipeCronCmd struct {
	Name       string `arg:"" help:"Recipe."`
	Collection string `help:"Which takes the notes (default: what the recipe says)." placeholder:"NAME"`
	Format     string `help:"What is printed: crontab, systemd or workflow (default ${default})." enum:"crontab,systemd,workflow" default:"crontab"`
}

// schedules are the times at which a recipe runs, as crontab has them. Systemd
// knows the words.
var schedules = map[string]string{"hourly": "17 * * * *", "daily": "17 6 * * *", "weekly": "17 6 * * 1", "monthly": "17 6 1 * *"}

// scheduled is what a scheduler needs.
type scheduled struct {
	Name   string `json:"name"`
	Format string `json:"format"`
	Body   string `json:"text"`
}

// Text prints it as it is.
func (s *scheduled) Text(t *vault.Text) { t.Printf("%s", s.Body) }

// Run prints the line, the units or the workflow.
func (a recipeCronCmd) Run(c *cli) (err error) {
	c.raw = true
	s, err := c.service(vault.Person)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	x, err := findRecipe(c, &calls{c, s}, a.Name, a.Collection)
	if err != nil {
		return err
	}
	when := cmp.Or(x.Recipe.Schedule, "daily")
	if a.Format == "workflow" {
		return c.print(s.Config(), &scheduled{x.Name, a.Format, fmt.Sprintf(workflow, x.Name, schedules[when], x.Name)})
	}
	program, err := os.Executable()
	if err != nil {
		return err
	}
	dir, err := a.place(s.Config())
	if err != nil {
		return err
	}
	text := fmt.Sprintf("%s %s\n", schedules[when], strings.ReplaceAll(a.runLine(shellQuote, program, dir), "%", `\%`))
	if a.Format == "systemd" {
		line := strings.ReplaceAll(a.runLine(systemdQuote, program, dir), "%", "%%")
		text = fmt.Sprintf(units, x.Name, x.Name, line, x.Name, x.Name, when)
	}
	return c.print(s.Config(), &scheduled{x.Name, a.Format, text})
}

// place is how the vault is named on the command line.
func (a recipeCronCmd) place(cfg *vault.Config) ([]string, error) {
	flag, name := "--config", cfg.File
	if name == "" {
		flag, name = "--vault", cfg.Repository(a.Collection)
	}
	abs, err := filepath.Abs(name)
	if err == nil && strings.ContainsAny(abs, "\n\r") {
		err = &vault.Error{Code: vault.Usage, Message: fmt.Sprintf("%q has a line break in its name", abs)}
	}
	return []string{flag, abs}, err
}

func (a recipeCronCmd) runLine(quote func(string) string, program string, place []string) string {
	words := append([]string{program}, place...)
	for i := range words {
		words[i] = quote(words[i])
	}
	line := strings.Join(words, " ") + " recipe run " + a.Name + " --yes"
	if a.Collection != "" {
		line += " --collection " + quote(a.Collection)
	}
	return line
}

func shellQuote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

func systemdQuote(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, `$`, `$$`).Replace(s) + `"`
}

const units = `# ~/.config/systemd/user/kb-recipe-%s.service
[Unit]
Description=kb recipe %s

[Service]
Type=oneshot
ExecStart=%s

# ~/.config/systemd/user/kb-recipe-%s.timer
[Unit]
Description=kb recipe %s

[Timer]
OnCalendar=%s
Persistent=true

[Install]
WantedBy=timers.target
`

const workflow = `# kb has to be on the runner's PATH. Recipes with commands need --trust HASH beside --yes.
name: kb recipe %s
on:
  schedule:
    - cron: "%s"
  workflow_dispatch: {}
permissions:
  contents: write
jobs:
  run:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v4
        with: {fetch-depth: 0}
      - run: git config user.name kb && git config user.email kb@localhost
      - run: kb recipe run %s --yes
      - run: git push origin 'refs/heads/drafts/*:refs/heads/drafts/*'
`
