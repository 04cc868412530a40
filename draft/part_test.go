package draft

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kb/gitstore"
)

// inPart is a repository with a draft "x" that changes a.md and b.md, of which
// a.md is merged.
func inPart(t *testing.T) (dir string, s *Store) {
	t.Helper()
	dir = newRepo(t, map[string]string{"a.md": "1\n", "b.md": "1\n"})
	s = open(t, dir)
	mustAppend(t, s, put("x", map[string]string{"a.md": "2\n", "b.md": "2\n"}))
	mustMerge(t, s, MergeRequest{Name: "x", Only: []string{"a.md"}})
	return dir, s
}

func TestUndoPart(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	for name, c := range map[string]struct {
		then func(t *testing.T, s *Store)
		undo string
		want string
	}{
		"the rest is open":         {func(t *testing.T, s *Store) {}, "x", "M a.md"},
		"the rest was rejected":    {func(t *testing.T, s *Store) { must(s.Reject(ctx, "x", "no", gitstore.Signature{}))(t) }, "x", "M a.md"},
		"the rest was merged":      {func(t *testing.T, s *Store) { mustMerge(t, s, MergeRequest{Name: "x"}) }, "x", "M b.md"},
		"the rest, by its number":  {func(t *testing.T, s *Store) { mustMerge(t, s, MergeRequest{Name: "x"}) }, "x@2", "M b.md"},
		"the first, by its number": {func(t *testing.T, s *Store) { mustMerge(t, s, MergeRequest{Name: "x"}) }, "x@1", "M a.md"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, s := inPart(t)
			c.then(t, s)
			u := must(s.Undo(ctx, c.undo, gitstore.Signature{}))(t)
			if got := changed(t, d, "main", u.Ref); got != c.want {
				t.Errorf("%s takes back %s, want %s", u.Draft, got, c.want)
			}
		})
	}
}

func TestChangesOfPart(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	_, s := inPart(t)
	list := must(s.List(ctx, ListOptions{States: []State{Merged}}))(t)
	if len(list) != 1 {
		t.Fatalf("%+v", list)
	}
	changes, err := s.Changes(ctx, &list[0])
	if err != nil || len(changes) != 1 || changes[0].Path != "a.md" {
		t.Errorf("%+v, %v", changes, err)
	}
}

func TestReopenByNumber(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	d := newRepo(t, map[string]string{"a.md": "1\n"})
	s := open(t, d)
	for _, text := range []string{"first\n", "second\n"} {
		mustAppend(t, s, put("r", map[string]string{"a.md": text}))
		must(s.Reject(ctx, "r", "no", gitstore.Signature{}))(t)
	}
	mustAppend(t, s, put("r", map[string]string{"a.md": "third\n"}))
	if _, err := s.Reopen(ctx, "r@2", gitstore.Signature{}); !errors.Is(err, ErrNameTaken) {
		t.Errorf("while another is open: %v", err)
	}
	mustMerge(t, s, MergeRequest{Name: "r"})
	x := must(s.Reopen(ctx, "r@2", gitstore.Signature{}))(t)
	if x.State != Open || git(t, d, "show", "drafts/r:a.md") != "second" {
		t.Errorf("%+v", x)
	}
	if got := git(t, d, "for-each-ref", "--format=%(refname)", "refs/kb/rejected"); got != "refs/kb/rejected/r" {
		t.Errorf("rejected: %s", got)
	}
	if x = must(s.Reject(ctx, "r", "no", gitstore.Signature{}))(t); x.Kept != "refs/kb/rejected/r@4" {
		t.Errorf("%+v", x)
	}
	fsck(t, d)
}

// What another repository's draft left is here, under its name here.
func TestEndOfRemote(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	d := newRepo(t, map[string]string{"a.md": "1\n"})
	s := open(t, d)
	for _, name := range []string{"x", "y"} {
		w := mustAppend(t, s, put(name, map[string]string{name + ".md": "new\n"}))
		git(t, d, "update-ref", "refs/remotes/origin/drafts/"+name, w.Commit.String())
		git(t, d, "update-ref", "-d", w.Ref)
	}
	if x := must(s.Reject(ctx, "origin/x", "no", gitstore.Signature{}))(t); x.Kept != "refs/kb/rejected/x" {
		t.Errorf("%+v", x)
	}
	mustMerge(t, s, MergeRequest{Name: "origin/y"})
	u := must(s.Undo(ctx, "origin/y", gitstore.Signature{}))(t)
	if u.Draft != "undo-y" || changed(t, d, "main", u.Ref) != "D y.md" {
		t.Errorf("%+v", u)
	}
}

// Each half says who made it, and of what.
func TestAuthorsOfParts(t *testing.T) {
	t.Parallel()
	d := newRepo(t, map[string]string{"a.md": "1\n"})
	s := open(t, d)
	for _, by := range []struct{ agent, file, text string }{{"Bot", "one.md", "one\n"}, {"Bot2", "two.md", "two\n"}} {
		c := put("x", map[string]string{by.file: by.text})
		c.Author = gitstore.Signature{Name: by.agent, Email: "bot@example.org"}
		c.Subject = by.agent + " writes"
		c.Trailers = []gitstore.Trailer{{Key: trailerAgent, Value: by.agent}, {Key: trailerSource, Value: "https://example.org/" + by.file}}
		mustAppend(t, s, c)
	}
	c := put("x", map[string]string{"one.md": "-", "dir/one.md": "one\n"})
	c.Author, c.Subject, c.Trailers = gitstore.Signature{Name: "Mover", Email: "bot@example.org"}, "moves", nil
	mustAppend(t, s, c)
	m := mustMerge(t, s, MergeRequest{Name: "x", Only: []string{"dir/one.md"}})
	const format = "--format=%an|%B"
	want := "Mover|Merge draft x\n\n- Bot writes\n- moves\n\nKb-Draft: x\nKb-Agent: Bot\nKb-Source: https://example.org/one.md\nReviewed-by: Ada <ada@example.org>\n"
	if diff := cmp.Diff(want, git(t, d, "log", "-1", format, m.Commit.String())); diff != "" {
		t.Errorf("part: %s", diff)
	}
	want = "Bot2|Bot2 writes\n\nThe rest of a draft of which a part was merged:\n\n- Bot2 writes\n\nKb-Draft: x\nKb-Agent: Bot2\nKb-Source: https://example.org/two.md\n"
	if diff := cmp.Diff(want, git(t, d, "log", "-1", format, m.Rest.String())); diff != "" {
		t.Errorf("rest: %s", diff)
	}
}
