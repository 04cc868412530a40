package mcp

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"kb/vault"
)

// A subscription is of a resource that may change: the digest, the conventions,
// a note as it is now. A note at a commit never does.
//
// While there are any, the vault is looked at when its files may have changed,
// and now and then; who subscribed to a resource is told when it reads
// differently.
type subscriptions struct {
	s *Server

	mu    sync.Mutex
	by    map[string]*subscribed // URI → who
	known map[*sdk.ServerSession]bool
	stop  context.CancelFunc // of the watch; nil when there is none
}

type subscribed struct {
	sessions map[*sdk.ServerSession]bool
	read     [sha256.Size]byte // the hash of what the resource read last
}

func newSubscriptions(s *Server) *subscriptions {
	return &subscriptions{s: s, by: map[string]*subscribed{}, known: map[*sdk.ServerSession]bool{}}
}

// mostSubscriptions is how many resources may be watched at a time.
const mostSubscriptions = 1000

// How often the vault is looked at where no change is reported: a twentieth of
// the time may go into that.
const (
	leastPause = 2 * time.Second
	pauseShare = 20
)

// subscribe remembers who wants to know of a resource. What is not there yet may
// come.
func (x *subscriptions) subscribe(ctx context.Context, req *sdk.SubscribeRequest) error {
	if who := x.s.caller(req); who.Sees != x.s.who.Sees || who.User != x.s.who.User {
		return errors.New("this server watches for callers who see as far as itself") // others would learn when what they do not see changes
	}
	read := x.s.resourceSum(ctx, req.Params.URI)
	x.mu.Lock()
	defer x.mu.Unlock()
	uri := req.Params.URI
	if x.by[uri] == nil {
		if len(x.by) >= mostSubscriptions {
			return errors.New("too many resources are watched")
		}
		x.by[uri] = &subscribed{map[*sdk.ServerSession]bool{}, read}
	}
	x.by[uri].sessions[req.Session] = true
	if !x.known[req.Session] {
		x.known[req.Session] = true
		go func() {
			_ = req.Session.Wait()
			x.forget(req.Session)
		}()
	}
	if x.stop == nil {
		var watched context.Context
		watched, x.stop = context.WithCancel(context.Background())
		go x.watch(watched)
	}
	return nil
}

func (x *subscriptions) unsubscribe(_ context.Context, req *sdk.UnsubscribeRequest) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.drop(req.Params.URI, req.Session)
	return nil
}

// forget drops all that a session which ended had subscribed to.
func (x *subscriptions) forget(session *sdk.ServerSession) {
	x.mu.Lock()
	defer x.mu.Unlock()
	delete(x.known, session)
	for uri := range x.by {
		x.drop(uri, session)
	}
}

// drop ends a subscription, and with the last one the watch.
func (x *subscriptions) drop(uri string, session *sdk.ServerSession) {
	if of := x.by[uri]; of != nil {
		delete(of.sessions, session)
		if len(of.sessions) == 0 {
			delete(x.by, uri)
		}
	}
	if len(x.by) == 0 && x.stop != nil {
		x.stop()
		x.stop = nil
	}
}

// watch looks at the vault until ctx ends.
func (x *subscriptions) watch(ctx context.Context) {
	hints := make(chan struct{}, 1)
	go x.s.svc.Watch(ctx, func() {
		select {
		case hints <- struct{}{}:
		default: // one waits
		}
	})
	view := ""
	for ctx.Err() == nil {
		start := time.Now()
		if now := x.s.state(ctx); now != view {
			view = now
			x.tell(ctx)
		}
		select {
		case <-ctx.Done():
		case <-hints:
		case <-time.After(max(leastPause, pauseShare*time.Since(start))):
		}
	}
}

// tell reads every resource that is watched, and tells of those that read
// otherwise than before.
func (x *subscriptions) tell(ctx context.Context) {
	x.mu.Lock()
	uris := slices.Sorted(maps.Keys(x.by))
	x.mu.Unlock()
	for _, uri := range uris {
		now := x.s.resourceSum(ctx, uri)
		x.mu.Lock()
		of := x.by[uri]
		changed := of != nil && of.read != now
		if changed {
			of.read = now
		}
		x.mu.Unlock()
		if changed {
			_ = x.s.sdk.ResourceUpdated(ctx, &sdk.ResourceUpdatedNotificationParams{URI: uri})
		}
	}
}

// state names what the default view shows.
func (s *Server) state(ctx context.Context) string {
	r, err := s.read(ctx, &sdk.ReadResourceRequest{}, "list_sections", nil)
	if err != nil {
		return ""
	}
	raw, err := json.Marshal(r.(*vault.Sections).Seen)
	if err != nil {
		return ""
	}
	return string(raw)
}

// resourceSum is the hash of what a resource reads; of nothing when it cannot be
// read.
func (s *Server) resourceSum(ctx context.Context, uri string) [sha256.Size]byte {
	read := s.readNote
	switch {
	case uri == "kb://digest":
		read = s.readDigest
	case uri == "kb://conventions":
		read = s.readConventions
	case !strings.HasPrefix(uri, "kb://"):
		return [sha256.Size]byte{}
	}
	r, err := read(ctx, &sdk.ReadResourceRequest{Params: &sdk.ReadResourceParams{URI: uri}})
	if err != nil {
		return [sha256.Size]byte{}
	}
	return sha256.Sum256([]byte(r.Contents[0].Text))
}
