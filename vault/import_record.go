package vault

import (
	"context"
	"maps"
	"regexp"
	"slices"
	"strings"

	"kb/draft"
	"kb/gitstore"
	"kb/note"
)

// importRecord is what a note says of the source that it was made of: that is what
// a later kb add or kb sync asks for, compares and merges with.
type importRecord struct {
	from, source, kind, hash, fetched, etag, modified, original string
}

// recordOf is the record that a note bears.
func recordOf(n *note.Note) importRecord {
	r := importRecord{from: n.String(fieldFrom), kind: n.String(fieldType), hash: n.String(fieldHash),
		fetched: n.String(fieldFetched), etag: n.String(fieldETag), modified: n.String(fieldModified)}
	if r.from == "" && r.hash != "" {
		r.source = n.String(fieldSource)
	}
	if r.known() != "" {
		r.original = n.String(fieldOriginal)
	}
	return r
}

// known is the source that the note was made of, "" for one that a person wrote.
func (r importRecord) known() string {
	if r.from != "" {
		return r.from
	}
	return r.source
}

// differs is the first property in which two records differ, "" for none.
func (r importRecord) differs(o importRecord) string {
	mine, others := r.byField(), o.byField()
	for i := range mine {
		if mine[i] != others[i] {
			return mine[i].key
		}
	}
	return ""
}

type keyValuePair struct{ key, value string }

func (r importRecord) byField() []keyValuePair {
	return []keyValuePair{{fieldFrom, r.from}, {fieldSource, r.source}, {fieldHash, r.hash}, {fieldETag, r.etag}, {fieldModified, r.modified},
		{fieldFetched, r.fetched}, {fieldType, r.kind}, {fieldOriginal, r.original}}
}

// provenance tells which records of a draft's notes are true. A note says of itself
// what anybody wrote there; an import says in history what it read, and a reviewed
// note was read by a person.
type provenance struct {
	g     *ground
	names []string              // that the draft has, or had
	fork  gitstore.CommitID     // where the draft left its branch
	left  map[string]note.ID    // notes as the last import on the draft that wrote them left them
	other map[importRecord]bool // of notes that went, and of earlier drafts of the name; nil: not read
}

// provenance looks for the imports on a draft.
func (g *ground) provenance(ctx context.Context) (*provenance, error) {
	p := &provenance{g: g, fork: g.tip}
	if g.on == g.tip {
		return p, nil
	}
	bases, err := g.col.repo.MergeBases(ctx, g.tip, g.on)
	if err != nil {
		return nil, errorf(Internal, "compare the draft with its base: %w", err)
	}
	if len(bases) > 0 {
		p.fork = bases[0]
	}
	own, err := g.col.repo.ownCommits(ctx, g.tip, g.on)
	if err != nil {
		return nil, err
	}
	for _, c := range own {
		p.names = append(p.names, draft.NameIn(c))
	}
	p.left = map[string]note.ID{}
	return p, g.eachImported(ctx, own, func(at string, id note.ID) error {
		if _, later := p.left[at]; !later {
			p.left[at] = id
		}
		return nil
	})
}

// eachImported visits the notes that imports among commits wrote, in their order.
func (g *ground) eachImported(ctx context.Context, commits []*gitstore.Commit, visit func(at string, id note.ID) error) error {
	for _, c := range commits {
		if !draft.Imports(c) || len(c.Parents) == 0 {
			continue
		}
		changes, err := g.col.repo.Diff(ctx, c.Parents[0], c.ID, g.col.dir)
		if err != nil {
			return errorf(Internal, "list what %s imported: %w", short(c.ID), err)
		}
		for _, x := range changes {
			if x.New.IsZero() || !g.col.holds(x.Path) {
				continue
			}
			if err := visit(x.Path, x.New); err != nil {
				return err
			}
		}
	}
	return nil
}

// record is the true record of a note on the draft. Where the note bears another
// one it is that of the last import, else of the branch; moved says that it is
// known from another path.
func (p *provenance) record(ctx context.Context, at string, id note.ID) (r importRecord, moved bool, err error) {
	now, err := p.read(id)
	if err != nil {
		return r, false, err
	}
	for i, known := range p.reviewed(at) {
		was, err := p.read(known)
		if err != nil {
			return r, false, err
		}
		if was == now {
			return now, false, nil
		}
		if i == 0 || r.known() == "" {
			r = was
		}
	}
	if now.known() == "" {
		return r, false, nil
	}
	if err := p.learnOthers(ctx); err != nil {
		return r, false, err
	}
	if p.other[now] {
		return now, true, nil
	}
	return r, false, nil
}

func (p *provenance) read(id note.ID) (importRecord, error) {
	n, err := p.g.parsed(id)
	if err != nil {
		return importRecord{}, err
	}
	return recordOf(n), nil
}

// reviewed are the versions at a path whose records are believed: of the last
// import, of the branch, and of the commit of the branch that the draft began with.
func (p *provenance) reviewed(at string) (list []note.ID) {
	if id, ok := p.left[at]; ok {
		list = append(list, id)
	}
	if i, ok := p.g.docAt(p.g.col.Name, at); ok {
		list = append(list, p.g.docs[i].blob)
	}
	if f, err := p.g.col.repo.File(p.fork, p.g.col.full(at)); err == nil {
		list = append(list, f.Blob)
	}
	return list
}

// began reports whether the draft began with a note at a path.
func (p *provenance) began(at string) bool {
	_, err := p.g.col.repo.File(p.fork, p.g.col.full(at))
	return err == nil
}

// learnOthers reads the records of notes that the draft moved, and of imports on
// what became of earlier drafts of the name: of one that was merged in part, the
// rest is one commit.
func (p *provenance) learnOthers(ctx context.Context) error {
	if p.other != nil {
		return nil
	}
	p.other = map[importRecord]bool{}
	take := func(at string, id note.ID) error {
		r, err := p.read(id)
		p.other[r] = true
		return err
	}
	for at, id := range p.left {
		if _, there := p.g.blob(at); there {
			continue
		}
		if err := take(at, id); err != nil {
			return err
		}
	}
	for _, at := range slices.Sorted(maps.Keys(p.g.drafted)) {
		if i, ok := p.g.docAt(p.g.col.Name, at); ok && p.g.gone(at) {
			if err := take(at, p.g.docs[i].blob); err != nil {
				return err
			}
		}
	}
	refs, err := p.g.col.repo.Refs(keptRefs)
	if err != nil {
		return errorf(Internal, "list drafts that ended: %w", err)
	}
	for _, ref := range refs {
		if ref.Err != nil || !slices.Contains(p.names, ordinal.ReplaceAllString(strings.TrimPrefix(ref.Name, keptRefs), "")) {
			continue
		}
		own, err := p.g.col.repo.ownCommits(ctx, p.g.tip, ref.Commit)
		if err == nil {
			err = p.g.eachImported(ctx, own, take)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// keptRefs is where the tips of drafts that ended stay; a second one of a name is
// NAME@2.
const keptRefs = "refs/kb/kept/"

var ordinal = regexp.MustCompile(`@\d+$`)
