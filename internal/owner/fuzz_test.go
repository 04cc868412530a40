package owner

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"testing"
)

// Whatever an owner sends, or breaks off, a caller gets a result that is JSON, or
// an error; and a call that may be repeated is, when its outcome did not come.
func FuzzReceive(f *testing.F) {
	for _, seed := range []string{
		`{"result":{"a":1}}`, `{"progress":{"done":1,"total":2,"message":"m"}}{"result":[]}`, `{"interrupted":true}`,
		`{"error":{"code":"not_found","message":"no note","hint":"h"}}`, `{"progress":`, `null`, ``, `{"result":null}x`, `[]`,
		`{"progress":null,"error":null,"result":"\ud800"}`,
	} {
		f.Add([]byte(seed), true)
		f.Add([]byte(seed), false)
	}
	f.Fuzz(func(t *testing.T, body []byte, repeatable bool) {
		told := 0
		resp := &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(bytes.NewReader(body))}
		got, err := receive(t.Context(), resp, Call{Method: "m", Repeatable: repeatable, Progress: func(int64, int64, string) { told++ }})
		var again retry
		var remote *RemoteError
		switch {
		case err == nil && len(got) > 0 && !json.Valid(got):
			t.Errorf("%q: result %q", body, got)
		case err != nil && !errors.As(err, &again) && !errors.As(err, &remote) && !errors.Is(err, ErrLost):
			t.Errorf("%q: %v", body, err)
		case errors.As(err, &again) && !repeatable:
			t.Errorf("%q: a call that may not be repeated is", body)
		}
	})
}

// A file that says who the owner was may hold anything: it is cleared away, and
// no file but a socket with it.
func FuzzBeacon(f *testing.F) {
	f.Add([]byte(`{"pid":1,"network":"unix","address":"/x","secret":"s","protocol":1}`))
	f.Add([]byte(`{"pid":-1}`))
	f.Add([]byte("\x00"))
	keep := filepath.Join(f.TempDir(), "keep")
	if err := os.WriteFile(keep, nil, 0o600); err != nil {
		f.Fatal(err)
	}
	f.Add([]byte(`{"network":"unix","address":"` + keep + `"}`))
	f.Fuzz(func(t *testing.T, file []byte) {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, beaconName), file, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := removeBeacon(dir); err != nil {
			t.Errorf("%q: %v", file, err)
		}
		if _, err := os.Stat(keep); err != nil {
			t.Errorf("%q: %v", file, err)
		}
	})
}
