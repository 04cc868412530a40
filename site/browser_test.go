package site_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"kb/internal/vaulttest"
	"kb/note"
	"kb/vault"
)

// reader runs a script of testdata/browser on a site, in Chromium, and returns the
// lines that it printed.
func reader(t *testing.T, script, site string, args ...string) (lines []string) {
	t.Helper()
	dir := filepath.Join("testdata", "browser")
	cmd := exec.Command(nodeFor(t, dir), append([]string{filepath.Join(dir, script), site}, args...)...)
	cmd.Env = append(os.Environ(), "CHROMIUM="+chromium(t), "DEBUGGING_PORT="+freePort(t))
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if len(out) == 0 && err != nil {
		t.Fatalf("%s: %v\n%s", script, err, &stderr)
	}
	t.Logf("%s", &stderr)
	return strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
}

// readers is for scripts that print faults.
func readers(t *testing.T, script, site string, args ...string) {
	t.Helper()
	for _, fault := range reader(t, script, site, args...) {
		if fault != "" {
			t.Error(fault)
		}
	}
}

func nodeFor(t *testing.T, dir string) string {
	t.Helper()
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("no node: sites cannot be tried in a browser")
	}
	if _, err := os.Stat(filepath.Join(dir, "node_modules")); err != nil {
		t.Skip("what drives a browser is not installed: npm ci --prefix site/testdata/browser")
	}
	return node
}

func chromium(t *testing.T) string {
	t.Helper()
	for _, name := range []string{os.Getenv("CHROMIUM"), "chromium", "chromium-browser", "google-chrome"} {
		if file, err := exec.LookPath(name); err == nil {
			return file
		}
	}
	t.Skip("no Chromium: CHROMIUM names it")
	return ""
}

func freePort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	return port
}

// picture is a PNG of one pixel.
const picture = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

