package vault

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"kb/draft"
	"kb/gitstore"
	"kb/internal/diff"
	"kb/note"
)

// WriteResult is what a change became: a commit on a draft.
type WriteResult struct {
	Path       string        `json:"path"` // of the note, in the draft
	Collection string        `json:"collection"`
	Title      string        `json:"title"`
	Tags       []string      `json:"tags"`
	Draft      string        `json:"draft"`
	Branch     string        `json:"branch"`
	Commit     string        `json:"commit"`
	Base       string        `json:"base"` // where the draft left the branch that it is for
	Blob       string        `json:"blob,omitempty" schema:"-"`
	URI        string        `json:"uri"`
	Changes    []DraftChange `json:"changes"` // of this commit
	Diff       string        `json:"diff"`
	Truncated  bool          `json:"truncated,omitempty" schema:"-"`        // the diff is cut; git show has it whole
	Similar    []Hit         `json:"similar"`                               // notes that may say the same
	Mode       string        `json:"similar_mode,omitempty" schema:"-"`     // how they were found: text or hybrid
	Degraded   string        `json:"similar_degraded,omitempty" schema:"-"` // why it is not hybrid
	Tokens     int           `json:"tokens"`                                // of the note
	Repeated   bool          `json:"repeated,omitempty" schema:"-"`         // the key was seen: nothing was done again
	State      string        `json:"state,omitempty" schema:"-"`            // of the draft, when repeated: open, merged or rejected
	Reason     string        `json:"reason,omitempty" schema:"-"`           // why it was rejected, or what was said at the merge
	Notice     string        `json:"notice,omitempty" schema:"-"`
	Review     string        `json:"review"` // the command with which a person reviews the draft
}

// DraftChange is a note that a draft, or one commit of it, changes.
type DraftChange struct {
	Path       string `json:"path"`
	Collection string `json:"collection,omitempty" schema:"-"`
	Kind       string `json:"kind"`           // added, changed, renamed or removed
	From       string `json:"from,omitempty"` // of a renamed one
	Added      int    `json:"added"`          // lines
	Removed    int    `json:"removed"`
}

// mostDiff is how much of a diff is shown, in tokens: who wrote it knows it.
const mostDiff = 3000

// result describes a commit on a draft, in which a note may have been moved.
func (v *Vault) result(ctx context.Context, c *collection, w *draft.Written, moved [2]string) (*WriteResult, error) {
	changes, err := c.repo.Diff(ctx, w.Parent, w.Commit, c.dir)
	if err != nil {
		return nil, errorf(Internal, "read what was written: %w", err)
	}
	changes = pair(changes, moved)
	r := &WriteResult{
		Collection: c.Name,
		Tags:       []string{},
		Draft:      w.Draft,
		Branch:     "drafts/" + w.Draft,
		Commit:     w.Commit.String(),
		Changes:    []DraftChange{},
		Similar:    []Hit{},
		Repeated:   w.Repeated,
		State:      string(w.State),
		Reason:     w.Reason,
		Review:     "kb review diff " + w.Draft,
	}
	if r.Base, err = c.repo.leftAt(ctx, w); err != nil {
		return nil, err
	}
	var text strings.Builder
	for _, change := range changes {
		shown, err := c.repo.shown(change)
		if err != nil {
			return nil, err
		}
		r.Changes = append(r.Changes, shown.change)
		text.WriteString(diff.Unified(shown.from, shown.to, shown.old, shown.now))
	}
	r.Diff, r.Truncated = cutDiff(text.String())
	return r, nil
}

// pair makes one change of a note that goes from one path and comes at another.
func pair(changes []gitstore.Change, moved [2]string) []gitstore.Change {
	from := slices.IndexFunc(changes, func(c gitstore.Change) bool { return c.Kind == gitstore.Removed && c.Path == moved[0] })
	to := slices.IndexFunc(changes, func(c gitstore.Change) bool { return c.Kind == gitstore.Added && c.Path == moved[1] })
	if from < 0 || to < 0 {
		return changes
	}
	changes[to].Kind, changes[to].From, changes[to].Old = gitstore.Renamed, moved[0], changes[from].Old
	return slices.Delete(changes, from, from+1)
}

