package draft

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kb/gitstore"
)

// dirtyRepo is a repository with a draft "x" that changes n/b.md, adds n/new.md
// and removes n/old.md, and with changes of a person elsewhere: staged, not
// staged, and untracked.
func dirtyRepo(t *testing.T) (dir string, s *Store) {
	t.Helper()
	dir = newRepo(t, map[string]string{"a.md": "1\n", "staged.md": "1\n", "n/b.md": "1\n", "n/old.md": "old\n", ".gitignore": "*.tmp\n"})
	s = open(t, dir)
	mustAppend(t, s, put("x", map[string]string{"n/b.md": "2\n", "n/new.md": "new\n", "n/old.md": "-"}))
	write(t, dir, "a.md", "mine\n")
	write(t, dir, "staged.md", "staged\n")
	git(t, dir, "add", "staged.md")
	write(t, dir, "staged.md", "staged and more\n")
	write(t, dir, "untracked.md", "u\n")
	write(t, dir, "ignored.tmp", "i\n")
	return dir, s
}

func TestMergeIntoTheCheckedOutBranch(t *testing.T) {
	t.Parallel()
	d, s := dirtyRepo(t)
	status := git(t, d, "status", "--porcelain=v2")
	hook := "#!/bin/sh\ntouch " + filepath.Join(d, "hook-ran") + "\n"
	for _, name := range []string{"post-index-change", "reference-transaction", "post-merge", "post-checkout"} {
		write(t, d, ".git/hooks/"+name, hook)
		if err := os.Chmod(filepath.Join(d, ".git/hooks", name), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	linked := filepath.Join(t.TempDir(), "linked")
	git(t, d, "-c", "core.hooksPath="+os.DevNull, "worktree", "add", "-q", "--force", linked, "main")
	m, err := s.Merge(context.Background(), MergeRequest{Name: "x"})
	if err != nil {
		t.Fatal(err)
	}
	if len(m.Worktrees) != 2 {
		t.Errorf("followed: %v", m.Worktrees)
	}
	if diff := cmp.Diff(status, git(t, d, "-c", "core.hooksPath="+os.DevNull, "status", "--porcelain=v2")); diff != "" {
		t.Errorf("status: %s", diff)
	}
	for name, want := range map[string]string{"n/b.md": "2\n", "n/new.md": "new\n", "a.md": "mine\n", "staged.md": "staged and more\n", "untracked.md": "u\n", "ignored.tmp": "i\n"} {
		if got := read(t, d, name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	if got := git(t, d, "show", ":staged.md"); got != "staged" {
		t.Errorf("staged: %q", got)
	}
	for _, gone := range []string{"n/old.md", "hook-ran"} {
		if _, err := os.Lstat(filepath.Join(d, gone)); err == nil {
			t.Errorf("%s is there", gone)
		}
	}
	for _, dir := range []string{d, linked} {
		if got := git(t, dir, "reflog", "-1", "--format=%H %gs"); got != m.Commit.String()+" kb: merge draft x" {
			t.Errorf("reflog of HEAD in %s: %s", dir, got)
		}
	}
	if got := git(t, linked, "status", "--porcelain=v2"); got != "" {
		t.Errorf("linked work tree:\n%s", got)
	}
	if got := git(t, d, "log", "-1", "--format=%s"); got != "Merge draft x" {
		t.Errorf("main is at %q", got)
	}
	fsck(t, d)
}

func TestMergeRefusesWhereFilesAreDirty(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		spoil func(t *testing.T, d string)
		want  []string
	}{
		"changed":          {func(t *testing.T, d string) { write(t, d, "n/b.md", "mine\n") }, []string{"n/b.md"}},
		"staged":           {func(t *testing.T, d string) { write(t, d, "n/b.md", "mine\n"); git(t, d, "add", "n/b.md") }, []string{"n/b.md"}},
		"untracked":        {func(t *testing.T, d string) { write(t, d, "n/new.md", "mine\n") }, []string{"n/new.md"}},
		"the same content": {func(t *testing.T, d string) { write(t, d, "n/new.md", "new\n") }, []string{"n/new.md"}},
		"ignored": {func(t *testing.T, d string) {
			write(t, d, ".git/info/exclude", "new.md\n")
			write(t, d, "n/new.md", "mine\n")
		}, []string{"n/new.md"}},
		"removed":         {func(t *testing.T, d string) { os.Remove(filepath.Join(d, "n/b.md")) }, []string{"n/b.md"}},
		"removed, staged": {func(t *testing.T, d string) { git(t, d, "rm", "-q", "n/old.md") }, []string{"n/old.md"}},
		"two":             {func(t *testing.T, d string) { write(t, d, "n/b.md", "m\n"); write(t, d, "n/old.md", "m\n") }, []string{"n/b.md", "n/old.md"}},
		"directory":       {func(t *testing.T, d string) { write(t, d, "n/new.md/deep", "mine\n") }, []string{"n/new.md/deep"}},
		"assumed unchanged": {func(t *testing.T, d string) {
			git(t, d, "update-index", "--assume-unchanged", "n/b.md")
			write(t, d, "n/b.md", "mine\n")
		}, []string{"n/b.md"}},
		"merging": {func(t *testing.T, d string) { write(t, d, ".git/MERGE_HEAD", git(t, d, "rev-parse", "HEAD")+"\n") }, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, s := dirtyRepo(t)
			c.spoil(t, d)
			git(t, d, "status") // git may write down what it saw
			before, files := state(t, d), refs(t, d, "")
			_, err := s.Merge(context.Background(), MergeRequest{Name: "x"})
			var dirty *DirtyError
			if err == nil || !errors.As(err, &dirty) {
				t.Fatalf("%v", err)
			}
			if diff := cmp.Diff(c.want, append(dirty.Paths, dirty.InTheWay...)); diff != "" {
				t.Error(diff)
			}
			if after := state(t, d); after != before && name != "assumed unchanged" { // git refreshes its index

				t.Errorf("after:\n%s\nbefore:\n%s", after, before)
			}
			if after := refs(t, d, ""); after != files {
				t.Errorf("refs after:\n%s\nbefore:\n%s", after, files)
			}
			if locks, _ := filepath.Glob(filepath.Join(d, ".git/refs/*/*.lock")); len(locks) > 0 {
				t.Errorf("left: %v", locks)
			}
			fsck(t, d)
		})
	}
}

// What git ignores it overwrites: nothing may stand where a merge writes, in any
// work tree.
func TestMergeOverwritesNothingUntracked(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		spoil func(t *testing.T, d string)
		want  []string
	}{
		"ignored file above":      {func(t *testing.T, d string) { write(t, d, "private", "mine\n") }, []string{"private"}},
		"ignored file far above":  {func(t *testing.T, d string) { write(t, d, "private/deep", "mine\n") }, []string{"private/deep"}},
		"untracked file above":    {func(t *testing.T, d string) { write(t, d, "plain", "mine\n") }, []string{"plain"}},
		"ignored directory":       {func(t *testing.T, d string) { write(t, d, "my.secret.md/deep/er", "mine\n") }, []string{"my.secret.md/deep/er"}},
		"empty directory":         {func(t *testing.T, d string) { os.MkdirAll(filepath.Join(d, "my.secret.md/deep"), 0o777) }, nil},
		"repository":              {func(t *testing.T, d string) { git(t, d, "init", "-q", "my.secret.md") }, nil},
		"ignored symlink":         {func(t *testing.T, d string) { os.Symlink("gone", filepath.Join(d, "my.secret.md")) }, []string{"my.secret.md"}},
		"ignored symlink above":   {func(t *testing.T, d string) { os.Symlink("n", filepath.Join(d, "private")) }, []string{"private"}},
		"symlink away, above":     {func(t *testing.T, d string) { os.Symlink("../elsewhere", filepath.Join(d, "plain")) }, []string{"plain"}},
		"beside what is replaced": {func(t *testing.T, d string) { write(t, d, "dir/my.secret", "mine\n") }, []string{"dir/my.secret"}},
		"file to be replaced":     {func(t *testing.T, d string) { write(t, d, "file", "mine\n") }, []string{"file"}},
		"nothing":                 {func(t *testing.T, d string) {}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newRepo(t, map[string]string{".gitignore": "private\n*secret*\n", "n/b.md": "1\n", "dir/a.md": "a\n", "file": "f\n"})
			s := open(t, d)
			linked := filepath.Join(t.TempDir(), "linked")
			git(t, d, "worktree", "add", "-q", "--force", linked, "main")
			git(t, d, "switch", "-q", "-c", "work")
			os.RemoveAll(filepath.Join(d, "dir"))
			os.Remove(filepath.Join(d, "file"))
			for file, text := range map[string]string{"private/deep/x.md": "x\n", "plain/x.md": "x\n", "my.secret.md": "s\n", "dir": "d\n", "file/x.md": "x\n"} {
				write(t, d, file, text)
			}
			git(t, d, "add", "-A", "-f")
			git(t, d, "commit", "-q", "-m", "turns files into directories")
			git(t, d, "branch", "drafts/x")
			git(t, d, "switch", "-q", "main", "--ignore-other-worktrees")
			c.spoil(t, linked)
			before, moved := tree(t, linked), refs(t, d, "")
			_, err := s.Merge(context.Background(), MergeRequest{Name: "x"})
			var dirty *DirtyError
			if name == "nothing" || name == "empty directory" {
				if err != nil || git(t, linked, "status", "--porcelain") != "" {
					t.Errorf("%v\n%s", err, git(t, linked, "status", "--porcelain"))
				}
				return
			}
			if !errors.As(err, &dirty) || dirty.Dir != linked {
				t.Fatalf("%v", err)
			}
			if got := append(dirty.Paths, dirty.InTheWay...); c.want != nil && !cmp.Equal(c.want, got) {
				t.Errorf("in the way: %q, want %q", got, c.want)
			}
			if after := tree(t, linked); !cmp.Equal(before, after) || refs(t, d, "") != moved {
				t.Errorf("changed: %s", cmp.Diff(before, after))
			}
			if got := git(t, d, "status", "--porcelain"); got != "" {
				t.Errorf("main work tree:\n%s", got)
			}
		})
	}
}

