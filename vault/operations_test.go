package vault_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kb/internal/vaulttest"
	"kb/vault"
)

// do runs an operation and returns its result.
func do[R any](t testing.TB, s *vault.Service, name string, args map[string]any) *R {
	t.Helper()
	r, err := try[R](s, name, args)
	if err != nil {
		t.Fatalf("%s %v: %v", name, args, err)
	}
	return r
}

func try[R any](s *vault.Service, name string, args map[string]any) (*R, error) {
	op, ok := vault.FindOp(name)
	if !ok {
		return nil, errors.New("no operation " + name)
	}
	raw, err := json.Marshal(args)
	if err != nil {
		return nil, err
	}
	r, err := s.Do(context.Background(), op, raw, nil)
	if err != nil {
		return nil, err
	}
	return r.(*R), nil
}

const small = `
-- guides/retry.md --
---
title: Retry policy
tags: [howto/net]
created: 2023-05-01
rating: 4
source: https://example.org
---
Preamble.

# Retry policy
First.

## Backoff
One.

## Jitter
Two. ^j1

# Other
Three.
-- guides/cache.md --
---
status: obsolete
superseded_by: "[[retry]]"
rating: 2
---
# Cache
Nothing of retry.
-- @commit 2024-01-01 first --
-- notes.md --
# Notes
#howto for all
-- @commit 2024-02-01 second --
`

func TestGetDocumentParts(t *testing.T) {
	s := vaulttest.Service(t, vaulttest.Repo(t, small))
	tests := []struct {
		name  string
		args  map[string]any
		want  string
		lines []int
	}{
		{"body", nil, "Preamble.\n\n# Retry policy\nFirst.\n\n## Backoff\nOne.\n\n## Jitter\nTwo. ^j1\n\n# Other\nThree.\n", []int{8, 20}},
		{"heading", map[string]any{"heading": "Backoff"}, "## Backoff\nOne.\n\n", []int{13, 15}},
		{"section with sub-sections", map[string]any{"heading": "retry-policy"}, "# Retry policy\nFirst.\n\n## Backoff\nOne.\n\n## Jitter\nTwo. ^j1\n\n", []int{10, 18}},
		{"path of headings", map[string]any{"heading": "Retry policy > Jitter"}, "## Jitter\nTwo. ^j1\n\n", []int{16, 18}},
		{"lines", map[string]any{"lines": "13-14"}, "## Backoff\nOne.\n", []int{13, 14}},
		{"one line", map[string]any{"lines": "2"}, "title: Retry policy\n", []int{2, 2}},
		{"to the end", map[string]any{"lines": "19-"}, "# Other\nThree.\n", []int{19, 20}},
		{"past the end", map[string]any{"lines": "20-999"}, "Three.\n", []int{20, 20}},
	}
	for _, tt := range tests {
		args := map[string]any{"path": "guides/retry.md"}
		for k, v := range tt.args {
			args[k] = v
		}
		d := do[vault.Document](t, s, "get_document", args)
		if diff := cmp.Diff(tt.want, d.Content); diff != "" {
			t.Errorf("%s: %s", tt.name, diff)
		}
		if diff := cmp.Diff(tt.lines, d.Lines); diff != "" {
			t.Errorf("%s: lines %s", tt.name, diff)
		}
	}
	whole := do[vault.Document](t, s, "get_document", map[string]any{"path": "guides/retry.md", "frontmatter": true})
	if !strings.HasPrefix(whole.Content, "---\ntitle: Retry policy\n") || whole.Lines[0] != 1 {
		t.Errorf("with frontmatter: %q", whole.Content)
	}
	block := do[vault.Document](t, s, "get_document", map[string]any{"path": "guides/retry.md", "heading": "^j1"})
	if !strings.Contains(block.Content, "Two.") || strings.Contains(block.Content, "One.") {
		t.Errorf("block: %q", block.Content)
	}
}

