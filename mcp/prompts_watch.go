package mcp

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"kb/vault"
)

// promptWatch tells clients that the vault's own prompts changed. It looks at them
// when a branch moved, while somebody is connected who listed them.
type promptWatch struct {
	s *Server

	mu    sync.Mutex
	knows map[*sdk.ServerSession]known
	stop  context.CancelFunc // of the watch; nil when there is none
}

// known is what a session was told of the prompts.
type known struct {
	who vault.Caller
	sum [sha256.Size]byte
}

// promptPause is how often prompts are looked at where no change is reported.
const promptPause = time.Minute

// lists remembers a session that was given the list, until it ends.
func (x *promptWatch) lists(req *sdk.ListPromptsRequest, own []vault.Prompt) {
	if x.know(req.Session, known{x.s.caller(req), promptSum(own)}) {
		go func() {
			_ = req.Session.Wait()
			x.forget(req.Session)
		}()
	}
}

// listens remembers a session that asks to be told.
func (x *promptWatch) listens(ctx context.Context, req *sdk.SubscriptionsListenRequest) {
	who := x.s.caller(req)
	if sum, ok := x.read(ctx, who); ok {
		x.know(req.Session, known{who, sum})
	}
}

// know remembers what a session knows, and reports whether the session is new.
func (x *promptWatch) know(session *sdk.ServerSession, k known) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	_, before := x.knows[session]
	x.knows[session] = k
	if x.stop == nil {
		var watched context.Context
		watched, x.stop = context.WithCancel(context.Background())
		go x.watch(watched)
	}
	return !before
}

// forget drops a session, and with the last one the watch.
func (x *promptWatch) forget(session *sdk.ServerSession) {
	x.mu.Lock()
	defer x.mu.Unlock()
	delete(x.knows, session)
	if len(x.knows) == 0 && x.stop != nil {
		x.stop()
		x.stop = nil
	}
}

// watch looks at the prompts until ctx ends.
func (x *promptWatch) watch(ctx context.Context) {
	hints := make(chan struct{}, 1)
	go x.s.svc.WatchBranches(ctx, func() {
		select {
		case hints <- struct{}{}:
		default: // one waits
		}
	})
	for ctx.Err() == nil {
		if x.changed(ctx) {
			x.s.addPrompt(&prompts[0]) // every server offers it
		}
		select {
		case <-ctx.Done():
		case <-hints:
		case <-time.After(promptPause):
		}
	}
}

// changed reports whether the prompts changed for everybody who knows them: all
// are told at once, and none is to learn that what it does not see changed.
func (x *promptWatch) changed(ctx context.Context) bool {
	x.mu.Lock()
	var callers []vault.Caller
	for _, k := range x.knows {
		callers = append(callers, k.who)
	}
	x.mu.Unlock()
	now := map[string][sha256.Size]byte{}
	for _, who := range callers {
		if _, read := now[sightOf(who)]; read {
			continue
		}
		sum, ok := x.read(ctx, who)
		if !ok {
			return false
		}
		now[sightOf(who)] = sum
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, k := range x.knows {
		if sum, read := now[sightOf(k.who)]; !read || sum == k.sum {
			return false
		}
	}
	for session, k := range x.knows {
		x.knows[session] = known{k.who, now[sightOf(k.who)]}
	}
	return len(x.knows) > 0
}

func sightOf(who vault.Caller) string { return string(who.Sees) + "\n" + who.User }

// read is the sum of the prompts that a caller sees.
func (x *promptWatch) read(ctx context.Context, who vault.Caller) (sum [sha256.Size]byte, ok bool) {
	op, _ := vault.FindOp("kb_prompts")
	r, err := x.s.svc.DoAs(ctx, who, op, json.RawMessage("{}"), nil)
	if err != nil {
		return sum, false
	}
	return promptSum(r.(*vault.Prompts).Prompts), true
}

func promptSum(list []vault.Prompt) [sha256.Size]byte {
	raw, err := json.Marshal(list)
	if err != nil {
		return [sha256.Size]byte{} // unreachable: it is texts
	}
	return sha256.Sum256(raw)
}
