package httpd

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"kb/internal/access"
)

// fake knows tokens by name.
type fake struct {
	mu    sync.Mutex
	known map[string]access.Scopes
}

func (f *fake) Verify(_ context.Context, token string) (*access.Identity, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if token == "broken" {
		return nil, errors.New("the provider is down")
	}
	scopes, ok := f.known[token]
	if !ok {
		return nil, access.ErrInvalid
	}
	return &access.Identity{ID: "id-" + token, Name: token, Scopes: scopes}, nil
}

// grant gives a token scopes; -1 takes it away.
func (f *fake) grant(token string, scopes int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.known[token] = access.Scopes(max(0, scopes)); scopes < 0 {
		delete(f.known, token)
	}
}

func newFake() *fake {
	return &fake{known: map[string]access.Scopes{"reader": access.Read, "writer": access.Read | access.Draft, "nothing": 0}}
}

// needs is what messages take in these tests: a tool named write takes draft.
func needs(method, name string) access.Scopes {
	if method == "tools/call" && name == "write" {
		return access.Read | access.Draft
	}
	return access.Read
}

// Who has no token, or not the right one, is told so as RFC 6750 and RFC 9728 say, and
// nothing reaches the handler.
func TestTokens(t *testing.T) {
	h := &counted{}
	address, _ := start(t, h, Options{Access: &Access{Verifier: newFake(), Needs: needs}, AllowHosts: []string{"kb.example.org"}})
	url := "http://" + address + "/mcp"
	meta := `resource_metadata="http://` + address + `/.well-known/oauth-protected-resource/mcp"`
	write := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"write"}}`
	read := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"read"}}`
	tests := []struct {
		name, query, body string
		header            []string
		want              int
		challenge         string
	}{
		{"none", "", read, nil, 401, `Bearer scope="read", ` + meta},
		{"empty", "", read, []string{"Authorization", "Bearer "}, 401, `Bearer scope="read", ` + meta},
		{"basic", "", read, []string{"Authorization", "Basic reader"}, 401, `Bearer scope="read", ` + meta},
		{"unknown", "", read, []string{"Authorization", "Bearer nobody"}, 401, `Bearer error="invalid_token", scope="read", ` + meta},
		{"two", "", read, []string{"Authorization", "Bearer reader", "Authorization", "Bearer writer"}, 401, `Bearer scope="read", ` + meta},
		{"a list", "", read, []string{"Authorization", "Bearer reader, Bearer x"}, 401, `Bearer scope="read", ` + meta},
		{"in the address", "?access_token=reader", read, nil, 400, ""},
		{"in the address too", "?token=x", read, []string{"Authorization", "Bearer reader"}, 400, ""},
		{"in the address by its form", "?q=" + access.Prefix + "abc", read, []string{"Authorization", "Bearer reader"}, 400, ""},
		{"no scope", "", read, []string{"Authorization", "Bearer nothing"}, 403, `Bearer error="insufficient_scope", scope="read", ` + meta},
		{"scope", "", write, []string{"Authorization", "Bearer reader"}, 403, `Bearer error="insufficient_scope", scope="read draft", ` + meta},
		{"scope in a batch", "", "[" + read + "," + write + "]", []string{"Authorization", "Bearer reader"}, 403, `Bearer error="insufficient_scope", scope="read draft", ` + meta},
		{"provider down", "", read, []string{"Authorization", "Bearer broken"}, 503, ""},
		{"reader", "", read, []string{"Authorization", "Bearer reader"}, 200, ""},
		{"any case", "", read, []string{"Authorization", "bEARER reader"}, 200, ""},
		{"writer", "", write, []string{"Authorization", "Bearer writer"}, 200, ""},
	}
	for _, tt := range tests {
		for _, method := range []string{"POST", "GET", "DELETE"} {
			if method != "POST" && strings.HasPrefix(tt.name, "scope") {
				continue // they ask with a body
			}
			before := h.n.Load()
			resp, body := ask(t, method, url+tt.query, tt.body, tt.header...)
			if resp.StatusCode != tt.want || resp.Header.Get("WWW-Authenticate") != tt.challenge {
				t.Errorf("%s: %s %s\n%s\nwant %d %s", tt.name, method, resp.Status, resp.Header.Get("WWW-Authenticate"), tt.want, tt.challenge)
			}
			if reached := h.n.Load() > before; reached != (tt.want == 200) {
				t.Errorf("%s: %s reached the handler: %v", tt.name, method, reached)
			}
			if strings.Contains(body, "nobody") || strings.Contains(body, "provider is down") {
				t.Errorf("%s: the answer tells %s", tt.name, body)
			}
		}
	}
	if resp, _ := ask(t, "GET", "http://"+address+"/healthz", ""); resp.StatusCode != 200 {
		t.Errorf("healthz: %s", resp.Status)
	}
}