// tree lists what a directory holds, with what it says.
func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(file string, e os.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() {
			src, readErr := os.ReadFile(file)
			files[file], err = string(src), readErr
		} else if err == nil {
			files[file] = e.Type().String()
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func TestMergeIntoAnotherBranchTouchesNoFile(t *testing.T) {
	t.Parallel()
	d, s := dirtyRepo(t)
	git(t, d, "branch", "other")
	write(t, d, "n/b.md", "dirty\n")
	git(t, d, "status")
	before := state(t, d)
	m, err := s.Merge(context.Background(), MergeRequest{Name: "x", Into: "refs/heads/other"})
	if err != nil || len(m.Worktrees) != 0 || commitAt(t, d, "other") != m.Commit {
		t.Fatalf("%+v, %v", m, err)
	}
	if after := state(t, d); after != before {
		t.Errorf("after:\n%s\nbefore:\n%s", after, before)
	}
	if _, err := s.Merge(context.Background(), MergeRequest{Name: "x", Into: "refs/heads/none"}); err == nil {
		t.Error("merged into a branch that does not exist")
	}
}

func TestMergeWithoutGit(t *testing.T) {
	d, s := dirtyRepo(t)
	git(t, d, "branch", "other")
	before, files := state(t, d), refs(t, d, "")
	programs := os.Getenv("PATH")
	t.Setenv("PATH", t.TempDir())
	_, err := s.Merge(context.Background(), MergeRequest{Name: "x"})
	if !errors.Is(err, gitstore.ErrNoGit) || !strings.Contains(err.Error(), d) {
		t.Errorf("checked out: %v", err)
	}
	t.Setenv("PATH", programs)
	if state(t, d) != before || refs(t, d, "") != files {
		t.Error("something changed")
	}
	t.Setenv("PATH", t.TempDir())
	_, err = s.Merge(context.Background(), MergeRequest{Name: "x", Into: "refs/heads/other"})
	t.Setenv("PATH", programs)
	if err != nil {
		t.Errorf("another branch: %v", err)
	}
	fsck(t, d)
}

// A work tree that has the draft itself checked out keeps the draft where it is.
func TestCheckedOutDraft(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	d := newRepo(t, map[string]string{"a.md": "1\n"})
	s := open(t, d)
	mustAppend(t, s, put("x", map[string]string{"b.md": "b\n"}))
	linked := filepath.Join(t.TempDir(), "linked")
	git(t, d, "worktree", "add", "-q", linked, "drafts/x")
	_, err := s.Append(ctx, put("x", map[string]string{"c.md": "c\n"}))
	if !errors.Is(err, ErrCheckedOut) || !strings.Contains(err.Error(), "work tree linked") || strings.Contains(err.Error(), linked) {
		t.Errorf("append: %v", err)
	}
	if _, err := s.Merge(ctx, MergeRequest{Name: "x"}); !errors.Is(err, ErrCheckedOut) {
		t.Errorf("merge: %v", err)
	}
	if _, err := s.Reject(ctx, "x", "no", gitstore.Signature{}); !errors.Is(err, ErrCheckedOut) {
		t.Errorf("reject: %v", err)
	}
	if err := os.RemoveAll(linked); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Append(ctx, put("x", map[string]string{"c.md": "c\n"})); err != nil {
		t.Errorf("after its directory went: %v", err)
	}
}
