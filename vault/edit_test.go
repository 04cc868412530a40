package vault_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kb/internal/vaulttest"
	"kb/vault"
)

// Each kind of edit changes what it says, and nothing else.
func TestEditKinds(t *testing.T) {
	const retry = `---
title: Retry policy   # the one that counts
tags: [howto]
at: 10:30
---
# Retry policy

Calls that fail are repeated, see [[limits]].

## Backoff
Twice as long each time.

## Jitter
A little. ^j1
`
	tests := []struct {
		name     string
		args     map[string]any
		old, new string // what becomes what in the note
		subject  string
	}{
		{"section", map[string]any{"replace_section": "At once.", "heading": "## Backoff"}, "Twice as long each time.", "At once.", "Edit ## Backoff in Retry policy"},
		{"append", map[string]any{"append": "The end."}, "A little. ^j1\n", "A little. ^j1\n\nThe end.\n", "Add to Retry policy"},
		{"prepend", map[string]any{"prepend": "First."}, "# Retry policy\n\nCalls", "# Retry policy\n\nFirst.\n\nCalls", "Add to Retry policy"},
		{"replace", map[string]any{"replace": "Twice as long", "with": "$& ${1} \\0"}, "Twice as long", "$& ${1} \\0", "Edit Retry policy"},
		{"cut", map[string]any{"replace": " each time", "with": ""}, " each time", "", "Edit Retry policy"},
		{"set", map[string]any{"set": map[string]any{"at": "11:00", "tags": []string{"a", "b"}}}, "tags: [howto]\nat: 10:30\n", "tags: [a, b]\nat: 11:00\n", "Set at, tags of Retry policy"},
		{"set new", map[string]any{"set": map[string]any{"until": "2026-05-01", "rating": 3, "ok": true}}, "at: 10:30\n", "at: 10:30\nok: true\nrating: 3\nuntil: 2026-05-01\n", "Set ok, rating, until of Retry policy"},
		{"unset", map[string]any{"set": map[string]any{"at": nil}}, "at: 10:30\n", "", "Set at of Retry policy"},
		{"confirm", map[string]any{"confirm": true, "reason": "tried it"}, "at: 10:30\n", "at: 10:30\nconfirmed: 2026-01-31\nconfirmed_reason: tried it\n", "Confirm Retry policy"},
		{"flag", map[string]any{"flag": true, "reason": "old: \"very\""}, "at: 10:30\n", "at: 10:30\nflagged: 2026-01-31\nflagged_reason: 'old: \"very\"'\n", "Flag Retry policy"},
	}
	b := newBot(t, desk)
	for _, tt := range tests {
		tt.args["path"] = "retry"
		r := b.change("kb_edit", tt.args)
		if strings.Count(retry, tt.old) != 1 {
			t.Fatal(tt.name, tt.old)
		}
		got := b.git("show", r.Branch+":notes/retry.md") + "\n"
		got = strings.ReplaceAll(got, `"old: \"very\""`, `'old: "very"'`)
		got = strings.ReplaceAll(got, `"11:00"`, "11:00") // a string, so that nobody reads 660
		if diff := cmp.Diff(strings.Replace(retry, tt.old, tt.new, 1), got); diff != "" {
			t.Errorf("%s: %s", tt.name, diff)
		}
		if subject := b.git("log", "-1", "--format=%s", r.Branch); subject != tt.subject {
			t.Errorf("%s: subject %q", tt.name, subject)
		}
		if r.Path != "retry.md" || r.Title != "Retry policy" || r.Collection != "notes" || len(r.Changes) != 1 || r.Diff == "" || r.Similar == nil {
			t.Errorf("%s: %+v", tt.name, r)
		}
	}
	if b.git("rev-parse", "main") != b.git("rev-parse", "HEAD") || b.git("status", "--porcelain") != "" {
		t.Error("something but drafts changed")
	}
	b.git("fsck", "--strict")
}

