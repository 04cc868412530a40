package site

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"kb/note"
)

// Edits says how a set differs from the one that a site was made of: in the bytes and
// the histories of some docs, and nothing else.
type Edits struct {
	// Set is as for [Build], but of docs with those alone, their versions being those
	// that they have more; without files and what was moved; and of the search with what
	// depends on the language alone.
	Set          *Set
	MostVersions int // of a doc

	// Note returns what a doc says that is as it was.
	Note func(ctx context.Context, d *Doc) (*note.Note, error)
	// Alone returns what a doc adds to the search if it has the bytes of a blob.
	Alone func(ctx context.Context, d *Doc, blob note.ID) (*SearchNote, error)
	// Average returns the average lengths of the fields of notes.
	Average func(lengths [][SearchFields]uint32) [SearchFields]float64
}

// Renew makes of the site in o.Out, of which a build left before, the site that [Build]
// would make of the whole set with the edits. It asks for edited docs, for those that
// their pages show or are shown on, and writes the files that change. Where the edits
// are more than of text - a title, a tag, an alias, where a link leads - or the
// site is not as that build left it, it changes nothing and returns [ErrAnew].
func Renew(ctx context.Context, before []byte, e Edits, o Options) (_ *Built, err error) {
	k, err := readKept(before)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrAnew, err)
	}
	r := &renewer{builder: newRenewed(k, e, o), edits: e}
	r.builder.recall = r.recall
	if err := r.edit(ctx); err != nil {
		return nil, err
	}
	if r.out, err = openRenewal(o.Out, k.manifest); err != nil {
		return nil, err
	}
	if err = r.renew(ctx); err == nil {
		err = r.out.finishRenewal(r.set.manifest())
	}
	if err != nil {
		return nil, errors.Join(err, r.out.giveUp())
	}
	built := &Built{Pages: len(r.set.Docs), Files: r.out.count, Written: r.out.written, Removed: len(r.out.stale)}
	k.manifest = r.out.manifest
	if o.Keep {
		built.Kept = k.bytes()
	}
	return built, nil
}

// renewer is one renewal. Its builder has all docs, but notes of those alone that
// were asked for.
type renewer struct {
	*builder
	edits  Edits
	edited []int     // docs, ascending
	was    []note.ID // their blobs before

	placing sync.Once // makes the tables by which any link is followed
}

// newRenewed makes a builder of what the build before left.
func newRenewed(k *kept, e Edits, o Options) *builder {
	set := *e.Set
	set.Files, set.Docs = k.files, make([]*Doc, len(k.docs))
	n := len(k.docs)
	g := &graph{set: &set, files: map[place]int{}, docs: map[place]int{}, numbers: map[*Doc]int{}, resolvers: map[string]*note.Resolver{},
		pages: make([]string, n), targets: make([][]target, n), out: make([][]edge, n), in: make([][]edge, n)}
	for i := range k.docs {
		d := &k.docs[i]
		set.Docs[i], g.pages[i], g.targets[i] = &d.doc, d.page, d.targets
	}
	b := &builder{set: &set, names: newNamer(), graph: g, renderer: NewRenderer(o.Cache), texts: newTextCache(), kept: k, progress: o.Progress,
		keyers: sync.Pool{New: func() any { return &keyer{} }}, folders: map[place]string{}, tagPages: k.tags, attachments: k.attached,
		inFolder: map[place][]int{}, turn: make([]int, n), navFile: k.nav, graphFile: k.graph}
	from := 0
	for _, f := range k.folders {
		docs := k.order[from:min(from+f.docs, len(k.order))]
		from += len(docs)
		b.folders[f.place], b.inFolder[f.place] = f.page, docs
		for turn, i := range docs {
			b.turn[i] = turn
		}
	}
	b.group()
	return b
}

// edit puts the edited docs in their places. It returns ErrAnew if more than text
// changed, or if two notes have or had the same bytes: then notes are numbered anew.
func (r *renewer) edit(ctx context.Context) error {
	rank := map[string]int{}
	for i, c := range r.set.Collections {
		rank[c.Name] = i
	}
	for _, now := range r.edits.Set.Docs {
		i, ok := slices.BinarySearchFunc(r.set.Docs, now, func(a, b *Doc) int {
			if a.Collection != b.Collection {
				return rank[a.Collection] - rank[b.Collection]
			}
			return strings.Compare(a.Path, b.Path)
		})
		if !ok {
			return fmt.Errorf("%w: %s is new", ErrAnew, now.Path)
		}
		if err := r.replace(ctx, i, now); err != nil {
			return err
		}
	}
	r.graph.known = r.knownTarget
	r.graph.connect()
	return r.unique()
}

