package main

import (
	"fmt"
	"math"
	"slices"
)

// scored is what the prior is tried on: a hit with its score.
type scored struct {
	Path  string  `json:"path"`
	Score float64 `json:"score"`
}

// priors are the weights that are tried for what links say about a note.
var priors = []float64{0, 0.05, 0.1, 0.2, 0.4}

// measureAnchors searches for what people wrote in links, and sees whether the
// notes that they meant come higher where notes that many link to are preferred.
func measureAnchors(l *lab) (*table, error) {
	t := &table{}
	for _, name := range []string{"rust-rfcs", "kepano-obsidian"} {
		dir, err := l.fixture(name, func(path string) error {
			bundle, err := l.source("vaults", name+".bundle")
			if err != nil {
				return err
			}
			return l.git("", "clone", "--quiet", bundle, path)
		})
		if err != nil {
			return t, err
		}
		if err := measureAnchorsOf(l, t, name, dir); err != nil {
			return t, err
		}
	}
	t.note("Anchors: the texts of links between notes, without those that name their target; the note that has the link is left out of the answer, and the link out of the graph.")
	t.note("score × (1 + weight · ln(1 + N·PageRank) / ln(1 + N·highest)), over the best 100 by words; see docs/decisions/link-graph.md.")
	return t, nil
}

func measureAnchorsOf(l *lab, t *table, name, dir string) error {
	list, err := anchors(dir)
	if err != nil || len(list) == 0 {
		t.note("**%s left out:** no link text that does not name its target.", name)
		return err
	}
	v := l.vault(dir)
	if _, _, err := v.reindex("HEAD"); err != nil {
		return err
	}
	c, err := v.serve()
	if err != nil {
		return err
	}
	defer c.close()
	resolved, err := c.resolvedLinks()
	if err != nil {
		return err
	}
	hits := make([][]scored, len(list))
	for i, a := range list {
		if hits[i], err = c.anchorHits(a); err != nil {
			return err
		}
	}
	t.tryPriors(fmt.Sprintf("%s, links that resolve (%d)", name, len(resolved)), list, hits, resolved)
	t.tryPriors(fmt.Sprintf("%s, the links of the anchors (%d)", name, len(list)), list, hits, list)
	return nil
}

// tryPriors adds what each weight of a prior from a graph does for the anchors.
func (t *table) tryPriors(what string, list []anchor, hits [][]scored, graph []anchor) {
	sums := make([]float64, len(priors))
	for k, a := range list {
		rank := pageRank(graph, a)
		for i, w := range priors {
			sums[i] += gain(placeOf(hits[k], rank, a.to, w))
		}
	}
	n := float64(len(list))
	for i, w := range priors {
		t.add(row{Measure: fmt.Sprintf("%s, weight %v", what, w), Unit: inNDCG, KB: number(sums[i] / n),
			Against: "no prior", Reference: number(sums[0] / n), Figure: number(sums[i] / n)})
	}
}

// resolvedLinks are the links between notes as kb follows them.
func (c *client) resolvedLinks() (links []anchor, err error) {
	var r struct {
		Edges []struct {
			From, To string
			Resolved bool
		} `json:"edges"`
	}
	_, err = c.tool("kb_links", map[string]any{"at": "HEAD", "max_tokens": 1_000_000}, &r)
	for _, e := range r.Edges {
		if e.Resolved {
			links = append(links, anchor{from: e.From, to: e.To})
		}
	}
	return links, err
}

// anchorHits are the best 100 for an anchor, less the note that it stands in.
func (c *client) anchorHits(a anchor) ([]scored, error) {
	var r struct {
		Results []scored `json:"results"`
	}
	_, err := c.tool("search", map[string]any{"query": a.text, "mode": "text", "at": "HEAD", "max_results": 100, "max_tokens": 1_000_000}, &r)
	if err != nil {
		return nil, fmt.Errorf("%v: %w", a, err)
	}
	return slices.DeleteFunc(r.Results, func(h scored) bool { return h.Path == a.from }), nil
}

// placeOf is where a note comes when a prior counts, -1 for nowhere.
func placeOf(hits []scored, rank map[string]float64, to string, weight float64) int {
	highest := 1e-9 // of a graph without links
	for _, r := range rank {
		highest = max(highest, r)
	}
	n := float64(len(rank))
	value := func(h scored) float64 {
		return h.Score * (1 + weight*math.Log1p(n*rank[h.Path])/math.Log1p(n*highest))
	}
	sorted := slices.Clone(hits)
	slices.SortStableFunc(sorted, func(a, b scored) int {
		switch x, y := value(a), value(b); {
		case x > y:
			return -1
		case x < y:
			return 1
		}
		return 0
	})
	return slices.IndexFunc(sorted, func(h scored) bool { return h.Path == to })
}
