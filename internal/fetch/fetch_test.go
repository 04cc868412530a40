package fetch

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// hostile is a server that does what broken and hostile ones do.
func hostile(t *testing.T) (*httptest.Server, *atomic.Int64) {
	t.Helper()
	var asked atomic.Int64
	bomb := zipped(t, 4<<20)
	mux := http.NewServeMux()
	on := func(path string, h http.HandlerFunc) {
		mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) { asked.Add(1); h(w, r) })
	}
	on("/page", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("ETag", `"v1"`)
		w.Header().Set("Last-Modified", "Tue, 04 Mar 2025 10:00:00 GMT")
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		if r.Header.Get("If-None-Match") == `"v1"` || r.Header.Get("If-Modified-Since") != "" {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		fmt.Fprintf(w, "for %s", r.UserAgent())
	})
	on("/moved", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "/page", http.StatusMovedPermanently)
	})
	on("/found", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/moved", http.StatusFound) })
	on("/loop", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/loop?", http.StatusFound) })
	on("/inward", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "http://127.0.0.2:1/secret", http.StatusFound)
	})
	on("/metadata", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "http://169.254.169.254/latest/meta-data", http.StatusFound)
	})
	on("/file", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "file:///etc/passwd", http.StatusFound)
	})
	on("/drip", func(w http.ResponseWriter, r *http.Request) {
		for {
			if _, err := w.Write([]byte("x")); err != nil {
				return
			}
			w.(http.Flusher).Flush()
			select {
			case <-r.Context().Done():
				return
			case <-time.After(time.Millisecond):
			}
		}
	})
	on("/silent", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	on("/endless", func(w http.ResponseWriter, r *http.Request) {
		for r.Context().Err() == nil {
			if _, err := w.Write(make([]byte, 64<<10)); err != nil {
				return
			}
		}
	})
	on("/stated", func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Content-Length", "10000000000") })
	on("/bomb", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		_, _ = w.Write(bomb) // the client may be gone
	})
	on("/short", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "100")
		_, _ = w.Write([]byte("less"))
	})
	on("/named", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Disposition", `attachment; filename="../../x.pdf"`)
		w.Header().Set("ETag", `"`+strings.Repeat("long", 100)+`"`)
		_, _ = w.Write([]byte("x"))
	})
	on("/status/{code}", func(w http.ResponseWriter, r *http.Request) {
		code := 0
		_, _ = fmt.Sscan(r.PathValue("code"), &code)
		w.Header().Set("Retry-After", r.URL.Query().Get("after"))
		w.WriteHeader(code)
	})
	on("/private/", func(http.ResponseWriter, *http.Request) { t.Error("robots.txt was not respected") })
	mux.HandleFunc("/robots.txt", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, "User-agent: *\nDisallow: /\n\nUser-agent: KB\nDisallow: /private/\nAllow: /page\n")
	})
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s, &asked
}

