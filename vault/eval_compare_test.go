package vault_test

import (
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kb/vault"
)

// answers is a result of one mode with those scores, query by query.
func answers(mode string, scores ...float64) *vault.EvalResult {
	r := &vault.EvalResult{Queries: len(scores), Judged: fmt.Sprint(len(scores)), Modes: []vault.EvalMode{{Mode: mode}}}
	for i, s := range scores {
		r.Modes[0].NDCG10 += s / float64(len(scores))
		r.PerQuery = append(r.PerQuery, vault.EvalQuery{ID: fmt.Sprintf("q%d", i), Text: "text", NDCG10: map[string]float64{mode: s}})
	}
	return r
}

func compared(t testing.TB, a, b []float64, limit int) *vault.EvalComparison {
	t.Helper()
	r, err := vault.CompareEval(answers("text", a...), answers("hybrid", b...), [2]string{"text", "hybrid"}, limit)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func repeat(n int, scores ...float64) (out []float64) {
	for range n {
		out = append(out, scores...)
	}
	return out
}

// The p of equal differences is the binomial distribution's.
func TestSignFlips(t *testing.T) {
	for _, c := range []struct {
		name         string
		wins, losses int
		p, within    float64
		exact        bool
		rounds       int
	}{
		{"no difference", 0, 0, 1, 0, true, 1},
		{"one", 1, 0, 1, 0, true, 2},
		{"five of five", 5, 0, 2. / 32, 0, true, 32},
		{"even", 6, 6, 1, 0, true, 4096},
		{"nine of ten", 9, 1, 22. / 1024, 1e-6, true, 1024},
		{"fifteen of twenty", 15, 5, 0.041389, 1e-6, true, 1 << 20},
		{"forty of sixty, sampled", 40, 20, 0.01349, 0.0015, false, 100_000},
		{"more than a word of signs", 100, 60, 0.00196, 0.0006, false, 100_000},
		{"all of sixty, sampled", 60, 0, 1e-5, 1e-9, false, 100_000},
	} {
		a := append(repeat(c.wins+3, 0.25), repeat(c.losses, 0.75)...)
		b := append(append(repeat(c.wins, 0.75), repeat(3, 0.25)...), repeat(c.losses, 0.25)...)
		r := compared(t, a, b, 2)
		if math.Abs(r.P-c.p) > c.within || r.Exact != c.exact || r.Rounds != c.rounds || r.Wins != c.wins || r.Losses != c.losses || r.Ties != 3 {
			t.Errorf("%s: p %v exact %v rounds %d, %d %d %d; want %v", c.name, r.P, r.Exact, r.Rounds, r.Wins, r.Losses, r.Ties, c)
		}
		if other := compared(t, b, a, 2); other.P != r.P || other.Wins != r.Losses {
			t.Errorf("%s: the other way round p is %v, not %v", c.name, other.P, r.P)
		}
	}
}

func TestCompareEval(t *testing.T) {
	r := compared(t, []float64{0, 1, 0.5, 0.25, 1}, []float64{1, 0, 1, 0.125, 1}, 1)
	if d := cmp.Diff([]vault.EvalPair{{ID: "q1", Text: "text", A: 1, B: 0}}, r.LargestLosses); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]vault.EvalPair{{ID: "q0", Text: "text", A: 0, B: 1}}, r.LargestWins); d != "" {
		t.Error(d)
	}
	if r.Difference.NDCG10 != 0.075 || r.Modes[1].Mode != "hybrid" {
		t.Errorf("difference %v, %+v", r.Difference, r.Modes)
	}
	if r := compared(t, []float64{0, 1}, []float64{1, 0}, 0); len(r.LargestWins)+len(r.LargestLosses) > 0 || r.LargestWins == nil {
		t.Errorf("no query is asked for: %v, %v", r.LargestWins, r.LargestLosses)
	}
	_, err := vault.CompareEval(answers("text", 1), answers("text", 1, 1), [2]string{}, 1)
	if vault.AsError(err).Code != vault.Conflict {
		t.Errorf("other queries: %v", err)
	}
}

// Whatever the queries are called, a terminal of 80 columns holds the text.
func TestCompareEvalFitsATerminal(t *testing.T) {
	r := compared(t, repeat(30, 0, 1, 0.5), repeat(30, 1, 0, 0.5), 5)
	r.LargestLosses[0].Text = strings.Repeat("many words\nof a query\x1b[2J ", 20)
	r.Modes[0].Setting = strings.Repeat("model=/somewhere/else+", 3) + "hybrid"
	var b strings.Builder
	text := vault.NewText(&b)
	text.Width = 80
	r.Text(text)
	for line := range strings.SplitSeq(b.String(), "\n") {
		if len([]rune(line)) > 80 || strings.Contains(line, "\x1b") {
			t.Errorf("%d columns: %q", len([]rune(line)), line)
		}
	}
	if !strings.Contains(b.String(), "B wins 30, loses 30, ties 30; p = 1 (a sample of 100,000\nsign flips): may be chance") {
		t.Errorf("no verdict in:\n%s", &b)
	}
}

func TestBaselineChecksEachMode(t *testing.T) {
	name := filepath.Join(t.TempDir(), "base.jsonl")
	was := answers("text", 1, 0.5, 0)
	was.Modes = append(was.Modes, vault.EvalMode{Mode: "vector", Measures: vault.Measures{NDCG10: 0.25}, P50: 3})
	for i, q := range was.PerQuery {
		q.NDCG10["vector"] = []float64{0.25, 0, 0.5}[i]
	}
	if err := was.Save(name); err != nil {
		t.Fatal(err)
	}
	b, err := vault.ReadBaseline(name)
	if err != nil {
		t.Fatal(err)
	}
	if b.Modes() != "text,vector" {
		t.Errorf("modes %s", b.Modes())
	}
	now := answers("text", 1, 0.5, 0)
	for _, c := range []struct {
		nDCG float64
		fell bool
	}{{0.5, false}, {0.495, false}, {0.4949, true}, {0.6, false}} {
		now.Modes[0].NDCG10 = c.nDCG
		g, err := b.Check(now, 0.005, 1)
		if err != nil || g.Baseline.OK == c.fell || g.Baseline.Modes[0].Fell != c.fell || (g.ExitCode() == vault.Failed) != c.fell {
			t.Errorf("from 0.5 to %v: %+v, %v", c.nDCG, g, err)
		}
	}
}
