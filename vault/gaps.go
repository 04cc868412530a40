package vault

import (
	"sync"

	"kb/index"
	"kb/note"
)

// gaps are the blobs of a view that could not be read: git does not have them, as
// in a partial clone, or not now. A view with gaps is not kept.
type gaps struct {
	mu  sync.Mutex
	ids map[note.ID]bool
}

func (g *gaps) add(id note.ID) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.ids == nil {
		g.ids = map[note.ID]bool{}
	}
	g.ids[id] = true
}

func (g *gaps) any() bool { return g.count() > 0 }

func (g *gaps) count() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.ids)
}

func (g *gaps) has(id note.ID) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.ids[id]
}

// lookForGaps finds what partial clones left out.
func (w *contents) lookForGaps() {
	for _, d := range w.docs {
		if r := d.col.repo; r.Partial() && !d.uncommitted && !r.Has(d.blob) {
			w.gaps.add(d.blob)
		}
	}
}

// among counts the blobs, and the docs that are such.
func (g *gaps) among(docs []doc) (blobs, these int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, d := range docs {
		if g.ids[d.blob] {
			these++
		}
	}
	return len(g.ids), these
}

// keepRead keeps notes that could not be read out of what is found: their names are
// known.
func (w *view) keepRead(q *index.Query) {
	if !w.gaps.any() {
		return
	}
	keep := q.Keep
	q.Keep = func(i int) bool { return !w.gaps.has(w.docs[i].blob) && (keep == nil || keep(i)) }
}

// admitGaps says in an answer from the view's texts that notes are missing from
// them, where some are.
func (w *view) admitGaps(state *IndexState, degraded *string) {
	if !w.gaps.any() {
		return
	}
	unread, shown := w.gaps.among(w.docs)
	read := len(w.docs) - shown
	state.State, state.Text = "incomplete", float64(read)/float64(read+unread)
	why := plural(unread, "note") + " cannot be read (of a partial clone, git fetch --refetch --no-filter brings them)"
	if *degraded != "" {
		why += "; " + *degraded
	}
	*degraded = why
}
