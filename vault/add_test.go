package vault_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"kb/internal/vaulttest"
	"kb/vault"
)

const addedTo = `
-- kb.yaml --
collections:
  - {name: notes, path: notes, writable: true}
  - {name: manual, path: manual}
protected: ["notes/legal/**"]
-- notes/first.md --
# First
A note that a person wrote.
-- manual/intro.md --
# Intro
-- @commit 2024-01-01 first --
`

// document is one to be added.
func document(source, title, body string) map[string]any {
	return map[string]any{"source": source, "type": "html", "title": title, "body": body}
}

func addTo(t *testing.T, s *vault.Service, args map[string]any, docs ...map[string]any) *vault.Added {
	t.Helper()
	all := map[string]any{"notes": docs}
	for k, v := range args {
		all[k] = v
	}
	return do[vault.Added](t, s, "kb_add", all)
}

// outcome is a result in brief: what happened to each document.
func outcome(r *vault.Added) string {
	var out []string
	for _, list := range []struct {
		what  string
		notes []vault.AddedNote
	}{{"added", r.Added}, {"updated", r.Updated}, {"skipped", r.Skipped}, {"failed", r.Failed}} {
		for _, n := range list.notes {
			mark := ""
			if n.Conflict {
				mark = " conflict"
			}
			out = append(out, list.what+" "+n.Path+mark)
		}
	}
	return strings.Join(out, "; ")
}

func TestAdd(t *testing.T) {
	dir := vaulttest.Repo(t, addedTo)
	s := vaulttest.Service(t, dir)
	steps := []struct {
		name string
		args map[string]any
		docs []map[string]any
		want string
	}{
		{"new ones", nil, []map[string]any{document("https://example.org/a", "Page A", "Text of a.\n"), document("file:b.txt", "Page B", "Text of b.\n")}, "added page-a.md; added page-b.md"},
		{"the same again", nil, []map[string]any{document("https://example.org/a", "Page A", "Text of a.\n")}, "skipped page-a.md"},
		{"the same but for blank lines", nil, []map[string]any{document("https://example.org/a", "Page A", "\n\nText of a.\n\n")}, "skipped page-a.md"},
		{"the same text from elsewhere", nil, []map[string]any{document("https://example.org/mirror", "Mirror", "Text of a.\n")}, "skipped page-a.md"},
		{"twice in one call", nil, []map[string]any{document("https://example.org/c", "Page C", "Text of c.\n"), document("https://example.org/c2", "Page C2", "Text of c.\n")}, "added page-c.md; skipped page-c.md"},
		{"a source twice in one call", nil, []map[string]any{document("https://example.org/t", "Page T", "Text of t.\n"), document("https://example.org/t", "Page T", "Another text of t.\n")}, "added page-t.md; failed "},
		{"changed twice in one call", nil, []map[string]any{document("https://example.org/t", "Page T", "Third text.\n"), document("https://example.org/t", "Page T", "Fourth text.\n")}, "updated page-t.md; failed "},
		{"a title that is taken", nil, []map[string]any{document("https://example.org/d", "FIRST", "Other text.\n")}, "added first-2.md"},
		{"a changed source", nil, []map[string]any{document("https://example.org/a", "Page A", "Text of a, changed.\n")}, "updated page-a.md"},
		{"in a directory", map[string]any{"directory": "deep/er/"}, []map[string]any{document("file:e", "Page A", "E.\n")}, "added deep/er/page-a-2.md"},
		{"nothing in it", nil, []map[string]any{document("file:f", "Empty", " \n"), document("file:g", "Page G", "G.\n")}, "added page-g.md; failed "},
		{"its frontmatter does not parse", nil, []map[string]any{document("file:h", "H", "---\ntags: [a\n---\nH.\n")}, "failed "},
		{"a protected place", nil, []map[string]any{document("file:i", "Claude", "I.\n"), document("file:j", "AGENTS", "J.\n")}, "failed ; failed "},
		{"a file that leaves the directory", nil, []map[string]any{{"title": "K", "body": "K.\n", "files": []map[string]any{{"path": "../../x.png", "data": "AA=="}}}}, "failed "},
		{"a file that takes orders", nil, []map[string]any{{"title": "L", "body": "L.\n", "files": []map[string]any{{"path": ".git/config", "data": "AA=="}}}}, "failed "},
		{"a file beside", nil, []map[string]any{{"title": "M", "body": "![](attachments/m.png)\n", "files": []map[string]any{{"path": "attachments/m.png", "data": "AA=="}}}}, "added m.md"},
	}
	for _, tt := range steps {
		if got := outcome(addTo(t, s, tt.args, tt.docs...)); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
	}
	want := "---\ntitle: Page A\n"
	if got := vaulttest.Git(t, dir, "show", "drafts/inbox:notes/page-a.md"); !strings.HasPrefix(got, want) || !strings.HasSuffix(got, "\n---\n\nText of a, changed.") || strings.Count(got, "source_hash") != 1 {
		t.Errorf("the updated note is\n%s", got)
	}
	for _, path := range []string{"notes/attachments/m.png", "notes/deep/er/page-a-2.md"} {
		vaulttest.Git(t, dir, "cat-file", "-e", "drafts/inbox:"+path)
	}
	if got := vaulttest.Git(t, dir, "status", "--porcelain"); got != "" {
		t.Errorf("the work tree changed: %s", got)
	}
}

