package vault

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"kb/gitstore"
	"kb/note"
)

// adding is documents on their way into one commit.
type adding struct {
	v   *Vault
	col *collection
	p   *AddParams

	*shelf
	now      time.Time
	changes  []fileChange
	pristine []fileChange // updated notes as the source has them, where people's edits make them another text
	files    map[string]bool
	planned  map[string]bool // sources whose notes the call writes
	template *template       // of new notes; may be nil
	result   *Added
}

// shelf is what a collection has, by what documents are recognised.
type shelf struct {
	g       *ground
	records map[string]importRecord // path → what is believed of its import
	sources map[string]string       // source → path
	hashes  map[string]string       // hash of the imported text → path
	titles  map[string]bool         // folded
	paths   map[string]bool         // folded
	stale   map[string]bool         // paths that the branch has and the draft, which is older, has not
	dropped map[string]bool         // of these, those that it began with
	deleted map[string]string       // source → path of a note that people deleted
}

// edit plans the commit. It is called anew when another writer was faster.
func (a *adding) edit(ctx context.Context, g *ground) ([]fileChange, error) {
	a.now, a.changes, a.pristine, a.files, a.planned, a.result = a.v.today(), nil, nil, map[string]bool{}, map[string]bool{}, newAdded(a.p)
	var err error
	if a.shelf, err = newShelf(ctx, g); err != nil {
		return nil, err
	}
	if a.p.Template != "" {
		if a.template, err = a.v.template(ctx, a.col, g.tip, a.p.Template); err != nil {
			return nil, err
		}
	}
	for i := range a.p.Notes {
		a.v.report(i, len(a.p.Notes), "adding")
		if err := a.one(ctx, &a.p.Notes[i]); err != nil {
			return nil, err
		}
	}
	return a.changes, nil
}

// before is the commit that comes first: updated notes as their sources have them.
// The text that the next update is merged by is then in history, whatever people
// had changed.
func (a *adding) before() (subject string, changes []fileChange) {
	return fmt.Sprintf("Import %s", plural(len(a.pristine), "source")), a.pristine
}

// dry plans without writing.
func (a *adding) dry(ctx context.Context) (*Added, error) {
	g, err := a.v.groundOf(ctx, a.col, a.p.Draft)
	if err != nil {
		return nil, err
	}
	changes, err := a.edit(ctx, g)
	if err != nil {
		return nil, err
	}
	texts := map[string]string{}
	for _, c := range changes {
		texts[c.path] = string(c.now)
	}
	for _, list := range [][]AddedNote{a.result.Added, a.result.Updated} {
		for i := range list {
			list[i].Body = texts[list[i].Path]
		}
	}
	return a.result, nil
}

// one plans one document. Only errors that concern all are returned.
func (a *adding) one(ctx context.Context, n *Import) error {
	done := AddedNote{Source: n.Source, Title: n.Title, Notices: append([]string{}, n.Notices...)}
	parsed, err := n.parse()
	if err == nil {
		at, known := a.sources[n.Source]
		same, twice := a.hashes[parsed.hash]
		switch {
		case n.Source != "" && a.planned[n.Source]:
			err = errorf(Usage, "another document of this call has the same source")
		case n.Source != "" && known:
			done.Path = at
			err = a.update(ctx, n, parsed, &done)
		case twice:
			done.Path = same
			a.skip(a.sameText(same), &done)
		case a.p.LeaveDeleted && n.Source != "" && a.deleted[n.Source] != "":
			done.Path = a.deleted[n.Source]
			a.skip("people deleted it", &done)
		default:
			err = a.add(n, parsed, &done)
		}
	}
	var ours *Error
	if errors.As(err, &ours) && ours.Code != Internal {
		done.Reason = err.Error()
		a.result.Failed = append(a.result.Failed, done)
		return nil
	}
	return err
}

// sameText is why a document is left out whose text a note has from elsewhere.
func (a *adding) sameText(at string) string {
	if from := a.records[at].known(); from != "" {
		return "the same text is there already, from " + from
	}
	return "the same text is there already"
}

// skip leaves a document out.
func (a *adding) skip(why string, done *AddedNote) {
	id := a.g.drafted[done.Path]
	done.Reason, done.Pending = why, !id.IsZero()
	a.result.Skipped = append(a.result.Skipped, *done)
}

