package mcp

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"kb/internal/access"
	"kb/vault"
)

// Options narrow what a server offers.
type Options struct {
	ReadOnly bool     // no tool that writes, nor what only a writer needs
	Review   bool     // tools that merge and reject drafts, for those who may; see [NewHTTP]
	Tools    []string // only these; all when empty
	Agent    string   // who the agent is, in what it writes: "NAME" or "NAME <ADDRESS>"; the client's name when empty

	Sees vault.Visibility // how far the client sees; an agent's usual sight when empty
	User string           // whose private notes it sees, if it sees private ones

	Deadline time.Duration // of one call; none when 0
	Log      func(format string, args ...any)
	Observe  func(Call) // hears of every call; it returns soon
}

// Server is a vault's operations as an MCP server. Make one with [New].
type Server struct {
	svc      *vault.Service
	who      vault.Caller // that every call is made for, but for its client
	deadline time.Duration
	log      func(format string, args ...any)
	observe  func(Call)
	sdk      *sdk.Server
	scrub    scrubber

	promptsWatched *promptWatch
}

// New makes a server. It touches neither repository nor store: those are opened
// by the first call.
func New(svc *vault.Service, o Options) (*Server, error) {
	if o.Log == nil {
		o.Log = func(string, ...any) {}
	}
	if o.Observe == nil {
		o.Observe = func(Call) {}
	}
	writes := !o.ReadOnly && (len(o.Tools) == 0 || slices.Contains(o.Tools, "kb_write"))
	s := &Server{svc: svc, who: vault.Caller{Agent: o.Agent, Sees: o.Sees, User: o.User}, deadline: o.Deadline, log: o.Log, observe: o.Observe, scrub: newScrubber(svc.Config())}
	watched := newSubscriptions(s)
	s.promptsWatched = &promptWatch{s: s, knows: map[*sdk.ServerSession]known{}}
	s.sdk = sdk.NewServer(
		&sdk.Implementation{Name: "kb", Title: "kb knowledge base", Version: vault.Version},
		&sdk.ServerOptions{
			Instructions: Instructions(svc.Config(), writes),
			Logger:       slog.New(slog.DiscardHandler),
			PageSize:     1000,

			CompletionHandler:  s.complete,
			SubscribeHandler:   watched.subscribe,
			UnsubscribeHandler: watched.unsubscribe,

			// What is offered and read depends on who asks.
			SetCacheable: func(_ context.Context, _ sdk.Request, c *sdk.Cacheable) { c.CacheScope = "private" },
		})
	s.sdk.AddReceivingMiddleware(s.recovering, s.ownPrompts)
	known := map[string]bool{}
	for _, op := range vault.Ops() {
		if op.People && !op.Review {
			continue
		}
		known[toolName(op)] = true
		if o.offers(op) {
			s.addTool(op)
		}
	}
	for _, name := range o.Tools {
		if !known[name] {
			return nil, fmt.Errorf("no tool %q", name)
		}
	}
	s.addResources()
	s.addConventions()
	s.addPrompts(o.ReadOnly)
	return s, nil
}

// offers reports whether a server has op as a tool.
func (o Options) offers(op *vault.Op) bool {
	if len(o.Tools) > 0 && !slices.Contains(o.Tools, toolName(op)) {
		return false
	}
	switch {
	case op.Review:
		return o.Review
	case op.Writes:
		return !o.ReadOnly
	case op.Drafts:
		return !o.ReadOnly || o.Review
	}
	return true
}

// toolName is the name of an operation as a tool: those that are commands first
// have one of their own.
func toolName(op *vault.Op) string {
	if op.Review {
		return "kb_" + op.Name
	}
	return op.Name
}

// ServeStdio speaks the protocol on in and out until in ends or ctx does.
// Nothing else may write to out.
func (s *Server) ServeStdio(ctx context.Context, in io.ReadCloser, out io.WriteCloser) error {
	return s.sdk.Run(ctx, &sdk.IOTransport{Reader: in, Writer: out})
}

