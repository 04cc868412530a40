package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// measureHistory compares the first question about dates, which walks all of
// history, with what git takes to list which commit changed what.
func measureHistory(l *lab) (*table, error) {
	t := &table{}
	dir, err := l.rfcs()
	if err != nil {
		return t, err
	}
	var first, again, git sample
	err = inTurn(l.rounds(7), func() error {
		v := l.vault(dir)
		if _, _, err := v.reindex("HEAD"); err != nil {
			return err
		}
		for _, s := range []*sample{&first, &again} {
			_, c, err := v.run("query", "--sort", "created", "--at", "HEAD")
			if err != nil {
				return err
			}
			s.add(c.cpu)
		}
		return nil
	}, func() error {
		_, c, err := l.command(dir, "git", "log", "--name-only", "--format=%H %ct", "HEAD")
		git.add(c.cpu)
		return err
	})
	if err != nil {
		return t, err
	}
	t.compare("rust-rfcs: dates of all notes, first", inSeconds, first.median(), "git log --name-only", git.median(), atMost(2))
	t.compare("rust-rfcs: the same, second", inSeconds, again.median(), "git log --name-only", git.median(), nil)
	t.note("CPU time of a process, `kb query --sort created --at HEAD` with the text indexed, medians of alternating rounds.")
	return t, nil
}

// measureHealth measures a check of all notes, and one after one of them changed.
func measureHealth(l *lab) (*table, error) {
	t := &table{}
	full, err := l.tldr()
	if err != nil {
		return t, err
	}
	for _, size := range []int{500, 5000, 38430} {
		dir, err := l.subset(full, size)
		if err != nil {
			return t, err
		}
		if err := l.healthOf(t, fmt.Sprintf("%d notes", size), dir); err != nil {
			return t, err
		}
	}
	t.note("All: `kb health --at HEAD` in a process of its own, with the notes indexed, CPU time. After a change: one note gets another line and is committed, and a server that knows the commit before is asked again; " +
		"the CPU time of its process, less that of one which is asked nothing more, by change.")
	return t, nil
}

func (l *lab) healthOf(t *table, name, dir string) error {
	v := l.vault(dir)
	if _, _, err := v.reindex("HEAD"); err != nil {
		return err
	}
	var all sample
	for range l.rounds(5) {
		_, c, err := v.run("health", "--at", "HEAD")
		if err != nil {
			return err
		}
		all.add(c.cpu)
	}
	changes := l.rounds(20)
	none, err := l.healthAfter(v, 0)
	if err != nil {
		return err
	}
	some, err := l.healthAfter(v, changes)
	if err != nil {
		return err
	}
	t.value(name+": all", inSeconds, all.median(), atMost(2))
	t.value(name+": after one changed", inSeconds, (some-none).Seconds()/float64(changes), atMost(0.05))
	return nil
}

// healthAfter is the CPU time of a server that is asked once, and again after each
// of so many changes.
func (l *lab) healthAfter(v vault, changes int) (time.Duration, error) {
	notes, err := markdown(v.dir)
	if err != nil {
		return 0, err
	}
	c, err := v.serve()
	if err != nil {
		return 0, err
	}
	ask := func() error {
		var r struct{}
		_, err := c.tool("kb_health", map[string]any{"at": "HEAD"}, &r)
		return err
	}
	err = ask()
	for i := 0; i < changes && err == nil; i++ {
		path := notes[i*len(notes)/changes]
		if err = appendTo(filepath.Join(v.dir, path), "\nAnother line.\n"); err == nil {
			err = errors.Join(l.git(v.dir, "commit", "--quiet", "--message", "change", "--", path), ask())
		}
	}
	err = errors.Join(err, c.close())
	return c.cpu, err
}

func appendTo(name, text string) error {
	f, err := os.OpenFile(name, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}

// measureExport measures what it takes to write all notes as one document.
func measureExport(l *lab) (*table, error) {
	t := &table{}
	for _, w := range []struct {
		name         string
		make         func() (string, error)
		time, memory *goal
	}{{"rust-rfcs", l.rfcs, atMost(1), atMost(100e6)}, {"tldr", l.tldr, nil, nil}} {
		dir, err := w.make()
		if err != nil {
			return t, err
		}
		v := l.vault(dir)
		if _, _, err := v.reindex("HEAD"); err != nil {
			return t, err
		}
		out := l.scratch("export.md")
		var took, memory sample
		for i := range 1 + l.rounds(5) {
			_, c, err := v.run("export", "--output", out)
			if err != nil {
				return t, err
			}
			if i > 0 { // the first reads history
				took.add(c.cpu)
				memory = append(memory, float64(c.rss))
			}
		}
		t.value(fmt.Sprintf("%s: %.1f MB of Markdown", w.name, diskUse(out)/1e6), inSeconds, took.median(), w.time)
		t.value(w.name+": most memory", inBytes, memory.median(), w.memory)
	}
	t.note("`kb export --output FILE` in a process of its own, with the notes indexed and their dates known: CPU time and peak resident memory, of which the program itself is some 35 MB; medians.")
	return t, nil
}
