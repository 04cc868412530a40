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

func mustMerge(t testing.TB, s *Store, req MergeRequest) *Merge {
	t.Helper()
	m, err := s.Merge(context.Background(), req)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// changed is git diff --name-status, on one line.
func changed(t testing.TB, d, a, b string) string {
	t.Helper()
	return strings.ReplaceAll(strings.ReplaceAll(git(t, d, "diff", "--no-renames", "--name-status", a, b), "\t", " "), "\n", ", ")
}

func TestMergeCommit(t *testing.T) {
	t.Parallel()
	d := newRepo(t, map[string]string{"a.md": "1\n"})
	s := open(t, d)
	c := put("x", map[string]string{"b.md": "b\n"})
	c.Trailers = append(c.Trailers, gitstore.Trailer{Key: "Co-authored-by", Value: "Co <co@example.org>"}, gitstore.Trailer{Key: "Kb-Draft", Value: "other"})
	mustAppend(t, s, c)
	c.Edits = put("x", map[string]string{"c.md": "c\n"}).Edits
	c.Subject = "second"
	tip := mustAppend(t, s, c)
	commit(t, d, "main goes on", map[string]string{"a.md": "2\n"})
	rita := gitstore.Signature{Name: "Rita", Email: "rita@example.org"}
	m := mustMerge(t, s, MergeRequest{Name: "x", Reviewer: rita, Message: "Well done."})
	const format = "--format=%an|%cn|%P|%B"
	want := "Rita|Ada|" + m.Before.String() + " " + tip.Commit.String() + "|Merge draft x\n\nWell done.\n\nKb-Draft: x\nReviewed-by: Rita <rita@example.org>\n"
	if diff := cmp.Diff(want, git(t, d, "log", "-1", format, "main")); diff != "" {
		t.Errorf("merge: %s", diff)
	}
	if len(m.Changes) != 2 || m.Changes[0].Path != "b.md" {
		t.Errorf("changes: %+v", m.Changes)
	}
	c.Edits = put("x", map[string]string{"d.md": "d\n"}).Edits
	mustAppend(t, s, c)
	m = mustMerge(t, s, MergeRequest{Name: "x", Reviewer: rita, Squash: true, Subject: "Notes", Trailers: []gitstore.Trailer{{Key: "See", Value: "also"}}})
	want = "Agent|Ada|" + m.Before.String() + "|Notes\n\n- second\n\nKb-Draft: x\nSee: also\nKb-Agent: Agent\nKb-Client: test\nCo-authored-by: Co <co@example.org>\nReviewed-by: Rita <rita@example.org>\n"
	if diff := cmp.Diff(want, git(t, d, "log", "-1", format, "main")); diff != "" {
		t.Errorf("squash: %s", diff)
	}
	if m.Kept != "refs/kb/kept/x@2" || commitAt(t, d, m.Kept) != m.Tip {
		t.Errorf("kept: %+v", m)
	}
	fsck(t, d)
}

func TestMergeInPart(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	base := map[string]string{"keep.md": "k\n", "old.md": "some text to be moved\n", "hunks.md": "1\n2\n3\n4\n5\n6\n7\n8\n9\n", "run.sh": "x\n"}
	all := map[string]string{"a.md": "a\n", "dir/b.md": "b\n", "dir/c.md": "c\n", "old.md": "-", "new.md": "some text to be moved\n", "hunks.md": "one\n2\n3\n4\n5\n6\n7\n8\nnine\n"}
	for name, c := range map[string]struct {
		only         []string
		parts        []gitstore.Edit
		merged, rest string
	}{
		"file":        {only: []string{"a.md"}, merged: "A a.md", rest: "A dir/b.md, A dir/c.md, M hunks.md, A new.md, D old.md"},
		"directory":   {only: []string{"dir/"}, merged: "A dir/b.md, A dir/c.md", rest: "A a.md, M hunks.md, A new.md, D old.md"},
		"renamed":     {only: []string{"new.md"}, merged: "A new.md, D old.md", rest: "A a.md, A dir/b.md, A dir/c.md, M hunks.md"},
		"by old name": {only: []string{"old.md"}, merged: "A new.md, D old.md", rest: "A a.md, A dir/b.md, A dir/c.md, M hunks.md"},
		"all":         {only: []string{"a.md", "dir", "hunks.md", "new.md"}, merged: "A a.md, A dir/b.md, A dir/c.md, M hunks.md, A new.md, D old.md"},
		"hunk": {only: []string{"hunks.md"}, parts: []gitstore.Edit{{Path: "hunks.md", Src: []byte("one\n2\n3\n4\n5\n6\n7\n8\n9\n")}},
			merged: "M hunks.md", rest: "A a.md, A dir/b.md, A dir/c.md, M hunks.md, A new.md, D old.md"},
		"all but a hunk": {parts: []gitstore.Edit{{Path: "hunks.md", Src: []byte("1\n2\n3\n4\n5\n6\n7\n8\nnine\n")}},
			merged: "A a.md, A dir/b.md, A dir/c.md, M hunks.md, A new.md, D old.md", rest: "M hunks.md"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newRepo(t, base)
			s := open(t, d)
			tip := mustAppend(t, s, put("x", all))
			whole, err := s.Preview(ctx, must(s.Find(ctx, "x"))(t), "")
			if err != nil {
				t.Fatal(err)
			}
			m := mustMerge(t, s, MergeRequest{Name: "x", Tip: tip.Commit, Only: c.only, Parts: c.parts})
			if got := changed(t, d, m.Before.String(), "main"); got != c.merged {
				t.Errorf("merged %s, want %s", got, c.merged)
			}
			if got := git(t, d, "status", "--porcelain"); got != "" {
				t.Errorf("status:\n%s", got)
			}
			x := must(s.Find(ctx, "x"))(t)
			if c.rest == "" {
				if x.State != Merged || !m.Rest.IsZero() {
					t.Errorf("%+v", x)
				}
				return
			}
			if x.State != Open || x.Tip != m.Rest || x.Base != m.Commit || x.Ahead != 1 || x.Behind != 0 || x.Agent != "Agent" || x.Author.Name != "Agent" {
				t.Errorf("%+v", x)
			}
			if got := changed(t, d, "main", "drafts/x"); got != c.rest {
				t.Errorf("the rest is %s, want %s", got, c.rest)
			}
			if got := git(t, d, "rev-parse", "drafts/x^{tree}"); got != whole.Tree.String() {
				t.Errorf("part and rest give %s, not %s", got, whole.Tree)
			}
			if got := commitAt(t, d, "refs/kb/kept/x"); got != tip.Commit {
				t.Errorf("kept: %s", got)
			}
			m = mustMerge(t, s, MergeRequest{Name: "x"})
			if got := git(t, d, "rev-parse", "main^{tree}"); got != whole.Tree.String() || m.Kept != "refs/kb/kept/x@2" {
				t.Errorf("then: %s, %+v", got, m)
			}
			fsck(t, d)
		})
	}
}

