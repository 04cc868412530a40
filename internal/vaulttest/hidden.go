package vaulttest

import (
	"cmp"
	"fmt"
	"strings"
	"testing"
)

// Canary begins every word that stands in a note which somebody does not see, and
// nowhere else.
const Canary = "qwfp"

// hiddenNote is a note that not everybody sees.
type hiddenNote struct {
	path string
	name string // its canary is Canary + name
	from []string
	head string // properties beside the usual
	was  string // those that it had in the first commit, where they were others
	old  string // its path there, where that was another
}

// Those from whom a note may be hidden: callers that see what is public, the
// team's, or private as bob or as ada.
var (
	fromPublic = []string{"public"}
	fromTeam   = []string{"public", "team"}
	fromBob    = []string{"public", "team", "bob"}
)

var hiddenNotes = []hiddenNote{
	{path: "notes/guides/qwfpteam.md", name: "team", from: fromPublic, head: "visibility: team"},
	{path: "notes/guides/qwfpkey.md", name: "key", from: fromTeam, head: "Visibility: [PRIVATE]"},
	{path: "notes/guides/qwfpodd.md", name: "odd", from: fromTeam, head: "visibility: secret"},
	{path: "notes/guides/qwfpbroken.md", name: "broken", from: fromTeam, head: "visibility: private\n: [x"},
	{path: "notes/plan.md", name: "plan", from: fromTeam, head: "visibility: private"},
	{path: "notes/qwfpada/deep/qwfpada.md", name: "ada", from: fromBob, head: "visibility: private\nowner: Ada"},
	{path: "notes/journal/qwfppath.md", name: "path", from: fromTeam, head: "visibility: public"},
	{path: "notes/Journal/qwfpmine.md", name: "mine", from: fromBob, head: "owner: [ada@example.org]"},
	{path: "notes/crew/qwfpcrew.md", name: "crew", from: fromPublic},
	{path: "inner/qwfpinner.md", name: "inner", from: fromTeam},
	{path: "notes/guides/qwfpwas.md", name: "was", from: fromTeam, head: "visibility: private", was: "visibility: public"},
	{path: "notes/guides/qwfpmoved.md", name: "moved", from: fromTeam, head: "visibility: private", was: "visibility: public", old: "notes/howto/qwfpmoved.md"},
	{path: "notes/guides/opened.md", name: "opened", from: nil, head: "visibility: public", was: "visibility: private"},
}

// Hidden makes a vault of notes that everybody sees, and of others that are hidden
// from some: all of them, or, where without names who does not see them, those
// that they see. The two are alike but for the hidden notes.
func Hidden(t testing.TB, without string) string {
	t.Helper()
	var b strings.Builder
	b.WriteString(openNotes)
	add := func(first bool) {
		for _, n := range hiddenNotes {
			if !strings.Contains(strings.Join(n.from, " "), without) || without == "" {
				if n.old != "" && !first {
					fmt.Fprintf(&b, "-- @delete %s --\n", n.old)
				}
				b.WriteString(n.text(first))
			}
		}
	}
	add(true)
	b.WriteString("-- @commit 2024-01-01 first --\n")
	add(false)
	b.WriteString("-- notes/guides/limits.md --\n# Limits\nA client waits ten seconds before a call is repeated.\n-- @commit 2024-02-01 second --\n")
	if without == "" || without == "bob" {
		b.WriteString("-- notes/journal/qwfppath.png --\npicture\n-- @commit 2024-02-01 third --\n")
	} else {
		b.WriteString("-- @commit 2024-02-01 third --\n")
	}
	dir := Repo(t, b.String())
	if without == "" {
		Git(t, dir, "switch", "--quiet", "--create", "drafts/qwfpdraft")
		Write(t, dir, "notes/qwfpada/deep/qwfpada.md", "---\nvisibility: public\n---\n# qwfpada opened by a draft\n")
		Commit(t, dir, "2024-02-02", "qwfp a draft of hidden notes alone")
		Git(t, dir, "switch", "--quiet", "main")
	}
	Write(t, dir, "notes/guides/fresh.md", "# Fresh\nCalls, not committed.\n")
	if without == "" {
		Write(t, dir, "notes/guides/qwfpfresh.md", "---\nvisibility: private\nowner: ada\n---\n# qwfpfresh\nCalls that fail.\n")
	}
	return dir
}

func (n hiddenNote) text(first bool) string {
	head, at := n.head, n.path
	if first {
		head, at = cmp.Or(n.was, head), cmp.Or(n.old, at)
	}
	w := Canary + n.name
	if first && len(n.from) == 0 {
		w = Canary + "before" + n.name
	} else if len(n.from) == 0 {
		w = "visible" + n.name
	}
	return fmt.Sprintf("-- %s --\n---\ntitle: Title %[2]s of calls\naliases: [%[2]salias, %[2]s]\ntags: [%[2]stag, howto]\nstatus: %[2]sstatus\n%[3]s\n%[2]sfield: x\n---\n"+
		"# Title %[2]s of calls\n\nCalls that fail are repeated after a while, see [[retry]], [[limits]] and [[%[2]smissing]].\n"+
		"%[2]s@example.org https://%[2]s.example.org/x #%[2]shash @%[2]smention\n\n## Heading %[2]s\n\nBackoff with jitter.\n", at, w, head)
}

const openNotes = `
-- kb.yaml --
collections:
  - {name: notes, path: notes, writable: true}
  - {name: inner, path: inner, visibility: private}
visibility: {team: ["crew/"], private: ["journal/**"]}
-- notes/guides/retry.md --
---
title: Retry policy
tags: [howto]
status: active
created: 2024-01-01
---
# Retry policy
Calls that fail are repeated, see [[limits]] and [[plan]].

## Backoff
We back off with jitter.
-- notes/guides/limits.md --
# Limits
A client waits.
-- notes/README.md --
# Read me
Nothing of note.
-- inner/open.md --
---
visibility: public
---
# Open
Calls of the inner collection.
`
