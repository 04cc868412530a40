package gitstore

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// DirtyError says what of a work tree stands in the way of what a branch is to
// become.
type DirtyError struct {
	Dir      string   // the work tree
	Paths    []string // tracked files that have changes of their own
	InTheWay []string // what git does not track, ignored or not, where files are to be written
	Why      string   // of none of these: what else is the matter, after Dir
}

func (e *DirtyError) Error() string {
	var why []string
	if len(e.Paths) > 0 {
		why = append(why, "has uncommitted changes in "+strings.Join(e.Paths, ", "))
	}
	if len(e.InTheWay) > 0 {
		why = append(why, "has in the way, not tracked by git: "+strings.Join(e.InTheWay, ", "))
	}
	if len(why) == 0 {
		why = []string{e.Why}
	}
	return "work tree " + e.Dir + " " + strings.Join(why, ", and ")
}

// check refuses to change a work tree that has changes of its own in the files
// that are to change, or anything that git does not track where files are to be.
func (f *follow) check(ctx context.Context) error {
	if f.checkout.dir == "" {
		return &DirtyError{Dir: f.checkout.gitDir, Why: "is locked, and its directory is not there"}
	}
	if _, err := exec.LookPath("git"); err != nil {
		return fmt.Errorf("%w: %s is checked out in %s, and only git can update the files there", ErrNoGit, shortRef(f.checkout.head), f.checkout.dir)
	}
	if what := f.inProgress(); what != "" {
		return &DirtyError{Dir: f.checkout.dir, Why: "has a " + what + " in progress"}
	}
	changes, err := f.changes(ctx, f.old, f.new)
	if err != nil {
		return err
	}
	dirty, err := f.dirty(ctx)
	if err != nil {
		return err
	}
	e := &DirtyError{Dir: f.checkout.dir}
	for name := range changes {
		if dirty[name] {
			e.Paths = append(e.Paths, name)
		}
	}
	slices.Sort(e.Paths)
	if e.InTheWay = f.obstacles(changes, dirty); len(e.Paths)+len(e.InTheWay) > 0 {
		return e
	}
	return nil
}

// inProgress names what the user has begun in the work tree, "" for nothing.
func (f *follow) inProgress() string {
	for _, sign := range [...]struct{ file, what string }{
		{"MERGE_HEAD", "merge"}, {"rebase-merge", "rebase"}, {"rebase-apply", "rebase"}, {"CHERRY_PICK_HEAD", "cherry-pick"}, {"REVERT_HEAD", "revert"},
	} {
		if _, err := os.Lstat(filepath.Join(f.checkout.gitDir, sign.file)); err == nil {
			return sign.what
		}
	}
	return ""
}

// changes maps the files that differ between two commits to how: A, M, T, D.
func (f *follow) changes(ctx context.Context, from, to CommitID) (map[string]string, error) {
	out, err := f.git(ctx, "diff-tree", "-r", "-z", "--no-renames", "--name-status", from.String(), to.String())
	return nameStatus(out), err
}

func nameStatus(out string) map[string]string {
	changes := map[string]string{}
	fields := strings.Split(strings.TrimSuffix(out, "\x00"), "\x00")
	for i := 0; i+1 < len(fields); i += 2 {
		changes[fields[i+1]] = fields[i]
	}
	return changes
}

// obstacles lists what is not tracked and stands where files are to be written:
// at their places, or at those of the directories above. What is named as dirty
// needs no second mention.
func (f *follow) obstacles(changes map[string]string, dirty map[string]bool) []string {
	found := map[string]bool{}
	clear := map[string]bool{} // directories that are there, or that nothing hinders
	for name, kind := range changes {
		if kind == "D" || dirty[name] {
			continue
		}
		if at := f.above(path.Dir(name), changes, clear); at != "" {
			found[at] = !dirty[at]
		} else if at = f.at(name, kind, changes); at != "" && !removedAbove(name, changes) {
			found[at] = !dirty[at]
		}
	}
	var list []string
	for at, untracked := range found {
		if untracked {
			list = append(list, at)
		}
	}
	slices.Sort(list)
	return list
}

