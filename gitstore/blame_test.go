package gitstore

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"kb/internal/diff"
)

func TestBlame(t *testing.T) {
	dir := newRepo(t, nil)
	first := commit(t, dir, "first", map[string]string{"a.md": "one\ntwo\nthree\n"})
	renamed := func() CommitID {
		git(t, dir, "mv", "a.md", "b.md")
		git(t, dir, "commit", "--quiet", "--message", "renamed")
		return mustCommitID(t, git(t, dir, "rev-parse", "HEAD"))
	}()
	main := git(t, dir, "rev-parse", "--abbrev-ref", "HEAD")
	git(t, dir, "switch", "--quiet", "--create", "side")
	side := commit(t, dir, "side", map[string]string{"b.md": "zero\none\ntwo\nthree\n"})
	git(t, dir, "switch", "--quiet", main)
	ours := commit(t, dir, "ours", map[string]string{"b.md": "one\ntwo\nTHREE\n"})
	git(t, dir, "merge", "--quiet", "--message", "merged", "side")
	r := mustOpen(t, dir)
	head := mustCommitID(t, git(t, dir, "rev-parse", "HEAD"))
	got, err := r.Blame(context.Background(), head, "b.md")
	want := []Origin{{side, "b.md", 1}, {first, "a.md", 1}, {first, "a.md", 2}, {ours, "b.md", 3}}
	if err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got %v, %v\nwant %v", got, err, want)
	}
	if got, err := r.Blame(context.Background(), renamed, "b.md"); err != nil || got[0].Commit != first {
		t.Errorf("after the rename: %v, %v", got, err)
	}
	if _, err := r.Blame(context.Background(), head, "a.md"); !errors.Is(err, ErrNotFound) {
		t.Errorf("a file that is gone: %v", err)
	}
}

// What Blame says of a line is true: the origin has it. git agrees on nearly all:
// where the same lines occur more than once it may choose others.
func TestBlameAgreesWithGit(t *testing.T) {
	d := vault(t, "rust-rfcs")
	r := mustOpen(t, d)
	head := mustCommitID(t, git(t, d, "rev-parse", "HEAD"))
	same, all := 0, 0
	for _, name := range []string{"README.md", "text/0255-object-safety.md", "text/2094-nll.md", "compiler_changes.md", "text/1522-conservative-impl-trait.md"} {
		origins, err := r.Blame(context.Background(), head, name)
		if err != nil {
			t.Fatal(err)
		}
		text, err := r.textAt(head, name)
		if err != nil {
			t.Fatal(err)
		}
		lines := diff.Lines(text)
		theirs := strings.Split(git(t, d, "blame", "-s", "-l", "--root", "--abbrev=40", head.String(), "--", name), "\n")
		texts := map[CommitID][][]byte{}
		for i, o := range origins {
			if texts[o.Commit] == nil {
				was, err := r.textAt(o.Commit, o.Path)
				if err != nil {
					t.Fatal(err)
				}
				texts[o.Commit] = diff.Lines(was)
			}
			if got := texts[o.Commit][o.Line-1]; string(got) != string(lines[i]) {
				t.Fatalf("%s:%d is %q, its origin %v %q", name, i+1, lines[i], o, got)
			}
			if all++; strings.HasPrefix(theirs[i], o.Commit.String()) {
				same++
			}
		}
	}
	if same*100 < all*97 {
		t.Errorf("git names the same commit for %d of %d lines", same, all)
	}
	t.Logf("%d of %d lines as git has them", same, all)
}
