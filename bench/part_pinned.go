package main

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// measurePinned compares queries at old commits with those at HEAD, and both
// with the same in a cache that holds a long history.
func measurePinned(l *lab) (*table, error) {
	t := &table{}
	dir, err := l.rfcs()
	if err != nil {
		return t, err
	}
	queries, err := headingQueries(dir, l.rounds(queryCount))
	if err != nil {
		return t, err
	}
	views := []string{"HEAD", "", ""}
	for i, date := range []string{"2026-01-01", "2016-01-01"} {
		if views[i+1], err = l.commitBefore(dir, date); err != nil {
			return t, err
		}
	}
	short, long := l.vault(dir), l.vault(dir)
	if err := l.indexHistory(t, short, long, views); err != nil {
		return t, err
	}
	a, err := short.serve()
	if err != nil {
		return t, err
	}
	b, err := long.serve()
	if err != nil {
		return t, errors.Join(err, a.close())
	}
	times, err := l.queryViews([]*client{a, b}, queries, views)
	var alone [][]sample
	if err == nil {
		alone, err = l.evalViews([]vault{short, long}, queries, views)
	}
	if err := errors.Join(err, a.close(), b.close()); err != nil {
		return t, err
	}
	comparePinned(t, "over MCP", times)
	comparePinned(t, "of the search alone", alone)
	t.note("Warm, every query asked of two servers (with and without the history) and three views in turn. Over MCP most of the time is the same whatever the view: excerpts and JSON. The search alone is what `kb eval` reports.")
	return t, nil
}

// comparePinned adds the medians of times[with history][view].
func comparePinned(t *table, how string, times [][]sample) {
	head, headLong := times[0][0].median(), times[1][0].median()
	t.compare("p50 "+how+" at 2026-01-01", inSeconds, times[0][1].median(), "at HEAD", head, atMost(1.3))
	t.compare("p50 "+how+" at 2016-01-01", inSeconds, times[0][2].median(), "at HEAD", head, atMost(1.3))
	t.compare("p50 "+how+" at HEAD, history indexed", inSeconds, headLong, "at HEAD without", head, nil)
	t.compare("p50 "+how+" at 2026-01-01, history indexed", inSeconds, times[1][1].median(), "at HEAD, history indexed", headLong, atMost(1.3))
	t.compare("p50 "+how+" at 2016-01-01, history indexed", inSeconds, times[1][2].median(), "at HEAD, history indexed", headLong, atMost(1.3))
}

// evalViews is the search alone at every view of every vault, in turn; a sample
// is the medians of the rounds.
func (l *lab) evalViews(vaults []vault, queries, views []string) ([][]sample, error) {
	judged, err := l.judged(queries)
	if err != nil {
		return nil, err
	}
	times := make([][]sample, len(vaults))
	for i := range times {
		times[i] = make([]sample, len(views))
	}
	for range max(2, l.rounds(5)) {
		for i, v := range vaults {
			for j, at := range views {
				p50, err := v.evalP50(judged, at)
				if err != nil {
					return nil, err
				}
				times[i][j] = append(times[i][j], p50)
			}
		}
	}
	return times, nil
}

// commitBefore is the last first-parent commit before a date.
func (l *lab) commitBefore(dir, date string) (string, error) {
	out, _, err := l.command(dir, "git", "rev-list", "-1", "--first-parent", "--before="+date, "HEAD")
	return strings.TrimSpace(out), err
}

const historyCommits = 2000

// indexHistory indexes the views alone into short, and commits of all of
// history as well into long: what a vault that was pinned often has.
func (l *lab) indexHistory(t *table, short, long vault, views []string) error {
	out, _, err := l.command(short.dir, "git", "rev-list", "HEAD")
	if err != nil {
		return err
	}
	few := 0
	for _, at := range views {
		r, _, err := short.reindex(at)
		if err != nil {
			return err
		}
		few += r.Added
		t.note("%s has %d notes.", clip(at), r.Documents)
	}
	many := few
	for _, at := range views {
		if _, _, err := long.reindex(at); err != nil {
			return err
		}
	}
	commits := spread(strings.Fields(out), l.rounds(historyCommits))
	server, err := long.serve()
	if err != nil {
		return err
	}
	for _, at := range commits {
		var r indexed
		if _, err := server.tool("reindex", map[string]any{"at": at}, &r); err != nil {
			return errors.Join(err, server.close())
		}
		many += r.Added
	}
	if err := server.close(); err != nil {
		return err
	}
	t.note("Indexed for these three views: %d contents, %s. With %d commits spread over all of history: %d contents, %s.",
		few, inBytes.format(number(diskUse(short.cache))), len(commits), many, inBytes.format(number(diskUse(long.cache))))
	return nil
}

// queryViews asks every client every query at every view, in turn: times[client][view].
func (l *lab) queryViews(clients []*client, queries, views []string) ([][]sample, error) {
	times := make([][]sample, len(clients))
	for i, c := range clients {
		times[i] = make([]sample, len(views))
		if err := c.warm(queries, views...); err != nil {
			return nil, err
		}
	}
	rounds := make([][][]sample, len(clients))
	for i := range rounds {
		rounds[i] = make([][]sample, len(views))
	}
	for r := range max(2, l.rounds(5)) {
		for _, q := range queries {
			for i, c := range clients {
				for j, at := range views {
					if len(rounds[i][j]) == r {
						rounds[i][j] = append(rounds[i][j], nil)
					}
					err := timed(&rounds[i][j][r], func() (time.Duration, error) { _, d, err := c.search(q, at); return d, err })
					if err != nil {
						return nil, err
					}
				}
			}
		}
	}
	for i := range times {
		for j := range times[i] {
			times[i][j] = medians(rounds[i][j])
		}
	}
	return times, nil
}

// clip shortens a commit's hash.
func clip(at string) string {
	if len(at) == 40 {
		return fmt.Sprintf("%.10s", at)
	}
	return at
}
