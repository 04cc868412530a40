package mcp

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"kb/vault"
)

// addConventions offers what somebody should know before writing a note here.
func (s *Server) addConventions() {
	s.sdk.AddResource(&sdk.Resource{
		Name:        "conventions",
		Title:       "How notes are written here",
		Description: "Where notes go, what a note must have, and the tags, statuses and sections in use. Read it before kb_write.",
		URI:         "kb://conventions",
		MIMEType:    markdown,
	}, s.readConventions)
}

func (s *Server) readConventions(ctx context.Context, req *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
	text, err := s.conventions(ctx, req)
	if err != nil {
		return nil, s.resourceError(req.Params.URI, err)
	}
	return contents(req.Params.URI, text), nil
}

// conventions describes the default view: what the configuration asks for, and
// what the notes do.
func (s *Server) conventions(ctx context.Context, req sdk.Request) (string, error) {
	sections, err := s.read(ctx, req, "list_sections", nil)
	if err != nil {
		return "", err
	}
	stats, err := s.read(ctx, req, "kb_stats", nil)
	if err != nil {
		return "", err
	}
	tags, err := s.read(ctx, req, "kb_entities", map[string]any{"kind": "tag", "max_results": 40})
	if err != nil {
		return "", err
	}
	var b strings.Builder
	b.WriteString("# How notes are written here\n\n")
	b.WriteString("A note or an edit is proposed as a draft: a commit on a branch that a person reviews. Nothing is published by writing.\n\n")
	writePlaces(&b, sections.(*vault.Sections))
	writeRules(&b, s.svc.Config())
	writeStatuses(&b, stats.(*vault.Stats).ByStatus)
	writeTags(&b, tags.(*vault.EntitiesResult).Entities)
	return b.String(), nil
}

func writePlaces(b *strings.Builder, r *vault.Sections) {
	b.WriteString("## Places\n\n")
	for _, c := range r.Collections {
		access := "read only"
		if c.Writable {
			access = "takes drafts"
		}
		fmt.Fprintf(b, "- %s (%s)%s\n", c.Name, access, after(": ", oneLine(c.Description, 200)))
		for _, s := range r.Sections {
			if s.Collection == c.Name && s.Name != "" {
				fmt.Fprintf(b, "  - %s/ (%d)%s\n", s.Name, s.DocCount, after(": ", oneLine(s.Description, 200)))
			}
		}
	}
}

func writeRules(b *strings.Builder, c *vault.Config) {
	b.WriteString("\n## Rules\n\n")
	if len(c.Review.Required) > 0 {
		fmt.Fprintf(b, "- A note has %s in its frontmatter: a draft is checked for it.\n", strings.Join(c.Review.Required, ", "))
	}
	b.WriteString("- A new note's file is named by the day and its title, unless filename is given.\n")
	b.WriteString("- One note, one subject; its title is what somebody would search for. Give the source of what is claimed.\n")
	if len(c.Protected) > 0 {
		fmt.Fprintf(b, "- No draft may touch %s.\n", strings.Join(c.Protected, ", "))
	}
}

func writeStatuses(b *strings.Builder, counts map[string]int) {
	names := slices.DeleteFunc(slices.Sorted(maps.Keys(counts)), func(s string) bool { return s == "" })
	if len(names) == 0 {
		return
	}
	b.WriteString("\n## Statuses in use\n\n")
	for _, name := range names {
		fmt.Fprintf(b, "- %s (%d)\n", oneLine(name, 60), counts[name])
	}
}

func writeTags(b *strings.Builder, tags []vault.Entity) {
	if len(tags) == 0 {
		return
	}
	b.WriteString("\n## Tags in use, most used first\n\n")
	list := make([]string, len(tags))
	for i, t := range tags {
		list[i] = fmt.Sprintf("%s (%d)", oneLine(t.Name, 60), t.Count)
	}
	b.WriteString(strings.Join(list, ", ") + "\n")
}

func after(separator, s string) string {
	if s == "" {
		return ""
	}
	return separator + s
}
