package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"kb/vault"
)

type versionCmd struct{}

func (versionCmd) Run(c *cli) error {
	v := map[string]string{"version": vault.Version, "go": runtime.Version(), "platform": runtime.GOOS + "/" + runtime.GOARCH}
	if c.wantsJSON() {
		return c.print(nil, v)
	}
	_, err := fmt.Fprintf(c.out, "kb %s %s %s\n", v["version"], v["go"], v["platform"])
	return err
}

// Without a version from the linker, a build from a module or a checkout knows
// its own.
func init() {
	if vault.Version != "dev" {
		return
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		vault.Version = info.Main.Version
	}
}

type helpCmd struct {
	Command []string `arg:"" optional:"" help:"Command to explain, all when left out."`
}

func (h helpCmd) Run(c *cli) error {
	again := &cli{stdio: c.stdio, ctx: c.ctx}
	return again.execute(append(h.Command, "--help"))
}

type completionCmd struct {
	Shell string `arg:"" help:"Shell: bash, zsh or fish."`
}

// examples are those of the commands that are not operations.
var examples = map[string][]string{
	"mcp":        {"kb mcp --print-config claude-code", "kb --config notes/kb.yaml mcp --read-only"},
	"serve":      {"kb serve", "kb serve --http 0.0.0.0:7420 --token-file tokens.json --allow-host kb.example.org --tls-cert cert.pem --tls-key key.pem"},
	"token":      {"kb token create laptop --scopes read,draft --author 'Ada <ada@example.org>'", "kb token list", "kb token revoke laptop"},
	"eval":       {"kb eval ../scifact", "kb eval --queries judgements/ --at v1.0", "kb eval ../scifact --model bge-small-en-v1.5 --compare text,hybrid", "kb eval --queries judgements/ --baseline judgements/baseline.jsonl"},
	"model":      {"kb model list", "kb model pull bge-small-en-v1.5", "kb model pull ~/Downloads/potion-base-8M.zip"},
	"model pull": {"kb model pull bge-small-en-v1.5", "HF_ENDPOINT=https://mirror.example kb model pull potion-base-8M", "kb model pull ./my-model --name mine"},
	"init":       {"kb init", "kb init --from ~/.config/kb-mcp/collections.ron"},
	"config":     {"kb config", "kb config --path"},
	"completion": {"kb completion bash > ~/.local/share/bash-completion/completions/kb", "kb completion fish | source"},
	"help":       {"kb help search"},
}

// scripts ask kb itself what may follow, so that they never fall behind it.
var scripts = map[string]string{
	"bash": `_kb() { mapfile -t COMPREPLY < <(kb complete -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null); }
complete -o default -F _kb kb
`,
	"zsh": `#compdef kb
_kb() { local -a r; r=("${(@f)$(kb complete -- "${(@)words[2,CURRENT]}" 2>/dev/null)}"); [[ -n "$r" ]] && compadd -a r || _files; }
compdef _kb kb
`,
	"fish": `complete -c kb -f -a '(kb complete -- (commandline -opc)[2..-1] (commandline -ct) 2>/dev/null)'
`,
}

func (s completionCmd) Run(c *cli) error {
	script, ok := scripts[s.Shell]
	if !ok {
		return &vault.Error{Code: vault.Usage, Message: fmt.Sprintf("no completion for %q", s.Shell), Hint: "accepted: bash, zsh, fish"}
	}
	_, err := fmt.Fprint(c.out, script)
	return err
}
