package vault_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kb/internal/vaulttest"
	"kb/vault"
)

const desk = `
-- kb.yaml --
collections:
  - {name: notes, path: notes, writable: true}
  - {name: manual, path: manual}
protected: ["notes/legal/**"]
visibility: {private: ["journal/**"]}
-- notes/retry.md --
---
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
-- notes/limits.md --
# Limits
A client waits ten seconds before it asks again, and never more than a minute in all.
-- notes/broken.md --
---
tags: [a
---
# Broken
Text.
-- notes/journal/secret.md --
# Secret plan
-- manual/intro.md --
# Intro
-- .kb/templates/runbook.md --
---
tags: [ops]
owner: "{{owner}}"
severity: 2
---
# {{title}}

For {{owner}}.

{{body}}
-- @commit 2024-01-01 first --
`

// bot is an agent on the vault in dir.
type bot struct {
	t *testing.T
	*vault.Service
	dir string
	who vault.Caller
}

var testTime = time.Date(2026, 1, 31, 23, 30, 0, 0, time.FixedZone("", 3600))

func newBot(t *testing.T, archive string) *bot {
	t.Helper()
	dir := vaulttest.Repo(t, archive)
	vaulttest.Git(t, dir, "config", "user.name", "Ada")
	vaulttest.Git(t, dir, "config", "user.email", "ada@example.org")
	s := vaulttest.ServiceIn(t, dir, t.TempDir(), vault.Agent)
	s.Clock = func() time.Time { return testTime }
	return &bot{t, s, dir, vault.Caller{Agent: "Robot", Client: "test-client 1.2"}}
}

func (b *bot) try(op string, args map[string]any) (any, *vault.Error) {
	b.t.Helper()
	o, ok := vault.FindOp(op)
	if !ok {
		b.t.Fatal("no operation ", op)
	}
	raw, err := json.Marshal(args)
	if err != nil {
		b.t.Fatal(err)
	}
	r, err := b.DoAs(context.Background(), b.who, o, raw, nil)
	return r, vault.AsError(err)
}

func (b *bot) change(op string, args map[string]any) *vault.WriteResult {
	b.t.Helper()
	r, err := b.try(op, args)
	if err != nil {
		b.t.Fatalf("%s %v: %v (%s)", op, args, err, err.Hint)
	}
	return r.(*vault.WriteResult)
}

// refused expects an error of a code that holds every one of words.
func (b *bot) refused(op string, args map[string]any, code vault.Code, words ...string) {
	b.t.Helper()
	before := b.refs()
	r, err := b.try(op, args)
	if err == nil {
		b.t.Errorf("%s %v: done: %+v", op, args, r)
		return
	}
	said := err.Message + " | " + err.Hint
	for _, w := range words {
		if !strings.Contains(said, w) {
			b.t.Errorf("%s %.200v: %q lacks %q", op, args, said, w)
		}
	}
	if err.Code != code || len(said) > 4000 {
		b.t.Errorf("%s %.200v: %s %.500s, want %s", op, args, err.Code, said, code)
	}
	if b.refs() != before {
		b.t.Errorf("%s %.200v: refused, and refs moved", op, args)
	}
}

func (b *bot) git(args ...string) string {
	b.t.Helper()
	return vaulttest.Git(b.t, b.dir, args...)
}

func (b *bot) refs() string { return b.git("for-each-ref") }

