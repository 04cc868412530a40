package vault

import (
	"strings"
	"testing"

	"kb/gitstore"
)

func testCollection(dir string) (*Vault, *collection) {
	cfg := &Config{File: "/v/kb.yaml", Protected: []string{"legal/**", "docs/FINAL.md", "contracts"}}
	c := &collection{CollectionConfig: CollectionConfig{Name: "docs", Path: "/v/" + dir, Writable: true}, dir: dir, all: true}
	return &Vault{shared: &shared{cfg: cfg, cols: []*collection{c}, rules: VisibilityConfig{Private: []string{"journal/**"}}.pathRules()}, audience: Agent}, c
}

func TestCheckTarget(t *testing.T) {
	v, c := testCollection("docs")
	tests := []struct {
		path string
		want Code // "" is allowed
	}{
		{"guides/retry.md", ""},
		{"größe/日本.md", ""},
		{"github/x.md", ""},
		{"my-agents.md", ""},
		{"", Usage},
		{"../x.md", Usage},
		{"a/../../x.md", Usage},
		{"/etc/x.md", Usage},
		{`a\..\..\x.md`, Usage},
		{"a\x00.md", Usage},
		{"a\n.md", Usage},
		{"a/\u202eb.md", Usage},
		{"con.md", Usage},
		{"a:b.md", Usage},
		{"a./x.md", Usage},
		{".git/x.md", Protected},
		{".Git/hooks/x.md", Protected},
		{".g\u200cit/x.md", Protected},
		{"git~1/x.md", Protected},
		{"x.txt", Usage},
		{"x", Usage},
		{".github/x.md", Protected},
		{"a/.GitHub/x.md", Protected},
		{".gitx/x.md", Protected},
		{"AGENTS.md", Protected},
		{"a/b/claude.MD", Protected},
		{"CLAUDE\u2060.md", Protected},
		{"ＣＬＡＵＤＥ.md", ""}, // no file system takes full width letters for others
		{".obsidian/x.md", Protected},
		{".KB/templates/x.md", Protected},
		{".cursor/x.md", Protected},
		{".claude/x.md", Protected},
		{"GITHUB~1/x.md", Protected},
		{"kb.yaml/x.md", Protected},
		{"legal/x.md", Protected},
		{"Legal/a/x.md", Protected},
		{"final.md", Protected},
		{"contracts/x.md", Protected},
		{"journal/x.md", Protected},
		{"Journal/x.md", Protected},
	}
	for _, tt := range tests {
		err := v.checkTarget(c, tt.path, true)
		got := Code("")
		if err != nil {
			got = AsError(err).Code
		}
		if got != tt.want {
			t.Errorf("%q: %q (%v), want %q", tt.path, got, err, tt.want)
		}
	}
	if err := v.checkTarget(c, "What: is.md", false); err != nil {
		t.Errorf("a note that is there already: %v", err)
	}
}

func TestWritable(t *testing.T) {
	v, _ := testCollection("docs")
	if c, err := v.writable(""); err != nil || c.Name != "docs" {
		t.Errorf("the only one: %v, %v", c, err)
	}
	v.cols = append(v.cols, &collection{CollectionConfig: CollectionConfig{Name: "manual"}})
	if _, err := v.writable("manual"); AsError(err).Code != ReadOnly || !strings.Contains(AsError(err).Hint, "docs") {
		t.Errorf("read-only: %+v", err)
	}
	if _, err := v.writable("manul"); AsError(err).Code != NotFound || !strings.Contains(AsError(err).Hint, "docs, manual") {
		t.Errorf("unknown: %+v", err)
	}
	v.cols[1].Writable = true
	if _, err := v.writable(""); AsError(err).Code != Usage || !strings.Contains(AsError(err).Hint, "docs, manual") {
		t.Errorf("two: %+v", err)
	}
}

func TestCallerIdentity(t *testing.T) {
	tests := []struct {
		caller     Caller
		name, mail string
	}{
		{Caller{}, "", ""},
		{Caller{Client: "claude-code 2.1.0"}, "claude-code", "claude-code@agents.invalid"},
		{Caller{Agent: "Research bot", Client: "claude-code 2.1.0"}, "Research bot", "research-bot@agents.invalid"},
		{Caller{Agent: "Ada's bot <bot@example.org>"}, "Ada's bot", "bot@example.org"},
		{Caller{Agent: "x\nKb-Draft: y\n<z>"}, "x Kb-Draft: y z", "x-kb-draft-y-z@agents.invalid"},
		{Caller{Agent: "<>\x00"}, "agent", "agent@agents.invalid"},
		{Caller{Agent: strings.Repeat("x", 1<<20)}, strings.Repeat("x", 200), strings.Repeat("x", 200) + "@agents.invalid"},
	}
	for _, tt := range tests {
		name, mail := tt.caller.identity()
		if name != tt.name || mail != tt.mail {
			t.Errorf("%.100v: %q <%q>", tt.caller, name, mail)
		}
		if s := (gitstore.Signature{Name: name, Email: mail}); s != gitstore.CleanSignature(s) {
			t.Errorf("%.100v: git would write %v", tt.caller, gitstore.CleanSignature(s))
		}
	}
}