func TestAddRefuses(t *testing.T) {
	s := vaulttest.Service(t, vaulttest.Repo(t, addedTo))
	for name, tt := range map[string]struct {
		args map[string]any
		want vault.Code
	}{
		"read only":   {map[string]any{"collection": "manual"}, vault.ReadOnly},
		"protected":   {map[string]any{"directory": "legal"}, vault.Protected},
		"outside":     {map[string]any{"directory": "../manual"}, vault.Usage},
		"draft name":  {map[string]any{"draft": "../x"}, vault.Usage},
		"no document": {map[string]any{"notes": nil}, vault.Usage},
	} {
		args := map[string]any{"notes": []map[string]any{document("file:a", "A", "A.\n")}}
		for k, v := range tt.args {
			args[k] = v
		}
		if v, has := args["notes"]; has && v == nil {
			delete(args, "notes")
		}
		if _, err := try[vault.Added](s, "kb_add", args); vault.AsError(err).Code != tt.want {
			t.Errorf("%s: got %v, want %s", name, err, tt.want)
		}
	}
}

const imported = "One line.\n\nTwo lines.\n\nThree lines.\n\nFour lines.\n"

// edited makes a repository in which a person edited an imported note.
func edited(t *testing.T, strategy string, edits ...string) (string, *vault.Service) {
	t.Helper()
	dir := vaulttest.Repo(t, addedTo)
	s := vaulttest.Service(t, dir)
	addTo(t, s, nil, document("https://example.org/a", "Page A", imported))
	do[vault.ReviewMerged](t, s, "review_merge", map[string]any{"name": "inbox", "strategy": strategy})
	text := vaulttest.Git(t, dir, "show", "main:notes/page-a.md") + "\n"
	vaulttest.Write(t, dir, "notes/page-a.md", strings.NewReplacer(edits...).Replace(text))
	vaulttest.Commit(t, dir, "2024-02-01", "a person's edit")
	return dir, s
}

// What people and the source change in different places stays, again and again.
func TestAddMergesEdits(t *testing.T) {
	for _, strategy := range []string{"merge", "squash"} {
		dir, s := edited(t, strategy, "One line.", "My first line.", "title: Page A", "title: My page")
		for i, change := range []string{"Three lines, changed.", "Three lines, changed again.", "Three lines, and again."} {
			r := addTo(t, s, nil, document("https://example.org/a", "Page A", strings.Replace(imported, "Three lines.", change, 1)))
			if got := outcome(r); got != "updated page-a.md" {
				t.Fatalf("%s, change %d: got %q: %+v", strategy, i, got, r)
			}
			got := vaulttest.Git(t, dir, "show", "drafts/inbox:notes/page-a.md")
			for _, want := range []string{"title: My page", "My first line.", change, "Four lines."} {
				if !strings.Contains(got, want) {
					t.Errorf("%s, change %d: %q is lost in\n%s", strategy, i, want, got)
				}
			}
			if i == 1 { // the third comes after a review
				do[vault.ReviewMerged](t, s, "review_merge", map[string]any{"name": "inbox", "strategy": strategy})
			}
		}
	}
}

