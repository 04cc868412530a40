package httpd

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
)

// counted is a handler that counts what reaches it.
type counted struct {
	n    atomic.Int64
	last atomic.Value // the last body
}

func (c *counted) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c.n.Add(1)
	b, _ := io.ReadAll(r.Body)
	c.last.Store(string(b))
	fmt.Fprint(w, "handled")
}

// start serves a handler at a loopback address until the test ends.
func start(t *testing.T, h http.Handler, o Options) (address string, s *Server) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	o.Log = t.Logf
	s = New(h, o)
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.Serve(ctx, l) }()
	t.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			t.Errorf("serve: %v", err)
		}
	})
	return l.Addr().String(), s
}

// ask sends one request and returns its answer.
func ask(t *testing.T, method, url, body string, header ...string) (*http.Response, string) {
	t.Helper()
	r, err := http.NewRequest(method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(header); i += 2 {
		if header[i] == "Host" {
			r.Host = header[i+1]
		} else {
			r.Header.Add(header[i], header[i+1])
		}
	}
	resp, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp, string(raw)
}

// A name that leads here is not enough: no method and no path is served under a
// name that is not the server's, or to a page of another origin.
func TestHostsAndOrigins(t *testing.T) {
	h := &counted{}
	address, _ := start(t, h, Options{AllowHosts: []string{"kb.example.org", "Other.example.org:8443"}})
	_, port, _ := net.SplitHostPort(address)
	tests := []struct {
		name   string
		header []string
		ok     bool
	}{
		{"as it is", nil, true},
		{"localhost", []string{"Host", "localhost:" + port}, true},
		{"IPv6", []string{"Host", "[::1]:" + port}, true},
		{"allowed", []string{"Host", "KB.example.org"}, true},
		{"allowed with its port", []string{"Host", "other.example.org:8443"}, true},
		{"allowed with another port", []string{"Host", "other.example.org:1"}, false},
		{"rebound", []string{"Host", "evil.example:" + port}, false},
		{"rebound, same origin", []string{"Host", "evil.example:" + port, "Origin", "http://evil.example:" + port}, false},
		{"looks like it", []string{"Host", "127.0.0.1.evil.example"}, false},
		{"ends like it", []string{"Host", "xkb.example.org"}, false},
		{"another address", []string{"Host", "192.168.1.5:" + port}, false},
		{"no host", []string{"Host", "."}, false},
		{"own page", []string{"Origin", "http://" + address}, true},
		{"own page, allowed name", []string{"Host", "kb.example.org", "Origin", "https://kb.example.org"}, true},
		{"allowed page", []string{"Origin", "https://kb.example.org"}, true},
		{"other page", []string{"Origin", "https://evil.example"}, false},
		{"other port of this machine", []string{"Origin", "http://127.0.0.1:1"}, false},
		{"sandboxed page", []string{"Origin", "null"}, false},
		{"empty origin", []string{"Origin", ""}, false},
		{"two origins", []string{"Origin", "http://" + address, "Origin", "https://evil.example"}, false},
		{"extension", []string{"Origin", "chrome-extension://abc"}, false},
		{"link from elsewhere", []string{"Sec-Fetch-Site", "cross-site"}, false},
		{"typed in", []string{"Sec-Fetch-Site", "none"}, true},
	}
	for _, tt := range tests {
		for _, method := range []string{"GET", "POST", "DELETE", "OPTIONS", "PUT"} {
			for _, path := range []string{"/mcp", "/healthz", "/", "/nowhere"} {
				before := h.n.Load()
				resp, _ := ask(t, method, "http://"+address+path, "", tt.header...)
				if (resp.StatusCode != http.StatusForbidden) != tt.ok {
					t.Errorf("%s: %s %s: %s", tt.name, method, path, resp.Status)
				}
				if reached := h.n.Load() > before; reached && !tt.ok {
					t.Errorf("%s: %s %s reached the handler", tt.name, method, path)
				}
				if resp.Header.Get("Access-Control-Allow-Origin") != "" {
					t.Errorf("%s: %s %s: other origins may read it", tt.name, method, path)
				}
			}
		}
	}
}

// What is too long or nests too deep is refused before it is handled.
func TestBodies(t *testing.T) {
	h := &counted{}
	address, _ := start(t, h, Options{MaxBody: 1000})
	url := "http://" + address + "/mcp"
	tests := []struct {
		name, body string
		want       int
	}{
		{"small", `{"a":1}`, 200},
		{"just fits", strings.Repeat(" ", 1000), 200},
		{"too long", strings.Repeat(" ", 1001), 413},
		{"deep", strings.Repeat("[", 64) + strings.Repeat("]", 64), 200},
		{"too deep", strings.Repeat("[", 65), 400},
		{"too deep, mixed", strings.Repeat(`{"a":[`, 33), 400},
		{"brackets in text", `"` + strings.Repeat("[", 900) + `"`, 200},
		{"escaped quote", `"\"` + strings.Repeat("{", 900) + `"`, 200},
		{"escaped backslash", `"\\"` + strings.Repeat("{", 900), 400},
		{"not JSON", "hello", 200},
	}
	for _, tt := range tests {
		for _, chunked := range []bool{false, true} {
			before := h.n.Load()
			r, err := http.NewRequest("POST", url, strings.NewReader(tt.body))
			if err != nil {
				t.Fatal(err)
			}
			if chunked {
				r.ContentLength = -1
			}
			resp, err := http.DefaultClient.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			resp.Body.Close()
			if resp.StatusCode != tt.want {
				t.Errorf("%s, chunked %v: %s, want %d", tt.name, chunked, resp.Status, tt.want)
			}
			if handled := h.n.Load() > before; handled != (tt.want == 200) {
				t.Errorf("%s: handled %v", tt.name, handled)
			}
			if tt.want == 200 && h.last.Load() != tt.body {
				t.Errorf("%s: the handler read %q", tt.name, h.last.Load())
			}
		}
	}
}

// A panic ends its own request, and no other.
func TestPanic(t *testing.T) {
	address, _ := start(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Bad") != "" {
			panic("boom")
		}
	}), Options{})
	r := httptest.NewRequest("GET", "http://"+address+"/mcp", nil)
	r.RequestURI = ""
	r.Header.Set("Bad", "1")
	if resp, err := http.DefaultTransport.RoundTrip(r); err == nil {
		t.Errorf("an answer: %s", resp.Status)
		resp.Body.Close()
	}
	if resp, _ := ask(t, "GET", "http://"+address+"/mcp", ""); resp.StatusCode != 200 {
		t.Errorf("after a panic: %s", resp.Status)
	}
}

