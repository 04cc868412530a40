package vault

import (
	"context"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"strings"
	"time"

	"kb/draft"
	"kb/gitstore"
	"kb/note"
)

// Mends is what was safe to mend, and the draft that does it; without one there
// was nothing.
type Mends struct {
	Draft  string `json:"draft,omitempty"`
	Branch string `json:"branch,omitempty"`
	Commit string `json:"commit,omitempty"`
	Review string `json:"review,omitempty"`
	Notes  int    `json:"notes"`       // that changed
	Moved  int    `json:"links_moved"` // links to files that were moved
	Cased  int    `json:"links_case"`  // links in another case than the file
	Dated  int    `json:"dates"`       // of creation
}

func (m *Mends) text(t *Text) {
	if m.Draft == "" {
		t.Printf("nothing that is safe to mend\n\n")
		return
	}
	t.Printf("%s %s\n%s %s\n\n", t.Strong("draft "+m.Draft), t.Dim(fmt.Sprintf("mends %s: %s to moved files, %d in another case, %s of creation",
		plural(m.Notes, "note"), plural(m.Moved, "link"), m.Cased, plural(m.Dated, "date"))), t.Dim("review:"), m.Review)
}

// mend proposes what is safe to mend in a collection, as one commit on a draft
// of its own: links to files that were moved, links whose case is not that of
// the file, and dates of creation that history knows.
func (v *Vault) mend(ctx context.Context, collection string) (*Mends, error) {
	c, err := v.writable(collection)
	if err != nil {
		return nil, err
	}
	m := &mending{}
	d := drafting{vault: v, col: c, title: "Mend links and dates", subject: "Mend links and dates"}
	d.edit = func(ctx context.Context, g *ground) ([]fileChange, error) {
		m = &mending{ground: g}
		return m.all(ctx)
	}
	r, err := d.run(ctx)
	if errors.Is(err, draft.ErrNoChange) {
		return &Mends{}, nil
	}
	if err != nil {
		return nil, err
	}
	return &Mends{Draft: r.Draft, Branch: r.Branch, Commit: r.Commit, Review: r.Review,
		Notes: len(r.Changes), Moved: m.moved, Cased: m.cased, Dated: m.dated}, nil
}

// mending is such a change on its way.
type mending struct {
	*ground
	now  *note.Resolver
	then *note.Resolver // of places that files had
	past *past

	arrived map[string]bool // where files are that were elsewhere

	moved, cased, dated int
}

func (m *mending) all(ctx context.Context) (changes []fileChange, err error) {
	cards, err := m.allCards(ctx)
	if err != nil {
		return nil, err
	}
	if m.past, err = m.col.pastOf(ctx, m.on); err != nil {
		return nil, err
	}
	history, err := m.history(ctx)
	if err != nil {
		return nil, err
	}
	m.arrived = map[string]bool{}
	for _, to := range m.past.now {
		m.arrived[to] = true
	}
	m.now, m.then = note.NewResolver(m.paths()), note.NewResolver(keysOf(m.past.now))
	for i, d := range m.docs {
		if d.col != m.col || m.v.checkTarget(d.col, d.path, false) != nil {
			continue
		}
		needs := len(cards[i].problems) == 0 && cards[i].created == ""
		for _, l := range cards[i].links {
			if _, ok := m.target(d.path, l); ok {
				needs = true
			}
		}
		if !needs {
			continue
		}
		src, err := m.ground.bytes(d.blob)
		if err != nil {
			return nil, err
		}
		if out := m.note(d.path, src, cards[i], m.born(history[d.col.repo], d.path)); out != nil {
			changes = append(changes, fileChange{path: d.path, now: out})
		}
	}
	return changes, nil
}

// born is when the note at p came to be, zero when that is not known.
func (m *mending) born(history *gitstore.Dates, p string) time.Time {
	if m.arrived[p] {
		return m.past.born[p] // history dates a path
	}
	if d, _ := history.At(m.col.full(p)); !d.Shallow {
		return d.Created
	}
	return time.Time{}
}

// note returns the mended text of one note, nil when it stays as it is.
func (m *mending) note(p string, src []byte, c *card, born time.Time) []byte {
	out, links := note.Rewrite(src, func(l note.Link) (string, bool) {
		target, ok := m.target(p, l)
		if ok && m.now.Resolve(p, l).Path == "" {
			m.moved++
		} else if ok {
			m.cased++
		}
		return target, ok
	})
	if c.created == "" && !born.IsZero() {
		day := note.Field{Key: "created", Value: dateValue(born.UTC())}
		if dated, err := note.SetFields(out, []note.Field{day}); err == nil { // else it is no sound frontmatter
			m.dated++
			return dated
		}
	}
	if links == 0 {
		return nil
	}
	return out
}