// Reading on with next gives every line once, whatever the budget.
func TestGetDocumentNext(t *testing.T) {
	var note strings.Builder
	for i := range 120 {
		fmt.Fprintf(&note, "Line %d, %s.\n", i, strings.Repeat("word ", i%17))
		if i%13 == 0 {
			fmt.Fprintf(&note, "\n## Part %d\n\n", i)
		}
	}
	s := vaulttest.Service(t, vaulttest.Repo(t, "-- long.md --\n"+note.String()+"-- @commit 2024-01-01 long --\n"))
	for _, budget := range []int{50, 77, 200, 5000} {
		var got strings.Builder
		args := map[string]any{"path": "long.md", "max_tokens": budget}
		for {
			d := do[vault.Document](t, s, "get_document", args)
			got.WriteString(d.Content)
			if d.Tokens > budget {
				t.Errorf("budget %d: %d tokens", budget, d.Tokens)
			}
			if d.Truncated != (d.Next != "") {
				t.Errorf("budget %d: truncated %v, next %q", budget, d.Truncated, d.Next)
			}
			if d.Next == "" {
				break
			}
			args["lines"] = d.Next
		}
		if diff := cmp.Diff(note.String(), got.String()); diff != "" {
			t.Errorf("budget %d: %s", budget, diff)
		}
	}
}

func paths(r *vault.QueryResult) []string {
	out := []string{}
	for _, d := range r.Documents {
		out = append(out, d.Path)
	}
	return out
}

func TestQueryFilters(t *testing.T) {
	s := vaulttest.Service(t, vaulttest.Repo(t, small))
	const retry, cache, notes = "guides/retry.md", "guides/cache.md", "notes.md"
	tests := []struct {
		args map[string]any
		want []string
	}{
		{nil, []string{cache, retry, notes}},
		{map[string]any{"tag": "howto"}, []string{retry, notes}},
		{map[string]any{"tag": "#HowTo/net"}, []string{retry}},
		{map[string]any{"tag": "how"}, []string{}},
		{map[string]any{"tag": []string{"howto", "howto/net"}}, []string{retry}},
		{map[string]any{"status": "Obsolete"}, []string{cache}},
		{map[string]any{"scope": "guides"}, []string{cache, retry}},
		{map[string]any{"scope": "guide"}, []string{}},
		{map[string]any{"scope": "guides/retry.md"}, []string{retry}},
		{map[string]any{"scope": ""}, []string{notes}},
		{map[string]any{"has_sources": true}, []string{retry}},
		{map[string]any{"has_sources": false}, []string{cache, notes}},
		{map[string]any{"created_after": "2024-01-01"}, []string{cache, notes}},
		{map[string]any{"created_before": "2024-01-01"}, []string{retry}},
		{map[string]any{"updated_after": "2024-01-02"}, []string{notes}},
		{map[string]any{"where": "rating>2"}, []string{retry}},
		{map[string]any{"where": []string{"rating>=2", "path~cache"}}, []string{cache}},
		{map[string]any{"where": "section=guides", "sort": "-rating"}, []string{retry, cache}},
		{map[string]any{"sort": "rating"}, []string{cache, retry, notes}},
		{map[string]any{"sort": "-created"}, []string{notes, cache, retry}},
		{map[string]any{"sort": "title"}, []string{cache, notes, retry}},
		{map[string]any{"at": "2024-01-15"}, []string{cache, retry}},
	}
	for _, tt := range tests {
		r := do[vault.QueryResult](t, s, "kb_query", tt.args)
		if diff := cmp.Diff(tt.want, paths(r)); diff != "" || r.Total != len(tt.want) {
			t.Errorf("%v: total %d: %s", tt.args, r.Total, diff)
		}
	}
}

// Filters narrow the answer; a note's score is the same with and without them.
func TestFiltersKeepScores(t *testing.T) {
	s := vaulttest.Service(t, vaulttest.Repo(t, small))
	all := do[vault.SearchResult](t, s, "search", map[string]any{"query": "retry"})
	if len(all.Results) != 2 || all.Results[0].Path != "guides/retry.md" || all.Results[1].SupersededBy != "retry" {
		t.Fatalf("%+v", all.Results)
	}
	for _, h := range all.Results {
		one := do[vault.SearchResult](t, s, "search", map[string]any{"query": "retry", "scope": h.Path})
		if one.Total != 1 || one.Results[0].Score != h.Score {
			t.Errorf("%s: %+v, want score %v", h.Path, one.Results, h.Score)
		}
	}
}

