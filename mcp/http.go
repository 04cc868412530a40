package mcp

import (
	"context"
	"log/slog"
	"net/http"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"kb/vault"
)

// HTTPOptions bound what clients over HTTP may hold open.
type HTTPOptions struct {
	SessionTimeout time.Duration // after which an idle session ends: 30 minutes if 0
	MaxSessions    int           // at a time: 1000 if 0
	MaxEvents      int           // bytes of answers kept for clients that come back for them: 16 MiB if 0
}

// HTTP is a vault's operations over streamable HTTP, in every revision of the
// protocol. It is for a handler before it to say who calls, and to bound what
// they send.
type HTTP struct{ eras *eras }

// NewHTTP makes an HTTP of a vault.
func NewHTTP(svc *vault.Service, o Options, h HTTPOptions) (*HTTP, error) {
	s, err := New(svc, o)
	if err != nil {
		return nil, err
	}
	return &HTTP{newEras(func(*http.Request) *sdk.Server { return s.sdk }, h)}, nil
}

// ServeHTTP implements [http.Handler].
func (h *HTTP) ServeHTTP(w http.ResponseWriter, r *http.Request) { h.eras.ServeHTTP(w, r) }

// Sessions is how many sessions are open.
func (h *HTTP) Sessions() int { return h.eras.sessions.count() }

// firstStateless is the first revision of the protocol that has no sessions.
const firstStateless = "2026-07-28"

// eras serves servers of the SDK to clients of both eras of the protocol: with
// sessions, and without.
type eras struct {
	stateful  http.Handler
	stateless http.Handler
	sessions  *sessions
}

func newEras(pick func(*http.Request) *sdk.Server, o HTTPOptions) *eras {
	if o.SessionTimeout == 0 {
		o.SessionTimeout = 30 * time.Minute
	}
	if o.MaxSessions == 0 {
		o.MaxSessions = 1000
	}
	if o.MaxEvents == 0 {
		o.MaxEvents = 16 << 20
	}
	events := sdk.NewMemoryEventStore(nil)
	events.SetMaxBytes(o.MaxEvents)
	open := &sessions{EventStore: events, most: o.MaxSessions, open: map[string]bool{}}
	options := sdk.StreamableHTTPOptions{
		Logger: slog.New(slog.DiscardHandler),

		// Hosts and lengths are checked before, and for every path.
		DisableLocalhostProtection: true,
		MaxRequestBodyBytes:        -1,
	}
	stateful, stateless := options, options
	stateful.EventStore, stateful.SessionTimeout = open, o.SessionTimeout
	stateless.Stateless, stateless.PropagateRequestCancellation = true, true
	return &eras{
		stateful:  sdk.NewStreamableHTTPHandler(pick, &stateful),
		stateless: sdk.NewStreamableHTTPHandler(pick, &stateless),
		sessions:  open,
	}
}

// ServeHTTP implements [http.Handler].
func (e *eras) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Mcp-Protocol-Version") >= firstStateless {
		e.stateless.ServeHTTP(w, r)
		return
	}
	if r.Method == http.MethodPost && r.Header.Get("Mcp-Session-Id") == "" {
		leave, ok := e.sessions.enter()
		if !ok {
			w.Header().Set("Retry-After", "60")
			http.Error(w, "too many sessions are open", http.StatusServiceUnavailable)
			return
		}
		defer leave()
	}
	e.stateful.ServeHTTP(w, r)
}

// sessions counts the sessions that are open: the store of a session's events
// hears of its begin and its end.
type sessions struct {
	sdk.EventStore
	most int

	mu      sync.Mutex
	opening int
	open    map[string]bool
}

// enter lets a request open a session, unless there are enough.
func (s *sessions) enter() (leave func(), ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.open)+s.opening >= s.most {
		return nil, false
	}
	s.opening++
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.opening--
	}, true
}

func (s *sessions) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.open)
}

// Open implements [sdk.EventStore].
func (s *sessions) Open(ctx context.Context, session, stream string) error {
	s.mu.Lock()
	s.open[session] = true
	s.mu.Unlock()
	return s.EventStore.Open(ctx, session, stream)
}

// SessionClosed implements [sdk.EventStore].
func (s *sessions) SessionClosed(ctx context.Context, session string) error {
	s.mu.Lock()
	delete(s.open, session)
	s.mu.Unlock()
	return s.EventStore.SessionClosed(ctx, session)
}
