package draft

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"kb/gitstore"
)

// Change is a commit to be added to a draft.
type Change struct {
	Name     string // the draft; "" for a new one, named after Title
	Title    string
	Author   gitstore.Signature // zero: the user
	Subject  string
	Body     string
	Trailers []gitstore.Trailer // Kb-Draft, Kb-Key and Kb-Call apart, which Append adds
	Key      string             // makes a repeated call harmless; "" for none
	Call     string             // tells calls of the same Key apart, one word; "" if nothing does
	Import   bool               // it holds what was imported, and nothing else: see [Imported]

	// Edits returns what to change: on is the commit that the draft is at or, of
	// a draft that is made (fresh), the base. It is called again whenever another
	// writer was faster. Edits with Src are stored together with the commit, which
	// is the fastest and survives a garbage collection.
	Edits func(ctx context.Context, on gitstore.CommitID, fresh bool) ([]gitstore.Edit, error)

	// Before, which may be nil, is asked after Edits for edits that a commit of
	// their own makes first, such as a source's text that Edits then merge: history
	// has it, and the branch moves past both commits at once.
	Before func() (subject string, edits []gitstore.Edit)

	// With is a commit that the draft takes in, such as its branch's tip: the
	// second parent. Tree is then what both give together, and what Edits change.
	With gitstore.CommitID
	Tree gitstore.TreeID
}

// Written is a commit of a draft.
type Written struct {
	Draft    string
	Ref      string
	Commit   gitstore.CommitID
	Parent   gitstore.CommitID
	Base     gitstore.CommitID // where the base branch is; of a draft that was made, Parent too
	Created  bool              // the draft is new
	Repeated bool              // a commit with the same Key was there; nothing was done
	Other    bool              // and it was that of another Call
	State    State             // of the draft that has it, when Repeated
	Reason   string            // why that draft was rejected, or what was said at the merge

	under gitstore.CommitID  // what Commit stands on where Before made a commit
	ended gitstore.RefUpdate // moves nothing: no draft of the name has ended since it was looked for
}

// tries bounds how often an operation starts anew because others were faster.
const tries = 1000

