package vault_test

import (
	"os"
	"path/filepath"
	"testing"

	"kb/internal/vaulttest"
	"kb/vault"
)

// What a listing leaves out is counted as it is now, in the work tree and in
// commits of which a view before is in memory.
func TestStatsOfProblems(t *testing.T) {
	dir := vaulttest.Repo(t, "-- a.md --\n# A\n-- guides/b.md --\n# B\n-- @commit 2024-01-01 first --\n")
	s := vaulttest.ServiceIn(t, dir, t.TempDir(), vault.Person)
	check := func(when string, worktree, head int) {
		t.Helper()
		for at, want := range map[string]int{"worktree": worktree, "HEAD": head} {
			if got := do[vault.Stats](t, s, "kb_stats", map[string]any{"at": at}).Problems; got != want {
				t.Errorf("%s: %d problems at %s, want %d", when, got, at, want)
			}
		}
	}
	commit := func() {
		t.Helper()
		vaulttest.Git(t, dir, "add", "--all")
		vaulttest.Git(t, dir, "commit", "--quiet", "-m", "more")
	}
	check("at first", 0, 0)
	link := filepath.Join(dir, "guides", "ln.md")
	if err := os.Symlink("b.md", link); err != nil {
		t.Skip(err)
	}
	check("with a symbolic link", 1, 0)
	if err := os.Remove(link); err != nil {
		t.Fatal(err)
	}
	check("without it again", 0, 0)
	if err := os.Symlink("b.md", link); err != nil {
		t.Fatal(err)
	}
	commit()
	check("with one that is committed", 1, 1)
	if err := os.Remove(link); err != nil {
		t.Fatal(err)
	}
	check("with one that is removed", 1, 1) // the commit has it
	commit()
	check("with none", 0, 0)
}
