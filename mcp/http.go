package mcp

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"kb/internal/access"
	"kb/vault"
)

// HTTPOptions bound what clients over HTTP may hold open.
type HTTPOptions struct {
	SessionTimeout time.Duration // after which an idle session ends: 30 minutes if 0
	MaxSessions    int           // at a time: 1000 if 0; a token may have a tenth of them
}

// HTTP is a vault's operations over streamable HTTP, in every revision of the
// protocol. It is for a handler before it to say who calls, and to bound what
// they send.
type HTTP struct{ eras *eras }

// NewHTTP makes an HTTP of a vault. Callers are offered what their scopes allow;
// those who are nobody in particular read and draft.
func NewHTTP(svc *vault.Service, o Options, h HTTPOptions) (*HTTP, error) {
	servers := map[access.Scopes]*Server{}
	for scopes := access.Read; scopes <= access.Read|access.Draft|access.Review; scopes++ {
		if !scopes.Has(access.Read) || servers[o.offered(scopes)] != nil {
			continue
		}
		offers := o
		offers.ReadOnly = !o.offered(scopes).Has(access.Draft)
		offers.Review = o.offered(scopes).Has(access.Review)
		s, err := New(svc, offers)
		if err != nil {
			return nil, err
		}
		servers[o.offered(scopes)] = s
	}
	return &HTTP{newEras(func(r *http.Request) *sdk.Server {
		scopes := access.Read | access.Draft
		if id := access.From(r.Context()); id != nil {
			scopes = id.Scopes | access.Read
		}
		return servers[o.offered(scopes)].sdk
	}, h)}, nil
}

// offered are the scopes that o has anything to offer for.
func (o Options) offered(s access.Scopes) access.Scopes {
	if o.ReadOnly {
		s &^= access.Draft | access.Review
	}
	if !o.Review {
		s &^= access.Review
	}
	return s
}

// ServeHTTP implements [http.Handler].
func (h *HTTP) ServeHTTP(w http.ResponseWriter, r *http.Request) { h.eras.ServeHTTP(w, r) }

// Sessions is how many sessions are open.
func (h *HTTP) Sessions() int { return h.eras.events.count() }

// Needs is what a message takes, by its method and the name in its parameters.
func Needs(method, name string) access.Scopes {
	if method != "tools/call" {
		return access.Read
	}
	for _, op := range vault.Ops() {
		if toolName(op) == name {
			return scopeOf(op)
		}
	}
	return access.Read
}

// scopeOf is what calling a tool takes.
func scopeOf(op *vault.Op) access.Scopes {
	switch {
	case op.Review:
		return access.Read | access.Review
	case op.Writes:
		return access.Read | access.Draft
	}
	return access.Read
}

// identityOf is whom a call's token stands for; nil when there was none.
func identityOf(extra *sdk.RequestExtra) *access.Identity {
	if extra == nil || extra.TokenInfo == nil {
		return nil
	}
	id, _ := extra.TokenInfo.Extra[identityKey].(*access.Identity)
	return id
}

const identityKey = "identity"

// firstStateless is the first revision of the protocol that has no sessions.
const firstStateless = "2026-07-28"

// eras serves servers of the SDK to clients of both eras of the protocol: with
// sessions, and without.
type eras struct {
	stateful  http.Handler
	stateless http.Handler
	events    *events
}

func newEras(pick func(*http.Request) *sdk.Server, o HTTPOptions) *eras {
	if o.SessionTimeout == 0 {
		o.SessionTimeout = 30 * time.Minute
	}
	if o.MaxSessions == 0 {
		o.MaxSessions = 1000
	}
	kept := &events{most: o.MaxSessions, mostEach: max(1, o.MaxSessions/10), mostBytes: 256 << 10,
		opening: map[string]int{}, open: map[string]*session{}}
	options := sdk.StreamableHTTPOptions{
		Logger: slog.New(slog.DiscardHandler),

		// Hosts and lengths are checked before, and for every path.
		DisableLocalhostProtection: true,
		MaxRequestBodyBytes:        -1,
	}
	stateful, stateless := options, options
	stateful.EventStore, stateful.SessionTimeout = kept, o.SessionTimeout
	stateless.Stateless, stateless.PropagateRequestCancellation = true, true
	return &eras{
		stateful:  identified(sdk.NewStreamableHTTPHandler(pick, &stateful)),
		stateless: identified(sdk.NewStreamableHTTPHandler(pick, &stateless)),
		events:    kept,
	}
}

// identified tells the SDK who calls. A session is then its caller's alone.
func identified(next http.Handler) http.Handler {
	known := auth.RequireBearerToken(func(_ context.Context, _ string, r *http.Request) (*auth.TokenInfo, error) {
		id := access.From(r.Context())
		return &auth.TokenInfo{UserID: id.ID, Scopes: id.Scopes.Names(), Expiration: id.Expires, Extra: map[string]any{identityKey: id}}, nil
	}, &auth.RequireBearerTokenOptions{AllowMissingExpiration: true})(next)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if access.From(r.Context()) == nil {
			next.ServeHTTP(w, r)
			return
		}
		known.ServeHTTP(w, r)
	})
}

// ServeHTTP implements [http.Handler].
func (e *eras) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Mcp-Protocol-Version") >= firstStateless {
		e.stateless.ServeHTTP(w, r)
		return
	}
	if r.Method == http.MethodPost && r.Header.Get("Mcp-Session-Id") == "" {
		leave, ok := e.events.enter(callerID(r.Context()))
		if !ok {
			w.Header().Set("Retry-After", "60")
			http.Error(w, "too many sessions are open", http.StatusServiceUnavailable)
			return
		}
		defer leave()
	}
	e.stateful.ServeHTTP(w, r)
}
