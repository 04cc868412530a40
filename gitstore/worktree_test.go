package gitstore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"kb/note"

	"github.com/google/go-cmp/cmp"
)

// gitWorktree is what git would have if everything were added: path → blob.
func gitWorktree(t testing.TB, dir string) map[string]string {
	t.Helper()
	want := map[string]string{}
	var regular []string
	list := git(t, dir, "ls-files", "-z") + git(t, dir, "ls-files", "-z", "--others", "--exclude-standard")
	for p := range strings.SplitSeq(list, "\x00") {
		info, err := os.Lstat(filepath.Join(dir, p))
		if p != "" && err == nil && info.Mode().IsRegular() {
			regular = append(regular, p)
		}
	}
	if len(regular) == 0 {
		return want
	}
	hashes := strings.Fields(gitIn(t, dir, []byte(strings.Join(regular, "\n")+"\n"), "hash-object", "--stdin-paths"))
	for i, p := range regular {
		want[p] = hashes[i]
	}
	return want
}

func mustWorktree(t testing.TB, r *Repo, o Options) *Tree {
	t.Helper()
	tree, err := r.Worktree(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

func TestWorktreeAgreesWithGit(t *testing.T) {
	d := newRepo(t, map[string]string{
		"a.md": "a", "sub/b.md": "b", "sub/x/c.md": "c", "build/kept.md": "tracked though ignored", "gone.md": "g", "same.md": "s",
		".gitignore": "build/\n*.log\n!keep.log\n/only-root\nsub/**/tmp\n", "sub/.gitignore": "!important.log\nlocal\n",
	})
	git(t, d, "add", "-f", "build/kept.md")
	git(t, d, "commit", "-q", "-m", "forced")
	write(t, d, ".git/info/exclude", "excluded\n")
	write(t, shared, "global-ignore", "*.swp\n")
	git(t, d, "config", "core.excludesFile", filepath.Join(shared, "global-ignore"))
	for _, p := range []string{"new.md", "a.log", "keep.log", "sub/important.log", "sub/other.log", "sub/local", "local", "only-root", "sub/only-root",
		"build/new.md", "build/deep/x", "sub/q/tmp/x", "sub/tmp", "excluded", "sub/excluded/x", "x.swp", "new dir/é.md", "sub/x/.hidden"} {
		write(t, d, p, "content of "+p)
	}
	write(t, d, "a.md", "changed")
	if err := os.Remove(filepath.Join(d, "gone.md")); err != nil {
		t.Fatal(err)
	}
	git(t, ".", "init", "-q", filepath.Join(d, "nested"))
	write(t, d, "nested/x.md", "another repository's")
	git(t, d, "worktree", "add", "-q", "-b", "linked", filepath.Join(d, "linked"))
	if err := os.MkdirAll(filepath.Join(d, "fake/.git"), 0o777); err != nil { // an empty .git is no repository
		t.Fatal(err)
	}
	write(t, d, "fake/f.md", "f")

	r := mustOpen(t, d)
	tree := mustWorktree(t, r, Options{})
	want := gitWorktree(t, d)
	delete(want, "linked/")
	if diff := cmp.Diff(want, fileMap(t, tree.Files)); diff != "" {
		t.Errorf("work tree (-git +ours):\n%s", diff)
	}
	if diff := cmp.Diff([]string{`"linked" other_repository`, `"nested" other_repository`}, codes(tree.Problems)); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
	if _, head, _ := r.Head(); tree.Base != head {
		t.Errorf("Base = %s, want %s", tree.Base, head)
	}
	for _, f := range tree.Files {
		b, err := r.ReadWorktree(f.Path, f.Blob)
		if err != nil || note.Hash(b) != f.Blob || f.Size != int64(len(b)) {
			t.Errorf("ReadWorktree(%s): %d bytes, %v", f.Path, len(b), err)
		}
	}
	below := mustWorktree(t, r, Options{Dir: "sub", Keep: func(p string) bool { return strings.HasSuffix(p, ".md") }})
	if diff := cmp.Diff(map[string]string{"b.md": want["sub/b.md"], "x/c.md": want["sub/x/c.md"]}, fileMap(t, below.Files)); diff != "" {
		t.Errorf("below sub (-want +got):\n%s", diff)
	}
	var others []string
	for _, f := range mustWorktree(t, r, Options{Dir: "sub"}).Files {
		if !strings.HasSuffix(f.Path, ".md") {
			others = append(others, f.Path)
		}
	}
	if diff := cmp.Diff(others, below.Others); diff != "" {
		t.Errorf("others below sub (-want +got):\n%s", diff)
	}
	none := mustWorktree(t, r, Options{Keep: func(string) bool { return false }})
	all := mustWorktree(t, r, Options{})
	if len(none.Files) > 0 || len(none.Others) != len(all.Files) || !slices.IsSorted(none.Others) || len(all.Others) > 0 {
		t.Errorf("others: %d of %d", len(none.Others), len(all.Files))
	}
	if got := mustWorktree(t, r, Options{Dir: "build/deep"}); len(got.Files) > 0 {
		t.Errorf("an ignored directory has %v", got.Files)
	}
	if got := mustWorktree(t, r, Options{Dir: "build"}); len(got.Files) != 1 || got.Files[0].Path != "kept.md" {
		t.Errorf("an ignored directory with a tracked file has %v", got.Files)
	}
	if got := mustWorktree(t, r, Options{Dir: "none/x"}); len(got.Files)+len(got.Problems) > 0 {
		t.Errorf("a missing directory has %v", got)
	}
}

func TestWorktreeOfCleanCheckout(t *testing.T) {
	d := vault(t, "kepano-obsidian")
	r := mustOpen(t, d)
	_, id, _ := r.Head()
	files, _, err := r.Files(context.Background(), id, "")
	if err != nil {
		t.Fatal(err)
	}
	tree := mustWorktree(t, r, Options{})
	if diff := cmp.Diff(fileMap(t, files), fileMap(t, tree.Files)); diff != "" {
		t.Errorf("clean work tree (-commit +work tree):\n%s", diff)
	}
}

func TestWorktreeProblems(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("needs symbolic links and odd names")
	}
	inner := newRepo(t, map[string]string{"in.md": "x"})
	d := newRepo(t, map[string]string{"a.md": "a", "real/b.md": "b", "turns.md": "t", ".gitignore": "ignored*\n"})
	git(t, d, "submodule", "--quiet", "add", inner, "mod")
	git(t, d, "commit", "-q", "-m", "mod")
	for link, target := range map[string]string{"link.md": "a.md", "dir": "real", "out": "/etc", "ignored-link": "a.md", "dangling": "nowhere"} {
		if err := os.Symlink(target, filepath.Join(d, link)); err != nil {
			t.Fatal(err)
		}
	}
	os.Remove(filepath.Join(d, "turns.md"))
	os.Symlink("a.md", filepath.Join(d, "turns.md"))
	write(t, d, "bad\xffname", "x")
	write(t, d, "new\nline", "x")
	write(t, d, "git~1", "x")
	if err := os.Truncate(filepath.Join(d, "a.md"), MaxBlob+1); err != nil {
		t.Fatal(err)
	}
	want := []string{`"a.md" too_large`, `"bad\xffname" unsafe_path`, `"dangling" symlink`, `"dir" symlink`, `"git~1" unsafe_path`, `"link.md" symlink`,
		`"mod" submodule`, `"new\nline" unsafe_path`, `"out" symlink`, `"turns.md" symlink`}
	files := ".gitignore .gitmodules real/b.md"
	if os.Getuid() != 0 {
		write(t, d, "closed.md", "x")
		write(t, d, "closed/x.md", "x")
		os.Chmod(filepath.Join(d, "closed.md"), 0)
		os.Chmod(filepath.Join(d, "closed"), 0)
		t.Cleanup(func() { os.Chmod(filepath.Join(d, "closed"), 0o700) })
		want = append(want[:2:2], append([]string{`"closed" unreadable`, `"closed.md" unreadable`}, want[2:]...)...)
	}
	r := mustOpen(t, d)
	tree := mustWorktree(t, r, Options{})
	if diff := cmp.Diff(want, codes(tree.Problems)); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
	var paths []string
	for _, f := range tree.Files {
		paths = append(paths, f.Path)
	}
	if got := strings.Join(paths, " "); got != files {
		t.Errorf("files %q, want %q", got, files)
	}
	for _, p := range tree.Problems {
		if strings.Contains(p.Message, d) {
			t.Errorf("%s: %q holds an absolute path", p.Path, p.Message)
		}
	}
	if got := mustWorktree(t, r, Options{Dir: "dir"}); len(got.Files) > 0 || len(got.Problems) != 1 || got.Problems[0].Path != "." {
		t.Errorf("below a link: %+v", got)
	}
	for _, p := range []string{"link.md", "dir/b.md", "out/passwd", "../x", ".git/config", "turns.md", "real"} {
		if b, err := r.ReadWorktree(p, note.Hash([]byte("a"))); err == nil {
			t.Errorf("ReadWorktree(%s) = %q", p, b)
		}
	}
}

func TestWorktreeWithoutCommitOrWorkTree(t *testing.T) {
	t.Parallel()
	d := newRepo(t, nil)
	write(t, d, "a.md", "a")
	if tree := mustWorktree(t, mustOpen(t, d), Options{}); len(tree.Files) != 1 || !tree.Base.IsZero() {
		t.Errorf("unborn: %+v", tree)
	}
	bare := filepath.Join(tempDir(t), "b.git")
	git(t, ".", "init", "-q", "--bare", bare)
	if _, err := mustOpen(t, bare).Worktree(context.Background(), Options{}); !errors.Is(err, ErrNoWorkTree) {
		t.Errorf("bare: %v", err)
	}
}

// countingCache counts what is hashed.
type countingCache struct {
	Stats
	mu   sync.Mutex
	puts map[string]int
}

func (c *countingCache) Put(path string, s Stat, id note.ID) {
	c.mu.Lock()
	c.puts[path]++
	c.mu.Unlock()
	c.Stats.Put(path, s, id)
}

func TestStatCache(t *testing.T) {
	t.Parallel()
	d := newRepo(t, map[string]string{"a.md": "aaaa", "b.md": "bbbb"})
	r := mustOpen(t, d)
	cache := &countingCache{}
	later := time.Duration(0)
	r.now = func() time.Time { return time.Now().Add(later) }
	scan := func() (string, map[string]int) {
		cache.puts = map[string]int{}
		tree := mustWorktree(t, r, Options{Cache: cache})
		want := gitWorktree(t, d)
		if diff := cmp.Diff(want, fileMap(t, tree.Files)); diff != "" {
			t.Errorf("(-git +ours):\n%s", diff)
		}
		return tree.ID.String(), cache.puts
	}
	scan()
	id, puts := scan()
	if len(puts) != 2 {
		t.Errorf("files as new as their hashes are trusted: read again %v", puts)
	}
	later = time.Minute
	scan()
	same, puts := scan()
	if len(puts) != 0 || same != id {
		t.Errorf("nothing changed, yet read %v; ID %s, was %s", puts, same, id)
	}
	// The same size and modification time, other bytes: the change time tells.
	file := filepath.Join(d, "a.md")
	info, _ := os.Stat(file)
	write(t, d, "a.md", "AAAA")
	os.Chtimes(file, info.ModTime(), info.ModTime())
	changed, puts := scan()
	if runtime.GOOS == "linux" && (puts["a.md"] != 1 || changed == id) {
		t.Errorf("a.md was changed, yet read %v", puts)
	}
	// Saved and loaded, it is as good as before.
	var saved, again bytes.Buffer
	if err := cache.Save(&saved); err != nil || cache.Changed() {
		t.Fatal(err)
	}
	cache.Save(&again)
	if !bytes.Equal(saved.Bytes(), again.Bytes()) {
		t.Error("saved differently the second time")
	}
	loaded := &countingCache{}
	if err := loaded.Load(bytes.NewReader(saved.Bytes())); err != nil || loaded.Len() != 2 || loaded.Changed() {
		t.Fatalf("Load: %v, %d files", err, loaded.Len())
	}
	cache = loaded
	if _, puts := scan(); len(puts) != 0 {
		t.Errorf("after Load: read %v", puts)
	}
	loaded.Keep(func(p string) bool { return p == "b.md" })
	if loaded.Len() != 1 || !loaded.Changed() {
		t.Errorf("after Keep: %d files", loaded.Len())
	}
}

func TestLoadDamagedStats(t *testing.T) {
	t.Parallel()
	full := &Stats{}
	full.Put("a/b.md", Stat{1, 2, 3, 4, 5, 1}, note.ID{6})
	full.Put("c.md", Stat{-1, -2, -3, 1 << 63, -5, 0}, note.ID{7})
	var good bytes.Buffer
	if err := full.Save(&good); err != nil {
		t.Fatal(err)
	}
	for i := range good.Len() {
		bad := bytes.Clone(good.Bytes())
		bad[i] ^= 0x10
		for _, b := range [][]byte{bad, good.Bytes()[:i], append(bytes.Clone(good.Bytes()), byte(i))} {
			if err := full.Load(bytes.NewReader(b)); err == nil || full.Len() != 0 {
				t.Fatalf("byte %d damaged: %v, %d files", i, err, full.Len())
			}
		}
	}
	if err := full.Load(&good); err != nil || full.Len() != 2 {
		t.Fatalf("undamaged: %v", err)
	}
	if s, id, ok := full.Get("c.md"); !ok || id != (note.ID{7}) || s != (Stat{-1, -2, -3, 1 << 63, -5, 0}) {
		t.Errorf("Get = %v, %v, %v", s, id, ok)
	}
}

func TestWorktreeWhileFilesChange(t *testing.T) {
	t.Parallel()
	files := map[string]string{}
	for i := range 60 {
		files[fmt.Sprintf("d%d/n%d.md", i%5, i)] = "0"
	}
	d := newRepo(t, files)
	r := mustOpen(t, d)
	stop := make(chan struct{})
	var writer sync.WaitGroup
	writer.Go(func() {
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
			}
			name := filepath.Join(d, fmt.Sprintf("d%d/n%d.md", i%5, i%60))
			switch i % 3 {
			case 0:
				os.WriteFile(name, []byte(strings.Repeat("x", i%5000)), 0o666)
			case 1:
				os.Remove(name)
			default:
				os.RemoveAll(filepath.Dir(name))
				os.MkdirAll(filepath.Dir(name), 0o777)
			}
		}
	})
	cache := &Stats{}
	for range 30 {
		tree, err := r.Worktree(context.Background(), Options{Cache: cache})
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range tree.Files {
			if b, err := r.ReadWorktree(f.Path, f.Blob); err == nil && note.Hash(b) != f.Blob || err != nil && !errors.Is(err, ErrChanged) {
				t.Errorf("ReadWorktree(%s): %v", f.Path, err)
			}
		}
		for _, p := range tree.Problems {
			t.Errorf("%+v", p)
		}
	}
	close(stop)
	writer.Wait()
	if diff := cmp.Diff(gitWorktree(t, d), fileMap(t, mustWorktree(t, r, Options{Cache: cache}).Files)); diff != "" {
		t.Errorf("when all is quiet (-git +ours):\n%s", diff)
	}
}

