package gitstore

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Resolve returns the commit that a revision names: HEAD or @, the name of a
// branch, tag or remote branch in full or short with git's precedence, such a name
// and @{n} for where it was n moves ago, a hash in full or its first four or more
// digits; each followed by any number of ~, ~n, ^, ^n, ^{} and ^{commit}. Tags are
// peeled. Nothing is remembered: refs are read at every call.
//
// Errors wrap [ErrNoRevision], [ErrAmbiguous] or [ErrUnborn].
func (r *Repo) Resolve(rev string) (CommitID, error) {
	base, steps := rev, ""
	if i := strings.IndexAny(rev, "~^"); i >= 0 {
		base, steps = rev[:i], rev[i:]
	}
	target, err := r.resolveName(rev, base)
	if err != nil {
		return CommitID{}, err
	}
	id, err := r.peel(target)
	if err != nil {
		return CommitID{}, noRevision(rev, err)
	}
	return r.ascend(id, rev, steps)
}

// noRevision names the revision and keeps the reason.
func noRevision(rev string, why error) error {
	if why == nil {
		return fmt.Errorf("%w %q", ErrNoRevision, rev)
	}
	return fmt.Errorf("%w %q: %w", ErrNoRevision, rev, why)
}

var errSyntax = errors.New("that syntax is not understood here")

// resolveName resolves a revision without its suffixes to an object.
func (r *Repo) resolveName(rev, name string) (oid, error) {
	if id, ok := parseOID(name); ok {
		return id, nil
	}
	if name == "@" {
		name = "HEAD"
	}
	if ref, n, ok := cutReflog(name); ok {
		return r.fromReflog(rev, ref, n)
	}
	if !validRef(name) {
		if strings.ContainsAny(name, ":@") {
			return oid{}, noRevision(rev, errSyntax)
		}
		return oid{}, noRevision(rev, nil)
	}
	for _, full := range candidates(name) {
		last, id, err := r.follow(full)
		if err != nil {
			return oid{}, noRevision(rev, err)
		}
		if id != (oid{}) {
			return id, nil
		}
		if full == "HEAD" {
			return oid{}, fmt.Errorf("%w: %s", ErrUnborn, shortRef(last))
		}
	}
	return r.resolveShort(rev, name)
}

// candidates lists the refs that a short name may mean, in git's order.
func candidates(name string) []string {
	var full []string
	if strings.HasPrefix(name, "refs/") || isPseudoRef(name) {
		full = append(full, name)
	}
	return append(full, "refs/"+name, "refs/tags/"+name, "refs/heads/"+name,
		"refs/remotes/"+name, "refs/remotes/"+name+"/HEAD")
}

