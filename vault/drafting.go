package vault

import (
	"errors"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"unicode"

	"kb/draft"
	"kb/gitstore"
)

// draftBase is the branch, as a full ref, that drafts of r start from and are
// merged into, and its commit.
func (v *Vault) draftBase(r *repo) (ref string, tip gitstore.CommitID, err error) {
	if name := v.cfg.DraftBase; name != "" {
		ref = "refs/heads/" + strings.TrimPrefix(name, "refs/heads/")
		if tip, err = r.Resolve(ref); errors.Is(err, gitstore.ErrNoRevision) {
			return "", tip, errorf(NotFound, "no branch %s, which draft_base names", name).
				hint("draft_base in %s is the branch that drafts start from", ConfigName)
		}
	} else {
		ref, tip, err = r.Head()
	}
	switch {
	case errors.Is(err, gitstore.ErrUnborn):
		return "", tip, errorf(Conflict, "the branch has no commit that a draft could start from").
			hint("make a first commit: git add . && git commit -m 'first notes'")
	case err != nil:
		return "", tip, errorf(Internal, "find the branch that drafts start from: %w", err)
	case ref == "":
		return "", tip, errorf(Conflict, "HEAD is detached: a draft would start from no branch").
			hint("git switch main, or name the branch in %s: draft_base: main", ConfigName)
	case strings.HasPrefix(ref, draftRefs):
		return "", tip, errorf(Conflict, "the checked-out branch is itself a draft").
			hint("git switch main, or name the branch in %s: draft_base: main", ConfigName)
	}
	return ref, tip, nil
}

// draftStore returns the drafts of r, and the commit that a new one starts from.
func (v *Vault) draftStore(r *repo) (*draft.Store, gitstore.CommitID, error) {
	ref, tip, err := v.draftBase(r)
	if err != nil {
		return nil, tip, err
	}
	return &draft.Store{Repo: r.Repo, Base: ref}, tip, nil
}

// draftsToRead is draftStore for who only reads: on an unborn branch, a detached
// HEAD or a draft there are drafts, too. unsure says then why it is not known
// which branch they are for; they are compared with the usual one.
func (v *Vault) draftsToRead(r *repo) (s *draft.Store, unsure, err error) {
	s, _, err = v.draftStore(r)
	if err == nil || AsError(err).Code != Conflict {
		return s, nil, err
	}
	base := "refs/heads/main"
	if _, missing := r.Resolve(base); missing != nil {
		base = "refs/heads/master"
	}
	return &draft.Store{Repo: r.Repo, Base: base}, err, nil
}

// baseToRead is the commit of draftsToRead's branch. Where there is no such branch,
// the error is why it is not known.
func (v *Vault) baseToRead(r *repo) (gitstore.CommitID, error) {
	s, unsure, err := v.draftsToRead(r)
	if err != nil {
		return gitstore.CommitID{}, err
	}
	tip, err := r.Resolve(s.Base)
	if err != nil && unsure != nil {
		return tip, unsure
	}
	return tip, err
}

// draftError makes one of ours of what a [draft.Store] says.
func draftError(err error) error {
	var ours *Error
	e := errorf(Internal, "%w", err)
	switch {
	case err == nil || errors.As(err, &ours):
		return err
	case errors.Is(err, draft.ErrName):
		e.Code = Usage
	case errors.Is(err, draft.ErrNotFound):
		e.Code = NotFound
		return e.hint("kb_drafts lists the drafts")
	case errors.Is(err, draft.ErrNoChange):
		return &Error{Code: Conflict, Message: "nothing changes: the note says so already", cause: err}
	case errors.Is(err, draft.ErrCheckedOut):
		e.Code = Conflict
		return e.hint("git switch to another branch, or use another draft")
	case errors.Is(err, draft.ErrNameTaken), errors.Is(err, draft.ErrClosed), errors.Is(err, draft.ErrNotClosed):
		e.Code = Conflict
	case errors.Is(err, gitstore.ErrUnsafePath):
		e.Code = Usage
	case errors.Is(err, gitstore.ErrPathConflict):
		e.Code = Conflict
		return e.hint("another file or directory is in the way of that name, perhaps one that differs in case only")
	case errors.Is(err, gitstore.ErrUnborn):
		e.Code = Conflict
		return e.hint("make a first commit: git add . && git commit -m 'first notes'")
	case errors.Is(err, gitstore.ErrLocked):
		e.Code = Busy
		return e.hint("another program is changing the same branch: try again")
	}
	return e
}

