package vault

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"kb/index"
)

// EvalParams names a retrieval collection: queries.jsonl and qrels.tsv, each
// also as .gz, in the layout that BEIR made common.
type EvalParams struct {
	Queries  string `json:"queries" required:"" help:"directory with queries.jsonl and qrels.tsv; the qrels name paths"`
	Mode     string `json:"mode,omitempty" default:"text" help:"text, vector, hybrid, or several"`
	Corpus   bool   `json:"corpus,omitempty" hidden:"" help:"the vault was made from a corpus: paths are encoded ids"`
	PerQuery bool   `json:"per_query,omitempty" help:"nDCG@10 of each query as well"`
	atParam
}

// EvalResult is how well each mode finds what people judged relevant.
type EvalResult struct {
	Queries  int         `json:"queries"` // those with a relevant document
	Judged   string      `json:"judged"`  // hash of queries and judgements
	Modes    []EvalMode  `json:"modes"`
	PerQuery []EvalQuery `json:"per_query,omitempty"`
	Seen
}

// EvalMode is the mean of each measure over the queries. p50 is of the search
// alone, in milliseconds.
type EvalMode struct {
	Mode string `json:"mode"`
	Measures
	P50 float64 `json:"p50_ms"`
}

// EvalQuery is how well each mode answers one query, to six decimals.
type EvalQuery struct {
	ID     string             `json:"id"`
	Text   string             `json:"text"`
	NDCG10 map[string]float64 `json:"ndcg@10"` // by mode
}

var evalOp = define(Op{
	Name:     "kb_eval",
	Summary:  "Measure search quality on judged queries",
	Examples: []string{"kb eval ../scifact", "kb eval --queries judgements/ --at v1.0"},
	People:   true,
}, (*Vault).Eval)

// Eval runs every judged query against the view. Queries without a relevant
// document are left out.
func (v *Vault) Eval(ctx context.Context, p EvalParams) (*EvalResult, error) {
	names, err := evalModes(p.Mode)
	if err != nil {
		return nil, err
	}
	judged, err := readJudged(p.Queries)
	if err != nil {
		return nil, err
	}
	w, err := v.read(ctx, p.At)
	if err != nil {
		return nil, err
	}
	r := &EvalResult{Queries: len(judged), Judged: identity(judged), Modes: []EvalMode{}, Seen: w.seen()}
	if p.PerQuery {
		r.PerQuery = perQuery(judged)
	}
	for _, name := range names {
		m, each, err := w.eval(ctx, name, judged, p.Corpus)
		if err != nil {
			return nil, err
		}
		r.Modes = append(r.Modes, *m)
		for i := range r.PerQuery {
			r.PerQuery[i].NDCG10[name] = onGrid(each[i].NDCG10)
		}
	}
	return r, nil
}

// perQuery are queries without scores.
func perQuery(judged []judgedQuery) []EvalQuery {
	out := make([]EvalQuery, len(judged))
	for i, q := range judged {
		out[i] = EvalQuery{q.id, q.text, map[string]float64{}}
	}
	return out
}

// evalModes are the modes that can be measured, of a list, each once.
func evalModes(list string) ([]string, error) {
	var names []string
	for name := range strings.SplitSeq(list, ",") {
		name = strings.TrimSpace(name)
		if !slices.Contains([]string{"text", "vector", "hybrid"}, name) {
			return nil, errorf(Usage, "mode: %q", name).hint("accepted: text, vector, hybrid, or several: text,hybrid")
		}
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names, nil
}

// eval runs every judged query in one mode, and returns the means and the
// measures of each.
func (w *view) eval(ctx context.Context, mode string, judged []judgedQuery, corpus bool) (*EvalMode, []Measures, error) {
	k, err := w.evalRanking(ctx, mode)
	if err != nil {
		return nil, nil, err
	}
	var times []float64
	var each []Measures
	for i, q := range judged {
		w.v.report(i, len(judged), "searching")
		start := time.Now()
		found, err := w.search(ctx, k, index.Query{Text: q.text, Max: 100, NoExcerpt: true}, w.v.cfg.Search.Diversity)
		if err != nil {
			return nil, nil, err
		}
		if k.degraded != "" {
			return nil, nil, errorf(Internal, "%s", k.degraded)
		}
		times = append(times, float64(time.Since(start).Microseconds())/1000)
		each = append(each, q.measure(w.ranked(found, corpus)))
	}
	slices.Sort(times)
	return &EvalMode{Mode: mode, Measures: mean(each), P50: times[len(times)/2]}, each, nil
}

// evalRanking is ranking, after embedding what it needs.
func (w *view) evalRanking(ctx context.Context, mode string) (*ranking, error) {
	if mode != "text" {
		x, why := w.v.store.embedders.index(w.v.cfg)
		if x == nil {
			return nil, errorf(NotFound, "%s", why).hint("kb eval --model DIR names a model; --mode text needs none")
		}
		if _, err := w.embed(ctx, x); err != nil {
			return nil, err
		}
	}
	k, err := w.ranking(ctx, mode)
	if err == nil && k.degraded != "" {
		err = errorf(Internal, "%s", k.degraded)
	}
	return k, err
}

// ranked are the ids of the hits, in order.
func (w *view) ranked(found *index.Result, corpus bool) []string {
	ids := make([]string, 0, len(found.Hits))
	for _, h := range found.Hits {
		// A blob at several paths is one hit: all its paths are answers.
		for _, i := range append([]int{h.Member}, h.Also...) {
			id := w.docs[i].path
			if corpus {
				id = corpusID(id)
			}
			ids = append(ids, id)
		}
	}
	return ids
}

// Text writes a table.
func (r *EvalResult) Text(t *Text) {
	rows := [][]string{measureNames("mode")}
	for _, m := range r.Modes {
		rows = append(rows, m.row(m.Mode))
	}
	t.Table(rows)
	t.Printf("%s\n", t.Dim(queries(r.Queries)))
}

// measureNames are the heads of the columns of [EvalMode.row].
func measureNames(first string) []string {
	return []string{first, "nDCG@10", "R@10", "R@100", "MRR@10", "p50"}
}

// row is m in a table.
func (m *EvalMode) row(name string) []string {
	return append(append([]string{name}, m.cells("%.3f")...), fmt.Sprintf("%.2f ms", m.P50))
}

// queries says how many there are.
func queries(n int) string {
	if n == 1 {
		return "1 query"
	}
	return thousands(n) + " queries"
}
