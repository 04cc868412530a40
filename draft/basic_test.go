package draft

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kb/gitstore"
)

// outline is what a test compares of a draft.
func outline(list []Draft) []string {
	short := []string{}
	for _, d := range list {
		line := d.Name + " " + string(d.State) + " " + d.Ref
		if d.Reason != "" {
			line += ": " + d.Reason
		}
		short = append(short, line)
	}
	return short
}

func mustList(t testing.TB, s *Store, o ListOptions) []string {
	t.Helper()
	list, err := s.List(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	return outline(list)
}

var everyState = []State{Open, Merged, Rejected}

func TestLife(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	d := newRepo(t, map[string]string{"a.md": "1\n"})
	s := open(t, d)
	git(t, d, "switch", "-q", "--detach")
	first := mustAppend(t, s, put("x", map[string]string{"n/b.md": "b\n"}))
	second := mustAppend(t, s, put("x", map[string]string{"n/c.md": "c\n"}))
	if !first.Created || second.Created || second.Parent != first.Commit || second.Base != commitAt(t, d, "main") {
		t.Errorf("%+v\n%+v", first, second)
	}
	y := mustAppend(t, s, put("y", map[string]string{"n/d.md": "d\n"}))
	x, err := s.Find(ctx, "x")
	if err != nil || x.Tip != second.Commit || x.Base != first.Base || x.Ahead != 2 || x.Behind != 0 || x.Agent != "Agent" || x.Client != "test" || x.Author.Name != "Agent" {
		t.Errorf("%+v, %v", x, err)
	}
	changes, err := s.Changes(ctx, x)
	if err != nil || len(changes) != 2 || changes[0].Path != "n/b.md" || changes[1].Kind != gitstore.Added {
		t.Errorf("%+v, %v", changes, err)
	}
	if _, err := s.Merge(ctx, MergeRequest{Name: "x", Tip: first.Commit}); !errors.Is(err, ErrMoved) {
		t.Errorf("merge of what it was: %v", err)
	}
	m, err := s.Merge(ctx, MergeRequest{Name: "x", Tip: second.Commit, Message: "good"})
	if err != nil || m.Commit != commitAt(t, d, "main") || m.Before != first.Base || m.Kept != "refs/kb/kept/x" {
		t.Fatalf("%+v, %v", m, err)
	}
	if _, err := s.Reject(ctx, "y", "too short\n\nKb-State: merged", gitstore.Signature{Name: "Rita", Email: "rita@example.org"}); err != nil {
		t.Error(err)
	}
	got := mustList(t, s, ListOptions{States: everyState})
	if diff := cmp.Diff([]string{"x merged refs/kb/kept/x: good", "y rejected refs/kb/rejected/y: too short\n\nKb-State: merged"}, got); diff != "" {
		t.Error(diff)
	}
	if got := git(t, d, "rev-parse", "refs/kb/kept/x", "refs/kb/kept/y", "refs/kb/rejected/y"); got != second.Commit.String()+"\n"+y.Commit.String()+"\n"+y.Commit.String() {
		t.Errorf("kept:\n%s", got)
	}
	re, err := s.Reopen(ctx, "y", gitstore.Signature{})
	if err != nil || re.State != Open || re.Tip != y.Commit || re.Behind != 3 {
		t.Errorf("%+v, %v", re, err)
	}
	u, err := s.Undo(ctx, "x", gitstore.Signature{})
	if err != nil || u.Draft != "undo-x" {
		t.Fatalf("%+v, %v", u, err)
	}
	if got := git(t, d, "diff", "--name-status", "main", "drafts/undo-x"); got != "D\tn/b.md\nD\tn/c.md" {
		t.Errorf("undo:\n%s", got)
	}
	fsck(t, d)
}
