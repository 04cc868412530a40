package owner

import (
	"context"
	"sync"
	"time"
)

// calls counts the calls that run, and can wait for their end.
type calls struct {
	mu      sync.Mutex
	running int
	closing bool
	idle    chan struct{} // closed when closing and none runs

	ctx    context.Context // ends when calls must
	cancel context.CancelCauseFunc
}

func (c *calls) init() {
	c.idle = make(chan struct{})
	c.ctx, c.cancel = context.WithCancelCause(context.Background())
}

// enter begins a call, unless none may any more. The context it returns ends
// with ctx, or with cause errInterrupted when drain loses its patience.
func (c *calls) enter(ctx context.Context) (_ context.Context, leave func(), ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closing {
		return nil, nil, false
	}
	c.running++
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(c.ctx, func() { cancel(errInterrupted) })
	return ctx, func() {
		stop()
		cancel(nil)
		c.leave()
	}, true
}

func (c *calls) leave() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.running--
	if c.closing && c.running == 0 {
		close(c.idle)
	}
}

// drain lets no call begin, waits for those that run, cancels them when they
// take longer than patience, and waits a little more.
func (c *calls) drain(patience time.Duration) {
	c.mu.Lock()
	if !c.closing {
		c.closing = true
		if c.running == 0 {
			close(c.idle)
		}
	}
	c.mu.Unlock()
	if c.wait(patience) {
		return
	}
	c.cancel(errInterrupted)
	c.wait(patience)
}

func (c *calls) wait(patience time.Duration) bool {
	t := time.NewTimer(patience)
	defer t.Stop()
	select {
	case <-c.idle:
		return true
	case <-t.C:
		return false
	}
}
