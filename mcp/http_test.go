package mcp

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"kb/internal/access"
	"kb/internal/vaulttest"
)

// identities stand for tokens in these tests.
var identities = map[string]*access.Identity{
	"reader":   {ID: "1", Name: "reader", Scopes: access.Read},
	"writer":   {ID: "2", Name: "writer", Author: "Ada <ada@example.org>", Scopes: access.Read | access.Draft},
	"reviewer": {ID: "3", Name: "reviewer", Scopes: access.Read | access.Review},
	"all":      {ID: "4", Name: "all", Scopes: access.Read | access.Draft | access.Review},
}

// changing is the identity of the token of that name.
var changing atomic.Pointer[access.Identity]

// bearer sends a token with every request.
type bearer string

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	if b != "" {
		r = r.Clone(r.Context())
		r.Header.Set("Authorization", "Bearer "+string(b))
	}
	return http.DefaultTransport.RoundTrip(r)
}

// serveHTTP serves a handler behind one that knows identities.
func serveHTTP(t *testing.T, h http.Handler) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		token := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
		id := identities[token]
		if token == "changing" {
			id = changing.Load()
		}
		if id != nil {
			r = r.WithContext(access.With(r.Context(), id))
		}
		h.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	return server.URL
}

func clientHTTP(t *testing.T, url, token, version string) *sdk.ClientSession {
	t.Helper()
	c := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil)
	s, err := c.Connect(context.Background(), &sdk.StreamableClientTransport{Endpoint: url, MaxRetries: -1,
		HTTPClient: &http.Client{Transport: bearer(token)}}, &sdk.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		t.Fatalf("connect as %q by %s: %v", token, version, err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// Each caller is offered what its scopes allow, and can call nothing else.
func TestToolsByScope(t *testing.T) {
	svc := agent(t, vaulttest.Repo(t, notes))
	drafts := []string{"kb_drafts", "kb_edit", "kb_write"}
	reviews := []string{"kb_review_merge", "kb_review_reject"}
	tests := []struct {
		token        string
		o            Options
		want, absent []string
	}{
		{"", Options{Review: true}, drafts, reviews},
		{"reader", Options{Review: true}, nil, append(drafts, reviews...)},
		{"writer", Options{Review: true}, drafts, reviews},
		{"reviewer", Options{Review: true}, append(reviews, "kb_drafts"), []string{"kb_write", "kb_edit"}},
		{"all", Options{Review: true}, append(drafts, reviews...), nil},
		{"all", Options{}, drafts, reviews},
		{"reviewer", Options{}, nil, append(drafts, reviews...)},
		{"all", Options{ReadOnly: true, Review: true}, nil, append(drafts, reviews...)},
	}
	for _, tt := range tests {
		h, err := NewHTTP(svc, tt.o, HTTPOptions{})
		if err != nil {
			t.Fatal(err)
		}
		url := serveHTTP(t, h)
		for _, version := range []string{"2025-11-25", "2026-07-28"} {
			s := clientHTTP(t, url, tt.token, version)
			list, err := s.ListTools(context.Background(), nil)
			if err != nil {
				t.Fatal(err)
			}
			var names []string
			for _, tool := range list.Tools {
				names = append(names, tool.Name)
			}
			for _, name := range append(tt.want, "search", "get_document") {
				if !slices.Contains(names, name) {
					t.Errorf("%q %+v %s: %s is not offered", tt.token, tt.o, version, name)
				}
			}
			for _, name := range tt.absent {
				if slices.Contains(names, name) {
					t.Errorf("%q %+v %s: %s is offered", tt.token, tt.o, version, name)
				}
				r, err := s.CallTool(context.Background(), &sdk.CallToolParams{Name: name, Arguments: map[string]any{"title": "x", "body": "y", "name": "d", "reason": "z"}})
				if err == nil {
					t.Errorf("%q %+v %s: %s was called: %s", tt.token, tt.o, version, name, text(r))
				}
			}
			tells := strings.Contains(s.InitializeResult().Instructions, "kb_write")
			if tells != slices.Contains(tt.want, "kb_write") {
				t.Errorf("%q %+v %s: instructions tell of writing: %v", tt.token, tt.o, version, tells)
			}
		}
	}
}

// A session that was opened with more scopes than its token still has does not
// keep them.
func TestScopesOfEachCall(t *testing.T) {
	svc := agent(t, vaulttest.Repo(t, notes))
	h, err := NewHTTP(svc, Options{}, HTTPOptions{})
	if err != nil {
		t.Fatal(err)
	}
	changing.Store(identities["writer"])
	s := clientHTTP(t, serveHTTP(t, h), "changing", "2025-11-25")
	write := func(title string) *sdk.CallToolResult {
		return call(t, s, "kb_write", map[string]any{"title": title, "body": "Text."})
	}
	if r := write("Before"); r.IsError {
		t.Fatal(text(r))
	}
	less := *identities["writer"]
	less.Scopes = access.Read
	changing.Store(&less)
	if r := write("After"); !r.IsError || !strings.Contains(text(r), "forbidden") {
		t.Errorf("wrote with a token that reads: %s", text(r))
	}
}

// What a token's holder writes is by whom the token is for, whatever the client
// and the server's flags say.
func TestTokenIsAuthor(t *testing.T) {
	dir := vaulttest.Repo(t, notes)
	h, err := NewHTTP(agent(t, dir), Options{Agent: "Server's own"}, HTTPOptions{})
	if err != nil {
		t.Fatal(err)
	}
	url := serveHTTP(t, h)
	for token, want := range map[string]string{
		"writer": "Ada <ada@example.org> Ada test 1", "all": "all <all@agents.invalid> all test 1", "": "Server's own <servers-own@agents.invalid> Server's own test 1",
	} {
		for _, version := range []string{"2025-06-18", "2026-07-28"} {
			r := call(t, clientHTTP(t, url, token, version), "kb_write", map[string]any{"title": "By " + token + version, "body": "x"})
			if r.IsError {
				t.Fatal(text(r))
			}
			branch := asValue(t, r.StructuredContent)["branch"].(string)
			if got := vaulttest.Git(t, dir, "log", "-1", "--format=%an <%ae> %(trailers:key=Kb-Agent,valueonly,separator=) %(trailers:key=Kb-Client,valueonly,separator=)", branch); got != want {
				t.Errorf("%q by %s: %s, want %s", token, version, got, want)
			}
		}
	}
}

// A session is its caller's alone.
func TestSessionOfAnother(t *testing.T) {
	h, err := NewHTTP(agent(t, vaulttest.Repo(t, notes)), Options{}, HTTPOptions{})
	if err != nil {
		t.Fatal(err)
	}
	url := serveHTTP(t, h)
	s := clientHTTP(t, url, "writer", "2025-11-25")
	for _, token := range []string{"reader", ""} {
		for _, method := range []string{"POST", "GET", "DELETE"} {
			status := raw(t, method, url, token, `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, "Mcp-Session-Id", s.ID())
			if status != http.StatusForbidden {
				t.Errorf("%s as %q in another's session: %d", method, token, status)
			}
		}
	}
	if err := s.Ping(context.Background(), nil); err != nil {
		t.Errorf("the session afterwards: %v", err)
	}
}

// raw sends a request as a client might, and returns the status.
func raw(t *testing.T, method, url, token, body string, header ...string) int {
	t.Helper()
	r, err := http.NewRequest(method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	resp, err := bearer(token).RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	return resp.StatusCode
}

// However many sessions are asked for, no more are open than there may be; one
// caller cannot take them all, and those that end make room.
func TestManySessions(t *testing.T) {
	h, err := NewHTTP(agent(t, vaulttest.Repo(t, notes)), Options{}, HTTPOptions{MaxSessions: 20})
	if err != nil {
		t.Fatal(err)
	}
	url := serveHTTP(t, h)
	first := clientHTTP(t, url, "writer", "2025-11-25")
	open := func(token string) int { return raw(t, "POST", url, token, initialize) }
	counts := map[int]int{}
	for range 200 {
		counts[open("reader")]++
	}
	if counts[200] != 2 || counts[503] != 198 || h.Sessions() != 3 {
		t.Errorf("with one token: %v, %d open", counts, h.Sessions())
	}
	for range 10_000 {
		open("")
	}
	if n := h.Sessions(); n != 20 {
		t.Errorf("%d sessions are open", n)
	}
	if open("all") != 503 {
		t.Error("a session more than there may be")
	}
	if err := first.Ping(context.Background(), nil); err != nil {
		t.Errorf("a session that was open: %v", err)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	if open("all") != 200 {
		t.Error("there is no room where a session ended")
	}
	for range 100 { // what is no initialize opens no session
		raw(t, "POST", url, "", `{"jsonrpc":"2.0","id":1,"method":"ping"}`)
	}
	if n := h.Sessions(); n != 20 {
		t.Errorf("%d sessions are open", n)
	}
}

const initialize = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"raw","version":"1"}}}`

// What is kept for clients that come back is bounded, session by session, and
// never partly there.
func TestEvents(t *testing.T) {
	ctx := access.With(context.Background(), identities["reader"])
	e := &events{most: 10, mostEach: 10, mostBytes: 100, opening: map[string]int{}, open: map[string]*session{}}
	after := func(session, stream string, index int) (string, error) {
		var all []string
		for d, err := range e.After(ctx, session, stream, index) {
			if err != nil {
				return "", err
			}
			all = append(all, string(d))
		}
		return strings.Join(all, " "), nil
	}
	send := func(session, stream, data string) {
		if err := errors.Join(e.Open(ctx, session, stream), e.Append(ctx, session, stream, []byte(data))); err != nil {
			t.Fatal(err)
		}
	}
	send("a", "", "note")
	send("a", "1", "x")
	send("a", "1", "y")
	if got, err := after("a", "1", -1); got != "x y" || err != nil {
		t.Errorf("%q %v", got, err)
	}
	if got, err := after("a", "1", 0); got != "y" || err != nil {
		t.Errorf("%q %v", got, err)
	}
	if got, err := after("a", "1", 1); got != "" || err != nil {
		t.Errorf("%q %v", got, err)
	}
	send("b", "1", "theirs")
	for i := range 10 * mostStreams {
		send("a", fmt.Sprint("s", i), strings.Repeat("z", 30))
	}
	for _, stream := range []string{"1", "", "s7"} {
		if got, err := after("a", stream, -1); got != "" || !errors.Is(err, sdk.ErrEventsPurged) {
			t.Errorf("stream %q: %q %v", stream, got, err)
		}
	}
	if got, err := after("b", "1", -1); got != "theirs" || err != nil {
		t.Errorf("another session lost its events: %q %v", got, err)
	}
	if s := e.open["a"]; s.bytes > 100 || len(s.streams) > mostStreams+1 || len(s.order) > mostStreams {
		t.Errorf("kept: %d bytes, %d streams", s.bytes, len(s.streams))
	}
	send("a", "big", strings.Repeat("z", 1000)) // the last is kept whatever its length
	if got, err := after("a", "big", -1); len(got) != 1000 || err != nil {
		t.Errorf("%d %v", len(got), err)
	}
	if err := e.SessionClosed(ctx, "a"); err != nil {
		t.Fatal(err)
	}
	if err := e.Append(ctx, "a", "1", []byte("late")); err != nil || e.count() != 1 {
		t.Errorf("%v, %d sessions", err, e.count())
	}
	if _, err := after("a", "1", -1); err == nil {
		t.Error("a session that ended is remembered")
	}
}
