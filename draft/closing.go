package draft

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"kb/gitstore"
)

// The trailers of drafts.
const (
	trailerDraft  = "Kb-Draft"
	trailerAgent  = "Kb-Agent"
	trailerClient = "Kb-Client"
	trailerKey    = "Kb-Key"
	trailerCall   = "Kb-Call"
	trailerState  = "Kb-State"
	trailerBase   = "Kb-Base"
	trailerInto   = "Kb-Into"
	trailerMerge  = "Kb-Merge"
	trailerRest   = "Kb-Rest"
	trailerSource = "Kb-Source"
	trailerReview = "Reviewed-by"
	trailerImport = "Kb-Import"

	trailerCoAuthor = "Co-authored-by"
)

// trailer returns the value of a commit's last trailer of a key.
func trailer(c *gitstore.Commit, key string) string {
	for _, t := range slices.Backward(c.Trailers) {
		if strings.EqualFold(t.Key, key) {
			return t.Value
		}
	}
	return ""
}

// closing is how a draft ended: the commit that refs/kb/closed/PLACE names.
type closing struct {
	place  string // NAME, NAME@2
	name   string
	number int
	state  State // Open: it was reopened
	id     gitstore.CommitID
	tip    gitstore.CommitID
	commit *gitstore.Commit
}

func (s *Store) readClosing(place string, id gitstore.CommitID) (*closing, error) {
	commit, err := s.Repo.Commit(id)
	if err != nil {
		return nil, err
	}
	c := &closing{place: place, id: id, commit: commit, state: State(trailer(commit, trailerState))}
	c.name, c.number = splitPlace(place)
	if n := len(commit.Parents); n > 0 {
		c.tip = commit.Parents[n-1]
	}
	return c, nil
}

// closed describes a draft that ended.
func (s *Store) closed(ctx context.Context, c *closing) (*Draft, error) {
	d := &Draft{Name: c.name, Ref: keptPrefix + c.place, State: c.state, Tip: c.tip, By: c.commit.Author,
		Reason: c.reason(), Into: trailer(c.commit, trailerInto), Part: trailer(c.commit, trailerRest) != ""}
	if c.state == Rejected {
		d.Ref = rejectedPrefix + c.place
	}
	d.Kept = d.Ref
	base, err := optionalCommit(trailer(c.commit, trailerBase))
	if err == nil {
		d.Merge, err = optionalCommit(trailer(c.commit, trailerMerge))
	}
	if err == nil {
		err = s.describe(ctx, d, base)
	}
	if err != nil {
		return nil, fmt.Errorf("read refs/kb/closed/%s: %w", c.place, err)
	}
	d.Behind = 0
	return d, nil
}

func optionalCommit(s string) (gitstore.CommitID, error) {
	if s == "" {
		return gitstore.CommitID{}, nil
	}
	return gitstore.ParseCommitID(s)
}

// reason is the body of the message.
func (c *closing) reason() string {
	_, body, _ := strings.Cut(strings.TrimRight(c.commit.Message, "\n"), "\n\n")
	if len(c.commit.Trailers) > 0 {
		if at := strings.LastIndex(body, "\n\n"); at >= 0 {
			return body[:at]
		}
		return ""
	}
	return body
}

// ending is what is to be recorded of a draft's end.
type ending struct {
	draft    *Draft
	state    State
	by       gitstore.Signature
	reason   string
	trailers []gitstore.Trailer
}

// close makes the closing commit and says which refs are to move for it. The
// draft's branch is not among them.
func (s *Store) close(ctx context.Context, b *gitstore.Batch, snap *snapshot, e ending) ([]gitstore.RefUpdate, error) {
	name := e.draft.localName()
	place, before := snap.place(name)
	tip, err := b.Commit(e.draft.Tip)
	if err != nil {
		return nil, err
	}
	c := &gitstore.Commit{Tree: tip.Tree, Parents: []gitstore.CommitID{e.draft.Tip}, Author: e.by}
	var old, kept gitstore.CommitID
	if before != nil {
		old, kept = before.id, before.tip
		c.Parents = []gitstore.CommitID{before.id, e.draft.Tip}
	}
	list := append([]gitstore.Trailer{{Key: trailerDraft, Value: name}, {Key: trailerState, Value: string(e.state)}}, e.trailers...)
	if !e.draft.Base.IsZero() {
		list = append(list, gitstore.Trailer{Key: trailerBase, Value: e.draft.Base.String()})
	}
	c.Message = gitstore.CommitMessage(e.verb()+" draft "+name, e.reason, list)
	c.Committer, err = s.committer(ctx)
	if err != nil {
		return nil, err
	}
	id, err := b.WriteCommit(ctx, c)
	if err != nil {
		return nil, err
	}
	updates := []gitstore.RefUpdate{
		{Name: keptPrefix + place, Old: kept, New: e.draft.Tip, Message: "kb: " + string(e.state)},
		{Name: closedPrefix + place, Old: old, New: id, Message: "kb: " + string(e.state)},
	}
	if e.state == Rejected {
		updates = append(updates, gitstore.RefUpdate{Name: rejectedPrefix + place, New: e.draft.Tip, Message: "kb: rejected"})
	}
	return updates, nil
}

func (e *ending) verb() string {
	return map[State]string{Merged: "Merge", Rejected: "Reject", Open: "Reopen"}[e.state]
}

// localName is the name that a draft of another repository has here.
func (d *Draft) localName() string { return strings.TrimPrefix(d.Name, d.Remote+"/") }
