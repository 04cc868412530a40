package vault

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"kb/embed"
	"kb/index"
	"kb/note"
	"kb/vector"
)

// covered is how far the vectors of a view are, as of some changes of the index.
type covered struct {
	view     *embed.View // nil unless all are there
	coverage embed.Coverage
	changes  int64
	at       time.Time
}

// stale reports whether it is worth looking again. While the view is embedded,
// looking at every change would cost more than it tells.
func (c *covered) stale(x *embed.Index) bool {
	const often = time.Second
	return c.view == nil && c.changes != x.Changes() && (!x.Busy() || time.Since(c.at) > often)
}

// covered returns how far the vectors of the view are.
func (w *view) covered(ctx context.Context, x *embed.Index) (*covered, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if c := w.near[x]; c != nil && !c.stale(x) {
		return c, nil
	}
	c := &covered{changes: x.Changes(), at: time.Now()}
	var err error
	if c.view, c.coverage, err = x.View(ctx, w.blobs()); err != nil {
		return nil, err
	}
	if w.near == nil {
		w.near = map[*embed.Index]*covered{}
	}
	w.near[x] = c
	return c, nil
}

// forgetVectors makes the next search look for the view's vectors anew.
func (w *view) forgetVectors(x *embed.Index) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.near, x)
}

// A view that lacks only a few texts has them embedded as part of a query: the
// notes in which somebody writes at the moment.
const (
	fewNotes = 8
	fewTexts = 16
)

// vectors returns the vectors of the view, or nil and why it has none. What is
// missing is embedded: now if that is little, else in the background.
func (w *view) vectors(ctx context.Context) (m *meaning, state IndexState, why string) {
	state = IndexState{State: "ready", Text: 1}
	x, why := w.v.store.embedders.index(w.v.cfg)
	if x == nil {
		return nil, state, why
	}
	c, err := w.covered(ctx, x)
	if err == nil && c.view == nil {
		c, err = w.coverRest(ctx, x, c)
	}
	if err != nil {
		w.v.store.log("vectors of %s: %v", w.short(), err)
		return nil, state, "the vectors cannot be read"
	}
	state.Vectors = c.coverage.Part()
	if c.view == nil {
		state.State = "embedding"
		w.v.store.background.want(w)
		return nil, state, w.v.store.notEmbedded(c.coverage)
	}
	return &meaning{w: w, index: x, view: c.view}, state, ""
}

// notEmbedded says that vectors are missing, and who makes them.
func (s *Store) notEmbedded(c embed.Coverage) string {
	why := "the notes are not embedded yet"
	if c.Part() > 0 {
		why = fmt.Sprintf("%.0f %% of the notes are embedded", 100*c.Part())
	}
	if s.background == nil {
		return why + " (kb reindex embeds them)"
	}
	return why + ", the rest will be"
}

// coverRest embeds what the view lacks if that is little.
func (w *view) coverRest(ctx context.Context, x *embed.Index, c *covered) (*covered, error) {
	rest := c.coverage.Notes - c.coverage.Done
	if rest > fewNotes || c.coverage.Done < rest {
		return c, nil
	}
	if err := x.Read(ctx, w.blobs(), w.load); err != nil {
		return nil, err
	}
	w.forgetVectors(x)
	c, err := w.covered(ctx, x)
	if err != nil || c.view != nil || c.coverage.Missing > fewTexts {
		return c, err
	}
	if _, err := w.embed(ctx, x); err != nil {
		return nil, err
	}
	w.forgetVectors(x)
	return w.covered(ctx, x)
}

// meaning ranks the notes of a view by their vectors.
type meaning struct {
	w     *view
	index *embed.Index
	view  *embed.View
}

// errMeaning is wrapped by what goes wrong with vectors: text search goes on
// without them.
var errMeaning = errors.New("search by meaning")

// fail makes an errMeaning of an error that is not the caller's doing.
func (m *meaning) fail(ctx context.Context, err error) error {
	if err == nil || ctx.Err() != nil {
		return err
	}
	if m.index.Damaged(err) {
		m.w.forgetVectors(m.index)
	}
	return fmt.Errorf("%w: %w", errMeaning, err)
}

// nearestChunks is how many chunks bring their notes into a ranking by meaning.
const nearestChunks = 200

// query ranks by nearness to the query's text.
func (m *meaning) query(ctx context.Context, text string, best []note.ID, keep func(note.ID) bool) (map[note.ID]index.Near, error) {
	v, err := m.index.Model().Query(ctx, text)
	if err != nil {
		return nil, m.fail(ctx, err)
	}
	return m.nearest(ctx, m.view.Toward(v), best, keep)
}

// weigh is how much a cosine counts beside words for the query's text.
func (m *meaning) weigh(ctx context.Context, text string, words func(note.ID) float64) (float64, error) {
	v, err := m.index.Model().Query(ctx, text) // kept since the notes were ranked by it
	if err != nil {
		return 0, m.fail(ctx, err)
	}
	w, err := m.view.Weight(ctx, m.view.Toward(v), words)
	return w, m.fail(ctx, err)
}