func TestWrite(t *testing.T) {
	b := newBot(t, desk)
	r := b.change("kb_write", map[string]any{
		"title": "  Größe:  \"yes\" # no ", "body": "\r\nText\r\nof it.\r\n\r\n", "tags": []string{"#net", "howto", "Net", "two words"},
		"status": "draft", "source": "https://example.org/#x", "directory": "guides/new/", "message": "Seen it\n\nTwice.\nKb-Draft: other\nSigned-off-by: me", "draft": "d",
	})
	path := "guides/new/2026-01-31-grosse-yes-no.md"
	want := `---
title: 'Größe: "yes" # no'
tags:
  - net
  - howto
  - two-words
created: 2026-01-31
updated: 2026-01-31
status: draft
source: "https://example.org/#x"
---

Text
of it.
`
	if r.Path != path || r.Collection != "notes" || r.Title != `Größe: "yes" # no` || r.Draft != "d" || r.Branch != "drafts/d" || r.Review != "kb review diff d" {
		t.Errorf("%+v", r)
	}
	got := b.git("show", "drafts/d:notes/"+path) + "\n"
	if diff := cmp.Diff(want, strings.Replace(got, `title: "Größe: \"yes\" # no"`, `title: 'Größe: "yes" # no'`, 1)); diff != "" {
		t.Error(diff)
	}
	if head := b.git("rev-parse", "main"); r.Base != head || b.git("rev-parse", "drafts/d~1") != head || b.git("rev-parse", "drafts/d") != r.Commit {
		t.Errorf("commit %s on %s", r.Commit, r.Base)
	}
	who := b.git("log", "-1", "--format=%an|%ae|%aI|%cn|%s|%(trailers:key=Kb-Draft,valueonly,separator=+)|%(trailers:key=Kb-Agent,valueonly,separator=+)|%(trailers:key=Kb-Client,valueonly,separator=+)|%(trailers:key=Kb-Source,valueonly,separator=+)", "drafts/d")
	if who != "Robot|robot@agents.invalid|2026-01-31T23:30:00+01:00|Ada|Seen it|d|Robot|test-client 1.2|https://example.org/#x" {
		t.Errorf("commit: %s", who)
	}
	if status := b.git("status", "--porcelain"); status != "" {
		t.Errorf("work tree: %s", status)
	}
	b.git("fsck", "--strict")

	// Names that are taken are numbered; the draft is added to.
	for i, title := range []string{"A b", "A b!", "A b!!"} {
		want := "2026-01-31-a-b" + []string{"", "-2", "-3"}[i] + ".md"
		if r := b.change("kb_write", map[string]any{"title": title, "body": "x", "draft": "drafts/d"}); r.Path != want {
			t.Errorf("%s: %s, want %s", title, r.Path, want)
		}
	}
	// A file that the user has not committed would be in the way of the merge.
	vaulttest.Write(t, b.dir, "notes/2026-01-31-mine.md", "mine")
	if r := b.change("kb_write", map[string]any{"title": "Mine", "body": "x", "draft": "mine"}); r.Path != "2026-01-31-mine-2.md" {
		t.Errorf("in the way of an untracked file: %s", r.Path)
	}
	b.refused("kb_write", map[string]any{"title": "Yours", "body": "x", "filename": "2026-01-31-mine"}, vault.Conflict, "exists")
	if n := b.git("rev-list", "--count", "main..drafts/d"); n != "4" {
		t.Errorf("%s commits", n)
	}
	// Without a name each is a draft of its own.
	for _, want := range []string{"other", "other-2"} {
		if r := b.change("kb_write", map[string]any{"title": "Other", "body": "x"}); r.Draft != want {
			t.Errorf("draft %s, want %s", r.Draft, want)
		}
	}
}

func TestWriteRefused(t *testing.T) {
	b := newBot(t, desk)
	b.change("kb_write", map[string]any{"title": "In the draft", "body": "x", "draft": "d", "filename": "here"})
	b.change("kb_write", map[string]any{"title": "Caf\u00e9", "body": "x", "draft": "d", "filename": "coffee"})
	note := func(more map[string]any) map[string]any {
		args := map[string]any{"title": "T", "body": "x", "draft": "d"}
		for k, v := range more {
			args[k] = v
		}
		return args
	}
	tests := []struct {
		args  map[string]any
		code  vault.Code
		words string
	}{
		{note(map[string]any{"collection": "manual"}), vault.ReadOnly, "manual|notes"},
		{note(map[string]any{"collection": "note"}), vault.NotFound, "notes, manual"},
		{note(map[string]any{"title": "retry  POLICY"}), vault.Conflict, "retry.md"},
		{note(map[string]any{"title": "limits"}), vault.Conflict, "limits.md"},
		{note(map[string]any{"title": "In the draft"}), vault.Conflict, "here.md"},
		{note(map[string]any{"title": "Cafe\u0301"}), vault.Conflict, "coffee.md"}, // as macOS spells it
		{note(map[string]any{"filename": "here.md"}), vault.Conflict, "here.md exists"},
		{note(map[string]any{"filename": "HERE.md"}), vault.Conflict, "exists"},
		{note(map[string]any{"filename": "limits"}), vault.Conflict, "limits.md exists"},
		{note(map[string]any{"directory": "limits.md"}), vault.Conflict, ""},
		{note(map[string]any{"directory": "../manual"}), vault.Usage, "leads out"},
		{note(map[string]any{"directory": "a/../../x"}), vault.Usage, ""},
		{note(map[string]any{"directory": ".git/hooks"}), vault.Protected, ".git"},
		{note(map[string]any{"directory": "Legal"}), vault.Protected, "legal/**"},
		{note(map[string]any{"directory": "journal"}), vault.Protected, "private"},
		{note(map[string]any{"filename": "AGENTS.md"}), vault.Protected, "agents.md"},
		{note(map[string]any{"filename": "../x.md"}), vault.Usage, "is a path"},
		{note(map[string]any{"filename": "x.txt\x00"}), vault.Usage, "filename"},
		{note(map[string]any{"draft": "Main"}), vault.Usage, "draft name"},
		{note(map[string]any{"draft": "../main"}), vault.Usage, "draft name"},
		{note(map[string]any{"draft": "refs/heads/main"}), vault.Usage, "draft name"},
		{note(map[string]any{"draft": "HEAD"}), vault.Usage, "draft name"},
		{note(map[string]any{"title": strings.Repeat("x", 10<<20)}), vault.Usage, "title"},
		{note(map[string]any{"title": "a\x00b"}), vault.Usage, "title"},
		{note(map[string]any{"title": "\u200b"}), vault.Usage, ""},
		{note(map[string]any{"body": "a\x00b"}), vault.Usage, "NUL"},
		{note(map[string]any{"body": " \n"}), vault.Usage, "no text"},
		{note(map[string]any{"body": "---\ntitle: Mine\n---\nx"}), vault.Usage, "frontmatter"},
		{note(map[string]any{"body": strings.Repeat("x ", 4<<20+1)}), vault.Usage, "at most"},
		{note(map[string]any{"tags": []string{strings.Repeat("x", 101)}}), vault.Usage, "tag"},
		{note(map[string]any{"key": "a\nb"}), vault.Usage, "key"},
		{note(map[string]any{"template": "../retry"}), vault.NotFound, "decision, fix, note, research, runbook, session"},
		{note(map[string]any{"template": "fix"}), vault.Usage, "cause, resolution, symptom"},
		{note(map[string]any{"fields": map[string]string{"a": "b"}}), vault.Usage, "template"},
		{note(map[string]any{"template": "runbook", "fields": map[string]string{"owner": "me", "own": "b"}}), vault.Usage, "own|owner"},
	}
	for _, tt := range tests {
		b.refused("kb_write", tt.args, tt.code, strings.Split(tt.words, "|")...)
	}
}