// The metadata says where the server is and what its tokens are; they are public.
func TestMetadata(t *testing.T) {
	plain := &Access{Verifier: newFake(), Issuers: []string{"https://id.example.org"}}
	proxied := &Access{Verifier: newFake(), URL: "https://kb.example.org/notes"}
	tests := []struct {
		access         *Access
		host, path     string
		want           int
		resource, from string
	}{
		{plain, "localhost:1", "", 200, "http://localhost:1/mcp", ""},
		{plain, "localhost:1", "/mcp", 200, "http://localhost:1/mcp", "https://id.example.org"},
		{plain, "localhost:1", "/other", 404, "", ""},
		{proxied, "localhost:1", "/notes/mcp", 200, "https://kb.example.org/notes/mcp", ""},
		{proxied, "kb.example.org", "/mcp", 200, "https://kb.example.org/notes/mcp", ""},
		{nil, "localhost:1", "", 404, "", ""},
	}
	for _, tt := range tests {
		address, _ := start(t, &counted{}, Options{Access: tt.access})
		resp, body := ask(t, "GET", "http://"+address+metadataPath+tt.path, "", "Host", tt.host)
		if resp.StatusCode != tt.want {
			t.Errorf("%s%s: %s", tt.host, tt.path, resp.Status)
		}
		if tt.want != 200 {
			continue
		}
		var m struct {
			Resource             string
			AuthorizationServers []string `json:"authorization_servers"`
			ScopesSupported      []string `json:"scopes_supported"`
		}
		if err := json.Unmarshal([]byte(body), &m); err != nil || m.Resource != tt.resource || len(m.ScopesSupported) != 3 || !strings.Contains(fmt.Sprint(m.AuthorizationServers), tt.from) {
			t.Errorf("%s%s: %v %s", tt.host, tt.path, err, body)
		}
	}
	address, _ := start(t, &counted{}, Options{Access: proxied})
	resp, _ := ask(t, "POST", "http://"+address+"/mcp", "{}")
	if got := resp.Header.Get("WWW-Authenticate"); !strings.Contains(got, `"https://kb.example.org/.well-known/oauth-protected-resource/notes/mcp"`) {
		t.Errorf("challenge: %s", got)
	}
}

// A stream ends soon after its token does.
func TestStreamEndsWithToken(t *testing.T) {
	tokens := newFake()
	address, _ := start(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, "stream\n")
		http.NewResponseController(w).Flush()
		<-r.Context().Done()
	}), Options{Access: &Access{Verifier: tokens, Needs: needs}, Recheck: time.Millisecond})
	for _, ask := range []struct{ method, body string }{{"GET", ""}, {"POST", `{"method":"subscriptions/listen"}`}} {
		r, err := http.NewRequest(ask.method, "http://"+address+"/mcp", strings.NewReader(ask.body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer reader")
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		tokens.grant("reader", -1)
		if _, err := io.Copy(io.Discard, resp.Body); err != nil {
			t.Errorf("%s: %v", ask.method, err)
		}
		tokens.grant("reader", int(access.Read))
	}
}

// One token's requests are bounded, and cost another's nothing.
func TestLimits(t *testing.T) {
	running, finish := make(chan struct{}), make(chan struct{})
	address, _ := start(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Slow") != "" {
			running <- struct{}{}
			<-finish
		}
	}), Options{Access: &Access{Verifier: newFake(), Needs: needs}, Limits: Limits{Rate: 0.001, Concurrent: 2}})
	url := "http://" + address + "/mcp"
	var wg sync.WaitGroup
	slow := func(token string) {
		wg.Go(func() {
			if resp, _ := ask(t, "POST", url, "{}", "Authorization", "Bearer "+token, "Slow", "1"); resp.StatusCode != 200 {
				t.Errorf("a call that runs: %s", resp.Status)
			}
		})
		<-running
	}
	slow("writer") // all that the rate lets through
	resp, _ := ask(t, "POST", url, "{}", "Authorization", "Bearer writer")
	if resp.StatusCode != 429 || resp.Header.Get("Retry-After") != "1000" {
		t.Errorf("too fast: %s, again after %s", resp.Status, resp.Header.Get("Retry-After"))
	}
	if resp, _ := ask(t, "POST", url, "{}", "Authorization", "Bearer reader"); resp.StatusCode != 200 {
		t.Errorf("another token: %s", resp.Status)
	}
	close(finish)
	wg.Wait()
}

func TestConcurrent(t *testing.T) {
	running, finish := make(chan struct{}), make(chan struct{})
	address, _ := start(t, http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		running <- struct{}{}
		<-finish
	}), Options{Access: &Access{Verifier: newFake(), Needs: needs}, Limits: Limits{Concurrent: 2}})
	url := "http://" + address + "/mcp"
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() { ask(t, "POST", url, "{}", "Authorization", "Bearer reader") })
		<-running
	}
	resp, _ := ask(t, "POST", url, "{}", "Authorization", "Bearer reader")
	if resp.StatusCode != 429 || resp.Header.Get("Retry-After") != "1" {
		t.Errorf("a third at a time: %s, again after %q", resp.Status, resp.Header.Get("Retry-After"))
	}
	close(finish)
	wg.Wait()
	wg.Go(func() { <-running })
	if resp, _ := ask(t, "POST", url, "{}", "Authorization", "Bearer reader"); resp.StatusCode != 200 {
		t.Errorf("afterwards: %s", resp.Status)
	}
	wg.Wait()
}
