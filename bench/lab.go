package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"
)

// lab is where one run measures: the program, the data, and a temporary
// directory with what was made from them. Fixtures are made once, when the
// first part asks.
type lab struct {
	ctx      context.Context
	kb       string
	data     string
	dir      string
	quick    bool
	loadFor  time.Duration // of the part load
	peer     string        // the server that it compares with
	hugo     string        // programs of the part site
	pagefind string
	corpora  []string          // of the part site; none for all
	made     map[string]string // fixture → path
	next     int               // to number scratch directories
}

func newLab(ctx context.Context, kb, data string, quick bool) (*lab, error) {
	kb, err := filepath.Abs(kb)
	if err != nil {
		return nil, err
	}
	if _, err := exec.LookPath(kb); err != nil {
		return nil, fmt.Errorf("no program to measure: %w", err)
	}
	if data, err = filepath.Abs(data); err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "kb-bench-*")
	if err != nil {
		return nil, err
	}
	return &lab{ctx: ctx, kb: kb, data: data, dir: dir, quick: quick, made: map[string]string{}}, nil
}

func (l *lab) close() { os.RemoveAll(l.dir) }

// say tells on stderr what goes on.
func (l *lab) say(format string, args ...any) { fmt.Fprintf(os.Stderr, "bench: "+format+"\n", args...) }

// rounds is n, or few when the run is to be quick.
func (l *lab) rounds(n int) int {
	if l.quick {
		return max(1, n/5)
	}
	return n
}

// scratch names a new path in the temporary directory.
func (l *lab) scratch(name string) string {
	l.next++
	return filepath.Join(l.dir, strconv.Itoa(l.next)+"-"+name)
}

// fixture makes something once and returns where it is.
func (l *lab) fixture(name string, make func(path string) error) (string, error) {
	if path, ok := l.made[name]; ok {
		return path, nil
	}
	path := filepath.Join(l.dir, name)
	l.say("  preparing %s", name)
	if err := make(path); err != nil {
		return "", fmt.Errorf("prepare %s: %w", name, err)
	}
	l.made[name] = path
	return path, nil
}

// source is a file of the data directory.
func (l *lab) source(elem ...string) (string, error) {
	path := filepath.Join(append([]string{l.data}, elem...)...)
	if _, err := os.Stat(path); err != nil {
		return "", fmt.Errorf("the data is missing: %w (-data or KB_SHARED says where it is)", err)
	}
	return path, nil
}

// rfcs is a clone of rust-rfcs with a work tree: long notes, a long history.
func (l *lab) rfcs() (string, error) {
	return l.fixture("rust-rfcs", func(path string) error {
		bundle, err := l.source("vaults", "rust-rfcs.bundle")
		if err != nil {
			return err
		}
		return l.git("", "clone", "--quiet", bundle, path)
	})
}

// tldr is a work tree of a bare repository: many short notes in many languages.
func (l *lab) tldr() (string, error) {
	return l.fixture("tldr", func(path string) error {
		archive, err := l.source("vaults", "tldr.git.tar.gz")
		if err != nil {
			return err
		}
		if _, _, err := l.command(l.dir, "tar", "-xzf", archive); err != nil {
			return err
		}
		return l.git(filepath.Join(l.dir, "tldr.git"), "worktree", "add", "--quiet", "--detach", path, "HEAD")
	})
}

func (l *lab) git(dir string, args ...string) error {
	_, _, err := l.command(dir, "git", args...)
	return err
}

// need is an error that names the first program that is not installed.
func need(programs ...string) error {
	for _, p := range programs {
		if _, err := exec.LookPath(p); err != nil {
			return errors.New(p + " is not installed")
		}
	}
	return nil
}
