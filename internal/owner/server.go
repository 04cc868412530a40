package owner

import (
	"crypto/subtle"
	"encoding/json"
	"errors"
	"io"
	"log"
	"net/http"
	"strconv"
	"sync"
	"time"
)

// stall is how long the other end of a connection may take to read or write a
// mebibyte before it is given up.
const stall = 30 * time.Second

func (t *term) newServer() *http.Server {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /call", t.serveCall)
	return &http.Server{
		Handler:           mux,
		ReadHeaderTimeout: stall,
		ErrorLog:          log.New(logWriter{t.node.cfg.Log}, "", 0),
	}
}

type logWriter struct{ log func(string, ...any) }

func (w logWriter) Write(b []byte) (int, error) {
	w.log("owner: %s", b)
	return len(b), nil
}

func (t *term) serveCall(w http.ResponseWriter, r *http.Request) {
	if subtle.ConstantTimeCompare([]byte(r.Header.Get(headSecret)), []byte(t.self.Secret)) != 1 {
		http.Error(w, "forbidden", http.StatusForbidden)
		return
	}
	if !t.fits(w, r) {
		return
	}
	params, err := readParams(w, r)
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		http.Error(w, "too large", http.StatusRequestEntityTooLarge)
		return
	case err != nil:
		http.Error(w, "bad request", http.StatusBadRequest)
		return
	}
	s := stream{w: w, rc: http.NewResponseController(w)}
	c := Call{Method: r.Header.Get(headMethod), Params: params, Progress: s.progress}
	// The call counts as running until its outcome is sent.
	ctx, leave, ok := t.calls.enter(r.Context())
	if !ok {
		http.Error(w, "leaving", http.StatusServiceUnavailable)
		return
	}
	defer leave()
	if s.flush() != nil {
		return
	}
	result, err := t.execute(ctx, c)
	s.outcome(result, err)
}

// fits answers a caller of another protocol or schema, or newer than this
// process, with who this process is, and makes room for a newer one.
func (t *term) fits(w http.ResponseWriter, r *http.Request) bool {
	number := func(key string) int {
		n, _ := strconv.Atoi(r.Header.Get(key))
		return n
	}
	caller := Info{PID: number(headPID), Schema: number(headSchema), Version: r.Header.Get(headVersion)}
	older := newer(number(headProtocol), caller, protocol, t.self.Info)
	if !older && number(headProtocol) == protocol && caller.Schema == t.self.Schema {
		return true
	}
	w.WriteHeader(http.StatusConflict)
	public := t.self
	public.Secret = ""
	json.NewEncoder(w).Encode(public)
	if older {
		go t.node.resign(t, caller)
	}
	return false
}

func readParams(w http.ResponseWriter, r *http.Request) (json.RawMessage, error) {
	rc := http.NewResponseController(w)
	if err := rc.SetReadDeadline(time.Now().Add(stall)); err != nil {
		return nil, err
	}
	// A deadline that passes while the handler runs would look like a caller who hung up.
	defer rc.SetReadDeadline(time.Time{})
	b, err := io.ReadAll(http.MaxBytesReader(w, r.Body, MaxParams))
	if len(b) == 0 {
		return nil, err
	}
	return b, err
}

// stream writes the messages of an answer.
type stream struct {
	w  io.Writer
	rc *http.ResponseController

	mu   sync.Mutex
	done bool
}

// message is one of an answer's. Exactly one of its fields is set.
type message struct {
	Progress    *progress       `json:"progress,omitempty"`
	Result      json.RawMessage `json:"result,omitempty"`
	Error       *RemoteError    `json:"error,omitempty"`
	Interrupted bool            `json:"interrupted,omitempty"`
}

type progress struct {
	Done    int64  `json:"done"`
	Total   int64  `json:"total"`
	Message string `json:"message,omitempty"`
}

func (s *stream) flush() error { return s.rc.Flush() }

func (s *stream) progress(done, total int64, text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.done {
		s.send(message{Progress: &progress{done, total, text}})
	}
}

// outcome sends the last message.
func (s *stream) outcome(result json.RawMessage, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.done = true
	var remote *RemoteError
	switch {
	case err == nil:
		s.result(result)
	case errors.As(err, &remote):
		s.send(message{Error: remote})
	default:
		s.send(message{Interrupted: true})
	}
	s.flush()
}

func (s *stream) send(m message) {
	b, err := json.Marshal(m)
	if err != nil { // cannot happen: strings and numbers
		return
	}
	s.write(append(b, '\n'))
	s.flush()
}

// result sends a result byte for byte: encoding/json would change its spaces.
func (s *stream) result(b json.RawMessage) {
	s.write([]byte(`{"result":`))
	s.write(b)
	s.write([]byte("}\n"))
}

// write gives up on a caller who stalls; the error is for the caller to find.
func (s *stream) write(b []byte) {
	for len(b) > 0 {
		part := b[:min(len(b), 1<<20)]
		if s.rc.SetWriteDeadline(time.Now().Add(stall)) != nil {
			return
		}
		if _, err := s.w.Write(part); err != nil {
			return
		}
		b = b[len(part):]
	}
}