// A template's own properties stay; what is filled in breaks out of nothing.
func TestWriteTemplate(t *testing.T) {
	b := newBot(t, desk)
	evil := "me\"\n---\npublish: true\n{{title}}"
	r := b.change("kb_write", map[string]any{"title": "Disk full", "body": "Do\n\n\n\nthis.", "template": "runbook", "tags": []string{"disk"}, "fields": map[string]string{"owner": evil}})
	text := b.git("show", "drafts/disk-full:notes/"+r.Path)
	if diff := cmp.Diff([]string{"ops", "disk"}, r.Tags); diff != "" {
		t.Error(diff)
	}
	if !strings.HasSuffix(text, "# Disk full\n\nFor "+evil+".\n\nDo\n\n\n\nthis.") {
		t.Errorf("%s", text)
	}
	q, err := b.try("kb_query", map[string]any{"at": "drafts/disk-full", "where": []string{"severity=2"}})
	if err != nil || q.(*vault.QueryResult).Total != 1 {
		t.Errorf("severity: %+v, %v", q, err)
	}
	if q, err := b.try("kb_query", map[string]any{"at": "drafts/disk-full", "where": []string{"publish=true"}}); err != nil || q.(*vault.QueryResult).Total != 0 {
		t.Errorf("injected: %+v, %v", q, err)
	}
	r = b.change("kb_write", map[string]any{"title": "It burns", "template": "fix", "fields": map[string]any{"symptom": "Smoke.", "cause": []string{"fire", "wind"}, "resolution": 5}})
	if text := b.git("show", r.Branch+":notes/"+r.Path); !strings.HasSuffix(text, "# It burns\n\n## Symptom\n\nSmoke.\n\n## Cause\n\n- fire\n- wind\n\n## Resolution\n\n5") {
		t.Errorf("%s", text)
	}
}

// The same call with the same key is done once.
func TestWriteKey(t *testing.T) {
	b := newBot(t, desk)
	args := map[string]any{"title": "Once", "body": "x", "key": "k1", "draft": "d"}
	first := b.change("kb_write", args)
	again := b.change("kb_write", args)
	if !again.Repeated || again.Commit != first.Commit || again.Path != first.Path || again.Diff != first.Diff || again.Title != "Once" {
		t.Errorf("first %+v\nagain %+v", first, again)
	}
	if again.State != "open" || first.State != "" {
		t.Errorf("states %q, %q", first.State, again.State)
	}
	for _, other := range []map[string]any{
		{"title": "Another", "body": "x", "key": "k1", "draft": "d"}, {"title": "Once", "body": "SECOND", "key": "k1", "draft": "d"},
		{"title": "Once", "body": "x", "tags": []string{"t"}, "key": "k1", "draft": "d"},
	} {
		b.refused("kb_write", other, vault.Conflict, "draft d has it, for "+first.Path)
	}
	if n := b.git("rev-list", "--count", "--all"); n != "2" {
		t.Errorf("%s commits", n)
	}
}

