package vault_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"kb/internal/vaulttest"
	"kb/vault"
)

const shelf = `
-- guides/retry.md --
# Retry
Twice.
-- guides/limits.md --
# Limits
Ten a second.
-- img/flow.png --
picture
-- index.md --
---
created: 2020-01-01
---
[[retry]] [[guides/retry|it]] [md](guides/retry.md#twice) ![[flow.png]] ![f](img/flow.png) [[ghost]] [g](ghost.md)
[case](Guides/LIMITS.md) [[LIMITS]] ` + "`[[guides/retry]]`" + `
-- broken.md --
---
tags: [a
---
[md](guides/retry.md)
-- @commit 2023-01-01 first --
-- @rename guides/retry.md net/again.md --
-- @commit 2023-02-01 move and rename --
-- @rename net/again.md net/http/backoff.md --
-- @rename img/flow.png assets/flow.png --
-- @commit 2023-03-01 move on --
-- new.md --
not committed
`

// What is safe to mend is proposed, and nothing else is touched.
func TestHealthFix(t *testing.T) {
	dir := vaulttest.Repo(t, shelf)
	vaulttest.Write(t, dir, "net/http/backoff.md", "# Retry\nTwice, changed.\n")
	b := &bot{t, vaulttest.Service(t, dir), dir, vault.Caller{}}
	do := func() *vault.HealthResult {
		r, err := b.try("kb_health", map[string]any{"fix": true})
		if err != nil {
			t.Fatal(err)
		}
		return r.(*vault.HealthResult)
	}
	fix := do().Fix
	if fix.Moved != 5 || fix.Cased != 1 || fix.Dated != 2 || fix.Notes != 4 || fix.Review != "kb review diff "+fix.Draft {
		t.Errorf("%+v", fix)
	}
	want := map[string]string{
		"index.md": "---\ncreated: 2020-01-01\n---\n[[backoff]] [[net/http/backoff|it]] [md](net/http/backoff.md#twice) ![[flow.png]] ![f](assets/flow.png) [[ghost]] [g](ghost.md)\n" +
			"[case](guides/limits.md) [[LIMITS]] `[[guides/retry]]`",
		"broken.md":           "---\ntags: [a\n---\n[md](net/http/backoff.md)",
		"guides/limits.md":    "---\ncreated: 2023-01-01\n---\n# Limits\nTen a second.",
		"net/http/backoff.md": "---\ncreated: 2023-01-01\n---\n# Retry\nTwice.",
	}
	got := map[string]string{}
	for path := range want {
		got[path] = b.git("show", fix.Branch+":"+path)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if n := b.git("diff", "--name-only", "main", fix.Branch); n != "broken.md\nguides/limits.md\nindex.md\nnet/http/backoff.md" {
		t.Errorf("changed: %s", n)
	}
	// Merged, nothing is left to mend.
	b.git("stash", "-q", "-u")
	b.git("merge", "-q", fix.Branch)
	if again := do().Fix; again == nil || again.Draft != "" || again.Notes != 0 {
		t.Errorf("again: %+v", again)
	}
}

// Agents cannot ask for it.
func TestHealthFixIsForPeople(t *testing.T) {
	b := newBot(t, desk)
	b.refused("kb_health", map[string]any{"fix": true}, vault.Usage, "unknown argument")
}
