package vault

import (
	"fmt"
	"strings"
)

// EvalComparison is how two settings answer the same queries: the second against
// the first.
type EvalComparison struct {
	Queries    int        `json:"queries"`
	Judged     string     `json:"judged"` // hash of queries and judgements
	Modes      []EvalSide `json:"modes"`  // two
	Difference Measures   `json:"difference"`
	EvalPairs             // of nDCG@10
}

// EvalSide is one of two settings, as its caller wrote it, with what it read.
type EvalSide struct {
	Setting string `json:"setting"`
	EvalMode
	Seen
}

// CompareEval compares two results of [Vault.Eval], each of one mode and with the
// scores of each query. At most limit queries are named that lost, and that won.
func CompareEval(a, b *EvalResult, settings [2]string, limit int) (*EvalComparison, error) {
	if a.Judged != b.Judged {
		return nil, errorf(Conflict, "the queries changed while they were measured").hint("measure again")
	}
	pairs := make([]EvalPair, len(a.PerQuery))
	for i, q := range a.PerQuery {
		pairs[i] = EvalPair{q.ID, q.Text, q.NDCG10[a.Modes[0].Mode], b.PerQuery[i].NDCG10[b.Modes[0].Mode]}
	}
	return &EvalComparison{
		Queries:    a.Queries,
		Judged:     a.Judged,
		Modes:      []EvalSide{{settings[0], a.Modes[0], a.Seen}, {settings[1], b.Modes[0], b.Seen}},
		Difference: b.Modes[0].less(a.Modes[0].Measures),
		EvalPairs:  pairUp(pairs, limit),
	}, nil
}

// Text writes the means, the verdict, and the queries that differ most.
func (r *EvalComparison) Text(t *Text) {
	rows := [][]string{measureNames("")}
	for i, name := range []string{"A", "B"} {
		m := r.Modes[i]
		t.Wrap("", fmt.Sprintf("%s  %s  %s", t.Strong(name), t.Accent(m.Setting), t.Dim(m.Seen.text())))
		rows = append(rows, m.row(name))
	}
	t.Table(append(rows, append([]string{"difference"}, r.Difference.cells("%+.3f")...)))
	t.Wrap("", fmt.Sprintf("nDCG@10 of %s: B wins %d, loses %d, ties %d; %s", queries(r.Queries), r.Wins, r.Losses, r.Ties, r.verdict()))
	listPairs(t, "largest losses of B", r.LargestLosses)
	listPairs(t, "largest wins of B", r.LargestWins)
}

// likelyChance is the p from which on a difference is not taken for one.
const likelyChance = 0.05

// verdict is the test in words.
func (p EvalPairs) verdict() string {
	which := "all"
	if !p.Exact {
		which = "a sample of"
	}
	what := "hardly chance"
	if p.P >= likelyChance {
		what = "may be chance"
	}
	return fmt.Sprintf("p = %s (%s %s sign flips): %s", strings.TrimSuffix(fmt.Sprintf("%.2g", p.P), ".0"), which, thousands(p.Rounds), what)
}

// listPairs writes queries with both scores, one a line.
func listPairs(t *Text, title string, pairs []EvalPair) {
	if len(pairs) == 0 {
		return
	}
	t.Printf("\n%s\n", t.Strong(title))
	for _, q := range pairs {
		text := clip(strings.Join(strings.Fields(q.Text), " "), 200)
		line := fmt.Sprintf("  %.3f → %.3f  %s  %s", q.A, q.B, t.Accent(q.ID), t.Plain(text))
		t.Printf("%s\n", clipColumns(line, t.Width))
	}
}