// A repeated call says what became of its draft; the key of one that has ended is
// not free for another call.
func TestKeyOfEndedDraft(t *testing.T) {
	b := newBot(t, desk)
	person := vaulttest.Service(t, b.dir)
	args := map[string]any{"title": "Idem", "body": "first", "key": "z1"}
	first := b.change("kb_write", args)
	do[vault.ReviewEnded](t, person, "review_reject", map[string]any{"name": first.Draft, "reason": "said elsewhere"})
	again := b.change("kb_write", args)
	if !again.Repeated || again.Commit != first.Commit || again.State != "rejected" || again.Reason != "said elsewhere" {
		t.Errorf("%+v", again)
	}
	var text strings.Builder
	if again.Text(vault.NewText(&text)); !strings.Contains(text.String(), "the draft was rejected: said elsewhere") {
		t.Errorf("%s", text.String())
	}
	b.refused("kb_write", map[string]any{"title": "Idem", "body": "SECOND", "key": "z1"}, vault.Conflict, "draft idem has it, which was rejected, for "+first.Path)

	edit := map[string]any{"path": "limits", "append": "More.", "key": "z2", "draft": "e"}
	changed := b.change("kb_edit", edit)
	do[vault.ReviewMerged](t, person, "review_merge", map[string]any{"name": "e", "no_check": true})
	if again := b.change("kb_edit", edit); !again.Repeated || again.Commit != changed.Commit || again.State != "merged" {
		t.Errorf("%+v", again)
	}
	edit["append"] = "Even more."
	b.refused("kb_edit", edit, vault.Conflict, "draft e has it, which was merged, for limits.md")
}

// A call that another process executes is made by who called, at the caller's
// time.
func TestWriteThroughOwner(t *testing.T) {
	b := newBot(t, desk)
	cache := t.TempDir()
	owner := vaulttest.ServiceIn(t, b.dir, cache, vault.Person)
	owner.Clock = func() time.Time { return testTime.AddDate(1, 0, 0) }
	do[vault.Stats](t, owner, "kb_stats", nil)
	b.Service = vaulttest.ServiceIn(t, b.dir, cache, vault.Agent)
	b.Clock = func() time.Time { return testTime }
	r := b.change("kb_write", map[string]any{"title": "Far", "body": "x"})
	if who := b.git("log", "-1", "--format=%an %aI", r.Branch); r.Path != "2026-01-31-far.md" || who != "Robot 2026-01-31T23:30:00+01:00" {
		t.Errorf("%s: %s", r.Path, who)
	}
}

// Near duplicates and notes with the title's words are named.
func TestWriteSimilar(t *testing.T) {
	b := newBot(t, desk)
	text := "A client waits ten seconds before it asks again, and never more than a minute in all, they say."
	paths := func(r *vault.WriteResult) (out []string) {
		for _, h := range r.Similar {
			out = append(out, h.Path+" "+h.Trust)
		}
		return out
	}
	r := b.change("kb_write", map[string]any{"title": "Waiting", "body": text, "draft": "d"})
	if diff := cmp.Diff([]string{"limits.md reviewed"}, paths(r)); diff != "" {
		t.Error(diff)
	}
	r = b.change("kb_write", map[string]any{"title": "Retry policy of clients", "body": text, "draft": "d"})
	if diff := cmp.Diff([]string{"2026-01-31-waiting.md draft", "limits.md reviewed", "retry.md reviewed"}, paths(r)); diff != "" {
		t.Error(diff)
	}
	r = b.change("kb_write", map[string]any{"title": "Secret plan", "body": "nothing like it"})
	if diff := cmp.Diff([]string(nil), paths(r)); diff != "" {
		t.Errorf("an agent hears of a private note: %s", diff)
	}
}

// Where drafts cannot start, writing says what to do.
func TestWriteNowhere(t *testing.T) {
	empty := newBot(t, "-- a.md --\nA\n")
	empty.refused("kb_write", map[string]any{"title": "T", "body": "x"}, vault.Conflict, "make a first commit")
	b := newBot(t, desk)
	b.git("checkout", "-q", "--detach")
	b.refused("kb_write", map[string]any{"title": "T", "body": "x"}, vault.Conflict, "draft_base")
	b.git("checkout", "-q", "-b", "drafts/x")
	b.refused("kb_write", map[string]any{"title": "T", "body": "x"}, vault.Conflict, "itself a draft")
}
