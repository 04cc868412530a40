package mcp

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"kb/internal/vaulttest"
)

// Each prompt becomes one message of the user that holds what was given.
func TestPrompts(t *testing.T) {
	s := connect(t, agent(t, vaulttest.Repo(t, notes)), Options{}, nil)
	for name, args := range map[string]map[string]string{
		"research":        {"question": "what is jitter for?"},
		"review_draft":    {"name": "fix-retry"},
		"capture_fix":     {"problem": "a retry storm"},
		"capture_session": {"topic": "the limits"},
		"reconcile":       {"topic": "how often a call is repeated"},
		"prune":           {"scope": "guides/"},
		"challenge":       {"claim": "jitter is not needed"},
		"emerge":          {"topic": "waiting"},
	} {
		r, err := s.GetPrompt(context.Background(), &sdk.GetPromptParams{Name: name, Arguments: args})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		text := r.Messages[0].Content.(*sdk.TextContent).Text
		for _, given := range args {
			if !strings.Contains(text, given) || r.Messages[0].Role != "user" {
				t.Errorf("%s: %q is not in %s: %s", name, given, r.Messages[0].Role, text)
			}
		}
		if strings.Contains(text, "%!") {
			t.Errorf("%s: %s", name, text)
		}
	}
	if _, err := s.GetPrompt(context.Background(), &sdk.GetPromptParams{Name: "research"}); err == nil || !strings.Contains(err.Error(), "question") {
		t.Errorf("research without a question: %v", err)
	}
}

// Where nothing can be written, no prompt asks for it.
func TestPromptsReadOnly(t *testing.T) {
	s := connect(t, agent(t, vaulttest.Repo(t, notes)), Options{ReadOnly: true}, nil)
	r, err := s.ListPrompts(context.Background(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, p := range r.Prompts {
		names = append(names, p.Name)
	}
	if diff := cmp.Diff([]string{"challenge", "research", "review_draft"}, names); diff != "" {
		t.Error(diff)
	}
}

// The conventions say where notes go and which tags and statuses there are.
func TestConventions(t *testing.T) {
	svc := agent(t, vaulttest.Repo(t, notes))
	s := connect(t, svc, Options{}, nil)
	r, err := s.ReadResource(context.Background(), &sdk.ReadResourceParams{URI: "kb://conventions"})
	if err != nil {
		t.Fatal(err)
	}
	text := r.Contents[0].Text
	for _, want := range []string{
		"- " + svc.Config().Collections[0].Name + " (takes drafts)\n  - guides/ (2)\n",
		"A note has title, tags, created in its frontmatter",
		"- active (1)\n",
		"howto (1)",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in\n%s", want, text)
		}
	}
}