func TestEditRename(t *testing.T) {
	b := newBot(t, desk+`
-- notes/index.md --
[[retry]] [[retry|it]] ![[retry#Backoff]] [md](retry.md#jitter) [dot](./limits.md) `+"`[[retry]]`"+`
-- notes/CLAUDE.md --
[[retry]]
-- @commit 2024-01-02 index --
`)
	r := b.change("kb_edit", map[string]any{"path": "Retry policy", "rename": "net/again", "draft": "d"})
	if r.Path != "net/again.md" || r.Title != "Retry policy" || !strings.Contains(r.Notice, "CLAUDE.md") {
		t.Errorf("%+v", r)
	}
	// One whose own links change too is still one change.
	r = b.change("kb_edit", map[string]any{"path": "index", "rename": "deep/index.md"})
	if len(r.Changes) != 1 || r.Changes[0] != (vault.DraftChange{Path: "deep/index.md", Kind: "renamed", From: "index.md", Added: 1, Removed: 1}) {
		t.Errorf("%+v", r.Changes)
	}
	want := "[[again]] [[again|it]] ![[again#Backoff]] [md](net/again.md#jitter) [dot](./limits.md) `[[retry]]`"
	if got := b.git("show", "drafts/d:notes/index.md"); got != want {
		t.Errorf("%s", got)
	}
	// On top of the draft: what it moved is where it moved it.
	b.refused("kb_edit", map[string]any{"path": "retry.md", "append": "x", "draft": "d"}, vault.NotFound, "retry.md")
	r = b.change("kb_edit", map[string]any{"path": "net/again.md", "append": "More.", "draft": "d"})
	if r.Path != "net/again.md" || !strings.HasSuffix(b.git("show", "drafts/d:notes/net/again.md"), "^j1\n\nMore.") {
		t.Errorf("%+v", r)
	}
	b.refused("kb_edit", map[string]any{"path": "retry", "rename": "limits.md"}, vault.Conflict, "limits.md exists")
	b.refused("kb_edit", map[string]any{"path": "retry", "set": map[string]any{"title": "LIMITS"}}, vault.Conflict, "limits.md")
	b.refused("kb_edit", map[string]any{"path": "retry", "rename": "../x.md"}, vault.Usage)
	b.refused("kb_edit", map[string]any{"path": "retry", "rename": "legal/x.md"}, vault.Protected)
	b.refused("kb_edit", map[string]any{"path": "retry", "rename": ".git/x.md"}, vault.Protected)
	b.refused("kb_edit", map[string]any{"path": "retry", "set": map[string]any{"title": "two\nlines"}}, vault.Usage)
	b.refused("kb_edit", map[string]any{"path": "retry", "set": map[string]any{"title": "bidi \u202e"}}, vault.Usage)
	b.refused("kb_edit", map[string]any{"path": "retry", "rename": "retry"}, vault.Usage, "has that path")
	if r := b.change("kb_edit", map[string]any{"path": "retry", "rename": "net/"}); r.Path != "net/retry.md" {
		t.Errorf("into a directory: %s", r.Path)
	}
	if r := b.change("kb_edit", map[string]any{"path": "retry", "rename": "Retry.md"}); r.Path != "Retry.md" {
		t.Errorf("case: %s", r.Path)
	}
	b.git("fsck", "--strict")
}

func TestEditDeleteRestore(t *testing.T) {
	b := newBot(t, desk)
	before := b.git("rev-parse", "main:notes/limits.md")
	r := b.change("kb_edit", map[string]any{"path": "limits", "delete": true, "draft": "d"})
	if !strings.Contains(r.Notice, "1 note linked to it") || r.Changes[0].Kind != "removed" || r.Path != "limits.md" {
		t.Errorf("%+v", r)
	}
	b.refused("kb_edit", map[string]any{"path": "limits.md", "append": "x", "draft": "d"}, vault.NotFound, "the draft has no limits.md")
	r = b.change("kb_edit", map[string]any{"path": "limits.md", "restore": "main", "draft": "d"})
	if b.git("rev-parse", "drafts/d:notes/limits.md") != before || r.Path != "limits.md" {
		t.Errorf("%+v", r)
	}
	b.refused("kb_edit", map[string]any{"path": "limits.md", "restore": "main"}, vault.Conflict, "nothing changes")
	b.refused("kb_edit", map[string]any{"path": "ghost.md", "restore": "main"}, vault.NotFound, "ghost.md")
	b.refused("kb_edit", map[string]any{"path": "limits.md", "restore": "nowhere"}, vault.NotFound, "nowhere")
	b.refused("kb_edit", map[string]any{"path": "journal/secret.md", "restore": "main"}, vault.Protected)
	// Gone from the branch too.
	b.git("rm", "-q", "notes/limits.md")
	vaulttest.Commit(t, b.dir, "2024-02-01", "remove")
	b.refused("kb_edit", map[string]any{"path": "limits.md", "append": "x"}, vault.NotFound)
	for i, name := range []string{"limits.md", "notes:limits.md", "kb://notes/limits.md"} {
		r = b.change("kb_edit", map[string]any{"path": name, "restore": "HEAD~1"})
		if b.git("rev-parse", r.Branch+":notes/limits.md") != before || r.Changes[0].Kind != "added" {
			t.Errorf("%d: %+v", i, r)
		}
	}
}

