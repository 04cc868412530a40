package main

import (
	"fmt"
	"os"
	"path/filepath"

	"kb/vault"
)

type initCmd struct {
	From  string `help:"Convert this kb-mcp configuration (collections.ron)." placeholder:"FILE"`
	Force bool   `help:"Replace an existing kb.yaml."`
}

// Run writes kb.yaml into the vault's directory, and nothing else.
func (i initCmd) Run(c *cli) error {
	dir := c.flags.Vault
	if dir == "" {
		dir = "."
	}
	file := filepath.Join(dir, vault.ConfigName)
	if c.flags.Config != "" {
		file = c.flags.Config
	}
	text, err := i.text(dir)
	if err != nil {
		return err
	}
	if _, err := os.Lstat(file); err == nil && !i.Force {
		return &vault.Error{Code: vault.Conflict, Message: file + " exists", Hint: "--force replaces it"}
	}
	if err := replaceFile(file, []byte(text)); err != nil {
		return err
	}
	if c.wantsJSON() {
		return c.print(nil, map[string]string{"file": file})
	}
	_, err = fmt.Fprintf(c.out, "wrote %s\nnext: kb digest; kb mcp --print-config claude-code\n", file)
	return err
}

func (i initCmd) text(dir string) (string, error) {
	if i.From != "" {
		return vault.ConvertRON(i.From, dir)
	}
	return vault.ConfigTemplate(dir)
}

type configCmd struct {
	Path bool `help:"Print only the file's name."`
}

// Run prints the configuration with every default filled in.
func (p configCmd) Run(c *cli) error {
	cfg, err := vault.LoadConfig(c.locate())
	if err != nil {
		return err
	}
	if p.Path {
		_, err := fmt.Fprintln(c.out, cfg.File)
		return err
	}
	if c.wantsJSON() {
		return c.print(cfg, cfg)
	}
	text, err := cfg.YAML()
	if err != nil {
		return err
	}
	_, err = fmt.Fprint(c.out, text)
	return err
}
