// Package owner decides which of several processes serves a directory of
// derived data, and lets the others call it.
//
// At most one process at a time owns the directory: the one that holds the
// kernel's lock on owner.lock, which ends with its process. It opens what is
// in the directory, serves calls on a socket, and says in owner.json who and
// where it is. The others forward their calls to it, and one of them takes its
// place when it ends. A [Node] is one process's part in that.
//
// The package carries bytes and calls functions. It knows nothing of vaults.
package owner

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"time"
)

var (
	// ErrBusy: another process owns the directory and does not answer.
	ErrBusy = errors.New("another process holds the store and does not answer")
	// ErrReadOnly: nobody owns the directory and this process cannot write it, be it
	// for want of room.
	ErrReadOnly = errors.New("the directory cannot be written")
	// ErrOutdated: the owner is newer, and speaks what this process does not.
	ErrOutdated = errors.New("a newer version holds the store: restart this process with that version")
	// ErrLost: the owner ended during a call that may not be repeated.
	ErrLost = errors.New("the process that holds the store ended during the call, which may or may not have taken effect")
	// ErrTooLarge: the parameters are longer than MaxParams.
	ErrTooLarge = errors.New("parameters too large")
	// ErrClosed: the node was closed.
	ErrClosed = errors.New("closed")
)

// MaxParams is the longest encoding of a call's parameters.
const MaxParams = 16 << 20

// Progress hears how far a call is. total is 0 while it is unknown.
type Progress func(done, total int64, message string)

// Handler executes calls in the process that is the owner, any number at
// once. progress is never nil, and must not be called after the handler returned.
type Handler func(ctx context.Context, method string, params json.RawMessage, progress Progress) (json.RawMessage, error)

// Config describes a node.
type Config struct {
	Dir     string // the directory to own; made if need be
	ID      string // names the socket; different for different directories
	Version string // of the program, as v1.2.3; a newer one takes over from an older one
	Schema  int    // of what is in the directory; processes of different schemas do not serve each other

	// Start is called when this process has become the owner. Its closer is
	// closed before it ceases to be. ctx is that of the call in need of an
	// owner, and not to be kept.
	Start func(ctx context.Context) (Handler, io.Closer, error)

	Log func(format string, args ...any) // may be nil

	Patience time.Duration // how long an owner may stay silent: 5 s if 0
	Drain    time.Duration // how long running calls may go on after Close: 10 s if 0
}

// Info describes an owner.
type Info struct {
	PID     int       `json:"pid"`
	Version string    `json:"version"`
	Schema  int       `json:"schema"`
	Started time.Time `json:"started"`
	Self    bool      `json:"self"`
}

// Call is what a node is asked to do.
type Call struct {
	Method     string
	Params     json.RawMessage
	Progress   Progress // may be nil
	Repeatable bool     // executing it twice does no harm: it survives the end of an owner
}

// Node is a process's part in owning a directory. It is safe for concurrent use.
type Node struct {
	cfg   Config
	elect chan struct{} // holds the turn to stand for election

	mu         sync.Mutex
	term       *term     // while this process is the owner
	closed     bool      // by Close
	deferUntil time.Time // after handing over: let the newer process have it
}

// New returns a node that owns nothing yet. It touches no file.
func New(cfg Config) *Node {
	if cfg.Log == nil {
		cfg.Log = func(string, ...any) {}
	}
	if cfg.Patience == 0 {
		cfg.Patience = 5 * time.Second
	}
	if cfg.Drain == 0 {
		cfg.Drain = 10 * time.Second
	}
	return &Node{cfg: cfg, elect: make(chan struct{}, 1)}
}

// Call executes a call, here if this process is the owner, else by asking the
// owner. When there is none it becomes the owner. When the owner ends during
// a repeatable call, the call is executed again by the next.
//
// An error of the handler is a [*RemoteError], wherever the handler ran; one of
// ctx is ctx's; others are this package's.
func (n *Node) Call(ctx context.Context, c Call) (json.RawMessage, error) {
	if len(c.Params) > MaxParams {
		return nil, fmt.Errorf("call %s: %d bytes: %w", c.Method, len(c.Params), ErrTooLarge)
	}
	if c.Progress == nil {
		c.Progress = func(int64, int64, string) {}
	}
	var wait backoff
	for {
		result, err := n.attempt(ctx, c)
		var again retry
		if !errors.As(err, &again) {
			return result, callError(ctx, err)
		}
		if again.alive {
			wait.first = time.Now()
		}
		if err := wait.pause(ctx, n.cfg.Patience); err != nil {
			return nil, n.giveUp(err)
		}
	}
}