// target is what a link should say that leads to where a file was, or to a file
// by a name in another case.
func (m *mending) target(from string, l note.Link) (string, bool) {
	t := m.now.Resolve(from, l)
	switch {
	case l.Target == "" || t.External || t.Folder:
		return "", false
	case t.Path == "":
		was := m.then.Resolve(from, l)
		to, ok := m.past.now[was.Path]
		if !ok || len(was.Ambiguous) > 0 {
			return "", false
		}
		return m.written(from, l, to)
	case l.Kind != note.MarkdownLink || !inOtherCase(from, l.Target, t.Path):
		return "", false
	}
	return m.written(from, l, t.Path)
}

// inOtherCase reports whether a Markdown link's target is a path that only
// differs by case from that of the file it is taken for.
func inOtherCase(from, target, to string) bool {
	p := strings.TrimPrefix(target, "/")
	if p == target {
		p = path.Join(path.Dir(from), target)
	}
	stem := strings.TrimSuffix(to, path.Ext(to))
	return p != to && p != stem && (strings.EqualFold(p, to) || strings.EqualFold(p, stem))
}

// written is the target of a link to a file, in the form that it had, if that
// leads there and nowhere else.
func (m *mending) written(from string, l note.Link, to string) (string, bool) {
	forms := []string{path.Base(to), to}
	if l.Kind == note.MarkdownLink {
		rel, err := filepath.Rel(filepath.FromSlash(path.Dir(from)), filepath.FromSlash(to))
		if err != nil {
			return "", false
		}
		forms = []string{filepath.ToSlash(rel), "/" + to}
	}
	if strings.HasPrefix(l.Target, "/") || l.Kind == note.WikiLink && strings.Contains(l.Target, "/") {
		forms = forms[1:]
	}
	for _, f := range forms {
		if path.Ext(l.Target) != path.Ext(to) && path.Ext(to) == ".md" {
			f = strings.TrimSuffix(f, ".md")
		}
		as := l
		as.Target = f
		if t := m.now.Resolve(from, as); t.Path == to && len(t.Ambiguous) == 0 {
			return f, f != l.Target
		}
	}
	return "", false
}

// mostWalked is how many commits are looked through for files that were moved.
const mostWalked = 5000

// past is what the first-parent line of a commit tells of files that were moved.
type past struct {
	now  map[string]string    // a path that a file had → where it is
	born map[string]time.Time // where it is → when it came to be, under its first path
}

// pastOf reads the past of c's files. A file is known by its bytes, or by being
// the only one of its name that goes while one of that name comes.
func (c *collection) pastOf(ctx context.Context, at gitstore.CommitID) (*past, error) {
	p := &past{map[string]string{}, map[string]time.Time{}}
	for range mostWalked {
		if err := ctxErr(ctx); err != nil {
			return nil, err
		}
		commit, err := c.repo.Commit(at)
		if err != nil {
			return nil, errorf(Internal, "read history: %w", err)
		}
		var parent gitstore.CommitID // zero: it has no files
		if len(commit.Parents) > 0 {
			parent = commit.Parents[0]
		}
		changes, err := c.repo.Diff(ctx, parent, at, c.dir)
		if err != nil {
			return nil, errorf(Internal, "read history: %w", err)
		}
		p.before(changes, commit.Committer.When)
		if at = parent; at.IsZero() {
			break
		}
	}
	return p, nil
}

// before takes in a commit that is older than those taken in already.
func (p *past) before(changes []gitstore.Change, when time.Time) {
	moved := moves(changes)
	arrived := map[string]bool{}
	for from, to := range moved {
		arrived[to] = true
		if later, ok := p.now[to]; ok {
			to = later
		}
		if _, known := p.now[from]; !known && from != to {
			p.now[from] = to
		}
	}
	for _, c := range changes {
		if c.Kind != gitstore.Added || arrived[c.Path] {
			continue
		}
		at, moved := p.now[c.Path]
		if _, known := p.born[at]; moved && !known {
			p.born[at] = when
		}
	}
}

// moves are the files that one commit moved.
func moves(changes []gitstore.Change) map[string]string {
	out := map[string]string{}
	gone, come := map[string][]string{}, map[string][]string{}
	for _, c := range changes {
		name := path.Base(c.Path)
		switch c.Kind {
		case gitstore.Renamed:
			out[c.From] = c.Path
		case gitstore.Removed:
			gone[name] = append(gone[name], c.Path)
		case gitstore.Added:
			come[name] = append(come[name], c.Path)
		}
	}
	for name, from := range gone {
		if to := come[name]; len(from) == 1 && len(to) == 1 {
			out[from[0]] = to[0]
		}
	}
	return out
}
