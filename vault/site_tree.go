package vault

import (
	"context"
	"slices"

	"kb/gitstore"
	"kb/note"
	"kb/site"
)

// builtTree is what a site of work trees was made of. It is kept in memory alone: who
// looks at a site while it is written asks one process, and what is not committed can
// be read nowhere once it is written over.
type builtTree struct {
	*steps
	file     string // of its trail, which is no file
	day      string // see [Vault.dayKey]
	contents *contents
	texts    map[note.ID][]byte // of notes that are not committed
}

// Up to how many sites of work trees, and how many bytes of notes that are not
// committed for each, are remembered.
const (
	mostTrees = 2
	mostTexts = 16 << 20
)

// siteFollowed is siteRenewed of work trees at the same commits: notes have other bytes,
// or became what is committed.
func (v *Vault) siteFollowed(ctx context.Context, p SiteBuildParams, bases []base, t *trail) (*SiteBuilt, error) {
	last := v.lastTree(t)
	if last == nil || last.Key != t.key || last.day != v.dayKey(bases) || !slices.Equal(last.Bases, t.bases) || !t.tips && !v.scope().all || v.mayRelate(last.Docs) {
		return nil, errAnew("another tree")
	}
	w, err := v.readBases(ctx, bases)
	if err != nil {
		return nil, err
	}
	r, err := w.sinceTree(ctx, last)
	if err != nil {
		return nil, err
	}
	edits, err := r.edits(ctx)
	if err != nil {
		return nil, err
	}
	r.siteNames(edits.Set, p)
	built, err := site.Renew(ctx, last.site, *edits, v.siteOptions(p.Out, true))
	if err != nil {
		return nil, err
	}
	now := *last.steps
	now.site = built.Kept
	w.leaveTree(t, &now, last.texts)
	return w.siteBuilt(p, built, last.Left), nil
}

// sinceTree is the notes of w that are not as a site has them.
func (w *view) sinceTree(ctx context.Context, last *builtTree) (*siteRenewal, error) {
	docs, ok := w.editedSince(last.contents)
	if !ok || w.gaps.any() {
		return nil, errAnew("notes came or went")
	}
	history, err := w.history(ctx)
	if err != nil {
		return nil, err
	}
	r := &siteRenewal{view: &view{w.v, &contents{bases: w.bases, worktree: true, docs: docs, dates: history}},
		before: last.steps, pasts: map[string]gitstore.FilePast{}, was: map[docKey]note.ID{}}
	for _, d := range docs {
		i, _ := last.contents.find(d.col, d.path)
		r.was[docKey{d.col, d.path}] = last.contents.docs[i].blob
	}
	r.read = func(ctx context.Context, collection string, blob note.ID) ([]byte, error) {
		if text, ok := last.texts[blob]; ok {
			return text, nil
		}
		return w.readBlob(ctx, collection, blob)
	}
	return r, nil
}

// editedSince lists the docs that have other bytes than in an earlier view, or are
// committed now or no longer. Not ok: the two have not the same paths.
func (w *view) editedSince(old *contents) (docs []doc, ok bool) {
	if w.contents == old {
		return nil, true
	}
	if len(w.docs) != len(old.docs) {
		return nil, false
	}
	for i, d := range w.docs {
		was := old.docs[i]
		if d.col != was.col || d.path != was.path {
			return nil, false
		}
		if d != was {
			docs = append(docs, d)
		}
	}
	return docs, true
}

// leaveTree keeps what a site of w was made of, with the texts that are nowhere else,
// of which some were kept before.
func (w *view) leaveTree(t *trail, s *steps, before map[note.ID][]byte) {
	s.Key, s.Bases = t.key, t.bases
	b := &builtTree{steps: s, file: t.file, day: w.v.dayKey(w.bases), contents: w.contents, texts: map[note.ID][]byte{}}
	size := 0
	for i, d := range w.docs {
		if !d.uncommitted {
			continue
		}
		text, ok := before[d.blob]
		if !ok {
			var err error
			if text, err = w.bytes(i); err != nil {
				return // it is another by now: the next build is of all notes
			}
		}
		if size += len(text); size > mostTexts {
			return
		}
		b.texts[d.blob] = text
	}
	w.v.mu.Lock()
	defer w.v.mu.Unlock()
	others := slices.DeleteFunc(w.v.trees, func(b *builtTree) bool { return b.file == t.file })
	w.v.trees = append(others[max(0, len(others)-mostTrees+1):], b)
}

// lastTree is what a site of work trees was made of last, if that is remembered.
func (v *Vault) lastTree(t *trail) *builtTree {
	v.mu.Lock()
	defer v.mu.Unlock()
	if i := slices.IndexFunc(v.trees, func(b *builtTree) bool { return b.file == t.file }); i >= 0 {
		return v.trees[i]
	}
	return nil
}