// leftAt is the commit at which a draft left the branch that it is for.
func (r *repo) leftAt(ctx context.Context, w *draft.Written) (string, error) {
	if w.Created {
		return w.Base.String(), nil
	}
	bases, err := r.MergeBases(ctx, w.Base, w.Commit)
	if err != nil {
		return "", errorf(Internal, "compare draft %s with its base: %w", w.Draft, err)
	}
	if len(bases) == 0 {
		return "", nil
	}
	return bases[0].String(), nil
}

// shownChange is a change with the texts on both sides.
type shownChange struct {
	change   DraftChange
	from, to string // "" where there is no file
	old, now []byte
}

func (r *repo) shown(change gitstore.Change) (s shownChange, err error) {
	s.change = DraftChange{Path: change.Path, Kind: string(change.Kind), From: change.From}
	s.from, s.to = cmp.Or(change.From, change.Path), change.Path
	if change.Old.IsZero() {
		s.from = ""
	} else if s.old, err = r.Blob(change.Old); err != nil {
		return s, errorf(Internal, "read %s: %w", change.Path, err)
	}
	if change.New.IsZero() {
		s.to = ""
	} else if s.now, err = r.Blob(change.New); err != nil {
		return s, errorf(Internal, "read %s: %w", change.Path, err)
	}
	s.change.Added, s.change.Removed = diff.Stat(diff.Hunks(s.old, s.now, 0))
	return s, nil
}

// cutDiff cuts a diff at a line's end.
func cutDiff(s string) (string, bool) {
	const bytesPerToken = 4
	if len(s) <= mostDiff*bytesPerToken {
		return s, false
	}
	s = s[:mostDiff*bytesPerToken]
	return s[:strings.LastIndexByte(s, '\n')+1], true
}

// textAt reads the note at a path of a commit.
func (c *collection) textAt(commit, p string) ([]byte, error) {
	id, err := gitstore.ParseCommitID(commit)
	if err != nil {
		return nil, errorf(Internal, "%w", err)
	}
	f, err := c.repo.File(id, c.full(p))
	if err == nil {
		var src []byte
		if src, err = c.repo.Blob(f.Blob); err == nil {
			return src, nil
		}
	}
	return nil, errorf(Internal, "read what was written: %w", err)
}

// describe fills in what the note says that r is about.
func (r *WriteResult) describe(c *collection, p string, src []byte) *note.Note {
	n, _ := note.Parse(src)
	r.Path, r.Title = p, n.TitleAt(p)
	r.Tags = append(r.Tags, n.Tags...)
	r.Tokens = Tokens(string(src))
	r.Blob = note.Hash(src).String()
	r.URI = citation{Collection: c.Name, Commit: r.Commit, Path: p}.String()
	return n
}

// Text says what was written, and how it is reviewed.
func (r *WriteResult) Text(t *Text) {
	did := "written"
	if r.Repeated {
		did = "was written before: nothing was done again"
	}
	t.Printf("%s %s\n", t.Strong("draft "+r.Draft), t.Dim(fmt.Sprintf("%s, commit %s", did, clipHash(r.Commit))))
	if r.State != "" && r.State != string(draft.Open) {
		t.Printf("%s\n", t.Warn(strings.TrimSuffix("the draft was "+r.State+": "+r.Reason, ": ")))
	}
	const most = 20
	for _, c := range r.Changes[:min(most, len(r.Changes))] {
		c.text(t)
	}
	if n := len(r.Changes) - most; n > 0 {
		t.Printf("  %s\n", t.Dim(fmt.Sprintf("and %d more", n)))
	}
	if r.URI != "" {
		t.Printf("%s %s\n", t.Dim("read it:"), r.URI)
	}
	t.Printf("%s %s\n", t.Dim("review: "), r.Review)
	if r.Notice != "" {
		t.Printf("%s\n", t.Warn(r.Notice))
	}
	if len(r.Similar) > 0 {
		t.Printf("%s\n", t.Warn("similar notes; is it said already?"))
	}
	for _, h := range r.Similar {
		t.Printf("  %s %s\n", t.Accent(h.Path), t.Plain(h.Title))
	}
}

func (c *DraftChange) text(t *Text) {
	from := ""
	if c.From != "" {
		from = " from " + c.From
	}
	t.Printf("  %s %s %s\n", c.Kind, t.Accent(c.Path), t.Dim(fmt.Sprintf("%s+%d -%d", strings.TrimPrefix(from+" ", " "), c.Added, c.Removed)))
}