// must is for calls that return a value and an error.
func must[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func TestMergeInPartRefuses(t *testing.T) {
	t.Parallel()
	d := newRepo(t, map[string]string{"a.md": "1\n"})
	s := open(t, d)
	mustAppend(t, s, put("x", map[string]string{"b.md": "b\n", "c.md": "c\n"}))
	before := refs(t, d, "")
	for name, req := range map[string]MergeRequest{
		"nothing there":        {Name: "x", Only: []string{"a.md"}},
		"one of two":           {Name: "x", Only: []string{"b.md", "none.md"}},
		"part of another":      {Name: "x", Only: []string{"b.md"}, Parts: []gitstore.Edit{{Path: "c.md", Src: []byte("x")}}},
		"as it is":             {Name: "x", Only: []string{"b.md"}, Parts: []gitstore.Edit{{Path: "b.md", Delete: true}}},
		"the name's beginning": {Name: "x", Only: []string{"b"}},
	} {
		if m, err := s.Merge(context.Background(), req); !errors.Is(err, ErrNoChange) {
			t.Errorf("%s: %+v, %v", name, m, err)
		}
	}
	if after := refs(t, d, ""); after != before {
		t.Errorf("refs:\n%s", after)
	}
}

// Edits of the reviewer are part of what is merged, and of the rest.
func TestMergeWithEdits(t *testing.T) {
	t.Parallel()
	d := newRepo(t, map[string]string{"a.md": "1\n"})
	s := open(t, d)
	mustAppend(t, s, put("x", map[string]string{"inbox/b.md": "b\n", "c.md": "c\n"}))
	edits := []gitstore.Edit{{Path: "inbox/b.md", Delete: true}, {Path: "guides/b.md", Src: []byte("b\n")}}
	m := mustMerge(t, s, MergeRequest{Name: "x", Edits: edits, Only: []string{"c.md"}})
	if got := changed(t, d, m.Before.String(), "main") + "; " + changed(t, d, "main", "drafts/x"); got != "A c.md; A guides/b.md" {
		t.Errorf("%s", got)
	}
	if read(t, d, "c.md") != "c\n" {
		t.Error("the work tree did not follow")
	}
}

func TestConflict(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	d := newRepo(t, map[string]string{"a.md": "1\n", "b.md": "1\n"})
	s := open(t, d)
	tip := mustAppend(t, s, put("x", map[string]string{"a.md": "draft\n", "b.md": "2\n", "c.md": "c\n"}))
	base := commitAt(t, d, "main")
	commit(t, d, "main goes on", map[string]string{"a.md": "main\n"})
	before, files := refs(t, d, ""), state(t, d)
	var conflict *ConflictError
	for _, only := range [][]string{nil, {"a.md"}, {"a.md", "c.md"}} {
		_, err := s.Merge(ctx, MergeRequest{Name: "x", Only: only})
		if !errors.As(err, &conflict) || len(conflict.Conflicts) != 1 || conflict.Conflicts[0].Path != "a.md" || err.Error() != "drafts/x changes a.md, and so did main" {
			t.Errorf("%v: %v", only, err)
		}
	}
	if refs(t, d, "") != before || state(t, d) != files {
		t.Error("something changed")
	}
	m := mustMerge(t, s, MergeRequest{Name: "x", Only: []string{"b.md", "c.md"}})
	if got := changed(t, d, m.Before.String(), "main"); got != "M b.md, A c.md" {
		t.Errorf("merged %s", got)
	}
	x := must(s.Find(ctx, "x"))(t)
	if got := changed(t, d, x.Base.String(), x.Tip.String()); got != "M a.md" || x.Base != base || x.State != Open || x.Tip == tip.Commit {
		t.Errorf("the rest: %s, %+v", got, x)
	}
	if _, err := s.Merge(ctx, MergeRequest{Name: "x"}); !errors.As(err, &conflict) {
		t.Errorf("the rest: %v", err)
	}
	fsck(t, d)
}

func TestCheckSeesTheMerge(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	d := newRepo(t, map[string]string{"a.md": "1\n"})
	s := open(t, d)
	mustAppend(t, s, put("x", map[string]string{"b.md": "b\n"}))
	before, files := refs(t, d, ""), state(t, d)
	bad := errors.New("bad")
	if _, err := s.Merge(ctx, MergeRequest{Name: "x", Check: func(context.Context, gitstore.CommitID) error { return bad }}); !errors.Is(err, bad) {
		t.Errorf("%v", err)
	}
	if refs(t, d, "") != before || state(t, d) != files {
		t.Error("something changed")
	}
	// The base moves while it is being checked: it is checked again, as it then is.
	var seen []string
	m := mustMerge(t, s, MergeRequest{Name: "x", Check: func(_ context.Context, id gitstore.CommitID) error {
		if len(seen) == 0 {
			commit(t, d, "meanwhile", map[string]string{"c.md": "c\n"})
		}
		seen = append(seen, git(t, d, "ls-tree", "-r", "--name-only", id.String()))
		return nil
	}})
	if diff := cmp.Diff([]string{"a.md\nb.md", "a.md\nb.md\nc.md"}, seen); diff != "" {
		t.Error(diff)
	}
	if commitAt(t, d, "main") != m.Commit || commitAt(t, d, "main^1") != m.Before {
		t.Errorf("%+v", m)
	}
	// The draft moves: with Tip that is the reviewer's business, without it is not.
	first := mustAppend(t, s, put("y", map[string]string{"y.md": "1\n"}))
	more := func(context.Context, gitstore.CommitID) error {
		if commitAt(t, d, "drafts/y") == first.Commit {
			mustAppend(t, s, put("y", map[string]string{"y.md": "2\n"}))
		}
		return nil
	}
	if _, err := s.Merge(ctx, MergeRequest{Name: "y", Tip: first.Commit, Check: more}); !errors.Is(err, ErrMoved) {
		t.Errorf("moved: %v", err)
	}
	git(t, d, "update-ref", "refs/heads/drafts/y", first.Commit.String())
	mustMerge(t, s, MergeRequest{Name: "y", Check: more})
	if read(t, d, "y.md") != "2\n" {
		t.Error("not all of the draft was merged")
	}
}

func TestReopenAndRejectAgain(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	d := newRepo(t, map[string]string{"a.md": "1\n"})
	s := open(t, d)
	first := mustAppend(t, s, put("x", map[string]string{"b.md": "b\n"}))
	rita := gitstore.Signature{Name: "Rita", Email: "rita@example.org"}
	for _, reason := range []string{"one", "two"} {
		r, err := s.Reject(ctx, "x", reason, rita)
		if err != nil || r.Reason != reason || r.By.Name != "Rita" {
			t.Fatalf("%+v, %v", r, err)
		}
		if _, err := s.Reject(ctx, "x", reason, rita); !errors.Is(err, ErrClosed) {
			t.Errorf("again: %v", err)
		}
		if _, err := s.Reopen(ctx, "x", rita); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Reopen(ctx, "x", rita); !errors.Is(err, ErrNotClosed) {
			t.Errorf("again: %v", err)
		}
		mustAppend(t, s, put("x", map[string]string{"b.md": reason + "\n"}))
	}
	mustMerge(t, s, MergeRequest{Name: "x"})
	if _, err := s.Reopen(ctx, "x", rita); !errors.Is(err, ErrClosed) || !strings.Contains(err.Error(), "undo") {
		t.Errorf("reopen what was merged: %v", err)
	}
	if got := git(t, d, "log", "--first-parent", "-5", "--format=%s|%b", "refs/kb/closed/x"); strings.Count(got, "Reject draft x|") != 2 || strings.Count(got, "Reopen draft x|") != 2 {
		t.Errorf("the record:\n%s", got)
	}
	if got := git(t, d, "for-each-ref", "--contains", first.Commit.String(), "--format=%(refname)", "refs/kb/"); got != "refs/kb/closed/x\nrefs/kb/kept/x" {
		t.Errorf("kept:\n%s", got)
	}
	if _, err := s.Reject(ctx, "none", "", rita); !errors.Is(err, ErrNotFound) {
		t.Errorf("%v", err)
	}
	fsck(t, d)
}

func TestUndo(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	d := newRepo(t, map[string]string{"a.md": "1\n2\n3\n4\n5\n", "gone.md": "g\n"})
	s := open(t, d)
	mustAppend(t, s, put("x", map[string]string{"a.md": "one\n2\n3\n4\n5\n", "b.md": "b\n", "gone.md": "-"}))
	mustMerge(t, s, MergeRequest{Name: "x", Squash: true})
	commit(t, d, "main goes on", map[string]string{"a.md": "one\n2\n3\n4\nfive\n"})
	u, err := s.Undo(ctx, "x", gitstore.Signature{})
	if err != nil || u.Draft != "undo-x" {
		t.Fatalf("%+v, %v", u, err)
	}
	mustMerge(t, s, MergeRequest{Name: "undo-x"})
	if got := read(t, d, "a.md") + read(t, d, "gone.md"); got != "1\n2\n3\n4\nfive\ng\n" {
		t.Errorf("%q", got)
	}
	if _, err := os.Lstat(filepath.Join(d, "b.md")); err == nil {
		t.Error("b.md is still there")
	}
	if _, err := s.Undo(ctx, "x", gitstore.Signature{}); !errors.Is(err, ErrNoChange) {
		t.Errorf("again: %v", err)
	}
	if u, err = s.Undo(ctx, "undo-x", gitstore.Signature{}); err != nil || changed(t, d, "main", u.Ref) != "M a.md, A b.md, D gone.md" {
		t.Errorf("%+v, %v", u, err)
	}
	mustAppend(t, s, put("y", map[string]string{"a.md": "uno\n2\n3\n4\nfive\n"}))
	mustMerge(t, s, MergeRequest{Name: "y"})
	commit(t, d, "the same line", map[string]string{"a.md": "eins\n2\n3\n4\nfive\n"})
	var conflict *ConflictError
	if _, err := s.Undo(ctx, "y", gitstore.Signature{}); !errors.As(err, &conflict) {
		t.Errorf("conflict: %v", err)
	}
	for _, name := range []string{"none", "undo-undo-x"} {
		if _, err := s.Undo(ctx, name, gitstore.Signature{}); !errors.Is(err, ErrNotFound) {
			t.Errorf("%s: %v", name, err)
		}
	}
	fsck(t, d)
}

func TestRemoteDrafts(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	theirs := newRepo(t, map[string]string{"a.md": "1\n"})
	them := open(t, theirs)
	for _, name := range []string{"x", "y", "z", "part"} {
		mustAppend(t, them, put(name, map[string]string{name + ".md": "1\n", name + "2.md": "2\n"}))
	}
	d := filepath.Join(t.TempDir(), "clone")
	git(t, theirs, "clone", "-q", theirs, d)
	git(t, d, "branch", "drafts/z", "origin/drafts/z")
	s := open(t, d)
	all := ListOptions{States: everyState, Remotes: true}
	if got := strings.Join(mustList(t, s, ListOptions{}), ", "); got != "z open refs/heads/drafts/z" {
		t.Errorf("%s", got)
	}
	want := []string{"origin/part open refs/remotes/origin/drafts/part", "origin/x open refs/remotes/origin/drafts/x", "origin/y open refs/remotes/origin/drafts/y", "z open refs/heads/drafts/z"}
	if diff := cmp.Diff(want, mustList(t, s, all)); diff != "" {
		t.Error(diff)
	}
	if _, err := s.Reject(ctx, "origin/y", "no", gitstore.Signature{}); err != nil {
		t.Error(err)
	}
	mustMerge(t, s, MergeRequest{Name: "x"})
	mustMerge(t, s, MergeRequest{Name: "origin/part", Only: []string{"part.md"}})
	want = []string{
		"part open refs/heads/drafts/part", "z open refs/heads/drafts/z",
		"origin/part merged refs/remotes/origin/drafts/part", "origin/x merged refs/remotes/origin/drafts/x", "part merged refs/kb/kept/part", "x merged refs/kb/kept/x",
		"origin/y rejected refs/remotes/origin/drafts/y: no", "y rejected refs/rejected: no",
	}
	want[7] = "y rejected refs/kb/rejected/y: no"
	if diff := cmp.Diff(want, mustList(t, s, all)); diff != "" {
		t.Error(diff)
	}
	if got := changed(t, d, "main", "drafts/part"); got != "A part2.md" {
		t.Errorf("the rest: %s", got)
	}
	if err := s.Push(ctx, "origin", "refs/heads/drafts/part"); err == nil || !strings.Contains(err.Error(), "push") {
		t.Errorf("what is no fast-forward: %v", err)
	}
	w := mustAppend(t, s, put("mine", map[string]string{"m.md": "m\n"}))
	if err := s.Push(ctx, "origin", w.Ref); err != nil || commitAt(t, theirs, w.Ref) != w.Commit {
		t.Errorf("%v", err)
	}
	for _, remote := range []string{"none", "--upload-pack=touch x", theirs, ""} {
		if err := s.Push(ctx, remote, w.Ref); err == nil {
			t.Errorf("pushed to %q", remote)
		}
	}
	fsck(t, d)
}

// What was recorded of drafts goes where refs/kb goes.
func TestRecordIsCloned(t *testing.T) {
	t.Parallel()
	d := newRepo(t, map[string]string{"a.md": "1\n"})
	s := open(t, d)
	mustAppend(t, s, put("x", map[string]string{"x.md": "x\n"}))
	mustAppend(t, s, put("y", map[string]string{"y.md": "y\n"}))
	mustMerge(t, s, MergeRequest{Name: "x", Squash: true, Message: "yes"})
	if _, err := s.Reject(context.Background(), "y", "no", gitstore.Signature{}); err != nil {
		t.Fatal(err)
	}
	clone := filepath.Join(t.TempDir(), "clone")
	git(t, d, "clone", "-q", d, clone)
	git(t, clone, "fetch", "-q", "origin", "refs/kb/*:refs/kb/*")
	git(t, clone, "gc", "-q", "--prune=now")
	if diff := cmp.Diff(mustList(t, s, ListOptions{States: everyState}), mustList(t, open(t, clone), ListOptions{States: everyState})); diff != "" {
		t.Error(diff)
	}
}
