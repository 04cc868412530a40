package draft

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"kb/gitstore"
)

const (
	branchPrefix   = "refs/heads/drafts/"
	remotePrefix   = "refs/remotes/"
	keptPrefix     = "refs/kb/kept/"
	rejectedPrefix = "refs/kb/rejected/"
	closedPrefix   = "refs/kb/closed/"
)

// Store is the drafts of a repository that are to be merged into one branch.
type Store struct {
	Repo *gitstore.Repo
	Base string // the branch, in full: refs/heads/main
}

// State is what became of a draft.
type State string

// The states of a draft.
const (
	Open     State = "open"
	Merged   State = "merged"
	Rejected State = "rejected"
)

// Draft is a draft as it is now.
type Draft struct {
	Name   string // "x"; of another repository "origin/x"
	Ref    string // its branch; of a closed draft, the ref that keeps its tip
	Kept   string // of a closed draft, the ref that keeps its tip here
	Remote string // "" for a draft of this repository
	State  State
	Tip    gitstore.CommitID
	Base   gitstore.CommitID // where it left the base branch; zero: they have nothing in common
	Author gitstore.Signature
	Agent  string // of the newest commit that names one
	Client string
	Date   time.Time // of the tip
	Ahead  int       // commits of its own
	Behind int       // commits of the base branch that it lacks; 0 for a closed draft

	// How it ended.
	By     gitstore.Signature // who decided, and when
	Reason string             // why, of a rejected draft; the reviewer's words, of a merged one
	Into   string             // the branch into which it was merged
	Merge  gitstore.CommitID  // the commit that did it
	Part   bool               // only a part was merged; the rest went on as a draft
}

// ListOptions say which drafts are wanted.
type ListOptions struct {
	States  []State // none: Open
	Remotes bool    // those of other repositories too
}

// List returns drafts, open ones first, then by name; of closed ones of one name
// the newest first. What was fetched from another repository is listed unless a
// draft here has the same tip.
func (s *Store) List(ctx context.Context, o ListOptions) ([]Draft, error) {
	snap, err := s.snapshot()
	if err != nil {
		return nil, err
	}
	if len(o.States) == 0 {
		o.States = []State{Open}
	}
	drafts := []Draft{}
	add := func(d *Draft, err error) error {
		if err == nil && slices.Contains(o.States, d.State) {
			drafts = append(drafts, *d)
		}
		return err
	}
	for _, name := range snap.openNames() {
		if err := add(s.open(ctx, snap, name)); err != nil {
			return nil, err
		}
	}
	for _, c := range snap.closings {
		if c.state == Open {
			continue
		}
		if err := add(s.closed(ctx, c)); err != nil {
			return nil, err
		}
	}
	for _, r := range snap.remotes {
		if !o.Remotes || snap.hasTip(r.tip) {
			continue
		}
		if err := add(s.remote(ctx, snap, r)); err != nil {
			return nil, err
		}
	}
	slices.SortStableFunc(drafts, func(a, b Draft) int {
		return cmp.Or(cmp.Compare(a.State.order(), b.State.order()), strings.Compare(a.Name, b.Name), b.By.When.Compare(a.By.When))
	})
	return drafts, nil
}

func (s State) order() int { return slices.Index([]State{Open, Merged, Rejected}, s) }

// Find returns the open draft of a name, else the one that ended last, else the
// one that a single other repository has under it. "origin/x" is another
// repository's, "x@2" the second of the name that ended. The error wraps
// [ErrNotFound].
func (s *Store) Find(ctx context.Context, name string) (*Draft, error) {
	snap, err := s.snapshot()
	if err != nil {
		return nil, err
	}
	return s.find(ctx, snap, name)
}

func (s *Store) find(ctx context.Context, snap *snapshot, name string) (*Draft, error) {
	if _, ok := snap.tips[name]; ok {
		return s.open(ctx, snap, name)
	}
	if c := snap.last(name); c != nil && c.state != Open {
		return s.closed(ctx, c)
	}
	if c := snap.at(name); c != nil && c.state != Open {
		d, err := s.closed(ctx, c)
		if err == nil {
			d.Name = c.place
		}
		return d, err
	}
	var found []remoteRef
	for _, r := range snap.remotes {
		if r.remote+"/"+r.name == name || r.name == name {
			found = append(found, r)
		}
	}
	switch len(found) {
	case 0:
		return nil, fmt.Errorf("%w: %q", ErrNotFound, name)
	case 1:
		return s.remote(ctx, snap, found[0])
	}
	return nil, fmt.Errorf("%w: %q, but %s/%s and %s/%s", ErrNotFound, name, found[0].remote, name, found[1].remote, name)
}

