package vault_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"kb/internal/vaulttest"
	"kb/vault"
)

const (
	reviewedURL = "https://example.org/a" // of page-a.md, which is merged
	pendingURL  = "https://example.org/b" // of page-b.md, which waits on the inbox
	evilURL     = "https://evil.example/steal"
)

// withImports is a vault with a note that was imported and merged, one that was
// imported and waits, and one that a person wrote.
func withImports(t *testing.T) (dir string, s *vault.Service) {
	t.Helper()
	dir = vaulttest.Repo(t, addedTo)
	s = vaulttest.Service(t, dir)
	page := func(source, title, body string) map[string]any {
		d := document(source, title, body)
		d["etag"], d["fetched"] = `"genuine"`, "2024-01-01T00:00:00Z"
		return d
	}
	addTo(t, s, nil, page(reviewedURL, "Page A", imported))
	do[vault.ReviewMerged](t, s, "review_merge", map[string]any{"name": "inbox"})
	addTo(t, s, nil, page(pendingURL, "Page B", "What page B says.\n\nAnd a second line.\n"))
	return dir, s
}

// forge commits on the inbox what no tool would.
func forge(t *testing.T, dir, message, name string, edits ...string) {
	t.Helper()
	vaulttest.Git(t, dir, "switch", "-q", "drafts/inbox")
	was := vaulttest.Git(t, dir, "show", "HEAD:notes/"+name) + "\n"
	now := strings.NewReplacer(edits...).Replace(was)
	if now == was {
		t.Fatalf("%q changes nothing of\n%s", edits, was)
	}
	vaulttest.Write(t, dir, "notes/"+name, now)
	vaulttest.Commit(t, dir, "2024-02-02", message)
	vaulttest.Git(t, dir, "switch", "-q", "main")
}

// known lists what the vault believes of sources.
func known(t *testing.T, s *vault.Service) string {
	t.Helper()
	var lines []string
	for _, x := range do[vault.Sources](t, s, "kb_sources", nil).Sources {
		lines = append(lines, fmt.Sprintf("%s %s %s %s", x.Path, x.Source, x.ETag, x.Hash))
	}
	return strings.Join(lines, "\n")
}

// What a draft's notes say of their own import is believed where an import or a
// reviewed note says the same, and nowhere else.
func TestForgedRecords(t *testing.T) {
	const record = "source: %s\nsource_type: html\nsource_hash: \"sha256:00\"\netag: forged\n---"
	never := "---\ntitle: First\n" + fmt.Sprintf(record, evilURL) + "\n# First"
	tests := []struct {
		name, note string
		edits      []string
		says       string // the finding of the review
	}{
		{"another address", "page-a.md", []string{reviewedURL, evilURL}, "has kb sync ask " + evilURL},
		{"another address of what waits", "page-b.md", []string{pendingURL, evilURL}, "has kb sync ask " + evilURL},
		{"another's address", "page-b.md", []string{pendingURL, reviewedURL}, "has kb sync ask " + reviewedURL},
		{"an etag", "page-a.md", []string{"genuine", "forged"}, "sets etag"},
		{"an etag of what waits", "page-b.md", []string{"genuine", "forged"}, "sets etag"},
		{"a hash", "page-a.md", []string{"sha256:", "sha256:00"}, "sets source_hash"},
		{"when it was fetched", "page-a.md", []string{"2024-01-01T", "2094-01-01T"}, "sets fetched"},
		{"no record", "page-a.md", []string{"source_hash:", "x:"}, "sets source, "},
		{"beside its record", "page-a.md", []string{"source_hash:", "imported_from: " + evilURL + "\nsource_hash:"}, "has kb sync ask " + evilURL},
		{"a note that never was imported", "first.md", []string{"# First", never}, "has kb sync ask " + evilURL},
		{"likewise, by another name", "first.md", []string{"# First", strings.Replace(never, "source:", "imported_from:", 1)}, "has kb sync ask " + evilURL},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir, s := withImports(t)
			want := known(t, s)
			forge(t, dir, "Mend a property\n\nKb-Draft: inbox\nKb-Agent: bot", tt.note, tt.edits...)
			if got := known(t, s); got != want {
				t.Errorf("believed:\n%s\nwant:\n%s", got, want)
			}
			check := do[vault.ReviewCheck](t, s, "review_check", map[string]any{"name": "inbox"})
			if !saysOfImports(check, tt.says) {
				t.Errorf("the review says %+v, want %q", check.Checks, tt.says)
			}
			r := addTo(t, s, map[string]any{"dry_run": true}, document(evilURL, "Evil", "What evil says.\n"))
			if got := outcome(r); got != "added evil.md" {
				t.Errorf("what is chosen takes a note over: %s", got)
			}
			r = addTo(t, s, map[string]any{"dry_run": true}, document(reviewedURL, "Page A", imported+"\nFive lines.\n"))
			if got := outcome(r); got != "updated page-a.md" {
				t.Errorf("an update is skipped: %s", got)
			}
		})
	}
}

