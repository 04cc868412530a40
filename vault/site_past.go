package vault

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"kb/gitstore"
	"kb/note"
	"kb/site"
)

// mostMoved is how many former paths of notes a site knows, those left last first:
// each is a file.
const mostMoved = 5000

// sitePast gives the docs of a set their histories, and lists where they were.
// A name that the site would not publish a note under is in neither: a version
// under such a name, or that was not for the site's readers or said that it was not
// to be published, is left out with what is older.
func (w *view) sitePast(ctx context.Context, set *siteSet) error {
	s, err := w.v.sight(ctx)
	if err != nil {
		return err
	}
	was, err := s.bygones(ctx)
	if err != nil {
		return err
	}
	set.hidden = slices.Collect(maps.Keys(was.ever))
	commits := map[gitstore.CommitID]site.Version{}
	var names []former
	for _, c := range w.v.cols {
		id := w.commitOf(c)
		if id.IsZero() {
			continue
		}
		w.v.report(0, 0, "reading history")
		past, err := w.v.store.past(ctx, c.repo, id)
		if err != nil {
			return errorf(Internal, "read the history of %s: %w", c.Name, err)
		}
		set.gaps = set.gaps || past.Gaps
		then, err := w.claimsThen(ctx, c, set.Docs, past.Files)
		if err != nil {
			return err
		}
		for _, d := range set.Docs {
			if d.Collection != c.Name {
				continue
			}
			h := past.Files[c.full(d.Path)]
			whole, err := w.siteVersions(c, d, h, then, was, commits)
			if err != nil {
				return err
			}
			if !whole && !d.MoreVersions {
				set.cut = append(set.cut, docName(d))
			}
			names = append(names, w.formerNames(c, d, h, whole, was)...)
		}
	}
	set.Moved = moved(names)
	return nil
}

// former is a path at which a doc was, up to a time.
type former struct {
	site.Moved
	until int64
}

// formerNames are the paths that a doc had, or where not the whole of its history
// is shown, those that it had in what is.
func (w *view) formerNames(c *collection, d *site.Doc, h gitstore.FilePast, whole bool, was *bygone) (out []former) {
	shown := func(path string) bool {
		return slices.ContainsFunc(d.Versions, func(v site.Version) bool { return v.Path == path })
	}
	for _, name := range h.Names {
		from, ok := w.formerName(c, name.Path)
		if ok && !was.has(doc{col: c, path: from}) && (whole || shown(from)) {
			out = append(out, former{site.Moved{Collection: c.Name, From: from, To: d.Path}, name.When})
		}
	}
	return out
}

// moved orders former names so that the last doc to have one has it.
func moved(names []former) []site.Moved {
	slices.SortStableFunc(names, func(a, b former) int { return cmp.Compare(b.until, a.until) })
	names = names[:min(len(names), mostMoved)]
	out := make([]site.Moved, len(names))
	for i, n := range names {
		out[i] = n.Moved
	}
	return out
}

// claimsThen reads what the versions of c's docs said of who may see them.
func (w *view) claimsThen(ctx context.Context, c *collection, docs []*site.Doc, past map[string]gitstore.FilePast) (map[note.ID]*claim, error) {
	var versions []doc
	for _, d := range docs {
		if d.Collection != c.Name {
			continue
		}
		for _, x := range past[c.full(d.Path)].Versions {
			versions = append(versions, doc{col: c, path: d.Path, blob: x.Blob})
		}
	}
	return w.v.claims(ctx, versions)
}

// siteVersions sets the versions of d from h, and reports whether those are all.
func (w *view) siteVersions(c *collection, d *site.Doc, h gitstore.FilePast, then map[note.ID]*claim, was *bygone, commits map[gitstore.CommitID]site.Version) (whole bool, err error) {
	d.MoreVersions = h.More
	for _, x := range h.Versions {
		path, ok := d.Path, true
		if x.Path != "" {
			path, ok = w.formerName(c, x.Path)
		}
		if says := then[x.Blob]; !ok || says.withheld() || !w.v.paths().claimed(c, path, says) ||
			was.has(doc{col: c, path: path, blob: x.Blob}) {
			d.MoreVersions = false
			return false, nil
		}
		v, ok := commits[x.Commit]
		if !ok {
			commit, err := c.repo.Commit(x.Commit)
			if err != nil {
				return false, errorf(Internal, "read commit %s: %w", x.Commit, err)
			}
			v = site.Version{Commit: x.Commit.String(), Date: commit.Committer.When.UTC().Format(time.DateOnly), Author: commit.Author.Name, Subject: commit.Subject}
			commits[x.Commit] = v
		}
		v.Path = path
		d.Versions = append(d.Versions, v)
	}
	return !h.More, nil
}

// formerName is a path of a file in the repository as one of c's notes. Not ok:
// it is none that a site would show.
func (w *view) formerName(c *collection, full string) (string, bool) {
	name, inside := c.within(full)
	return name, inside && c.holds(name) && w.v.paths().path(c, name) && !w.v.excludedFromSite(c.Name, name)
}