// add plans a new note.
func (a *adding) add(n *Import, parsed *imported, done *AddedNote) error {
	title := n.Title
	if x := parsed.note.Title; n.Type == "markdown" && x != "" {
		title = x
	}
	title = a.freeTitle(title)
	at, err := a.place(cmp.Or(n.Directory, a.p.Directory), title)
	if err != nil {
		return err
	}
	src, err := a.render(n, parsed, title)
	if err != nil {
		return err
	}
	if a.template != nil {
		// As an edit of the import: the next one is merged into it.
		a.pristine = append(a.pristine, fileChange{path: at, now: src})
		if src, err = a.dress(n, parsed, title, src); err != nil {
			return err
		}
	}
	if err := a.beside(at, n.Files, done); err != nil {
		return err
	}
	if was, gone := a.deleted[n.Source]; gone && n.Source != "" {
		done.Reason = fmt.Sprintf("it was deleted as %s, and is back", was)
	}
	a.changes = append(a.changes, fileChange{path: at, now: src})
	a.know(at, title, n.Source, parsed.hash)
	a.planned[n.Source] = true
	done.Path, done.Title, done.Pending = at, title, true
	a.result.Added = append(a.result.Added, *done)
	return nil
}

// beside plans the files that go with a note.
func (a *adding) beside(at string, files []ImportFile, done *AddedNote) error {
	for _, f := range files {
		p := path.Join(path.Dir(at), f.Path)
		if why := a.v.protection(a.col, p); why != "" {
			return errorf(Protected, "%s is protected: %s", p, why)
		}
		if err := gitstore.CheckPath(p, true); err != nil || !strings.HasPrefix(p, strings.TrimPrefix(path.Dir(at)+"/", "./")) {
			return errorf(Usage, "%s is no place for a file beside the note", clip(p, 200))
		}
		if done.Files = append(done.Files, p); a.files[p] {
			continue
		}
		a.files[p] = true
		a.changes = append(a.changes, fileChange{path: p, now: f.Data})
	}
	return nil
}

// freeTitle numbers a title until no note has it.
func (a *adding) freeTitle(title string) string {
	free := title
	for n := 2; a.titles[foldName(free)]; n++ {
		free = fmt.Sprintf("%s (%d)", title, n)
	}
	return free
}

// place finds the path of a new note in a directory.
func (a *adding) place(dir, title string) (string, error) {
	stem := path.Join(dir, note.FileSlug(title))
	at := stem + ".md"
	for n := 2; a.paths[gitstore.FoldPath(at)]; n++ {
		at = fmt.Sprintf("%s-%d.md", stem, n)
	}
	return at, a.v.checkTarget(a.col, at, true)
}

// know takes a note that is planned into the shelf.
func (s *shelf) know(at, title, source, hash string) {
	s.name(at, title)
	s.believe(at, importRecord{source: source, hash: hash})
}

// newShelf looks through what the collection has, as the draft leaves it.
func newShelf(ctx context.Context, g *ground) (*shelf, error) {
	s := &shelf{g: g, records: map[string]importRecord{}, sources: map[string]string{}, hashes: map[string]string{}, titles: map[string]bool{}, paths: map[string]bool{}, stale: map[string]bool{}, dropped: map[string]bool{}}
	cards, err := g.allCards(ctx)
	if err != nil {
		return nil, err
	}
	for i, d := range g.docs {
		if d.col != g.col {
			continue
		}
		if id, changed := g.drafted[d.path]; changed && !id.IsZero() {
			continue
		} else if changed {
			s.stale[d.path] = true
		}
		s.name(d.path, g.titleOf(i, cards[i]))
		s.believe(d.path, recordOf(&note.Note{Fields: cards[i].fields}))
	}
	if err := s.takeDrafted(ctx); err != nil {
		return nil, err
	}
	s.deleted, err = g.deletedSources(ctx, s.sources)
	return s, err
}

// takeDrafted puts what the draft has on the shelf: last the notes that are known
// from other paths, unless another note is known by their source.
func (s *shelf) takeDrafted(ctx context.Context) error {
	from, err := s.g.provenance(ctx)
	if err != nil {
		return err
	}
	moved := map[string]importRecord{}
	for _, at := range slices.Sorted(maps.Keys(s.g.drafted)) {
		id := s.g.drafted[at]
		if id.IsZero() {
			s.dropped[at] = s.stale[at] && from.began(at)
			continue
		}
		n, err := s.g.parsed(id)
		if err != nil {
			return err
		}
		s.name(at, n.TitleAt(at))
		r, elsewhere, err := from.record(ctx, at, id)
		if err != nil {
			return err
		}
		if elsewhere {
			moved[at] = r
		} else {
			s.believe(at, r)
		}
	}
	for _, at := range slices.Sorted(maps.Keys(moved)) {
		if held, known := s.sources[moved[at].known()]; !known || s.stale[held] {
			s.believe(at, moved[at])
		}
	}
	return nil
}

// name takes a note's title and path.
func (s *shelf) name(at, title string) {
	s.titles[foldName(title)] = true
	s.paths[gitstore.FoldPath(at)] = true
}

// believe takes the record of a note.
func (s *shelf) believe(at string, r importRecord) {
	if s.records[at] = r; r.hash != "" {
		s.hashes[r.hash] = at
	}
	if from := r.known(); from != "" {
		s.sources[from] = at
	}
}