// Where both changed the same lines, review decides: nothing is lost, and nothing
// is published by itself.
func TestAddClash(t *testing.T) {
	dir, s := edited(t, "merge", "Two lines.", "Two lines of mine.")
	r := addTo(t, s, nil, document("https://example.org/a", "Page A", strings.Replace(imported, "Two lines.", "Two lines of theirs.", 1)))
	if got := outcome(r); got != "updated page-a.md conflict" {
		t.Fatalf("got %q", got)
	}
	text := vaulttest.Git(t, dir, "show", "drafts/inbox:notes/page-a.md")
	for _, want := range []string{"<<<<<<< note\nTwo lines of mine.\n=======\nTwo lines of theirs.\n>>>>>>> source", "One line.", "Four lines."} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
	if _, err := try[vault.ReviewMerged](s, "review_merge", map[string]any{"name": "inbox"}); vault.AsError(err).Code != vault.Failed {
		t.Errorf("the conflict was merged: %v", err)
	}
}

// A text that was imported, and is in no history that is here, is no base: both
// texts stand.
func TestAddWithoutBase(t *testing.T) {
	dir, s := edited(t, "merge", "Two lines.", "Two lines of mine.", "source_hash: \"sha256:", "source_hash: \"sha256:00")
	r := addTo(t, s, nil, document("https://example.org/a", "Page A", "All new.\n"))
	if got := outcome(r); got != "updated page-a.md conflict" {
		t.Fatalf("got %q", got)
	}
	text := vaulttest.Git(t, dir, "show", "drafts/inbox:notes/page-a.md")
	if !strings.Contains(text, "Two lines of mine.") || !strings.Contains(text, "All new.") {
		t.Errorf("a side is lost in\n%s", text)
	}
}

// A note that people deleted is not forgotten: adding its source again says so.
func TestAddRevives(t *testing.T) {
	dir, s := edited(t, "merge")
	vaulttest.Git(t, dir, "mv", "notes/page-a.md", "notes/renamed.md")
	vaulttest.Commit(t, dir, "2024-03-01", "rename")
	if got := outcome(addTo(t, s, nil, document("https://example.org/a", "Page A", imported))); got != "skipped renamed.md" {
		t.Errorf("after a rename: got %q", got)
	}
	vaulttest.Git(t, dir, "rm", "-q", "notes/renamed.md")
	vaulttest.Commit(t, dir, "2024-03-02", "delete")
	sources := do[vault.Sources](t, s, "kb_sources", nil)
	if len(sources.Sources) != 0 || len(sources.Deleted) != 1 || sources.Deleted[0].Path != "renamed.md" {
		t.Errorf("sources: %+v", sources)
	}
	r := addTo(t, s, nil, document("https://example.org/a", "Page A", imported))
	if got := outcome(r); got != "added page-a.md" || !strings.Contains(r.Added[0].Reason, "deleted as renamed.md") {
		t.Errorf("got %q: %+v", got, r.Added)
	}
}

// A draft that is older than a note of the branch does not bring it twice.
func TestAddToAnOlderDraft(t *testing.T) {
	dir := vaulttest.Repo(t, addedTo)
	s := vaulttest.Service(t, dir)
	addTo(t, s, map[string]any{"draft": "old"}, document("file:z", "Z", "Z.\n"))
	addTo(t, s, nil, document("file:a", "Page A", imported))
	do[vault.ReviewMerged](t, s, "review_merge", map[string]any{"name": "inbox"})
	old := map[string]any{"draft": "old"}
	if got := outcome(addTo(t, s, old, document("file:a", "Page A", imported))); got != "skipped page-a.md" {
		t.Errorf("unchanged: got %q", got)
	}
	if got := outcome(addTo(t, s, old, document("file:a", "Page A", "Changed.\n"))); got != "failed page-a.md" {
		t.Errorf("changed: got %q", got)
	}
}

