package gitstore

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// RefUpdate is one ref's move among several. Where Old and New are the same the
// ref stays, and the others move only if it is there; or is not, if both are zero.
type RefUpdate struct {
	Name     string
	Old      CommitID // where it is; zero: it must not exist
	New      CommitID // where it goes; zero: it is removed, with its reflog
	Message  string   // for its reflog
	Checkout bool     // work trees that have the branch checked out follow, by the git program
}

func (u *RefUpdate) verb() string {
	if u.New.IsZero() {
		return "delete"
	}
	return "update"
}

func refError(u *RefUpdate, err error) error { return fmt.Errorf("%s %s: %w", u.verb(), u.Name, err) }

// refMove moves refs: all of them, or none.
type refMove struct {
	guard   *guard
	who     Signature
	list    []RefUpdate
	locks   []*refLock
	packed  *refLock // on packed-refs; nil if nothing is to be removed from it
	follows []follow
}

// moveRefs moves refs, after the work trees that follow them.
func (g *guard) moveRefs(ctx context.Context, who Signature, list []RefUpdate) error {
	m := &refMove{guard: g, who: who, list: list}
	defer m.undo()
	for i := range list {
		if err := m.lock(&list[i]); err != nil {
			return refError(&list[i], err)
		}
	}
	if err := m.unpack(); err != nil {
		return fmt.Errorf("remove refs: %w", err)
	}
	if err := m.checkout(ctx); err != nil {
		return err
	}
	err := m.log()
	if err == nil {
		err = m.decide()
	}
	if err != nil {
		return errors.Join(err, m.checkin(ctx))
	}
	return m.commit()
}

// lock locks a ref and makes sure that it is where it should be.
func (m *refMove) lock(u *RefUpdate) error {
	repo := m.guard.repo
	var to []byte
	if !u.New.IsZero() {
		to = []byte(u.New.String() + "\n")
	}
	lock, err := m.guard.lock(repo.refFile(u.Name), to)
	if err != nil {
		if errors.Is(err, ErrRefConflict) {
			err = cmp.Or(repo.makeRoom(u.Name, CommitID{}), err) // says which ref it is
		}
		return err
	}
	m.locks = append(m.locks, lock)
	if err := repo.compareRef(u.Name, u.Old); err != nil || u.New.IsZero() {
		return err
	}
	return repo.makeRoom(u.Name, u.Old)
}

// unpack prepares packed-refs without what is to be removed.
func (m *refMove) unpack() error {
	repo := m.guard.repo
	var gone []string
	for _, u := range m.list {
		if !u.New.IsZero() {
			continue
		}
		if _, id, err := repo.readPackedRef(u.Name); err != nil {
			return err
		} else if id != (oid{}) {
			gone = append(gone, u.Name)
		}
	}
	if len(gone) == 0 {
		return nil
	}
	lock, err := m.guard.lock(filepath.Join(repo.commonDir, packedFile), nil)
	if err != nil {
		return err
	}
	m.packed = lock
	packed, err := repo.packedRefs()
	for _, name := range gone {
		packed = packed.without(name)
	}
	if err == nil {
		err = lock.write(packed)
	}
	return err
}

// log writes reflogs: of the refs, and of HEAD in the work trees that follow.
func (m *refMove) log() error {
	for _, u := range m.list {
		if u.New.IsZero() {
			continue
		}
		if err := m.guard.repo.appendLog(u.Name, u.Old, u.New, m.who, u.Message); err != nil {
			return fmt.Errorf("update %s: %w", u.Name, err)
		}
	}
	for _, f := range m.follows {
		file := filepath.Join(f.checkout.gitDir, "logs", "HEAD")
		if err := m.guard.repo.appendLogFile(file, "HEAD", f.old, f.new, m.who, f.message); err != nil {
			return fmt.Errorf("update HEAD of %s: %w", f.checkout.dir, err)
		}
	}
	return nil
}

// decide records that the move is to happen whatever comes. One ref alone moves
// at once, and needs no record.
func (m *refMove) decide() error {
	if len(m.list) == 1 && len(m.follows) == 0 {
		return nil
	}
	dirs := map[string]bool{filepath.Join(m.guard.repo.commonDir, "kb"): true}
	for _, l := range m.locks {
		dirs[filepath.Dir(l.file)] = true
	}
	for dir := range dirs {
		if err := syncLeft(dir); err != nil {
			return err
		}
	}
	return m.guard.decide()
}

// commit moves what is locked. If it fails, the next writer goes on.
func (m *refMove) commit() error {
	if m.packed != nil {
		if err := m.packed.commit(); err != nil {
			return err
		}
		m.guard.repo.step("ref unpacked")
	}
	for i, l := range m.locks {
		if !m.list[i].New.IsZero() {
			if err := l.commit(); err != nil {
				return err
			}
			continue
		}
		if err := m.guard.remove(l.file); err != nil {
			return err
		}
		l.undo()
	}
	m.guard.clear() // if that fails, the next writer finds that all is done
	return nil
}

// remove removes a ref's file and its reflog.
func (g *guard) remove(file string) error {
	if err := os.Remove(file); err != nil && !isMissing(err) {
		return err
	}
	g.repo.step("ref removed")
	rel, err := filepath.Rel(g.repo.commonDir, file)
	if err != nil {
		return err
	}
	if err := os.Remove(filepath.Join(g.repo.commonDir, "logs", rel)); err != nil && !isMissing(err) {
		return err
	}
	return syncLeft(filepath.Dir(file))
}

// undo gives up the locks, unless the move is decided and not done.
func (m *refMove) undo() {
	if m.guard.decided {
		return
	}
	for _, l := range m.locks {
		l.undo()
	}
	if m.packed != nil {
		m.packed.undo()
	}
}

// finish does for a listed lock what its dead writer had decided to do.
func (g *guard) finish(file, pending string) error {
	content, err := os.ReadFile(pending)
	if err != nil {
		return err
	}
	if len(bytes.TrimSpace(content)) > 0 {
		if err := os.Rename(file+".lock", file); err != nil {
			return err
		}
		return syncLeft(filepath.Dir(file))
	}
	if err := g.remove(file); err != nil {
		return err
	}
	return os.Remove(file + ".lock")
}
