package draft

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kb/gitstore"
)

// operations are what a test kills, each prepared by killRepo.
var operations = map[string]func(*Store) error{
	"append": func(s *Store) error {
		_, err := s.Append(context.Background(), keyed("x", "", "the key", "n/more.md"))
		return err
	},
	"create": func(s *Store) error {
		_, err := s.Append(context.Background(), keyed("", "A Title", "the key", "n/more.md"))
		return err
	},
	"merge": func(s *Store) error {
		_, err := s.Merge(context.Background(), MergeRequest{Name: "x"})
		return err
	},
	"squash elsewhere": func(s *Store) error {
		_, err := s.Merge(context.Background(), MergeRequest{Name: "x", Into: "refs/heads/other", Squash: true})
		return err
	},
	"part": func(s *Store) error {
		m, err := s.Merge(context.Background(), MergeRequest{Name: "x", Only: []string{"n/new.md"}})
		if err == nil && m.Rest.IsZero() {
			err = errors.New("no rest")
		}
		return err
	},
	"reject": func(s *Store) error {
		_, err := s.Reject(context.Background(), "x", "no", gitstore.Signature{})
		return err
	},
	"reopen": func(s *Store) error {
		_, err := s.Reopen(context.Background(), "old", gitstore.Signature{})
		return err
	},
}

// alike are those that are much as others: every other step will do every day.
var alike = map[string]bool{"squash elsewhere": true, "part": true, "reopen": true}

// killRepo is a repository in which every operation can be done.
func killRepo(t *testing.T) string {
	d, s := dirtyRepo(t)
	git(t, d, "branch", "other")
	mustAppend(t, s, put("old", map[string]string{"old.md": "x\n"}))
	if _, err := s.Reject(context.Background(), "old", "no", gitstore.Signature{}); err != nil {
		t.Fatal(err)
	}
	git(t, d, "pack-refs", "--all")
	git(t, d, "status")
	return d
}

// outcome is all that an operation could have changed, but for times and hashes.
func outcome(t *testing.T, d string) string {
	t.Helper()
	s := open(t, d)
	var b strings.Builder
	fmt.Fprintln(&b, strings.Join(mustList(t, s, ListOptions{States: everyState}), "\n"))
	list, err := s.Repo.Refs("refs/")
	if err != nil {
		t.Fatal(err)
	}
	for _, ref := range list {
		commit, err1 := s.Repo.Commit(ref.Commit)
		files, _, err2 := s.Repo.Files(context.Background(), ref.Commit, "")
		if err := errors.Join(ref.Err, err1, err2); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "%s %s\n", ref.Name, commit.Subject)
		for _, f := range files {
			fmt.Fprintf(&b, "  %s %s\n", f.Path, f.Blob)
		}
	}
	fmt.Fprintln(&b, git(t, d, "status", "--porcelain=v2"))
	return b.String()
}

func copyRepo(t *testing.T, from string) string {
	t.Helper()
	to := filepath.Join(t.TempDir(), "repo")
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
	return to
}

// TestKilled kills every operation at every step. Whoever looks next sees it done
// or not begun; doing it again works, or finds it done.
func TestKilled(t *testing.T) {
	t.Parallel()
	prepared := killRepo(t)
	for name, op := range operations {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			before := outcome(t, copyRepo(t, prepared))
			whole := copyRepo(t, prepared)
			s := open(t, whole)
			var steps []string
			s.Repo.OnStep(func(step string) { steps = append(steps, step) })
			if err := op(s); err != nil {
				t.Fatal(err)
			}
			after := outcome(t, whole)
			happened := map[bool]int{}
			for i, step := range steps {
				if !long && (strings.HasPrefix(step, "object") && i > 1 || alike[name] && i%2 == 0) {
					continue // one object is like another
				}
				done := killAt(t, prepared, name, i, before, after)
				happened[done]++
			}
			t.Logf("%d steps, undone after %d, done after %d", len(steps), happened[false], happened[true])
			if happened[false] == 0 || happened[true] == 0 {
				t.Errorf("no kill before and after the decision: %v", steps)
			}
		})
	}
}

// killAt reports whether the operation happened all the same.
func killAt(t *testing.T, prepared, name string, step int, before, after string) bool {
	t.Helper()
	d := copyRepo(t, prepared)
	out, err := child(t, d, fmt.Sprintf("die %d %s", step, name)).CombinedOutput()
	if err == nil || strings.Contains(string(out), "done") {
		t.Fatalf("step %d: the child lives: %v\n%s", step, err, out)
	}
	now := outcome(t, d)
	if now != before && now != after {
		t.Errorf("step %d: half done:\n%s\nbefore (-), now (+):\n%s", step, out, cmp.Diff(before, now))
		return true
	}
	err = operations[name](open(t, d))
	again := errors.Is(err, ErrClosed) || errors.Is(err, ErrNotClosed) || errors.Is(err, ErrNoChange)
	if now == before && err != nil || now == after && err != nil && !again {
		t.Errorf("step %d, again: %v", step, err)
	}
	if got := outcome(t, d); got != after {
		t.Errorf("step %d, again: %s", step, cmp.Diff(after, got))
	}
	fsck(t, d)
	left, _ := filepath.Glob(filepath.Join(d, ".git/kb/pending-*"))
	for _, pattern := range []string{".git/*.lock", ".git/refs/*/*.lock", ".git/refs/*/*/*.lock"} {
		locks, _ := filepath.Glob(filepath.Join(d, pattern))
		left = append(left, locks...)
	}
	if len(left) > 0 {
		t.Errorf("step %d: left %v", step, left)
	}
	return now == after
}

// die does an operation and ends the process at a step of it.
func die(s *Store, step int, name string) error {
	n := 0
	s.Repo.OnStep(func(string) {
		if n == step {
			dieNow()
		}
		n++
	})
	return operations[name](s)
}
