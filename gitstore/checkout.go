package gitstore

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// checkout is a work tree of the repository: the main one, or a linked one.
type checkout struct {
	dir    string // "" if there is no such directory now
	gitDir string
	head   string // the branch, in full; "" if it is detached
	locked bool   // git was told that the directory comes back
}

// CheckedOut lists the work trees that have a branch checked out, the main one
// and linked ones. One whose directory is gone counts while git holds it locked;
// it is named by its directory in the repository.
func (r *Repo) CheckedOut(branch string) ([]string, error) {
	list, err := r.checkouts(branch)
	if err != nil {
		return nil, fmt.Errorf("find work trees of %s: %w", shortRef(branch), err)
	}
	dirs := make([]string, len(list))
	for i, c := range list {
		dirs[i] = c.dir
		if c.dir == "" {
			dirs[i] = c.gitDir
		}
	}
	return dirs, nil
}

func (r *Repo) checkouts(branch string) ([]checkout, error) {
	var found []checkout
	add := func(gitDir string, dir func() (string, error)) error {
		head, err := readSmall(filepath.Join(gitDir, "HEAD"))
		if err != nil {
			if isMissing(err) {
				return nil // removed meanwhile
			}
			return err
		}
		link, _, err := parseRef("HEAD", head)
		if err != nil || link != branch {
			return err
		}
		c := checkout{gitDir: gitDir, head: link}
		if c.dir, err = dir(); err != nil {
			return err
		}
		_, err = os.Lstat(filepath.Join(gitDir, "locked"))
		if c.locked = err == nil; c.dir != "" || c.locked {
			found = append(found, c)
		}
		return nil
	}
	if err := add(r.commonDir, r.mainWorkTree); err != nil {
		return nil, err
	}
	linked, err := os.ReadDir(filepath.Join(r.commonDir, "worktrees"))
	if err != nil && !isMissing(err) {
		return nil, err
	}
	for _, e := range linked {
		gitDir := filepath.Join(r.commonDir, "worktrees", e.Name())
		if err := add(gitDir, func() (string, error) { return linkedWorkTree(gitDir) }); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// mainWorkTree returns the work tree beside the common directory, "" for none.
func (r *Repo) mainWorkTree() (string, error) {
	if r.commonDir == r.gitDir {
		return r.workTree, nil
	}
	config, err := loadConfig(r.commonDir, r.commonDir)
	if err != nil {
		return "", err
	}
	main := Repo{gitDir: r.commonDir, commonDir: r.commonDir, config: config}
	return main.findWorkTree(location{gitDir: r.commonDir}), nil
}

// linkedWorkTree returns the directory of a linked work tree, "" if it is gone.
func linkedWorkTree(gitDir string) (string, error) {
	b, err := readSmall(filepath.Join(gitDir, "gitdir"))
	if err != nil {
		if isMissing(err) {
			return "", nil
		}
		return "", err
	}
	file := absFrom(gitDir, strings.TrimRight(string(b), "\r\n"))
	if _, err := os.Lstat(file); err != nil {
		return "", nil
	}
	return filepath.Dir(file), nil
}

// follow is a work tree on its way from one commit to another.
type follow struct {
	repo     *Repo
	checkout checkout
	old, new CommitID
	message  string // for the reflog of HEAD
}

// checkout takes the work trees along that have a branch checked out.
func (m *refMove) checkout(ctx context.Context) error {
	repo := m.guard.repo
	for _, u := range m.list {
		if !u.Checkout {
			continue
		}
		list, err := repo.checkouts(u.Name)
		if err != nil {
			return err
		}
		for _, c := range list {
			m.follows = append(m.follows, follow{repo, c, u.Old, u.New, u.Message})
		}
	}
	for _, f := range m.follows {
		if err := f.check(ctx); err != nil {
			return err
		}
	}
	for i, f := range m.follows {
		if err := m.guard.list(f.line()); err != nil {
			return err
		}
		repo.step("work tree listed")
		if err := f.turn(ctx, f.old, f.new); err != nil {
			m.follows = m.follows[:i]
			return errors.Join(err, m.checkin(ctx))
		}
		repo.step("work tree changed")
	}
	return nil
}

// checkin takes the work trees back.
func (m *refMove) checkin(ctx context.Context) error {
	var failed error
	for _, f := range m.follows {
		failed = errors.Join(failed, f.turn(context.WithoutCancel(ctx), f.new, f.old))
	}
	return failed
}

func (f *follow) line() string {
	return followLine + strings.Join([]string{f.old.String(), f.new.String(), f.checkout.head, f.checkout.gitDir}, " ")
}

// parseFollow reads what line writes. A work tree that has another branch now
// is nobody's business any more.
func (r *Repo) parseFollow(line string) []follow {
	part := strings.SplitN(line, " ", 4)
	if len(part) < 4 {
		return nil
	}
	from, err1 := ParseCommitID(part[0])
	to, err2 := ParseCommitID(part[1])
	list, err3 := r.checkouts(part[2])
	if errors.Join(err1, err2, err3) != nil {
		return nil
	}
	var found []follow
	for _, c := range list {
		if c.gitDir == part[3] {
			found = append(found, follow{repo: r, checkout: c, old: from, new: to})
		}
	}
	return found
}

// recover takes a work tree of a dead writer to where its branch is, if that is
// what it left. A user who went on in the meantime is not disturbed.
func (f *follow) recover(decided bool) {
	from, to := f.new, f.old
	if decided {
		from, to = f.old, f.new
	}
	if now, err := f.repo.Resolve(f.checkout.head); err == nil && now == to && f.unobstructed(context.Background(), from, to) {
		f.turn(context.Background(), from, to) // as good as it gets: git status shows the rest
	}
}

// turn updates index and files from one commit to another. It refuses where that
// would lose something, and does nothing where it is done.
func (f *follow) turn(ctx context.Context, from, to CommitID) error {
	err := f.repo.waitFor(filepath.Join(f.checkout.gitDir, "index.lock"))
	if err == nil {
		f.git(ctx, "update-index", "-q", "--refresh") // fails when something differs, which is no matter
		_, err = f.git(ctx, "read-tree", "-m", "-u", from.String(), to.String())
	}
	if dirty := f.refused(err); dirty != nil {
		return dirty
	}
	if err != nil {
		return fmt.Errorf("update work tree %s: %w", f.checkout.dir, err)
	}
	return nil
}

// waitFor waits until a lock of git's is gone.
func (r *Repo) waitFor(lock string) error {
	g := guard{repo: r, until: time.Now().Add(r.patience)}
	return g.wait(lock, func() (bool, error) {
		_, err := os.Lstat(lock)
		if errors.Is(err, fs.ErrNotExist) {
			return true, nil
		}
		return false, err
	})
}

func (f *follow) git(ctx context.Context, args ...string) (string, error) {
	c := gitCall{gitDir: f.checkout.gitDir, dir: f.checkout.dir, env: []string{"GIT_WORK_TREE=" + f.checkout.dir, "LC_ALL=C"}, limit: time.Hour}
	return c.run(ctx, append([]string{"-c", "submodule.recurse=false"}, args...)...)
}
