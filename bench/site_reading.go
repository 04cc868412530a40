package main

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// knownItems are queries with the note of rust-rfcs that each is to find: its kind, the
// query, the path. docs/benchmarks.md says how they were made.
//
//go:embed known-items.tsv
var knownItems string

// nonsense finds nothing in any language.
var nonsense = []string{"zzqxv", "xqzvbnqwxz", "wqkzjx vbqzxk", "qjzxkw", "zxvqj wkqzx"}

type knownItem struct{ kind, query, path string }

func parseKnownItems(text string) (items []knownItem, err error) {
	for line := range strings.Lines(text) {
		f := strings.Split(strings.TrimSpace(line), "\t")
		if len(f) != 3 {
			return nil, fmt.Errorf("known item %q: not a kind, a query and a path", line)
		}
		items = append(items, knownItem{f[0], f[1], f[2]})
	}
	return items, nil
}

// questions is what wire.mjs asks, read what it answers: kilobytes, and pages.
type questions struct {
	Pairs  [][2]string `json:"pairs"`
	Ranked []string    `json:"ranked"`
}

type read struct {
	Home  float64    `json:"home"`
	First float64    `json:"first"`
	Next  float64    `json:"next"`
	Found [][]string `json:"found"`
}

// reading measures what a reader loads and finds.
func (s *site) reading(t *table) error {
	if err := need("node", chromium()); err != nil {
		return err
	}
	if err := s.checkRuns(); err != nil {
		return err
	}
	q, err := s.questions()
	if err != nil {
		return err
	}
	ours, err := s.ask("kb", s.kbSite, q)
	if err != nil {
		return err
	}
	var theirs *read
	if s.hugo != nil {
		if theirs, err = s.ask("pagefind", s.hugoSite, q); err != nil {
			return err
		}
	}
	for _, m := range []struct {
		name string
		of   func(*read) float64
		most float64
	}{
		{"wire, home page", func(r *read) float64 { return r.Home }, 40},
		{"wire, to the first list", func(r *read) float64 { return r.First }, s.c.first},
		{"wire, the next list", func(r *read) float64 { return r.Next }, s.c.next},
	} {
		s.beside(t, m.name, inKB, ours, theirs, m.of, atMost(m.most))
	}
	if s.c.ranked {
		return s.ranking(t, ours, theirs)
	}
	return nil
}

// beside adds a value of ours, with a goal of its own, beside theirs.
func (s *site) beside(t *table, what string, u unit, ours, theirs *read, of func(*read) float64, g *goal) {
	if theirs == nil {
		t.value(s.c.name+": "+what, u, of(ours), g)
		return
	}
	t.beside(s.c.name+": "+what, u, of(ours), "Pagefind", of(theirs), g)
}

func chromium() string {
	if path := os.Getenv("CHROMIUM"); path != "" {
		return path
	}
	return "/usr/bin/chromium"
}

// checkRuns sees that node finds what wire.mjs needs.
func (s *site) checkRuns() error {
	if _, err := os.Stat(filepath.Join("bench", "node_modules", "playwright-core")); err != nil {
		return fmt.Errorf("playwright-core is not installed: npm install --no-package-lock, in bench/")
	}
	return nil
}

var llmsLine = regexp.MustCompile(`(?m)^- \[(.+?)\]\(`)

// questions are titles of the site's notes, and the known items.
func (s *site) questions() (q questions, err error) {
	raw, err := os.ReadFile(filepath.Join(s.kbSite, "llms.txt"))
	if err != nil {
		return q, err
	}
	var titles []string
	for _, m := range llmsLine.FindAllSubmatch(raw, -1) {
		if w := words(string(m[1])); len(w) > 0 {
			titles = append(titles, strings.Join(w[:min(len(w), 3)], " "))
		}
	}
	q.Ranked = []string{}
	titles = spread(titles, 2*s.l.rounds(12))
	for i := 0; i+1 < len(titles); i += 2 {
		q.Pairs = append(q.Pairs, [2]string{titles[i], titles[i+1]})
	}
	if !s.c.ranked {
		return q, nil
	}
	items, err := parseKnownItems(knownItems)
	for _, item := range items {
		q.Ranked = append(q.Ranked, item.query)
	}
	q.Ranked = append(q.Ranked, nonsense...)
	return q, err
}

// ask has wire.mjs read a site.
func (s *site) ask(kind, dir string, q questions) (*read, error) {
	raw, err := json.Marshal(q)
	if err != nil {
		return nil, err
	}
	file := s.l.scratch("questions.json")
	if err := os.WriteFile(file, raw, 0o644); err != nil {
		return nil, err
	}
	out, _, err := s.l.command("", "node", filepath.Join("bench", "wire.mjs"), kind, dir, file)
	if err != nil {
		return nil, err
	}
	r := &read{}
	if err := json.Unmarshal([]byte(out), r); err != nil {
		return nil, err
	}
	if len(r.Found) != len(q.Ranked) {
		return nil, fmt.Errorf("%d answers to %d queries", len(r.Found), len(q.Ranked))
	}
	return r, nil
}

// ranking measures how well the known items are found.
func (s *site) ranking(t *table, ours, theirs *read) error {
	items, err := parseKnownItems(knownItems)
	if err != nil {
		return err
	}
	s.beside(t, "MRR of known items", inMRR, ours, theirs, func(r *read) float64 { return reciprocalRank(items, r.Found, "") }, atLeast(0.9))
	for _, kind := range []string{"title", "typo", "prefix", "question"} {
		s.beside(t, "of these, kind "+kind, inMRR, ours, theirs, func(r *read) float64 { return reciprocalRank(items, r.Found, kind) }, nil)
	}
	s.beside(t, "results of queries of nonsense", plain, ours, theirs, func(r *read) float64 {
		n := 0
		for _, pages := range r.Found[len(items):] {
			n += len(pages)
		}
		return float64(n)
	}, atMost(0))
	return nil
}

// reciprocalRank is the mean of 1/rank of the items of a kind, of all when it is "".
func reciprocalRank(items []knownItem, found [][]string, kind string) float64 {
	sum, n := 0.0, 0
	for i, item := range items {
		if kind != "" && item.kind != kind {
			continue
		}
		n++
		for at, page := range found[i] {
			if pageOf(page) == pageOf(item.path) {
				sum += 1 / float64(at+1)
				break
			}
		}
	}
	return sum / float64(max(n, 1))
}

// pageOf is what the names of a note and of its pages have in common.
func pageOf(name string) string {
	if plain, err := url.PathUnescape(name); err == nil {
		name = plain
	}
	name = strings.Trim(strings.ToLower(name), "/")
	return strings.TrimSuffix(strings.TrimSuffix(name, ".md"), ".html")
}
