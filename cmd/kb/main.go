// Command kb is a knowledge base over git repositories of Markdown notes, for
// people and for agents. Its reading commands are the operations of package
// vault; `kb mcp` serves the same operations to agents.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"regexp"
	"slices"
	"sync/atomic"
	"syscall"

	"github.com/alecthomas/kong"

	"kb/vault"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	status := run(ctx, os.Args[1:], stdio{os.Stdin, os.Stdout, os.Stderr})
	stop()
	os.Exit(status)
}

// interrupted is the exit status after Ctrl+C.
const interrupted = 130

// stdio is what a command reads and writes.
type stdio struct {
	in  *os.File
	out *os.File
	err *os.File
}

// run executes one command line and returns its exit status.
func run(ctx context.Context, args []string, io stdio) int {
	c := &cli{stdio: io, ctx: ctx}
	err := c.execute(args)
	if errors.Is(ctx.Err(), context.Canceled) && err != nil {
		return interrupted
	}
	if err == nil {
		return c.status
	}
	return c.fail(err)
}

// cli is one command line at work.
type cli struct {
	stdio
	ctx    context.Context
	flags  globals
	parser *kong.Kong
	ops    map[string]*opCommand // by command name
	status int                   // to exit with when nothing failed
	raw    bool                  // the command prints text unless --json
	page   bool                  // a terminal shows the text page by page
	logged atomic.Pointer[logFile]
}

// globals are the flags that every command takes.
type globals struct {
	Config   string `help:"Configuration file." placeholder:"FILE" short:"c"`
	Vault    string `help:"Directory of the vault, instead of the current one." placeholder:"DIR" short:"C"`
	CacheDir string `help:"Where derived data is kept." placeholder:"DIR"`
	JSON     bool   `help:"Print JSON, also on a terminal." xor:"form"`
	Text     bool   `help:"Print text, also into a pipe." xor:"form"`
	Quiet    bool   `help:"No progress and no notices." short:"q"`
	NoColor  bool   `help:"No colour."`
	Verbose  bool   `help:"Say on stderr what happens inside." short:"v"`
}

// commands are those that are not operations of a vault.
type commands struct {
	globals
	MCP        mcpCmd        `cmd:"" name:"mcp" help:"Serve the vault to an agent, on stdin and stdout." group:"serve"`
	Serve      serveCmd      `cmd:"" help:"Serve the vault to agents over HTTP, and own its derived data." group:"serve"`
	Token      tokenCmd      `cmd:"" help:"Make, list and revoke the tokens of agents that come over HTTP." group:"serve"`
	Site       siteCmd       `cmd:"" help:"Make a static site of the vault, serve and check it." group:"tend"`
	Add        addCmd        `cmd:"" help:"Bring in files, web pages and conversations, as notes on a draft." group:"write"`
	Sync       syncCmd       `cmd:"" help:"Ask the web pages and feeds that notes were made of whether they changed." group:"write"`
	Verify     verifyCmd     `cmd:"" help:"Check the citations and quotes of a text." group:"read"`
	Eval       evalCmd       `cmd:"" help:"Measure search quality on judged queries." group:"tend"`
	Model      modelCmd      `cmd:"" help:"Install embedding models, for search by meaning." group:"tend"`
	Init       initCmd       `cmd:"" help:"Write a commented kb.yaml." group:"tend"`
	Config     configCmd     `cmd:"" name:"config" help:"Show the configuration as it is understood." group:"tend"`
	Completion completionCmd `cmd:"" help:"Print the completion script of a shell." group:"about"`
	Complete   completeCmd   `cmd:"" hidden:"" passthrough:"" help:"Complete a command line."`
	Help       helpCmd       `cmd:"" help:"Show help, of a command with examples." group:"about"`
	Version    versionCmd    `cmd:"" help:"Show the version." group:"about"`
}

func (c *cli) execute(args []string) error {
	var grammar struct{ commands }
	if err := c.buildParser(&grammar); err != nil {
		return err
	}
	switch {
	case len(args) == 0:
		args = []string{"--help"}
	case args[0] == "--version": // as other programs are asked
		args = slices.Concat([]string{"version"}, args[1:])
	}
	exited := false
	c.parser.Exit = func(status int) { exited, c.status = true, status }
	parsed, err := c.parser.Parse(args)
	c.flags = grammar.globals
	if exited {
		return nil
	}
	if err != nil {
		c.flags.JSON, c.flags.Text = slices.Contains(args, "--json"), slices.Contains(args, "--text")
		return c.usageError(err)
	}
	if op := c.ops[commandPath(parsed.Selected())]; op != nil {
		return c.runOp(op)
	}
	return parsed.Run(c)
}

