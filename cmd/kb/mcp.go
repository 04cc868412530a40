package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"kb/mcp"
	"kb/vault"
)

type mcpCmd struct {
	ReadOnly    bool     `help:"Offer no tool that writes."`
	Tools       []string `help:"Offer only these tools." placeholder:"NAME,…"`
	Agent       string   `help:"Who the agent is, in the notes that it proposes: NAME or 'NAME <ADDRESS>' (default $KB_AGENT, then the client's name)." placeholder:"NAME"`
	PrintConfig string   `help:"Print what goes into the configuration of claude-code, claude-desktop, cursor, vscode or codex." placeholder:"CLIENT"`
}

// Run serves until the client closes its end. The vault is indexed in the
// background: the handshake does not wait for it.
func (m mcpCmd) Run(c *cli) (err error) {
	if m.PrintConfig != "" {
		return m.printConfig(c)
	}
	c.raw = true // nothing but the protocol goes to stdout, and errors are for people
	s, err := c.service(vault.Agent)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	s.EmbedInBackground()
	server, err := mcp.New(s, mcp.Options{ReadOnly: m.ReadOnly, Tools: m.Tools, Agent: cmp.Or(m.Agent, os.Getenv(agentVariable)), Log: c.log})
	if err != nil {
		return &vault.Error{Code: vault.Usage, Message: err.Error(), Hint: "tools: " + strings.Join(toolNames(), ", ")}
	}
	indexed := make(chan struct{})
	ctx, stop := context.WithCancel(c.ctx)
	go func() {
		defer close(indexed)
		op, _ := vault.FindOp("reindex")
		if _, err := s.Do(ctx, op, nil, nil); err != nil && ctx.Err() == nil {
			c.log("index: %v", err)
		}
	}()
	err = server.ServeStdio(c.ctx, c.in, c.out)
	stop()
	<-indexed
	if c.ctx.Err() != nil {
		return nil // asked to end
	}
	return err
}

// agentVariable names an agent that starts kb, also one that runs commands.
const agentVariable = "KB_AGENT"

func toolNames() (names []string) {
	for _, op := range vault.Ops() {
		if !op.People {
			names = append(names, op.Name)
		}
	}
	return names
}

// clients are those whose configuration is known.
var clients = []string{"claude-code", "claude-desktop", "cursor", "vscode", "codex"}

// printConfig prints the snippet that makes a client start this program on this
// vault.
func (m mcpCmd) printConfig(c *cli) error {
	args, err := m.serverArgs(c)
	if err != nil {
		return err
	}
	exe, err := os.Executable()
	if err != nil {
		return err
	}
	server := map[string]any{"command": exe, "args": args}
	var snippet any
	switch m.PrintConfig {
	case "claude-code", "claude-desktop", "cursor":
		snippet = map[string]any{"mcpServers": map[string]any{"kb": server}}
	case "vscode":
		server["type"] = "stdio"
		snippet = map[string]any{"servers": map[string]any{"kb": server}}
	case "codex":
		_, err := fmt.Fprintf(c.out, "[mcp_servers.kb]\ncommand = %s\nargs = %s\n", quoteTOML(exe), quoteTOML(args...))
		return err
	default:
		return &vault.Error{Code: vault.Usage, Message: fmt.Sprintf("no client %q", m.PrintConfig),
			Hint: "accepted: " + strings.Join(clients, ", ")}
	}
	raw, err := json.MarshalIndent(snippet, "", "  ")
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(c.out, "%s\n", raw)
	return err
}

// serverArgs are the arguments with which a client finds this vault from
// wherever it starts the server.
func (m mcpCmd) serverArgs(c *cli) ([]string, error) {
	cfg, err := vault.LoadConfig(c.locate())
	if err != nil {
		return nil, err
	}
	var args []string
	if cfg.File != "" {
		args = append(args, "--config", cfg.File)
	} else {
		args = append(args, "--vault", cfg.Collections[0].Path)
	}
	if c.flags.CacheDir != "" {
		dir, err := filepath.Abs(c.flags.CacheDir)
		if err != nil {
			return nil, err
		}
		args = append(args, "--cache-dir", dir)
	}
	args = append(args, "mcp")
	if m.ReadOnly {
		args = append(args, "--read-only")
	}
	if len(m.Tools) > 0 {
		args = append(args, "--tools", strings.Join(m.Tools, ","))
	}
	if m.Agent != "" {
		args = append(args, "--agent", m.Agent)
	}
	return args, nil
}

// quoteTOML writes one basic string, or an array of several. JSON's strings are
// TOML's.
func quoteTOML(s ...string) string {
	quoted := make([]string, len(s))
	for i, x := range s {
		b, _ := json.Marshal(x)
		quoted[i] = string(b)
	}
	if len(s) == 1 {
		return quoted[0]
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}
