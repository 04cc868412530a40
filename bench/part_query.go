package main

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"time"
)

const queryCount = 200

// measureQuery compares warm queries at HEAD of rust-rfcs.
func measureQuery(l *lab) (*table, error) {
	t := &table{}
	dir, err := l.rfcs()
	if err != nil {
		return t, err
	}
	queries, err := headingQueries(dir, l.rounds(queryCount))
	if err != nil {
		return t, err
	}
	v := l.vault(dir)
	if _, _, err := v.reindex("HEAD"); err != nil {
		return t, err
	}
	perQuery, err := v.queryCPU(queries, l.rounds(10))
	if err != nil {
		return t, err
	}
	c, err := v.serve()
	if err != nil {
		return t, err
	}
	err = l.queryFTS5(t, v, c, queries, perQuery)
	if err == nil {
		err = l.queryGreps(t, dir, c, queries)
	}
	err = errors.Join(err, c.close())
	t.note("%d distinct headings as plain words, top 10, any word may match; each query asked of all in turn.", len(queries))
	t.note("kb over MCP: `tools/call search` at HEAD from request to whole answer: JSON both ways, ranking, excerpts, the text and the structured form.")
	t.note("kb, the search alone: `p50_ms` of `kb eval` on the same queries: parsing, ranking the top 100, no excerpts.")
	t.note("FTS5: words joined by OR, `ORDER BY bm25 LIMIT 10`, timed inside its process, fetching path and title; snippet() makes excerpts.")
	t.note("ripgrep and git grep: files with any of the words, unranked, stopping at a file's first match; with process start.")
	return t, err
}

func (l *lab) queryFTS5(t *table, v vault, c *client, queries []string, perQuery float64) error {
	db, _, err := l.fts5Build(v.dir)
	if err != nil {
		return err
	}
	f, err := l.fts5Serve(db)
	if err != nil {
		return err
	}
	defer f.close()
	judged, err := l.judged(queries)
	if err != nil {
		return err
	}
	if err := c.warm(queries, "HEAD"); err != nil {
		return err
	}
	var alone sample
	var mcp, fts, snippet []sample
	for range max(2, l.rounds(5)) {
		var a, b, s sample
		for _, q := range queries {
			err := errors.Join(
				timed(&a, func() (time.Duration, error) { _, d, err := c.search(q, "HEAD"); return d, err }),
				timed(&b, func() (time.Duration, error) { return f.search(q, false) }),
				timed(&s, func() (time.Duration, error) { return f.search(q, true) }))
			if err != nil {
				return err
			}
		}
		mcp, fts, snippet = append(mcp, a), append(fts, b), append(snippet, s)
		p50, err := v.evalP50(judged, "HEAD")
		if err != nil {
			return err
		}
		alone = append(alone, p50)
	}
	kb, plain, cut := medians(mcp), medians(fts), medians(snippet)
	t.compare("p50 over MCP", inSeconds, kb.median(), "FTS5", plain.median(), atMost(0.5))
	t.compare("p95 over MCP", inSeconds, kb.quantile(.95), "FTS5", plain.quantile(.95), nil)
	t.compare("p50 over MCP", inSeconds, kb.median(), "FTS5 with snippet()", cut.median(), nil)
	t.compare("p95 over MCP", inSeconds, kb.quantile(.95), "FTS5 with snippet()", cut.quantile(.95), nil)
	t.compare("p50 of the search alone", inSeconds, alone.median(), "FTS5", plain.median(), atMost(0.5))
	n := float64(len(queries) * len(fts))
	t.compare("mean CPU time over MCP", inSeconds, perQuery, "FTS5", f.cpu[false].Seconds()/n, nil)
	t.compare("mean CPU time over MCP", inSeconds, perQuery, "FTS5 with snippet()", f.cpu[true].Seconds()/n, nil)
	return nil
}

// queryCPU is the mean CPU time of the server for a warm query: what it takes
// for more rounds of them than one, so that its start does not count.
func (v vault) queryCPU(queries []string, rounds int) (float64, error) {
	var cpu []float64
	for _, n := range []int{1, 1 + rounds} {
		c, err := v.serve()
		if err != nil {
			return 0, err
		}
		for range n {
			err = errors.Join(err, c.warm(queries, "HEAD"))
		}
		if err := errors.Join(err, c.close()); err != nil {
			return 0, err
		}
		cpu = append(cpu, c.cpu.Seconds())
	}
	return (cpu[1] - cpu[0]) / float64(rounds*len(queries)), nil
}

// judged writes the queries as a collection for kb eval. What is relevant does
// not matter: only the time does.
func (l *lab) judged(queries []string) (string, error) {
	var lines, qrels strings.Builder
	qrels.WriteString("query-id\tcorpus-id\tscore\n")
	for _, q := range queries {
		raw, err := json.Marshal(map[string]string{"_id": q, "text": q})
		if err != nil {
			return "", err
		}
		lines.Write(append(raw, '\n'))
		qrels.WriteString(q + "\tREADME.md\t1\n")
	}
	dir := l.scratch("judged")
	return dir, errors.Join(
		os.MkdirAll(dir, 0o755),
		os.WriteFile(filepath.Join(dir, "queries.jsonl"), []byte(lines.String()), 0o644),
		os.WriteFile(filepath.Join(dir, "qrels.tsv"), []byte(qrels.String()), 0o644))
}

// evalP50 is the median time of the search alone, in seconds.
func (v vault) evalP50(judged, at string) (float64, error) {
	out, _, err := v.run("eval", "--queries", judged, "--at", at)
	if err != nil {
		return 0, err
	}
	r, err := parseEval(out)
	return r.P50 / 1000, err
}

func (l *lab) queryGreps(t *table, dir string, c *client, queries []string) error {
	var kb, rg, grep sample
	rgMissing := need("rg")
	for _, q := range queries {
		var patterns []string
		for _, w := range strings.Fields(q) {
			patterns = append(patterns, "-e", w)
		}
		err := timed(&kb, func() (time.Duration, error) { _, d, err := c.search(q, "HEAD"); return d, err })
		if err == nil && rgMissing == nil {
			err = timed(&rg, l.grep(dir, "rg", append([]string{"-i", "-l", "-F", "-g", "*.md"}, patterns...)...))
		}
		if err == nil {
			args := append([]string{"grep", "-i", "-l", "-F"}, patterns...)
			err = timed(&grep, l.grep(dir, "git", append(args, "HEAD", "--", "*.md")...))
		}
		if err != nil {
			return err
		}
	}
	if rgMissing != nil {
		t.note("**ripgrep left out:** %v", rgMissing)
	} else {
		t.compare("p50 over MCP", inSeconds, kb.median(), "ripgrep, work tree", rg.median(), nil)
	}
	t.compare("p50 over MCP", inSeconds, kb.median(), "git grep HEAD", grep.median(), nil)
	return nil
}

// grep is a program that may find nothing.
func (l *lab) grep(dir, name string, args ...string) func() (time.Duration, error) {
	return func() (time.Duration, error) {
		start := time.Now()
		_, _, err := l.command(dir, name, args...)
		if noMatch(err) {
			err = nil
		}
		return time.Since(start), err
	}
}