// Cursors go through a list without gap or repetition, and stay with the view
// that they began in.
func TestCursors(t *testing.T) {
	var archive strings.Builder
	for i := range 23 {
		fmt.Fprintf(&archive, "-- n%02d.md --\nsame words number %d\n", i, i)
	}
	archive.WriteString("-- @commit 2024-01-01 many --\n")
	dir := vaulttest.Repo(t, archive.String())
	s := vaulttest.Service(t, dir)
	whole := paths(do[vault.QueryResult](t, s, "kb_query", map[string]any{"at": "HEAD"}))
	var got []string
	args := map[string]any{"at": "HEAD", "max_results": 5}
	for {
		r := do[vault.QueryResult](t, s, "kb_query", args)
		got = append(got, paths(r)...)
		if len(got) == 5 { // the branch moves on; the cursor does not
			vaulttest.Write(t, dir, "a.md", "new")
			vaulttest.Commit(t, dir, "2024-01-02", "new")
		}
		if r.Next == "" {
			break
		}
		args["cursor"] = r.Next
	}
	if diff := cmp.Diff(whole, got); diff != "" {
		t.Error(diff)
	}
	seen := map[string]bool{}
	args = map[string]any{"query": "same words", "at": "HEAD", "max_results": 7}
	for {
		r := do[vault.SearchResult](t, s, "search", args)
		for _, h := range r.Results {
			if seen[h.Path] {
				t.Errorf("%s twice", h.Path)
			}
			seen[h.Path] = true
		}
		if r.Next == "" {
			break
		}
		args["cursor"] = r.Next
	}
	if len(seen) != 23 {
		t.Errorf("%d hits, want 23", len(seen))
	}
	// A work tree has no commit to go back to: its cursor says so when it changed.
	r := do[vault.QueryResult](t, s, "kb_query", map[string]any{"max_results": 5})
	vaulttest.Write(t, dir, "b.md", "newer")
	_, err := try[vault.QueryResult](s, "kb_query", map[string]any{"max_results": 5, "cursor": r.Next})
	if e := vault.AsError(err); e == nil || e.Code != vault.Stale {
		t.Errorf("a cursor of a work tree that changed: %v", err)
	}
}

// A view is what it holds: the same files are the same view, whatever happened
// in between, and any other file is another.
func TestViewIdentity(t *testing.T) {
	dir := vaulttest.Repo(t, small)
	s := vaulttest.Service(t, dir)
	tree := func() string {
		t.Helper()
		return do[vault.Sections](t, s, "list_sections", nil).Tree
	}
	first := tree()
	steps := []func(){
		func() { vaulttest.Write(t, dir, "notes.md", "edited") },
		func() { vaulttest.Write(t, dir, "more.md", "# Notes\n#howto for all\n") },
		func() { vaulttest.Git(t, dir, "mv", "notes.md", "moved.md") },
		func() { vaulttest.Git(t, dir, "rm", "--quiet", "guides/cache.md") },
	}
	seen := map[string]bool{first: true}
	for i, step := range steps {
		step()
		if id := tree(); seen[id] {
			t.Errorf("step %d: the same view", i)
		} else {
			seen[id] = true
		}
		vaulttest.Git(t, dir, "reset", "--quiet", "--hard")
		vaulttest.Git(t, dir, "clean", "--quiet", "-fd")
		if id := tree(); id != first {
			t.Errorf("step %d undone: another view", i)
		}
	}
	vaulttest.Write(t, dir, "ignored.txt", "not a note")
	if id := tree(); id != first {
		t.Error("a file that is no note made another view")
	}
}

