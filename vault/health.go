package vault

import (
	"context"
	"fmt"
	"strings"
)

// HealthParams asks what is wrong with the notes.
type HealthParams struct {
	Collection string `json:"collection,omitempty" help:"only this collection"`
	StaleDays  int    `json:"stale_days,omitempty" default:"90" min:"1" max:"36500" help:"a note is stale when it did not change for so long"`
	MinWords   int    `json:"min_words,omitempty" default:"50" min:"0" help:"a note with fewer words is a stub"`
	Against    string `json:"against,omitempty" help:"only what is wrong now and was not in this view"`
	MaxTokens  int    `json:"max_tokens,omitempty" default:"4000" min:"100" help:"budget"`
	Cursor     string `json:"cursor,omitempty" help:"next of an answer"`
	Format     string `json:"format,omitempty" hidden:"" enum:"github" help:"print annotations for a workflow"`
	Fix        bool   `json:"fix,omitempty" hidden:"" help:"propose what is safe to mend, as a draft: moved links, their case, dates of creation"`
	FailOn     string `json:"fail_on,omitempty" hidden:"" enum:"any,new" help:"exit with 6 when something is found; new needs against"`
	atParam
}

// HealthResult is what is wrong, by collection and kind.
type HealthResult struct {
	Checked     int                `json:"total_documents_checked"`
	Issues      int                `json:"total_issues"`
	Collections []CollectionHealth `json:"collections"`
	Mode        string             `json:"mode"`               // how near duplicates were found: text or hybrid
	Degraded    string             `json:"degraded,omitempty"` // why it is not hybrid
	Truncated   bool               `json:"truncated,omitempty"`
	Next        string             `json:"next,omitempty"`
	Seen
	Format string `json:"format,omitempty" schema:"-"`
	Fail   bool   `json:"failed,omitempty" schema:"-"`

	Fix *Mends `json:"fix,omitempty" schema:"-"` // what fix proposed
}

// CollectionHealth is what is wrong with the notes of a collection. Counts is
// by the name of the list, before the budget cut any.
type CollectionHealth struct {
	Name                 string         `json:"name"`
	Dir                  string         `json:"dir,omitempty"` // of the collection, within its repository
	Counts               map[string]int `json:"counts"`
	MissingCreated       []Issue        `json:"missing_created"`
	MissingUpdated       []Issue        `json:"missing_updated"`
	NoTags               []Issue        `json:"no_tags"`
	Stale                []Issue        `json:"stale"`
	Stubs                []Issue        `json:"stubs"`
	Orphans              []Issue        `json:"orphans"`
	BrokenLinks          []Issue        `json:"broken_links"`
	BrokenEmbeds         []Issue        `json:"broken_embeds"`
	DuplicateTitles      []Issue        `json:"duplicate_titles"`
	NearDuplicates       []Issue        `json:"near_duplicates"`
	MalformedFrontmatter []Issue        `json:"malformed_frontmatter"`
	Flagged              []Issue        `json:"flagged"`
	Conflicting          []Issue        `json:"conflicting"`
	ObsoleteLinks        []Issue        `json:"obsolete_links"`
	AmbiguousLinks       []Issue        `json:"ambiguous_links"`
}

// Issue is one thing wrong with a note, and what mends it.
type Issue struct {
	Path    string `json:"path"`
	Line    int    `json:"line"`
	Message string `json:"message"`
	Mend    string `json:"mend"`
}

var healthOp = define(Op{
	Name:        "kb_health",
	Title:       "Check the notes",
	Summary:     "Find what is wrong with the notes, and what mends it",
	Description: "Broken links and embeds, orphans, stubs, stale and flagged notes, missing dates and tags, duplicates, malformed frontmatter: each with note, line and mend. against=REV shows only what is new since.",
	Examples:    []string{"kb health", "kb health --fix", "kb health --against main --fail-on new --format github"},
}, (*Vault).Health)

// kinds names the lists of a CollectionHealth in the order of their weight, which
// is that of [checkKind].
func (h *CollectionHealth) kinds() []struct {
	name string
	list *[]Issue
} {
	return []struct {
		name string
		list *[]Issue
	}{
		{"malformed_frontmatter", &h.MalformedFrontmatter},
		{"broken_links", &h.BrokenLinks},
		{"broken_embeds", &h.BrokenEmbeds},
		{"flagged", &h.Flagged},
		{"duplicate_titles", &h.DuplicateTitles},
		{"conflicting", &h.Conflicting},
		{"obsolete_links", &h.ObsoleteLinks},
		{"ambiguous_links", &h.AmbiguousLinks},
		{"near_duplicates", &h.NearDuplicates},
		{"orphans", &h.Orphans},
		{"stubs", &h.Stubs},
		{"stale", &h.Stale},
		{"no_tags", &h.NoTags},
		{"missing_created", &h.MissingCreated},
		{"missing_updated", &h.MissingUpdated},
	}
}

// writes reports whether the call adds to the repository.
func (p HealthParams) writes() bool { return p.Fix }

// Health checks every note of the view.
func (v *Vault) Health(ctx context.Context, p HealthParams) (*HealthResult, error) {
	if p.FailOn == "new" && p.Against == "" {
		return nil, errorf(Usage, "fail_on new compares with a view").hint("--against main")
	}
	w, offset, err := v.readFrom(ctx, p.Cursor, p.At)
	if err != nil {
		return nil, err
	}
	x, err := w.inspectSince(ctx, p)
	if err != nil {
		return nil, err
	}
	r := x.result()
	if p.Format == "" {
		r.Next = x.cut(offset, p.MaxTokens)
		r.Truncated = r.Next != ""
	} else {
		x.whole()
	}
	r.Collections = x.inWords()
	if p.Fix {
		if r.Fix, err = v.mend(ctx, p.Collection); err != nil {
			return nil, err
		}
	}
	r.Format, r.Fail = p.Format, p.FailOn != "" && r.Issues > 0
	return r, nil
}

// ExitCode is Failed when the caller asked for that.
func (r *HealthResult) ExitCode() Code {
	if r.Fail {
		return Failed
	}
	return ""
}

// Text writes the issues by kind, or annotations.
func (r *HealthResult) Text(t *Text) {
	if r.Format == "github" {
		r.annotations(t)
		return
	}
	if r.Fix != nil {
		r.Fix.text(t)
	}
	t.Printf("%s in %s · %s\n", t.Strong(plural(r.Issues, "issue")), plural(r.Checked, "note"), t.Dim(r.Seen.text()))
	for i := range r.Collections {
		h := &r.Collections[i]
		for _, k := range h.kinds() {
			if h.Counts[k.name] == 0 {
				continue
			}
			t.Printf("\n%s %s\n", t.Strong(strings.ReplaceAll(k.name, "_", " ")), t.Dim(fmt.Sprintf("%s, %d", h.Name, h.Counts[k.name])))
			const most = 10
			shown := (*k.list)[:min(most, len(*k.list))]
			for _, x := range shown {
				t.hanging("  ", "    ", []styled{{fmt.Sprintf("%s:%d", x.Path, x.Line), "36"}, {" " + x.Message, ""}, {" - " + x.Mend, "2"}})
			}
			if n := h.Counts[k.name]; n > len(shown) {
				t.Printf("  %s\n", t.Dim(fmt.Sprintf("%d of %d", len(shown), n)))
			}
		}
	}
	t.more(r.Next)
}
