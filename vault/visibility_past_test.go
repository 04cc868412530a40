package vault_test

import (
	"context"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"kb/internal/vaulttest"
	"kb/vault"
)

const openAndPrivate = `
-- kb.yaml --
collections:
  - {name: notes, path: notes, writable: true}
  - {name: people, path: people, visibility: private}
-- notes/other.md --
# Other
Calls of another note.
-- people/ada.md --
Ada.
`

// bygoneVaults are vaults in which what bears the word qwfpsecret is hidden now, and
// was not always.
var bygoneVaults = map[string]string{
	"moved into a private collection": openAndPrivate + `
-- notes/was.md --
# Was
The qwfpsecret of calls.
-- @commit 2024-01-01 first --
-- @rename notes/was.md people/was.md --
-- @commit 2024-01-02 second --
`,
	"moved and changed twice": openAndPrivate + `
-- notes/was.md --
Calls one.
Calls two.
Calls three.
The qwfpsecret of calls.
-- @commit 2024-01-01 first --
-- @rename notes/was.md notes/then.md --
-- notes/then.md --
Calls one.
Calls two.
Calls four.
The qwfpsecret of calls.
-- @commit 2024-01-02 second --
-- @rename notes/then.md people/now.md --
-- people/now.md --
Calls one.
Calls five.
Calls four.
The qwfpsecret of calls.
-- @commit 2024-01-03 third --
`,
	"renamed and made private without a title": openAndPrivate + `
-- notes/was.md --
The qwfpsecret of calls.
-- @commit 2024-01-01 first --
-- @rename notes/was.md notes/now.md --
-- @commit 2024-01-02 second --
-- notes/now.md --
---
visibility: private
---
The qwfpsecret of calls.
-- @commit 2024-01-03 third --
`,
	"retitled after the rename": openAndPrivate + `
-- notes/was.md --
# Old title
The qwfpsecret of calls.
-- @commit 2024-01-01 first --
-- @rename notes/was.md notes/now.md --
-- @commit 2024-01-02 second --
-- notes/now.md --
---
visibility: private
---
# New title
The qwfpsecret of calls.
-- @commit 2024-01-03 third --
`,
	"its old path taken by another": openAndPrivate + `
-- notes/was.md --
The qwfpsecret of calls.
-- @commit 2024-01-01 first --
-- @rename notes/was.md people/now.md --
-- @commit 2024-01-02 second --
-- notes/was.md --
Another note of calls, that is open.
-- @commit 2024-01-03 third --
`,
	"copied at the time": openAndPrivate + `
-- notes/was.md --
The qwfpsecret of calls.
-- notes/copy.md --
The qwfpsecret of calls.
-- @commit 2024-01-01 first --
-- @delete notes/copy.md --
-- @commit 2024-01-02 second --
-- @rename notes/was.md people/was.md --
-- @commit 2024-01-03 third --
`,
}

// A note that is hidden now is so at every commit, whatever its path, its title
// and its collection were.
func TestHiddenInThePast(t *testing.T) {
	for name, archive := range bygoneVaults {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := vaulttest.Repo(t, archive)
			s := vaulttest.ServiceIn(t, dir, t.TempDir(), vault.Agent)
			commits := strings.Fields(vaulttest.Git(t, dir, "rev-list", "main"))
			for i, commit := range commits {
				searched := doText(t, s, "search", map[string]any{"query": "calls", "at": commit})
				if !strings.Contains(searched, "other.md") {
					t.Errorf("at HEAD~%d another note is hidden, too: %s", i, searched)
				}
				answers := []string{
					searched,
					doText(t, s, "kb_export", map[string]any{"format": "jsonl", "at": commit}),
					doText(t, s, "kb_history", map[string]any{"from": commits[len(commits)-1], "to": commit}),
					doText(t, s, "kb_edit", map[string]any{"path": "notes:was.md", "restore": commit, "draft": "d" + string(rune('a'+i))}),
					doText(t, s, "kb_query", map[string]any{"at": "drafts/d" + string(rune('a'+i))}),
				}
				for _, path := range []string{"was", "then", "copy"} {
					answers = append(answers, doText(t, s, "get_document", map[string]any{"path": "kb://notes@" + commit + "/" + path + ".md"}))
				}
				for _, a := range answers {
					if strings.Contains(a, "qwfpsecret") {
						t.Errorf("at HEAD~%d: …%.300s", i, a)
					}
				}
			}
			for i, commit := range commits {
				out := filepath.Join(t.TempDir(), "site")
				person := vaulttest.ServiceIn(t, dir, t.TempDir(), vault.Person)
				doText(t, person, "kb_site_build", map[string]any{"out": out, "at": commit})
				if found := canaries(t, out); len(found) > 0 {
					t.Errorf("the site of HEAD~%d tells of %v", i, found)
				}
			}
		})
	}
}

