package owner

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"runtime/debug"
	"sync"
	"time"

	"github.com/gofrs/flock"
)

// term is the time for which this process is the owner: it holds the lock,
// has the store open, and serves.
type term struct {
	node    *Node
	self    beacon
	lock    *flock.Flock
	handler Handler
	store   io.Closer
	server  *http.Server
	calls   calls
	ending  sync.Once
	endErr  error
}

// begin takes the lock and begins a term. It fails with retry when another
// process has the lock.
func (n *Node) begin(ctx context.Context) (*term, error) {
	if err := os.MkdirAll(n.cfg.Dir, 0o700); err != nil {
		return nil, readOnly(err)
	}
	lock := flock.New(n.path(lockName))
	locked, err := lock.TryLock()
	if err != nil {
		return nil, readOnly(fmt.Errorf("lock %s: %w", lock.Path(), err))
	}
	if !locked {
		return nil, retry{}
	}
	t := &term{node: n, lock: lock, self: beacon{Info: n.info(), Protocol: protocol}}
	t.self.Started, t.self.Secret = now(), rand.Text()
	t.calls.init()
	if err := t.open(ctx); err != nil {
		return nil, errors.Join(err, removeBeacon(n.cfg.Dir), lock.Unlock())
	}
	n.cfg.Log("owner: process %d, version %s, owns %s", t.self.PID, t.self.Version, n.cfg.Dir)
	return t, nil
}

// open opens the store and then the socket, and tells others of it.
func (t *term) open(ctx context.Context) error {
	dir := t.node.cfg.Dir
	if err := removeBeacon(dir); err != nil {
		return readOnly(err)
	}
	if err := t.self.write(dir); err != nil {
		return readOnly(err)
	}
	var err error
	t.handler, t.store, err = t.node.cfg.Start(ctx)
	if err != nil {
		return err
	}
	l, err := listen(dir, t.node.cfg.ID)
	if err != nil {
		return errors.Join(err, t.store.Close())
	}
	t.server = t.newServer()
	go t.server.Serve(l)
	t.self.Network, t.self.Address = l.Addr().Network(), l.Addr().String()
	if err := t.self.write(dir); err != nil {
		return errors.Join(readOnly(err), t.server.Close(), t.store.Close())
	}
	return nil
}

// call executes a call of this process.
func (t *term) call(ctx context.Context, c Call) (json.RawMessage, error) {
	result, err := t.run(ctx, c)
	if errors.Is(err, errInterrupted) && !c.Repeatable {
		return nil, ErrLost
	}
	if errors.Is(err, errInterrupted) || errors.Is(err, errEnding) {
		return nil, retry{alive: true}
	}
	return result, err
}

var (
	errEnding      = errors.New("the term is ending")
	errInterrupted = errors.New("the call was interrupted by the end of the term")
)

// run executes a call of this process. It fails with errEnding before the
// handler began, else as execute does.
func (t *term) run(ctx context.Context, c Call) (json.RawMessage, error) {
	ctx, leave, ok := t.calls.enter(ctx)
	if !ok {
		return nil, errEnding
	}
	defer leave()
	return t.execute(ctx, c)
}

// execute runs the handler for a call that was entered. It fails with errInterrupted
// when the handler was not let finish, else with RemoteError.
func (t *term) execute(ctx context.Context, c Call) (result json.RawMessage, err error) {
	defer func() {
		if p := recover(); p != nil {
			t.node.cfg.Log("owner: %s: panic: %v\n%s", c.Method, p, debug.Stack())
			err = remoteError(fmt.Errorf("%s: panic: %v", c.Method, p))
		}
	}()
	result, err = t.handler(ctx, c.Method, c.Params, c.Progress)
	switch {
	case err == nil && len(result) == 0:
		return json.RawMessage("null"), nil
	case err == nil && !json.Valid(result):
		return nil, remoteError(fmt.Errorf("%s: the result is not JSON", c.Method))
	case err == nil:
		return result, nil
	}
	if errors.Is(context.Cause(ctx), errInterrupted) {
		return nil, errInterrupted
	}
	return nil, remoteError(err)
}

// end ends the term: no call begins any more, running ones finish or are
// cancelled, the store is closed, and at last the lock is free. Everybody who calls it waits for that.
func (t *term) end() error {
	t.ending.Do(func() {
		t.calls.drain(t.node.cfg.Drain)
		err := t.store.Close()
		err = errors.Join(err, removeBeacon(t.node.cfg.Dir))
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		if t.server.Shutdown(ctx) != nil {
			t.server.Close()
		}
		t.node.forget(t)
		t.endErr = errors.Join(err, t.lock.Unlock())
	})
	return t.endErr
}
