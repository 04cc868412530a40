package draft

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"kb/gitstore"
)

// shared holds what several tests read; TestMain removes it.
var shared string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "draft")
	if err != nil {
		panic(err)
	}
	if shared, err = filepath.EvalSymlinks(dir); err != nil {
		panic(err)
	}
	for _, k := range []string{"XDG_CONFIG_HOME", "GIT_DIR", "GIT_WORK_TREE", "GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL"} {
		os.Unsetenv(k)
	}
	for k, v := range map[string]string{"HOME": shared, "GIT_CONFIG_GLOBAL": filepath.Join(shared, "gitconfig"), "GIT_CONFIG_NOSYSTEM": "1", "LC_ALL": "C"} {
		os.Setenv(k, v)
	}
	config := "[init]\n\tdefaultBranch = main\n[user]\n\tname = Ada\n\temail = ada@example.org\n[gc]\n\tauto = 0\n[advice]\n\tdetachedHead = false\n"
	if err := os.WriteFile(filepath.Join(shared, "gitconfig"), []byte(config), 0o666); err != nil {
		panic(err)
	}
	code := m.Run()
	os.RemoveAll(shared)
	os.Exit(code)
}

// git runs git and returns what it prints, without the last line end.
func git(t testing.TB, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, stderr.Bytes())
	}
	return strings.TrimSuffix(string(out), "\n")
}

var emptyRepo = sync.OnceValue(func() string {
	dir := filepath.Join(shared, "empty")
	if out, err := exec.Command("git", "init", "-q", "--template=", dir).CombinedOutput(); err != nil {
		panic(fmt.Sprintf("git init: %v\n%s", err, out))
	}
	return dir
})

// newRepo makes a repository with one commit of the given files on main.
func newRepo(t testing.TB, files map[string]string) string {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(root, "repo")
	if err := os.CopyFS(dir, os.DirFS(emptyRepo())); err != nil {
		t.Fatal(err)
	}
	if files != nil {
		commit(t, dir, "first", files)
	}
	return dir
}

// commit writes files (removing those with content "-") and commits everything.
func commit(t testing.TB, dir, message string, files map[string]string) gitstore.CommitID {
	t.Helper()
	for name, content := range files {
		if content == "-" {
			git(t, dir, "rm", "-q", "--", name)
		} else {
			write(t, dir, name, content)
		}
	}
	git(t, dir, "add", "-A")
	git(t, dir, "commit", "-q", "--allow-empty", "-m", message)
	return commitAt(t, dir, "HEAD")
}

func write(t testing.TB, dir, name, content string) {
	t.Helper()
	file := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(content), 0o666); err != nil {
		t.Fatal(err)
	}
}

func read(t testing.TB, dir, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func commitAt(t testing.TB, dir, rev string) gitstore.CommitID {
	t.Helper()
	id, err := gitstore.ParseCommitID(git(t, dir, "rev-parse", rev+"^{commit}"))
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func open(t testing.TB, dir string) *Store {
	t.Helper()
	r, err := gitstore.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return &Store{Repo: r, Base: "refs/heads/main"}
}

// put is the change that puts files (removing those with content "-") in a draft.
func put(name string, files map[string]string) Change {
	c := Change{Name: name, Title: name, Author: gitstore.Signature{Name: "Agent", Email: "agent@example.org"}, Subject: "add notes",
		Trailers: []gitstore.Trailer{{Key: "Kb-Agent", Value: "Agent"}, {Key: "Kb-Client", Value: "test"}}}
	c.Edits = func(context.Context, gitstore.CommitID, bool) ([]gitstore.Edit, error) {
		var edits []gitstore.Edit
		for path, text := range files {
			edits = append(edits, gitstore.Edit{Path: path, Src: []byte(text), Delete: text == "-"})
		}
		return edits, nil
	}
	return c
}

func mustAppend(t testing.TB, s *Store, c Change) *Written {
	t.Helper()
	w, err := s.Append(context.Background(), c)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// fsck fails unless git finds nothing wrong.
func fsck(t testing.TB, dir string) {
	t.Helper()
	cmd := exec.Command("git", "fsck", "--strict", "--full", "--no-dangling", "--no-progress")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("git fsck: %v\n%s", err, out)
	}
}

// state is all that a person sees of his work tree, byte for byte.
func state(t testing.TB, dir string) string {
	t.Helper()
	var b strings.Builder
	cmd := exec.Command("git", "status", "--porcelain=v2", "--branch", "-z")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_OPTIONAL_LOCKS=0")
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(&b, "%s\n", out)
	gitDir := git(t, dir, "rev-parse", "--absolute-git-dir")
	for _, name := range []string{"HEAD", "index", "config", "logs/HEAD"} {
		content, err := os.ReadFile(filepath.Join(gitDir, name))
		info, _ := os.Stat(filepath.Join(gitDir, name))
		var when time.Time
		if info != nil {
			when = info.ModTime()
		}
		fmt.Fprintf(&b, "%s %x %v %v\n", name, content, err, when)
	}
	return b.String()
}

// refs lists the refs whose names start with prefix.
func refs(t testing.TB, dir, prefix string) string {
	t.Helper()
	return git(t, dir, "for-each-ref", "--format=%(refname) %(objectname)", prefix)
}
