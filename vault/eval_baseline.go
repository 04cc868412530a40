package vault

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// evalFormat is the first thing in a file of [EvalResult.Save].
const evalFormat = "kb-eval/1"

// EvalBaseline is an evaluation that was saved: its first line, and what follows.
type EvalBaseline struct {
	Format  string         `json:"format"`
	Queries int            `json:"queries"`
	Judged  string         `json:"judged"`
	Means   []BaselineMode `json:"modes"`
	Seen

	name  string
	lines []EvalQuery
}

// BaselineMode is the means of one mode.
type BaselineMode struct {
	Mode string `json:"mode"`
	Measures
}

// Save writes r, which must have the scores of each query, as JSON lines: the
// means, then each query. What was measured alike is saved to the same bytes.
func (r *EvalResult) Save(name string) error {
	b := EvalBaseline{Format: evalFormat, Queries: r.Queries, Judged: r.Judged, Seen: r.Seen}
	for _, m := range r.Modes {
		b.Means = append(b.Means, BaselineMode{m.Mode, m.Measures})
	}
	_, err := writeFileWhole(name, func(f *countingFile) error {
		e := json.NewEncoder(f)
		e.SetEscapeHTML(false)
		err := e.Encode(b)
		for i := range r.PerQuery {
			err = errors.Join(err, e.Encode(r.PerQuery[i]))
		}
		return err
	})
	if err != nil {
		return errorf(Internal, "save %s: %w", name, err).hint("the directory must be there and take files")
	}
	return nil
}

// ReadBaseline reads what [EvalResult.Save] wrote.
func ReadBaseline(name string) (*EvalBaseline, error) {
	f, err := os.Open(name)
	if err != nil {
		hint := "kb eval --save " + name + " makes one"
		if errors.Is(err, fs.ErrNotExist) {
			return nil, errorf(NotFound, "no baseline %s", name).hint("%s", hint)
		}
		return nil, errorf(Internal, "read the baseline: %w", err).hint("%s", hint)
	}
	defer f.Close()
	b := &EvalBaseline{name: filepath.Base(name)}
	if err := b.read(f); err != nil {
		return nil, errorf(Usage, "read the baseline %s: %w", name, err).hint("kb eval --save makes a new one")
	}
	return b, nil
}

func (b *EvalBaseline) read(r io.Reader) error {
	s := bufio.NewScanner(r)
	s.Buffer(nil, 64<<20)
	for n := 1; s.Scan(); n++ {
		if n == 1 {
			if err := json.Unmarshal(s.Bytes(), b); err != nil || b.Format != evalFormat {
				return fmt.Errorf("its first line is not one of %s", evalFormat)
			}
			continue
		}
		var q EvalQuery
		if err := json.Unmarshal(s.Bytes(), &q); err != nil {
			return fmt.Errorf("line %d: %w", n, err)
		}
		b.lines = append(b.lines, q)
	}
	if err := s.Err(); err != nil {
		return err
	}
	return b.check()
}

// check reports what is missing, or no score.
func (b *EvalBaseline) check() error {
	if len(b.lines) != b.Queries || b.Queries == 0 || len(b.Means) == 0 {
		return fmt.Errorf("it is cut off: %d of %d queries", len(b.lines), b.Queries)
	}
	for _, m := range b.Means {
		if _, err := evalModes(m.Mode); err != nil {
			return err
		}
		sum := 0.0
		for i, q := range b.lines {
			score, ok := q.NDCG10[m.Mode]
			if !ok || !(score >= 0 && score <= 1) {
				return fmt.Errorf("line %d: query %s has no score from 0 to 1 by %s", i+2, q.ID, m.Mode)
			}
			sum += score
		}
		// The scores are rounded, and so is their mean.
		if mean := sum / float64(b.Queries); math.Abs(mean-m.NDCG10) > 2e-4 {
			return fmt.Errorf("the mean of %s is %.4f, not %.4f", m.Mode, mean, m.NDCG10)
		}
	}
	return nil
}

// Modes are the modes of b, in the form in which kb_eval takes them.
func (b *EvalBaseline) Modes() string {
	var names []string
	for _, m := range b.Means {
		names = append(names, m.Mode)
	}
	return strings.Join(names, ",")
}

