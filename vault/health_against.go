package vault

import (
	"cmp"
	"context"
	"slices"
	"strings"
)

// inspectSince checks the view, less what was wrong in the view that p compares
// with. Both are looked at alike: by words unless both have their vectors, and by one
// clock, so that what time alone made stale is not new.
func (w *view) inspectSince(ctx context.Context, p HealthParams) (*inspection, error) {
	by := w.comparison(ctx)
	if p.Against == "" {
		return w.inspect(ctx, p, by, w.clock())
	}
	old, err := w.v.read(ctx, p.Against)
	if err != nil {
		return nil, err
	}
	formerly := old.comparison(ctx)
	if by.meaning == nil || formerly.meaning == nil {
		by.words(cmp.Or(by.degraded, formerly.degraded))
		formerly.words(by.degraded)
	}
	x, err := w.inspect(ctx, p, by, w.clock())
	if err != nil {
		return nil, err
	}
	x.found = slices.DeleteFunc(x.found, func(f *collectionFindings) bool { return !old.reads(f.col) || !w.reads(f.col) })
	before, err := old.inspect(ctx, p, formerly, w.clock())
	if err != nil {
		return nil, err
	}
	x.whole()
	before.whole()
	x.subtract(before, formerPaths(old, w))
	return x, nil
}

// subtract leaves what before does not have, wherever in the note it stands and
// whatever the note was called.
func (x *inspection) subtract(before *inspection, former map[[2]string]string) {
	for _, f := range x.found {
		known := before.knows(f.col)
		for kind := range f.lists {
			f.lists[kind] = slices.DeleteFunc(f.lists[kind], func(n finding) bool {
				message, _ := n.say(&x.inspector, n.doc, n.mark)
				path := x.docs[n.doc].path
				was := cmp.Or(former[[2]string{f.col.Name, path}], path)
				return known[issueKey{checkKind(kind), was, withoutNumbers(message)}]
			})
			f.sizes[kind] = len(f.lists[kind])
		}
	}
}

// issueKey tells issues apart as people do: not by numbers, which change by
// themselves.
type issueKey struct {
	kind          checkKind
	path, message string
}

// knows is what is wrong in a collection.
func (x *inspection) knows(c *collection) map[issueKey]bool {
	known := map[issueKey]bool{}
	for _, f := range x.found {
		if f.col != c {
			continue
		}
		for kind, list := range f.lists {
			for _, n := range list {
				message, _ := n.say(&x.inspector, n.doc, n.mark)
				known[issueKey{checkKind(kind), x.docs[n.doc].path, withoutNumbers(message)}] = true
			}
		}
	}
	return known
}

// formerPaths maps a collection and the path of a note that was renamed since
// to its former path.
func formerPaths(old, now *view) map[[2]string]string {
	out := map[[2]string]string{}
	for i, j := range renames(old, now) {
		if now.docs[i].col == old.docs[j].col {
			out[[2]string{now.docs[i].col.Name, now.docs[i].path}] = old.docs[j].path
		}
	}
	return out
}

// withoutNumbers is a message as it stays while a note grows or ages.
func withoutNumbers(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			return -1
		}
		return r
	}, s)
}
