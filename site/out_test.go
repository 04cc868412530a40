package site

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gofrs/flock"
	"github.com/google/go-cmp/cmp"
)

// A manifest is read as it was written, whatever files are called, and as any
// JSON of the same content.
func TestManifestText(t *testing.T) {
	want := Manifest{Generator: generator, Commit: "c", Recipes: []string{"site/1", `a "b"`}}
	sums := map[string]string{"index.html": "1", `é/"q".html`: "2", "a<b>&.js": "3", "x\u2028.md": "4"}
	names := slices.Sorted(maps.Keys(sums))
	text, err := want.text(names, func(name string) string { return sums[name] })
	if err != nil {
		t.Fatal(err)
	}
	var general Manifest
	if err := json.Unmarshal(text, &general); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(sums, general.Files); diff != "" {
		t.Error(diff)
	}
	compact, _ := json.Marshal(general)
	for _, raw := range [][]byte{text, compact} {
		got := map[string]string{}
		m, err := readManifest(raw, func(name, sum string) { got[name] = sum })
		m.Files, want.Files = nil, nil
		if diff := cmp.Diff(sums, got); diff != "" || err != nil {
			t.Error(err, diff)
		}
		if diff := cmp.Diff(want, m); diff != "" {
			t.Error(diff)
		}
	}
	for _, raw := range []string{"", "{", string(text[:len(text)-20]), `{"files": 3}`} {
		if _, err := readManifest([]byte(raw), func(string, string) {}); err == nil {
			t.Errorf("%q was read as a manifest", raw)
		}
	}
	if text, err := (Manifest{}).text(nil, nil); err != nil || !json.Valid(text) {
		t.Errorf("without files: %s, %v", text, err)
	}
}

// What was done to the files of a site is undone by the next build.
func TestBuildMends(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out")
	want := made(t, vaultOf(garden()...), out)
	later := time.Now().Add(time.Hour)
	change := func(name, text string) {
		t.Helper()
		file := filepath.Join(out, name)
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(file, later, later); err != nil {
			t.Fatal(err)
		}
	}
	change("guides/limits.html", "short")
	change("all.html", strings.Replace(want["all.html"], "Limits", "Limit5", 1))
	change("index.html", strings.Replace(want["index.html"], "Begin", "begin", 1))
	change("404.html", want["404.html"]) // as it was, but newer
	for _, name := range []string{"guides/retry-policy.md", "kb/build.json", "llms.txt"} {
		if err := os.Remove(filepath.Join(out, name)); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(want, made(t, vaultOf(garden()...), out)); diff != "" {
		t.Error(diff)
	}
	change("guides/limits.html", strings.Replace(want["guides/limits.html"], "Limits", "Limit5", 1))
	if diff := cmp.Diff(want, made(t, vaultOf(garden()...), out)); diff != "" {
		t.Error(diff)
	}
}

// A build that could not remove all that is stale is finished by the next.
func TestStaleInTheWay(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out")
	want := made(t, vaultOf(garden()...), filepath.Join(t.TempDir(), "fresh"))
	made(t, vaultOf(append(garden(), "a.md", "# A\nstale\n", "stale/b.md", "# B\nstale\n")...), out)
	stuck := filepath.Join(out, "a.html")
	if err := errors.Join(os.Remove(stuck), os.MkdirAll(filepath.Join(stuck, "x"), 0o755)); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, err := Build(context.Background(), vaultOf(garden()...), Options{Out: out}); err == nil || !strings.Contains(err.Error(), "a.html") {
			t.Fatalf("with a directory in the way: %v", err)
		}
	}
	if err := os.RemoveAll(stuck); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, made(t, vaultOf(garden()...), out)); diff != "" {
		t.Error(diff)
	}
}

// A site without a sound manifest is known by its build file, and made whole again:
// what is no longer published goes, also where the first attempt was killed. Without
// either it is a folder like any other.
func TestManifestLost(t *testing.T) {
	dir := t.TempDir()
	want := made(t, vaultOf(garden()...), filepath.Join(dir, "fresh"))
	for i, damage := range []func(out string) error{
		func(out string) error { return ignoreMissing(os.Remove(filepath.Join(out, manifestFile))) },
		func(out string) error { return os.WriteFile(filepath.Join(out, manifestFile), []byte("{\"na"), 0o644) },
		func(out string) error {
			return os.WriteFile(filepath.Join(out, manifestFile), []byte(`{"name": "app"}`), 0o644)
		},
	} {
		out := filepath.Join(dir, fmt.Sprint("out", i))
		for _, killed := range []bool{false, true} {
			made(t, vaultOf(append(garden(), "secret/a.md", "# A\nno longer published\n")...), out)
			if err := damage(out); err != nil {
				t.Fatal(err)
			}
			if killed {
				o, err := openOutput(out)
				if err != nil {
					t.Fatal(err)
				}
				if err := errors.Join(o.put(buildFile, "", []byte("{\n}\n")), o.abandon()); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(want, made(t, vaultOf(garden()...), out)); diff != "" {
				t.Errorf("damage %d, killed %v: %s", i, killed, diff)
			}
		}
		text := made(t, vaultOf(garden()...), out)[buildFile]
		for _, other := range []string{"", "{\n}\n", "{\n\"kb/site.js\": \" 7\"\n}\n", text[:len(text)-2]} {
			if err := errors.Join(damage(out), os.WriteFile(filepath.Join(out, filepath.FromSlash(buildFile)), []byte(other), 0o644)); err != nil {
				t.Fatal(err)
			}
			if _, err := Build(context.Background(), vaultOf(garden()...), Options{Out: out}); !errors.Is(err, ErrNotOurs) {
				t.Errorf("damage %d, build file %.40q: %v", i, other, err)
			}
		}
	}
}

// A build file that is not what a build wrote is as good as none.
func TestBuildFileDamaged(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out")
	want := made(t, vaultOf(garden()...), out)
	text := want[buildFile]
	for _, damage := range []string{"", "{", "{}", text[:len(text)/2], "{\n\"index.html\": \"x\"\n}\n", strings.ReplaceAll(text, " ", "  ")} {
		if err := os.WriteFile(filepath.Join(out, filepath.FromSlash(buildFile)), []byte(damage), 0o644); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, made(t, vaultOf(garden()...), out)); diff != "" {
			t.Errorf("%.40q: %s", damage, diff)
		}
	}
}

// What a first build left that was killed goes with the next; one under way stays.
func TestLeftOver(t *testing.T) {
	dir := t.TempDir()
	left := func(name string) string {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.Mkdir(path, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(path, unfinished), nil, 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	killed, busy, other := left(".o[u]t.new-1"), left(".o[u]t.new-2"), left(".out.new-3")
	lock := flock.New(filepath.Join(busy, unfinished))
	if held, err := lock.TryLock(); err != nil || !held {
		t.Fatal(held, err)
	}
	defer lock.Close()
	if _, err := Build(context.Background(), vaultOf(garden()...), Options{Out: filepath.Join(dir, "o[u]t")}); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(killed); err == nil {
		t.Error("what was left is there still")
	}
	for _, name := range []string{busy, other} {
		if _, err := os.Stat(name); err != nil {
			t.Error(err)
		}
	}
}
