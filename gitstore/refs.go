package gitstore

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// Ref is a branch, tag or other ref and the commit that it leads to.
type Ref struct {
	Name   string   // in full: refs/heads/main
	Commit CommitID // tags peeled; zero with Err
	Err    error    // why the ref leads to no commit
}

// Head returns the checked-out branch, in full, and its commit. The branch is
// "" when HEAD is detached. On a branch without a commit the error wraps
// [ErrUnborn] and the branch is set all the same.
func (r *Repo) Head() (branch string, id CommitID, err error) {
	name, target, err := r.follow("HEAD")
	if err != nil {
		return "", CommitID{}, fmt.Errorf("read HEAD: %w", err)
	}
	if name != "HEAD" {
		branch = name
	}
	if target == (oid{}) {
		return branch, CommitID{}, fmt.Errorf("%w: %s", ErrUnborn, shortRef(branch))
	}
	id, err = r.peel(target)
	if err != nil {
		return branch, CommitID{}, fmt.Errorf("read HEAD: %w", err)
	}
	return branch, id, nil
}

// Refs lists the refs whose names start with prefix ("refs/heads/"), sorted.
func (r *Repo) Refs(prefix string) ([]Ref, error) {
	refs, err := r.refs(prefix)
	if err != nil {
		return nil, fmt.Errorf("list refs: %w", err)
	}
	return refs, nil
}

// refs reads the refs that have files first, then packed-refs: a ref that is
// packed in between is found in one or the other.
func (r *Repo) refs(prefix string) ([]Ref, error) {
	names, err := r.looseRefs(prefix)
	if err != nil {
		return nil, err
	}
	found := map[string]oid{}
	failed := map[string]error{}
	for _, name := range names {
		_, found[name], failed[name] = r.follow(name)
	}
	packed, err := r.packedRefs()
	if err != nil {
		return nil, err
	}
	for name, id := range packed.all() {
		if _, loose := found[name]; !loose && strings.HasPrefix(name, prefix) {
			found[name] = id
		}
	}
	refs := []Ref{}
	for _, name := range slices.Sorted(maps.Keys(found)) {
		ref, err := Ref{Name: name}, failed[name]
		if err == nil && found[name] == (oid{}) {
			continue // removed meanwhile, or a symbolic ref to an unborn branch
		}
		if err == nil {
			ref.Commit, err = r.peel(found[name])
		}
		if err != nil {
			ref.Err = fmt.Errorf("read %s: %w", name, err)
		}
		refs = append(refs, ref)
	}
	return refs, nil
}

// looseRefs lists the names with a prefix that have files.
func (r *Repo) looseRefs(prefix string) ([]string, error) {
	var names []string
	root := filepath.Join(r.commonDir, "refs")
	if dir := path.Dir(prefix + "x"); validRef(dir) && strings.HasPrefix(dir, "refs/") {
		root = filepath.Join(r.commonDir, filepath.FromSlash(dir))
	}
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			if isMissing(err) {
				return nil // git removes empty directories
			}
			return err
		}
		rel, err := filepath.Rel(r.commonDir, p)
		if err != nil {
			return err
		}
		if name := filepath.ToSlash(rel); !d.IsDir() && strings.HasPrefix(name, prefix) && validRef(name) {
			names = append(names, name)
		}
		return nil
	})
	return names, err
}

// follow reads a ref through symbolic refs. It returns the last name and what
// it holds; a ref that does not exist holds the zero hash.
func (r *Repo) follow(name string) (last string, target oid, err error) {
	const maxLinks = 5 // as git
	for range maxLinks + 1 {
		link, target, err := r.readRef(name)
		if err != nil || link == "" {
			return name, target, err
		}
		if !strings.HasPrefix(link, "refs/") || !validRef(link) {
			return name, oid{}, fmt.Errorf("%s is a symbolic ref to something that is no ref", name)
		}
		name = link
	}
	return name, oid{}, fmt.Errorf("%s: symbolic refs lead in a circle", name)
}

// readRef reads one ref: a link to another, or a hash, or neither when it does
// not exist.
func (r *Repo) readRef(name string) (link string, target oid, err error) {
	file := filepath.Join(r.refDir(name), filepath.FromSlash(name))
	info, err := os.Lstat(file)
	switch {
	case err != nil && !isMissing(err):
		return "", oid{}, err
	case err != nil || info.IsDir():
		return r.readPackedRef(name)
	case info.Mode()&fs.ModeSymlink != 0:
		link, err = os.Readlink(file)
		if err == nil && !validRef(link) {
			err = fmt.Errorf("%s is a symbolic link to something that is no ref", name)
		}
		return link, oid{}, err
	}
	b, err := readSmall(file)
	if isMissing(err) {
		return r.readPackedRef(name) // packed a moment ago
	}
	if err != nil {
		return "", oid{}, err
	}
	return parseRef(name, b)
}

