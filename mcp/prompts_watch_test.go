package mcp

import (
	"context"
	"fmt"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"kb/internal/vaulttest"
	"kb/vault"
)

// Who listed the prompts is told when the vault's own ones are others.
func TestPromptsChanged(t *testing.T) {
	dir := vaulttest.Repo(t, promptVault)
	told := make(chan bool, 1000)
	session := connect(t, agent(t, dir), Options{}, &sdk.ClientOptions{
		PromptListChangedHandler: func(context.Context, *sdk.PromptListChangedRequest) { told <- true },
	})
	ctx := context.Background()
	has := func(title string) bool {
		t.Helper()
		list, err := session.ListPrompts(ctx, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range list.Prompts {
			if p.Title == title {
				return true
			}
		}
		return false
	}
	if has("Daily") {
		t.Fatal("it is there before")
	}
	// A watch begins when it can: a change is repeated until it is told.
	commit := func(name, text string) {
		t.Helper()
		vaulttest.Write(t, dir, name, text)
		vaulttest.Commit(t, dir, "2024-05-01", "change "+name)
	}
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	last := ""
	for n, done := 0, false; !done; n++ {
		select {
		case done = <-told:
		case <-tick.C:
			last = fmt.Sprintf("Daily %d", n)
			commit(".kb/prompts/daily.md", "---\ntitle: "+last+"\n---\nLook back.\n")
		}
	}
	if !has(last) {
		t.Errorf("no prompt %q", last)
	}
}

// Nobody is told of what it does not see: a change of a note, or of a prompt that
// is hidden from some who listen.
func TestPromptsChangedFor(t *testing.T) {
	dir := vaulttest.Repo(t, promptVault)
	vaulttest.Commit(t, dir, "2024-05-01", "what was not committed")
	s, err := New(agent(t, dir), Options{})
	if err != nil {
		t.Fatal(err)
	}
	x, ctx := s.promptsWatched, t.Context()
	everybody := []vault.Caller{{Sees: vault.Team}, {Sees: vault.Team}, {Sees: vault.Private}}
	for _, who := range everybody {
		sum, ok := x.read(ctx, who)
		if !ok {
			t.Fatal("prompts cannot be read")
		}
		x.knows[&sdk.ServerSession{}] = known{who, sum}
	}
	for _, step := range []struct {
		name, text string
		want       bool
	}{
		{"guides/limits.md", "# Limits\nOther.\n", false},
		{".kb/prompts/secret.md", "---\nvisibility: private\n---\nOther.\n", false},
		{".kb/prompts/daily.md", "Look back.\n", true},
		{".kb/prompts/bad-yaml.md", "---\ndescription: [[\n---\nx\n", false},
		{".kb/prompts/daily.md", "---\nvisibility: private\n---\nLook ahead.\n", true},
	} {
		vaulttest.Write(t, dir, step.name, step.text)
		vaulttest.Commit(t, dir, "2024-05-01", "change")
		if got := x.changed(ctx); got != step.want {
			t.Errorf("%s: told %v, want %v", step.name, got, step.want)
		}
		if x.changed(ctx) {
			t.Errorf("%s: told twice", step.name)
		}
	}
}
