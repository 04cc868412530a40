package main

import (
	"encoding/json"
	"fmt"
	"time"
)

// vault is a directory of notes and the cache that kb keeps for it.
type vault struct {
	l     *lab
	dir   string
	cache string
}

// vault returns dir with an empty cache.
func (l *lab) vault(dir string) vault {
	return vault{l, dir, l.scratch("cache")}
}

func (v vault) args(more ...string) []string {
	return append([]string{"--vault", v.dir, "--cache-dir", v.cache, "--json", "--quiet"}, more...)
}

// run runs one command on the vault, in a process of its own.
func (v vault) run(args ...string) (string, cost, error) {
	return v.l.command("", v.l.kb, v.args(args...)...)
}

// reindex derives what a view lacks.
func (v vault) reindex(at string) (indexed, cost, error) {
	args := []string{"reindex"}
	if at != "" {
		args = append(args, "--at", at)
	}
	out, c, err := v.run(args...)
	if err != nil {
		return indexed{}, c, err
	}
	var r indexed
	return r, c, json.Unmarshal([]byte(out), &r)
}

// indexed is what the benchmarks read of a reindex.
type indexed struct {
	Added     int `json:"added"`
	Documents int `json:"documents"`
}

// found is what the benchmarks read of a search.
type found struct {
	Total   int `json:"total"`
	Results []struct {
		Path string `json:"path"`
	} `json:"results"`
}

// search asks a server, and returns how long the answer took to arrive.
func (c *client) search(query, at string) (found, time.Duration, error) {
	args := map[string]any{"query": query, "mode": "text"}
	if at != "" {
		args["at"] = at
	}
	var r found
	took, err := c.tool("search", args, &r)
	if err != nil {
		return r, 0, fmt.Errorf("search %q at %q: %w", query, at, err)
	}
	return r, took, nil
}

// warm answers every query once, so that what is measured afterwards is warm.
func (c *client) warm(queries []string, views ...string) error {
	for _, at := range views {
		for _, q := range queries {
			if _, _, err := c.search(q, at); err != nil {
				return err
			}
		}
	}
	return nil
}