func (s *Server) addTool(op *vault.Op) {
	no := false
	annotations := &sdk.ToolAnnotations{ReadOnlyHint: !op.Writes, IdempotentHint: !op.Writes, OpenWorldHint: &no}
	if op.Writes {
		annotations.DestructiveHint = &no // a draft only adds; the hint says nothing of a tool that only reads
	}
	s.sdk.AddTool(&sdk.Tool{
		Name:         toolName(op),
		Title:        op.Title,
		Description:  op.Description,
		InputSchema:  op.InputSchema(),
		OutputSchema: op.OutputSchema(),
		Annotations:  annotations,
	}, func(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		return s.call(ctx, op, req), nil
	})
}

// call runs a tool. Its errors are results: the model can read and mend them.
func (s *Server) call(ctx context.Context, op *vault.Op, req *sdk.CallToolRequest) *sdk.CallToolResult {
	r, err := s.observed(ctx, identityOf(req.Extra), s.caller(req), op, req.Params.Arguments, s.progress(ctx, req))
	if err != nil {
		return s.toolError(err)
	}
	structured, err := vault.MarshalResult(r)
	if err != nil {
		return s.toolError(err)
	}
	var text bytes.Buffer
	if t, ok := r.(vault.Texter); ok {
		t.Text(vault.NewText(&text))
	}
	return &sdk.CallToolResult{
		Content:           []sdk.Content{&sdk.TextContent{Text: strings.TrimRight(text.String(), "\n")}},
		StructuredContent: json.RawMessage(structured),
	}
}

// caller is who calls, in a request of any kind: what stands in the commits that
// the call makes, and what it sees. A token's word counts before the server's
// own, and the client's is none.
func (s *Server) caller(req sdk.Request) vault.Caller {
	c := s.who
	if id := identityOf(req.GetExtra()); id != nil {
		c.Agent, c.Reviews = cmp.Or(id.Author, id.Name), id.Scopes.Has(access.Review)
		if id.Sees != "" {
			c.Sees, c.User = vault.Visibility(id.Sees), id.User
		}
	}
	if r, ok := req.(interface{ ClientInfo() *sdk.Implementation }); ok {
		if info := r.ClientInfo(); info != nil {
			c.Client = strings.TrimSpace(info.Name + " " + info.Version)
		}
	}
	return c
}

// toolError is an error as a model reads it: what failed, the code, and what
// would be right. It never carries structured content.
func (s *Server) toolError(err error) *sdk.CallToolResult {
	e := vault.AsError(err)
	text := fmt.Sprintf("%s (%s)", s.scrub.clean(e.Message), e.Code)
	if e.Hint != "" {
		text += "\nhint: " + s.scrub.clean(e.Hint)
	}
	return &sdk.CallToolResult{IsError: true, Content: []sdk.Content{&sdk.TextContent{Text: text}}}
}

// progress reports to a client that asked for it.
func (s *Server) progress(ctx context.Context, req *sdk.CallToolRequest) vault.Progress {
	token := req.Params.GetProgressToken()
	if token == nil || req.Session == nil {
		return nil
	}
	last := -1.0
	return func(done, total int, what string) {
		if float64(done) <= last {
			return // progress only grows, whatever phase the work is in
		}
		last = float64(done)
		err := req.Session.NotifyProgress(ctx, &sdk.ProgressNotificationParams{
			ProgressToken: token, Progress: float64(done), Total: float64(total), Message: what,
		})
		if err != nil {
			s.log("progress: %v", err)
		}
	}
}

// recovering turns a panic in a handler into an error of that call.
func (s *Server) recovering(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, req sdk.Request) (result sdk.Result, err error) {
		defer func() {
			p := recover()
			if p == nil {
				return
			}
			s.log("panic in %s: %v\n%s", method, p, debug.Stack())
			if _, ok := req.(*sdk.CallToolRequest); ok {
				result, err = s.toolError(fmt.Errorf("%s failed inside kb: a bug; please report it", method)), nil
				return
			}
			err = fmt.Errorf("%s failed inside kb", method)
		}()
		return next(ctx, method, req)
	}
}
