package vault_test

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kb/draft"
	"kb/gitstore"
	"kb/internal/vaulttest"
	"kb/vault"
)

func (b *bot) drafts(args map[string]any) *vault.DraftsResult {
	b.t.Helper()
	r, err := b.try("kb_drafts", args)
	if err != nil {
		b.t.Fatalf("kb_drafts %v: %v", args, err)
	}
	return r.(*vault.DraftsResult)
}

func TestDrafts(t *testing.T) {
	b := newBot(t, desk)
	if r := b.drafts(nil); r.Total != 0 || r.Drafts == nil {
		t.Errorf("none: %+v", r)
	}
	b.change("kb_edit", map[string]any{"path": "limits", "replace": "ten", "with": "20", "draft": "limits"})
	b.change("kb_write", map[string]any{"title": "New", "body": "x", "draft": "limits"})
	b.change("kb_edit", map[string]any{"path": "retry", "append": "x", "draft": "retry"})
	r := b.drafts(map[string]any{"name": "drafts/limits"})
	d := r.Drafts[0]
	if len(r.Drafts) != 1 || d.State != "open" || !d.Mergeable || d.Ahead != 2 || d.Behind != 0 || d.Author != "Robot" || d.Agent != "Robot" || d.Client != "test-client 1.2" ||
		d.Title != "Add New" || d.Branch != "drafts/limits" || d.Base != b.git("rev-parse", "main") || d.Commit != b.git("rev-parse", "drafts/limits") {
		t.Errorf("%+v", d)
	}
	if len(d.Changes) != 2 || d.Changes[0] != (vault.DraftChange{Path: "2026-01-31-new.md", Collection: "notes", Kind: "added", Added: 7}) ||
		d.Changes[1] != (vault.DraftChange{Path: "limits.md", Collection: "notes", Kind: "changed", Added: 1, Removed: 1}) {
		t.Errorf("changes: %+v", d.Changes)
	}

	// A conflict is told with its lines.
	vaulttest.Write(t, b.dir, "notes/limits.md", "# Limits\nA client waits 30 seconds.\n")
	vaulttest.Commit(t, b.dir, "2024-02-01", "change")
	d = b.drafts(map[string]any{"name": "limits"}).Drafts[0]
	if d.Mergeable || d.Behind != 1 || len(d.Conflicts) != 1 || d.Conflicts[0].Path != "limits.md" || !strings.Contains(d.Conflicts[0].Message, "line 2 of the branch and line 2 of the draft") {
		t.Errorf("conflict: %+v", d)
	}

	// What a person rejected says why; what came from elsewhere is listed.
	b.git("update-ref", "refs/remotes/origin/drafts/theirs", b.git("rev-parse", "drafts/retry"))
	b.git("update-ref", "-d", "refs/heads/drafts/retry")
	r = b.drafts(nil)
	if r.Total != 2 || r.Drafts[0].Name == r.Drafts[1].Name {
		t.Errorf("%+v", r)
	}
	if d = b.drafts(map[string]any{"name": "origin/theirs"}).Drafts[0]; d.Remote != "origin" || d.Branch != "origin/drafts/theirs" || !d.Mergeable {
		t.Errorf("remote: %+v", d)
	}
	b.refused("kb_drafts", map[string]any{"name": "limit"}, vault.NotFound, "did you mean limits")
	if r := b.drafts(map[string]any{"state": "rejected"}); r.Total != 0 {
		t.Errorf("rejected: %+v", r)
	}
	first := b.drafts(map[string]any{"max_results": 1})
	if rest := b.drafts(map[string]any{"max_results": 1, "cursor": first.Next}); first.Total != 2 || len(rest.Drafts) != 1 || rest.Next != "" || rest.Drafts[0].Name == first.Drafts[0].Name {
		t.Errorf("pages: %+v, %+v", first, rest)
	}
	b.refused("kb_drafts", map[string]any{"cursor": "x"}, vault.Usage)
}

