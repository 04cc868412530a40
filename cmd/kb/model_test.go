package main

import (
	"archive/zip"
	"context"
	"encoding/binary"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// kb runs a command line in this process and returns what it says.
func kb(t *testing.T, args ...string) (status int, stdout, stderr string) {
	t.Helper()
	var files [2]*os.File
	for i := range files {
		f, err := os.Create(filepath.Join(t.TempDir(), "out"))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		files[i] = f
	}
	status = run(context.Background(), args, stdio{os.Stdin, files[0], files[1]})
	var said [2]string
	for i, f := range files {
		b, err := os.ReadFile(f.Name())
		if err != nil {
			t.Fatal(err)
		}
		said[i] = string(b)
	}
	return status, said[0], said[1]
}

// modelZip writes an archive of a static model of three words.
func modelZip(t *testing.T) string {
	t.Helper()
	header := `{"embeddings":{"dtype":"F32","shape":[3,2],"data_offsets":[0,24]}}`
	table := append(binary.LittleEndian.AppendUint64(nil, uint64(len(header))), header...)
	table, _ = binary.Append(table, binary.LittleEndian, []float32{0, 0, 1, 0, 0, 1})
	tokenizer := `{"model":{"type":"WordPiece","unk_token":"[UNK]","max_input_chars_per_word":100,"continuing_subword_prefix":"##",` +
		`"vocab":{"[UNK]":0,"first":1,"text":2}},"pre_tokenizer":{"type":"BertPreTokenizer"}}`
	name := filepath.Join(t.TempDir(), "mine.zip")
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z := zip.NewWriter(f)
	for name, body := range map[string]string{"mine/model.safetensors": string(table), "mine/tokenizer.json": tokenizer, "mine/../../evil": "x"} {
		w, err := z.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(body)); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return name
}

// noVault is a directory outside any repository.
func noVault(t *testing.T) {
	t.Helper()
	t.Setenv("KB_CACHE_DIR", filepath.Join(t.TempDir(), "cache"))
	t.Setenv("KB_CONFIG", "")
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	t.Setenv("KB_OFFLINE", "")
	t.Setenv("HF_ENDPOINT", "http://127.0.0.1:1") // no test leaves this machine
	t.Chdir(t.TempDir())
}

func TestModelCommands(t *testing.T) {
	noVault(t)
	archive := modelZip(t)
	for _, c := range []struct {
		status int
		args   string
		says   string // on either stream
	}{
		{0, "model list", `"name":"bge-small-en-v1.5","dim":384`},
		{0, "--text model list", "bge-small-en-v1.5  configured, not installed\n  384 dimensions · 134 MB · slow · en · MIT · good quality\n"},
		{3, "model verify mine", `"code":"not_found"`},
		{3, "--text model pull nowhere", "kb: pull nowhere: no such model, and no such file"},
		{2, "--text model pull " + archive + " --name a/b", "a model's name has letters"},
		{0, "--text model pull " + archive, "mine installed: 2 dimensions, engine static"},
		{0, "model list", `"installed":true`},
		{0, "--text model verify mine", "ok model.safetensors\nok tokenizer.json\nengine static, 2 dimensions\n"},
		{0, "complete -- model rm m", "mine\n"},
		{0, "complete -- model pull potion-b", "potion-base-8M\n"},
		{0, "complete -- model v", "verify\n"},
		{2, "model", `expected one of`},
		{6, "--text model pull " + archive + " --name potion-base-8M", "not the file that was published"},
		{2, "--text model pull potion-base-8M --name x", "--name is for files"},
		{0, "model rm mine", `{"removed":"mine","in_use":false}`},
		{3, "model rm mine", `"code":"not_found"`},
	} {
		status, out, errs := kb(t, strings.Fields(c.args)...)
		if status != c.status || !strings.Contains(out+errs, c.says) {
			t.Errorf("kb %s: status %d, want %d saying %q:\n%s%s", c.args, status, c.status, c.says, out, errs)
		}
	}
	if _, err := os.Stat(filepath.Join(os.Getenv("KB_CACHE_DIR"), "evil")); err == nil {
		t.Error("an archive wrote outside its model")
	}
}

func TestModelDamage(t *testing.T) {
	noVault(t)
	if status, _, errs := kb(t, "model", "pull", modelZip(t)); status != 0 {
		t.Fatal(errs)
	}
	var list struct{ Dir string }
	_, out, _ := kb(t, "model", "list")
	if err := json.Unmarshal([]byte(out), &list); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(list.Dir, "mine", "tokenizer.json"), []byte("{}"), 0o644); err != nil {
		t.Fatal(err)
	}
	status, out, errs := kb(t, "--text", "model", "verify", "mine")
	if status != 6 || !strings.Contains(out, "bad tokenizer.json: it has 2 bytes") || errs != "" {
		t.Errorf("status %d:\n%s%s", status, out, errs)
	}
}

func TestModelHubs(t *testing.T) {
	noVault(t)
	code := 0
	asked := 0
	hub := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked++
		w.WriteHeader(code)
	}))
	defer hub.Close()
	for _, c := range []struct {
		endpoint, offline string
		code, status      int
		says              string
	}{
		{hub.URL, "", 404, 3, "the hub has no such file"},
		{hub.URL, "", 401, 4, "kb does not log in"},
		{hub.URL, "1", 200, 4, "KB_OFFLINE is set"},
		{hub.URL, "yes", 200, 4, "KB_OFFLINE is set"},
		{hub.URL, "0", 403, 4, "the hub wants a login"},
		{"mirror", "", 200, 2, `hub \"mirror\" is no address`},
	} {
		t.Setenv("HF_ENDPOINT", c.endpoint)
		t.Setenv("KB_OFFLINE", c.offline)
		code, asked = c.code, 0
		status, _, errs := kb(t, "model", "pull", "potion-base-8M")
		if status != c.status || !strings.Contains(errs, c.says) {
			t.Errorf("%+v: status %d:\n%s", c, status, errs)
		}
		if c.code == 200 && asked > 0 {
			t.Errorf("%+v: %d requests", c, asked)
		}
	}
}