// fail reports err as the command's form asks, and returns its exit status.
func (c *cli) fail(err error) int {
	e := forPeople(vault.AsError(err))
	if c.wantsJSON() {
		raw, merr := vault.MarshalResult(map[string]*vault.Error{"error": e})
		if merr == nil {
			fmt.Fprintf(c.err, "%s\n", raw)
			return e.Code.ExitStatus()
		}
	}
	fmt.Fprintf(c.err, "kb: %s\n", oneLine(e.Message))
	if e.Hint != "" {
		fmt.Fprintf(c.err, "kb: hint: %s\n", oneLine(e.Hint))
	}
	return e.Code.ExitStatus()
}

var toolName = regexp.MustCompile(`\b(kb_[a-z_]+|get_document|list_sections)\b`)

// forPeople is an error whose hint names commands where it named tools.
func forPeople(e *vault.Error) *vault.Error {
	out := *e
	out.Hint = toolName.ReplaceAllStringFunc(e.Hint, func(name string) string {
		op, ok := vault.FindOp(name)
		if !ok {
			return name
		}
		return "kb " + op.Command()
	})
	return &out
}

// wantsJSON reports whether the answer, or the error, is to be JSON.
func (c *cli) wantsJSON() bool {
	switch {
	case c.flags.JSON:
		return true
	case c.flags.Text || c.raw:
		return false
	}
	return !isTerminal(c.out)
}

// service opens the vault that the flags name, for a person.
func (c *cli) service(a vault.Audience) (*vault.Service, error) {
	cfg, err := vault.LoadConfig(c.locate())
	if err != nil {
		return nil, err
	}
	return vault.NewService(cfg, a, c.log)
}

// staying is service for a process that stays: what kb.yaml says counts when it is
// saved.
func (c *cli) staying(a vault.Audience) (*vault.Service, error) {
	return c.following(func() (*vault.Config, error) { return vault.LoadConfig(c.locate()) }, a)
}

func (c *cli) following(load func() (*vault.Config, error), a vault.Audience) (*vault.Service, error) {
	cfg, err := load()
	if err != nil {
		return nil, err
	}
	s, err := vault.NewService(cfg, a, c.log)
	if err == nil {
		s.Follow(load)
	}
	return s, err
}

// locate is where the flags say that the configuration is.
func (c *cli) locate() vault.Locate {
	return vault.Locate{File: c.flags.Config, Dir: c.flags.Vault, CacheDir: c.flags.CacheDir}
}

// log takes what goes on inside; most of it is for --verbose only.
func (c *cli) log(format string, args ...any) {
	if l := c.logged.Load(); l != nil {
		l.message(fmt.Sprintf(format, args...))
	}
	if level := os.Getenv("KB_LOG_LEVEL"); c.flags.Verbose || level == "debug" || level == "info" {
		fmt.Fprintf(c.err, "kb: "+format+"\n", args...)
	}
}

// runOp runs an operation and prints its result.
func (c *cli) runOp(cmd *opCommand) (err error) {
	c.raw = cmd.op.Raw || cmd.given("format") // what names a form wants that
	c.page = cmd.op.Pages && isTerminal(c.out) && !cmd.given("no_pager")
	args, err := c.arguments(cmd)
	if err != nil {
		return err
	}
	s, err := c.service(vault.Person)
	if err != nil && cmd.op.Name == "kb_doctor" {
		found := vault.Undiagnosed(err)
		c.status = found.ExitCode().ExitStatus()
		return c.print(nil, found)
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	return c.do(s, cmd.op, args)
}

func (c *cli) do(s *vault.Service, op *vault.Op, args json.RawMessage) error {
	r, err := c.result(s, op, args)
	if err != nil {
		return err
	}
	return c.conclude(s.Config(), r)
}

// result runs an operation, and shows how far it is.
func (c *cli) result(s *vault.Service, op *vault.Op, args json.RawMessage) (any, error) {
	bar := c.newProgress()
	defer bar.finish()
	return s.DoAs(c.ctx, vault.Caller{Agent: os.Getenv(agentVariable)}, op, args, bar.report)
}

// conclude prints a result, and exits with the status that it asks for.
func (c *cli) conclude(cfg *vault.Config, r any) error {
	if x, ok := r.(interface{ ExitCode() vault.Code }); ok && x.ExitCode() != "" {
		c.status = x.ExitCode().ExitStatus()
	}
	return c.print(cfg, r)
}

// print writes a result in the form that is wanted.
func (c *cli) print(cfg *vault.Config, r any) error {
	t, ok := r.(vault.Texter)
	if c.wantsJSON() || !ok {
		raw, err := vault.MarshalResult(r)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(c.out, "%s\n", raw)
		return err
	}
	out := &errWriter{w: c.out}
	var long bytes.Buffer
	if c.page {
		out.w = &long
	}
	text := c.text(out)
	if text.Color {
		text.FileURL = fileURLs(cfg)
	}
	t.Text(text)
	if c.page {
		return c.show(long.Bytes())
	}
	return out.err
}

// errWriter remembers the first error, for writers that do not look at it.
type errWriter struct {
	w   io.Writer
	err error
}

func (e *errWriter) Write(p []byte) (int, error) {
	if e.err != nil {
		return 0, e.err
	}
	n, err := e.w.Write(p)
	e.err = err
	return n, err
}
