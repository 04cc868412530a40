package models

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// entry is a file of an archive; a link if to is set.
type entry struct{ name, body, to string }

func entries(prefix string) (all []entry) {
	for name, body := range tinyFiles() {
		all = append(all, entry{name: prefix + name, body: string(body)})
	}
	return all
}

func tarOf(t *testing.T, list []entry) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, e := range list {
		h := &tar.Header{Name: e.name, Mode: 0o644, Size: int64(len(e.body)), Typeflag: tar.TypeReg}
		if e.to != "" {
			h.Typeflag, h.Linkname = tar.TypeSymlink, e.to
		}
		if err := w.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(e.body)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func zipOf(t *testing.T, list []entry) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, e := range list {
		h := &zip.FileHeader{Name: e.name, Method: zip.Deflate}
		h.SetMode(0o644)
		if e.to != "" {
			h.SetMode(fs.ModeSymlink | 0o777)
			e.body = e.to
		}
		f, err := w.CreateHeader(h)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Write([]byte(e.body)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func gzipOf(t *testing.T, src []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write(src); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func writeFile(t *testing.T, name string, src []byte) string {
	t.Helper()
	name = filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(name, src, 0o644); err != nil {
		t.Fatal(err)
	}
	return name
}

// modelDirectory has its files as links, as the cache of the hub's own tools.
func modelDirectory(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "my-model")
	for name, src := range tinyFiles() {
		blob := writeFile(t, "blob", src)
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(blob, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestImport(t *testing.T) {
	extra := append(entries("pack/"), entry{name: "pack/README.md", body: "hello"}, entry{name: "pack/deep/er/config.json", body: "{"})
	for name, src := range map[string]string{
		"directory":  modelDirectory(t),
		"tar":        writeFile(t, "my-model.tar", tarOf(t, entries("./"))),
		"tar.gz":     writeFile(t, "my-model.tar.gz", gzipOf(t, tarOf(t, extra))),
		"tgz":        writeFile(t, "my-model.TGZ", gzipOf(t, tarOf(t, entries("")))),
		"zip":        writeFile(t, "my-model.zip", zipOf(t, extra)),
		"backslash":  writeFile(t, "my-model.zip", zipOf(t, entries(`pack\`))),
		"absolute":   writeFile(t, "my-model.tar", tarOf(t, entries("/"))),
		"zip, plain": writeFile(t, "my-model.zip", zipOf(t, entries(""))),
	} {
		t.Run(name, func(t *testing.T) {
			s := &Store{Dir: t.TempDir()}
			if got := NameOf(src); got != "my-model" {
				t.Errorf("its name is %q", got)
			}
			r, err := s.Import(context.Background(), "my-model", src)
			if err != nil {
				t.Fatal(err)
			}
			if !r.OK || r.Engine != "static" || r.Dim != 2 {
				t.Errorf("%+v", r)
			}
			m, err := s.Get("my-model")
			if err != nil || len(m.Files) != 3 || m.Source != filepath.Base(src) {
				t.Errorf("%+v, %v", m, err)
			}
			var files []string
			for name := range tinyFiles() {
				files = append(files, name)
			}
			got, err := os.ReadDir(m.Dir)
			if err != nil || len(got) != len(files)+1 {
				t.Errorf("it has %v, %v", got, err)
			}
			if r, err := s.Verify(context.Background(), "my-model"); err != nil || !r.OK || len(r.Files) != 3 {
				t.Errorf("verify: %+v, %v", r, err)
			}
		})
	}
}

func TestImportRefuses(t *testing.T) {
	good := tarOf(t, entries(""))
	outside := []entry{{name: "../config.json", body: "x"}, {name: "/../../tmp/model.onnx", body: "x"}, {name: `..\tokenizer.json`, body: "x"}}
	linked := []entry{{name: "model.safetensors", to: "/etc/passwd"}, {name: "config.json", to: "../../config.json"}}
	for name, c := range map[string]struct {
		src  string
		want error
		says string
	}{
		"nothing":        {filepath.Join(t.TempDir(), "none.zip"), fs.ErrNotExist, "none.zip"},
		"an empty file":  {writeFile(t, "a.tar", nil), ErrArchive, "a.tar"},
		"text":           {writeFile(t, "a.txt", []byte("# a note\nwith more text")), ErrArchive, ""},
		"an empty dir":   {t.TempDir(), ErrArchive, "none of"},
		"half a tar":     {writeFile(t, "a.tar", good[:len(good)/4]), ErrArchive, ""},
		"half a tar.gz":  {writeFile(t, "a.tgz", gzipOf(t, good)[:200]), ErrArchive, ""},
		"half a zip":     {writeFile(t, "a.zip", zipOf(t, entries(""))[:100]), ErrArchive, ""},
		"outside, tar":   {writeFile(t, "a.tar", tarOf(t, outside[:1])), ErrArchive, "none of"},
		"outside, zip":   {writeFile(t, "a.zip", zipOf(t, outside)), ErrArchive, "none of"},
		"links, tar":     {writeFile(t, "a.tar", tarOf(t, linked)), ErrArchive, "none of"},
		"links, zip":     {writeFile(t, "a.zip", zipOf(t, linked)), ErrArchive, "none of"},
		"twice":          {writeFile(t, "a.tar", tarOf(t, append(entries(""), entries("")...))), ErrArchive, "twice"},
		"two models":     {writeFile(t, "a.tar", tarOf(t, append(entries("one/"), entries("two/")...))), ErrArchive, "several"},
		"half a model":   {writeFile(t, "a.tar", tarOf(t, []entry{{name: "config.json", body: "{}"}})), fs.ErrNotExist, "model"},
		"a broken model": {writeFile(t, "a.tar", tarOf(t, []entry{{name: "model.safetensors", body: "short"}})), errAny, "truncated"},
	} {
		t.Run(name, func(t *testing.T) {
			s := &Store{Dir: filepath.Join(t.TempDir(), "store")}
			_, err := s.Import(context.Background(), "m", c.src)
			if err == nil || c.want != errAny && !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("got %v; want %v saying %q", err, c.want, c.says)
			}
			if list, err := s.List(); err != nil || len(list) > 0 {
				t.Errorf("it is installed: %v, %v", list, err)
			}
			if names := leftovers(t, s.Dir); len(names) > 0 {
				t.Errorf("%v is left", names)
			}
		})
	}
	s := &Store{Dir: t.TempDir()}
	for _, name := range []string{"", ".", "..", ".hidden", "a/b", `a\b`, "a b", strings.Repeat("x", 101)} {
		if _, err := s.Import(context.Background(), name, modelDirectory(t)); !errors.Is(err, ErrName) {
			t.Errorf("the name %q: %v", name, err)
		}
		if err := s.Remove(name); !errors.Is(err, ErrName) {
			t.Errorf("remove %q: %v", name, err)
		}
	}
}

// TestImportKnown has other files than those published under a known name.
func TestImportKnown(t *testing.T) {
	s := &Store{Dir: t.TempDir()}
	if _, err := s.Import(context.Background(), "potion-base-8M", modelDirectory(t)); !errors.Is(err, ErrHash) {
		t.Errorf("%v", err)
	}
}

func TestSplitWanted(t *testing.T) {
	for name, want := range map[string][2]string{
		"config.json": {"", "config.json"}, "x/config.json": {"x", "config.json"}, "x/y/config.json": {}, "1_Pooling/config.json": {"", "1_Pooling/config.json"},
		"x/1_Pooling/config.json": {"x", "1_Pooling/config.json"}, "onnx/model.onnx": {"", "onnx/model.onnx"}, "myconfig.json": {}, "x/onnx/model.onnx": {"x", "onnx/model.onnx"},
		"../config.json": {}, "/config.json": {"", "config.json"}, "": {}, "onnx/config.json": {},
	} {
		prefix, file, ok := splitWanted(name)
		if prefix != want[0] || file != want[1] || ok != (want[1] != "") {
			t.Errorf("%q is %q, %q, %v", name, prefix, file, ok)
		}
	}
}

func TestVerifyFinds(t *testing.T) {
	s := &Store{Dir: t.TempDir()}
	if _, err := s.Import(context.Background(), "m", modelDirectory(t)); err != nil {
		t.Fatal(err)
	}
	table := filepath.Join(s.Dir, "m", "model.safetensors")
	src, err := os.ReadFile(table)
	if err != nil {
		t.Fatal(err)
	}
	src[len(src)-1] ^= 1
	if err := errors.Join(os.WriteFile(table, src, 0o644), os.Remove(filepath.Join(s.Dir, "m", "config.json"))); err != nil {
		t.Fatal(err)
	}
	r, err := s.Verify(context.Background(), "m")
	if err != nil || r.OK {
		t.Fatalf("%+v, %v", r, err)
	}
	var bad []string
	for _, f := range r.Files {
		if !f.OK {
			bad = append(bad, f.Path+": "+f.Message)
		}
	}
	if len(bad) != 2 || bad[0] != "config.json: it is missing" || !strings.HasPrefix(bad[1], "model.safetensors: its hash is") {
		t.Errorf("%q", bad)
	}
}

// TestVerifyOthers has a directory that a person made by hand.
func TestVerifyOthers(t *testing.T) {
	s := &Store{Dir: t.TempDir()}
	if err := os.Rename(modelDirectory(t), filepath.Join(s.Dir, "mine")); err != nil {
		t.Fatal(err)
	}
	r, err := s.Verify(context.Background(), "mine")
	if err != nil || !r.OK || r.Engine != "static" || !strings.Contains(r.Notice, "no model.lock") {
		t.Errorf("%+v, %v", r, err)
	}
	if _, err := os.Stat(filepath.Join(s.Dir, "mine", "model.lock")); err == nil {
		t.Error("it has a lock now, of files that nobody compared")
	}
	if _, err := s.Verify(context.Background(), "other"); !errors.Is(err, ErrUnknown) {
		t.Errorf("verify what is not there: %v", err)
	}
	if err := os.WriteFile(filepath.Join(s.Dir, "mine", "model.lock"), []byte("{"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := s.List(); err == nil || !strings.Contains(err.Error(), "mine") {
		t.Errorf("a broken lock: %v", err)
	}
}

func TestRemove(t *testing.T) {
	s := &Store{Dir: t.TempDir()}
	if err := s.Remove("m"); !errors.Is(err, ErrUnknown) {
		t.Errorf("remove what is not there: %v", err)
	}
	if _, err := s.Import(context.Background(), "m", modelDirectory(t)); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Import(context.Background(), "m", modelDirectory(t)); err != nil {
		t.Errorf("import in the place of another: %v", err)
	}
	names := func() (all []string) {
		list, err := s.List()
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range list {
			all = append(all, m.Name)
		}
		return all
	}
	if got := names(); !slices.Equal(got, []string{"m"}) {
		t.Errorf("installed are %v", got)
	}
	if err := s.Remove("m"); err != nil {
		t.Fatal(err)
	}
	if got := names(); len(got) > 0 {
		t.Errorf("installed are %v", got)
	}
	// What a broken download left can be removed, too.
	if err := os.MkdirAll(s.staging("m"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := s.Remove("m"); err != nil {
		t.Error(err)
	}
	if left := leftovers(t, s.Dir); len(left) > 0 {
		t.Errorf("%v is left", left)
	}
}