// What stands in sight now stays there in the past, though a hidden note has the
// same bytes.
func TestSeenInThePast(t *testing.T) {
	dir := vaulttest.Repo(t, openAndPrivate+`
-- notes/a.md --
The same words of calls.
-- notes/empty.md --
-- people/empty.md --
-- people/b.md --
The same words of calls.
-- @commit 2024-01-01 first --
-- people/b.md --
Words of its own.
-- people/empty.md --
No longer.
-- @commit 2024-01-02 second --
`)
	s := vaulttest.ServiceIn(t, dir, t.TempDir(), vault.Agent)
	for _, at := range []string{"HEAD", "HEAD~1"} {
		got := doText(t, s, "kb_query", map[string]any{"at": at})
		for _, path := range []string{"a.md", "empty.md"} {
			if !strings.Contains(got, path) {
				t.Errorf("%s: %s is hidden: %s", at, path, got)
			}
		}
	}
}

// A declared section of which a caller sees nothing is not listed.
func TestHiddenSections(t *testing.T) {
	dir := vaulttest.Repo(t, `
-- kb.yaml --
collections:
  - name: notes
    path: notes
    sections: [{prefix: journal, description: qwfpjournal}, {prefix: guides, description: How to}]
  - {name: people, path: people, visibility: private, sections: [{prefix: staff, description: qwfpstaff}, {prefix: open, description: Opened}]}
visibility: {private: ["journal/**"]}
-- notes/journal/a.md --
x
-- people/staff/a.md --
x
-- people/open/a.md --
---
visibility: public
---
x
-- @commit 2024-01-01 first --
`)
	agent := doText(t, vaulttest.ServiceIn(t, dir, t.TempDir(), vault.Agent), "list_sections", nil)
	if strings.Contains(agent, "qwfp") || !strings.Contains(agent, "How to") || !strings.Contains(agent, "Opened") {
		t.Errorf("an agent is told %s", agent)
	}
	person := doText(t, vaulttest.ServiceIn(t, dir, t.TempDir(), vault.Person), "list_sections", nil)
	if strings.Count(person, "qwfp") != 2 {
		t.Errorf("a person is told %s", person)
	}
}

// doText returns the answer of an operation, or its error.
func doText(t *testing.T, s *vault.Service, name string, args map[string]any) string {
	t.Helper()
	op, ok := vault.FindOp(name)
	if !ok {
		t.Fatalf("no operation %s", name)
	}
	if args == nil {
		args = map[string]any{}
	}
	raw, err := json.Marshal(args)
	if err != nil {
		t.Fatal(err)
	}
	r, err := s.Do(context.Background(), op, raw, nil)
	if err != nil {
		e := vault.AsError(err)
		if e.Code == vault.Internal || e.Code == vault.Usage {
			t.Fatalf("%s %s: %v", name, raw, e)
		}
		return e.Message + e.Hint
	}
	out, err := vault.MarshalResult(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}
