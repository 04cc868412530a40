package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// measureGrowth repeats the main figures on ever larger parts of tldr.
func measureGrowth(l *lab) (*table, error) {
	t := &table{}
	full, err := l.tldr()
	if err != nil {
		return t, err
	}
	queries, err := headingQueries(full, l.rounds(100))
	if err != nil {
		return t, err
	}
	for _, size := range []int{500, 5000, 38430} {
		dir, err := l.subset(full, size)
		if err != nil {
			return t, err
		}
		if err := l.growthOf(t, fmt.Sprintf("%d notes", size), dir, queries); err != nil {
			return t, err
		}
	}
	t.note("Notes of tldr at even distances, each subset a repository of one commit with a work tree. Everything at HEAD; FTS5 as above.")
	t.note("The same %d queries at every size, drawn from the headings of all notes. One-shot: `kb search` in a process of its own, on the clock.", len(queries))
	return t, nil
}

// growthOf adds the figures of one size.
func (l *lab) growthOf(t *table, name, dir string, queries []string) error {
	var kbCPU, ftsCPU, kbQuery, ftsQuery, oneShot sample
	var v vault
	var db string
	err := inTurn(l.rounds(3), func() error {
		v = l.vault(dir)
		_, c, err := v.reindex("HEAD")
		kbCPU.add(c.cpu)
		return err
	}, func() (err error) {
		var c cost
		db, c, err = l.fts5Build(dir)
		ftsCPU.add(c.cpu)
		return err
	})
	if err != nil {
		return err
	}
	for _, q := range queries[:min(len(queries), l.rounds(10))] {
		_, c, err := v.run("search", q, "--at", "HEAD")
		if err != nil {
			return err
		}
		oneShot.add(c.wall)
	}
	c, err := v.serve()
	if err != nil {
		return err
	}
	f, err := l.fts5Serve(db)
	if err != nil {
		return errors.Join(err, c.close())
	}
	defer f.close()
	err = c.warm(queries, "HEAD")
	for _, q := range queries {
		err = errors.Join(err,
			timed(&kbQuery, func() (time.Duration, error) { _, d, err := c.search(q, "HEAD"); return d, err }),
			timed(&ftsQuery, func() (time.Duration, error) { return f.search(q, false) }))
	}
	if err := errors.Join(err, c.close()); err != nil {
		return err
	}
	t.compare(name+": index CPU", inSeconds, kbCPU.median(), "FTS5", ftsCPU.median(), nil)
	t.compare(name+": on disk", inBytes, diskUse(v.cache), "FTS5", diskUse(db), nil)
	t.compare(name+": warm p50 over MCP", inSeconds, kbQuery.median(), "FTS5", ftsQuery.median(), nil)
	t.value(name+": one-shot search", inSeconds, oneShot.median(), nil)
	return nil
}

// subset is a repository of size notes of the work tree full.
func (l *lab) subset(full string, size int) (string, error) {
	return l.fixture(fmt.Sprintf("tldr-%d", size), func(path string) error {
		listing, _, err := l.command(full, "git", "ls-tree", "-r", "HEAD")
		if err != nil {
			return err
		}
		var notes []string
		for _, line := range strings.Split(listing, "\n") {
			if strings.HasPrefix(line, "100") && strings.HasSuffix(strings.Trim(line, `"`), ".md") {
				notes = append(notes, line)
			}
		}
		tree, err := l.writeTree(full, spread(notes, size))
		if err != nil {
			return err
		}
		commit, _, err := l.command(full, "git", "commit-tree", "-m", "subset", tree)
		if err != nil {
			return err
		}
		for _, args := range [][]string{
			{"init", "--quiet", path},
			{"push", "--quiet", path, strings.TrimSpace(commit) + ":refs/heads/notes"},
			{"-C", path, "checkout", "--quiet", "notes"},
		} {
			if err := l.git(full, args...); err != nil {
				return err
			}
		}
		return nil
	})
}

// writeTree makes a tree of lines that git ls-tree printed.
func (l *lab) writeTree(repo string, lines []string) (string, error) {
	env := append(environment(), "GIT_INDEX_FILE="+filepath.Join(l.dir, "subset.index"))
	defer os.Remove(filepath.Join(l.dir, "subset.index"))
	add := exec.CommandContext(l.ctx, "git", "update-index", "--add", "--index-info")
	add.Dir, add.Env, add.Stdin = repo, env, strings.NewReader(strings.Join(lines, "\n")+"\n")
	if out, err := add.CombinedOutput(); err != nil {
		return "", fmt.Errorf("git update-index: %w: %s", err, tail(string(out)))
	}
	write := exec.CommandContext(l.ctx, "git", "write-tree")
	write.Dir, write.Env = repo, env
	out, err := write.Output()
	return strings.TrimSpace(string(out)), err
}
