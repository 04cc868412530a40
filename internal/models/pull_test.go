package models

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestPull(t *testing.T) {
	f, s := newFakeHub(t), &Store{Dir: filepath.Join(t.TempDir(), "models")}
	var last, total int64
	s.Progress = func(done, of int64, what string) {
		if of > 0 {
			last, total = done, of
		}
	}
	r, already, err := s.Pull(context.Background(), f.hub, tinyModel())
	if err != nil || already || !r.OK || r.Engine != "static" || r.Dim != 2 || r.Notice != "" {
		t.Fatalf("%+v, %v, %v", r, already, err)
	}
	f.asked(t, "model.safetensors ", "tokenizer.json ", "config.json ")
	if last < total || total == 0 {
		t.Errorf("progress ends at %d of %d", last, total)
	}
	want := Lock{Name: "tiny", Source: "some/tiny", Revision: revision, Engine: "static", Dim: 2}
	for _, name := range []string{"model.safetensors", "tokenizer.json", "config.json"} {
		proof := ByHub
		if name == "model.safetensors" {
			proof = Published
		}
		body := f.files[name]
		want.Files = append(want.Files, File{name, int64(len(body)), sha256Hex(body), proof})
	}
	if diff := cmp.Diff(want, readLock(t, filepath.Join(s.Dir, "tiny"))); diff != "" {
		t.Errorf("model.lock (-want +got):\n%s", diff)
	}
	if _, already, err := s.Pull(context.Background(), f.hub, tinyModel()); err != nil || !already {
		t.Errorf("again: %v, %v", already, err)
	}
	f.asked(t)
	if names := leftovers(t, s.Dir); len(names) > 0 {
		t.Errorf("%v is left", names)
	}
	// What has been damaged since is downloaded again.
	if err := os.WriteFile(filepath.Join(s.Dir, "tiny", "config.json"), []byte("{}"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, already, err := s.Pull(context.Background(), f.hub, tinyModel()); err != nil || already {
		t.Errorf("after damage: %v, %v", already, err)
	}
}

// TestPullResumes breaks every download off half way.
func TestPullResumes(t *testing.T) {
	f, s := newFakeHub(t), &Store{Dir: t.TempDir()}
	f.fault = func(n int, w http.ResponseWriter, r *http.Request) bool {
		if r.Header.Get("Range") == "" {
			breakOff(w, f.files[filepath.Base(r.URL.Path)])
		}
		return false
	}
	if _, _, err := s.Pull(context.Background(), f.hub, tinyModel()); err != nil {
		t.Fatal(err)
	}
	half := func(name string) string { return fmt.Sprintf("%s bytes=%d-", name, len(f.files[name])/2) }
	f.asked(t, "model.safetensors ", half("model.safetensors"), "tokenizer.json ", half("tokenizer.json"), "config.json ", half("config.json"))
	if diff := cmp.Diff([]time.Duration{time.Second, time.Second, time.Second}, f.waits); diff != "" {
		t.Errorf("waits: %s", diff)
	}
}

// TestPullGoesOn stops the whole command and starts it again.
func TestPullGoesOn(t *testing.T) {
	f, s := newFakeHub(t), &Store{Dir: t.TempDir()}
	ctx, cancel := context.WithCancel(context.Background())
	f.fault = func(n int, w http.ResponseWriter, r *http.Request) bool {
		if n == 3 {
			cancel()
			breakOff(w, f.files["config.json"])
		}
		return false
	}
	if _, _, err := s.Pull(ctx, f.hub, tinyModel()); !errors.Is(err, context.Canceled) {
		t.Fatalf("cancelled: %v", err)
	}
	if list, err := s.List(); err != nil || len(list) > 0 {
		t.Errorf("half a model is listed: %v, %v", list, err)
	}
	f.fault, f.requests = nil, nil
	if _, _, err := s.Pull(context.Background(), f.hub, tinyModel()); err != nil {
		t.Fatal(err)
	}
	// The published file is known to be whole; of the others the hub is asked.
	if got := f.requests; len(got) != 2 || !strings.HasPrefix(got[0], "tokenizer.json bytes=") {
		t.Errorf("asked for %q", got)
	}
}

// status answers the first requests with a code.
func status(code, times int, header ...string) func(f *fakeHub) {
	return func(f *fakeHub) {
		f.fault = func(n int, w http.ResponseWriter, r *http.Request) bool {
			if n > times {
				return false
			}
			for i := 0; i < len(header); i += 2 {
				w.Header().Set(header[i], header[i+1])
			}
			w.WriteHeader(code)
			return true
		}
	}
}

// pullFaults are what may go wrong; without an error wanted, the pull succeeds.
var pullFaults = map[string]struct {
	set   func(f *fakeHub)
	want  error
	says  string
	waits []time.Duration
}{
	"500 twice":           {set: status(500, 2), waits: []time.Duration{1e9, 2e9}},
	"500 for ever":        {set: status(500, 99), want: ErrHub, says: "HTTP status 500, 5 times", waits: []time.Duration{1e9, 2e9, 4e9, 8e9}},
	"busy, for seconds":   {set: status(429, 1, "Retry-After", "7"), waits: []time.Duration{7e9}},
	"busy, until a date":  {set: status(503, 1, "Retry-After", "Fri, 02 Jan 2026 03:05:05 GMT"), waits: []time.Duration{60e9}},
	"busy, for an hour":   {set: status(429, 1, "Retry-After", "3600"), want: ErrHub, says: "asks to wait 1h0m0s"},
	"busy, for no reason": {set: status(429, 1, "Retry-After", "soon"), waits: []time.Duration{1e9}},
	"a login":             {set: status(401, 99), want: ErrLogin, says: "HTTP status 401"},
	"a closed door":       {set: status(403, 99), want: ErrLogin, says: "HTTP status 403"},
	"not there":           {set: func(f *fakeHub) { delete(f.files, "tokenizer.json") }, want: ErrMissing, says: "tokenizer.json"},
	"a teapot":            {set: status(418, 99), want: ErrHub, says: "HTTP status 418"},
	"other bytes":         {set: func(f *fakeHub) { f.files["model.safetensors"][30] ^= 1 }, want: ErrHash, says: "it is removed"},
	"more bytes": {set: func(f *fakeHub) {
		f.files["model.safetensors"] = append(f.files["model.safetensors"], "more"...)
	}, want: ErrHash, says: "longer than"},
	"fewer bytes": {set: func(f *fakeHub) {
		f.files["model.safetensors"] = f.files["model.safetensors"][:50]
	}, want: ErrHash, says: "it has 50 bytes, not", waits: []time.Duration{1e9}},
	"another SHA-256": {set: func(f *fakeHub) { f.tags["config.json"] = strings.Repeat("ab", 32) }, want: ErrHash, says: "config.json"},
	"another blob":    {set: func(f *fakeHub) { f.tags["config.json"] = strings.Repeat("ab", 20) }, want: ErrHash, says: "config.json"},
	"another part": {set: func(f *fakeHub) {
		f.fault = func(n int, w http.ResponseWriter, r *http.Request) bool {
			if n == 1 {
				breakOff(w, f.files["model.safetensors"])
			}
			if n == 2 {
				w.Header().Set("Content-Range", "bytes 3-9/10")
				w.WriteHeader(http.StatusPartialContent)
			}
			return n == 2
		}
	}, waits: []time.Duration{1e9, 2e9}},
	"no parts": {set: func(f *fakeHub) {
		f.fault = func(n int, w http.ResponseWriter, r *http.Request) bool {
			if n == 1 {
				breakOff(w, f.files["model.safetensors"])
			}
			r.Header.Del("Range")
			return false
		}
	}, waits: []time.Duration{1e9}},
	"in a circle": {set: func(f *fakeHub) {
		f.fault = func(n int, w http.ResponseWriter, r *http.Request) bool {
			http.Redirect(w, r, r.URL.Path, http.StatusFound)
			return true
		}
	}, want: ErrHub, says: "on and on", waits: []time.Duration{1e9, 2e9, 4e9, 8e9}},
	"no JSON": {set: func(f *fakeHub) { f.files["tokenizer.json"] = []byte("<html>log in to the network</html>") }, says: "tokenizer.json", want: errAny},
}

func TestPullAgainstFaults(t *testing.T) {
	for name, c := range pullFaults {
		t.Run(name, func(t *testing.T) {
			f, s := newFakeHub(t), &Store{Dir: t.TempDir()}
			c.set(f)
			_, _, err := s.Pull(context.Background(), f.hub, tinyModel())
			if diff := cmp.Diff(c.waits, f.waits); diff != "" {
				t.Errorf("waits (-want +got): %s", diff)
			}
			if c.want == nil {
				if err != nil {
					t.Error(err)
				}
				return
			}
			if err == nil || c.want != errAny && !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("got %v; want %v saying %q", err, c.want, c.says)
			}
			if list, err := s.List(); err != nil || len(list) > 0 {
				t.Errorf("it is installed: %v, %v", list, err)
			}
		})
	}
}

var errAny = errors.New("any error")

// TestPullStalls has a hub that falls silent.
func TestPullStalls(t *testing.T) {
	f, s := newFakeHub(t), &Store{Dir: t.TempDir()}
	f.hub.stall = 20 * time.Millisecond
	f.fault = func(n int, w http.ResponseWriter, r *http.Request) bool {
		if n != 1 {
			return false
		}
		w.Header().Set("Content-Length", "98")
		w.Write(f.files["model.safetensors"][:1])
		w.(http.Flusher).Flush()
		<-r.Context().Done()
		return true
	}
	if _, _, err := s.Pull(context.Background(), f.hub, tinyModel()); err != nil {
		t.Fatal(err)
	}
	if got := f.requests[1]; got != "model.safetensors bytes=1-" {
		t.Errorf("the second request is %q", got)
	}
}

// TestPullUnproven has a mirror without tags.
func TestPullUnproven(t *testing.T) {
	f, s := newFakeHub(t), &Store{Dir: t.TempDir()}
	f.tags["config.json"], f.tags["tokenizer.json"] = "x", "12"
	r, _, err := s.Pull(context.Background(), f.hub, tinyModel())
	if err != nil || !strings.Contains(r.Notice, "config.json must be: it is taken as it came") {
		t.Errorf("%+v, %v", r, err)
	}
	if l := readLock(t, filepath.Join(s.Dir, "tiny")); l.Files[2].Proof != First {
		t.Errorf("%+v", l)
	}
}

// TestPullStalePart finds bytes of something else where it stopped.
func TestPullStalePart(t *testing.T) {
	for _, size := range []int{10, len(tinyFiles()["model.safetensors"]), 500} {
		f, s := newFakeHub(t), &Store{Dir: t.TempDir()}
		if err := os.MkdirAll(s.staging("tiny"), 0o755); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"model.safetensors", "config.json"} {
			if err := os.WriteFile(filepath.Join(s.staging("tiny"), name), make([]byte, size), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if _, _, err := s.Pull(context.Background(), f.hub, tinyModel()); err != nil {
			t.Errorf("%d stale bytes: %v", size, err)
		}
	}
}

type fullDisk struct{ left int }

func (d *fullDisk) Write(p []byte) (int, error) {
	if len(p) > d.left {
		return d.left, fmt.Errorf("write: %w", syscall.ENOSPC)
	}
	return len(p), nil
}

func TestPullDiskFull(t *testing.T) {
	f, s := newFakeHub(t), &Store{Dir: t.TempDir()}
	s.wrap = func(io.Writer) io.Writer { return &fullDisk{20} }
	_, _, err := s.Pull(context.Background(), f.hub, tinyModel())
	if !errors.Is(err, syscall.ENOSPC) || len(f.waits) > 0 {
		t.Errorf("%v after waiting %v", err, f.waits)
	}
	s.wrap = nil
	if _, _, err := s.Pull(context.Background(), f.hub, tinyModel()); err != nil {
		t.Errorf("with room again: %v", err)
	}
}

func TestPullBusy(t *testing.T) {
	f, s := newFakeHub(t), &Store{Dir: t.TempDir()}
	unlock, err := s.lock("tiny")
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.Pull(context.Background(), f.hub, tinyModel()); !errors.Is(err, ErrBusy) {
		t.Errorf("while another process is at it: %v", err)
	}
	unlock()
	if _, _, err := s.Pull(context.Background(), f.hub, tinyModel()); err != nil {
		t.Error(err)
	}
}

// TestPullOtherDimension has a model that is not what kb knows of it.
func TestPullOtherDimension(t *testing.T) {
	f, s := newFakeHub(t), &Store{Dir: t.TempDir()}
	m := tinyModel()
	m.Dim = 3
	if _, _, err := s.Pull(context.Background(), f.hub, m); !errors.Is(err, ErrHash) || !strings.Contains(err.Error(), "2 dimensions, not 3") {
		t.Errorf("%v", err)
	}
	if names := leftovers(t, s.Dir); len(names) > 0 {
		t.Errorf("%v is left", names)
	}
}

func TestAddresses(t *testing.T) {
	for _, bad := range []string{"huggingface.co", "ftp://x/", "http://", "%"} {
		if _, err := NewHub(bad); err == nil {
			t.Errorf("NewHub(%q) takes it", bad)
		}
	}
	h, err := NewHub("")
	if err != nil {
		t.Fatal(err)
	}
	m := tinyModel()
	if got, _ := h.address(m, m.Files[0]); got != DefaultEndpoint+"/some/tiny/resolve/"+revision+"/model.safetensors" {
		t.Error(got)
	}
	m.Repository, m.Files[0].From = "https://other/place", "a/b.bin"
	if got, _ := h.address(m, m.Files[0]); got != "https://other/place/"+revision+"/a/b.bin" {
		t.Error(got)
	}
}

// TestNoDowngrade refuses to go from an encrypted connection to a plain one.
func TestNoDowngrade(t *testing.T) {
	plain, _ := http.NewRequest("GET", "http://cdn/", nil)
	h, _ := NewHub("https://hub")
	h.client.Transport = roundTrip(func(r *http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: 302, Header: http.Header{"Location": {plain.URL.String()}}, Body: http.NoBody, Request: r}, nil
	})
	if _, _, err := h.get(context.Background(), "https://hub/x", 0); err == nil || !strings.Contains(err.Error(), "without encryption") {
		t.Error(err)
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
