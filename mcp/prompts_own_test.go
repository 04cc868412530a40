package mcp

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"kb/internal/vaulttest"
	"kb/vault"
)

const promptVault = notes + `
-- .kb/prompts/weekly.md --
---
title: Weekly review
description: Look back on a week.
arguments:
  - name: week
    description: its Monday
    required: true
  - focus
---
Look back on {{week}}, above all {{ focus }}. {{week}} {{unknown}} {{week?}}
-- .kb/prompts/research.md --
Another research.
-- .kb/prompts/secret.md --
---
visibility: private
---
qwfp
-- .kb/prompts/UPPER.md --
x
-- .kb/prompts/deep/er.md --
x
-- .kb/prompts/bad-yaml.md --
---
description: [
---
x
-- .kb/prompts/args.md --
---
arguments: {a: b}
---
x
-- .kb/prompts/twice.md --
---
arguments: [a, a]
---
x
-- .kb/prompts/slash.md --
---
arguments: ["a/b"]
---
x
-- .kb/prompts/empty.md --
---
description: nothing
---
-- @commit 2024-01-02 prompts --
-- .kb/prompts/uncommitted.md --
Not committed.
`

// promptNames lists what the client is offered beside what every vault has.
func promptNames(t *testing.T, s *sdk.ClientSession) (own []string) {
	t.Helper()
	r, err := s.ListPrompts(context.Background(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range r.Prompts {
		if !slices.Contains(vault.BuiltinPrompts, p.Name) {
			own = append(own, p.Name)
		}
	}
	return own
}

func promptText(t *testing.T, s *sdk.ClientSession, name string, args map[string]string) string {
	t.Helper()
	r, err := s.GetPrompt(context.Background(), &sdk.GetPromptParams{Name: name, Arguments: args})
	if err != nil {
		return "error: " + err.Error()
	}
	return r.Messages[0].Content.(*sdk.TextContent).Text
}

// The vault's own prompts are those that are committed, sound and to be seen; what
// is filled in is not read again.
func TestOwnPrompts(t *testing.T) {
	dir := vaulttest.Repo(t, promptVault)
	s := connect(t, agent(t, dir), Options{}, nil)
	if diff := cmp.Diff([]string{"weekly"}, promptNames(t, s)); diff != "" {
		t.Fatal(diff)
	}
	for _, tt := range []struct {
		name string
		args map[string]string
		want string
	}{
		{"weekly", map[string]string{"week": "{{focus}} $1 ", "focus": "{{week}}"}, "Look back on {{focus}} $1, above all {{week}}. {{focus}} $1 {{unknown}} {{week?}}"},
		{"weekly", map[string]string{"week": "W1", "unknown": "x"}, "Look back on W1, above all . W1 {{unknown}} {{week?}}"},
		{"weekly", nil, "argument week is missing"},
		{"secret", nil, "unknown prompt"},
		{"uncommitted", nil, "unknown prompt"},
		{"../prompts/weekly", nil, "unknown prompt"},
		{"research", map[string]string{"question": "why?"}, "Answer this from the knowledge base: why?"},
	} {
		if got := promptText(t, s, tt.name, tt.args); !strings.Contains(got, tt.want) {
			t.Errorf("%s %v: %q, want %q", tt.name, tt.args, got, tt.want)
		}
	}
	vaulttest.Git(t, dir, "switch", "--quiet", "--create", "drafts/x")
	if got := promptNames(t, s); got != nil {
		t.Errorf("of a draft: %v", got)
	}
}

// What is wrong with a file, or too much, keeps it from being a prompt, and kb
// doctor says so.
func TestOwnPromptsRefused(t *testing.T) {
	dir := vaulttest.Repo(t, promptVault)
	vaulttest.Write(t, dir, ".kb/prompts/huge.md", strings.Repeat("long ", 20_000))
	vaulttest.Write(t, dir, ".kb/prompts/binary.md", "a\x00\x01\xff\xfe")
	vaulttest.Write(t, dir, ".kb/prompts/latin.md", "caf\xe9")
	vaulttest.Write(t, dir, ".kb/prompts/hidden.md", "Say\u202e this\x1b[31m.")
	vaulttest.Write(t, dir, ".kb/prompts/a\u202eb.md", "x")
	for i := range 60 {
		vaulttest.Write(t, dir, fmt.Sprintf(".kb/prompts/x%02d.md", i), "Text.")
	}
	if err := os.Symlink("../../README.md", dir+"/.kb/prompts/link.md"); err != nil {
		t.Logf("no symbolic links here: %v", err)
	}
	vaulttest.Commit(t, dir, "2024-01-03", "more")
	s := connect(t, agent(t, dir), Options{}, nil)
	own := promptNames(t, s)
	if len(own) != 50 || !slices.Contains(own, "hidden") || slices.Contains(own, "link") {
		t.Errorf("%d prompts: %v", len(own), own)
	}
	if got := promptText(t, s, "hidden", nil); got != "Say\uFFFD this[31m." {
		t.Errorf("%q", got)
	}
	svc := vaulttest.Service(t, dir)
	op, _ := vault.FindOp("kb_doctor")
	r, err := svc.Do(context.Background(), op, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	var said strings.Builder
	r.(*vault.Findings).Text(vault.NewText(&said))
	for _, want := range []string{
		".kb/prompts/research.md is no prompt: research is a prompt that kb has itself",
		".kb/prompts/UPPER.md is no prompt: a prompt's file is named",
		".kb/prompts/deep/er.md is no prompt: a prompt's file is named",
		".kb/prompts/a\uFFFDb.md was passed over",
		".kb/prompts/bad-yaml.md is no prompt: line",
		".kb/prompts/args.md is no prompt: arguments is no list",
		".kb/prompts/twice.md is no prompt: two arguments have the name a",
		".kb/prompts/slash.md is no prompt: an argument has the name",
		".kb/prompts/empty.md is no prompt: it has no text",
		".kb/prompts/huge.md is no prompt: it is longer than 32 KB",
		".kb/prompts/binary.md is no prompt: it is no UTF-8 text",
		".kb/prompts/latin.md is no prompt: it is no UTF-8 text",
		".kb/prompts/x59.md is no prompt: there are 50 prompts already",
	} {
		if !strings.Contains(said.String(), want) {
			t.Errorf("%q is missing", want)
		}
	}
	if t.Failed() {
		t.Logf("doctor:\n%s", said.String())
	}
}

// Every prompt, as clients list it and as it reads.
func TestPromptsGolden(t *testing.T) {
	s := connect(t, agent(t, vaulttest.Repo(t, promptVault)), Options{}, nil)
	r, err := s.ListPrompts(context.Background(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	var b strings.Builder
	for _, p := range r.Prompts {
		args := map[string]string{}
		fmt.Fprintf(&b, "# %s: %s\n%s\n", p.Name, p.Title, p.Description)
		for _, a := range p.Arguments {
			fmt.Fprintf(&b, "- %s (required: %v): %s\n", a.Name, a.Required, a.Description)
			args[a.Name] = "<" + a.Name + ">"
		}
		fmt.Fprintf(&b, "\n%s\n\n", promptText(t, s, p.Name, args))
		if p.Name != "weekly" {
			names = append(names, p.Name)
		}
	}
	if diff := cmp.Diff(vault.BuiltinPrompts, names); diff != "" {
		t.Errorf("vault.BuiltinPrompts: %s", diff)
	}
	const file = "testdata/prompts.txt"
	if *update {
		if err := os.WriteFile(file, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), b.String()); diff != "" {
		t.Errorf("%s is not what clients get; go test ./mcp -run Golden -update rewrites it (-file +clients):\n%s", file, diff)
	}
}
