package owner

import (
	"context"
	"errors"
	"time"
)

const (
	shortestPause = 2 * time.Millisecond
	longestPause  = 50 * time.Millisecond
)

var errImpatient = errors.New("patience is at an end")

// backoff spaces attempts. The zero value has made none.
type backoff struct {
	first time.Time // from which patience counts
	next  time.Duration
}

// pause waits before another attempt, or fails when patience has passed since
// the first.
func (b *backoff) pause(ctx context.Context, patience time.Duration) error {
	if b.first.IsZero() {
		b.first = time.Now()
	}
	if b.next == 0 {
		b.next = shortestPause
	}
	if time.Since(b.first) > patience {
		return errImpatient
	}
	t := time.NewTimer(b.next)
	defer t.Stop()
	b.next = min(2*b.next, longestPause)
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
