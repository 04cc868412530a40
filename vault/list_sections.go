package vault

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"slices"
	"strings"
)

// ListSectionsParams asks for the shape of the vault.
type ListSectionsParams struct {
	Collection string `json:"collection,omitempty" help:"only this collection"`
	MaxTokens  int    `json:"max_tokens,omitempty" default:"4000" min:"100" help:"budget"`
	Cursor     string `json:"cursor,omitempty" help:"next of an answer"`
	atParam
}

// Sections is the shape of the vault.
type Sections struct {
	Collections []CollectionInfo `json:"collections"`
	Sections    []SectionInfo    `json:"sections"`
	Total       int              `json:"total_sections" schema:"-"`
	Truncated   bool             `json:"truncated,omitempty" schema:"-"`
	Next        string           `json:"next,omitempty" schema:"-"`
	Seen
}

// CollectionInfo is one collection of the view. Path is its directory within
// its repository.
type CollectionInfo struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	Path        string `json:"path"`
	Writable    bool   `json:"writable"`
	DocCount    int    `json:"doc_count"`
	ChunkCount  int    `json:"chunk_count"`
}

// SectionInfo is one section: a first-level directory, or "" for the notes at
// the root of a collection.
type SectionInfo struct {
	Collection  string `json:"collection"`
	Name        string `json:"name"`
	Description string `json:"description"`
	DocCount    int    `json:"doc_count"`
}

var listSectionsOp = define(Op{
	Name:        "list_sections",
	Title:       "List collections and sections",
	Summary:     "List the collections and their sections",
	Description: "Collections and their sections (first-level directories) with counts, and which take writes.",
	Examples:    []string{"kb list-sections", "kb list-sections --collection docs --at v1.0"},
}, (*Vault).ListSections)

// ListSections counts notes by collection and section. A configured section
// without notes is listed with 0, unless its notes are usually hidden from the
// caller; a directory nobody declared is listed too.
func (v *Vault) ListSections(ctx context.Context, p ListSectionsParams) (*Sections, error) {
	from, err := resume(p.Cursor, p.At)
	if err != nil {
		return nil, err
	}
	w, cols, cards, err := v.readCards(ctx, from.at, p.Collection)
	if err == nil {
		err = from.check(w)
	}
	if err != nil {
		return nil, err
	}
	r := &Sections{Collections: []CollectionInfo{}, Sections: []SectionInfo{}, Seen: w.seen()}
	for _, c := range cols {
		info, sections := w.survey(c, cards)
		r.Collections = append(r.Collections, info)
		r.Sections = append(r.Sections, sections...)
	}
	r.Total = len(r.Sections)
	if next := page([]pile{pileOf(&r.Sections, SectionInfo.tokens)}, from.offset, p.MaxTokens); next > 0 {
		r.Truncated, r.Next = true, w.cursor(next)
	}
	return r, nil
}

func (s SectionInfo) tokens() int {
	const names = 20 // of the fields
	return names + Tokens(s.Collection) + Tokens(s.Name) + Tokens(s.Description)
}

func (w *view) survey(c *collection, cards []*card) (CollectionInfo, []SectionInfo) {
	info := CollectionInfo{Name: c.Name, Description: c.Description, Path: cmp.Or(c.dir, "."), Writable: c.Writable}
	counts := map[string]int{}
	sight := w.v.paths()
	for _, s := range c.Sections {
		name := strings.Trim(s.Prefix, "/")
		if sight.file(c, path.Join(name, "note.md")) {
			counts[name] = 0
		}
	}
	for i, d := range w.docs {
		if d.col != c {
			continue
		}
		info.DocCount++
		info.ChunkCount += cards[i].chunks
		counts[section(d.path)]++
	}
	sections := []SectionInfo{}
	for name, n := range counts {
		sections = append(sections, SectionInfo{Collection: c.Name, Name: name, Description: c.describe(name), DocCount: n})
	}
	slices.SortFunc(sections, func(a, b SectionInfo) int { return strings.Compare(a.Name, b.Name) })
	return info, sections
}

// describe returns what the configuration says of a section.
func (c *collection) describe(name string) string {
	for _, s := range c.Sections {
		if strings.Trim(s.Prefix, "/") == name {
			return s.Description
		}
	}
	return ""
}

// Text writes the sections below their collections.
func (r *Sections) Text(t *Text) {
	for _, c := range r.Collections {
		access := "read-only"
		if c.Writable {
			access = "writable"
		}
		t.Printf("%s  %s\n", t.Strong(c.Name), t.Dim(strings.Join([]string{plural(c.DocCount, "note"), plural(c.ChunkCount, "chunk"), access}, " · ")))
		if c.Description != "" {
			t.Wrap("  ", visible(c.Description))
		}
		var rows [][]string
		for _, s := range r.Sections {
			if s.Collection == c.Name {
				rows = append(rows, []string{"  " + t.Accent(s.label()), plural(s.DocCount, "note"), t.Dim(s.Description)})
			}
		}
		t.Table(rows)
	}
	seen := []string{r.Seen.text()}
	if r.Next != "" {
		seen = append(seen, fmt.Sprintf("%d of %d sections, cursor %s goes on", len(r.Sections), r.Total, r.Next))
	}
	t.Printf("%s\n", t.Dim(strings.Join(seen, " · ")))
}

func (s SectionInfo) label() string {
	if s.Name == "" {
		return "(root)"
	}
	return s.Name + "/"
}
