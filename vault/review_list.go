package vault

import (
	"context"
	"fmt"
	"strings"
	"time"

	"kb/draft"
)

// ReviewListParams says which drafts are wanted.
type ReviewListParams struct {
	State      string `json:"state,omitempty" enum:"open,merged,rejected,all" default:"open" help:"which drafts"`
	Collection string `json:"collection,omitempty" help:"only drafts of this collection's repository"`
}

// ReviewList is the drafts that a person may look at, the newest first.
type ReviewList struct {
	Drafts []ReviewItem `json:"drafts"`
	Total  int          `json:"total"`
}

// ReviewItem is a draft with what a reviewer asks first.
type ReviewItem struct {
	DraftInfo
	Into    string `json:"into,omitempty"` // the branch that it is for
	Subject string `json:"subject"`
	AgeDays int    `json:"age_days"`
	Old     bool   `json:"old,omitempty"` // open for more than two weeks
	Notes   int    `json:"notes"`         // that it changes
	Added   int    `json:"added"`         // lines
	Removed int    `json:"removed"`
}

var reviewListOp = define(Op{
	Name:     "review_list",
	Under:    "review",
	Summary:  "List drafts: age, author, size, checks, and whether they merge",
	Examples: []string{"kb review list", "kb review list --state rejected"},
	People:   true,
}, (*Vault).ReviewList)

// ReviewList lists the drafts of every repository, those of remotes too.
func (v *Vault) ReviewList(ctx context.Context, p ReviewListParams) (*ReviewList, error) {
	state := p.State
	if state == "all" {
		state = ""
	}
	found, err := v.findDrafts(ctx, DraftsParams{State: state})
	if err != nil {
		return nil, err
	}
	cols, err := v.collections(p.Collection)
	if err != nil {
		return nil, err
	}
	r := &ReviewList{Drafts: []ReviewItem{}}
	for i, d := range found {
		v.report(i, len(found), "checking drafts")
		if p.Collection != "" && d.repo != cols[0].repo {
			continue
		}
		item, err := v.reviewItem(ctx, d)
		if err != nil {
			return nil, err
		}
		r.Drafts = append(r.Drafts, *item)
	}
	r.Total = len(r.Drafts)
	return r, nil
}

// oldDraft is the age from which an open draft is pointed out.
const oldDraft = 14 * 24 * time.Hour

func (v *Vault) reviewItem(ctx context.Context, d draftOf) (*ReviewItem, error) {
	info, p, err := d.info(ctx, v, false)
	if err != nil {
		return nil, err
	}
	item := &ReviewItem{DraftInfo: *info, Subject: info.Title}
	item.Name = v.draftName(d)
	age := v.today().Sub(d.Date)
	item.AgeDays = max(0, int(age/(24*time.Hour)))
	if d.State != draft.Open {
		return item, nil
	}
	item.Old = age > oldDraft
	if d.unsure == nil {
		item.Into = branchName(d.store.Base)
	}
	if p == nil {
		item.Notes = info.Changed
		return item, nil
	}
	for _, e := range p.edits {
		added, removed := e.size()
		item.Notes, item.Added, item.Removed = item.Notes+1, item.Added+added, item.Removed+removed
	}
	return item, nil
}

// Text writes a table, or on a narrow terminal two lines for each draft.
func (r *ReviewList) Text(t *Text) {
	if len(r.Drafts) == 0 {
		t.Printf("%s\n", t.Dim("no drafts"))
		return
	}
	var rows [][]string
	for i := range r.Drafts {
		rows = append(rows, r.Drafts[i].row(t))
	}
	t.Table(rows)
	for i := range r.Drafts {
		if d := &r.Drafts[i]; d.Reason != "" {
			t.Hang(t.Strong(d.Name)+" ", "    ", t.Plain(d.State+" by "+d.By+": "+d.Reason))
		}
	}
}

func (d *ReviewItem) row(t *Text) []string {
	age := ageText(d.AgeDays)
	if d.Old {
		age = t.Warn(age + " !")
	} else {
		age = t.Dim(age)
	}
	name := d.Name
	if t.Width > 0 && t.Width < 100 {
		name = clip(name, 24)
	}
	return []string{t.Strong(name), age, t.Plain(clip(d.who(), 24)), d.sizeText(t), d.checksText(t), d.mergeText(t), t.Dim(d.Subject)}
}

// who is the agent, else the author.
func (d *ReviewItem) who() string {
	if d.Agent != "" {
		return d.Agent
	}
	return d.Author
}

func (d *ReviewItem) sizeText(t *Text) string {
	if d.State != string(draft.Open) {
		return plural(d.Changed, "note")
	}
	return plural(d.Notes, "note") + " " + changeText(t, d.Added, d.Removed)
}

// changeText is "+12 -3", in colour.
func changeText(t *Text, added, removed int) string {
	return strings.Join([]string{t.style("32", fmt.Sprintf("+%d", added)), t.style("31", fmt.Sprintf("-%d", removed))}, " ")
}

func (d *ReviewItem) checksText(t *Text) string {
	switch {
	case d.State != string(draft.Open):
		return ""
	case len(d.Checks) == 0:
		return t.Dim("checks ok")
	}
	return t.Warn(fmt.Sprintf("%d to mend", len(d.Checks)))
}

func (d *ReviewItem) mergeText(t *Text) string {
	switch {
	case d.State != string(draft.Open):
		return t.Plain(d.State)
	case d.Into == "":
		return t.Dim("branch unknown")
	case len(d.Conflicts) > 0:
		return t.Warn(plural(len(d.Conflicts), "conflict"))
	}
	return t.Dim("merges")
}

func ageText(days int) string {
	switch {
	case days == 0:
		return "today"
	case days < 60:
		return plural(days, "day")
	}
	return plural(days/30, "month")
}
