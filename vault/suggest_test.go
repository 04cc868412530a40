package vault_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kb/internal/vaulttest"
	"kb/vault"
)

const unlinkedNotes = `
-- Retry policy.md --
---
aliases: [back-off plan]
---
# Retry policy
See [[Limits]].

## Unresolved parts
-- Limits.md --
The retry policy counts; ` + "`Retry policy`" + ` in code, and Retry policy again. With Ada, not adamant: an ada.
-- Ada.md --
Knows the Back-Off Plan. Limits everywhere, and limits too.
-- Unresolved parts.md --
Nothing.
-- Open.md --
The unresolved parts are many. 昨日は再試行方針を読んだ。
-- 再試行方針.md --
読んだ。
-- README.md --
A README: [Retry policy](<Retry policy.md>), see the retry policy.
-- @commit 2024-01-01 first --
`

func suggested(t *testing.T, s *vault.Service, args map[string]any) *vault.Suggestions {
	t.Helper()
	args["suggest"] = true
	raw, err := json.Marshal(args)
	if err != nil {
		t.Fatal(err)
	}
	op, _ := vault.FindOp("kb_links")
	r, err := s.Do(context.Background(), op, raw, nil)
	if err != nil {
		t.Fatal(err)
	}
	return r.(*vault.LinksResult).Suggested
}

// A name is found as whole words, the longest, in running text, once a note; what
// is linked, a heading elsewhere, or a common word is none.
func TestSuggestMentions(t *testing.T) {
	s := vaulttest.Service(t, vaulttest.Repo(t, unlinkedNotes))
	got := []string{}
	for _, m := range suggested(t, s, map[string]any{"at": "HEAD"}).Mentions {
		got = append(got, fmt.Sprintf("%s:%d %s > %s", m.Path, m.Line, m.Text, m.Target))
	}
	want := []string{
		"Open.md:1 再試行方針 > 再試行方針.md",
		"Ada.md:1 Back-Off Plan > Retry policy.md",
		"Limits.md:1 Ada > Ada.md",
		"Limits.md:1 Retry policy > Retry policy.md",
	}
	if diff := cmp.Diff(sorted(want), sorted(got)); diff != "" {
		t.Error(diff)
	}
}

func sorted(list []string) string {
	out := append([]string{}, list...)
	for i := range out {
		for j := i + 1; j < len(out); j++ {
			if out[j] < out[i] {
				out[i], out[j] = out[j], out[i]
			}
		}
	}
	return strings.Join(out, "\n")
}

// Applied, each is a link in the shortest form, and all else stays.
func TestSuggestApply(t *testing.T) {
	dir := vaulttest.Repo(t, unlinkedNotes)
	s := vaulttest.Service(t, dir)
	r := suggested(t, s, map[string]any{"apply": true, "draft": "links"})
	if r.Linked != 4 || r.Branch != "drafts/links" {
		t.Errorf("%+v", r)
	}
	diff := vaulttest.Git(t, dir, "-c", "core.quotepath=off", "diff", "--unified=0", "main", "drafts/links")
	for _, want := range []string{
		"+The retry policy counts; `Retry policy` in code, and [[Retry policy]] again. With [[Ada]], not adamant: an ada.",
		"+Knows the [[Retry policy|Back-Off Plan]]. Limits everywhere, and limits too.",
		"+The unresolved parts are many. 昨日は[[再試行方針]]を読んだ。",
	} {
		if !strings.Contains(diff, want+"\n") && !strings.HasSuffix(diff, want) {
			t.Errorf("%q is missing in\n%s", want, diff)
		}
	}
	if n := strings.Count(diff, "\n+") - strings.Count(diff, "\n+++"); n != 3 {
		t.Errorf("%d lines changed:\n%s", n, diff)
	}
	if again := suggested(t, s, map[string]any{"at": "drafts/links"}); again.Total != 0 {
		t.Errorf("still suggested: %+v", again.Mentions)
	}
}

// Where notes link by paths, so do new links.
func TestSuggestMarkdownLinks(t *testing.T) {
	dir := vaulttest.Repo(t, `
-- a/Retry policy.md --
[one](../b/x.md)
-- b/x.md --
[two](../a/y%20(z).md) and the Retry policy, and Y (Z).
-- a/y (z).md --
---
title: Why Zed
---
One.
-- b/w.md --
As Why Zed says.
-- @commit 2024-01-01 first --
`)
	suggested(t, vaulttest.Service(t, dir), map[string]any{"apply": true, "draft": "links"})
	for path, want := range map[string]string{
		"b/x.md": "[two](../a/y%20(z).md) and the [Retry policy](../a/Retry%20policy.md), and Y (Z).",
		"b/w.md": "As [Why Zed](../a/y%20%28z%29.md) says.",
	} {
		if got := vaulttest.Git(t, dir, "show", "drafts/links:"+path); got != want {
			t.Errorf("%s: %s", path, got)
		}
	}
}

// Near notes that no link joins are neighbours, and it is said how they were
// compared.
func TestSuggestNeighbours(t *testing.T) {
	s := vaulttest.Service(t, vaulttest.Repo(t, `
-- one.md --
# Exponential backoff with jitter for failing calls
-- two.md --
# Jitter and exponential backoff when calls fail
-- three.md --
# Bread of rye, salt and water
-- _Templates/call.md --
# Exponential backoff and jitter when calls fail
-- @commit 2024-01-01 first --
`))
	r := suggested(t, s, map[string]any{"at": "HEAD"})
	if len(r.Neighbours) != 1 || r.Neighbours[0].Path != "one.md" || r.Neighbours[0].Target != "two.md" || r.Compared != "text" {
		t.Errorf("%+v", r)
	}
}
