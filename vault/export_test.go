package vault

import (
	"context"
	"fmt"
	"reflect"
)

// NewestFirst returns the paths of the default view in the order in which they
// are embedded.
func (v *Vault) NewestFirst(ctx context.Context) (paths []string, err error) {
	w, err := v.read(ctx, "")
	if err != nil {
		return nil, err
	}
	for _, id := range w.newest(ctx) {
		paths = append(paths, w.docs[w.where[id]].path)
	}
	return paths, nil
}

// CollectAtOnce makes garbage of facts however young they are, until end.
func CollectAtOnce() (end func()) {
	old := grace
	grace = -1
	return func() { grace = old }
}

// CompareByWordsFirst makes every vault one of too many notes to compare each
// with each, until end.
func CompareByWordsFirst() (end func()) {
	old := mostEach
	mostEach = 0
	return func() { mostEach = old }
}

// DerivedAfresh compares the link graph and the likenesses of the default view,
// which may come from an earlier view's, with those made from nothing. It reports
// how many docs the view has, and whether an earlier view had a part in it.
func (v *Vault) DerivedAfresh(ctx context.Context) (docs int, updated bool, err error) {
	w, err := v.read(ctx, "")
	if err != nil {
		return 0, false, err
	}
	known := func(c *contents) bool { return c.links != nil && c.alike != nil }
	updated = w.earlier(known) != nil
	got, err := w.inspect(ctx, HealthParams{StaleDays: 90, MinWords: 20}, &comparison{mode: "text"})
	if err != nil {
		return 0, false, err
	}
	titles := mapNames(w.called)
	fresh := linkReader{w, w.resolvers(), titles}.all()
	if diff := differing(fresh, got.graph); diff != "" {
		return 0, false, fmt.Errorf("link graph: %s", diff)
	}
	for by, found := range w.alike {
		want := wordComparer{w.docs, w.cards, by.minWords}.among(docsOf(w, by.col), nil, nil)
		if !reflect.DeepEqual(want, found) {
			return 0, false, fmt.Errorf("overlaps: %v, want %v", found, want)
		}
	}
	for i, c := range w.cards {
		if want := w.namesOf(i, c); !reflect.DeepEqual(want, w.called[i]) {
			return 0, false, fmt.Errorf("names of %s: %v, want %v", w.docs[i].path, w.called[i], want)
		}
	}
	return len(w.docs), updated, nil
}

func docsOf(w *view, c *collection) (docs []int) {
	for i, d := range w.docs {
		if d.col == c {
			docs = append(docs, i)
		}
	}
	return docs
}

// differing says where two graphs are not the same.
func differing(want, got *linkGraph) string {
	for i := range want.out {
		for name, pair := range map[string][2]any{
			"out": {want.out[i], got.out[i]}, "in": {want.in[i], got.in[i]},
			"broken": {want.broken[i], got.broken[i]}, "unsure": {want.unsure[i], got.unsure[i]},
		} {
			if !reflect.DeepEqual(pair[0], pair[1]) {
				return fmt.Sprintf("%s of doc %d: %+v, want %+v", name, i, pair[1], pair[0])
			}
		}
	}
	if len(want.out) != len(got.out) || len(want.in) != len(got.in) {
		return "the number of docs"
	}
	return ""

}
