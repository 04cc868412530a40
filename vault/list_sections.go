package vault

import (
	"cmp"
	"context"
	"path"
	"slices"
	"strings"
)

// ListSectionsParams asks for the shape of the vault.
type ListSectionsParams struct {
	Collection string `json:"collection,omitempty" help:"only this collection"`
	atParam
}

// Sections is the shape of the vault.
type Sections struct {
	Collections []CollectionInfo `json:"collections"`
	Sections    []SectionInfo    `json:"sections"`
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
	Description: "The collections and their sections (first-level directories) with counts: where notes are, and which collections take writes.",
	Examples:    []string{"kb list-sections", "kb list-sections --collection docs --at v1.0"},
}, (*Vault).ListSections)

// ListSections counts notes by collection and section. A configured section
// without notes is listed with 0, unless its notes are usually hidden from the
// caller; a directory nobody declared is listed too.
func (v *Vault) ListSections(ctx context.Context, p ListSectionsParams) (*Sections, error) {
	w, cols, cards, err := v.readCards(ctx, p.At, p.Collection)
	if err != nil {
		return nil, err
	}
	r := &Sections{Collections: []CollectionInfo{}, Sections: []SectionInfo{}, Seen: w.seen()}
	for _, c := range cols {
		info, sections := w.survey(c, cards)
		r.Collections = append(r.Collections, info)
		r.Sections = append(r.Sections, sections...)
	}
	return r, nil
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
	t.Printf("%s\n", t.Dim(r.Seen.text()))
}

func (s SectionInfo) label() string {
	if s.Name == "" {
		return "(root)"
	}
	return s.Name + "/"
}