// draftRefs is where open drafts are.
const draftRefs = "refs/heads/drafts/"

// writable returns the collection that a change is for; without a name the only
// one that takes changes.
func (v *Vault) writable(name string) (*collection, error) {
	var able []*collection
	var names []string
	for _, c := range v.cols {
		if c.Writable {
			able, names = append(able, c), append(names, c.Name)
		}
	}
	known := strings.Join(names, ", ")
	if name != "" {
		c, err := v.collection(name)
		if err != nil || c.Writable {
			return c, err
		}
		return nil, errorf(ReadOnly, "collection %s is read-only", name).hint("%s", readOnlyHint(known))
	}
	switch len(able) {
	case 0:
		return nil, errorf(ReadOnly, "no collection takes changes").hint("%s", readOnlyHint(known))
	case 1:
		return able[0], nil
	}
	return nil, errorf(Usage, "several collections take changes").hint("collection is one of: %s", known)
}

func readOnlyHint(writable string) string {
	if writable == "" {
		return "writable: true in " + ConfigName + " lets drafts change a collection"
	}
	return "these take changes: " + writable
}

// checkTarget refuses a path, relative to c, at which no draft may put or change
// a note: one that leaves the collection or is no note of it, is protected, or
// is not the caller's to see. A fresh path, which no note has, is also one that
// every file system can hold.
func (v *Vault) checkTarget(c *collection, p string, fresh bool) error {
	full := c.full(p)
	if why := v.protection(c, p); why != "" {
		return errorf(Protected, "%s is protected: %s", full, why).hint("no draft changes it; a person can, with git")
	}
	if err := gitstore.CheckPath(p, fresh); err != nil {
		return errorf(Usage, "%w", err).hint("a path within the collection, such as guides/retry.md")
	}
	if !c.holds(p) {
		return errorf(Usage, "%s would be no note of collection %s", clip(p, 200), c.Name).
			hint("its include and exclude in %s say what is", ConfigName)
	}
	if s := v.paths(); !s.path(c, p) || fresh && !s.file(c, p) {
		return errorf(Protected, "%s is %s", clip(p, 200), v.level(c, p, nil)).hint("who does not see notes there writes none")
	}
	return nil
}

// protectedNames are the files and directories that no draft may touch, at any
// depth and in any case, beside all that begin with .git.
var protectedNames = map[string]bool{
	".kb": true, "kb.yaml": true, ".obsidian": true, "agents.md": true, "claude.md": true,
	".cursor": true, ".claude": true,
}

// shortName is the form of a name that NTFS makes of a longer one: what it would
// stand for is not known.
var shortName = regexp.MustCompile(`(?i)^[^./]{1,8}~\d+(\.[^./]{0,3})?$`)

// protection says why no draft may touch the file at p, relative to c; "" when
// one may.
func (v *Vault) protection(c *collection, p string) string {
	for part := range strings.SplitSeq(protectionKey(c.full(p)), "/") {
		switch {
		case strings.HasPrefix(part, ".git"):
			return "git and its forges read .git*"
		case protectedNames[part]:
			return "programs and agents take orders from " + part
		case shortName.MatchString(part):
			return part + " may be the short form of another name"
		}
	}
	for _, name := range []string{p, c.full(p), v.fromConfig(c, p)} {
		for _, pattern := range v.cfg.Protected {
			if name != "" && matchPattern(protectionKey(pattern), protectionKey(name)) {
				return "protected in " + ConfigName + ": " + pattern
			}
		}
	}
	return ""
}

// matchPattern is matchAny for one pattern of a person's, where a directory
// means all that is in it.
func matchPattern(pattern, name string) bool {
	pattern = strings.TrimPrefix(strings.TrimPrefix(pattern, "./"), "/")
	dir := strings.TrimSuffix(pattern, "/")
	return matchAny([]string{dir, dir + "/**"}, name)
}

// fromConfig is the path of a note as seen from the configuration's directory,
// "" when it is not below that.
func (s *shared) fromConfig(c *collection, p string) string {
	if s.cfg.File == "" {
		return ""
	}
	dir, err := filepath.Rel(filepath.Dir(s.cfg.File), c.Path)
	if err != nil {
		return ""
	}
	return path.Join(filepath.ToSlash(dir), p)
}

// protectionKey is equal for paths that some file system takes for the same:
// beside what FoldPath knows, HFS+ does not see characters without a shape.
func protectionKey(p string) string {
	return gitstore.FoldPath(strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Variation_Selector, r) {
			return -1
		}
		return r
	}, p))
}
