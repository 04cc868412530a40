// Package tui is the screen of `kb review`: the drafts at the left, what one of
// them changes at the right, and keys to merge it, whole or in part, or to
// reject it. It knows terminals; drafts are what its [Desk] says of them.
//
// The texts that a Desk returns are untrusted: the screen shows control
// characters, and those that hide or reorder text, as what they are.
package tui

import (
	"context"
	"errors"
	"slices"
	"time"

	"kb/internal/diff"
)

// ErrMoved says that a draft is no longer at the commit that was shown: the
// screen reads it again.
var ErrMoved = errors.New("the draft moved")

// Desk is where drafts lie. The screen calls it from one goroutine at a time
// for actions, and from others for Diff meanwhile.
type Desk interface {
	// Drafts lists what can be reviewed, in the order to show it.
	Drafts(ctx context.Context) ([]Draft, error)

	// Diff returns what a draft changes at its Commit, or ErrMoved.
	Diff(ctx context.Context, d Draft) (*Diff, error)

	// Merge publishes a draft, or the part of it that is not nil, and says what it
	// did in a line. It returns ErrMoved when the draft is not at its Commit.
	Merge(ctx context.Context, d Draft, part []Piece) (string, error)

	// Reject closes a draft for a reason, and says what it did in a line.
	Reject(ctx context.Context, d Draft, reason string) (string, error)
}

// Draft is a row of the list.
type Draft struct {
	Name    string // no other has it
	Commit  string // its tip
	Into    string // the branch it would be merged into
	Subject string // of its last commit
	Author  string
	Agent   string // empty when a person wrote it
	Date    time.Time

	Behind                int // commits of Into that it lacks
	Notes, Added, Removed int // how many notes it changes, and lines

	Problems []Problem
}

// conflicts reports whether the draft does not merge by itself.
func (d Draft) conflicts() bool {
	return slices.ContainsFunc(d.Problems, func(p Problem) bool { return p.Conflict })
}

// Diff is what a draft changes.
type Diff struct {
	Notes []Note
}

// Problem is a reason not to merge: a failed check or a conflict.
type Problem struct {
	Path     string // of the note; empty when it is the whole draft's
	Line     int    // 0 when there is none
	Message  string
	Conflict bool // with the branch; else a check that failed
}

// Note is a changed note. One that was changed can be merged in part, any other
// whole or not at all.
type Note struct {
	Path           string // no other note of the draft has it
	From           string // where it was before it was renamed
	Kind           Kind
	Added, Removed int // lines
	Hunks          []Hunk
	Remark         string // why there are no hunks: a binary file, say
}

// Kind is what happened to a note.
type Kind string

// The kinds of change, as the screen names them.
const (
	NoteAdded   Kind = "new"
	NoteChanged Kind = "changed"
	NoteRemoved Kind = "deleted"
	NoteRenamed Kind = "renamed"
)

// Hunk is a run of changed lines with some unchanged ones around it.
type Hunk struct {
	diff.Hunk
	Heading string // what it stands under
}

// Piece is a note that was chosen for merging, or some of its hunks.
type Piece struct {
	Path  string
	Hunks []int // positions in Note.Hunks; nil for the whole note
}
