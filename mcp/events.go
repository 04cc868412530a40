package mcp

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"sync"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"kb/internal/access"
)

// events keeps what was sent in open sessions, for clients that lost their
// connection and come back for it. It implements [sdk.EventStore], and so hears
// of every session's begin and end: it also bounds how many are open. What one
// session sends never pushes out what is kept for another.
type events struct {
	most      int // sessions at a time
	mostEach  int // of one caller, when callers have tokens
	mostBytes int // kept of one session, beside its last event

	mu      sync.Mutex
	opening map[string]int // requests that may open a session, by caller
	open    map[string]*session
}

// mostStreams is how many streams of a session are remembered: one for each
// request, the oldest is forgotten first.
const mostStreams = 256

// session is what is kept of one.
type session struct {
	caller  string
	bytes   int
	order   []string // names of streams, oldest first
	streams map[string]*stream
}

// stream is a row of events; those before first are dropped.
type stream struct {
	first int
	data  [][]byte
}

// enter lets a caller's request open a session, unless there are enough.
func (e *events) enter(caller string) (leave func(), ok bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	all, own := len(e.open), e.opening[caller]
	for _, n := range e.opening {
		all += n
	}
	for _, s := range e.open {
		if s.caller == caller {
			own++
		}
	}
	if all >= e.most || caller != "" && own >= e.mostEach {
		return nil, false
	}
	e.opening[caller]++
	return func() {
		e.mu.Lock()
		defer e.mu.Unlock()
		if e.opening[caller]--; e.opening[caller] == 0 {
			delete(e.opening, caller)
		}
	}, true
}

func (e *events) count() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.open)
}

// Open implements [sdk.EventStore].
func (e *events) Open(ctx context.Context, sessionID, streamID string) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	s := e.open[sessionID]
	if s == nil {
		s = &session{caller: callerID(ctx), streams: map[string]*stream{}}
		e.open[sessionID] = s
	}
	if s.streams[streamID] != nil {
		return nil
	}
	s.streams[streamID] = &stream{}
	if streamID == "" {
		return nil // the one that is no request's stays as long as the session
	}
	if s.order = append(s.order, streamID); len(s.order) > mostStreams {
		s.drop(s.streams[s.order[0]])
		delete(s.streams, s.order[0])
		s.order = slices.Delete(s.order, 0, 1)
	}
	return nil
}

// callerID names who ctx works for; "" is nobody in particular.
func callerID(ctx context.Context) string {
	if id := access.From(ctx); id != nil {
		return id.ID
	}
	return ""
}

// drop drops the events of a stream.
func (s *session) drop(st *stream) {
	for _, d := range st.data {
		s.bytes -= len(d)
	}
	st.first += len(st.data)
	st.data = nil
}

// Append implements [sdk.EventStore].
func (e *events) Append(_ context.Context, sessionID, streamID string, data []byte) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	s := e.open[sessionID]
	if s == nil || s.streams[streamID] == nil {
		return nil // it ended, or is forgotten: nobody comes back for it
	}
	for _, id := range append([]string{""}, s.order...) {
		if s.bytes+len(data) <= e.mostBytes {
			break
		}
		if st := s.streams[id]; st != nil {
			s.drop(st)
		}
	}
	st := s.streams[streamID]
	st.data = append(st.data, data)
	s.bytes += len(data)
	return nil
}

// After implements [sdk.EventStore].
func (e *events) After(_ context.Context, sessionID, streamID string, index int) iter.Seq2[[]byte, error] {
	kept, err := e.after(sessionID, streamID, index+1)
	return func(yield func([]byte, error) bool) {
		if err != nil {
			yield(nil, err)
			return
		}
		for _, d := range kept {
			if !yield(d, nil) {
				return
			}
		}
	}
}

func (e *events) after(sessionID, streamID string, start int) ([][]byte, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	s := e.open[sessionID]
	if s == nil {
		return nil, fmt.Errorf("no session %q", sessionID)
	}
	st := s.streams[streamID]
	if st == nil || start < st.first {
		return nil, fmt.Errorf("event %d of stream %q: %w", start, streamID, sdk.ErrEventsPurged)
	}
	return slices.Clone(st.data[min(start-st.first, len(st.data)):]), nil
}

// SessionClosed implements [sdk.EventStore].
func (e *events) SessionClosed(_ context.Context, sessionID string) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.open, sessionID)
	return nil
}
