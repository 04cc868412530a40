// Package vaulttest makes repositories and vaults for tests from text. It runs
// the git program, with an environment in which the same text gives the same
// commits.
package vaulttest

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"kb/vault"
)

// Repo makes a repository of a txtar archive and returns its work tree. A file
// named "@commit DATE MESSAGE" commits what stands above it; "@delete PATH" and
// "@rename OLD NEW" change the work tree. Files after the last commit stay
// uncommitted.
func Repo(t testing.TB, archive string) string {
	t.Helper()
	dir := t.TempDir()
	Git(t, dir, "init", "--quiet", "--initial-branch=main")
	for _, f := range txtar.Parse([]byte(archive)).Files {
		words := strings.SplitN(f.Name, " ", 3)
		switch words[0] {
		case "@commit":
			Commit(t, dir, words[1], words[2])
		case "@delete":
			must(t, os.Remove(filepath.Join(dir, words[1])))
		case "@rename":
			to := filepath.Join(dir, words[2])
			must(t, os.MkdirAll(filepath.Dir(to), 0o755))
			must(t, os.Rename(filepath.Join(dir, words[1]), to))
		default:
			Write(t, dir, f.Name, string(f.Data))
		}
	}
	return dir
}

// Write writes a file of the work tree.
func Write(t testing.TB, dir, name, text string) {
	t.Helper()
	file := filepath.Join(dir, filepath.FromSlash(name))
	must(t, os.MkdirAll(filepath.Dir(file), 0o755))
	must(t, os.WriteFile(file, []byte(text), 0o644))
}

// Commit commits everything in the work tree, dated noon of date in UTC, and
// returns the commit.
func Commit(t testing.TB, dir, date, message string) string {
	t.Helper()
	Git(t, dir, "add", "--all")
	git(t, dir, []string{"GIT_AUTHOR_DATE=" + date + "T12:00:00Z", "GIT_COMMITTER_DATE=" + date + "T12:00:00Z"},
		"commit", "--quiet", "--allow-empty", "--message", message)
	return Git(t, dir, "rev-parse", "HEAD")
}

// Git runs git in dir and returns what it prints, trimmed.
func Git(t testing.TB, dir string, args ...string) string {
	t.Helper()
	return git(t, dir, nil, args...)
}

func git(t testing.TB, dir string, env []string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = append(append(os.Environ(), Env()...), env...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

// Env is the environment in which git behaves the same everywhere.
func Env() []string {
	return []string{
		"GIT_CONFIG_GLOBAL=" + os.DevNull, "GIT_CONFIG_NOSYSTEM=1", "GIT_TERMINAL_PROMPT=0",
		"GIT_AUTHOR_NAME=Ada", "GIT_AUTHOR_EMAIL=ada@example.org",
		"GIT_COMMITTER_NAME=Ada", "GIT_COMMITTER_EMAIL=ada@example.org",
		"GIT_AUTHOR_DATE=2024-01-01T12:00:00Z", "GIT_COMMITTER_DATE=2024-01-01T12:00:00Z",
	}
}

// Service opens the vault in dir, with derived data of its own; when the test
// ends, every byte of that is checked.
func Service(t testing.TB, dir string) *vault.Service {
	t.Helper()
	return ServiceIn(t, dir, t.TempDir(), vault.Person)
}

// ServiceIn opens the vault in dir with derived data in cache.
func ServiceIn(t testing.TB, dir, cache string, a vault.Audience) *vault.Service {
	t.Helper()
	cfg, err := vault.LoadConfig(vault.Locate{Dir: dir, CacheDir: cache})
	must(t, err)
	s, err := vault.NewService(cfg, a, t.Logf)
	must(t, err)
	t.Cleanup(func() {
		check, _ := vault.FindOp("kb_check")
		if r, err := s.Do(context.Background(), check, nil, nil); err == nil && !r.(*vault.Findings).OK {
			t.Errorf("derived data: %+v", r)
		}
		if err := s.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return s
}

// Shared returns the directory of test data that does not come with the
// program, or skips the test.
func Shared(t testing.TB, name string) string {
	t.Helper()
	root := os.Getenv("KB_SHARED")
	if root == "" {
		root = filepath.Join(moduleRoot(t), "..", "shared")
	}
	dir := filepath.Join(root, filepath.FromSlash(name))
	if _, err := os.Stat(dir); err != nil {
		t.Skipf("no test data %s: set KB_SHARED to the directory that holds it", name)
	}
	return dir
}

func moduleRoot(t testing.TB) string {
	dir, err := os.Getwd()
	must(t, err)
	for filepath.Dir(dir) != dir {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		dir = filepath.Dir(dir)
	}
	t.Fatal("no go.mod above the working directory")
	return ""
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
