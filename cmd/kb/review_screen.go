package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"kb/cmd/kb/tui"
	"kb/internal/diff"
	"kb/vault"
)

// hasScreen reports whether the command runs on a terminal that can show a
// screen.
func (c *cli) hasScreen() bool {
	return isTerminal(c.in) && isTerminal(c.out) && os.Getenv("TERM") != "dumb" && !c.flags.JSON && !c.flags.Text
}

// reviewScreen shows the screen of kb review.
func (c *cli) reviewScreen() (err error) {
	load := func() (*vault.Config, error) { return vault.LoadConfig(c.locate()) }
	cfg, err := load()
	if err != nil {
		return err
	}
	s, err := vault.NewService(cfg, vault.Person, func(string, ...any) {}) // what goes on inside would stand on the screen
	if err != nil {
		return err
	}
	s.Follow(load)
	defer func() { err = errors.Join(err, s.Close()) }()
	return tui.Run(c.ctx, reviewDesk{s}, tui.Options{In: c.in, Out: c.out, NoColor: c.flags.NoColor})
}

// reviewDesk is the drafts of a vault, for the screen.
type reviewDesk struct{ service *vault.Service }

// Drafts lists the open drafts with what is wrong with them.
func (r reviewDesk) Drafts(ctx context.Context) ([]tui.Draft, error) {
	list, err := callAs[vault.ReviewList](ctx, r, "review_list", nil)
	if err != nil {
		return nil, err
	}
	drafts := make([]tui.Draft, len(list.Drafts))
	for i, d := range list.Drafts {
		date, err := time.Parse(time.RFC3339, d.Date)
		if err != nil {
			return nil, fmt.Errorf("date of draft %s: %w", d.Name, err)
		}
		drafts[i] = tui.Draft{Name: d.Name, Commit: d.Commit, Into: d.Into, Subject: d.Subject, Author: d.Author, Agent: d.Agent, Date: date,
			Behind: d.Behind, Notes: d.Notes, Added: d.Added, Removed: d.Removed, Problems: r.problems(&list.Drafts[i])}
	}
	return drafts, nil
}

func (r reviewDesk) problems(d *vault.ReviewItem) (list []tui.Problem) {
	several := len(r.service.Config().Collections) > 1
	for _, x := range d.Conflicts {
		list = append(list, tui.Problem{Path: x.Path, Message: x.Message, Conflict: true})
	}
	for _, f := range d.Checks {
		if !several {
			f.Collection = "" // as in what the draft changes
		}
		list = append(list, tui.Problem{Path: pathIn(f.Collection, f.Path), Line: f.Line, Message: f.Message})
	}
	return list
}

// pathIn is a note's path, with its collection where that is told.
func pathIn(collection, path string) string {
	if collection == "" {
		return path
	}
	return collection + ":" + path
}

// Diff compares a draft with where it left its branch.
func (r reviewDesk) Diff(ctx context.Context, d tui.Draft) (*tui.Diff, error) {
	found, err := callAs[vault.ReviewDiff](ctx, r, "review_diff", map[string]any{"name": d.Name, "commit": d.Commit})
	if err != nil {
		return nil, err
	}
	out := &tui.Diff{}
	for _, n := range found.Notes {
		note := tui.Note{Path: pathIn(n.Collection, n.Path), From: n.From, Kind: noteKinds[n.Kind], Added: n.Added, Removed: n.Removed}
		if n.Binary {
			note.Remark = "no text"
		}
		for _, h := range n.Hunks {
			note.Hunks = append(note.Hunks, screenHunk(h))
		}
		out.Notes = append(out.Notes, note)
	}
	return out, nil
}

var noteKinds = map[string]tui.Kind{"added": tui.NoteAdded, "changed": tui.NoteChanged, "removed": tui.NoteRemoved, "renamed": tui.NoteRenamed}

func screenHunk(h vault.HunkDiff) tui.Hunk {
	out := tui.Hunk{Heading: h.Heading, Hunk: diff.Hunk{OldFirst: h.Old[0], OldCount: h.Old[1], NewFirst: h.New[0], NewCount: h.New[1]}}
	old, now := h.Old[0], h.New[0]
	for _, l := range h.Lines {
		line := diff.Line{Kind: diff.Kind(l.Op[0]), Text: l.Text, Open: l.Open}
		if line.Kind != diff.Added {
			line.Old, old = old, old+1
		}
		if line.Kind != diff.Removed {
			line.New, now = now, now+1
		}
		out.Lines = append(out.Lines, line)
	}
	return out
}

// Merge merges a draft, or pieces of it.
func (r reviewDesk) Merge(ctx context.Context, d tui.Draft, part []tui.Piece) (string, error) {
	args := map[string]any{"name": d.Name, "commit": d.Commit}
	if part != nil {
		args["hunks"] = hunkNames(part)
	}
	m, err := callAs[vault.ReviewMerged](ctx, r, "review_merge", args)
	if err != nil {
		return "", err
	}
	text := fmt.Sprintf("merged %s into %s as %s", m.Name, m.Into, m.Commit[:12])
	switch {
	case m.Rest != "":
		text += "; the rest stays as the draft"
	case !m.Worktree:
		text += ", which is not checked out: no file on disk changed"
	}
	return text, nil
}

// hunkNames are pieces as review merge takes them: PATH:0,2 or PATH:all.
func hunkNames(part []tui.Piece) (names []string) {
	for _, p := range part {
		hunks := []string{"all"}
		if p.Hunks != nil {
			hunks = nil
			for _, h := range p.Hunks {
				hunks = append(hunks, strconv.Itoa(h))
			}
		}
		names = append(names, p.Path+":"+strings.Join(hunks, ","))
	}
	return names
}

// Reject rejects a draft.
func (r reviewDesk) Reject(ctx context.Context, d tui.Draft, reason string) (string, error) {
	e, err := callAs[vault.ReviewEnded](ctx, r, "review_reject", map[string]any{"name": d.Name, "commit": d.Commit, "reason": reason})
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("rejected %s; kb review reopen %s takes it back", e.Name, e.Name), nil
}

// callAs runs an operation. Its errors are one line, with the hint; of a draft that
// moved they wrap [tui.ErrMoved].
func callAs[T any](ctx context.Context, r reviewDesk, name string, args map[string]any) (*T, error) {
	op, ok := vault.FindOp(name)
	if !ok {
		return nil, fmt.Errorf("no operation %s", name)
	}
	raw, err := json.Marshal(args)
	if err != nil {
		return nil, err
	}
	result, err := r.service.Do(ctx, op, raw, nil)
	if err != nil {
		return nil, screenError(vault.AsError(err))
	}
	return result.(*T), nil
}

func screenError(e *vault.Error) error {
	text := e.Message
	if e.Hint != "" {
		text += " (" + e.Hint + ")"
	}
	if e.Code == vault.Stale {
		return fmt.Errorf("%s: %w", text, tui.ErrMoved)
	}
	return errors.New(text)
}
