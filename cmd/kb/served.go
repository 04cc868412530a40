package main

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"log/slog"
	"regexp"
	"slices"
	"sync"
	"time"

	"kb/internal/access"
	"kb/internal/httpd"
	"kb/internal/journal"
	"kb/mcp"
	"kb/vault"
)

// How much is kept of the files that grow with use.
const (
	auditBytes, auditFiles = 32 << 20, 10
	logBytes, logFiles     = 4 << 20, 4
)

// audit is the file that says who called what.
type audit struct {
	out *journal.File
	log func(format string, args ...any)
}

// auditLine is a line of it. It has no room for what a caller wrote: of the
// arguments only the view stands there, where it has the form of a revision.
type auditLine struct {
	Time   string  `json:"time"`
	Token  string  `json:"token"` // its name; "" without one
	ID     string  `json:"id,omitempty"`
	Tool   string  `json:"tool,omitempty"`
	At     string  `json:"at,omitempty"`
	Commit string  `json:"commit,omitempty"`
	Code   string  `json:"code"` // ok, an error's code, or the status of a request that was denied
	MS     float64 `json:"ms"`
}

var revisionForm = regexp.MustCompile(`^[\w./:@~^{}+-]{1,100}$`)

func (a *audit) call(c mcp.Call) {
	line := auditLine{Tool: c.Tool, Commit: c.Commit, Code: codeOf(c), MS: milliseconds(c.Took)}
	if revisionForm.MatchString(c.At) {
		line.At = c.At
	}
	a.write(c.Caller, line)
}

func (a *audit) denied(id *access.Identity, status int) {
	a.write(id, auditLine{Code: fmt.Sprint(status)})
}

func (a *audit) write(id *access.Identity, line auditLine) {
	if line.Time = time.Now().UTC().Format(time.RFC3339Nano); id != nil {
		line.Token, line.ID = id.Name, id.ID
	}
	raw, err := json.Marshal(line)
	if err == nil {
		_, err = a.out.Write(append(raw, '\n'))
	}
	if err != nil {
		a.log("audit: %v", err)
	}
}

func codeOf(c mcp.Call) string {
	if c.Code == "" {
		return "ok"
	}
	return string(c.Code)
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// logFile is the log of processes that stay. What people and agents write stands
// in it only as hashes, whose key nobody keeps: equal ones of one process are of equal text.
type logFile struct {
	*slog.Logger
	out *journal.File
	key [32]byte
}

var logLevels = map[string]slog.Level{"error": slog.LevelError, "warn": slog.LevelWarn, "info": slog.LevelInfo, "debug": slog.LevelDebug}

// openLog has what goes on logged beside the derived data; with the level off, or
// where nothing can be written, it is not.
func (c *cli) openLog(s *vault.Service, level string) {
	if level == "off" {
		return
	}
	out, err := journal.Open(s.LogFile(), logBytes, logFiles)
	if err != nil {
		c.log("log: %v", err)
		return
	}
	l := &logFile{Logger: slog.New(slog.NewJSONHandler(out, &slog.HandlerOptions{Level: logLevels[level]})), out: out}
	rand.Read(l.key[:]) // never fails
	c.logged.Store(l)
}

func (c *cli) closeLog() error {
	if l := c.logged.Swap(nil); l != nil {
		return l.out.Close()
	}
	return nil
}

// hash stands for a text.
func (l *logFile) hash(text string) string {
	m := hmac.New(sha256.New, l.key[:])
	m.Write([]byte(text))
	return "#" + hex.EncodeToString(m.Sum(nil)[:6])
}

// quoted is where a message may repeat what somebody wrote.
var quoted = regexp.MustCompile(`(?s)"(?:[^"\\]|\\.)*"`)

// message logs what a part of kb says of its work.
func (l *logFile) message(text string) {
	l.Info(quoted.ReplaceAllStringFunc(text, l.hash))
}

// call logs a call of an operation.
func (l *logFile) call(c mcp.Call) {
	attrs := []any{"tool", c.Tool, "code", codeOf(c), "ms", milliseconds(c.Took), "commit", c.Commit, "args", l.arguments(c.Args)}
	if c.Caller != nil {
		attrs = append(attrs, "token", c.Caller.Name)
	}
	if c.Code == vault.Internal {
		l.Error("call", attrs...)
		return
	}
	l.Info("call", attrs...)
}

// arguments are those of a call, every text as a hash: numbers and switches alone
// say nothing of what was asked.
func (l *logFile) arguments(raw json.RawMessage) map[string]any {
	var args map[string]any
	if json.Unmarshal(raw, &args) != nil {
		return nil
	}
	known := map[string]any{}
	for name, v := range args {
		switch v.(type) {
		case bool, float64, nil:
		default:
			text, _ := json.Marshal(v) // it was JSON just now
			v = l.hash(string(text))
		}
		if !isParameter(name) {
			name, v = l.hash(name), nil
		}
		known[name] = v
	}
	return known
}

// isParameter reports whether some operation has a parameter of that name.
func isParameter(name string) bool {
	for _, op := range vault.Ops() {
		if slices.ContainsFunc(op.Params(), func(p vault.Param) bool { return p.Name == name || slices.Contains(p.Also, name) }) {
			return true
		}
	}
	return false
}

// observers are told of every call.
func observers(all ...func(mcp.Call)) func(mcp.Call) {
	return func(c mcp.Call) {
		for _, f := range all {
			f(c)
		}
	}
}

// status knows how things stand, for metrics. Statistics are asked for seldom:
// they take a walk through all notes.
type status struct {
	svc      *vault.Service
	sessions func() int

	mu    sync.Mutex
	asked time.Time
	last  httpd.State
}

func (s *status) state(ctx context.Context) httpd.State {
	s.mu.Lock()
	defer s.mu.Unlock()
	const seldom = 30 * time.Second
	if time.Since(s.asked) > seldom || s.asked.After(time.Now()) {
		s.asked = time.Now()
		s.look(ctx)
	}
	s.last.Sessions, s.last.Owner = s.sessions(), s.svc.Owns()
	return s.last
}

func (s *status) look(ctx context.Context) {
	op, _ := vault.FindOp("kb_stats")
	r, err := s.svc.Do(ctx, op, nil, nil)
	if err != nil {
		s.last.Known = false
		return
	}
	n := r.(*vault.Stats)
	s.last = httpd.State{Known: true, Documents: n.Documents, Chunks: n.Chunks, Vectors: n.Index.Vectors, DiskBytes: n.DiskBytes}
}
