package main

import (
	"bufio"
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"
)

//go:embed fts5.py
var fts5Program string

// fts5Script writes the program to a file, once, and sees that python can run it.
func (l *lab) fts5Script() (string, error) {
	if err := need("python3"); err != nil {
		return "", err
	}
	return l.fixture("fts5.py", func(path string) error {
		_, _, err := l.command("", "python3", "-c", "import sqlite3; sqlite3.connect(':memory:').execute('CREATE VIRTUAL TABLE t USING fts5(a)')")
		if err != nil {
			return fmt.Errorf("python3 has no SQLite with FTS5: %w", err)
		}
		return os.WriteFile(path, []byte(fts5Program), 0o644)
	})
}

// fts5Build indexes the notes below dir into a new database.
func (l *lab) fts5Build(dir string) (db string, c cost, err error) {
	script, err := l.fts5Script()
	if err != nil {
		return "", cost{}, err
	}
	db = l.scratch("fts5.db")
	_, c, err = l.command("", "python3", script, "build", db, dir)
	return db, c, err
}

// fts5 is a process that has a database open. It times each query itself: what
// passes between the processes is not counted.
type fts5 struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
	cpu map[bool]time.Duration // of all queries so far, without and with snippets
}

func (l *lab) fts5Serve(db string) (*fts5, error) {
	script, err := l.fts5Script()
	if err != nil {
		return nil, err
	}
	f := &fts5{cmd: exec.CommandContext(l.ctx, "python3", script, "serve", db), cpu: map[bool]time.Duration{}}
	if f.in, err = f.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := f.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	f.out = bufio.NewReader(out)
	return f, f.cmd.Start()
}

func (f *fts5) search(query string, snippet bool) (time.Duration, error) {
	raw, err := json.Marshal([]any{strings.Fields(query), snippet})
	if err != nil {
		return 0, err
	}
	if _, err := f.in.Write(append(raw, '\n')); err != nil {
		return 0, err
	}
	var wall, cpu float64
	if _, err := fmt.Fscanln(f.out, &wall, &cpu); err != nil {
		return 0, fmt.Errorf("fts5, query %q: %w", query, err)
	}
	f.cpu[snippet] += duration(cpu)
	return duration(wall), nil
}

func duration(seconds float64) time.Duration { return time.Duration(seconds * float64(time.Second)) }

func (f *fts5) close() error {
	f.in.Close()
	return f.cmd.Wait()
}