// callError prefers ctx's error to what it made of others.
func callError(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}

// giveUp turns the end of patience into ErrBusy with the owner's name.
func (n *Node) giveUp(err error) error {
	if !errors.Is(err, errImpatient) {
		return err
	}
	return n.busy()
}

func (n *Node) busy() error {
	b, err := readBeacon(n.cfg.Dir)
	if err != nil {
		return ErrBusy
	}
	return fmt.Errorf("%w: process %d, version %s, since %s", ErrBusy, b.PID, b.Version, b.Started.Format(time.DateTime))
}

// retry asks for another attempt at a call.
type retry struct {
	alive bool // somebody is at work: patience begins again
}

func (retry) Error() string { return "try again" }

// attempt executes a call once, or fails with retry where another attempt
// may go better and does no harm.
func (n *Node) attempt(ctx context.Context, c Call) (json.RawMessage, error) {
	t, err := n.ownTerm()
	if err != nil {
		return nil, err
	}
	if t != nil {
		return t.call(ctx, c)
	}
	result, err := n.forward(ctx, c)
	if !errors.Is(err, errNobody) {
		return result, err
	}
	t, err = n.stand(ctx)
	if err != nil {
		return nil, err
	}
	return t.call(ctx, c)
}

func (n *Node) ownTerm() (*term, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.closed {
		return nil, ErrClosed
	}
	return n.term, nil
}

// Own makes this process the owner if nobody is, and reports whether it is.
// The error tells why it could not become the owner although nobody is.
func (n *Node) Own(ctx context.Context) (bool, error) {
	t, err := n.ownTerm()
	if t != nil || err != nil {
		return t != nil, err
	}
	_, err = n.stand(ctx)
	var again retry
	if errors.As(err, &again) {
		return false, nil
	}
	return err == nil, callError(ctx, err)
}

// Owner returns who the owner is, as far as can be told without asking: one that
// was killed is named until there is another. ok is false when there is none.
func (n *Node) Owner() (info Info, ok bool) {
	b, err := readBeacon(n.cfg.Dir)
	if err != nil {
		return Info{}, false
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	b.Self = n.term != nil
	return b.Info, true
}

// stand makes this process the owner. It fails with retry when another is.
func (n *Node) stand(ctx context.Context) (*term, error) {
	select {
	case n.elect <- struct{}{}:
		defer func() { <-n.elect }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	t, err := n.ownTerm()
	if t != nil || err != nil {
		return t, err
	}
	if n.defers() {
		return nil, retry{}
	}
	t, err = n.begin(ctx)
	if err != nil {
		return nil, err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.term = t
	return t, nil
}

func (n *Node) defers() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return time.Now().Before(n.deferUntil)
}

// resign ends a term for a newer process to begin its own.
func (n *Node) resign(t *term, to Info) {
	n.cfg.Log("owner: handing over to process %d, version %s", to.PID, to.Version)
	n.mu.Lock()
	n.deferUntil = time.Now().Add(n.cfg.Drain + time.Second)
	n.mu.Unlock()
	if err := t.end(); err != nil {
		n.cfg.Log("owner: hand over: %v", err)
	}
	n.mu.Lock()
	n.deferUntil = time.Now().Add(time.Second)
	n.mu.Unlock()
}

// Close ends this process's part. If it is the owner, running calls are given
// [Config.Drain] to finish, the store is closed, and then another process can be
// the owner. Later calls fail with [ErrClosed]. A second Close is a no-op.
func (n *Node) Close() error {
	n.mu.Lock()
	n.closed = true
	n.mu.Unlock()
	n.elect <- struct{}{} // an election that is under way ends first
	defer func() { <-n.elect }()
	n.mu.Lock()
	t := n.term
	n.mu.Unlock()
	if t == nil {
		return nil
	}
	return t.end()
}

// forget is called by the term when it has ended.
func (n *Node) forget(t *term) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.term == t {
		n.term = nil
	}
}

func (n *Node) info() Info {
	return Info{PID: os.Getpid(), Version: n.cfg.Version, Schema: n.cfg.Schema}
}

func (n *Node) path(name string) string { return filepath.Join(n.cfg.Dir, name) }
