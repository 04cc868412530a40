package gitstore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// CheckRefName refuses names that are no full ref names (refs/heads/main), or
// that belong to one work tree only. Errors wrap [ErrBadRef].
func CheckRefName(name string) error {
	const maxName = 1024
	own := false
	for _, p := range ownRefs {
		own = own || strings.HasPrefix(name, p)
	}
	if !strings.HasPrefix(name, "refs/") || strings.Count(name, "/") < 2 || len(name) > maxName || own || !validRef(name) {
		return fmt.Errorf("%w name %q", ErrBadRef, name)
	}
	for part := range strings.SplitSeq(name, "/") {
		if len(part) > 200 || !filepath.IsLocal(part) {
			return fmt.Errorf("%w name %q: a file system could not hold it", ErrBadRef, name)
		}
	}
	return nil
}

// UpdateRef moves a ref from old to new, both commits; a zero old creates it and
// says that it must not exist. It holds git's own lock while it compares, so
// that of several writers, git among them, each sees what the one before did;
// the move is durable when the call returns, and has happened wholly or not at
// all if the process dies before. A reflog is written where git would write one.
// HEAD, the index and the work tree are not touched, even if the ref is the
// branch checked out.
//
// Errors wrap [ErrMoved] when the ref is not at old, [ErrLocked] when another
// process holds its lock for several seconds, [ErrRefConflict] when a ref stands
// where a directory is needed or the reverse, and [ErrBadRef] for a name that
// is none, or a symbolic ref.
func (r *Repo) UpdateRef(name string, to, old CommitID, who Signature, message string) error {
	return r.moveRef(who, RefUpdate{Name: name, Old: old, New: to, Message: message})
}

// DeleteRef removes a ref that is at old, and its reflog. Errors are as those of
// UpdateRef.
func (r *Repo) DeleteRef(name string, old CommitID) error {
	return r.moveRef(Signature{}, RefUpdate{Name: name, Old: old})
}

// moveRef moves one ref.
func (r *Repo) moveRef(who Signature, u RefUpdate) error {
	list := []RefUpdate{u}
	if u.Old.IsZero() && u.New.IsZero() {
		return fmt.Errorf("%s %s: %w: the zero commit", u.verb(), u.Name, ErrNotFound)
	}
	err := r.checkUpdates(who, list, func(id CommitID) error { _, err := r.node(id); return err })
	if err != nil {
		return err
	}
	return r.guarded(func(g *guard) error { return g.moveRefs(context.Background(), who, list) })
}

// checkUpdates refuses what can be seen to be wrong without looking at the refs.
func (r *Repo) checkUpdates(who Signature, list []RefUpdate, isCommit func(CommitID) error) error {
	for i := range list {
		u := &list[i]
		err := CheckRefName(u.Name)
		if err == nil && !u.New.IsZero() {
			if err = who.check(); err == nil {
				err = isCommit(u.New)
			}
		}
		if err != nil {
			return refError(u, err)
		}
	}
	return nil
}

func (r *Repo) refFile(name string) string {
	return filepath.Join(r.refDir(name), filepath.FromSlash(name))
}

func (r *Repo) logFile(name string) string {
	return filepath.Join(r.refDir(name), "logs", filepath.FromSlash(name))
}

// compareRef reports whether a ref is what the caller takes it for.
func (r *Repo) compareRef(name string, old CommitID) error {
	link, now, err := r.readRef(name)
	switch {
	case err != nil:
		return err
	case link != "":
		return fmt.Errorf("%w: it is a symbolic ref to %s", ErrBadRef, link)
	case now == oid(old):
		return nil
	case now == (oid{}):
		return fmt.Errorf("%w: it does not exist, expected %s", ErrMoved, old)
	case old.IsZero():
		return fmt.Errorf("%w: it exists, at %s", ErrMoved, now)
	}
	return fmt.Errorf("%w: it is at %s, expected %s", ErrMoved, now, old)
}

// makeRoom checks that a new ref gets in no other's way, and removes the empty
// directories that may have its name.
func (r *Repo) makeRoom(name string, old CommitID) error {
	if !old.IsZero() {
		return removeEmpty(r.refFile(name)) // it may be packed
	}
	for above := path.Dir(name); above != "refs"; above = path.Dir(above) {
		link, id, err := r.readRef(above)
		if err != nil || link != "" || id != (oid{}) {
			return fmt.Errorf("%w: %s exists", ErrRefConflict, above)
		}
	}
	below, err := r.Refs(name + "/")
	if err != nil {
		return err
	}
	if len(below) > 0 {
		return fmt.Errorf("%w: %s exists", ErrRefConflict, below[0].Name)
	}
	return removeEmpty(r.refFile(name))
}

// removeEmpty removes a directory that holds nothing but empty directories.
func removeEmpty(dir string) error {
	info, err := os.Lstat(dir)
	if err != nil || !info.IsDir() {
		return nil
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if !e.IsDir() {
			return fmt.Errorf("%w: directory %s holds files", ErrRefConflict, filepath.Base(dir))
		}
		if err := removeEmpty(filepath.Join(dir, e.Name())); err != nil {
			return err
		}
	}
	if err := os.Remove(dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// appendLog adds a line to the ref's reflog, if it is to have one. The line comes
// before the move, as git does it: a log may know more than happened, never less.
func (r *Repo) appendLog(name string, old, to CommitID, who Signature, message string) error {
	return r.appendLogFile(r.logFile(name), name, old, to, who, message)
}

// appendLogFile is appendLog for a ref whose reflog is a file of our choice: HEAD
// of any work tree.
func (r *Repo) appendLogFile(file, name string, old, to CommitID, who Signature, message string) error {
	want, err := r.wantsLog(name)
	if err != nil {
		return err
	}
	flags := os.O_APPEND | os.O_WRONLY
	if want {
		flags |= os.O_CREATE
		if err := removeEmpty(file); err != nil {
			return err
		}
		if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
			return err
		}
	}
	f, err := os.OpenFile(file, flags, 0o666)
	if isMissing(err) {
		return nil
	}
	if err != nil {
		return err
	}
	line := fmt.Sprintf("%s %s %s <%s> %d %s\t%s\n", old, to, who.Name, who.Email, who.When.Unix(), who.When.Format("-0700"), oneLine(message))
	_, err = f.WriteString(line) // no more durable than git's
	return errors.Join(err, f.Close())
}

// wantsLog reports whether a ref gets a reflog of its own accord.
func (r *Repo) wantsLog(name string) (bool, error) {
	u, err := r.user()
	switch {
	case err != nil:
		return false, err
	case u.logAll == "always":
		return true, nil
	case u.logAll == "" && r.workTree == "", u.logAll != "" && !isTrue(u.logAll):
		return false, nil
	}
	for _, p := range [...]string{"HEAD", "refs/heads/", "refs/remotes/", "refs/notes/"} {
		if strings.HasPrefix(name, p) {
			return true, nil
		}
	}
	return false, nil
}

// without returns the file without a ref and without what it peels to.
func (p packedRefs) without(name string) []byte {
	var kept []byte
	dropping := false
	for line := range bytes.Lines(p) {
		if dropping = dropping && line[0] == '^' || bytes.HasSuffix(bytes.TrimRight(line, "\r\n"), []byte(" "+name)) && line[0] != '#'; !dropping {
			kept = append(kept, line...)
		}
	}
	return kept
}
