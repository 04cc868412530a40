package httpd

import (
	"math"
	"net/http"
	"strconv"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"kb/internal/access"
)

// Limits bound what one caller may ask for. Zero is no bound.
type Limits struct {
	Rate       float64 // requests per second, with twice as many at once
	Concurrent int     // calls that run at a time
}

// callers remembers how much each caller asked for.
type callers struct {
	limits Limits

	mu    sync.Mutex
	known map[string]*caller
}

type caller struct {
	rate    *rate.Limiter
	running int
	streams int
}

const (
	manyCallers = 4096 // when those who ask for nothing are forgotten
	mostStreams = 64   // of one caller, at a time
)

// enter begins a request of a caller, or says after what time it may come again.
// A stream is no call that runs: there may be mostStreams.
func (c *callers) enter(id string, stream bool) (leave func(), wait time.Duration, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	is := c.caller(id)
	count, most := &is.running, c.limits.Concurrent
	if stream {
		count, most = &is.streams, mostStreams
	}
	if most > 0 && *count >= most {
		return nil, time.Second, false
	}
	if c.limits.Rate > 0 {
		now := time.Now()
		r := is.rate.ReserveN(now, 1)
		if d := r.DelayFrom(now); d > 0 {
			r.CancelAt(now)
			return nil, d, false
		}
	}
	*count++
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		*count--
	}, 0, true
}

func (c *callers) caller(id string) *caller {
	if is := c.known[id]; is != nil {
		return is
	}
	if len(c.known) >= manyCallers {
		for id, is := range c.known {
			if is.running+is.streams == 0 && is.rate.Tokens() >= float64(is.rate.Burst()) {
				delete(c.known, id)
			}
		}
	}
	is := &caller{rate: rate.NewLimiter(rate.Limit(c.limits.Rate), max(1, int(math.Ceil(2*c.limits.Rate))))}
	c.known[id] = is
	return is
}

// limited answers a request of a caller who asks for too much.
func (s *Server) limited(w http.ResponseWriter, r *http.Request, stream bool) (leave func(), ok bool) {
	id := access.From(r.Context())
	if id == nil {
		return func() {}, true
	}
	leave, wait, ok := s.callers.enter(id.ID, stream)
	if !ok {
		w.Header().Set("Retry-After", strconv.Itoa(max(1, int(math.Ceil(wait.Seconds())))))
		http.Error(w, "too many requests with this token", http.StatusTooManyRequests)
		return nil, false
	}
	return leave, true
}
