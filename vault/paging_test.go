package vault_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"kb/internal/vaulttest"
	"kb/vault"
)

// Whatever an answer lists, its pages together are the list, and the pages are
// of one view.
func TestListsArePaged(t *testing.T) {
	var notes strings.Builder
	for i := range 40 {
		fmt.Fprintf(&notes, "-- n%02d.md --\nSee [[n%02d]], [[lost %d]] and https://example.org/%d\n", i, (i+1)%40, i, i)
	}
	dir := vaulttest.Repo(t, "-- empty.md --\nNothing.\n-- @commit 2024-01-01 none --\n"+notes.String()+"-- @commit 2024-01-02 all --\n")
	s := vaulttest.Service(t, dir)
	lists := map[string]func(cursor string) (n int, next string){
		"entities": func(c string) (int, string) {
			r := do[vault.EntitiesResult](t, s, "kb_entities", map[string]any{"max_tokens": 200, "cursor": c, "at": "HEAD"})
			return len(r.Entities), r.Next
		},
		"graph": func(c string) (int, string) {
			r := do[vault.LinksResult](t, s, "kb_links", map[string]any{"max_tokens": 300, "cursor": c})
			return len(r.Nodes) + len(r.Edges), r.Next
		},
		"health": func(c string) (int, string) {
			r := do[vault.HealthResult](t, s, "kb_health", map[string]any{"max_tokens": 500, "cursor": c})
			n := 0
			for _, l := range [][]vault.Issue{r.Collections[0].BrokenLinks, r.Collections[0].Stubs} {
				n += len(l)
			}
			return n, r.Next
		},
		"changes": func(c string) (int, string) {
			r := do[vault.HistoryResult](t, s, "kb_history", map[string]any{"from": "HEAD~1", "max_tokens": 300, "cursor": c})
			return len(r.Added) + len(r.Broken), r.Next
		},
	}
	want := map[string]int{"entities": 40, "graph": 41 + 40 + 80, "health": 40 + 41, "changes": 40 + 40}
	arePaged(t, lists, want)
}

// arePaged demands that the pages of lists have so many elements together.
func arePaged(t *testing.T, lists map[string]func(cursor string) (n int, next string), want map[string]int) {
	t.Helper()
	for name, list := range lists {
		total, pages := 0, 0
		for cursor := ""; pages == 0 || cursor != ""; pages++ {
			var n int
			n, cursor = list(cursor)
			total += n
			if pages > 200 {
				t.Fatalf("%s does not end", name)
			}
		}
		if total != want[name] || pages < 3 {
			t.Errorf("%s: %d elements in %d pages, want %d", name, total, pages, want[name])
		}
	}
}

// Sections, drafts and what a draft changes come in pages, with counts of all.
func TestSectionsAndDraftsArePaged(t *testing.T) {
	dir := vaulttest.Repo(t, "-- first.md --\nNothing.\n-- @commit 2024-01-01 first --\n")
	vaulttest.Git(t, dir, "switch", "-q", "-c", "drafts/d")
	for i := range 30 {
		vaulttest.Write(t, dir, fmt.Sprintf("d%d.md", i), fmt.Sprintf("See [[nothing %d]].\n", i))
	}
	vaulttest.Commit(t, dir, "2024-01-03", "drafted")
	for i := range 4 {
		vaulttest.Git(t, dir, "branch", fmt.Sprintf("drafts/e%d", i), "drafts/d")
	}
	vaulttest.Git(t, dir, "switch", "-q", "main")
	for i := range 50 {
		vaulttest.Write(t, dir, fmt.Sprintf("s%02d/note.md", i), fmt.Sprintf("---\nstatus: state %d\n---\n", i))
	}
	vaulttest.Commit(t, dir, "2024-01-04", "sections")
	s := vaulttest.Service(t, dir)
	lists := map[string]func(cursor string) (n int, next string){}
	lists["sections"] = func(c string) (int, string) {
		r := do[vault.Sections](t, s, "list_sections", map[string]any{"max_tokens": 300, "cursor": c, "at": "HEAD"})
		if r.Total != 51 || r.Collections[0].DocCount != 51 {
			t.Errorf("counts: %d, %+v", r.Total, r.Collections)
		}
		return len(r.Sections), r.Next
	}
	lists["a draft"] = func(c string) (int, string) {
		r := do[vault.DraftsResult](t, s, "kb_drafts", map[string]any{"name": "d", "max_tokens": 600, "cursor": c})
		d := r.Drafts[0]
		if d.Changed != 30 || d.Checked < 30 || r.Truncated != (r.Next != "") {
			t.Errorf("counts: %+v", r)
		}
		return len(d.Changes), r.Next
	}
	lists["drafts"] = func(c string) (int, string) {
		r := do[vault.DraftsResult](t, s, "kb_drafts", map[string]any{"max_tokens": 400, "cursor": c})
		return len(r.Drafts), r.Next
	}
	arePaged(t, lists, map[string]int{"sections": 51, "a draft": 30, "drafts": 5})
}

// What an answer says of one note or of the whole is within its budget too.
func TestAnswersWithinBudget(t *testing.T) {
	var tags, notes strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&tags, "tag%d, ", i)
	}
	for i := range 200 {
		fmt.Fprintf(&notes, "-- n%d.md --\n---\nstatus: state %d\n---\n# N%d\n", i, i%150, i)
	}
	dir := vaulttest.Repo(t, "-- tagged.md --\n---\ntags: ["+tags.String()+"]\n---\n# Tagged\n\nBadgers dig.\n"+notes.String()+"-- @commit 2024-01-01 notes --\n")
	s := vaulttest.Service(t, dir)
	const bytesPerToken = 4
	for name, args := range map[string]map[string]any{
		"get_document": {"path": "tagged.md", "max_tokens": 500}, "kb_context": {"path": []string{"tagged.md"}, "max_tokens": 500},
		"search": {"query": "badgers", "max_tokens": 1000}, "kb_query": {"where": []string{"title=Tagged"}, "max_tokens": 1000},
		"kb_stats": {"max_tokens": 500},
	} {
		given, err := json.Marshal(args)
		if err != nil {
			t.Fatal(err)
		}
		op, _ := vault.FindOp(name)
		r, err := s.Do(t.Context(), op, given, nil)
		if err != nil {
			t.Fatal(err)
		}
		raw, err := vault.MarshalResult(r)
		if most := 2 * bytesPerToken * args["max_tokens"].(int); err != nil || len(raw) > most {
			t.Errorf("%s: %d bytes, more than %d; %v", name, len(raw), most, err)
		}
	}
	if d := do[vault.Document](t, s, "get_document", map[string]any{"path": "tagged.md"}); d.TagCount != 5000 || len(d.Tags) < 100 || !d.Truncated || !strings.Contains(d.Content, "Badgers dig.") {
		t.Errorf("%d of %d tags, %q", len(d.Tags), d.TagCount, d.Content)
	}
	if r := do[vault.Stats](t, s, "kb_stats", map[string]any{"max_tokens": 500}); r.Statuses != 150 || !r.Truncated || len(r.ByStatus) == 0 {
		t.Errorf("%d of %d statuses", len(r.ByStatus), r.Statuses)
	}
}
