package vault_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kb/internal/vaulttest"
	"kb/vault"
)

// filedNotes are notes about two subjects, filed each in its own way, and some that
// are not filed.
func filedNotes() string {
	var b strings.Builder
	for i := range 4 {
		fmt.Fprintf(&b, "-- kitchen/loaf%d.md --\n---\ntags: [Baking, bread/rye]\ntype: recipe\n---\n# Loaf %d of rye bread with salt and sour dough\nBake the rye bread.\n", i, i)
		fmt.Fprintf(&b, "-- net/proxy%d.md --\n---\ntags: [network]\n---\n# Proxy %d resets handshake of the connection\nThe proxy resets it.\n", i, i)
		fmt.Fprintf(&b, "-- garden/tulip%d.md --\n---\ntags: [garden]\n---\n# Tulip %d in the bed behind a hedge\nWater the tulip.\n", i, i)
	}
	b.WriteString(`-- inbox/new loaf.md --
---
# kept as it is
title: A rye bread of sour dough
tags: # mine
  - "weekend"
---
# A rye bread of sour dough
Salt. See [[other]].
-- inbox/other.md --
# Handshake resets behind the proxy
See [the loaf](<new loaf.md>).
-- inbox/both.md --
# Loaf, tulip, proxy
-- inbox/alone.md --
# Quokkas
-- README.md --
The [loaf](<inbox/new loaf.md>).
-- @commit 2024-01-01 first --
`)
	return b.String()
}

// verdicts are the suggestions of an answer, a line a note.
func verdicts(r *vault.Classified) string {
	var b strings.Builder
	for _, c := range r.Notes {
		fmt.Fprintf(&b, "%s %s:", c.Path, c.Compared)
		for _, v := range c.Tags {
			fmt.Fprintf(&b, " #%s %.2f %d/%d", v.Value, v.Share, v.Count, v.Of)
		}
		if c.Type != nil {
			b.WriteString(" type " + c.Type.Value)
		}
		if c.Section != nil {
			b.WriteString(" in " + c.Section.Value)
		}
		b.WriteString("\n")
	}
	return b.String()
}

// A note is filed as its near notes are: with what it has not, where they agree,
// and with the notes that say so.
func TestClassify(t *testing.T) {
	s := vaulttest.Service(t, vaulttest.Repo(t, filedNotes()))
	r := do[vault.Classified](t, s, "kb_classify", map[string]any{"scope": []string{"inbox"}})
	want := `inbox/alone.md text:
inbox/both.md text:
inbox/new loaf.md text: #Baking 0.96 4/5 #bread/rye 0.96 4/5 type recipe in kitchen
inbox/other.md text: #network 0.63 4/10 in net
`
	if diff := cmp.Diff(want, verdicts(r)); diff != "" {
		t.Error(diff)
	}
	if notes := r.Notes[3].Tags[0].Notes; len(notes) != 4 || !strings.HasPrefix(notes[0], "net/proxy") {
		t.Errorf("evidence: %v", notes)
	}
	if !strings.Contains(r.Degraded, "compared by words") {
		t.Errorf("degraded: %q", r.Degraded)
	}
	own := do[vault.Classified](t, s, "kb_classify", map[string]any{"path": []string{"kitchen/loaf1.md"}})
	if diff := cmp.Diff("kitchen/loaf1.md text:\n", verdicts(own)); diff != "" {
		t.Errorf("a note that is filed: %s", diff)
	}
}

// What nearly all other notes of a directory have is suggested whatever a note
// says; half of them are not enough, and the root is no directory.
func TestClassifyDirectory(t *testing.T) {
	archive := filedNotes() + "-- kitchen/odd.md --\n# Quokkas\n-- odd.md --\n# Quokkas of the root\n"
	for i := range 3 {
		archive += fmt.Sprintf("-- root%d.md --\n---\ntags: [top]\n---\n# Top %d\n-- mixed/a%d.md --\n---\ntags: [half]\n---\n# A%d\n-- mixed/b%d.md --\n# B%d\n", i, i, i, i, i, i)
	}
	s := vaulttest.Service(t, vaulttest.Repo(t, archive+"-- @commit 2024-01-02 second --\n"))
	r := do[vault.Classified](t, s, "kb_classify", map[string]any{"path": []string{"kitchen/odd.md", "odd.md", "mixed/b1.md"}})
	want := "kitchen/odd.md text: #Baking 1.00 4/4 #bread/rye 1.00 4/4 type recipe\nodd.md text:\nmixed/b1.md text:\n"
	if diff := cmp.Diff(want, verdicts(r)); diff != "" {
		t.Error(diff)
	}
	if v := r.Notes[0].Tags[0]; v.From != "directory" || len(v.Notes) != 4 {
		t.Errorf("evidence: %+v", v)
	}
}

