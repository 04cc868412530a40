package vault

import (
	"context"
	"fmt"

	"kb/cas"
	"kb/gitstore"
	"kb/note"
)

// GCParams asks for derived data that is no longer needed to be dropped.
type GCParams struct {
	DryRun bool `json:"dry_run,omitempty" help:"say what would be dropped"`
}

// GCResult says what was dropped, or would be.
type GCResult struct {
	DryRun  bool           `json:"dry_run,omitempty"`
	Dropped map[string]int `json:"dropped"` // facts by kind
	Texts   int            `json:"texts"`   // indexed notes
	Kept    int            `json:"kept"`
	Bytes   int64          `json:"bytes"`
	Before  int64          `json:"disk_before"`
	After   int64          `json:"disk_after"`
}

var gcOp = define(Op{
	Name:     "kb_gc",
	Summary:  "Drop derived data that no branch, tag or work tree needs",
	Examples: []string{"kb gc --dry-run"},
	People:   true,
	Derived:  true,
}, (*Vault).GC)

// grace is how old garbage must be; a variable for tests.
var grace = cas.Grace

// GC drops the facts of blobs that no ref reaches any more, and of recipes that
// are no longer used, when they are older than [cas.Grace]. Knowledge is in git:
// what is dropped can always be derived again.
func (v *Vault) GC(ctx context.Context, p GCParams) (*GCResult, error) {
	s := v.store
	if s.facts == nil {
		return nil, s.unwritable()
	}
	x, err := s.index(v.cfg.Language)
	if err != nil {
		return nil, err
	}
	live, tips, err := v.reachable(ctx)
	if err != nil {
		return nil, err
	}
	r := &GCResult{DryRun: p.DryRun, Dropped: map[string]int{}}
	if r.Before, err = s.diskBytes(); err != nil {
		return nil, err
	}
	vectors, err := v.liveVectors(ctx, live)
	if err != nil {
		return nil, err
	}
	keep, err := s.keeper(live, tips, vectors)
	if err != nil {
		return nil, err
	}
	report, err := s.facts.GC(ctx, keep, grace, p.DryRun)
	if err != nil {
		return nil, err
	}
	r.Kept, r.Bytes = report.Kept, report.Bytes
	for k, n := range report.Dropped {
		r.Dropped[k.String()] = n
	}
	if !p.DryRun {
		if err := vectors.clean(report); err != nil {
			return nil, err
		}
		if r.Texts, err = x.Drop(ctx, func(id note.ID) bool { return live[id] }); err != nil {
			return nil, err
		}
		v.forgetViews() // of some not everything is indexed any more
	}
	r.After, err = s.diskBytes()
	return r, err
}

// keeper tells which facts are of a blob or a commit that is reached, by a recipe
// that counts.
func (s *Store) keeper(live map[note.ID]bool, tips map[gitstore.CommitID]bool, vectors *liveVectors) (func(cas.Key) bool, error) {
	notes, err := s.facts.Recipe(note.Recipe)
	if err != nil {
		return nil, err
	}
	claims, err := s.facts.Recipe(claimRecipe)
	if err != nil {
		return nil, err
	}
	return func(k cas.Key) bool {
		switch k.Kind {
		case cas.Chunks, cas.Vectors, cas.Failures:
			return vectors.keep(k)
		case cas.Notes:
			return k.Recipe == notes && live[note.ID([]byte(k.ID))]
		case cas.Claims:
			return k.Recipe == claims && live[note.ID([]byte(k.ID))]
		case cas.Dates:
			return tips[gitstore.CommitID([]byte(k.ID))]
		}
		return true
	}, nil
}

// reachable is every blob of the collections at every commit that a ref
// reaches, and those of the work trees; tips are the commits that refs name.
func (v *Vault) reachable(ctx context.Context) (live map[note.ID]bool, tips map[gitstore.CommitID]bool, err error) {
	live, tips = map[note.ID]bool{}, map[gitstore.CommitID]bool{}
	w, err := v.read(ctx, "")
	if err != nil {
		return nil, nil, err
	}
	for _, d := range w.docs {
		live[d.blob] = true
	}
	for _, r := range v.repos {
		mine, err := r.tips()
		if err != nil {
			return nil, nil, errorf(Internal, "read the refs of %s: %w", r.GitDir(), err)
		}
		for _, id := range mine {
			tips[id] = true
		}
		err = r.EachBlob(ctx, mine, func(id note.ID) { live[id] = true })
		if err != nil {
			return nil, nil, errorf(Internal, "walk the history of %s: %w", r.GitDir(), err)
		}
	}
	return live, tips, nil
}

// tips are the commits that r's refs and HEAD name.
func (r *repo) tips() ([]gitstore.CommitID, error) {
	refs, err := r.Refs("")
	if err != nil {
		return nil, err
	}
	var tips []gitstore.CommitID
	for _, ref := range refs {
		if id, err := r.Resolve(ref.Name); err == nil { // not every ref names a commit
			tips = append(tips, id)
		}
	}
	if _, id, err := r.Head(); err == nil {
		tips = append(tips, id)
	}
	return tips, nil
}

// Text writes a few lines.
func (r *GCResult) Text(t *Text) {
	n := 0
	for _, k := range r.Dropped {
		n += k
	}
	verb := "dropped"
	if r.DryRun {
		verb = "would drop"
	}
	t.Printf("%s %s, kept %s\n", verb, plural(n, "fact"), thousands(r.Kept))
	t.Printf("%s\n", t.Dim(fmt.Sprintf("%s on disk before, %s after", megabytes(r.Before), megabytes(r.After))))
}