// A server that ends lets calls finish, and ends streams that would not.
func TestDrain(t *testing.T) {
	running, finish := make(chan struct{}, 2), make(chan struct{})
	s := New(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		running <- struct{}{}
		if r.Method == http.MethodGet {
			fmt.Fprint(w, "stream\n")
			http.NewResponseController(w).Flush()
			<-r.Context().Done()
			return
		}
		select {
		case <-finish:
			fmt.Fprint(w, "done")
		case <-r.Context().Done():
			t.Error("the call was broken off")
		}
	}), Options{Log: t.Logf})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	url := "http://" + l.Addr().String() + "/mcp"
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(ctx, l) }()
	answer := make(chan string, 1)
	go func() {
		resp, err := http.Post(url, "application/json", strings.NewReader("{}"))
		if err != nil {
			answer <- err.Error()
			return
		}
		defer resp.Body.Close()
		b, _ := io.ReadAll(resp.Body)
		answer <- string(b)
	}()
	stream, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Body.Close()
	<-running
	<-running
	stop()
	if _, err := io.Copy(io.Discard, bufio.NewReader(stream.Body)); err != nil { // ends
		t.Errorf("stream: %v", err)
	}
	select {
	case err := <-ended:
		t.Fatalf("ended with a call running: %v", err)
	default:
	}
	if _, err := http.Get(url); err == nil {
		t.Error("a server that ends takes a call")
	}
	close(finish)
	if got := <-answer; got != "done" {
		t.Errorf("the call's answer: %s", got)
	}
	if err := <-ended; err != nil {
		t.Errorf("serve: %v", err)
	}
}
