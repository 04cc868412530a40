package gitstore

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// shared holds what several tests read; TestMain removes it.
var shared string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "gitstore")
	if err != nil {
		panic(err)
	}
	shared, err = filepath.EvalSymlinks(dir)
	if err != nil {
		panic(err)
	}
	for k, v := range map[string]string{
		"HOME": filepath.Join(shared, "home"), "XDG_CONFIG_HOME": "", "GIT_DIR": "", "GIT_WORK_TREE": "",
		"GIT_CONFIG_GLOBAL": filepath.Join(shared, "gitconfig"), "GIT_CONFIG_NOSYSTEM": "1",
		"GIT_AUTHOR_NAME": "A", "GIT_AUTHOR_EMAIL": "a@example.org", "GIT_AUTHOR_DATE": "1700000000 +0100",
		"GIT_COMMITTER_NAME": "C", "GIT_COMMITTER_EMAIL": "c@example.org", "GIT_COMMITTER_DATE": "1700000000 +0100",
		"GIT_NO_REPLACE_OBJECTS": "1", "LC_ALL": "C",
	} {
		if v == "" {
			os.Unsetenv(k)
		} else {
			os.Setenv(k, v)
		}
	}
	config := "[init]\n\tdefaultBranch = main\n[protocol \"file\"]\n\tallow = always\n[gc]\n\tauto = 0\n[uploadpack]\n\tallowFilter = true\n"
	if err := os.WriteFile(filepath.Join(shared, "gitconfig"), []byte(config), 0o666); err != nil {
		panic(err)
	}
	code := m.Run()
	os.RemoveAll(shared)
	os.Exit(code)
}

// long asks for full samples where a few will do every day: KB_LONG=1.
var long = os.Getenv("KB_LONG") == "1"

// git runs git and returns what it prints, without the last line end.
func git(t testing.TB, dir string, args ...string) string {
	t.Helper()
	return gitIn(t, dir, nil, args...)
}

// gitIn is git with standard input.
func gitIn(t testing.TB, dir string, stdin []byte, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Stdin = bytes.NewReader(stdin)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, stderr.Bytes())
	}
	return strings.TrimSuffix(string(out), "\n")
}

// emptyRepo is what git init makes, to be copied.
var emptyRepo = sync.OnceValue(func() string {
	dir := filepath.Join(shared, "empty")
	if out, err := exec.Command("git", "init", "-q", "--template=", dir).CombinedOutput(); err != nil {
		panic(fmt.Sprintf("git init: %v\n%s", err, out))
	}
	return dir
})

// newRepo makes a repository with one commit of the given files.
func newRepo(t testing.TB, files map[string]string) string {
	t.Helper()
	dir := filepath.Join(tempDir(t), "repo")
	if err := os.CopyFS(dir, os.DirFS(emptyRepo())); err != nil {
		t.Fatal(err)
	}
	if files != nil {
		commit(t, dir, "first", files)
	}
	return dir
}

// tempDir is t.TempDir without symbolic links in it.
func tempDir(t testing.TB) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// commit writes files (removing those with content "-"), commits everything,
// and returns the commit. Each commit is a minute after the one before.
func commit(t testing.TB, dir, message string, files map[string]string) CommitID {
	t.Helper()
	for name, content := range files {
		if content == "-" {
			git(t, dir, "rm", "-q", "--", name)
		} else {
			write(t, dir, name, content)
		}
	}
	git(t, dir, "add", "-A")
	var n int
	fmt.Sscan(git(t, dir, "rev-list", "--all", "--count"), &n)
	date := fmt.Sprintf("%d +0100", 1700000000+60*n)
	cmd := gitCommand(dir, "-c", "core.hooksPath="+os.DevNull, "commit", "-q", "--allow-empty", "-m", message, "--date", date)
	cmd.Env = append(os.Environ(), "GIT_COMMITTER_DATE="+date)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("commit: %v\n%s", err, out)
	}
	return mustCommitID(t, git(t, dir, "rev-parse", "HEAD"))
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

func mustCommitID(t testing.TB, s string) CommitID {
	t.Helper()
	id, err := ParseCommitID(s)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func mustOpen(t testing.TB, dir string) *Repo {
	t.Helper()
	r, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r
}

var (
	vaultMu sync.Mutex
	vaults  = map[string]string{}
)

// vault returns a clone of one of the shared vaults, "kepano-obsidian",
// "rust-rfcs" or "tldr" (bare); tests do not write to it.
func vault(t testing.TB, name string) string {
	t.Helper()
	vaultMu.Lock()
	defer vaultMu.Unlock()
	if dir := vaults[name]; dir != "" {
		return dir
	}
	root := os.Getenv("KB_SHARED")
	if root == "" {
		root = filepath.Join("..", "..", "shared")
	}
	file := filepath.Join(root, "data", "vaults", name+".bundle")
	if name == "tldr" {
		file = filepath.Join(root, "data", "vaults", "tldr.git.tar.gz")
	}
	file, err := filepath.Abs(file)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(file); err != nil {
		t.Skipf("no %s: set KB_SHARED to the directory that holds data/vaults", file)
	}
	dir := filepath.Join(shared, name)
	if name == "tldr" {
		dir = filepath.Join(shared, "tldr.git")
		if out, err := exec.Command("tar", "-xzf", file, "-C", shared).CombinedOutput(); err != nil {
			t.Fatalf("tar: %v\n%s", err, out)
		}
	} else {
		git(t, ".", "clone", "-q", file, dir)
	}
	vaults[name] = dir
	return dir
}

// lsTree is `git ls-tree -r -z` of the regular files: path → blob.
func lsTree(t testing.TB, dir, rev string) map[string]string {
	t.Helper()
	files := map[string]string{}
	for line := range strings.SplitSeq(git(t, dir, "ls-tree", "-r", "-z", "--full-tree", rev), "\x00") {
		if meta, path, ok := strings.Cut(line, "\t"); ok && strings.HasPrefix(meta, "100") {
			files[path] = strings.Fields(meta)[2]
		}
	}
	return files
}

// fileMap is a listing in the form of lsTree. It fails unless the listing is
// sorted without repetition.
func fileMap(t testing.TB, files []File) map[string]string {
	t.Helper()
	m := map[string]string{}
	for _, f := range files {
		m[f.Path] = f.Blob.String()
	}
	paths := slices.Sorted(maps.Keys(m))
	for i, f := range files {
		if len(paths) != len(files) || paths[i] != f.Path {
			t.Fatalf("listing is not sorted, or repeats: entry %d is %q", i, f.Path)
		}
	}
	return m
}

// codes is a list of problems in short: "path code".
func codes(problems []Problem) []string {
	short := []string{}
	for _, p := range problems {
		short = append(short, fmt.Sprintf("%q %s", p.Path, p.Code))
	}
	slices.Sort(short)
	return short
}

// tryGit is git, "" when it fails.
func tryGit(dir string, args ...string) string {
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	out, err := cmd.Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}

func gitCommand(dir string, args ...string) *exec.Cmd {
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	return cmd
}
