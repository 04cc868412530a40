package vault

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"kb/gitstore"
)

// atParam names the view that an operation reads: any git revision, a date (its end
// in UTC; the base branch then), or "worktree". Empty is the vault's default.
type atParam struct {
	At string `json:"at,omitempty" help:"git revision, date or worktree"`
}

// Seen says what was read. It is part of every answer.
type Seen struct {
	Commit      string            `json:"commit,omitempty"`                 // 40 hexadecimal digits; the base of a work tree view
	Commits     map[string]string `json:"commits,omitempty" schema:"-"`     // by collection, when there are several repositories
	Worktree    bool              `json:"worktree,omitempty" schema:"-"`    // the files as they are on disk
	Tree        string            `json:"tree,omitempty" schema:"-"`        // identity of a work tree view's notes
	Uncommitted *int              `json:"uncommitted,omitempty" schema:"-"` // notes of a work tree view that differ from its commit
	Unread      int               `json:"unread,omitempty" schema:"-"`      // notes that git does not have, as in a partial clone: the answer knows nothing of them
}

// base is what one repository contributes to a view.
type base struct {
	repo     *repo
	commit   gitstore.CommitID // zero when the branch is unborn
	tree     gitstore.TreeID   // read instead of the commit's, when it is not zero
	worktree bool
}

// files lists those below a directory.
func (b base) files(ctx context.Context, dir string) ([]gitstore.File, []gitstore.Problem, error) {
	if !b.tree.IsZero() {
		return b.repo.TreeFiles(ctx, b.tree, dir)
	}
	return b.repo.Files(ctx, b.commit, dir)
}

const worktree = "worktree"

// revision returns what at means to v, after the vault's default.
func (v *Vault) revision(at string) string {
	if at = strings.TrimSpace(at); at != "" {
		return at
	}
	return v.cfg.View
}

// resolve turns at into one base per repository. A name that only some
// repositories know, such as a hash, restricts the view to those.
func (v *Vault) resolve(at string) ([]base, error) {
	at = v.revision(at)
	var bases []base
	var failed error
	for _, r := range v.repos {
		b, err := v.resolveIn(r, at)
		if errors.Is(err, gitstore.ErrNoRevision) || errors.Is(err, gitstore.ErrAmbiguous) {
			failed = err
			continue
		}
		if err != nil {
			return nil, errorf(Internal, "read %s: %w", r.GitDir(), err).hint("git fsck looks for the cause")
		}
		bases = append(bases, b)
	}
	if len(bases) == 0 && failed != nil {
		return nil, noRevision(at, failed)
	}
	return bases, nil
}

func (v *Vault) resolveIn(r *repo, at string) (base, error) {
	b := base{repo: r}
	var err error
	day, isDate := parseMoment(at)
	switch {
	case at == worktree:
		_, b.commit, err = r.Head()
		b.worktree = r.WorkTree() != "" && err == nil
	case isDate:
		var from gitstore.CommitID
		if from, err = v.baseBranch(r); err == nil {
			b.commit, err = r.ResolveDate(from, day)
		}
	default:
		b.commit, err = r.Resolve(at)
	}
	if errors.Is(err, gitstore.ErrUnborn) {
		return base{repo: r}, nil
	}
	return b, err
}

// baseBranch is the tip of the branch that drafts start from and dates are
// counted on.
func (v *Vault) baseBranch(r *repo) (gitstore.CommitID, error) {
	if v.cfg.DraftBase != "" {
		return r.Resolve(v.cfg.DraftBase)
	}
	_, id, err := r.Head()
	return id, err
}

func noRevision(at string, err error) *Error {
	switch {
	case errors.Is(err, gitstore.ErrAmbiguous):
		return errorf(Usage, "%w", err).hint("give more digits")
	case errors.Is(err, gitstore.ErrNoRevision):
		if _, ok := parseMoment(at); ok {
			return errorf(NotFound, "no commit at or before %s", at).hint("kb history lists the commits of a note")
		}
		if i := strings.Index(err.Error(), "git fetch"); i >= 0 {
			return errorf(NotFound, "no revision %s", at).hint("%s", err.Error()[i:])
		}
		return errorf(NotFound, "no revision %s", at).
			hint("a branch, a tag, a commit hash, HEAD~3, main@{1}, a date such as 2026-01-31, or worktree")
	}
	return errorf(Internal, "resolve %s: %w", at, err)
}

var dateForm = regexp.MustCompile(`^\d{4}-\d{2}-\d{2}$`)

// parseMoment reads a date, which means the end of that day in UTC, or an RFC
// 3339 time.
func parseMoment(s string) (time.Time, bool) {
	if dateForm.MatchString(s) {
		day, err := time.Parse(time.DateOnly, s)
		return day.AddDate(0, 0, 1).Add(-time.Nanosecond), err == nil
	}
	t, err := time.Parse(time.RFC3339, s)
	return t, err == nil
}

// baseKey names what the bases are.
func baseKey(bases []base) string {
	var sb strings.Builder
	for _, b := range bases {
		fmt.Fprintf(&sb, "%s %s %v\n", b.commit, b.tree, b.worktree)
	}
	return sb.String()
}

// seen tells what was read.
func (w *view) seen() Seen {
	s := Seen{Worktree: w.worktree, Tree: w.tree, Unread: w.gaps.count()}
	if w.worktree {
		n := 0
		for i := range w.docs {
			if w.docs[i].uncommitted {
				n++
			}
		}
		n += len(w.gone)
		s.Uncommitted = &n
	}
	if len(w.v.repos) == 1 {
		if len(w.bases) == 1 && !w.bases[0].commit.IsZero() {
			s.Commit = w.bases[0].commit.String()
		}
		return s
	}
	s.Commits = map[string]string{}
	for _, b := range w.bases {
		for _, c := range b.repo.cols {
			if !b.commit.IsZero() {
				s.Commits[c.Name] = b.commit.String()
			}
		}
	}
	return s
}

// reads reports whether w is of a collection's repository too.
func (w *view) reads(c *collection) bool {
	for _, b := range w.bases {
		if b.repo == c.repo {
			return true
		}
	}
	return false
}

// short names a commit to a person.
func short(id gitstore.CommitID) string { return id.String()[:12] }

// fullName names what was read, for an answer: its commits, or worktree.
func (w *view) fullName() string {
	if w.worktree {
		return worktree
	}
	var ids []string
	for _, b := range w.bases {
		if !b.commit.IsZero() {
			ids = append(ids, b.commit.String())
		}
	}
	return strings.Join(ids, " ")
}

// commitOf returns the base commit of a collection in w.
func (w *view) commitOf(c *collection) gitstore.CommitID {
	for _, b := range w.bases {
		if b.repo == c.repo {
			return b.commit
		}
	}
	return gitstore.CommitID{}
}

// short is how a view is named to a person.
func (w *view) short() string {
	if w.worktree {
		return "the work tree"
	}
	for _, b := range w.bases {
		if !b.commit.IsZero() {
			return b.commit.String()[:12]
		}
	}
	return "an empty repository"
}