// replace puts an edited doc in the place of doc i.
func (r *renewer) replace(ctx context.Context, i int, now *Doc) error {
	k := &r.kept.docs[i]
	old := k.doc
	same := old.Title == now.Title && slices.Equal(old.Tags, now.Tags) && slices.Equal(old.Aliases, now.Aliases) && len(now.Related) == 0 &&
		old.Language == now.Language && old.Translated == now.Translated && k.obsolete == now.Note.Obsolete() && k.heir == heir(now.Note)
	if !same {
		return fmt.Errorf("%w: %s is called, tagged or placed otherwise", ErrAnew, now.Path)
	}
	targets, err := r.retarget(ctx, i, now)
	if err != nil {
		return err
	}
	versions, err := r.kept.history(i)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrAnew, err)
	}
	k.row, k.versions, k.doc, k.summary, k.targets = "", "", *now, now.Note.Summary, targets
	all := slices.Concat(now.Versions, versions)
	most := min(len(all), r.edits.MostVersions)
	if slices.ContainsFunc(all[most:], func(v Version) bool { return v.Path != now.Path }) {
		return fmt.Errorf("%w: %s was elsewhere in a version that is not shown any more", ErrAnew, now.Path)
	}
	k.doc.Versions, k.doc.MoreVersions = all[:most], old.MoreVersions || most < len(all)
	r.graph.targets[i] = targets
	r.graph.numbers[&k.doc] = i
	r.edited, r.was = append(r.edited, i), append(r.was, old.Blob)
	return nil
}

// linkName is what of a link decides where it leads from a doc.
type linkName struct {
	kind   note.LinkKind
	target string
}

// leads tells where the links of a note lead, as its targets say.
func leads(n *note.Note, targets []target) map[linkName]target {
	out := make(map[linkName]target, len(targets))
	for _, t := range targets {
		if t.nth < len(n.Links) {
			l := &n.Links[t.nth]
			out[linkName{l.Kind, l.Target}] = target{doc: t.doc, file: t.file}
		}
	}
	return out
}

// retarget finds where the links of an edited doc lead, which has to be where they
// led before.
func (r *renewer) retarget(ctx context.Context, i int, now *Doc) ([]target, error) {
	had := r.kept.docs[i].targets
	before, err := r.edits.Note(ctx, r.set.Docs[i])
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrAnew, err)
	}
	known := leads(before, had)
	var out []target
	for k := range now.Note.Links {
		l := &now.Note.Links[k]
		if l.Target == "" || note.LeadsOut(*l) {
			continue
		}
		t, ok := known[linkName{l.Kind, l.Target}]
		t.nth, t.start, t.embed, t.part = k, l.Start, l.Embed, l.Fragment != ""
		if n := len(out); !ok || n >= len(had) || t.doc != had[n].doc || t.file != had[n].file || t.embed != had[n].embed || t.part != had[n].part {
			return nil, fmt.Errorf("%w: %s leads elsewhere", ErrAnew, now.Path)
		}
		out = append(out, t)
	}
	if len(out) != len(had) {
		return nil, fmt.Errorf("%w: %s leads elsewhere", ErrAnew, now.Path)
	}
	return out, nil
}

// unique sees to it that no edited doc has, or had, the bytes of another.
func (r *renewer) unique() error {
	mine := map[note.ID]int{}
	for _, id := range r.was {
		mine[id] = 0
	}
	for _, i := range r.edited {
		mine[r.set.Docs[i].Blob] = 0
	}
	for _, d := range r.set.Docs {
		if n, ok := mine[d.Blob]; ok {
			mine[d.Blob] = n + 1
		}
	}
	for k, i := range r.edited {
		if now := r.set.Docs[i].Blob; mine[now] > 1 || r.was[k] != now && mine[r.was[k]] > 0 {
			return fmt.Errorf("%w: two notes of the same bytes", ErrAnew)
		}
	}
	return nil
}

// renew makes what the edits change.
func (r *renewer) renew(ctx context.Context) error {
	if err := r.assets(ctx); err != nil {
		return err
	}
	if r.siteKey != r.kept.siteKey {
		return fmt.Errorf("%w: every page changes", ErrAnew)
	}
	return inTurn(r.searchRenewed, r.index, r.pages, r.listsRenewed, r.feeds)(ctx)
}

func (r *renewer) index(context.Context) error { return r.siteIndex() }

// recall has doc i say again what is in it.
func (r *renewer) recall(ctx context.Context, i int) (err error) {
	d := r.set.Docs[i]
	r.graph.numbers[d] = i
	if d.Note, err = r.edits.Note(ctx, d); err != nil {
		return fmt.Errorf("%w: %s: %w", ErrAnew, d.Path, err)
	}
	return nil
}

