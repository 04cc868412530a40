package vault

import (
	"context"
	"fmt"
	"strings"
)

// Measured is how good suggestions would be for notes that are filed already: each
// is taken as if it had no tags, no type and no section; for tags and type, its
// directory is known.
type Measured struct {
	Tags     Measure `json:"tags"`
	Type     Measure `json:"type"`
	Section  Measure `json:"section"`
	Compared string  `json:"compared"` // how neighbours were found: vector or text
}

// Measure is how suggestions of one kind compare with what notes have.
type Measure struct {
	Notes        int     `json:"notes"`     // that have such a value
	Suggested    int     `json:"suggested"` // of these, that get a suggestion
	PrecisionAt1 float64 `json:"precision_at_1"`
	PrecisionAt3 float64 `json:"precision_at_3"` // of the first three, or of as many as there are
	RecallAt3    float64 `json:"recall_at_3"`    // of what those notes have that get a suggestion

	firsts, given, right, owned int
}

// measureClasses classifies notes that are spread evenly over those asked for.
func (w *view) measureClasses(ctx context.Context, p ClassifyParams, r *Classified) error {
	docs, err := w.asked(ctx, p)
	if err != nil {
		return err
	}
	r.Total, r.Truncated = len(docs), len(docs) > p.Most
	m := &Measured{}
	r.Measured = m
	most, d := min(len(docs), p.Most), w.directories()
	for k := range most {
		i := docs[k*len(docs)/most]
		n, err := w.nearby(ctx, i)
		if err != nil {
			return err
		}
		m.Compared, r.Degraded = n.compared, n.degraded
		m.Tags.take(w.tagsOf(i), func() []Verdict { return either(d.agree(i, "tags", w.tagsOf, never), n.agree(w.tagsOf, never, 3), 3) })
		m.Type.take(w.typesOf(i), func() []Verdict { return either(d.agree(i, "type", w.typesOf, never), n.agree(w.typesOf, never, 3), 3) })
		m.Section.take(nonEmpty(w.directoriesOf(i)), func() []Verdict {
			return n.agree(w.directoriesOf, func(dir string) bool { return dir == "" }, 3)
		})
	}
	for _, x := range []*Measure{&m.Tags, &m.Type, &m.Section} {
		x.finish()
	}
	return nil
}

// take counts what a note has that is filed, and what is suggested to it.
func (m *Measure) take(truth []string, suggest func() []Verdict) {
	if len(truth) == 0 {
		return
	}
	m.Notes++
	given := suggest()
	if len(given) == 0 {
		return
	}
	m.Suggested++
	m.owned += min(3, len(truth))
	own := map[string]bool{}
	for _, value := range truth {
		own[foldName(value)] = true
	}
	for k, v := range given {
		m.given++
		if own[foldName(v.Value)] {
			m.right++
			m.firsts += btoi(k == 0)
		}
	}
}

func (m *Measure) finish() {
	share := func(n, of int) float64 { return float64(n) / float64(max(1, of)) }
	m.PrecisionAt1, m.PrecisionAt3, m.RecallAt3 = share(m.firsts, m.Suggested), share(m.right, m.given), share(m.right, m.owned)
}

func (m *Measured) text(t *Text) {
	t.Printf("%s %s\n", t.Strong("suggestions for notes that are filed already"), t.Dim("compared by "+howCompared[m.Compared]))
	for _, line := range []struct {
		kind string
		Measure
	}{{"tags", m.Tags}, {"type", m.Type}, {"section", m.Section}} {
		t.Printf("  %s %s\n", padRight(line.kind, 8), line.Measure)
	}
}

func (m Measure) String() string {
	if m.Suggested == 0 {
		return fmt.Sprintf("none, of %s", plural(m.Notes, "note"))
	}
	return fmt.Sprintf("%s of %s; right: %.0f %% of the first, %.0f %% of the first 3",
		thousands(m.Suggested), plural(m.Notes, "note"), 100*m.PrecisionAt1, 100*m.PrecisionAt3)
}

func padRight(s string, width int) string { return s + strings.Repeat(" ", max(0, width-len(s))) }