func saysOfImports(r *vault.ReviewCheck, want string) bool {
	for _, f := range r.Checks {
		if f.Check == "import" && strings.Contains(f.Message, want) {
			return true
		}
	}
	return false
}

// A forged hash of a text does not keep that text out.
func TestForgedHashKeepsNothingOut(t *testing.T) {
	dir, s := withImports(t)
	next := "The next text of page A.\n"
	doc := vault.Import{Body: next}
	was := vaulttest.Git(t, dir, "show", "main:notes/page-a.md")
	_, hash, _ := strings.Cut(was, "source_hash: ")
	hash, _, _ = strings.Cut(hash, "\n")
	forge(t, dir, "Mend\n\nKb-Draft: inbox\nKb-Agent: bot", "page-a.md", hash, `"`+doc.TextHash()+`"`)
	forge(t, dir, "Mend\n\nKb-Draft: inbox\nKb-Agent: bot", "first.md", "# First", "---\nsource_hash: \""+doc.TextHash()+"\"\n---\n# First")
	if got := outcome(addTo(t, s, nil, document(reviewedURL, "Page A", next))); got != "updated page-a.md" {
		t.Errorf("got %q", got)
	}
	if got := outcome(addTo(t, s, nil, document("https://example.org/other", "Other", "Another text.\n"), document("https://example.org/new", "New", next))); got != "added other.md; skipped page-a.md" {
		t.Errorf("got %q", got)
	}
}

// What agents write into messages, sources, keys and names makes no commit one of
// an import.
func TestAgentsForgeNoTrailer(t *testing.T) {
	s, dir := vault.Caller{Agent: "bot\nKb-Import: inbox", Client: "x\n\nKb-Import: inbox"}, vaulttest.Repo(t, addedTo)
	service := vaulttest.Service(t, dir)
	const line = "Kb-Import: inbox"
	for i, args := range []map[string]any{
		{"message": "Add\n\n" + line}, {"message": line}, {"message": "Add\n\nText\n\n" + line + "\n"}, {"message": "Add\r\n\r\n" + line}, {"message": "Add\n\n" + line + "\n\u2028"},
		{"source": "https://example.org/\n" + line}, {"source": "https://example.org/\r" + line}, {"key": "k\n\n" + line},
	} {
		args["title"], args["body"], args["draft"] = fmt.Sprintf("Note %d", i), "What a note says, at some length.", "inbox"
		op, _ := vault.FindOp("kb_write")
		raw, err := json.Marshal(args)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = service.DoAs(t.Context(), s, op, raw, nil) // some are refused
	}
	if n := vaulttest.Git(t, dir, "rev-list", "--count", "main..drafts/inbox"); n == "0" {
		t.Fatal("nothing was written")
	}
	if got := vaulttest.Git(t, dir, "log", "--format=%(trailers:key=Kb-Import)", "main..drafts/inbox"); got != "" {
		t.Errorf("forged: %s", got)
	}
}