// An edit of another text than the one that was read is refused, with the place
// of the current one.
func TestEditBase(t *testing.T) {
	b := newBot(t, desk)
	blob, old := b.git("rev-parse", "main:notes/limits.md"), b.git("rev-parse", "main")
	edit := func(base string, more ...string) map[string]any {
		args := map[string]any{"path": "limits.md", "append": "x", "base": base}
		if len(more) > 0 {
			args["draft"] = more[0]
		}
		return args
	}
	for _, base := range []string{blob, blob[:8], strings.ToUpper(blob), old, old[:10], "main"} {
		b.change("kb_edit", edit(base))
	}
	b.change("kb_edit", map[string]any{"path": "kb://notes@" + old + "/limits.md#limits", "append": "x", "draft": "d"})
	b.refused("kb_edit", edit(blob, "d"), vault.Stale, "kb://notes@"+b.git("rev-parse", "drafts/d")+"/limits.md", "base "+b.git("rev-parse", "drafts/d:notes/limits.md"))
	b.refused("kb_edit", map[string]any{"path": "kb://notes@" + old + "/limits.md", "append": "x", "draft": "d"}, vault.Stale)
	b.change("kb_edit", edit(b.git("rev-parse", "drafts/d"), "d"))
	b.refused("kb_edit", edit(strings.Repeat("1", 40)), vault.NotFound, "no blob or commit")
	b.refused("kb_edit", edit("--help"), vault.NotFound)
	vaulttest.Write(t, b.dir, "notes/limits.md", "# Limits\nOther.\n")
	vaulttest.Commit(t, b.dir, "2024-02-01", "change")
	b.refused("kb_edit", edit(blob), vault.Stale, "changed")
	b.refused("kb_edit", edit(old), vault.Stale)
	if r := b.change("kb_edit", edit("main")); r.Notice != "" {
		t.Errorf("notice: %s", r.Notice)
	}

	// What the user has not committed.
	vaulttest.Write(t, b.dir, "notes/limits.md", "# Limits\nMine.\n")
	read := b.git("hash-object", "notes/limits.md")
	b.refused("kb_edit", edit(read), vault.Stale, "not committed", b.git("rev-parse", "main:notes/limits.md"))
	if r := b.change("kb_edit", edit("main")); !strings.Contains(r.Notice, "differs from what is committed") {
		t.Errorf("notice: %q", r.Notice)
	}
	b.refused("kb_edit", map[string]any{"path": "limits.md", "replace": "Mine.", "with": "y"}, vault.NotFound, "differs from what is committed")
	if got := b.git("diff", "--name-only"); got != "notes/limits.md" {
		t.Errorf("the user's file: %q", got)
	}
}

func TestEditRefused(t *testing.T) {
	b := newBot(t, desk)
	tests := []struct {
		args  map[string]any
		code  vault.Code
		words string
	}{
		{map[string]any{"path": "retry"}, vault.Usage, "exactly one of replace_section, append"},
		{map[string]any{"path": "retry", "append": "x", "delete": true}, vault.Usage, "append and delete are two changes"},
		{map[string]any{"append": "x"}, vault.Usage, "no note is named"},
		{map[string]any{"path": "retry", "replace_section": "x"}, vault.Usage, "lacks heading"},
		{map[string]any{"path": "retry", "append": "x", "heading": "Backoff"}, vault.Usage, "heading is for"},
		{map[string]any{"path": "retry", "replace": "x"}, vault.Usage, "lacks with"},
		{map[string]any{"path": "retry", "flag": true}, vault.Usage, "reason"},
		{map[string]any{"path": "retry", "tag": "x", "append": "x"}, vault.Usage, "one or the other"},
		{map[string]any{"tag": "howto", "rename": "x"}, vault.Usage, "of one note"},
		{map[string]any{"tag": "nope", "append": "x"}, vault.NotFound, "no note of notes"},
		{map[string]any{"path": "retry", "replace_section": "x", "heading": "Bakoff"}, vault.NotFound, "## Backoff|## Jitter"},
		{map[string]any{"path": "retry", "replace": "as lung as", "with": "x"}, vault.NotFound, "literally"},
		{map[string]any{"path": "retry", "replace": "e", "with": "x"}, vault.Usage, "in lines"},
		{map[string]any{"path": "retry", "append": "```\nopen"}, "", ""},
		{map[string]any{"path": "retry", "prepend": "```\nopen"}, vault.Usage, "fence"},
		{map[string]any{"path": "retry", "append": "a\x00"}, vault.Usage, "NUL"},
		{map[string]any{"path": "broken.md", "set": map[string]any{"a": 1}}, vault.Conflict, "frontmatter|line"},
		{map[string]any{"path": "broken.md", "confirm": true}, vault.Conflict, "frontmatter"},
		{map[string]any{"path": "retry", "set": map[string]any{"a\nb": 1}}, vault.Usage, "name of a property"},
		{map[string]any{"path": "journal/secret.md", "append": "x"}, vault.NotFound, "journal/secret.md"},
		{map[string]any{"path": "kb://notes/journal/secret.md", "append": "x"}, vault.Protected, "private"},
		{map[string]any{"path": "manual:intro.md", "append": "x"}, vault.ReadOnly, "manual"},
		{map[string]any{"path": "kb://manual/intro.md", "append": "x"}, vault.ReadOnly, "manual"},
		{map[string]any{"path": "kb://other/intro.md", "append": "x"}, vault.NotFound, "other"},
		{map[string]any{"path": "../kb.yaml", "append": "x"}, vault.NotFound, ""},
		{map[string]any{"path": "retry", "append": "x", "draft": "a b"}, vault.Usage, "draft name"},
	}
	for _, tt := range tests {
		if tt.code == "" {
			b.change("kb_edit", tt.args)
			continue
		}
		b.refused("kb_edit", tt.args, tt.code, strings.Split(tt.words, "|")...)
	}
	// Frontmatter that does not parse can be mended as text.
	b.change("kb_edit", map[string]any{"path": "broken.md", "replace": "tags: [a", "with": "tags: [a]"})
}

