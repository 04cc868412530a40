package vault

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kb/note"
)

func TestTemplateRender(t *testing.T) {
	usual := map[string]string{"title": "T", "body": "", "date": "2026-01-31", "source": ""}
	body := func(text string) map[string]string {
		return map[string]string{"title": "T", "body": text, "date": "2026-01-31", "source": ""}
	}
	tests := []struct {
		name     string
		template string
		usual    map[string]string
		given    map[string]string
		want     string // the body, or what the error says
	}{
		{"usual", "# {{title}} {{ date }}\n", usual, nil, "# T 2026-01-31\n"},
		{"field", "{{a}}-{{a}}\n", usual, map[string]string{"a": "x"}, "x-x\n"},
		{"text is not a template", "{{a}} {{b}}\n", usual, map[string]string{"a": "{{b}}", "b": "$1 ${b} {{title}}"}, "{{b}} $1 ${b} {{title}}\n"},
		{"blank lines of the text stay", "{{a}}\n", usual, map[string]string{"a": "\n  x\n\n\n\ny\n \n"}, "  x\n\n\n\ny\n"},
		{"optional with its heading", "# T\n\n## A\n\n{{a?}}\n\n## B\n\n{{b?}}\n", usual, map[string]string{"b": "x"}, "# T\n\n## B\n\nx\n"},
		{"optional at the end", "# T\n\n## B\n\n{{b?}}\n", usual, nil, "# T\n"},
		{"optional within a line", "# T\n\nby {{b?}}.\n", usual, nil, "# T\n\nby .\n"},
		{"body without a place", "# T\n", body("\nx\n\n"), nil, "# T\n\nx\n"},
		{"body in its place", "{{body}}\n# T\n", body("x"), nil, "x\n# T\n"},
		{"no such syntax", "{{#if x}} {{ }} {{{a}}} {{a b}}\n", usual, map[string]string{"a": "x"}, "{{#if x}} {{ }} {x} {{a b}}\n"},
		{"missing", "{{b}} {{a}} {{c?}}", usual, nil, "template t lacks a, b|fields: a, b, c (optional)"},
		{"blank is missing", "{{a}}", usual, map[string]string{"a": " \n"}, "template t lacks a|fields: a"},
		{"unknown", "{{a}}", usual, map[string]string{"a": "x", "z": "y"}, "template t has no field z|fields: a"},
		{"usual is no field", "{{title}}", usual, map[string]string{"title": "y"}, "template t has no field title|it takes no fields"},
	}
	for _, tt := range tests {
		_, got, err := (&template{name: "t", body: tt.template}).render(tt.usual, tt.given)
		if err != nil {
			got = err.Error() + "|" + AsError(err).Hint
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}

func TestTemplateProperties(t *testing.T) {
	tmpl := &template{fields: []note.Field{{Key: "for", Value: "{{who}}"}, {Key: "tags", Value: []any{"a", "{{who}}"}}, {Key: "n", Value: int64(3)}}}
	fields, _, err := tmpl.render(nil, map[string]string{"who": "x\n---\nevil: y"})
	want := []note.Field{{Key: "for", Value: "x\n---\nevil: y"}, {Key: "tags", Value: []any{"a", "x\n---\nevil: y"}}, {Key: "n", Value: int64(3)}}
	if diff := cmp.Diff(want, fields); diff != "" || err != nil {
		t.Error(diff, err)
	}
}

// The shipped templates take what prompts and the manual say.
func TestShippedTemplates(t *testing.T) {
	want := map[string]string{
		"note":     "it takes no fields",
		"fix":      "fields: cause, resolution, symptom",
		"session":  "fields: context (optional), findings, open (optional)",
		"research": "fields: findings, open (optional), question, sources",
		"decision": "fields: consequences (optional), context, decision",
	}
	entries, err := shipped.ReadDir("templates")
	if err != nil || len(entries) != len(want) {
		t.Fatalf("%d templates (%v), want %d", len(entries), err, len(want))
	}
	for name, usage := range want {
		src, err := shipped.ReadFile("templates/" + name + ".md")
		if err != nil {
			t.Fatal(err)
		}
		tmpl, err := readTemplate(name, src)
		if err != nil {
			t.Fatal(err)
		}
		usual := map[string]string{"title": "A", "body": "B", "date": "", "source": ""}
		if got := tmpl.usage(usual); got != usage {
			t.Errorf("%s: %s", name, got)
		}
		given := map[string]string{}
		for field := range tmpl.wanted() {
			if !has(usual, field) {
				given[field] = "text of " + field
			}
		}
		_, body, err := tmpl.render(usual, given)
		if err != nil || !strings.HasPrefix(body, "# A\n\n") || strings.Contains(body, "{{") || !strings.HasSuffix(body, "\n") {
			t.Errorf("%s: %v\n%s", name, err, body)
		}
	}
}

// Sources that a template takes in one text are each looked at; a title with a
// comma is one.
func TestAddresses(t *testing.T) {
	for s, want := range map[string][]string{
		"https://a.example/x, kb://notes/a.md":   {"https://a.example/x", "kb://notes/a.md"},
		"https://a.example/x?q=1,2":              {"https://a.example/x?q=1,2"},
		"A book, 2nd edition, https://a.example": {"A book, 2nd edition, https://a.example"},
	} {
		if diff := cmp.Diff(want, addresses(s)); diff != "" {
			t.Errorf("%s: %s", s, diff)
		}
	}
}
