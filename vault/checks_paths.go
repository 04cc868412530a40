package vault

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"kb/gitstore"
)

// unmergeable reports whether a finding refuses a draft whatever the reviewer
// says: --no-check is for what its notes say.
func (f CheckFinding) unmergeable() bool { return f.Check == checkProtected || f.Check == checkHidden }

// twins reports new paths that some file system takes for another of the merged
// tree: a clone there would lose one of the two.
func (c *checker) twins(ctx context.Context) error {
	fresh := slices.DeleteFunc(slices.Clone(c.edits), func(e *proposedEdit) bool {
		return e.now == nil || e.kind == gitstore.Changed && e.placed == ""
	})
	if len(fresh) == 0 {
		return nil
	}
	before, err := c.repo.Commit(c.into)
	if err != nil {
		return errorf(Internal, "read %s: %w", short(c.into), err)
	}
	was, err := c.spellings(ctx, before.Tree)
	if err != nil {
		return err
	}
	now, err := c.spellings(ctx, c.tree)
	if err != nil {
		return err
	}
	for _, e := range fresh {
		for p := e.fullOf(e.destination()); p != "."; p = path.Dir(p) {
			key := foldedPath(p)
			i := slices.IndexFunc(now[key], func(other string) bool { return other != p })
			if i >= 0 && !slices.Contains(was[key], p) {
				c.report(e, 1, checkProtected, "give it a name of its own", "some file systems do not tell %s from %s", p, now[key][i])
				break
			}
		}
	}
	return nil
}

// spellings are the paths of a tree's files and directories, by what file systems
// take them for.
func (p *proposal) spellings(ctx context.Context, tree gitstore.TreeID) (map[string][]string, error) {
	files, _, err := p.repo.TreeFiles(ctx, tree, "")
	if err != nil {
		return nil, errorf(Internal, "list the files to be: %w", err)
	}
	seen := map[string]bool{}
	of := map[string][]string{}
	for _, f := range files {
		for name := f.Path; name != "." && !seen[name]; name = path.Dir(name) {
			seen[name] = true
			key := foldedPath(name)
			of[key] = append(of[key], name)
		}
	}
	return of, nil
}

// foldedPath is gitstore.FoldPath, which most paths do not need.
func foldedPath(p string) string {
	if strings.IndexFunc(p, func(r rune) bool { return r >= 0x80 }) < 0 {
		return strings.ToLower(p)
	}
	return gitstore.FoldPath(p)
}

// hides says what merging changes that no review shows, "" for nothing: symbolic
// links, submodules, the executable bit. What is shown, made to the branch as it
// is, must give the tree that it would have. What is wrong with names of files is
// for twins and path to say.
func (c *checker) hides(ctx context.Context) (string, error) {
	into, err := c.repo.Commit(c.into)
	if err != nil {
		return "", errorf(Internal, "read %s: %w", short(c.into), err)
	}
	changes, err := c.repo.DiffTrees(ctx, into.Tree, c.tree)
	if err != nil {
		return "", errorf(Internal, "list what merging changes: %w", err)
	}
	shown, err := c.repo.TreeAfter(ctx, into.Tree, changes)
	if err != nil {
		return "", errorf(Internal, "compare trees: %w", err)
	}
	if shown != c.tree {
		return fmt.Sprintf("changes a symbolic link, a submodule or a file's mode: git diff %s %s", short(c.from), short(c.tip)), nil
	}
	return "", nil
}
