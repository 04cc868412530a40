package main

import (
	"errors"
	"fmt"
	"net"
	"time"

	"kb/internal/httpd"
	"kb/mcp"
	"kb/vault"
)

// serveCmd is `kb serve`: a process that stays, and owns the derived data for all
// others.
type serveCmd struct {
	mcpFlags
	httpFlags
	HTTP string `name:"http" help:"Address to listen at (default ${default})." default:"127.0.0.1:7420" placeholder:"HOST:PORT"`
}

// Run serves until it is told to end.
func (s serveCmd) Run(c *cli) error { return s.overHTTP(c, s.mcpFlags, s.HTTP, true) }

// httpFlags say how a vault is served over HTTP.
type httpFlags struct {
	AllowHost      []string      `help:"Host name under which clients come, beside loopback addresses." placeholder:"NAME"`
	SessionTimeout time.Duration `help:"End sessions that are idle for so long (default ${default})." default:"30m" placeholder:"TIME"`
	MaxSessions    int           `help:"Sessions that may be open at a time (default ${default})." default:"1000" placeholder:"N"`
}

// overHTTP serves until the process is told to end. One that stays owns the
// derived data whenever it can.
func (h httpFlags) overHTTP(c *cli, m mcpFlags, address string, stays bool) (err error) {
	c.raw = true
	if err := h.check(address); err != nil {
		return err
	}
	s, err := c.served()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	s.EmbedInBackground()
	handler, err := mcp.NewHTTP(s, m.options(c), mcp.HTTPOptions{SessionTimeout: h.SessionTimeout, MaxSessions: h.MaxSessions})
	if err != nil {
		return mcpUsage(err)
	}
	l, err := net.Listen("tcp", address)
	if err != nil {
		return &vault.Error{Code: vault.Internal, Message: err.Error(), Hint: "--http 127.0.0.1:0 takes a free port"}
	}
	server := httpd.New(handler, httpd.Options{AllowHosts: h.AllowHost, Log: c.log})
	fmt.Fprintf(c.out, "http://%s/mcp\n", l.Addr())
	defer c.indexInBackground(s)()
	if stays {
		defer c.ownInBackground(s)()
	}
	return server.Serve(c.ctx, l)
}

// check refuses an address that others reach.
func (h httpFlags) check(address string) error {
	if _, _, err := net.SplitHostPort(address); err != nil {
		return &vault.Error{Code: vault.Usage, Message: fmt.Sprintf("address %q: %v", address, err), Hint: "127.0.0.1:7420, or 127.0.0.1:0 for a free port"}
	}
	if httpd.IsLoopback(address) {
		return nil
	}
	return &vault.Error{Code: vault.Usage, Message: fmt.Sprintf("address %q is reached by other machines", address), Hint: "127.0.0.1:7420 serves this machine alone"}
}

// served opens the vault that the flags name, for agents elsewhere.
func (c *cli) served() (*vault.Service, error) {
	cfg, err := vault.LoadConfig(c.locate())
	if err != nil {
		return nil, err
	}
	return vault.NewService(cfg.Committed(), vault.Agent, c.log)
}

// ownInBackground makes this process the owner of the derived data as soon as
// nobody else is. The function that it returns ends that.
func (c *cli) ownInBackground(s *vault.Service) (stop func()) {
	done, ended := make(chan struct{}), make(chan struct{})
	tick := time.NewTicker(2 * time.Second)
	go func() {
		defer close(ended)
		for {
			if _, err := s.Own(c.ctx); err != nil && c.ctx.Err() == nil {
				c.log("own: %v", err)
			}
			select {
			case <-tick.C:
			case <-done:
				return
			}
		}
	}()
	return func() {
		tick.Stop()
		close(done)
		<-ended
	}
}
