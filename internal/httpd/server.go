// Package httpd serves a handler of JSON-RPC messages over HTTP to callers that
// are not to be trusted: it checks hosts and origins, bounds what a request may
// cost, tells who calls, counts, and ends without breaking off calls.
//
// It knows HTTP and the outer form of a message. It knows nothing of what the
// messages ask for.
package httpd

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/url"
	"runtime/debug"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/net/netutil"

	"kb/internal/access"
)

// Options of a server. The zero value serves this machine, without tokens.
type Options struct {
	AllowHosts []string                         // names, or name:port, under which it is reached beside loopback addresses
	Access     *Access                          // nil lets everybody call who reaches it
	Limits     Limits                           // of each token
	Metrics    *Metrics                         // shown at /metrics; may be nil
	Denied     func(*access.Identity, int)      // hears of requests to /mcp that were not handled, by status; may be nil
	MaxBody    int64                            // of a request, in bytes: 4 MiB if 0
	Drain      time.Duration                    // how long calls may go on after the end: 10 s if 0
	Recheck    time.Duration                    // how often the token of an open stream is looked at: 15 s if 0
	TLS        *tls.Config                      // nil serves in the clear
	Log        func(format string, args ...any) // may be nil
}

// times are how long a peer may take. A call's answer may take as long as the
// call; what is bounded is the time in which nothing moves.
type times struct{ head, body, write, idle time.Duration }

var patience = times{head: 10 * time.Second, body: 30 * time.Second, write: 30 * time.Second, idle: 2 * time.Minute}

const (
	maxHeader      = 64 << 10
	maxConnections = 4096
)

// Server serves one handler. Make it with [New].
type Server struct {
	o       Options
	times   times
	hosts   hosts
	callers callers
	handler http.Handler

	draining atomic.Bool
	streams  context.Context // of answers without an end; it ends when the server begins to
	endAll   context.CancelFunc
}

// New makes a server that has messages to /mcp handled.
func New(messages http.Handler, o Options) *Server {
	o.complete()
	s := &Server{o: o, times: patience, hosts: newHosts(o.names()), callers: callers{limits: o.Limits, known: map[string]*caller{}}}
	s.streams, s.endAll = context.WithCancel(context.Background())
	mux := http.NewServeMux()
	mux.Handle("/mcp", s.messages(messages))
	mux.HandleFunc("GET /healthz", s.health)
	mux.HandleFunc("GET "+metadataPath, s.metadata)
	mux.HandleFunc("GET "+metadataPath+"/", s.metadata)
	s.handler = s.hosts.guard(mux)
	if o.Metrics != nil {
		mux.HandleFunc("GET /metrics", s.metrics)
		s.handler = o.Metrics.counting(s.handler)
	}
	s.handler = s.recovering(s.handler)
	return s
}

func (o *Options) complete() {
	if o.Log == nil {
		o.Log = func(string, ...any) {}
	}
	if o.MaxBody == 0 {
		o.MaxBody = 4 << 20
	}
	if o.Drain == 0 {
		o.Drain = 10 * time.Second
	}
	if o.Recheck == 0 {
		o.Recheck = 15 * time.Second
	}
}

// names are those under which the server is reached.
func (o *Options) names() []string {
	names := o.AllowHosts
	if o.Access != nil && o.Access.URL != "" {
		if u, err := url.Parse(o.Access.URL); err == nil {
			names = append(slices.Clip(names), u.Host)
		}
	}
	return names
}

// ServeHTTP implements [http.Handler].
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.handler.ServeHTTP(w, r) }

// Serve serves on l until ctx ends. Then it takes no more calls, lets those that
// run finish, for a while, and returns nil.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	server := &http.Server{
		Handler:           s,
		ReadHeaderTimeout: s.times.head,
		ReadTimeout:       s.times.body, // until a message is there; see [Server.body]
		IdleTimeout:       s.times.idle,
		MaxHeaderBytes:    maxHeader,
		TLSConfig:         s.o.TLS,
		ErrorLog:          log.New(lines(s.o.Log), "", 0),
	}
	l = netutil.LimitListener(l, maxConnections)
	ended := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(ended)
		s.drain(server)
	})
	var err error
	if s.o.TLS != nil {
		err = server.ServeTLS(l, "", "")
	} else {
		err = server.Serve(l)
	}
	if !stop() {
		<-ended
	}
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

// drain ends a server: streams at once, calls when they are done or have had
// their time.
func (s *Server) drain(server *http.Server) {
	s.draining.Store(true)
	s.endAll()
	ctx, cancel := context.WithTimeout(context.Background(), s.o.Drain)
	defer cancel()
	if err := server.Shutdown(ctx); err != nil {
		s.o.Log("http: calls were broken off after %v", s.o.Drain)
		server.Close()
	}
}

// health says whether the server takes calls.
func (s *Server) health(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	if s.draining.Load() {
		w.WriteHeader(http.StatusServiceUnavailable)
		io.WriteString(w, `{"status":"ending"}`+"\n")
		return
	}
	io.WriteString(w, `{"status":"ok"}`+"\n")
}

// recovering makes of a panic the end of its request alone.
func (s *Server) recovering(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() {
			p := recover()
			if p == nil {
				return
			}
			if p != http.ErrAbortHandler {
				s.o.Log("http: panic: %v\n%s", p, debug.Stack())
			}
			panic(http.ErrAbortHandler) // the answer may have begun: its connection ends with it
		}()
		next.ServeHTTP(w, r)
	})
}

// lines is a log that is written to.
type lines func(format string, args ...any)

func (f lines) Write(b []byte) (int, error) {
	f("http: %s", strings.TrimSpace(string(b)))
	return len(b), nil
}
