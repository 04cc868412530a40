package vault

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"kb/gitstore"
	"kb/index"
	"kb/note"
	"kb/site"
)

// errAnew is why a site is to be built of all notes.
func errAnew(format string, args ...any) error {
	return fmt.Errorf("%w: %s", site.ErrAnew, fmt.Sprintf(format, args...))
}

// siteRenewed builds a site of what the build before left, asking for no notes but
// those that commits since then changed. It returns [site.ErrAnew] where that is not
// the same as building it of all: where notes came, went, or were renamed, where who
// sees a note or what it is called may be another, or what is beside the notes.
func (v *Vault) siteRenewed(ctx context.Context, p SiteBuildParams, bases []base, t *trail) (*SiteBuilt, error) {
	if t == nil {
		return nil, errAnew("nothing is kept")
	}
	if t.live {
		return v.siteFollowed(ctx, p, bases, t)
	}
	before, err := t.last()
	if err != nil {
		return nil, errAnew("%v", err)
	}
	if !t.tips && !v.scope().all || v.mayRelate(before.Docs) || len(bases) != len(before.Bases) {
		return nil, errAnew("more than text may change")
	}
	r := &siteRenewal{view: &view{v, &contents{bases: bases, dates: map[*repo]*gitstore.Dates{}}}, before: before, pasts: map[string]gitstore.FilePast{}, was: map[docKey]note.ID{}}
	for i, b := range bases {
		if before.Bases[i].Repository != b.repo.GitDir() {
			return nil, errAnew("another repository")
		}
		if err := r.changesOf(ctx, b, before.Bases[i].Commit); err != nil {
			return nil, err
		}
	}
	edits, err := r.edits(ctx)
	if err != nil {
		return nil, err
	}
	r.siteNames(edits.Set, p)
	built, err := site.Renew(ctx, before.site, *edits, v.siteOptions(p.Out, true))
	if err != nil {
		return nil, err
	}
	before.site = built.Kept
	t.leave(before)
	return r.siteBuilt(p, built, before.Left), nil
}

// leave keeps what a build of all notes made, for the next one.
func (w *view) leave(t *trail, set *siteSet, built *site.Built) {
	if t == nil || set.gaps || !t.tips && !w.v.scope().all {
		return
	}
	s := &steps{Docs: len(set.Docs), Left: set.left, Cut: set.cut, Hidden: set.hidden, site: built.Kept}
	if t.live {
		w.leaveTree(t, s, nil)
		return
	}
	t.leave(s)
}

// siteRenewal is the notes that changed since a build. Its view has no others.
type siteRenewal struct {
	*view
	before *steps
	pasts  map[string]gitstore.FilePast // what is new in them, by [docName]
	was    map[docKey]note.ID
	claims map[note.ID]*claim // of the notes and their versions
	alone  *index.Segments    // to read words of single notes

	read func(ctx context.Context, collection string, blob note.ID) ([]byte, error) // as [site.Set] has it
}

// changesOf adds the notes of a repository that commits after one changed.
func (r *siteRenewal) changesOf(ctx context.Context, b base, from gitstore.CommitID) error {
	versions, ok, err := b.repo.VersionsSince(ctx, from, b.commit)
	if err != nil {
		return errAnew("%v", err)
	}
	if !ok {
		return errAnew("not only texts changed since %s", short(from))
	}
	dates := map[string]gitstore.Date{}
	for path, list := range versions {
		if len(list) == 0 || slices.ContainsFunc(list, func(x gitstore.PastVersion) bool { return x.Path != "" }) {
			return errAnew("the past of %s", path)
		}
		last, err := b.repo.Commit(list[0].Commit)
		if err != nil {
			return errAnew("%v", err)
		}
		dates[path] = gitstore.Date{Created: last.Committer.When.UTC(), Updated: last.Committer.When.UTC(), Author: last.Author.Name, Commit: last.ID}
		if err := r.changeOf(b, from, path, list); err != nil {
			return err
		}
	}
	r.dates[b.repo] = gitstore.DatesOf(b.commit, dates)
	slices.SortFunc(r.docs, doc.compare)
	return nil
}

