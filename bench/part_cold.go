package main

import (
	"errors"
	"time"
)

// measureCold measures what is waited for when nothing runs yet.
func measureCold(l *lab) (*table, error) {
	t := &table{}
	dir, err := l.tldr()
	if err != nil {
		return t, err
	}
	if err := l.helloCost(t, dir); err != nil {
		return t, err
	}
	v := l.vault(dir)
	if _, _, err := v.reindex(""); err != nil {
		return t, err
	}
	queries, err := headingQueries(dir, l.rounds(15))
	if err != nil {
		return t, err
	}
	var start, pinned, pinnedCPU, open, opened sample
	for _, q := range queries {
		_, version, err := l.command("", l.kb, "version")
		start.add(version.wall)
		if err != nil {
			return t, err
		}
		_, a, err := v.run("search", q, "--at", "HEAD")
		pinned.add(a.wall)
		pinnedCPU.add(a.cpu)
		if err != nil {
			return t, err
		}
		_, b, err := v.run("search", q)
		open.add(b.wall)
		if err != nil {
			return t, err
		}
		if err := timed(&opened, func() (time.Duration, error) { return v.openAndSearch(q) }); err != nil {
			return t, err
		}
	}
	t.value("`kb search --at HEAD`, 38,430 notes", inSeconds, pinned.median(), atMost(1))
	t.value("the same, CPU time", inSeconds, pinnedCPU.median(), nil)
	t.value("`kb search` of the work tree, 38,430 notes", inSeconds, open.median(), atMost(1))
	t.value("`kb mcp`: start, initialize and first search at HEAD", inSeconds, opened.median(), atMost(1))
	t.value("`kb version`: starting a process", inSeconds, start.median(), nil)
	t.note("On the clock, medians. The caches of the operating system are warm: what is cold is kb.")
	return t, nil
}

// helloCost measures the handshake of servers that have everything to index.
func (l *lab) helloCost(t *table, dir string) error {
	var hello sample
	for range l.rounds(15) {
		c, err := l.vault(dir).serve()
		if err != nil {
			return err
		}
		hello.add(c.hello)
		if err := c.close(); err != nil {
			return err
		}
	}
	t.value("initialize, empty cache, median", inSeconds, hello.median(), atMost(0.2))
	t.value("initialize, empty cache, slowest", inSeconds, hello.quantile(1), atMost(0.2))
	return nil
}

// openAndSearch is the time from starting a server to its first hits.
func (v vault) openAndSearch(query string) (time.Duration, error) {
	start := time.Now()
	c, err := v.serve()
	if err != nil {
		return 0, err
	}
	_, _, err = c.search(query, "HEAD")
	took := time.Since(start)
	return took, errors.Join(err, c.close())
}