// The agent hears how its drafts ended, and why.
func TestDraftsEnded(t *testing.T) {
	b := newBot(t, desk)
	b.change("kb_edit", map[string]any{"path": "retry", "append": "x", "draft": "bad"})
	b.change("kb_edit", map[string]any{"path": "limits", "append": "x", "draft": "good"})
	repo, err := gitstore.Open(b.dir)
	if err != nil {
		t.Fatal(err)
	}
	defer repo.Close()
	store := &draft.Store{Repo: repo, Base: "refs/heads/main"}
	who := gitstore.Signature{Name: "Grace", Email: "grace@example.org", When: testTime}
	if _, err := store.Reject(context.Background(), "bad", "We wait longer.\n\nSee limits.", who); err != nil {
		t.Fatal(err)
	}
	if _, err := store.Merge(context.Background(), draft.MergeRequest{Name: "good", Reviewer: who}); err != nil {
		t.Fatal(err)
	}
	r := b.drafts(nil)
	if r.Total != 2 {
		t.Fatalf("%+v", r)
	}
	states := map[string]vault.DraftInfo{}
	for _, d := range r.Drafts {
		states[d.State] = d
	}
	bad, good := states["rejected"], states["merged"]
	if bad.Name != "bad" || bad.Reason != "We wait longer.\n\nSee limits." || bad.By != "Grace" || bad.Mergeable || bad.Review != "" || bad.Changed != 1 {
		t.Errorf("rejected: %+v", bad)
	}
	if good.Name != "good" || good.Merge != b.git("rev-parse", "main") || good.Mergeable || good.Changed != 1 {
		t.Errorf("merged: %+v", good)
	}
	if r := b.drafts(map[string]any{"state": "rejected"}); r.Total != 1 || r.Drafts[0].Name != "bad" {
		t.Errorf("%+v", r)
	}
	// Its citations stay valid, and say that nobody reviewed them.
	doc, failed := b.try("get_document", map[string]any{"path": "retry.md", "at": bad.Commit})
	if failed != nil || doc.(*vault.Document).Trust != "draft" {
		t.Errorf("%+v, %v", doc, failed)
	}
}

// What an agent does not see it does not see in drafts either.
func TestDraftsPrivate(t *testing.T) {
	b := newBot(t, desk)
	person := &bot{t, vaulttest.ServiceIn(t, b.dir, t.TempDir(), vault.Person), b.dir, vault.Caller{}}
	person.change("kb_edit", map[string]any{"path": "notes:journal/secret.md", "append": "x", "draft": "d"})
	person.change("kb_edit", map[string]any{"path": "retry", "append": "x", "draft": "d"})
	if d := b.drafts(map[string]any{"name": "d"}).Drafts[0]; d.Changed != 1 || len(d.Changes) != 1 || d.Changes[0].Path != "retry.md" || d.Author != "Ada" || d.Agent != "" {
		t.Errorf("%+v", d)
	}
	if d := b.drafts(map[string]any{"name": "d"}).Drafts[0]; d.Title != "changes to notes you do not see" {
		t.Errorf("title: %+v", d)
	}
	if d := person.drafts(map[string]any{"name": "d"}).Drafts[0]; d.Changed != 2 {
		t.Errorf("a person: %+v", d)
	}
	person.change("kb_edit", map[string]any{"path": "notes:journal/secret.md", "append": "x", "draft": "only"})
	if r := b.drafts(nil); r.Total != 1 || len(r.Drafts) != 1 || r.Drafts[0].Name != "d" {
		t.Errorf("an agent sees a draft of private notes: %+v", r)
	}
	b.refused("kb_drafts", map[string]any{"name": "only"}, vault.NotFound)
	if r := person.drafts(nil); r.Total != 2 {
		t.Errorf("a person: %+v", r)
	}
}

// Names that a file system may take for one are reported as that and no more, the
// same each time that the draft is checked anew.
func TestDraftOfTwins(t *testing.T) {
	b := newBot(t, desk)
	b.git("switch", "--quiet", "--create", "drafts/twins", "main")
	blob := b.git("rev-parse", "HEAD:notes/limits.md")
	for _, name := range []string{"cafe\u0301.md", "caf\u00e9.md"} {
		b.git("update-index", "--add", "--cacheinfo", "100644,"+blob+",notes/"+name)
	}
	b.git("commit", "--quiet", "--message", "twins")
	b.git("switch", "--quiet", "--force", "main")
	op, _ := vault.FindOp("review_check")
	var first []vault.CheckFinding
	for i := range 8 {
		r, err := vaulttest.Service(t, b.dir).Do(t.Context(), op, []byte(`{"name":"twins"}`), nil)
		if err != nil {
			t.Fatal(err)
		}
		found := r.(*vault.ReviewCheck).Checks
		if i == 0 {
			first = found
		}
		if diff := cmp.Diff(first, found); diff != "" {
			t.Fatalf("again (-first +now):\n%s", diff)
		}
	}
	if len(first) < 2 || first[0].Check != "protected" || !strings.Contains(first[0].Message, "do not tell") {
		t.Errorf("%+v", first)
	}
	for _, f := range first {
		if f.Check == "hidden_change" {
			t.Errorf("hidden: %+v", f)
		}
	}
}