// EvalGate is an evaluation beside a baseline.
type EvalGate struct {
	EvalResult
	Baseline GateResult `json:"baseline"`
}

// GateResult is what became of each mode since the baseline.
type GateResult struct {
	OK        bool       `json:"ok"` // no mode fell by more than the tolerance
	Tolerance float64    `json:"tolerance"`
	Modes     []GateMode `json:"modes"`
	Seen                 // by the baseline
}

// GateMode is one mode: its means in the baseline, and how it differs now.
type GateMode struct {
	BaselineMode
	Difference Measures `json:"difference"`
	Fell       bool     `json:"fell"`
	EvalPairs           // of nDCG@10; a is the baseline's, b is now
}

// Check compares r, which has the scores of each query, with b. A mode falls when
// its nDCG@10 is lower by more than tolerance. At most limit queries are named
// that lost, and that won.
func (b *EvalBaseline) Check(r *EvalResult, tolerance float64, limit int) (*EvalGate, error) {
	if b.Judged != r.Judged {
		return nil, b.otherQueries(r)
	}
	g := &EvalGate{*r, GateResult{OK: true, Tolerance: tolerance, Modes: []GateMode{}, Seen: b.Seen}}
	for _, now := range r.Modes {
		i := slices.IndexFunc(b.Means, func(m BaselineMode) bool { return m.Mode == now.Mode })
		if i < 0 {
			return nil, errorf(Usage, "the baseline %s has no mode %s", b.name, now.Mode).hint("it has --mode %s", b.Modes())
		}
		was := b.Means[i]
		m := GateMode{BaselineMode: was, Difference: now.less(was.Measures), EvalPairs: b.pairs(r, now.Mode, limit)}
		m.Fell = grid(was.NDCG10)-grid(now.NDCG10) > grid(tolerance)
		g.Baseline.OK = g.Baseline.OK && !m.Fell
		g.Baseline.Modes = append(g.Baseline.Modes, m)
	}
	return g, nil
}

func (b *EvalBaseline) pairs(r *EvalResult, mode string, limit int) EvalPairs {
	pairs := make([]EvalPair, len(r.PerQuery))
	for i, q := range r.PerQuery {
		pairs[i] = EvalPair{q.ID, q.Text, b.lines[i].NDCG10[mode], q.NDCG10[mode]}
	}
	return pairUp(pairs, limit)
}

// otherQueries says how the queries differ from those of the baseline.
func (b *EvalBaseline) otherQueries(r *EvalResult) error {
	has := func(list []EvalQuery, id string) bool {
		return slices.ContainsFunc(list, func(q EvalQuery) bool { return q.ID == id })
	}
	added, gone := 0, 0
	for _, q := range r.PerQuery {
		if !has(b.lines, q.ID) {
			added++
		}
	}
	for _, q := range b.lines {
		if !has(r.PerQuery, q.ID) {
			gone++
		}
	}
	what := "the same ids with other texts or judgements"
	if added+gone > 0 {
		what = fmt.Sprintf("%d of %d are new, %d of %d are gone", added, r.Queries, gone, b.Queries)
	}
	return errorf(Conflict, "the baseline %s is of other queries: %s", b.name, what).
		hint("when they changed on purpose, kb eval --save makes a new baseline")
}

// ExitCode is Failed when a mode fell.
func (g *EvalGate) ExitCode() Code {
	if !g.Baseline.OK {
		return Failed
	}
	return ""
}

// Text writes the means, and the verdict on each mode with the queries that lost
// the most.
func (g *EvalGate) Text(t *Text) {
	g.EvalResult.Text(t)
	for _, m := range g.Baseline.Modes {
		now := rounded(m.NDCG10 + m.Difference.NDCG10)
		line := fmt.Sprintf("%s: nDCG@10 %.4f, baseline %.4f (%+.4f; %d won, %d lost)", m.Mode, now, m.NDCG10, m.Difference.NDCG10, m.Wins, m.Losses)
		if !m.Fell {
			t.Wrap("", line)
			continue
		}
		t.Wrap("", t.Warn(fmt.Sprintf("%s: fell by more than %g", line, g.Baseline.Tolerance)))
		listPairs(t, "largest losses by "+m.Mode, m.LargestLosses)
	}
}