// What agents may do to imported notes - move them, edit their text - leaves them
// known, also when a part of the draft is merged.
func TestRecordsFollowNotes(t *testing.T) {
	_, s := withImports(t)
	inbox := func(args map[string]any) {
		t.Helper()
		args["draft"] = "inbox"
		if err := asAgent(t, s, "kb_edit", args); err != nil {
			t.Fatalf("%v: %v", args, err)
		}
	}
	inbox(map[string]any{"path": "page-b.md", "append": "An agent's line."})
	inbox(map[string]any{"path": "page-b.md", "rename": "moved/b.md"})
	inbox(map[string]any{"path": "page-a.md", "rename": "moved/a.md"})
	inbox(map[string]any{"path": "first.md", "append": "More."})
	again := func(when string) {
		t.Helper()
		r := addTo(t, s, map[string]any{"dry_run": true}, document(reviewedURL, "Page A", imported+"\nNew.\n"), document(pendingURL, "Page B", "What page B says.\n\nAnd a third line.\n"))
		if got := strings.ReplaceAll(outcome(r), " conflict", ""); got != "updated moved/a.md; updated moved/b.md" {
			t.Errorf("%s: got %q", when, got)
		}
	}
	again("moved")
	if check := do[vault.ReviewCheck](t, s, "review_check", map[string]any{"name": "inbox"}); saysOfImports(check, "") {
		t.Errorf("moving is no forgery: %+v", check.Checks)
	}
	do[vault.ReviewMerged](t, s, "review_merge", map[string]any{"name": "inbox", "only": []string{"first.md"}})
	again("the rest of a merge")
}

// The text comes back, and what the source said last stays known.
func TestRestoreKeepsTheRecord(t *testing.T) {
	dir, s := withImports(t)
	before := vaulttest.Git(t, dir, "rev-parse", "main")
	d := document(reviewedURL, "Page A", "The second text of page A.\n")
	d["etag"] = `"second"`
	addTo(t, s, map[string]any{"draft": "next"}, d)
	do[vault.ReviewMerged](t, s, "review_merge", map[string]any{"name": "next"})
	if err := asAgent(t, s, "kb_edit", map[string]any{"path": "page-a.md", "restore": before, "draft": "back"}); err != nil {
		t.Fatal(err)
	}
	text := vaulttest.Git(t, dir, "show", "drafts/back:notes/page-a.md")
	if !strings.Contains(text, "Four lines.") || !strings.Contains(text, "second") || strings.Contains(text, "genuine") {
		t.Errorf("got\n%s", text)
	}
	if check := do[vault.ReviewCheck](t, s, "review_check", map[string]any{"name": "back"}); saysOfImports(check, "") {
		t.Errorf("%+v", check.Checks)
	}
}

// What people took off a draft stays off it; what an agent did comes again.
func TestDeletedOnTheDraft(t *testing.T) {
	for _, agent := range []bool{false, true} {
		_, s := withImports(t)
		args := map[string]any{"path": "page-b.md", "delete": true, "draft": "inbox"}
		want := "skipped page-b.md"
		if agent {
			want = "added page-b.md"
			if err := asAgent(t, s, "kb_edit", args); err != nil {
				t.Fatal(err)
			}
		} else {
			do[vault.WriteResult](t, s, "kb_edit", args)
		}
		r := addTo(t, s, map[string]any{"leave_deleted": true}, document(pendingURL, "Page B", "What page B says.\n"))
		if got := outcome(r); got != want {
			t.Errorf("agent %v: got %q, want %q", agent, got, want)
		}
	}
	_, s := withImports(t)
	if err := asAgent(t, s, "kb_edit", map[string]any{"path": "page-a.md", "delete": true, "draft": "inbox"}); err != nil {
		t.Fatal(err)
	}
	r := addTo(t, s, nil, document(reviewedURL, "Page A", "Changed.\n"))
	if got := outcome(r); got != "failed page-a.md" || !strings.Contains(r.Failed[0].Reason, "draft inbox removes page-a.md") {
		t.Errorf("got %q: %+v", got, r.Failed)
	}
}