// The digest of any vault fits what an agent can afford.
func TestDigestFits(t *testing.T) {
	vaults := map[string]string{"rust-rfcs": "data/vaults/rust-rfcs.bundle", "kepano": "data/vaults/kepano-obsidian.bundle", "tldr": "data/vaults/tldr.git.tar.gz"}
	for name, archive := range vaults {
		t.Run(name, func(t *testing.T) {
			if name == "tldr" && os.Getenv("KB_LONG") == "" {
				t.Skip("indexes 38,000 notes: KB_LONG=1 runs it")
			}
			s := vaulttest.Service(t, clone(t, vaulttest.Shared(t, archive)))
			for _, args := range []map[string]any{{"at": "HEAD"}, {"at": "HEAD", "days": 3650}} {
				d := do[vault.Digest](t, s, "kb_digest", args)
				raw, err := vault.MarshalResult(d)
				if err != nil {
					t.Fatal(err)
				}
				var text strings.Builder
				d.Text(vault.NewText(&text))
				if n := vault.Tokens(text.String()); n > 800 {
					t.Errorf("%v: the text takes %d tokens", args, n)
				}
				if n := vault.Tokens(string(raw)); n > 1000 { // names of fields come on top
					t.Errorf("%v: the JSON takes %d tokens", args, n)
				}
				if d.TotalDocuments == 0 || d.TotalSections == 0 {
					t.Errorf("%v: %+v", args, d)
				}
			}
		})
	}
}

// clone makes a bare repository of a bundle or a packed one.
func clone(t testing.TB, archive string) string {
	t.Helper()
	dir := t.TempDir()
	if strings.HasSuffix(archive, ".tar.gz") {
		if out, err := exec.Command("tar", "-xzf", archive, "-C", dir).CombinedOutput(); err != nil {
			t.Fatalf("tar: %v\n%s", err, out)
		}
		found, err := filepath.Glob(filepath.Join(dir, "*"))
		if err != nil || len(found) != 1 {
			t.Fatalf("%v, %v", found, err)
		}
		return found[0]
	}
	bare := filepath.Join(dir, "clone.git")
	vaulttest.Git(t, dir, "clone", "--quiet", "--bare", archive, bare)
	return bare
}

// Budgets bind every reading operation.
func TestBudgets(t *testing.T) {
	var archive strings.Builder
	for i := range 60 {
		fmt.Fprintf(&archive, "-- d%d/n%02d.md --\n# Note %d\n%s\n\n## See\n[[n%02d]] [[n%02d]] [[missing %d]]\n", i%9, i, i, strings.Repeat("otters and badgers ", 90), (i+1)%60, (i+7)%60, i)
	}
	archive.WriteString("-- @commit 2024-01-01 many --\n")
	s := vaulttest.Service(t, vaulttest.Repo(t, archive.String()))
	for _, tt := range []struct {
		op   string
		args map[string]any
	}{
		{"search", map[string]any{"query": "otters", "max_results": 50}},
		{"kb_brief", map[string]any{"query": "otters", "max_results": 50}},
		{"kb_context", map[string]any{"path": []string{"n01", "n02", "n03", "n04"}, "depth": "deep"}},
		{"kb_query", map[string]any{"max_results": 500}},
		{"kb_digest", map[string]any{"days": 36500}},
		{"get_document", map[string]any{"path": "n01"}},
	} {
		op, _ := vault.FindOp(tt.op)
		tt.args["max_tokens"] = 300
		raw, err := json.Marshal(tt.args)
		if err != nil {
			t.Fatal(err)
		}
		r, err := s.Do(context.Background(), op, raw, nil)
		if err != nil {
			t.Fatal(err)
		}
		var text strings.Builder
		r.(vault.Texter).Text(vault.NewText(&text))
		out, err := vault.MarshalResult(r)
		if err != nil {
			t.Fatal(err)
		}
		// The budget is of the content; what frames it comes on top.
		if n := vault.Tokens(text.String()); n > 450 {
			t.Errorf("%s: the text takes %d tokens of 300", tt.op, n)
		}
		if n := vault.Tokens(string(out)); n > 700 {
			t.Errorf("%s: the JSON takes %d tokens of 300", tt.op, n)
		}
		if !strings.Contains(string(out), `"truncated":true`) {
			t.Errorf("%s: does not say that it was cut", tt.op)
		}
	}
}
