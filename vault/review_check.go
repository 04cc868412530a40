package vault

import (
	"context"
	"strings"
)

// ReviewCheckParams names a draft to check.
type ReviewCheckParams struct {
	draftParam
	Into   string `json:"into,omitempty" help:"the branch that it would be merged into (default: the one it is for)"`
	Online bool   `json:"online,omitempty" hidden:"" help:"also ask whether its sources can be reached"`
}

// ReviewCheck is what should be mended in a draft before it is merged.
type ReviewCheck struct {
	Name      string          `json:"name"`
	Commit    string          `json:"commit"`
	Into      string          `json:"into"`
	OK        bool            `json:"ok"`
	Conflicts []DraftConflict `json:"conflicts"`
	Checks    []CheckFinding  `json:"checks"`
	Online    bool            `json:"online,omitempty"` // sources were asked for
}

var reviewCheckOp = define(Op{
	Name:     "review_check",
	Under:    "review",
	Summary:  "Check a draft: frontmatter, links, secrets, sources, duplicates",
	Examples: []string{"kb review check retry-notes", "kb review check retry-notes --online"},
	People:   true,
}, (*Vault).ReviewCheck)

// ReviewCheck checks a draft as merging it would leave the notes.
func (v *Vault) ReviewCheck(ctx context.Context, p ReviewCheckParams) (*ReviewCheck, error) {
	d, err := v.reviewOpen(ctx, p.Name)
	if err != nil {
		return nil, err
	}
	ref, _, err := d.target(p.Into)
	if err != nil {
		return nil, err
	}
	x, err := d.proposal(ctx, v, p.Into)
	if err != nil {
		return nil, err
	}
	r := &ReviewCheck{Name: v.draftName(d), Commit: d.Tip.String(), Into: branchName(ref), Conflicts: x.conflictList(), Online: p.Online || v.cfg.Review.Online && !v.cfg.Offline}
	if r.Checks, err = x.check(ctx); err != nil {
		return nil, err
	}
	if r.Online {
		unreachable, err := x.reach(ctx)
		if err != nil {
			return nil, err
		}
		r.Checks = append(r.Checks, unreachable...)
	}
	r.OK = len(r.Checks) == 0 && len(r.Conflicts) == 0
	return r, nil
}

// ExitCode is that of failed checks, or of a conflict.
func (r *ReviewCheck) ExitCode() Code {
	switch {
	case len(r.Checks) > 0:
		return Failed
	case len(r.Conflicts) > 0:
		return Conflict
	}
	return ""
}

// Text writes what was found.
func (r *ReviewCheck) Text(t *Text) {
	reviewFindings(t, r.Conflicts, r.Checks)
	if r.OK {
		t.Printf("%s %s\n", t.Strong(r.Name), t.Dim("has nothing to mend, and merges into "+r.Into))
		return
	}
	var parts []string
	if n := len(r.Checks); n > 0 {
		parts = append(parts, plural(n, "thing")+" to mend")
	}
	if n := len(r.Conflicts); n > 0 {
		parts = append(parts, plural(n, "conflict")+" with "+r.Into)
	}
	t.Printf("%s: %s %s\n", t.Strong(r.Name), strings.Join(parts, ", "), t.Dim("- kb review edit "+r.Name))
}