// changeOf adds a file, as a note of each collection that it is in.
func (r *siteRenewal) changeOf(b base, from gitstore.CommitID, path string, list []gitstore.PastVersion) error {
	if strings.HasPrefix(path, customDir) {
		return errAnew("%s changed", path)
	}
	for _, c := range b.repo.cols {
		name, inside := c.within(path)
		if !inside {
			continue
		}
		if !c.holds(name) {
			return errAnew("%s is no note", path)
		}
		old, err := b.repo.File(from, path)
		if err != nil {
			return errAnew("%v", err)
		}
		now, err := b.repo.File(b.commit, path)
		if err != nil {
			return errAnew("%v", err)
		}
		d := doc{col: c, path: name, blob: now.Blob}
		r.docs = append(r.docs, d)
		r.was[docKey{c, name}] = old.Blob
		r.pasts[docName(&site.Doc{Collection: c.Name, Path: name})] = gitstore.FilePast{Versions: list}
	}
	return nil
}

// edits are the changes as package site wants them.
func (r *siteRenewal) edits(ctx context.Context) (*site.Edits, error) {
	if err := r.sameSight(ctx); err != nil {
		return nil, err
	}
	frame, err := r.siteFrame()
	if err != nil {
		return nil, err
	}
	if r.alone, err = index.NoSegments(site.SearchLanguage(r.v.cfg.Language)); err != nil {
		return nil, err
	}
	x, err := index.New(r.alone, r.v.store.facts)
	if err != nil {
		return nil, err
	}
	if r.read == nil {
		r.read = frame.Read
	}
	frame.Read = r.read
	notes := map[note.ID]*note.Note{}
	for _, d := range r.docs {
		if notes[d.blob], err = x.Note(d.blob, d.bytes); err != nil {
			return nil, errAnew("%v", err)
		}
	}
	if frame.Docs, err = r.siteDocs(ctx, notes); err != nil {
		return nil, err
	}
	if len(frame.Docs) != len(r.docs) {
		return nil, errAnew("a note is not published")
	}
	if err := r.addVersions(frame.Docs); err != nil {
		return nil, err
	}
	if frame.Search, err = searchWords(r.v.cfg.Language); err != nil {
		return nil, err
	}
	return &site.Edits{
		Set: frame, MostVersions: mostVersions, Average: index.Average, Alone: r.searchAlone,
		Note: func(ctx context.Context, d *site.Doc) (*note.Note, error) {
			return x.Note(d.Blob, func() ([]byte, error) { return r.read(ctx, d.Collection, d.Blob) })
		},
	}, nil
}

// sameSight sees to it that who may see the changed notes, and their versions, is as
// it was.
func (r *siteRenewal) sameSight(ctx context.Context) (err error) {
	var all []doc
	for _, d := range r.docs {
		name := docName(&site.Doc{Collection: d.col.Name, Path: d.path})
		if slices.Contains(r.before.Cut, name) {
			return errAnew("%s has a past that is not shown", d.path)
		}
		all = append(all, d, doc{col: d.col, path: d.path, blob: r.was[docKey{d.col, d.path}]})
		for _, x := range r.pasts[name].Versions {
			all = append(all, doc{col: d.col, path: d.path, blob: x.Blob})
		}
	}
	if r.claims, err = r.v.claims(ctx, all); err != nil {
		return errAnew("%v", err)
	}
	for _, d := range all {
		says, said := r.claims[d.blob], r.claims[r.was[docKey{d.col, d.path}]]
		if !reflect.DeepEqual(says, said) || says != nil && says.unread || slices.Contains(r.before.Hidden, d.blob) {
			return errAnew("%s may be seen by others", d.path)
		}
	}
	return nil
}

// addVersions gives docs the versions that they have more.
func (r *siteRenewal) addVersions(docs []*site.Doc) error {
	commits := map[gitstore.CommitID]site.Version{}
	for _, d := range docs {
		c, err := r.v.collection(d.Collection)
		if err != nil {
			return err
		}
		if whole, err := r.siteVersions(c, d, r.pasts[docName(d)], r.claims, &bygone{}, commits); err != nil || !whole {
			return errors.Join(errAnew("the versions of %s", d.Path), err)
		}
	}
	return nil
}

// searchAlone is what a doc adds to the search if it has the bytes of a blob.
func (r *siteRenewal) searchAlone(ctx context.Context, d *site.Doc, blob note.ID) (*site.SearchNote, error) {
	raw, err := r.read(ctx, d.Collection, blob)
	if err != nil {
		return nil, err
	}
	n, text := note.Parse(raw)
	one, err := r.alone.View([]index.Member{{Collection: d.Collection, Path: d.Path, Blob: blob}}, []index.Source{{Blob: blob, Note: n, Text: text}}, nil)
	if err != nil {
		return nil, err
	}
	return searchNote(ctx, one, text[n.Body:])
}