// Append adds a commit to a draft, which it makes if there is none. Only the
// draft's branch moves. A key that the draft, or an earlier one of the name, has
// had in a commit gives that commit again, and says if it was of another call.
//
// Errors wrap [ErrName]; [ErrNameTaken] when a branch is in the draft's way;
// [ErrCheckedOut]; [ErrNoChange] when the edits change nothing;
// [gitstore.ErrUnborn] when the base has no commit; what Edits returned; and
// what [gitstore.Repo.EditTree] gives for its edits.
func (s *Store) Append(ctx context.Context, c Change) (*Written, error) {
	if c.Name != "" {
		if err := CheckName(c.Name); err != nil {
			return nil, err
		}
	}
	for range tries {
		w, err := s.appendOnce(ctx, &c)
		if !errors.Is(err, gitstore.ErrMoved) {
			return w, err
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
	return nil, fmt.Errorf("append to draft: %w: other writers were faster %d times", gitstore.ErrLocked, tries)
}

func (s *Store) appendOnce(ctx context.Context, c *Change) (*Written, error) {
	w, repeated, err := s.where(ctx, c)
	if err != nil || repeated {
		return w, err
	}
	b := s.Repo.Batch()
	edits, err := c.Edits(ctx, w.Parent, w.Created)
	if err != nil {
		return nil, err
	}
	parent, err := s.Repo.Commit(w.Parent)
	if err != nil {
		return nil, fmt.Errorf("append to draft %s: %w", w.Draft, err)
	}
	onto := &gitstore.Commit{Tree: parent.Tree}
	if !c.With.IsZero() {
		onto = &gitstore.Commit{Tree: c.Tree, Parents: []gitstore.CommitID{c.With}}
	}
	tree, err := b.EditTree(ctx, onto.Tree, edits)
	if err != nil {
		return nil, fmt.Errorf("append to draft %s: %w", w.Draft, err)
	}
	if tree == parent.Tree && len(onto.Parents) == 0 {
		return nil, fmt.Errorf("append to draft %s: %w", w.Draft, ErrNoChange)
	}
	if err := s.addBefore(ctx, b, w, c, onto.Tree); err != nil {
		return nil, err
	}
	return w, s.addCommit(ctx, b, w, &gitstore.Commit{Tree: tree, Parents: onto.Parents, Author: c.Author, Message: c.message(w.Draft)})
}

// addBefore writes the commit that c.Before asks for.
func (s *Store) addBefore(ctx context.Context, b *gitstore.Batch, w *Written, c *Change, onto gitstore.TreeID) error {
	if c.Before == nil {
		return nil
	}
	subject, edits := c.Before()
	if len(edits) == 0 {
		return nil
	}
	tree, err := b.EditTree(ctx, onto, edits)
	if err != nil {
		return fmt.Errorf("append to draft %s: %w", w.Draft, err)
	}
	first := *c
	first.Subject, first.Body, first.Key = subject, "", ""
	made := &gitstore.Commit{Tree: tree, Parents: []gitstore.CommitID{w.Parent}, Message: first.message(w.Draft)}
	if made.Committer, err = s.committer(ctx); err != nil {
		return err
	}
	made.Author = orElse(c.Author, made.Committer)
	if w.under, err = b.WriteCommit(ctx, made); err != nil {
		return fmt.Errorf("append to draft %s: %w", w.Draft, err)
	}
	return nil
}

// addCommit writes a commit on top of w.Parent, or what stands on that, before the parents that it has,
// and moves the draft's branch.
func (s *Store) addCommit(ctx context.Context, b *gitstore.Batch, w *Written, c *gitstore.Commit) error {
	var err error
	if c.Committer, err = s.committer(ctx); err != nil {
		return err
	}
	c.Author = orElse(c.Author, c.Committer)
	on := w.Parent
	if !w.under.IsZero() {
		on = w.under
	}
	c.Parents = append([]gitstore.CommitID{on}, c.Parents...)
	if w.Commit, err = b.WriteCommit(ctx, c); err != nil {
		return fmt.Errorf("append to draft %s: %w", w.Draft, err)
	}
	move := gitstore.RefUpdate{Name: w.Ref, Old: w.Parent, New: w.Commit, Message: "kb: " + firstLine(c.Message)}
	if w.Created {
		move.Old = gitstore.CommitID{}
	}
	err = b.UpdateRefs(ctx, c.Committer, []gitstore.RefUpdate{w.ended, move})
	if errors.Is(err, gitstore.ErrRefConflict) {
		return fmt.Errorf("%w: draft %s: %w; rename the branch that is in the way: git branch -m OLD NEW", ErrNameTaken, w.Draft, err)
	}
	return err
}

// where finds the commit to build on, or the commit that did it before.
func (s *Store) where(ctx context.Context, c *Change) (w *Written, repeated bool, err error) {
	snap, err := s.snapshotOf([]string{branchPrefix, closedPrefix}, c.concerns())
	if err != nil {
		return nil, false, err
	}
	if w, err = s.repeated(ctx, snap, c); w != nil || err != nil {
		return w, true, err
	}
	w = &Written{Draft: c.Name, Base: snap.base}
	if c.Name == "" {
		w.Draft = snap.freeName(Name(c.Title))
	}
	w.Ref = branchPrefix + w.Draft
	tip, exists := snap.tips[w.Draft]
	w.Parent, w.Created = tip, !exists
	if exists {
		err = s.notCheckedOut(w.Ref)
	} else {
		w.Parent = snap.base
		err = snap.checkNew(w.Draft)
	}
	if err != nil {
		return nil, false, err
	}
	place, last := snap.place(w.Draft)
	w.ended = gitstore.RefUpdate{Name: closedPrefix + place}
	if last != nil {
		w.ended.Old, w.ended.New = last.id, last.id
	}
	if w.Parent.IsZero() {
		return nil, false, fmt.Errorf("append to draft %s: %w: %s; make a first commit", w.Draft, gitstore.ErrUnborn, strings.TrimPrefix(s.Base, "refs/heads/"))
	}
	return w, false, nil
}

// freeName numbers a name until no draft has or had it.
func (snap *snapshot) freeName(name string) string {
	for n := 1; ; n++ {
		free := numbered(name, n)
		if _, taken := snap.tips[free]; !taken && snap.last(free) == nil && snap.checkNew(free) == nil {
			return free
		}
	}
}

// checkNew refuses a name that some file systems take for that of another draft.
func (snap *snapshot) checkNew(name string) error {
	for other := range snap.tips {
		if other != name && strings.EqualFold(other, name) {
			return fmt.Errorf("%w: drafts/%s differs from drafts/%s in case only", ErrNameTaken, name, other)
		}
	}
	return nil
}

// message is the commit's message.
func (c *Change) message(name string) string {
	list := []gitstore.Trailer{{Key: trailerDraft, Value: name}}
	for _, t := range c.Trailers {
		if !slices.ContainsFunc([]string{trailerDraft, trailerKey, trailerCall, trailerImport}, func(own string) bool { return strings.EqualFold(t.Key, own) }) {
			list = append(list, t)
		}
	}
	if c.Import {
		list = append(list, gitstore.Trailer{Key: trailerImport, Value: name})
	}
	if c.Key != "" {
		list = append(list, gitstore.Trailer{Key: trailerKey, Value: keyValue(c.Key)})
	}
	if c.Key != "" && c.Call != "" {
		list = append(list, gitstore.Trailer{Key: trailerCall, Value: c.Call})
	}
	return gitstore.CommitMessage(c.Subject, c.Body, list)
}

var plainKey = regexp.MustCompile(`^[!-~]{1,100}$`)

// keyValue is how a key stands in a commit: as it is if that fits on a line.
func keyValue(key string) string {
	if plainKey.MatchString(key) {
		return key
	}
	return fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(key)))
}