// like returns a function that ranks by nearness to a note.
func (m *meaning) like(self note.ID) func(context.Context, string, []note.ID, func(note.ID) bool) (map[note.ID]index.Near, error) {
	return func(ctx context.Context, _ string, best []note.ID, keep func(note.ID) bool) (map[note.ID]index.Near, error) {
		to, err := m.view.Note(self)
		if err != nil {
			return nil, m.fail(ctx, err)
		}
		return m.nearest(ctx, to, best, keep)
	}
}

func (m *meaning) nearest(ctx context.Context, to embed.Direction, best []note.ID, keep func(note.ID) bool) (map[note.ID]index.Near, error) {
	found, err := m.view.Nearest(ctx, to, nearestChunks, best, keep)
	if err != nil {
		return nil, m.fail(ctx, err)
	}
	out := make(map[note.ID]index.Near, len(found))
	for id, n := range found {
		out[id] = index.Near(n)
	}
	return out, nil
}

// diversify returns a function that pushes back what repeats what ranks before it.
func (m *meaning) diversify(ctx context.Context, diversity float64) func([]index.Ranked) ([]int, error) {
	return func(best []index.Ranked) ([]int, error) {
		ranking := make([]vector.Scored, len(best))
		directions := make([]embed.Direction, len(best))
		for i, b := range best {
			ranking[i] = vector.Scored{ID: strconv.Itoa(i), Score: b.Score}
			var err error
			if b.Near != nil {
				directions[i], err = m.view.Chunk(b.Blob, b.Near.Chunk)
			} else {
				directions[i], err = m.view.Note(b.Blob)
			}
			if err != nil {
				return nil, m.fail(ctx, err)
			}
		}
		alike := func(i, j int) float64 { return max(0, vector.Dot(directions[i], directions[j])) }
		order := make([]int, 0, len(best))
		for _, s := range vector.Diversify(ranking, len(ranking), diversity, alike) {
			i, _ := strconv.Atoi(s.ID) // written above
			order = append(order, i)
		}
		return order, nil
	}
}

// ranking is how a search ranks, and what it says about that.
type ranking struct {
	mode     string
	degraded string // why it is not the mode that was asked for
	state    IndexState
	meaning  *meaning // nil in the modes of words
}

// modeNames are the modes by all their names.
var modeNames = map[string]string{"hybrid": "hybrid", "text": "text", "fts5": "text", "vector": "vector", "semantic": "vector", "literal": "literal", "regex": "regex"}

// ranking chooses how to rank: as mode says - "" is the configured one - or by
// words where that cannot be.
func (w *view) ranking(ctx context.Context, mode string) (*ranking, error) {
	if mode == "" {
		mode = w.v.cfg.Search.Mode
	}
	k := &ranking{mode: modeNames[mode], state: IndexState{State: "ready", Text: 1}}
	if k.mode != "hybrid" && k.mode != "vector" {
		k.state.Vectors = w.knownPart()
		return k, nil
	}
	var why string
	if k.meaning, k.state, why = w.vectors(ctx); k.meaning == nil {
		return k, k.degrade(w.v.cfg, why)
	}
	return k, nil
}

// degrade makes k rank by words, unless the caller insists.
func (k *ranking) degrade(c *Config, why string) error {
	if f := c.Search.Fallback; k.mode == "vector" && f != nil && !*f {
		return errorf(NotFound, "no vectors: %s", why).hint("mode=text searches by words")
	}
	k.mode, k.meaning, k.degraded = "text", nil, why+": searched by words"
	return nil
}

// knownPart is how much of the view has vectors, as far as that is known without
// looking.
func (w *view) knownPart() float64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	part := 0.0
	for _, c := range w.near {
		part = max(part, c.coverage.Part())
	}
	return part
}

// apply lets q rank so.
func (k *ranking) apply(ctx context.Context, q *index.Query, c *Config, diversity float64) {
	q.Meaning = nil
	switch k.mode {
	case "literal":
		q.Mode = index.ModeLiteral
	case "regex":
		q.Mode = index.ModeRegex
	case "hybrid", "vector":
		q.Meaning = &index.Meaning{Alone: k.mode == "vector", Near: k.meaning.query}
		if w, err := strconv.ParseFloat(c.Search.VectorWeight, 64); err == nil {
			q.Meaning.Weight = w
		} else {
			q.Meaning.Weigh = k.meaning.weigh
		}
		if diversity > 0 {
			q.Meaning.Reorder = k.meaning.diversify(ctx, diversity)
		}
	}
}

// search answers q as k ranks, or by words when the vectors fail.
func (w *view) search(ctx context.Context, k *ranking, q index.Query, diversity float64) (*index.Result, error) {
	text, err := w.textView(ctx)
	if err != nil {
		return nil, err
	}
	w.keepRead(&q)
	k.apply(ctx, &q, w.v.cfg, diversity)
	found, err := text.Search(ctx, q)
	if errors.Is(err, errMeaning) {
		w.v.store.log("%v", err)
		if err := k.degrade(w.v.cfg, "the embedding model or its vectors failed"); err != nil {
			return nil, err
		}
		k.apply(ctx, &q, w.v.cfg, diversity)
		found, err = text.Search(ctx, q)
	}
	if err != nil {
		return nil, searchError(err)
	}
	return found, nil
}