// above returns the first of a directory and those above it that is there and
// neither a directory nor a file that the change removes; "" for none.
func (f *follow) above(dir string, changes map[string]string, clear map[string]bool) string {
	if dir == "." || clear[dir] {
		return ""
	}
	if at := f.above(path.Dir(dir), changes, clear); at != "" {
		return at
	}
	if changes[dir] == "D" {
		return ""
	}
	if info, err := os.Lstat(f.file(dir)); !isMissing(err) && (err != nil || !info.IsDir()) {
		return dir
	}
	clear[dir] = true
	return ""
}

// removedAbove reports whether a file is replaced by the directory that is to hold
// another; were it a symbolic link, what is behind that would be no obstacle.
func removedAbove(name string, changes map[string]string) bool {
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		if changes[dir] == "D" {
			return true
		}
	}
	return false
}

// at returns what stands at a file's place: something where nothing should be, or
// a directory that holds more than the change removes.
func (f *follow) at(name, kind string, changes map[string]string) string {
	info, err := os.Lstat(f.file(name))
	switch {
	case isMissing(err):
		return ""
	case err != nil:
		return name
	case !info.IsDir():
		if kind == "A" {
			return name
		}
		return ""
	}
	at := ""
	filepath.WalkDir(f.file(name), func(file string, e fs.DirEntry, err error) error {
		rel, relErr := filepath.Rel(f.checkout.dir, file)
		if below := filepath.ToSlash(rel); err != nil || relErr != nil || !e.IsDir() && changes[below] != "D" {
			at = below
			return fs.SkipAll
		}
		return nil
	})
	return at
}

func (f *follow) file(name string) string {
	return filepath.Join(f.checkout.dir, filepath.FromSlash(name))
}

// unobstructed reports whether nothing untracked is in the way of a work tree that
// a dead writer left half changed: of what the index lacks of a commit.
func (f *follow) unobstructed(ctx context.Context, from, to CommitID) bool {
	changes, err := f.changes(ctx, from, to)
	if err != nil {
		return false
	}
	out, err := f.git(ctx, "diff-index", "--cached", "-z", "--no-renames", "--name-status", to.String())
	if err != nil {
		return false
	}
	left := nameStatus(out)
	for name, kind := range changes {
		if _, ok := left[name]; !ok && kind != "D" {
			delete(changes, name)
		}
	}
	return len(f.obstacles(changes, nil)) == 0
}

// dirty lists the tracked files that differ from the commit, in the work tree or
// as they are staged.
func (f *follow) dirty(ctx context.Context) (map[string]bool, error) {
	out, err := f.git(ctx, "status", "--porcelain=v2", "-z", "--untracked-files=no", "--ignore-submodules=all", "--no-renames")
	if err != nil {
		return nil, err
	}
	paths := map[string]bool{}
	for entry := range strings.SplitSeq(out, "\x00") {
		fields := map[byte]int{'1': 9, 'u': 11}[(entry + " ")[0]]
		if fields == 0 {
			continue
		}
		if part := strings.SplitN(entry, " ", fields); len(part) == fields {
			paths[part[fields-1]] = true
		}
	}
	return paths, nil
}

var refusal = regexp.MustCompile(`(?:(Entry)|Updating|working tree file) '(.+)' (?:would|not uptodate)`)

// refused reads what git read-tree says of files that it would not overwrite, such
// as changed ones that git status was told to overlook.
func (f *follow) refused(err error) *DirtyError {
	var failed *gitError
	if !errors.As(err, &failed) {
		return nil
	}
	e := &DirtyError{Dir: f.checkout.dir}
	for _, m := range refusal.FindAllStringSubmatch(failed.stderr, -1) {
		if m[1] != "" {
			e.Paths = append(e.Paths, m[2])
		} else {
			e.InTheWay = append(e.InTheWay, m[2])
		}
	}
	if len(e.Paths)+len(e.InTheWay) == 0 {
		return nil
	}
	return e
}