// zipped is that many zeros, compressed.
func zipped(t *testing.T, size int) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, err := z.Write(make([]byte, size))
	if err = errors.Join(err, z.Close()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestGet(t *testing.T) {
	s, _ := hostile(t)
	tests := []struct {
		path string
		want error
	}{
		{"/loop", ErrRedirects},
		{"/file", ErrScheme},
		{"/drip", ErrTimeout},
		{"/silent", ErrTimeout},
		{"/endless", ErrTooLarge},
		{"/stated", ErrTooLarge},
		{"/bomb", ErrTooLarge},
		{"/short", ErrHost},
		{"/private/x", ErrRobots},
	}
	for _, tt := range tests {
		t.Run(tt.path, func(t *testing.T) {
			t.Parallel()
			c := &Client{UserAgent: "kb/1", AllowPrivate: true, MaxBody: 1 << 20}
			if tt.want == ErrTimeout {
				c.Timeout = 200 * time.Millisecond
			}
			if page, err := c.Get(t.Context(), s.URL+tt.path, Conditions{}); !errors.Is(err, tt.want) {
				t.Errorf("got %+v, %v; want %v", page, err, tt.want)
			}
		})
	}
}

func TestGetPage(t *testing.T) {
	s, _ := hostile(t)
	c := &Client{UserAgent: "kb/1", AllowPrivate: true}
	page, err := c.Get(t.Context(), s.URL+"/found", Conditions{})
	if err != nil {
		t.Fatal(err)
	}
	if got := string(page.Body); got != "for kb/1" || page.URL != s.URL+"/page" || page.ETag != `"v1"` || page.MediaType != "text/html; charset=utf-8" {
		t.Errorf("got %+v", page)
	}
	if page.Moved != "" {
		t.Errorf("moved to %s, though the first redirect is for now", page.Moved)
	}
	if page, err = c.Get(t.Context(), s.URL+"/moved", Conditions{}); err != nil || page.Moved != s.URL+"/page" {
		t.Errorf("got %+v, %v; want it to have moved", page, err)
	}
	for _, known := range []Conditions{{ETag: `"v1"`}, {LastModified: page.LastModified}} {
		if page, err := c.Get(t.Context(), s.URL+"/page", known); err != nil || !page.NotModified || page.Body != nil {
			t.Errorf("with %+v got %+v, %v; want not modified", known, page, err)
		}
	}
	page, err = c.Get(t.Context(), s.URL+"/named", Conditions{})
	if err != nil || page.Name != "x.pdf" || page.ETag != "" {
		t.Errorf("got %+v, %v; want the name without directories, and no ETag", page, err)
	}
}

func TestStatus(t *testing.T) {
	s, asked := hostile(t)
	tests := []struct {
		path        string
		gone, later bool
		requests    int64
	}{
		{"/status/404", true, false, 1},
		{"/status/410", true, false, 1},
		{"/status/403", false, false, 1},
		{"/status/401", false, false, 1},
		{"/status/500", false, true, 1},
		{"/status/429?after=3", false, true, 3},
		{"/status/503?after=3600", false, true, 1},
	}
	for _, tt := range tests {
		var waited time.Duration
		c := &Client{AllowPrivate: true, UserAgent: "kb/1", Wait: func(_ context.Context, d time.Duration) error { waited += d; return nil }}
		before := asked.Load()
		_, err := c.Get(t.Context(), s.URL+tt.path, Conditions{})
		var status *StatusError
		if !errors.As(err, &status) || status.Gone() != tt.gone || status.Later() != tt.later {
			t.Errorf("%s: got %v", tt.path, err)
		}
		if n := asked.Load() - before; n != tt.requests {
			t.Errorf("%s: %d requests, want %d", tt.path, n, tt.requests)
		}
		if want := time.Duration(tt.requests-1) * 3 * time.Second; waited != want {
			t.Errorf("%s: waited %v, want %v", tt.path, waited, want)
		}
		if !strings.Contains(tt.path, "3600") {
			continue
		}
		if _, err := c.Get(t.Context(), s.URL+"/page", Conditions{}); !errors.As(err, &status) || asked.Load() != before+1 {
			t.Errorf("a host that asked to be left alone was asked again: %v", err)
		}
	}
}

func TestPrivate(t *testing.T) {
	s, asked := hostile(t)
	port := s.URL[strings.LastIndexByte(s.URL, ':'):]
	for _, address := range []string{s.URL + "/page", "http://localhost" + port + "/page", "http://[::1]" + port, "http://0.0.0.0" + port,
		"http://169.254.169.254/latest", "http://10.0.0.1", "http://[::ffff:127.0.0.1]" + port} {
		_, err := (&Client{}).Get(t.Context(), address, Conditions{})
		if !errors.Is(err, ErrPrivate) && !errors.Is(err, ErrHost) {
			t.Errorf("%s: got %v, want a refusal", address, err)
		}
	}
	if n := asked.Load(); n != 0 {
		t.Errorf("%d requests came through", n)
	}
	// The first host may be asked; where it redirects to may not.
	for _, path := range []string{"/inward", "/metadata"} {
		c := &Client{UserAgent: "kb/1"}
		c.once.Do(func() {
			c.AllowPrivate = true
			c.open()
			c.client.Transport = Transport(func(a netip.Addr) bool { return a == netip.MustParseAddr("127.0.0.1") }, time.Second)
		})
		if _, err := c.Get(t.Context(), s.URL+path, Conditions{}); !errors.Is(err, ErrPrivate) {
			t.Errorf("%s: got %v, want %v", path, err, ErrPrivate)
		}
	}
}

func TestOffline(t *testing.T) {
	s, asked := hostile(t)
	if _, err := (&Client{Offline: true, AllowPrivate: true}).Get(t.Context(), s.URL+"/page", Conditions{}); !errors.Is(err, ErrOffline) || asked.Load() != 0 {
		t.Errorf("got %v after %d requests, want %v", err, asked.Load(), ErrOffline)
	}
}

func TestTLS(t *testing.T) {
	s := httptest.NewUnstartedServer(http.NotFoundHandler())
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.StartTLS()
	defer s.Close()
	if _, err := (&Client{AllowPrivate: true}).Get(t.Context(), s.URL, Conditions{}); !errors.Is(err, ErrHost) || !strings.Contains(err.Error(), "certificate") {
		t.Errorf("got %v, want the certificate refused", err)
	}
}

// A robots.txt that is not there allows all, one that fails allows nothing.
func TestRobotsAnswers(t *testing.T) {
	for code, want := range map[int]error{200: nil, 404: nil, 403: nil, 500: ErrRobots, 429: ErrRobots} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/robots.txt" {
				w.WriteHeader(code)
				_, _ = w.Write(bytes.Repeat([]byte("# comment\n"), 100_000))
			}
		}))
		if _, err := (&Client{AllowPrivate: true}).Get(t.Context(), s.URL+"/x", Conditions{}); !errors.Is(err, want) {
			t.Errorf("%d: got %v, want %v", code, err, want)
		}
		s.Close()
	}
}

