package vault

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
)

// StatsParams asks what the vault amounts to.
type StatsParams struct {
	Collection string `json:"collection,omitempty" help:"only this collection"`
	MaxTokens  int    `json:"max_tokens,omitempty" default:"1000" min:"100" help:"budget"`
	atParam
}

// Stats is what the vault amounts to, and how its derived data stands.
type Stats struct {
	Documents    int            `json:"documents"`
	Chunks       int            `json:"chunks"`
	Words        int            `json:"words"`
	Bytes        int64          `json:"bytes"` // of the notes
	ByStatus     map[string]int `json:"by_status"`
	Statuses     int            `json:"statuses" schema:"-"` // different ones, listed or not
	Truncated    bool           `json:"truncated,omitempty" schema:"-"`
	Entities     int            `json:"entities"` // different things that notes name
	Problems     int            `json:"problems"` // notes that could not be read whole
	DiskBytes    int64          `json:"disk_bytes"`
	Capabilities Capabilities   `json:"capabilities"`
	Recipes      []string       `json:"recipes"`
	Index        IndexState     `json:"index"`
	Owner        OwnerInfo      `json:"owner"`
	Version      string         `json:"version"`
	Seen
}

// Capabilities says what kinds of search there are.
type Capabilities struct {
	Text    bool   `json:"text"`
	Vectors bool   `json:"vectors"`
	Model   string `json:"model"`
}

// OwnerInfo names the process that has the derived store open.
type OwnerInfo struct {
	PID     int    `json:"pid"`
	Version string `json:"version"`
}

var statsOp = define(Op{
	Name:        "kb_stats",
	Title:       "Show statistics",
	Summary:     "Show counts, capabilities and the state of the index",
	Description: "Counts of notes and chunks, by status; which searches work; the state of the index. For diagnosis.",
	Examples:    []string{"kb stats"},
}, (*Vault).Stats)

// Stats counts the notes of the view and describes the derived data.
func (v *Vault) Stats(ctx context.Context, p StatsParams) (*Stats, error) {
	w, cols, cards, err := v.readCards(ctx, p.At, p.Collection)
	if err != nil {
		return nil, err
	}
	s := &Stats{ByStatus: map[string]int{}, Recipes: v.store.recipes(v.cfg.Language), Version: Version, Seen: w.seen()}
	s.Capabilities = Capabilities{Text: true, Model: noModel}
	s.Index = IndexState{State: "ready", Text: 1}
	if err := w.vectorStats(ctx, s); err != nil {
		return nil, err
	}
	w.admitGaps(&s.Index, new(string))
	s.Owner = v.store.ownerInfo()
	for i, c := range cards {
		if !slices.Contains(cols, w.docs[i].col) {
			continue
		}
		s.Documents++
		s.Chunks += c.chunks
		s.Words += c.words
		s.Bytes += int64(c.bytes)
		if c.status != "" {
			s.ByStatus[strings.ToLower(c.status)]++
		}
	}
	s.Entities = len(w.countEntities(cols, "", ""))
	s.Problems = len(w.problems)
	s.DiskBytes, err = v.store.diskBytes()
	s.fit(p.MaxTokens)
	return s, err
}

// fit leaves out the rarest statuses until s is within a budget.
func (s *Stats) fit(budget int) {
	const others, number = 200, 4 // what the rest of s costs, and a status beside its name
	names := slices.SortedFunc(maps.Keys(s.ByStatus), func(a, b string) int {
		return cmp.Or(cmp.Compare(s.ByStatus[b], s.ByStatus[a]), strings.Compare(a, b))
	})
	s.Statuses = len(names)
	budget -= others
	for _, name := range names {
		if budget -= number + Tokens(name); budget < 0 {
			delete(s.ByStatus, name)
			s.Truncated = true
		}
	}
}

// vectorStats says which model there is, and how much of the view has vectors.
func (w *view) vectorStats(ctx context.Context, s *Stats) error {
	x, _ := w.v.store.embedders.index(w.v.cfg)
	if x == nil {
		return nil
	}
	c, err := w.covered(ctx, x)
	if err != nil {
		return err
	}
	s.Capabilities.Vectors, s.Capabilities.Model = true, filepath.Base(w.v.cfg.Model)
	s.Recipes = append(s.Recipes, x.Recipes()...)
	if s.Index.Vectors = c.coverage.Part(); c.view == nil {
		s.Index.State = "embedding"
	}
	return nil
}

// Text writes a table.
func (s *Stats) Text(t *Text) {
	rows := [][]string{
		{"notes", thousands(s.Documents)},
		{"chunks", thousands(s.Chunks)},
		{"words", thousands(s.Words)},
		{"entities", thousands(s.Entities)},
		{"text", megabytes(s.Bytes)},
		{"derived data", megabytes(s.DiskBytes)},
		{"vectors", s.vectors()},
		{"owner", fmt.Sprintf("process %d, kb %s", s.Owner.PID, s.Owner.Version)},
		{"recipes", strings.Join(s.Recipes, ", ")},
	}
	for _, status := range slices.Sorted(maps.Keys(s.ByStatus)) {
		rows = append(rows, []string{"status " + t.Plain(status), thousands(s.ByStatus[status])})
	}
	if s.Truncated {
		rows = append(rows, []string{"other statuses", thousands(s.Statuses - len(s.ByStatus))})
	}
	t.Table(rows)
	t.Printf("%s\n", t.Dim(s.Seen.text()))
}

// vectors names the model and how far it is.
func (s *Stats) vectors() string {
	if !s.Capabilities.Vectors {
		return noModel
	}
	return fmt.Sprintf("%s, %.0f %% of the notes", s.Capabilities.Model, 100*s.Index.Vectors)
}

func megabytes(n int64) string {
	switch {
	case n < 1<<10:
		return fmt.Sprintf("%d B", n)
	case n < 1<<20:
		return fmt.Sprintf("%.1f kB", float64(n)/(1<<10))
	}
	return fmt.Sprintf("%.1f MB", float64(n)/(1<<20))
}
