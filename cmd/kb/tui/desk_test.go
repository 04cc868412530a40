package tui

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"kb/internal/diff"
)

var today = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

func ago(days int) time.Time { return today.AddDate(0, 0, -days) }

// table is a Desk of literals, which writes down what is done to it.
type table struct {
	drafts []Draft
	diffs  map[string]*Diff
	did    []string
	err    error             // of the next action
	moved  map[string]string // where drafts have moved, which merging tells
	gone   map[string]string // the same, which reading tells
}

func (t *table) Drafts(context.Context) ([]Draft, error) { return slices.Clone(t.drafts), nil }

func (t *table) Diff(_ context.Context, d Draft) (*Diff, error) {
	if now := t.gone[d.Name]; now != "" && now != d.Commit {
		t.settle(d, now)
		return nil, ErrMoved
	}
	return t.diffs[d.Name], nil
}

func (t *table) Merge(_ context.Context, d Draft, part []Piece) (string, error) {
	if err := t.act(d, fmt.Sprintf("merge %s at %s: %v", d.Name, d.Commit, part)); err != nil {
		return "", err
	}
	if part == nil {
		t.remove(d)
	}
	return "merged " + d.Name, nil
}

func (t *table) Reject(_ context.Context, d Draft, reason string) (string, error) {
	if err := t.act(d, fmt.Sprintf("reject %s at %s: %s", d.Name, d.Commit, reason)); err != nil {
		return "", err
	}
	t.remove(d)
	return "rejected " + d.Name + "; kb review reopen " + d.Name + " takes it back", nil
}

func (t *table) act(d Draft, what string) error {
	if now := t.moved[d.Name]; now != "" && now != d.Commit {
		t.settle(d, now)
		return fmt.Errorf("%s: %w", d.Name, ErrMoved)
	}
	if err := t.err; err != nil {
		t.err = nil
		return err
	}
	t.did = append(t.did, what)
	return nil
}

// settle lists a draft at the commit where it is.
func (t *table) settle(d Draft, now string) {
	for i := range t.drafts {
		if t.drafts[i].Name == d.Name {
			t.drafts[i].Commit = now
		}
	}
}

func (t *table) remove(gone Draft) {
	t.drafts = slices.DeleteFunc(slices.Clone(t.drafts), func(d Draft) bool { return d.Name == gone.Name })
}

// newTable has drafts of every kind.
func newTable() *table {
	return &table{
		drafts: []Draft{
			{Name: "retry-notes", Commit: "1a2b3c4d5e", Into: "main", Subject: "guides: how clients retry", Author: "Ada Lovelace", Agent: "claude-code",
				Date: ago(3), Notes: 3, Added: 12, Removed: 4, Behind: 2},
			{Name: "broken-links", Commit: "2b3c4d5e6f", Into: "main", Subject: "Add a glossary", Author: "Ada Lovelace", Agent: "cursor",
				Date: ago(1), Notes: 2, Added: 2, Problems: glossaryProblems},
			{Name: "a-name-that-is-much-too-long-for-the-list-at-the-left", Commit: "3c4d5e6f7a", Into: "main", Subject: "Old wording", Author: "Grace Hopper",
				Date: ago(41), Notes: 1, Added: 1, Removed: 1,
				Problems: []Problem{{Path: "old.md", Line: 3, Message: "both the draft and main changed this", Conflict: true}}},
			{Name: "日本語のノート", Commit: "4d5e6f7a8b", Into: "main", Subject: "日本語の文章と絵文字 👩‍💻", Author: "山田", Agent: "codex",
				Date: ago(0), Notes: 1, Added: 2, Removed: 1},
		},
		diffs: map[string]*Diff{
			"retry-notes":  retryDiff(),
			"broken-links": glossaryDiff(),
			"a-name-that-is-much-too-long-for-the-list-at-the-left": {
				Notes: []Note{{Path: "old.md", Kind: NoteChanged, Added: 1, Removed: 1, Hunks: []Hunk{hunk(3, "", "-one", "+two")}}},
			},
			"日本語のノート": {Notes: []Note{{Path: "資料/再試行.md", Kind: NoteChanged, Added: 2, Removed: 1, Hunks: []Hunk{
				hunk(1, "再試行", " 同じ行", "-クライアントは三回まで再試行します。", "+クライアントは五回まで再試行します。間隔は指数関数的に伸びていきますので、サーバーに負荷をかけません。", "+絵文字 👨‍👩‍👧 と ❤️ と 👍🏽 と 🇩🇪")}}}},
		},
	}
}

func retryDiff() *Diff {
	long := "Clients wait before they try again, with a delay that doubles each time and a random part, so that they do not all come back at the same moment."
	return &Diff{Notes: []Note{
		{Path: "guides/retry.md", Kind: NoteChanged, Added: 5, Removed: 4, Hunks: []Hunk{
			hunk(1, "", " ---", " title: Retries", "-tags: [http]", "+tags: [http, retry]", " ---"),
			hunk(10, "Backoff", " Some context before.", "-"+strings.Replace(long, "doubles", "grows", 1), "+"+long, "-At most 3 times.", "+At most 5 times.  ", " "),
			hunk(40, "Idempotency", " A request that is not idempotent", "-must not be repeated.", "+carries a key, and then may be repeated.", "+", "+\tsee"),
		}},
		{Path: "reference/deeply/nested/directory/of/notes/http-status-codes.md", Kind: NoteAdded, Added: 6, Hunks: []Hunk{
			hunk(1, "", "+---", "+title: Status codes", "+---", "+", "+| code | again |", "+| 503 | yes |"),
		}},
		{Path: "guides/backoff.md", From: "backoff.md", Kind: NoteRenamed, Added: 1, Hunks: []Hunk{hunk(5, "", "+x")}},
	}}
}

func glossaryDiff() *Diff {
	return &Diff{
		Notes: []Note{
			{Path: "glossary.md", Kind: NoteAdded, Added: 1, Hunks: []Hunk{hunk(1, "", "+evil \x1b[31mred\x1b]0;title\x07 \u202egnp.exe\u202c zero\u200bwidth \x7f \xff nul\x00")}},
			{Path: "image.md", Kind: NoteAdded, Added: 1, Hunks: []Hunk{hunk(1, "", "+![[x.png]]")}},
			{Path: "x.png", Kind: NoteAdded, Remark: "binary, 3 KB"},
		},
	}
}

func hunk(at int, heading string, lines ...string) Hunk {
	h := Hunk{Hunk: diff.Hunk{OldFirst: at, NewFirst: at}, Heading: heading}
	old, now := at, at
	for _, text := range lines {
		l := diff.Line{Kind: diff.Kind(text[0]), Text: text[1:]}
		if l.Kind != diff.Added {
			l.Old, old = old, old+1
		}
		if l.Kind != diff.Removed {
			l.New, now = now, now+1
		}
		h.Lines = append(h.Lines, l)
	}
	return h
}

var glossaryProblems = []Problem{
	{Path: "glossary.md", Message: "the frontmatter has no title"},
	{Path: "glossary.md", Line: 1, Message: "looks like a secret"},
	{Message: "the draft is not signed\x1b[2J"},
}