func TestRobots(t *testing.T) {
	const text = "User-agent: other\nUser-agent: kb # us\nDisallow: /a\nAllow: /a/b\nDisallow: /*.pdf$\nDisallow:\nDisallow: /q?x=\n\nUser-agent: *\nDisallow: /\n"
	rules := parseRobots(text, "kb")
	for path, want := range map[string]bool{"/": true, "/a": false, "/a/c": false, "/a/b/c": true, "/x.pdf": false, "/x.pdf?y": true, "/q?x=1": false, "/q?y=1": true, "/robots.txt": true} {
		u, err := url.Parse("https://example.org" + path)
		if err != nil {
			t.Fatal(err)
		}
		if got := rules.allow(u); got != want {
			t.Errorf("%s: allowed %v, want %v", path, got, want)
		}
	}
	if u, _ := url.Parse("https://example.org/z"); parseRobots(text, "third").allow(u) {
		t.Error("a product without a group of its own is not bound by the one for all")
	}
}

func FuzzRobots(f *testing.F) {
	f.Add("User-agent: *\nDisallow: /*a*b$\n", "/xaxb")
	f.Fuzz(func(t *testing.T, text, path string) {
		parseRobots(text, "kb").allow(&url.URL{Path: path})
	})
}

// That nothing changed is no answer to who has nothing.
func TestNotModifiedUnasked(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/page" {
			w.WriteHeader(http.StatusNotModified)
		}
	}))
	defer s.Close()
	c := &Client{AllowPrivate: true}
	var status *StatusError
	if page, err := c.Get(t.Context(), s.URL+"/page", Conditions{}); !errors.As(err, &status) || status.Code != http.StatusNotModified || page != nil {
		t.Errorf("got %+v, %v", page, err)
	}
	if page, err := c.Get(t.Context(), s.URL+"/page", Conditions{ETag: "x"}); err != nil || !page.NotModified {
		t.Errorf("asked for: got %+v, %v", page, err)
	}
}