// A Markdown file keeps what it says of itself.
func TestAddMarkdown(t *testing.T) {
	dir := vaulttest.Repo(t, addedTo)
	s := vaulttest.Service(t, dir)
	doc := document("file:own.md", "own", "---\ntitle: Own\ntags: [a]   # mine\nsource: https://example.org/own\n---\n\nText.\n")
	doc["type"] = "markdown"
	for _, want := range []string{"added own.md", "skipped own.md"} {
		if got := outcome(addTo(t, s, nil, doc)); got != want {
			t.Fatalf("got %q, want %q", got, want)
		}
	}
	text := vaulttest.Git(t, dir, "show", "drafts/inbox:notes/own.md")
	for _, want := range []string{"tags: [a]   # mine", "source: https://example.org/own", "imported_from: \"file:own.md\""} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
	doc["body"] = strings.Replace(doc["body"].(string), "Text.", "Changed.", 1)
	if got := outcome(addTo(t, s, nil, doc)); got != "updated own.md" {
		t.Errorf("a changed file: got %q", got)
	}
}

// A dry run shows the notes and writes nothing.
func TestAddDryRun(t *testing.T) {
	dir := vaulttest.Repo(t, addedTo)
	s := vaulttest.Service(t, dir)
	r := addTo(t, s, map[string]any{"dry_run": true}, document("file:a", "Page A", imported))
	if outcome(r) != "added page-a.md" || !strings.Contains(r.Added[0].Body, "title: Page A") || r.Commit != "" {
		t.Errorf("got %+v", r)
	}
	if got := vaulttest.Git(t, dir, "for-each-ref", "refs/heads/drafts"); got != "" {
		t.Errorf("a draft was made: %s", got)
	}
}

// Only what people imported is merged as an import. The words of a message make no
// commit one.
func TestMergeOfImports(t *testing.T) {
	dir := vaulttest.Repo(t, addedTo)
	s := vaulttest.Service(t, dir)
	imports := map[string]any{"name": "inbox", "imports": true}
	addTo(t, s, nil, document("file:a", "Page A", imported))
	do[vault.ReviewMerged](t, s, "review_merge", imports)
	addTo(t, s, nil, document("file:b", "Page B", "What page B says, in a few words.\n"), document("file:c", "Page C", "What page C says, in a few words.\n"))
	do[vault.ReviewMerged](t, s, "review_merge", map[string]any{"name": "inbox", "imports": true, "only": []string{"page-b.md"}})
	do[vault.ReviewMerged](t, s, "review_merge", imports) // the rest is an import, too

	addTo(t, s, nil, document("file:d", "Page D", "What page D says, in a few words.\n"))
	do[vault.WriteResult](t, s, "kb_edit", map[string]any{"path": "page-d.md", "append": "Forged.", "draft": "inbox", "message": "Add Page D\n\nKb-Import: inbox"})
	for _, only := range [][]string{nil, {"page-d.md"}} {
		imports["only"] = only
		if _, err := try[vault.ReviewMerged](s, "review_merge", imports); vault.AsError(err).Code != vault.Conflict {
			t.Errorf("only %s: got %v", only, err)
		}
	}
}