// What selects notes, and what does not go together.
func TestClassifySelects(t *testing.T) {
	s := vaulttest.Service(t, vaulttest.Repo(t, filedNotes()))
	r := do[vault.Classified](t, s, "kb_classify", map[string]any{"untagged": true, "most": 2})
	if r.Total != 4 || len(r.Notes) != 2 || !r.Truncated {
		t.Errorf("untagged: %+v", r)
	}
	one := []string{"README.md"}
	for _, args := range []map[string]any{{}, {"path": one, "untagged": true}, {"untagged": true, "move": true},
		{"untagged": true, "apply": true, "at": "HEAD"}, {"measure": true, "apply": true}, {"path": one, "measure": true}} {
		if _, err := try[vault.Classified](s, "kb_classify", args); vault.AsError(err).Code != vault.Usage {
			t.Errorf("%v: %v", args, err)
		}
	}
}

// Applied, tags and type are added, links follow what moves, and all else stays.
func TestClassifyApply(t *testing.T) {
	dir := vaulttest.Repo(t, filedNotes())
	s := vaulttest.Service(t, dir)
	r := do[vault.Classified](t, s, "kb_classify", map[string]any{"scope": []string{"inbox"}, "apply": true, "move": true, "draft": "filing"}).Applied
	if r.Branch != "drafts/filing" || len(r.Left) != 0 {
		t.Errorf("%+v", r)
	}
	for path, want := range map[string]string{
		"kitchen/new loaf.md": "---\n# kept as it is\ntitle: A rye bread of sour dough\ntags: # mine\n  - \"weekend\"\n  - Baking\n  - bread/rye\ntype: recipe\n---\n# A rye bread of sour dough\nSalt. See [[other]].",
		"net/other.md":        "---\ntags:\n  - network\n---\n# Handshake resets behind the proxy\nSee [the loaf](<new loaf.md>).",
		"inbox/both.md":       "# Loaf, tulip, proxy",
		"README.md":           "The [loaf](<kitchen/new loaf.md>).",
	} {
		if diff := cmp.Diff(want, vaulttest.Git(t, dir, "show", "drafts/filing:"+path)); diff != "" {
			t.Errorf("%s:\n%s", path, diff)
		}
	}
	if paths := vaulttest.Git(t, dir, "diff", "--name-only", "--no-renames", "main", "drafts/filing"); len(strings.Split(paths, "\n")) != 5 {
		t.Errorf("changed:\n%s", paths)
	}
	again := do[vault.Classified](t, s, "kb_classify", map[string]any{"scope": []string{"inbox"}, "apply": true, "draft": "filing"}).Applied
	if again.Draft != "" || len(again.Left) != 2 {
		t.Errorf("again: %+v", again)
	}
}

// Without move, or where a file is in the way, a note stays where it is.
func TestClassifyStays(t *testing.T) {
	dir := vaulttest.Repo(t, filedNotes()+"-- net/Other.md --\nin the way\n-- @commit 2024-01-02 second --\n")
	s := vaulttest.Service(t, dir)
	r := do[vault.Classified](t, s, "kb_classify", map[string]any{"path": []string{"inbox/other.md"}, "apply": true, "move": true, "draft": "a"}).Applied
	if len(r.Left) != 1 || !strings.Contains(r.Left[0], "exists") {
		t.Errorf("left: %q", r.Left)
	}
	do[vault.Classified](t, s, "kb_classify", map[string]any{"path": []string{"inbox/new loaf.md"}, "apply": true, "draft": "b"})
	for name, want := range map[string]string{"a": "inbox/other.md", "b": "inbox/new loaf.md"} {
		if got := vaulttest.Git(t, dir, "diff", "--name-only", "--no-renames", "main", "drafts/"+name); got != want {
			t.Errorf("%s changes %s", name, got)
		}
	}
}

// Measured, each note is taken as if it were not filed. KB_LONG=1 prints what
// docs/guides/tending.md says.
func TestClassifyMeasured(t *testing.T) {
	s := vaulttest.Service(t, vaulttest.Repo(t, filedNotes()))
	m := do[vault.Classified](t, s, "kb_classify", map[string]any{"measure": true, "most": 100}).Measured
	if m.Tags.Notes != 13 || m.Tags.PrecisionAt1 < 0.8 || m.Section.PrecisionAt1 >= 1 || m.Type.Suggested != 4 {
		t.Errorf("%+v", m)
	}
	if os.Getenv("KB_LONG") == "" {
		return
	}
	for _, archive := range []string{"kepano-obsidian.bundle", "tldr.git.tar.gz"} {
		s := vaulttest.Service(t, clone(t, vaulttest.Shared(t, filepath.Join("data/vaults", archive))))
		m := do[vault.Classified](t, s, "kb_classify", map[string]any{"measure": true, "most": 1000, "at": "HEAD"}).Measured
		t.Logf("%s: %+v", archive, m)
	}
}