// concerns tells which drafts may be the one to write to: the one that is named,
// or all that could have been named after the title.
func (c *Change) concerns() func(name string) bool {
	if c.Name != "" {
		return func(name string) bool { return name == c.Name }
	}
	title := Name(c.Title)
	return func(name string) bool { return numberedFrom(name, title) }
}

// repeated looks for a commit with the change's key, in drafts that are open and
// in those that ended.
func (s *Store) repeated(ctx context.Context, snap *snapshot, c *Change) (*Written, error) {
	if c.Key == "" {
		return nil, nil
	}
	mine := c.concerns()
	for _, name := range snap.openNames() {
		if !mine(name) {
			continue
		}
		w, err := s.findKey(ctx, snap.base, snap.tips[name], c)
		if w != nil || err != nil {
			return w.of(name, branchPrefix+name, snap.base, Open, ""), err
		}
	}
	for _, end := range slices.Backward(snap.closings) {
		if !mine(end.name) {
			continue
		}
		base, err := optionalCommit(trailer(end.commit, trailerBase))
		if err != nil {
			return nil, err
		}
		w, err := s.findKey(ctx, base, end.tip, c)
		if w != nil || err != nil {
			return w.of(end.name, keptPrefix+end.place, snap.base, end.state, end.reason()), err
		}
	}
	return nil, nil
}

// numberedFrom reports whether a name is that of a title, or numbered from it.
func numberedFrom(name, title string) bool {
	if name == title {
		return true
	}
	at := strings.LastIndexByte(name, '-')
	if at < 0 {
		return false
	}
	var n int
	if _, err := fmt.Sscanf(name[at+1:], "%d", &n); err != nil {
		return false
	}
	return n > 1 && numbered(title, n) == name
}

func (w *Written) of(name, ref string, base gitstore.CommitID, state State, reason string) *Written {
	if w != nil {
		w.Draft, w.Ref, w.Base, w.Repeated, w.State, w.Reason = name, ref, base, true, state, reason
	}
	return w
}

// findKey looks for the change's key through the commits that tip has and base lacks.
func (s *Store) findKey(ctx context.Context, base, tip gitstore.CommitID, change *Change) (*Written, error) {
	key := keyValue(change.Key)
	own, err := s.own(ctx, base, tip)
	if err == nil && len(own) == 0 {
		own, err = s.line(tip)
	}
	if err != nil {
		return nil, err
	}
	for _, c := range own {
		if trailer(c, trailerKey) == key {
			call := trailer(c, trailerCall)
			w := &Written{Commit: c.ID, Other: call != "" && change.Call != "" && call != change.Call}
			if len(c.Parents) > 0 {
				w.Parent = c.Parents[0]
			}
			return w, nil
		}
	}
	return nil, nil
}

// own lists the commits that tip has and base lacks, newest first.
func (s *Store) own(ctx context.Context, base, tip gitstore.CommitID) ([]*gitstore.Commit, error) {
	if base.IsZero() {
		c, err := s.Repo.Commit(tip)
		return []*gitstore.Commit{c}, err
	}
	parted, err := s.Repo.Diverge(ctx, base, tip)
	if err != nil {
		return nil, err
	}
	commits := make([]*gitstore.Commit, len(parted.Theirs))
	for i, id := range parted.Theirs {
		if commits[i], err = s.Repo.Commit(id); err != nil {
			return nil, err
		}
	}
	return commits, nil
}

// line lists the commits up to tip that are of one draft, newest first, where base
// has them all: somebody merged the draft with git.
func (s *Store) line(tip gitstore.CommitID) ([]*gitstore.Commit, error) {
	var list []*gitstore.Commit
	for {
		c, err := s.Repo.Commit(tip)
		if err != nil {
			return nil, err
		}
		name := trailer(c, trailerDraft)
		if name == "" || len(c.Parents) != 1 || len(list) > 0 && name != trailer(list[0], trailerDraft) {
			return list, nil
		}
		list = append(list, c)
		tip = c.Parents[0]
	}
}

// committer is the user, or kb where git does not know who that is.
func (s *Store) committer(ctx context.Context) (gitstore.Signature, error) {
	who, err := s.Repo.Identity(ctx)
	if errors.Is(err, gitstore.ErrNoIdentity) {
		return s.Repo.Nobody(), nil
	}
	return who, err
}

// orElse returns a signature that may be incomplete, completed by another.
func orElse(who, other gitstore.Signature) gitstore.Signature {
	who = gitstore.CleanSignature(who)
	if who.Name == "" {
		who.Name, who.Email = other.Name, other.Email
	}
	if who.Email == "" {
		who.Email = other.Email
	}
	if who.When.IsZero() {
		who.When = other.When
	}
	return who
}

func firstLine(message string) string {
	line, _, _ := strings.Cut(message, "\n")
	return line
}
