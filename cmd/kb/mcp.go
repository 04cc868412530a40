package main

import (
	"cmp"
	"context"
	"errors"
	"os"
	"strings"

	"kb/mcp"
	"kb/vault"
)

// mcpCmd is `kb mcp`, which serves, and what belongs to it.
type mcpCmd struct {
	Serve   mcpServeCmd   `cmd:"" default:"withargs" help:"Serve the vault on stdin and stdout; the default."`
	Install mcpInstallCmd `cmd:"" help:"Add this vault to a client's configuration, after asking."`
}

// mcpFlags are those with which a server is started.
type mcpFlags struct {
	ReadOnly   bool             `help:"Offer no tool that writes."`
	Tools      []string         `help:"Offer only these tools." placeholder:"NAME,…"`
	Visibility vault.Visibility `help:"How far the agent sees: public, team (the default: all but private notes) or private." placeholder:"WHICH"`
	User       string           `help:"Whose private notes it sees with --visibility private, beside those that are nobody's (default: git's user)." placeholder:"NAME"`
	Agent      string           `help:"Who the agent is, in the notes that it proposes: NAME or 'NAME <ADDRESS>' (default $KB_AGENT, then the client's name)." placeholder:"NAME"`
}

// logFlags say what is logged.
type logFlags struct {
	LogLevel string `help:"What goes into the log that kb doctor --logs shows: off, error, warn, info, debug (default ${default})." default:"info" env:"KB_LOG_LEVEL" enum:"off,error,warn,info,debug" placeholder:"LEVEL"`
}

type mcpServeCmd struct {
	mcpFlags
	httpFlags
	logFlags
	HTTP        string `name:"http" help:"Serve over HTTP at this address instead: /mcp, /healthz." placeholder:"HOST:PORT"`
	PrintConfig string `help:"Print what goes into the configuration of claude-code, claude-desktop, cursor, vscode or codex." placeholder:"CLIENT"`
}

// Run serves until the client closes its end. The vault is indexed in the
// background: the handshake does not wait for it.
func (m mcpServeCmd) Run(c *cli) (err error) {
	if m.PrintConfig != "" {
		return m.printConfig(c, m.PrintConfig)
	}
	c.raw = true // nothing but the protocol goes to stdout, and errors are for people
	if m.HTTP != "" {
		return m.overHTTP(c, service{m.mcpFlags, m.logFlags, m.HTTP, false})
	}
	s, err := c.staying(vault.Agent)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	s.EmbedInBackground()
	c.openLog(s, m.LogLevel)
	defer func() { err = errors.Join(err, c.closeLog()) }()
	o := m.options(c)
	if o.Sees == vault.Private && o.User == "" {
		o.User = s.Config().GitUser(c.ctx)
	}
	o.Observe = c.observe
	server, err := mcp.New(s, o)
	if err != nil {
		return mcpUsage(err)
	}
	defer c.indexInBackground(s)()
	err = server.ServeStdio(c.ctx, c.in, c.out)
	if c.ctx.Err() != nil {
		return nil // asked to end
	}
	return err
}

func (m mcpFlags) options(c *cli) mcp.Options {
	return mcp.Options{ReadOnly: m.ReadOnly, Tools: m.Tools, Agent: cmp.Or(m.Agent, os.Getenv(agentVariable)),
		Sees: m.Visibility, User: m.User, Log: c.log}
}

// observe logs a call.
func (c *cli) observe(call mcp.Call) {
	if l := c.logged.Load(); l != nil {
		l.call(call)
	}
}

// mcpUsage is the error of flags that no server can be made of.
func mcpUsage(err error) error {
	return &vault.Error{Code: vault.Usage, Message: err.Error(), Hint: "tools: " + strings.Join(toolNames(), ", ")}
}

// indexInBackground derives what the default view lacks. The function that it
// returns ends that and waits for its end.
func (c *cli) indexInBackground(s *vault.Service) (stop func()) {
	indexed := make(chan struct{})
	ctx, cancel := context.WithCancel(c.ctx)
	go func() {
		defer close(indexed)
		op, _ := vault.FindOp("reindex")
		if _, err := s.Do(ctx, op, nil, nil); err != nil && ctx.Err() == nil {
			c.log("index: %v", err)
		}
	}()
	return func() {
		cancel()
		<-indexed
	}
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
