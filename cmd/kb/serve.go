package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"
	"time"

	"kb/internal/access"
	"kb/internal/httpd"
	"kb/internal/journal"
	"kb/mcp"
	"kb/vault"
)

// serveCmd is `kb serve`: a process that stays, and owns the derived data for all
// others.
type serveCmd struct {
	mcpFlags
	httpFlags
	logFlags
	HTTP string `name:"http" help:"Address to listen at (default ${default})." default:"127.0.0.1:7420" placeholder:"HOST:PORT"`
}

// Run serves until it is told to end.
func (s serveCmd) Run(c *cli) error {
	return s.overHTTP(c, service{s.mcpFlags, s.logFlags, s.HTTP, true})
}

// service is what is served over HTTP, and where.
type service struct {
	mcpFlags
	logFlags
	address string
	stays   bool // it owns the derived data whenever it can
}

// httpFlags say how a vault is served over HTTP.
type httpFlags struct {
	TokenFile      string        `help:"Only callers with a token of this file are served; kb token makes them." placeholder:"FILE"`
	JWTIssuer      string        `name:"jwt-issuer" help:"Callers with a token of this issuer are served, too." placeholder:"URL"`
	JWTAudience    string        `name:"jwt-audience" help:"What such a token must be for: this server." placeholder:"NAME"`
	JWKS           string        `name:"jwks" help:"The issuer's keys: a file, or a URL that is asked for them." placeholder:"FILE-OR-URL"`
	AllowReview    bool          `help:"Callers with the scope review may merge and reject drafts of others."`
	AllowHost      []string      `help:"Host name under which clients come, beside loopback addresses." placeholder:"NAME"`
	PublicURL      string        `name:"public-url" help:"Where clients reach the server, if a proxy stands before it." placeholder:"URL"`
	TLSCert        string        `name:"tls-cert" help:"Certificate to serve with; it is read again when it changes." placeholder:"FILE"`
	TLSKey         string        `name:"tls-key" help:"Its key." placeholder:"FILE"`
	Rate           float64       `help:"Requests per second with one token, 0 for any number (default ${default})." default:"50" placeholder:"N"`
	Concurrency    int           `help:"Calls at a time with one token, 0 for any number (default ${default})." default:"32" placeholder:"N"`
	CallTimeout    time.Duration `help:"How long one call may take (default ${default})." default:"2m" placeholder:"TIME"`
	Audit          string        `help:"Write who called what to this file, as lines of JSON: never what they wrote." placeholder:"FILE"`
	SessionTimeout time.Duration `help:"End sessions that are idle for so long (default ${default})." default:"30m" placeholder:"TIME"`
	MaxSessions    int           `help:"Sessions that may be open at a time (default ${default})." default:"1000" placeholder:"N"`
}

// overHTTP serves until the process is told to end.
func (h httpFlags) overHTTP(c *cli, m service) (err error) {
	c.raw = true
	s, err := c.served()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	options, err := h.server(c, m.address, s.Config().Offline)
	if err != nil {
		return err
	}
	s.EmbedInBackground()
	c.openLog(s, m.LogLevel)
	defer func() { err = errors.Join(err, c.closeLog()) }()
	handler, end, err := h.handler(c, s, m.options(c), &options)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, end()) }()
	l, err := net.Listen("tcp", m.address)
	if err != nil {
		return &vault.Error{Code: vault.Internal, Message: err.Error(), Hint: "--http 127.0.0.1:0 takes a free port"}
	}
	server := httpd.New(handler, options)
	fmt.Fprintf(c.out, "%s://%s/mcp\n", h.scheme(), l.Addr())
	defer c.indexInBackground(s)()
	if m.stays {
		defer c.ownInBackground(s)()
	}
	return server.Serve(c.ctx, l)
}

// handler is what answers messages, counted and written down as the flags say.
func (h httpFlags) handler(c *cli, s *vault.Service, offers mcp.Options, o *httpd.Options) (_ *mcp.HTTP, end func() error, err error) {
	st := &status{svc: s}
	o.Metrics = httpd.NewMetrics(vault.Version, st.state)
	end = func() error { return nil }
	told := []func(mcp.Call){c.observe, func(call mcp.Call) { o.Metrics.Call(call.Tool, string(call.Code), call.Took) }}
	if h.Audit != "" {
		out, err := journal.Open(h.Audit, auditBytes, auditFiles)
		if err != nil {
			return nil, nil, usagef("a file that can be written", "audit: %v", err)
		}
		a := &audit{out, c.log}
		told, o.Denied, end = append(told, a.call), a.denied, out.Close
	}
	offers.Review, offers.Deadline, offers.Observe = h.AllowReview, h.CallTimeout, observers(told...)
	handler, err := mcp.NewHTTP(s, offers, mcp.HTTPOptions{SessionTimeout: h.SessionTimeout, MaxSessions: h.MaxSessions})
	if err != nil {
		return nil, nil, errors.Join(mcpUsage(err), end())
	}
	st.sessions = handler.Sessions
	return handler, end, nil
}