func isMissing(err error) bool {
	// A parent that is a file, as in refs/heads/a/b beside a ref a, is ENOTDIR
	// on Unix, which Go does not count as missing.
	return errors.Is(err, fs.ErrNotExist) || err != nil && errors.Is(err, errNotDir)
}

// ownRefs are the refs that each work tree has for itself.
var ownRefs = [...]string{"refs/bisect/", "refs/worktree/", "refs/rewritten/"}

// refDir returns the directory of a ref's file: each work tree has its own HEAD
// and a few refs more.
func (r *Repo) refDir(name string) string {
	own := !strings.HasPrefix(name, "refs/")
	for _, p := range ownRefs {
		own = own || strings.HasPrefix(name, p)
	}
	if own {
		return r.gitDir
	}
	return r.commonDir
}

// parseRef reads the bytes of a ref's file. What follows the hash, as in
// FETCH_HEAD, is not looked at.
func parseRef(name string, b []byte) (link string, target oid, err error) {
	if rest, ok := bytes.CutPrefix(b, []byte("ref:")); ok {
		return string(bytes.TrimSpace(rest)), oid{}, nil
	}
	if len(b) > 40 && (b[40] == '\n' || b[40] == '\t' || b[40] == ' ' || b[40] == '\r') {
		b = b[:40]
	}
	id, ok := parseOID(b)
	if !ok {
		return "", oid{}, fmt.Errorf("%s is broken: it holds no hash", name)
	}
	return "", id, nil
}

func (r *Repo) readPackedRef(name string) (link string, target oid, err error) {
	packed, err := r.packedRefs()
	if err != nil {
		return "", oid{}, err
	}
	id, _ := packed.find(name)
	return "", id, nil
}

// packedRefs is the text of a packed-refs file.
type packedRefs []byte

func (r *Repo) packedRefs() (packedRefs, error) {
	b, err := readSmall(filepath.Join(r.commonDir, "packed-refs"))
	if isMissing(err) {
		return nil, nil
	}
	return b, err
}

func (p packedRefs) find(name string) (oid, bool) {
	want := []byte(" " + name)
	for rest := []byte(p); ; {
		i := bytes.Index(rest, want)
		if i < 0 {
			return oid{}, false
		}
		after := rest[i+len(want):]
		if i >= 40 && (i == 40 || rest[i-41] == '\n') && endsLine(after) {
			return parseOID(rest[i-40 : i])
		}
		// Keep enough before the next match to hold its hash.
		rest = rest[i+1:]
	}
}

func endsLine(b []byte) bool {
	return len(b) == 0 || b[0] == '\n' || b[0] == '\r'
}

// all yields every well-formed ref; comments, peeled hashes and damaged lines
// are passed over.
func (p packedRefs) all() func(yield func(string, oid) bool) {
	return func(yield func(string, oid) bool) {
		for line := range bytes.Lines(p) {
			line = bytes.TrimRight(line, "\r\n")
			if len(line) < 42 || line[40] != ' ' {
				continue
			}
			id, ok := parseOID(line[:40])
			if name := string(line[41:]); ok && validRef(name) && !yield(name, id) {
				return
			}
		}
	}
}

// validRef applies the rules of git check-ref-format, which also keep a name
// inside its directory.
func validRef(name string) bool {
	if name == "" || name == "@" || strings.HasSuffix(name, ".") || strings.Contains(name, "..") || strings.Contains(name, "@{") {
		return false
	}
	for i := range len(name) {
		if c := name[i]; c <= ' ' || c == 0x7f || strings.IndexByte(`~^:?*[\`, c) >= 0 {
			return false
		}
	}
	for part := range strings.SplitSeq(name, "/") {
		if part == "" || part[0] == '.' || strings.HasSuffix(part, ".lock") {
			return false
		}
	}
	return true
}

// shortRef is a ref's name as people write it.
func shortRef(name string) string {
	for _, p := range []string{"refs/heads/", "refs/tags/", "refs/remotes/"} {
		if s, ok := strings.CutPrefix(name, p); ok {
			return s
		}
	}
	return name
}
