package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// measureWorktree measures what looking through the work tree adds to a search,
// and what a search costs after an edit.
func measureWorktree(l *lab) (*table, error) {
	t := &table{}
	for _, w := range []struct {
		name string
		make func() (string, error)
	}{{"rust-rfcs", l.rfcs}, {"tldr", l.tldr}} {
		dir, err := w.make()
		if err != nil {
			return t, err
		}
		if err := l.worktreeOf(t, w.name, dir); err != nil {
			return t, err
		}
	}
	t.note("The check is what a warm search of the default view (the work tree) takes longer than the same pinned to HEAD, over MCP: the median over the queries. git status includes its process.")
	t.note("An edit adds a line with a new word to one note. The search that follows asks for the word and finds the note, or the run fails.")
	return t, nil
}

func (l *lab) worktreeOf(t *table, name, dir string) error {
	v := l.vault(dir)
	if _, _, err := v.reindex(""); err != nil {
		return err
	}
	queries, err := headingQueries(dir, l.rounds(50))
	if err != nil {
		return err
	}
	c, err := v.serve()
	if err != nil {
		return err
	}
	if err = l.checkCost(t, name, dir, c, queries); err == nil {
		err = l.editCost(t, name, dir, c)
	}
	return errors.Join(err, c.close())
}

func (l *lab) checkCost(t *table, name, dir string, c *client, queries []string) error {
	if err := errors.Join(c.warm(queries, "HEAD", ""), l.git(dir, "status", "-uall", "--porcelain")); err != nil {
		return err
	}
	var status, open, pinned, check sample
	for _, q := range queries {
		err := errors.Join(
			timed(&pinned, func() (time.Duration, error) { _, d, err := c.search(q, "HEAD"); return d, err }),
			timed(&open, func() (time.Duration, error) { _, d, err := c.search(q, ""); return d, err }),
			timed(&status, func() (time.Duration, error) {
				_, cost, err := l.command(dir, "git", "status", "-uall", "--porcelain")
				return cost.wall, err
			}))
		if err != nil {
			return err
		}
		check = append(check, open[len(open)-1]-pinned[len(pinned)-1])
	}
	t.compare(name+": the check", inSeconds, check.median(), "git status -uall", status.median(), atMost(1.5))
	t.compare(name+": search of the work tree", inSeconds, open.median(), "search at HEAD", pinned.median(), nil)
	return nil
}

// editCost edits notes, one after the other, and searches the work tree before
// and after each.
func (l *lab) editCost(t *table, name, dir string, c *client) error {
	notes, err := markdown(dir)
	if err != nil {
		return err
	}
	var before, after sample
	for i, path := range spread(notes, l.rounds(15)) {
		if err := c.warm([]string{"edited note"}, ""); err != nil { // sees that the last edit is gone
			return err
		}
		err := timed(&before, func() (time.Duration, error) { _, d, err := c.search("edited note", ""); return d, err })
		if err != nil {
			return err
		}
		err = timed(&after, func() (time.Duration, error) { return c.searchEdited(dir, path, fmt.Sprintf("zyxwv%dq", i)) })
		if err != nil {
			return err
		}
	}
	t.compare(name+": search after one edit", inSeconds, after.median(), "the search before", before.median(), nil)
	return nil
}

// searchEdited adds a line with a new word to a note, searches the work tree for
// it, and takes the line away again. It returns what the search took.
func (c *client) searchEdited(dir, path, word string) (time.Duration, error) {
	file := filepath.Join(dir, path)
	src, err := os.ReadFile(file)
	if err != nil {
		return 0, err
	}
	if err := os.WriteFile(file, slices.Concat(src, []byte("\n"+word+"\n")), 0o644); err != nil {
		return 0, err
	}
	r, d, err := c.search(word, "")
	if err == nil && (len(r.Results) != 1 || r.Results[0].Path != path) {
		err = fmt.Errorf("after an edit of %s, a search for its new word found %v", path, r.Results)
	}
	return d, errors.Join(err, os.WriteFile(file, src, 0o644))
}

// markdown lists the notes below dir.
func markdown(dir string) (paths []string, err error) {
	err = filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() && strings.HasSuffix(path, ".md") {
			rel, _ := filepath.Rel(dir, path)
			paths = append(paths, filepath.ToSlash(rel))
		}
		return err
	})
	return paths, err
}