// isPseudoRef recognises HEAD, ORIG_HEAD and the like, which stand beside
// other files of the git directory.
func isPseudoRef(name string) bool {
	return strings.HasSuffix(name, "HEAD") && strings.Trim(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_") == ""
}

// resolveShort resolves the beginning of a hash, also as git describe writes it
// (v1.0-3-gabcdef). Only what leads to a commit counts.
func (r *Repo) resolveShort(rev, name string) (oid, error) {
	digits := strings.ToLower(name)
	if i := strings.LastIndex(digits, "-g"); i >= 0 {
		digits = digits[i+2:]
	}
	if len(digits) < 4 || len(digits) > 40 || strings.Trim(digits, "0123456789abcdef") != "" {
		return oid{}, noRevision(rev, nil)
	}
	ids, err := r.withPrefix(digits)
	if err != nil {
		return oid{}, noRevision(rev, err)
	}
	var commits []oid
	var why error
	for _, id := range ids {
		if _, err := r.peel(id); err != nil {
			why = err
		} else {
			commits = append(commits, id)
		}
	}
	switch len(commits) {
	case 0:
		return oid{}, noRevision(rev, why)
	case 1:
		return commits[0], nil
	}
	return oid{}, fmt.Errorf("%w %q: it may be %s", ErrAmbiguous, rev, joinIDs(commits))
}

func joinIDs(ids []oid) string {
	const most = 10
	var names []string
	for _, id := range ids[:min(len(ids), most)] {
		names = append(names, id.String())
	}
	if len(ids) > most {
		names = append(names, fmt.Sprintf("… (%d in all)", len(ids)))
	}
	return strings.Join(names, ", ")
}

// withPrefix lists the objects whose hashes start with the given digits, in
// order.
func (r *Repo) withPrefix(digits string) ([]oid, error) {
	for {
		l, err := r.packs.acquire()
		if err != nil {
			return nil, err
		}
		var ids []oid
		for _, p := range l.packs {
			p.index.withPrefix(digits, func(id oid) { ids = append(ids, id) })
		}
		for _, dir := range r.packs.objectDirs {
			ids = append(ids, loosePrefix(dir, digits)...)
		}
		again := r.packs.changed(l)
		r.packs.release(l)
		if !again {
			slices.SortFunc(ids, func(a, b oid) int { return strings.Compare(string(a[:]), string(b[:])) })
			return slices.Compact(ids), nil
		}
	}
}

func loosePrefix(dir, digits string) []oid {
	files, err := os.ReadDir(filepath.Join(dir, digits[:2]))
	if err != nil {
		return nil
	}
	var ids []oid
	for _, f := range files {
		name := digits[:2] + f.Name()
		if id, ok := parseOID(name); ok && strings.HasPrefix(name, digits) {
			ids = append(ids, id)
		}
	}
	return ids
}

// peel follows annotated tags to a commit.
func (r *Repo) peel(id oid) (CommitID, error) {
	const maxTags = 16
	for range maxTags {
		o, err := r.object(id)
		if err != nil {
			return CommitID{}, fmt.Errorf("object %s: %w", id, err)
		}
		switch o.kind {
		case kindCommit:
			return CommitID(id), nil
		case kindTag:
			line, _, _ := strings.Cut(string(o.data[:min(len(o.data), 100)]), "\n")
			target, ok := parseOID(strings.TrimPrefix(line, "object "))
			if !ok {
				return CommitID{}, fmt.Errorf("tag %s: %w: it names no object", id, ErrCorrupt)
			}
			id = target
		default:
			return CommitID{}, fmt.Errorf("object %s is a %s", id, o.kind)
		}
	}
	return CommitID{}, fmt.Errorf("tag %s: %w: tags of tags without end", id, ErrCorrupt)
}

// ascend applies suffixes: ~3, ^2, ^{commit}.
func (r *Repo) ascend(id CommitID, rev, steps string) (CommitID, error) {
	shallow, err := r.shallow()
	if err != nil {
		return CommitID{}, noRevision(rev, err)
	}
	for steps != "" {
		var op byte
		var n int
		op, n, steps, err = cutStep(steps)
		switch {
		case err != nil:
		case op == '~':
			id, err = r.ancestor(id, n, shallow)
		default:
			id, err = r.parent(id, n, shallow)
		}
		if err != nil {
			return CommitID{}, noRevision(rev, err)
		}
	}
	return id, nil
}

// cutStep takes one suffix off. ^{} and ^{commit} are ^0.
func cutStep(steps string) (op byte, n int, rest string, err error) {
	op, rest = steps[0], steps[1:]
	for _, peel := range [...]string{"{}", "{commit}"} {
		if after, ok := strings.CutPrefix(rest, peel); ok && op == '^' {
			return op, 0, after, nil
		}
	}
	if op != '~' && op != '^' {
		return op, 0, rest, errSyntax
	}
	digits := len(rest) - len(strings.TrimLeft(rest, "0123456789"))
	n, err = countOf(rest[:digits])
	return op, n, rest[digits:], err
}

func countOf(digits string) (int, error) {
	if digits == "" {
		return 1, nil
	}
	n, err := strconv.ParseInt(digits, 10, 32)
	return int(n), err
}

// parent returns the nth parent, counting from 1; 0 is the commit itself.
func (r *Repo) parent(id CommitID, n int, shallow map[CommitID]bool) (CommitID, error) {
	c, err := r.node(id)
	if err != nil || n == 0 {
		return id, err
	}
	switch {
	case n > len(c.parents):
		return CommitID{}, fmt.Errorf("commit %s has %d parents", id, len(c.parents))
	case shallow[id]:
		return CommitID{}, fmt.Errorf("the shallow clone ends at commit %s; git fetch --unshallow brings the rest", id)
	}
	return c.parents[n-1], nil
}

// ancestor goes n first parents back.
func (r *Repo) ancestor(id CommitID, n int, shallow map[CommitID]bool) (CommitID, error) {
	var err error
	for ; n > 0 && err == nil; n-- {
		id, err = r.parent(id, 1, shallow)
	}
	return id, err
}

// ResolveDate returns the newest commit on the first-parent line of base whose
// committer date is not after t. There is none before the line begins: the
// error wraps [ErrNoRevision].
func (r *Repo) ResolveDate(base CommitID, t time.Time) (CommitID, error) {
	shallow, err := r.shallow()
	if err != nil {
		return CommitID{}, err
	}
	for id := base; ; {
		c, err := r.node(id)
		if err != nil {
			return CommitID{}, fmt.Errorf("find the commit of %s: %w", t.Format(time.RFC3339), err)
		}
		if c.when <= t.Unix() {
			return id, nil
		}
		if len(c.parents) == 0 || shallow[id] {
			return CommitID{}, fmt.Errorf("%w: no commit at %s; the first is of %s", ErrNoRevision,
				t.Format(time.RFC3339), time.Unix(c.when, 0).UTC().Format(time.RFC3339))
		}
		id = c.parents[0]
	}
}