// open describes a draft's branch.
func (s *Store) open(ctx context.Context, snap *snapshot, name string) (*Draft, error) {
	d := &Draft{Name: name, Ref: branchPrefix + name, State: Open, Tip: snap.tips[name]}
	if err := s.describe(ctx, d, snap.base); err != nil {
		return nil, err
	}
	if d.Tip == d.Base {
		d.State = Merged // with git, which left the branch
	}
	return d, nil
}

// notCheckedOut refuses to move a draft's branch under somebody's work tree.
func (s *Store) notCheckedOut(ref string) error {
	dirs, err := s.Repo.CheckedOut(ref)
	if err != nil || len(dirs) == 0 {
		return err
	}
	for i, dir := range dirs {
		dirs[i] = filepath.Base(dir) // agents read this, who need not know where it is
	}
	return fmt.Errorf("%w: %s in the work tree %s; switch to another branch there, or commit there", ErrCheckedOut, shortBranch(ref), strings.Join(dirs, ", "))
}

// remote describes a draft of another repository. It has ended when its tip has.
func (s *Store) remote(ctx context.Context, snap *snapshot, r remoteRef) (*Draft, error) {
	for _, c := range slices.Backward(snap.closings) {
		if c.tip == r.tip && c.state != Open {
			d, err := s.closed(ctx, c)
			if err == nil {
				d.Name, d.Remote, d.Ref = r.remote+"/"+r.name, r.remote, r.ref
			}
			return d, err
		}
	}
	d := &Draft{Name: r.remote + "/" + r.name, Remote: r.remote, Ref: r.ref, State: Open, Tip: r.tip}
	if err := s.describe(ctx, d, snap.base); err != nil {
		return nil, err
	}
	if d.Tip == d.Base {
		d.State = Merged
	}
	return d, nil
}

// describe fills in what the commits say. The base may be unborn: zero.
func (s *Store) describe(ctx context.Context, d *Draft, base gitstore.CommitID) error {
	tip, err := s.Repo.Commit(d.Tip)
	if err != nil {
		return fmt.Errorf("read draft %s: %w", d.Name, err)
	}
	d.Author, d.Date = tip.Author, tip.Committer.When
	if !base.IsZero() {
		parted, err := s.Repo.Diverge(ctx, base, d.Tip)
		if err != nil {
			return fmt.Errorf("read draft %s: %w", d.Name, err)
		}
		if len(parted.Bases) > 0 {
			d.Base = parted.Bases[0]
		}
		d.Ahead, d.Behind = len(parted.Theirs), len(parted.Ours)
	}
	own, err := s.own(ctx, d.Base, d.Tip)
	if err != nil {
		return fmt.Errorf("read draft %s: %w", d.Name, err)
	}
	for _, c := range own {
		if agent := trailer(c, trailerAgent); agent != "" {
			d.Agent, d.Client = agent, trailer(c, trailerClient)
			break
		}
	}
	return nil
}

// Changes lists how the draft's files differ from where it left its base; of one
// of which a part was merged, what that changed.
func (s *Store) Changes(ctx context.Context, d *Draft) ([]gitstore.Change, error) {
	from, to := d.Base, d.Tip
	if d.Part {
		merge, err := s.Repo.Commit(d.Merge)
		if err != nil {
			return nil, fmt.Errorf("changes of draft %s: %w", d.Name, err)
		}
		if len(merge.Parents) > 0 {
			from, to = merge.Parents[0], merge.ID
		}
	}
	changes, err := s.Repo.Diff(ctx, from, to, "")
	if err != nil {
		return nil, fmt.Errorf("changes of draft %s: %w", d.Name, err)
	}
	return changes, nil
}

// Preview merges a draft into a branch ("" for the base) without anything coming
// of it.
func (s *Store) Preview(ctx context.Context, d *Draft, into string) (*gitstore.MergeResult, error) {
	onto, err := s.branch(cmp.Or(into, s.Base))
	if err != nil {
		return nil, err
	}
	return s.Repo.Merge(ctx, onto, d.Tip)
}

// branch returns where a branch is.
func (s *Store) branch(ref string) (gitstore.CommitID, error) {
	if !strings.HasPrefix(ref, "refs/heads/") {
		return gitstore.CommitID{}, fmt.Errorf("%w: %q is no branch in full", gitstore.ErrBadRef, ref)
	}
	id, err := s.Repo.Resolve(ref)
	if errors.Is(err, gitstore.ErrNoRevision) {
		return id, fmt.Errorf("branch %s: %w", strings.TrimPrefix(ref, "refs/heads/"), err)
	}
	return id, err
}