// TestLineEnds compares with git add under every configuration, with and
// without a cache from before the configuration changed.
func TestLineEnds(t *testing.T) {
	contents := map[string]string{
		"lf.md": "a\nb\n", "crlf.md": "a\r\nb\r\n", "mixed.md": "a\r\nb\n", "bin.md": "a\r\n\x00", "lone.md": "a\rb\r\n",
		"odd.md": "a\r\n\x01\x02\x03", "eof.md": "a\r\nlong enough to be text, long enough to be text, long enough to be text, long enough to be text, long enough......\x1a", "plain.txt": "x\r\n", "sub/crlf.md": "a\r\n", "committed-crlf.md": "a\r\nb\r\n",
	}
	attributes := []string{
		"", "* text=auto\n", "*.md text\n", "*.md -text\n", "*.md text eol=crlf\n", "*.md eol=lf\n", "* text=auto\n*.md !text\n",
		"*.md binary\n", "* text=auto eol=lf\ncrlf.md -text\n", "/crlf.md text\nsub/*.md text=auto\n", "\"mixed.md\" text\n", "*.md -text eol=lf\n", "sub/ text\n",
	}
	d := newRepo(t, nil)
	write(t, d, ".git/info/attributes", "lone.md text\n")
	write(t, d, "sub/.gitattributes", "# comment\n[attr]macro text\n*.none text\n")
	write(t, d, "committed-crlf.md", contents["committed-crlf.md"])
	git(t, d, "-c", "core.autocrlf=false", "add", "-A")
	git(t, d, "commit", "-q", "-m", "x")
	for p, c := range contents {
		write(t, d, p, c)
	}
	cache := &Stats{}
	for _, auto := range []string{"false", "true", "input"} {
		git(t, d, "config", "core.autocrlf", auto)
		for _, a := range attributes {
			write(t, d, ".gitattributes", a)
			r := mustOpen(t, d)
			r.now = func() time.Time { return time.Now().Add(time.Hour) }
			// What `git add` makes of everything, in an index of its own.
			index := filepath.Join(tempDir(t), "index")
			want := map[string]string{}
			t.Setenv("GIT_INDEX_FILE", index)
			git(t, d, "read-tree", "HEAD")
			git(t, d, "-c", "core.safecrlf=false", "add", "-A")
			for line := range strings.SplitSeq(git(t, d, "ls-files", "-s", "-z"), "\x00") {
				if meta, p, ok := strings.Cut(line, "\t"); ok {
					want[p] = strings.Fields(meta)[1]
				}
			}
			os.Unsetenv("GIT_INDEX_FILE")
			for _, c := range []StatCache{nil, cache, cache} {
				tree := mustWorktree(t, r, Options{Cache: c})
				if diff := cmp.Diff(want, fileMap(t, tree.Files)); diff != "" {
					t.Errorf("autocrlf=%s, attributes %q, cache %v (-git +ours):\n%s", auto, a, c != nil, diff)
				}
			}
		}
	}
}