// A change of many notes is one commit.
func TestEditMany(t *testing.T) {
	b := newBot(t, desk+`
-- notes/a.md --
---
tags: [api/v1]
---
Call the old product.
-- notes/b.md --
---
tags: [api]
status: active
---
Nothing.
-- @commit 2024-01-02 more --
`)
	r := b.change("kb_edit", map[string]any{"tag": "api", "set": map[string]any{"status": "obsolete"}, "draft": "d"})
	if len(r.Changes) != 2 || b.git("rev-list", "--count", "main..drafts/d") != "1" || strings.Count(r.Diff, "+status: obsolete") != 2 {
		t.Errorf("%+v", r)
	}
	// The draft's own state is what is selected from.
	r = b.change("kb_edit", map[string]any{"where": []string{"status=obsolete"}, "replace": "old product", "with": "new product", "draft": "d"})
	if len(r.Changes) != 1 || !strings.Contains(r.Notice, "1 note left as they are") || !strings.Contains(b.git("show", "drafts/d:notes/a.md"), "new product") {
		t.Errorf("%+v", r)
	}
	b.refused("kb_edit", map[string]any{"where": []string{"status=obsolete"}, "replace": "nowhere", "with": "x", "draft": "d"}, vault.NotFound)
	b.refused("kb_edit", map[string]any{"where": []string{"status=obsolete"}, "append": "x"}, vault.NotFound, "no note of notes is selected")
}

// What is flagged is in the health of the notes until it is confirmed, and what
// was confirmed lately is not stale.
func TestEditFlagHealth(t *testing.T) {
	b := newBot(t, desk)
	b.change("kb_edit", map[string]any{"path": "retry", "flag": true, "reason": "the numbers\nare old", "draft": "d"})
	health := func() vault.CollectionHealth {
		r, err := b.try("kb_health", map[string]any{"at": "drafts/d", "collection": "notes", "stale_days": 365})
		if err != nil {
			t.Fatal(err)
		}
		return r.(*vault.HealthResult).Collections[0]
	}
	h := health()
	if len(h.Flagged) != 1 || h.Flagged[0].Path != "retry.md" || h.Flagged[0].Line != 5 || h.Flagged[0].Message != "flagged on 2026-01-31: the numbers are old" {
		t.Errorf("flagged: %+v", h.Flagged)
	}
	b.change("kb_edit", map[string]any{"path": "retry", "confirm": true, "draft": "d"})
	b.change("kb_edit", map[string]any{"path": "limits", "set": map[string]any{"updated": "2020-01-01"}, "draft": "d"})
	b.change("kb_edit", map[string]any{"path": "retry", "set": map[string]any{"updated": "2020-01-01"}, "draft": "d"})
	if text := b.git("show", "drafts/d:notes/retry.md"); strings.Contains(text, "flagged") || !strings.Contains(text, "confirmed: 2026-01-31") {
		t.Errorf("%s", text)
	}
	h = health()
	if len(h.Flagged) != 0 || len(h.Stale) == 0 {
		t.Errorf("flagged %+v, stale %+v", h.Flagged, h.Stale)
	}
	for _, x := range h.Stale {
		if x.Path == "retry.md" {
			t.Errorf("confirmed and stale: %+v", x)
		}
	}
}
