package draft

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"kb/gitstore"
)

// snapshot is all drafts and what is left of drafts, as the refs say. One for a
// writer has of what is left only what concerns the draft that it writes to.
type snapshot struct {
	base     gitstore.CommitID            // the base branch; zero if it has no commit
	tips     map[string]gitstore.CommitID // of open drafts
	remotes  []remoteRef
	closings []*closing // by name, then number
}

type remoteRef struct {
	ref, remote, name string
	tip               gitstore.CommitID
}

func (s *Store) snapshot() (*snapshot, error) {
	return s.snapshotOf([]string{branchPrefix, closedPrefix, remotePrefix}, func(string) bool { return true })
}

// snapshotOf reads the refs with some prefixes, and of what is left of drafts
// those of some names.
func (s *Store) snapshotOf(prefixes []string, concerns func(name string) bool) (*snapshot, error) {
	if err := s.Repo.Settle(); err != nil {
		return nil, err
	}
	snap := &snapshot{tips: map[string]gitstore.CommitID{}}
	var err error
	snap.base, err = s.branch(s.Base)
	if err != nil && !errors.Is(err, gitstore.ErrNoRevision) && !errors.Is(err, gitstore.ErrUnborn) {
		return nil, err
	}
	for _, prefix := range prefixes {
		refs, err := s.Repo.Refs(prefix)
		if err != nil {
			return nil, fmt.Errorf("list drafts: %w", err)
		}
		for _, ref := range refs {
			if name, _ := splitPlace(strings.TrimPrefix(ref.Name, closedPrefix)); prefix == closedPrefix && !concerns(name) {
				continue
			}
			if err := s.take(snap, prefix, ref); err != nil {
				return nil, fmt.Errorf("list drafts: %w", err)
			}
		}
	}
	slices.SortFunc(snap.closings, func(a, b *closing) int {
		if a.name != b.name {
			return strings.Compare(a.name, b.name)
		}
		return a.number - b.number
	})
	return snap, nil
}

// take puts a ref where it belongs. One that leads nowhere is damage, and no
// reason to hide the others.
func (s *Store) take(snap *snapshot, prefix string, ref gitstore.Ref) error {
	if ref.Err != nil {
		return nil
	}
	rest := strings.TrimPrefix(ref.Name, prefix)
	switch prefix {
	case branchPrefix:
		snap.tips[rest] = ref.Commit
	case closedPrefix:
		c, err := s.readClosing(rest, ref.Commit)
		if err == nil {
			snap.closings = append(snap.closings, c)
		}
		return err
	case remotePrefix:
		if remote, name, ok := strings.Cut(rest, "/drafts/"); ok {
			snap.remotes = append(snap.remotes, remoteRef{ref.Name, remote, name, ref.Commit})
		}
	}
	return nil
}

func (snap *snapshot) openNames() []string {
	names := make([]string, 0, len(snap.tips))
	for name := range snap.tips {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

func (snap *snapshot) hasTip(id gitstore.CommitID) bool {
	for _, tip := range snap.tips {
		if tip == id {
			return true
		}
	}
	return false
}

// last returns how the last draft of a name ended; nil if none has.
func (snap *snapshot) last(name string) *closing {
	for _, c := range slices.Backward(snap.closings) {
		if c.name == name {
			return c
		}
	}
	return nil
}

// at returns what ended at a place: "x@2", and "x" or "x@1" for the first.
func (snap *snapshot) at(place string) *closing {
	name, number := splitPlace(place)
	for _, c := range snap.closings {
		if c.name == name && c.number == number {
			return c
		}
	}
	return nil
}

// merged returns the last merge of a name, or the one of NAME@2 or REMOTE/NAME, and
// what the name is here; nil for none. A rest that is open, or was rejected, leaves
// what was merged before it.
func (snap *snapshot) merged(name string) (end *closing, local string) {
	for _, c := range slices.Backward(snap.closings) {
		if c.state == Merged && (c.name == name || c == snap.at(name)) {
			return c, name
		}
	}
	for _, r := range snap.remotes {
		if r.remote+"/"+r.name != name {
			continue
		}
		for _, c := range slices.Backward(snap.closings) {
			if c.state == Merged && c.tip == r.tip {
				return c, c.name
			}
		}
	}
	return nil, name
}

// place returns the name under which the next draft of a name that ends is kept,
// and what is there: one that was reopened goes on where it was.
func (snap *snapshot) place(name string) (string, *closing) {
	c := snap.last(name)
	switch {
	case c == nil:
		return name, nil
	case c.state == Open:
		return c.place, c
	}
	return name + "@" + strconv.Itoa(c.number+1), nil
}

// splitPlace reads NAME or NAME@2.
func splitPlace(place string) (name string, number int) {
	name, end, ok := strings.Cut(place, "@")
	if !ok {
		return place, 1
	}
	number, err := strconv.Atoi(end)
	if err != nil {
		return place, 1
	}
	return name, number
}
