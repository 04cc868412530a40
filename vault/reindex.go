package vault

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"

	"kb/gitstore"
	"kb/note"
)

// ReindexParams names the view to index.
type ReindexParams struct {
	Force bool `json:"force,omitempty" hidden:"" help:"derive everything again, as after a damaged disk"`
	atParam
}

// Reindexed says what indexing a view did. Added counts the contents that were
// new to the index; removed, renamed and unchanged compare with the view that
// was indexed before.
type Reindexed struct {
	Seen
	Added     int     `json:"added"`
	Removed   int     `json:"removed"`
	Unchanged int     `json:"unchanged"`
	Renamed   int     `json:"renamed"`
	Embedded  int     `json:"embedded"`
	Documents int     `json:"documents"`
	Sections  int     `json:"sections"`
	Seconds   float64 `json:"seconds"`
	Degraded  string  `json:"degraded,omitempty" schema:"-"` // why nothing was embedded that could have been
}

var reindexOp = define(Op{
	Name:        "reindex",
	Title:       "Index now",
	Summary:     "Index a view now, instead of at its first search",
	Description: "Index the view now and report what was new. Never needed for correct answers: every read indexes what it lacks.",
	Examples:    []string{"kb reindex", "kb reindex --at v1.0"},
	Derived:     true,
}, (*Vault).Reindex)

// Reindex derives what the view lacks. Contents that were ever indexed, at any
// commit and path, cost nothing.
func (v *Vault) Reindex(ctx context.Context, p ReindexParams) (*Reindexed, error) {
	start := v.now()
	w, err := v.read(ctx, p.At)
	if err != nil {
		return nil, err
	}
	x, err := v.store.index(v.cfg.Language)
	if err != nil {
		return nil, err
	}
	if !x.Writable() {
		return nil, v.store.unwritable()
	}
	if p.Force {
		if err := v.store.forget(ctx, x, w.blobs()); err != nil {
			return nil, err
		}
		v.forgetViews()
		if w, err = v.read(ctx, p.At); err != nil {
			return nil, err
		}
	}
	r := &Reindexed{Seen: w.seen(), Documents: len(w.docs)}
	if r.Added, err = w.syncInto(ctx, x); err != nil {
		return nil, err
	}
	if err := w.embedAll(ctx, r); err != nil {
		return nil, err
	}
	if err := w.compareWithLast(ctx, r); err != nil {
		return nil, err
	}
	sections := map[string]bool{}
	for _, d := range w.docs {
		sections[d.col.Name+"/"+section(d.path)] = true
	}
	r.Sections = len(sections)
	r.Seconds = math.Round(v.now().Sub(start).Seconds()*1000) / 1000
	return r, nil
}

// embedAll embeds what the view lacks: for a person now, for an agent, who would
// have to wait, in the background. Whatever goes wrong, the text is indexed.
func (w *view) embedAll(ctx context.Context, r *Reindexed) error {
	x, why := w.v.store.embedders.index(w.v.cfg)
	if x == nil {
		r.Degraded = why
		return nil
	}
	if b := w.v.store.background; b != nil && w.v.audience == Agent {
		b.want(w)
		return nil
	}
	n, err := w.embed(ctx, x)
	r.Embedded = n
	if err == nil {
		_, err = w.covered(ctx, x) // what is derived of the vectors is made here, too
	}
	if cerr := ctxErr(ctx); cerr != nil || err == nil {
		return cerr
	}
	if errors.Is(err, gitstore.ErrChanged) {
		return err // the view is out of date
	}
	w.v.store.log("embed %s: %v", w.short(), err)
	r.Degraded = "embedding failed: " + AsError(err).Message
	return nil
}

// compareWithLast counts what changed since the view that was indexed before,
// and remembers this one.
func (w *view) compareWithLast(ctx context.Context, r *Reindexed) error {
	before := map[docKey]note.ID{}
	for _, b := range w.bases {
		last, ok := w.v.store.lastIndexed(b.repo)
		if ok {
			w.docsAt(ctx, b.repo, last, before)
		}
		if err := w.v.store.setLastIndexed(b.repo, b.commit); err != nil {
			return err
		}
	}
	gone := map[note.ID]int{}
	now := map[docKey]bool{}
	for _, d := range w.docs {
		now[docKey{d.col, d.path}] = true
	}
	for k, id := range before {
		if !now[k] {
			gone[id]++
			r.Removed++
		}
	}
	for _, d := range w.docs {
		was, ok := before[docKey{d.col, d.path}]
		switch {
		case ok && was == d.blob:
			r.Unchanged++
		case !ok && gone[d.blob] > 0:
			gone[d.blob]--
			r.Renamed++
			r.Removed--
		}
	}
	return nil
}

type docKey struct {
	col  *collection
	path string
}

// docsAt lists a repository's docs at a commit; one that git no longer has
// lists none.
func (w *view) docsAt(ctx context.Context, r *repo, id gitstore.CommitID, into map[docKey]note.ID) {
	old, err := w.v.readBases(ctx, []base{{repo: r, commit: id}})
	if err != nil {
		return
	}
	for _, d := range old.docs {
		into[docKey{d.col, d.path}] = d.blob
	}
}

// Text writes one line.
func (r *Reindexed) Text(t *Text) {
	parts := []string{fmt.Sprintf("%d added", r.Added), fmt.Sprintf("%d removed", r.Removed),
		fmt.Sprintf("%d renamed", r.Renamed), fmt.Sprintf("%d unchanged", r.Unchanged)}
	if r.Embedded > 0 {
		parts = append(parts, fmt.Sprintf("%s embedded", thousands(r.Embedded)))
	}
	t.Printf("%s in %s: %s\n", t.Strong(plural(r.Documents, "note")), plural(r.Sections, "section"), strings.Join(parts, ", "))
	t.Printf("%s\n", t.Dim(strings.Join(nonEmpty([]string{r.Seen.text(), fmt.Sprintf("%.1f s", r.Seconds), r.Degraded}), " · ")))
}
