package mcp

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"kb/internal/vaulttest"
	"kb/vault"
)

// What a client does not see is in nothing that the protocol offers: each answer
// is that of a vault without it.
func TestHidden(t *testing.T) {
	for name, o := range map[string]Options{
		"public": {Sees: vault.Public},
		"team":   {},
		"bob":    {Sees: vault.Private, User: "bob"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			with, without := tell(t, vaulttest.Hidden(t, ""), o), tell(t, vaulttest.Hidden(t, name), o)
			if diff := cmp.Diff(without, with); diff != "" {
				t.Errorf("it tells of what is hidden (-without +with it):\n%s", diff)
			}
			if name == "public" && strings.Contains(with, vaulttest.Canary) {
				t.Errorf("a canary: %s", with)
			}
		})
	}
	if all := tell(t, vaulttest.Hidden(t, ""), Options{Sees: vault.Private, User: "ada"}); !strings.Contains(all, vaulttest.Canary+"ada") {
		t.Error("nobody sees ada's note")
	}
}

// Nothing that a client sends makes it see more.
func TestNoParameterWidens(t *testing.T) {
	s := connect(t, agent(t, vaulttest.Hidden(t, "")), Options{Sees: vault.Public}, nil)
	for _, name := range []string{"visibility", "sees", "user", "owner", "scope_of"} {
		r := call(t, s, "kb_export", map[string]any{name: "private"})
		if !r.IsError || !strings.Contains(text(r), "unknown argument") {
			t.Errorf("%s: %s", name, text(r))
		}
	}
}

// tell is all that a client can get out of a server without naming a note: tools,
// resources, prompts and completions.
func tell(t *testing.T, dir string, o Options) string {
	t.Helper()
	ctx := context.Background()
	s := connect(t, agent(t, dir), o, nil)
	var b strings.Builder
	add := func(what string, r any, err error) {
		t.Helper()
		if err != nil {
			fmt.Fprintf(&b, "%s: error %v\n", what, err)
			return
		}
		fmt.Fprintf(&b, "%s: %s\n", what, pretty(t, r))
	}
	add("instructions", s.InitializeResult().Instructions, nil)
	tools, err := s.ListTools(ctx, nil)
	add("tools", tools, err)
	resources, err := s.ListResources(ctx, nil)
	add("resources", resources, err)
	templates, err := s.ListResourceTemplates(ctx, nil)
	add("templates", templates, err)
	prompts, err := s.ListPrompts(ctx, nil)
	add("prompts", prompts, err)
	for _, p := range prompts.Prompts {
		args := map[string]string{}
		for _, a := range p.Arguments {
			args[a.Name] = "calls"
		}
		r, err := s.GetPrompt(ctx, &sdk.GetPromptParams{Name: p.Name, Arguments: args})
		add("prompt "+p.Name, r, err)
	}
	for _, uri := range []string{"kb://digest", "kb://conventions", "kb://notes/guides/retry.md", "kb://notes/plan.md", "kb://notes@main/guides/was.md"} {
		r, err := s.ReadResource(ctx, &sdk.ReadResourceParams{URI: uri})
		add(uri, r, err)
	}
	for _, arg := range []sdk.CompleteParamsArgument{{Name: "collection"}, {Name: "commit"}, {Name: "path"}, {Name: "path", Value: "guides/"}} {
		for _, template := range templates.ResourceTemplates {
			r, err := s.Complete(ctx, &sdk.CompleteParams{Ref: &sdk.CompleteReference{Type: "ref/resource", URI: template.URITemplate}, Argument: arg})
			add("complete "+arg.Name, r, err)
		}
	}
	for _, tool := range tools.Tools {
		r := call(t, s, tool.Name, hiddenCalls[tool.Name])
		add(tool.Name, []any{r.StructuredContent, text(r)}, nil)
	}
	return alike(t, dir, b.String())
}

// A call of each tool that reads much.
var hiddenCalls = map[string]map[string]any{
	"search":       {"query": "calls that fail", "max_results": 50},
	"kb_brief":     {"query": "calls that fail"},
	"get_document": {"path": "guides/retry.md"},
	"kb_context":   {"path": []any{"guides/retry.md"}, "depth": "deep"},
	"kb_query":     {"max_results": 500},
	"kb_similar":   {"path": "guides/retry.md"},
	"kb_entities":  {"max_results": 500},
	"kb_history":   {"from": "HEAD~2"},
	"kb_write":     {"title": "Calls that fail twice", "body": "Calls that fail are repeated.", "collection": "notes"},
	"kb_edit":      {"path": "guides/retry.md", "append": "More."},
}

var unlike = regexp.MustCompile(`(\\?"|\b)(seconds|disk_bytes|next|index|owner|date)(\\?"): ?("[^"]*"|[0-9.]+|\{[^{}]*\})|[0-9.]+ (s|kB|MB)\b|\b[0-9a-f]{7,40}\b`)

// alike leaves out what two vaults never have in common: commits, times and sizes.
func alike(t *testing.T, dir, s string) string {
	for i, c := range strings.Fields(vaulttest.Git(t, dir, "rev-list", "main")) {
		s = strings.ReplaceAll(s, c, fmt.Sprint("COMMIT", i))
	}
	return unlike.ReplaceAllString(s, "…")
}