// pages makes the pages of the edited docs, and those that show something of them.
func (r *renewer) pages(ctx context.Context) error {
	shown := r.shown()
	for n, i := range shown {
		if err := r.ready(ctx, i); err != nil {
			return fmt.Errorf("%s: %w", r.set.Docs[i].Path, err)
		}
		drew := strings.HasSuffix(r.out.keyOf(r.graph.pages[i]), drawn)
		r.withDiagrams.Store(false)
		if err := r.note(ctx, i); err != nil {
			return fmt.Errorf("%s: %w", r.set.Docs[i].Path, err)
		}
		if r.withDiagrams.Load() != drew {
			return fmt.Errorf("%w: a diagram came or went", ErrAnew)
		}
		if r.progress != nil {
			r.progress(n+1, len(shown))
		}
	}
	return nil
}

// shown lists the docs whose pages may change: the edited ones; those that they link to,
// which show where; those that link to a part of one or embed it, and those that embed
// such.
func (r *renewer) shown() []int {
	found := map[int]bool{}
	var within []int // docs whose text is another, or shows another
	for _, i := range r.edited {
		found[i], within = true, append(within, i)
	}
	edited := len(within)
	for at := 0; at < len(within); at++ {
		for _, e := range r.graph.in[within[at]] {
			t := r.targetAt(e.doc, e.nth)
			if seen := slices.Contains(within, e.doc); !seen && (t.embed || t.part && at < edited) {
				found[e.doc], within = true, append(within, e.doc)
			}
		}
	}
	for _, i := range r.edited {
		for _, e := range r.graph.out[i] {
			found[e.doc] = true
		}
	}
	out := make([]int, 0, len(found))
	for i := range found {
		out = append(out, i)
	}
	slices.Sort(out)
	return out
}

func (r *renewer) targetAt(i, nth int) target {
	for _, t := range r.graph.targets[i] {
		if t.nth == nth {
			return t
		}
	}
	return target{doc: -1, file: -1}
}

// ready loads what the page of doc i is made of.
func (r *renewer) ready(ctx context.Context, i int) error {
	seen := map[int]bool{}
	var load func(i int) error
	load = func(i int) error {
		if seen[i] {
			return nil
		}
		seen[i] = true
		if err := r.load(ctx, i); err != nil {
			return err
		}
		for _, t := range r.graph.targets[i] {
			if t.doc < 0 {
				continue
			}
			if t.embed {
				if err := load(t.doc); err != nil {
					return err
				}
			} else if err := r.load(ctx, t.doc); err != nil {
				return err
			}
		}
		return nil
	}
	if err := load(i); err != nil {
		return err
	}
	linking := neighbours(r.graph.in[i])
	for _, j := range linking[:min(len(linking), mostBacklinks)] {
		if err := r.load(ctx, j); err != nil {
			return err
		}
	}
	if d := r.set.Docs[i]; r.kept.docs[i].row != "" && d.Versions == nil {
		var err error
		if d.Versions, err = r.kept.history(i); err != nil {
			return fmt.Errorf("%w: %w", ErrAnew, err)
		}
	}
	return nil
}

// knownTarget tells where a link in a loaded doc leads: as it was, or else found
// among all paths.
func (r *renewer) knownTarget(from *Doc, l *note.Link) (target, bool) {
	i := r.graph.numbers[from]
	for _, t := range r.graph.targets[i] {
		if x := &from.Note.Links[t.nth]; x.Kind == l.Kind && x.Target == l.Target {
			return target{doc: t.doc, file: t.file}, true
		}
	}
	r.placing.Do(r.graph.place)
	return target{}, false
}

// listsRenewed makes the lists that show when an edited doc changed, or what it is
// about.
func (r *renewer) listsRenewed(context.Context) error {
	made := map[string]bool{}
	for _, i := range r.edited {
		if err := r.listsOf(i, made); err != nil {
			return err
		}
	}
	return errors.Join(r.home(), r.recent())
}

// listsOf makes the lists that doc i is in, each once.
func (r *renewer) listsOf(i int, made map[string]bool) error {
	d := r.set.Docs[i]
	at := place{d.Collection, folderOf(d)}
	own := func(j int) bool { return r.graph.pages[j] == r.folders[at] }
	if name := r.folders[at]; !made[name] && !slices.ContainsFunc(r.inFolder[at], own) {
		made[name] = true
		if err := r.putList(name, r.folderPage(name, at, r.inFolder[at], countBelow(r.below(at))[at])); err != nil {
			return err
		}
	}
	for _, tag := range tagsOf(d) {
		if made[r.tagPages[tag]] {
			continue
		}
		made[r.tagPages[tag]] = true
		var docs []int
		for j, other := range r.set.Docs {
			if len(other.Tags) > 0 && slices.Contains(tagsOf(other), tag) {
				docs = append(docs, j)
			}
		}
		if err := r.tagPage(tag, docs); err != nil {
			return err
		}
	}
	return nil
}

// below are the docs in a folder and below it.
func (r *renewer) below(at place) []*Doc {
	var out []*Doc
	for _, d := range r.set.Docs {
		if d.Collection == at.collection && strings.HasPrefix(d.Path, at.path) {
			out = append(out, d)
		}
	}
	return out
}
