package vault_test

import (
	"strings"
	"testing"

	"kb/internal/vaulttest"
	"kb/vault"
)

// An agent that may review decides about drafts of others, at the commit that it
// read; no agent decides about its own, whichever of its names the draft has.
func TestAgentsReview(t *testing.T) {
	b := newBot(t, "-- a.md --\n# A\n\nText of A that is long enough to be a note of its own here.\n-- @commit 2024-01-01 first --\n")
	write := func(draft string) (commit string) {
		return b.change("kb_write", map[string]any{"title": draft, "body": strings.Repeat("Some more words of it. ", 20), "draft": draft, "tags": []string{"t"}}).Commit
	}
	one, two := write("one"), write("two")
	main := vaulttest.Git(t, b.dir, "rev-parse", "main")
	args := func(name, commit string) map[string]any {
		return map[string]any{"name": name, "commit": commit, "reason": "no"}
	}
	merge := func(name, commit string) map[string]any { return map[string]any{"name": name, "commit": commit} }

	b.refused("review_merge", merge("one", one), vault.Forbidden, "by people")
	b.refused("review_reject", args("one", one), vault.Forbidden, "by people")

	b.who = vault.Caller{Agent: "Robot", Reviews: true}
	b.refused("review_merge", merge("one", one), vault.Forbidden, "is by Robot")
	b.refused("review_reject", args("one", one), vault.Forbidden, "is by Robot")
	for _, same := range []string{"robot <other@example.org>", "Somebody <ROBOT@agents.invalid>", "R\u200bobot"} {
		b.who.Agent = same
		b.refused("review_merge", merge("one", one), vault.Forbidden, "is by")
	}

	b.who.Agent = "Grace <grace@example.org>"
	b.refused("review_merge", merge("one", ""), vault.Usage, "commit is missing")
	b.refused("review_merge", merge("one", two), vault.Stale)
	for _, hidden := range []string{"into", "no_check", "push", "hunks"} {
		with := merge("one", one)
		with[hidden] = "x"
		b.refused("review_merge", with, vault.Usage, "unknown argument")
	}
	if now := vaulttest.Git(t, b.dir, "rev-parse", "main"); now != main {
		t.Fatalf("main moved to %s", now)
	}
	if _, err := b.try("review_merge", merge("one", one)); err != nil {
		t.Fatalf("%v (%s)", err, err.Hint)
	}
	if who := vaulttest.Git(t, b.dir, "log", "-1", "--format=%an <%ae>", "main"); who != "Grace <grace@example.org>" {
		t.Errorf("merged by %s", who)
	}
	if _, err := b.try("review_reject", args("two", two)); err != nil {
		t.Fatalf("%v (%s)", err, err.Hint)
	}
}

// A draft of several authors is none of theirs to decide about, and one that
// changes what agents do not see is for people.
func TestAgentsReviewSharedAndHidden(t *testing.T) {
	b := newBot(t, "-- kb.yaml --\ncollections:\n- {name: v, path: ., writable: true}\nvisibility: {private: [\"journal/**\"]}\n"+
		"-- a.md --\n# A\n\nText.\n-- journal/j.md --\n# J\n\nText.\n-- @commit 2024-01-01 first --\n")
	b.change("kb_write", map[string]any{"title": "x", "body": "Words.", "draft": "shared"})
	b.who.Agent = "Grace"
	tip := b.change("kb_write", map[string]any{"title": "y", "body": "Words.", "draft": "shared"}).Commit
	for _, agent := range []string{"Robot", "Grace"} {
		b.who = vault.Caller{Agent: agent, Reviews: true}
		b.refused("review_merge", map[string]any{"name": "shared", "commit": tip}, vault.Forbidden, "is by "+agent)
	}
	vaulttest.Git(t, b.dir, "checkout", "--quiet", "-b", "drafts/mixed")
	vaulttest.Write(t, b.dir, "a.md", "# A\n\nOther.\n")
	vaulttest.Write(t, b.dir, "journal/j.md", "# J\n\nOther.\n")
	mixed := vaulttest.Commit(t, b.dir, "2024-02-01", "both")
	vaulttest.Git(t, b.dir, "checkout", "--quiet", "-b", "drafts/hidden", "main")
	vaulttest.Write(t, b.dir, "journal/j.md", "# J\n\nOther.\n")
	hidden := vaulttest.Commit(t, b.dir, "2024-02-01", "private")
	vaulttest.Git(t, b.dir, "checkout", "--quiet", "main")
	b.refused("review_merge", map[string]any{"name": "mixed", "commit": mixed}, vault.Forbidden, "do not see")
	b.refused("review_reject", map[string]any{"name": "hidden", "commit": hidden, "reason": "x"}, vault.NotFound)
}
