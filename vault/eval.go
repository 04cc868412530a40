package vault

import (
	"bufio"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"kb/index"
)

// EvalParams names a retrieval collection: queries.jsonl and qrels.tsv, each
// also as .gz, in the layout that BEIR made common.
type EvalParams struct {
	Queries string `json:"queries" required:"" help:"directory with queries.jsonl and qrels.tsv; the qrels name paths"`
	Mode    string `json:"mode,omitempty" default:"text" help:"text, vector, hybrid, or several"`
	Corpus  bool   `json:"corpus,omitempty" hidden:"" help:"the vault was made from a corpus: paths are encoded ids"`
	atParam
}

// EvalResult is how well each mode finds what people judged relevant.
type EvalResult struct {
	Queries int        `json:"queries"` // those with a relevant document
	Modes   []EvalMode `json:"modes"`
	Seen
}

// EvalMode is the mean of each measure over the queries. nDCG takes the qrels'
// scores as gains; p50 is of the search alone, in milliseconds.
type EvalMode struct {
	Mode      string  `json:"mode"`
	NDCG10    float64 `json:"ndcg@10"`
	Recall10  float64 `json:"recall@10"`
	Recall100 float64 `json:"recall@100"`
	MRR10     float64 `json:"mrr@10"`
	P50       float64 `json:"p50_ms"`
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
	r := &EvalResult{Queries: len(judged), Modes: []EvalMode{}, Seen: w.seen()}
	for _, name := range names {
		m, err := w.eval(ctx, name, judged, p.Corpus)
		if err != nil {
			return nil, err
		}
		r.Modes = append(r.Modes, *m)
	}
	return r, nil
}

// evalModes are the modes that can be measured, of a list.
func evalModes(list string) ([]string, error) {
	var names []string
	for _, name := range strings.Split(list, ",") {
		name = strings.TrimSpace(name)
		if !slices.Contains([]string{"text", "vector", "hybrid"}, name) {
			return nil, errorf(Usage, "mode: %q", name).hint("accepted: text, vector, hybrid, or several: text,hybrid")
		}
		names = append(names, name)
	}
	return names, nil
}

// eval runs every judged query in one mode.
func (w *view) eval(ctx context.Context, mode string, judged []judgedQuery, corpus bool) (*EvalMode, error) {
	k, err := w.evalRanking(ctx, mode)
	if err != nil {
		return nil, err
	}
	m := &EvalMode{Mode: mode}
	var times []float64
	for i, q := range judged {
		w.v.report(i, len(judged), "searching")
		start := time.Now()
		found, err := w.search(ctx, k, index.Query{Text: q.text, Max: 100, NoExcerpt: true}, w.v.cfg.Search.Diversity)
		if err != nil {
			return nil, err
		}
		if k.degraded != "" {
			return nil, errorf(Internal, "%s", k.degraded)
		}
		times = append(times, float64(time.Since(start).Microseconds())/1000)
		m.add(q, w.ranked(found, corpus))
	}
	m.mean(len(judged))
	slices.Sort(times)
	if len(times) > 0 {
		m.P50 = times[len(times)/2]
	}
	return m, nil
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

func (m *EvalMode) add(q judgedQuery, ranked []string) {
	var dcg, ideal float64
	hits10, hits100 := 0, 0
	first := 0
	for i, id := range ranked[:min(100, len(ranked))] {
		gain := q.gains[id]
		if gain <= 0 {
			continue
		}
		hits100++
		if i < 10 {
			hits10++
			dcg += gain / math.Log2(float64(i)+2)
			if first == 0 {
				first = i + 1
			}
		}
	}
	best := make([]float64, 0, len(q.gains))
	for _, g := range q.gains {
		best = append(best, g)
	}
	slices.SortFunc(best, func(a, b float64) int { return int(math.Copysign(1, b-a)) })
	for i, g := range best[:min(10, len(best))] {
		ideal += g / math.Log2(float64(i)+2)
	}
	m.NDCG10 += dcg / ideal
	m.Recall10 += float64(hits10) / float64(len(best))
	m.Recall100 += float64(hits100) / float64(len(best))
	if first > 0 {
		m.MRR10 += 1 / float64(first)
	}
}

func (m *EvalMode) mean(n int) {
	for _, f := range []*float64{&m.NDCG10, &m.Recall10, &m.Recall100, &m.MRR10} {
		*f = math.Round(*f/float64(max(n, 1))*1e4) / 1e4
	}
}

// judgedQuery is a query and the documents that people found relevant.
type judgedQuery struct {
	text  string
	gains map[string]float64
}

func readJudged(dir string) ([]judgedQuery, error) {
	gains := map[string]map[string]float64{}
	err := eachLine(dir, "qrels.tsv", func(n int, line string) error {
		f := strings.Split(line, "\t")
		if len(f) != 3 {
			return fmt.Errorf("want query, document and score, separated by tabs")
		}
		score, err := strconv.ParseFloat(f[2], 64)
		if err != nil {
			if n == 1 {
				return nil // the header
			}
			return fmt.Errorf("score %q is not a number", f[2])
		}
		if score > 0 {
			if gains[f[0]] == nil {
				gains[f[0]] = map[string]float64{}
			}
			gains[f[0]][f[1]] = score
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	var out []judgedQuery
	err = eachLine(dir, "queries.jsonl", func(_ int, line string) error {
		var q struct {
			ID   string `json:"_id"`
			Text string `json:"text"`
		}
		if err := json.Unmarshal([]byte(line), &q); err != nil {
			return err
		}
		if g := gains[q.ID]; g != nil {
			out = append(out, judgedQuery{q.Text, g})
		}
		return nil
	})
	if err == nil && len(out) == 0 {
		return nil, errorf(Usage, "%s: no query has a relevant document", dir)
	}
	return out, err
}

// eachLine calls fn with each line of a file or of its .gz.
func eachLine(dir, name string, fn func(n int, line string) error) error {
	f, err := os.Open(filepath.Join(dir, name))
	var r io.Reader = f
	if errors.Is(err, fs.ErrNotExist) {
		if f, err = os.Open(filepath.Join(dir, name+".gz")); err == nil {
			if r, err = gzip.NewReader(f); err != nil {
				f.Close()
				return errorf(Usage, "read %s.gz: %w", name, err)
			}
		}
	}
	if err != nil {
		return errorf(NotFound, "%s has neither %s nor %s.gz", dir, name, name).
			hint("a collection is corpus.jsonl, queries.jsonl and qrels.tsv")
	}
	defer f.Close()
	s := bufio.NewScanner(r)
	s.Buffer(nil, 64<<20)
	for n := 1; s.Scan(); n++ {
		if strings.TrimSpace(s.Text()) == "" {
			continue
		}
		if err := fn(n, s.Text()); err != nil {
			return errorf(Usage, "%s:%d: %w", filepath.Join(dir, name), n, err)
		}
	}
	return s.Err()
}

// Text writes a table.
func (r *EvalResult) Text(t *Text) {
	rows := [][]string{{"mode", "nDCG@10", "R@10", "R@100", "MRR@10", "p50"}}
	for _, m := range r.Modes {
		rows = append(rows, []string{m.Mode, fmt.Sprintf("%.3f", m.NDCG10), fmt.Sprintf("%.3f", m.Recall10),
			fmt.Sprintf("%.3f", m.Recall100), fmt.Sprintf("%.3f", m.MRR10), fmt.Sprintf("%.2f ms", m.P50)})
	}
	t.Table(rows)
	t.Printf("%s\n", t.Dim(fmt.Sprintf("%d queries", r.Queries)))
}
