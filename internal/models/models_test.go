package models

import (
	"bytes"
	"context"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"kb/vector"
)

// tinyFiles are those of a static model of three words.
func tinyFiles() map[string][]byte {
	header := `{"embeddings":{"dtype":"F32","shape":[3,2],"data_offsets":[0,24]}}`
	table := binary.LittleEndian.AppendUint64(nil, uint64(len(header)))
	table, _ = binary.Append(append(table, header...), binary.LittleEndian, []float32{0, 0, 1, 0, 0, 1})
	// Long enough for a download to break off in the middle.
	config := []byte(`{"normalize":true,"about":"` + strings.Repeat("x", 5000) + `"}`)
	tokenizer := []byte(`{"model":{"type":"WordPiece","unk_token":"[UNK]","continuing_subword_prefix":"##","max_input_chars_per_word":100,` +
		`"vocab":{"[UNK]":0,"first":1,"text":2}},"pre_tokenizer":{"type":"BertPreTokenizer"}}`)
	return map[string][]byte{"model.safetensors": table, "tokenizer.json": tokenizer, "config.json": config}
}

func sha256Hex(b []byte) string { s := sha256.Sum256(b); return hex.EncodeToString(s[:]) }

func gitHex(b []byte) string {
	s := sha1.Sum(append(fmt.Appendf(nil, "blob %d\x00", len(b)), b...))
	return hex.EncodeToString(s[:])
}

const revision = "0123456789abcdef0123456789abcdef01234567"

// tinyModel has a hash of one file only, as some known models do.
func tinyModel() vector.Model {
	files := tinyFiles()
	table := files["model.safetensors"]
	return vector.Model{Name: "tiny", Repository: "some/tiny", Revision: revision, Dim: 2, Files: []vector.ModelFile{
		{Path: "model.safetensors", Size: int64(len(table)), SHA256: sha256Hex(table)},
		{Path: "tokenizer.json"}, {Path: "config.json"},
	}}
}

// A fakeHub answers as the hub does: files of weights are on another host, to
// which it sends with their SHA-256; others it serves itself behind a relative
// redirect, with the hash of their git blob.
type fakeHub struct {
	t     *testing.T
	files map[string][]byte
	hub   *Hub
	waits []time.Duration

	mu       sync.Mutex
	requests []string // path and range
	fault    func(n int, w http.ResponseWriter, r *http.Request) bool
	tags     map[string]string // to lie with
}

func newFakeHub(t *testing.T) *fakeHub {
	f := &fakeHub{t: t, files: tinyFiles(), tags: map[string]string{}}
	cdn := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f.serve(w, r, strings.TrimPrefix(r.URL.Path, "/cdn/"), `"of-the-cdn"`)
	}))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { f.resolve(w, r, cdn.URL) }))
	t.Cleanup(func() { server.Close(); cdn.Close() })
	hub, err := NewHub(server.URL + "/")
	if err != nil {
		t.Fatal(err)
	}
	hub.wait = func(ctx context.Context, d time.Duration) error {
		f.waits = append(f.waits, d)
		return ctx.Err()
	}
	hub.now = func() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC) }
	f.hub = hub
	return f
}

func (f *fakeHub) resolve(w http.ResponseWriter, r *http.Request, cdn string) {
	const small, resolve = "/api/resolve-cache/", "/some/tiny/resolve/" + revision + "/"
	name, direct := strings.CutPrefix(r.URL.Path, small)
	if !direct {
		var ok bool
		if name, ok = strings.CutPrefix(r.URL.Path, resolve); !ok {
			http.NotFound(w, r)
			return
		}
	}
	body, ok := f.files[name]
	if !ok {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("X-Repo-Commit", revision)
	switch tag := f.tags[name]; {
	case direct:
		if tag == "" {
			tag = gitHex(body)
		}
		f.serve(w, r, name, `"`+tag+`"`)
	case strings.HasSuffix(name, ".safetensors"):
		if tag == "" {
			tag = sha256Hex(body)
		}
		w.Header().Set("X-Linked-Etag", `"`+tag+`"`)
		w.Header().Set("X-Linked-Size", fmt.Sprint(len(body)))
		http.Redirect(w, r, cdn+"/cdn/"+name, http.StatusFound)
	default:
		w.Header().Set("Location", small+url.PathEscape(name))
		w.WriteHeader(http.StatusTemporaryRedirect)
	}
}

// serve gives the bytes, or what the test wants instead.
func (f *fakeHub) serve(w http.ResponseWriter, r *http.Request, name, tag string) {
	f.mu.Lock()
	f.requests = append(f.requests, name+" "+r.Header.Get("Range"))
	n := len(f.requests)
	fault := f.fault
	f.mu.Unlock()
	if fault != nil && fault(n, w, r) {
		return
	}
	if tag != `""` {
		w.Header().Set("ETag", tag)
	}
	http.ServeContent(w, r, name, time.Time{}, bytes.NewReader(f.files[name]))
}

func (f *fakeHub) asked(t *testing.T, want ...string) {
	t.Helper()
	if !slices.Equal(f.requests, want) {
		t.Errorf("asked for %q, want %q", f.requests, want)
	}
	f.requests = nil
}

// breakOff sends the first half and closes the connection.
func breakOff(w http.ResponseWriter, body []byte) {
	w.Header().Set("Content-Length", fmt.Sprint(len(body)))
	w.Write(body[:len(body)/2])
	w.(http.Flusher).Flush()
	panic(http.ErrAbortHandler)
}

func readLock(t *testing.T, dir string) (l Lock) {
	t.Helper()
	src, err := os.ReadFile(filepath.Join(dir, vector.LockName))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(src, &l); err != nil {
		t.Fatal(err)
	}
	return l
}

// leftovers returns what lies in the store beside installed models and locks.
func leftovers(t *testing.T, dir string) (names []string) {
	t.Helper()
	all, err := filepath.Glob(filepath.Join(dir, ".*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range all {
		if base := filepath.Base(name); !strings.HasSuffix(base, ".lock") {
			names = append(names, base)
		}
	}
	return names
}
