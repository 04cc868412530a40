package main

import "time"

const megabyte = 1e6

// measureBuild compares indexing from nothing: kb reads git objects, FTS5 the
// files of the work tree; both include starting their process.
func measureBuild(l *lab) (*table, error) {
	t := &table{}
	rfcs, err := l.rfcs()
	if err != nil {
		return t, err
	}
	if err := l.buildOf(t, "rust-rfcs", rfcs, l.rounds(7), atMost(3)); err != nil {
		return t, err
	}
	tldr, err := l.tldr()
	if err != nil {
		return t, err
	}
	if err := l.buildOf(t, "tldr", tldr, l.rounds(3), nil); err != nil {
		return t, err
	}
	var memory sample
	err = inTurn(l.rounds(3), func() error {
		_, c, err := l.vault(tldr).reindex("worktree")
		memory = append(memory, float64(c.rss))
		return err
	})
	t.value("tldr: peak memory, work tree view", inBytes, memory.quantile(1), atMost(400*megabyte))
	t.note("kb: `kb reindex --at HEAD` into an empty cache, reading git's objects; the index is everything it leaves in the cache directory. Peak memory is the highest of the rounds, with what is mapped from files.")
	t.note("FTS5: one row a note from the files of the work tree, porter unicode61, one transaction; its file holds the text too.")
	return t, err
}

// buildOf indexes one vault both ways, in turn, and adds what it took.
func (l *lab) buildOf(t *table, name, dir string, rounds int, cpuGoal *goal) error {
	var kbCPU, kbWall, ftsCPU, ftsWall, memory sample
	var v vault
	var db string
	err := inTurn(rounds, func() error {
		v = l.vault(dir)
		_, c, err := v.reindex("HEAD")
		kbCPU.add(c.cpu)
		kbWall.add(c.wall)
		memory = append(memory, float64(c.rss))
		return err
	}, func() (err error) {
		var c cost
		db, c, err = l.fts5Build(dir)
		ftsCPU.add(c.cpu)
		ftsWall.add(c.wall)
		return err
	})
	if err != nil {
		return err
	}
	text := diskUse(dir, ".md")
	t.compare(name+": CPU time", inSeconds, kbCPU.median(), "FTS5", ftsCPU.median(), cpuGoal)
	t.compare(name+": time on the clock", inSeconds, kbWall.median(), "FTS5", ftsWall.median(), nil)
	t.value(name+": peak memory", inBytes, memory.quantile(1), atMost(400*megabyte))
	t.compare(name+": size on disk", inBytes, diskUse(v.cache), "FTS5", diskUse(db), nil)
	t.compare(name+": size on disk", inBytes, diskUse(v.cache), "the notes", text, nil)
	t.compare(name+": of it the text index", inBytes, diskUse(v.cache, ".zap", ".ids"), "the notes", text, nil)
	return nil
}

// timed calls fn and adds the time it took to s.
func timed(s *sample, fn func() (time.Duration, error)) error {
	d, err := fn()
	s.add(d)
	return err
}
