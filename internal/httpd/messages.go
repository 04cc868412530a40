package httpd

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"time"

	"kb/internal/access"
)

// maxDepth is how deep a message may nest. What anybody asks for needs ten.
const maxDepth = 64

// messages has requests handled that are admitted.
func (s *Server) messages(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		status := &statusWriter{ResponseWriter: w, status: http.StatusOK}
		admitted, leave, ok := s.admit(status, r)
		if !ok {
			if s.o.Denied != nil {
				s.o.Denied(access.From(admitted.Context()), status.status)
			}
			return
		}
		defer leave()
		next.ServeHTTP(&impatient{ResponseWriter: w, rc: http.NewResponseController(w), patience: s.times.write}, admitted)
	})
}

// admit tells who sends a request, and reads it whole, within bounds, before it is
// handled: a handler never waits for a peer that sends slowly. It answers what it
// does not admit.
func (s *Server) admit(w http.ResponseWriter, r *http.Request) (_ *http.Request, leave func(), ok bool) {
	if s.draining.Load() {
		w.Header().Set("Retry-After", "1")
		http.Error(w, "this server is ending", http.StatusServiceUnavailable)
		return r, nil, false
	}
	if r, ok = s.identify(w, r); !ok {
		return r, nil, false
	}
	body, ok := s.body(w, r)
	if !ok {
		return r, nil, false
	}
	calls := peek(body)
	if !s.allowed(w, r, calls) {
		return r, nil, false
	}
	stream := r.Method == http.MethodGet || endless(calls)
	done, ok := s.limited(w, r, stream)
	if !ok {
		return r, nil, false
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	r.ContentLength = int64(len(body))
	if !stream {
		return r, done, true
	}
	ctx, cancel := s.streaming(r)
	return r.WithContext(ctx), func() {
		cancel()
		done()
	}, true
}

// streaming is the context of an answer without an end: it ends with the server,
// and soon after the token that it was asked for with.
func (s *Server) streaming(r *http.Request) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(r.Context())
	stop := context.AfterFunc(s.streams, cancel)
	if token, ok := bearer(r); ok && access.From(ctx) != nil {
		go s.watch(ctx, cancel, token)
	}
	return ctx, func() {
		stop()
		cancel()
	}
}

// watch ends a stream when its token is not valid any more.
func (s *Server) watch(ctx context.Context, end context.CancelFunc, token string) {
	tick := time.NewTicker(s.o.Recheck)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			if _, err := s.o.Access.Verifier.Verify(ctx, token); err != nil {
				end()
				return
			}
		}
	}
}

// body reads the body of a request, or answers why not.
func (s *Server) body(w http.ResponseWriter, r *http.Request) ([]byte, bool) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, s.o.MaxBody))
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		http.Error(w, "the message is too large", http.StatusRequestEntityTooLarge)
		return nil, false
	case err != nil:
		w.Header().Set("Connection", "close")
		http.Error(w, "the message did not arrive", http.StatusRequestTimeout)
		return nil, false
	case tooDeep(body):
		http.Error(w, "the message nests too deep", http.StatusBadRequest)
		return nil, false
	}
	// A deadline that passes while the call runs would look like a caller who hung
	// up. What is refused keeps it: its unread rest is read before the connection ends.
	_ = http.NewResponseController(w).SetReadDeadline(time.Time{})
	return body, true
}

// tooDeep reports whether JSON nests deeper than maxDepth. Text that is not JSON
// is for its reader to refuse.
func tooDeep(body []byte) bool {
	depth, quoted := 0, false
	for i := 0; i < len(body); i++ {
		switch c := body[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			if depth++; depth > maxDepth {
				return true
			}
		case c == '}' || c == ']':
			depth--
		}
	}
	return false
}

// call is what the stack looks at of a message.
type call struct {
	Method string `json:"method"`
	Params struct {
		Name string `json:"name"`
	} `json:"params"`
}

// peek reads the calls of a body: one, or a batch. What is not JSON has none.
func peek(body []byte) []call {
	var many []call
	if json.Unmarshal(body, &many) == nil {
		return many
	}
	var one call
	if json.Unmarshal(body, &one) == nil {
		return []call{one}
	}
	return nil
}

// endless reports whether the answer to calls is a stream without an end.
func endless(calls []call) bool {
	for _, c := range calls {
		if c.Method == "subscriptions/listen" {
			return true
		}
	}
	return false
}

// impatient gives up on a peer that does not read what is written to it.
type impatient struct {
	http.ResponseWriter
	rc       *http.ResponseController
	patience time.Duration
}

func (w *impatient) Write(b []byte) (int, error) {
	_ = w.rc.SetWriteDeadline(time.Now().Add(w.patience)) // without a connection there is none to wait for
	return w.ResponseWriter.Write(b)
}

// Flush implements [http.Flusher].
func (w *impatient) Flush() {
	_ = w.rc.SetWriteDeadline(time.Now().Add(w.patience))
	_ = w.rc.Flush()
}

// Unwrap is for [http.ResponseController].
func (w *impatient) Unwrap() http.ResponseWriter { return w.ResponseWriter }