func (h httpFlags) scheme() string {
	if h.TLSCert != "" {
		return "https"
	}
	return "http"
}

// server is what the flags make of a server at an address.
func (h httpFlags) server(c *cli, address string, offline bool) (o httpd.Options, err error) {
	if err := h.check(address); err != nil {
		return o, err
	}
	if offline && strings.Contains(h.JWKS, "://") {
		return o, usagef("--jwks FILE holds the keys", "$KB_OFFLINE is set: keys are not fetched from %s", h.JWKS)
	}
	o = httpd.Options{AllowHosts: h.AllowHost, Limits: httpd.Limits{Rate: h.Rate, Concurrent: h.Concurrency}, Log: c.log}
	if o.Access, err = h.access(c); err != nil {
		return o, err
	}
	if h.TLSCert == "" {
		if !httpd.IsLoopback(address) {
			c.notice("tokens and notes travel in the clear: --tls-cert, or a proxy before it, hides them")
		}
		return o, nil
	}
	if o.TLS, err = httpd.TLSFiles(h.TLSCert, h.TLSKey); err != nil {
		return o, usagef("--tls-cert and --tls-key: a certificate in PEM, and its key", "certificate: %v", err)
	}
	return o, nil
}

// check refuses flags that contradict each other, and an address that others
// reach unless they need a token.
func (h httpFlags) check(address string) error {
	if _, _, err := net.SplitHostPort(address); err != nil {
		return usagef("127.0.0.1:7420, or 127.0.0.1:0 for a free port", "address %q: %v", address, err)
	}
	if u, err := url.Parse(h.PublicURL); h.PublicURL != "" && (err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http") {
		return usagef("such as https://kb.example.org", "public URL %q", h.PublicURL)
	}
	switch {
	case (h.TLSCert == "") != (h.TLSKey == ""):
		return usagef("give both", "--tls-cert and --tls-key belong together")
	case h.AllowReview && !h.hasTokens():
		return usagef("--token-file FILE; kb token create NAME --scopes review", "--allow-review takes tokens: who reviews must be known")
	case !httpd.IsLoopback(address) && !h.hasTokens():
		return usagef("--token-file FILE serves callers with a token (kb token create NAME --token-file FILE); 127.0.0.1:7420 serves this machine alone",
			"address %q is reached by other machines", address)
	}
	return nil
}

func (h httpFlags) hasTokens() bool { return h.TokenFile != "" || h.JWTIssuer != "" }

// access says who may call; nil is everybody on this machine.
func (h httpFlags) access(c *cli) (*httpd.Access, error) {
	a := &httpd.Access{Needs: mcp.Needs, URL: h.PublicURL}
	var all access.Verifiers
	if h.TokenFile != "" {
		tokens := &access.Tokens{Path: h.TokenFile}
		if err := tokens.Check(); err != nil {
			return nil, usagef("kb token create NAME --token-file "+h.TokenFile, "token file: %v", err)
		}
		all = append(all, tokens)
	}
	if h.JWTIssuer != "" || h.JWTAudience != "" || h.JWKS != "" {
		v, err := access.NewJWT(c.ctx, access.Issuer{URL: h.JWTIssuer, Audience: h.JWTAudience, Keys: h.JWKS, Log: c.log})
		if err != nil {
			return nil, usagef("--jwt-issuer URL --jwt-audience NAME --jwks FILE-OR-URL", "%v", err)
		}
		all, a.Issuers = append(all, v), []string{h.JWTIssuer}
	}
	if len(all) == 0 {
		return nil, nil
	}
	a.Verifier = all
	return a, nil
}

func usagef(hint, format string, args ...any) error {
	return &vault.Error{Code: vault.Usage, Message: fmt.Sprintf(format, args...), Hint: hint}
}

// notice tells a person who did not ask for quiet.
func (c *cli) notice(format string, args ...any) {
	if !c.flags.Quiet {
		fmt.Fprintf(c.err, "kb: "+format+"\n", args...)
	}
}

// served opens the vault that the flags name, for agents elsewhere.
func (c *cli) served() (*vault.Service, error) {
	load := func() (*vault.Config, error) {
		cfg, err := vault.LoadConfig(c.locate())
		if err != nil {
			return nil, err
		}
		return cfg.Committed(), nil
	}
	return c.following(load, vault.Agent)
}

// claim is how often a process that stays tries to become the owner.
const claim = 2 * time.Second

// ownInBackground makes this process the owner of the derived data as soon as
// nobody else is. The function that it returns ends that, and waits for its end.
func (c *cli) ownInBackground(s *vault.Service) (stop func()) {
	ctx, cancel := context.WithCancel(c.ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for ctx.Err() == nil {
			if _, err := s.Own(ctx); err != nil && ctx.Err() == nil {
				c.log("own: %v", err)
			}
			select {
			case <-time.After(claim):
			case <-ctx.Done():
			}
		}
	}()
	return func() {
		cancel()
		<-ended
	}
}
