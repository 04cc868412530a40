package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strings"
)

// report is everything that one run found, as -json writes it.
type report struct {
	Facts facts    `json:"facts"`
	Quick bool     `json:"quick,omitempty"`
	Parts []*table `json:"parts"`
}

// table is what one part found.
type table struct {
	Name  string   `json:"name"`
	About string   `json:"about"`
	Rows  []row    `json:"rows"`
	Notes []string `json:"notes"`
}

// row is one comparison. Figure is what the goal is set for: kb's value, or its
// ratio to that of what it is compared with.
type row struct {
	Measure   string `json:"measure"`
	Unit      unit   `json:"unit"`
	KB        number `json:"kb"`
	Against   string `json:"against,omitempty"`
	Reference number `json:"reference"`
	Figure    number `json:"figure"`
	Own       bool   `json:"own,omitempty"` // the goal is for kb's value, not for its ratio
	Goal      *goal  `json:"goal,omitempty"`
	Verdict   string `json:"verdict,omitempty"`
}

// goal is the most, or the least, that a figure should be.
type goal struct {
	Limit float64 `json:"limit"`
	Least bool    `json:"at_least,omitempty"`
}

func atMost(f float64) *goal  { return &goal{Limit: f} }
func atLeast(f float64) *goal { return &goal{Limit: f, Least: true} }

func (g *goal) String() string {
	switch {
	case g == nil:
		return ""
	case g.Least:
		return fmt.Sprintf("≥ %.3f", g.Limit)
	}
	return fmt.Sprintf("≤ %.4g", g.Limit)
}

// number is a float64 whose NaN is null in JSON and a dash in a table.
type number float64

func (n number) MarshalJSON() ([]byte, error) {
	if math.IsNaN(float64(n)) {
		return []byte("null"), nil
	}
	return json.Marshal(float64(n))
}

var none = number(math.NaN())

// unit is how a value is written. Values are in seconds, bytes, or plain.
type unit string

const (
	inSeconds unit = "s"
	inBytes   unit = "bytes"
	inKB      unit = "kB"
	inPercent unit = "%"
	inMRR     unit = "MRR"
	plain     unit = ""
	inNDCG    unit = "nDCG@10"
)

func (u unit) format(n number) string {
	f := float64(n)
	switch {
	case math.IsNaN(f):
		return "–"
	case u == inSeconds && math.Abs(f) < 1:
		return fmt.Sprintf("%.3g ms", f*1e3)
	case u == inSeconds:
		return fmt.Sprintf("%.2f s", f)
	case u == inBytes:
		return fmt.Sprintf("%.1f MB", f/1e6)
	case u == inKB:
		return fmt.Sprintf("%.0f KB", f)
	case u == inPercent:
		return fmt.Sprintf("%.0f %%", 100*f)
	case u == inNDCG, u == inMRR:
		return fmt.Sprintf("%.3f", f)
	}
	return fmt.Sprintf("%.4g", f)
}

// compare adds kb's value beside another's, with a goal for their ratio.
func (t *table) compare(what string, u unit, kb float64, against string, reference float64, g *goal) {
	t.add(row{Measure: what, Unit: u, KB: number(kb), Against: against, Reference: number(reference),
		Figure: number(ratio(kb, reference)), Goal: g})
}

// value adds a value of kb's alone, with a goal for it.
func (t *table) value(what string, u unit, kb float64, g *goal) {
	t.add(row{Measure: what, Unit: u, KB: number(kb), Reference: none, Figure: number(kb), Goal: g})
}

// beside adds kb's value, with a goal for it, beside another's.
func (t *table) beside(what string, u unit, kb float64, against string, reference float64, g *goal) {
	t.add(row{Measure: what, Unit: u, KB: number(kb), Against: against, Reference: number(reference), Figure: number(kb), Goal: g, Own: true})
}

func (t *table) add(r row) {
	r.Verdict = r.verdict()
	t.Rows = append(t.Rows, r)
}

func (t *table) note(format string, args ...any) {
	t.Notes = append(t.Notes, fmt.Sprintf(format, args...))
}

func (r row) verdict() string {
	f := float64(r.Figure)
	switch {
	case r.Goal == nil:
		return ""
	case math.IsNaN(f):
		return "not measured"
	case r.Goal.Least && f < r.Goal.Limit:
		return fmt.Sprintf("missed by %.3f", r.Goal.Limit-f)
	case !r.Goal.Least && f > r.Goal.Limit:
		return fmt.Sprintf("missed by %.0f %%", (f/r.Goal.Limit-1)*100)
	}
	return "met"
}

// ratio is how kb compares: a quotient, for quality a difference.
func (r row) ratio() string {
	if math.IsNaN(float64(r.Reference)) {
		return ""
	}
	if r.Unit == inNDCG || r.Unit == inMRR {
		return fmt.Sprintf("%+.3f", float64(r.KB-r.Reference))
	}
	if r.Reference == 0 {
		return ""
	}
	return fmt.Sprintf("%.2f", float64(r.KB/r.Reference))
}

func (r row) goal() string {
	if (r.Own || math.IsNaN(float64(r.Reference))) && r.Goal != nil && !r.Goal.Least {
		return "≤ " + r.Unit.format(number(r.Goal.Limit))
	}
	return r.Goal.String()
}

func (t *table) print(w io.Writer) {
	fmt.Fprintf(w, "\n### %s\n\n", t.About)
	if len(t.Rows) > 0 {
		fmt.Fprintln(w, "| measured | kb | compared with | | ratio | goal | verdict |")
		fmt.Fprintln(w, "|---|---|---|---|---|---|---|")
	}
	for _, r := range t.Rows {
		reference := ""
		if r.Against != "" {
			reference = r.Unit.format(r.Reference)
		}
		cells := []string{r.Measure, r.Unit.format(r.KB), r.Against, reference, r.ratio(), r.goal(), r.Verdict}
		fmt.Fprintf(w, "| %s |\n", strings.Join(cells, " | "))
	}
	if len(t.Notes) > 0 {
		fmt.Fprintln(w)
	}
	for _, n := range t.Notes {
		fmt.Fprintf(w, "- %s\n", n)
	}
}