// zoo is a vault of this project's manual and of notes that have everything a page
// can have.
func zoo(t *testing.T) string {
	t.Helper()
	notes, err := os.ReadFile(filepath.Join("testdata", "browser", "zoo.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	dir := vaulttest.Repo(t, string(notes))
	if err := os.CopyFS(filepath.Join(dir, "docs"), os.DirFS(filepath.Join("..", "docs"))); err != nil {
		t.Fatal(err)
	}
	png, _ := base64.StdEncoding.DecodeString(picture)
	vaulttest.Write(t, dir, "zoo/picture.png", string(png))
	vaulttest.Write(t, dir, "kb.yaml", "collections: [{name: docs, path: docs}, {name: zoo, path: zoo, description: Animals and what they do}]\nsite: {title: The manual and the zoo}\n")
	vaulttest.Commit(t, dir, "2024-01-01", "what there is")
	vaulttest.Write(t, dir, "zoo/deep/below/one.md", "# One below\n\nA quokka, far below. It has a [[quokka|neighbour]].\n")
	vaulttest.Commit(t, dir, "2024-02-02", "one more link")
	return dir
}

func build(t *testing.T, dir string) (site string) {
	t.Helper()
	nodeFor(t, filepath.Join("testdata", "browser"))
	site = filepath.Join(t.TempDir(), "site")
	op, _ := vault.FindOp("kb_site_build")
	args, _ := json.Marshal(map[string]string{"out": site})
	if _, err := vaulttest.Service(t, dir).Do(context.Background(), op, args, nil); err != nil {
		t.Fatal(err)
	}
	return site
}

// long reports whether there is time.
func long() bool { return os.Getenv("KB_LONG") != "" }

// kinds are pages of every kind.
var kinds = []string{
	"index.html", "docs/guides/publish.html", "docs/index.html", "docs/guides/index.html", "zoo/index.html", "zoo/quokka.html", "zoo/everything.html", "zoo/cjk.html", "zoo/rtl.html",
	"all.html", "tags.html", "tags/animal.html", "recent.html", "graph.html", "404.html", "search.html?q=quokka", "search.html",
}

func TestBrowserBarriers(t *testing.T) {
	args := []string{strings.Join(kinds, " ")}
	if long() {
		args = append(args, "all")
	}
	readers(t, "barriers.mjs", build(t, zoo(t)), args...)
}

func TestBrowserKeyboard(t *testing.T) {
	readers(t, "keyboard.mjs", build(t, zoo(t)), "zoo/everything.html", "Everything there is")
}

func TestBrowserWithoutScripts(t *testing.T) {
	dir := zoo(t)
	site := build(t, dir)
	var pages []string
	sources, err := filepath.Glob(filepath.Join(site, "*", "*", "*.md"))
	if err != nil || len(sources) < 20 {
		t.Fatal(sources, err)
	}
	for _, name := range append(sources, filepath.Join(site, "zoo", "quokka.md")) {
		rel, _ := filepath.Rel(site, strings.TrimSuffix(name, ".md")+".html")
		pages = append(pages, filepath.ToSlash(rel))
	}
	readers(t, "plain.mjs", site, strings.Join(pages, " "))
}

func TestBrowserLighthouse(t *testing.T) {
	if !long() {
		t.Skip("takes a quiet machine: KB_LONG=1")
	}
	readers(t, "lighthouse.mjs", build(t, zoo(t)), "docs/guides/writing.html", "zoo/everything.html")
}

// What is typed into the page finds what kb search does.
func TestBrowserRanking(t *testing.T) {
	dir := zoo(t)
	site := build(t, dir)
	svc := vaulttest.Service(t, dir)
	queries := []string{
		"quokka", "numbats eat termites", "publish a site", "how do I write a draft", "\"static site\"", "serch ranking", "tag:guide site", "section:guides review", "动物", "袋鼠", "الطعام",
		"docs -site", "+merge draft", "title:search", "config", "embeding model", "xqzvbnqwxz", "kb.yaml", "kb_history", "--at REV", "visib", "who may see notes", "mcp http token", "benchmarks sqlite",
	}
	got := reader(t, "ranking.mjs", site, jsonFile(t, queries))
	if len(got) != len(queries) {
		t.Fatalf("%d answers to %d queries: %s", len(got), len(queries), got)
	}
	op, _ := vault.FindOp("search")
	found := 0
	for i, q := range queries {
		args, _ := json.Marshal(map[string]any{"query": q, "mode": "text", "max_results": 10, "max_tokens": 1 << 20})
		r, err := svc.Do(context.Background(), op, args, nil)
		if err != nil {
			t.Fatal(err)
		}
		var want, have []string
		for _, h := range r.(*vault.SearchResult).Results {
			want = append(want, h.Blob)
		}
		if err := json.Unmarshal([]byte(got[i]), &have); err != nil {
			t.Fatalf("%s: %v", got[i], err)
		}
		found += len(have)
		if !slices.Equal(blobsOf(t, site, have), want) {
			t.Errorf("%q: the page finds %v, kb search %v", q, have, want)
		}
	}
	if found < 100 {
		t.Errorf("%d results in all", found)
	}
}

// blobsOf are the notes of pages, by the Markdown beside them.
func blobsOf(t *testing.T, site string, pages []string) (blobs []string) {
	for _, p := range pages {
		raw, err := os.ReadFile(filepath.Join(site, strings.TrimSuffix(p, ".html")+".md"))
		if err != nil {
			t.Fatal(err)
		}
		blobs = append(blobs, note.Hash(raw).String())
	}
	return blobs
}

// The manual's pictures, which make pictures takes anew.
func TestBrowserPictures(t *testing.T) {
	dir := os.Getenv("KB_PICTURES")
	if dir == "" {
		t.Skip("takes pictures into KB_PICTURES")
	}
	readers(t, "pictures.mjs", build(t, zoo(t)), dir)
}

func jsonFile(t *testing.T, data any) string {
	t.Helper()
	raw, err := json.Marshal(data)
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), "data.json")
	if err := os.WriteFile(name, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}