// A template goes around the text of a new note. What the source changes goes into
// what the template made of it.
func TestAddTemplate(t *testing.T) {
	dir := vaulttest.Repo(t, addedTo+`
-- .kb/templates/clip.md --
---
tags: [clipped]
status: inbox
source: https://evil.example/
source_hash: forged
---
# {{title}}

Clipped from {{source}}.

## Text

{{body}}

## My notes

To be written.
-- @commit 2024-01-02 template --
`)
	s := vaulttest.Service(t, dir)
	clip := map[string]any{"template": "clip", "tags": []string{"news"}}
	if got := outcome(addTo(t, s, clip, document("https://example.org/a", "Page A", imported))); got != "added page-a.md" {
		t.Fatalf("got %q", got)
	}
	for _, step := range []struct{ body, want, says string }{
		{imported, "skipped page-a.md", "To be written."},
		{strings.Replace(imported, "Two lines.", "Two lines, changed.", 1), "updated page-a.md", "Two lines, changed."},
		{strings.Replace(imported, "Two lines.", "Two lines, again.", 1), "updated page-a.md", "Two lines, again."},
	} {
		if got := outcome(addTo(t, s, clip, document("https://example.org/a", "Page A", step.body))); got != step.want {
			t.Errorf("got %q, want %q", got, step.want)
		}
		text := vaulttest.Git(t, dir, "show", "drafts/inbox:notes/page-a.md")
		for _, want := range []string{"status: inbox", "- clipped", "- news", "source: https://example.org/a", "Clipped from https://example.org/a.", "## My notes", step.says} {
			if !strings.Contains(text, want) {
				t.Errorf("%q is not in\n%s", want, text)
			}
		}
		if strings.Contains(text, "evil") || strings.Contains(text, "forged") || strings.Contains(text, "<<<<") {
			t.Errorf("got\n%s", text)
		}
	}
	if r, err := try[vault.Added](s, "kb_add", map[string]any{"template": "none", "notes": []map[string]any{document("", "X", "X.\n")}}); vault.AsError(err).Code != vault.NotFound {
		t.Errorf("got %+v, %v", r, err)
	}
}

// Who adds the same text from another place is told which note has it, and where
// that is from.
func TestAddFromElsewhere(t *testing.T) {
	s := vaulttest.Service(t, vaulttest.Repo(t, addedTo))
	addTo(t, s, nil, document("https://example.org/a", "Page A", imported))
	r := addTo(t, s, nil, document("https://mirror.example/a", "Mirror", imported))
	if got := outcome(r); got != "skipped page-a.md" || !strings.Contains(r.Skipped[0].Reason, "already, from https://example.org/a") {
		t.Errorf("got %q: %+v", got, r.Skipped)
	}
}

// asAgent calls an operation as an agent does.
func asAgent(t *testing.T, s *vault.Service, op string, args map[string]any) error {
	t.Helper()
	x, ok := vault.FindOp(op)
	if !ok {
		t.Fatal(op)
	}
	raw, err := json.Marshal(args)
	if err != nil {
		t.Fatal(err)
	}
	_, err = s.DoAs(context.Background(), vault.Caller{Agent: "bot"}, x, raw, nil)
	return err
}

// An agent cannot have a text of its own taken for that of a source.
func TestAgentsForgeNoImport(t *testing.T) {
	s := vaulttest.Service(t, vaulttest.Repo(t, addedTo))
	addTo(t, s, nil, document("file:a", "Page A", imported))
	for _, key := range []string{"source_hash", "etag", "last_modified", "fetched", "source_type", "imported_from"} {
		for _, path := range []string{"first.md", "page-a.md"} {
			err := asAgent(t, s, "kb_edit", map[string]any{"path": path, "set": map[string]any{key: "forged"}, "draft": "inbox"})
			if e := vault.AsError(err); e == nil || e.Code != vault.Protected || !strings.Contains(e.Message, key) {
				t.Errorf("%s of %s: got %v", key, path, err)
			}
		}
	}
	for _, args := range []map[string]any{{"append": "More."}, {"set": map[string]any{"status": "active"}}, {"rename": "moved.md"}, {"path": "moved.md", "delete": true}} {
		args["draft"] = "inbox"
		if args["path"] == nil {
			args["path"] = "page-a.md"
		}
		if err := asAgent(t, s, "kb_edit", args); err != nil {
			t.Errorf("%v: %v", args, err)
		}
	}
	addTo(t, s, nil, document("file:b", "Page B", imported+"And more.\n"))
	if err := asAgent(t, s, "kb_edit", map[string]any{"path": "page-b.md", "append": "Forged.", "draft": "inbox"}); err != nil {
		t.Fatal(err)
	}
	if r := addTo(t, s, nil, document("file:b", "Page B", imported+"And more.\n")); len(r.Skipped) != 1 || !strings.Contains(r.Skipped[0].Reason, "edited since") {
		t.Errorf("of an edited note: %+v", r)
	}
	do[vault.WriteResult](t, s, "kb_edit", map[string]any{"path": "first.md", "set": map[string]any{"fetched": "2024-01-01"}})
}
