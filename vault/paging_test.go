package vault_test

import (
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
