package vault

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"time"
)

// NewestFirst returns the paths of the default view in the order in which they
// are embedded.
func (v *Vault) NewestFirst(ctx context.Context) (paths []string, err error) {
	w, err := v.read(ctx, "")
	if err != nil {
		return nil, err
	}
	for _, id := range w.newest(ctx) {
		paths = append(paths, w.docs[w.where()[id]].path)
	}
	return paths, nil
}

// SetNow sets the vault's clock.
func (v *Vault) SetNow(now time.Time) { v.now = func() time.Time { return now } }

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

// DerivedAfresh checks a view, which may be made of an earlier one in memory, and
// compares all that it derives with what is derived from nothing. It reports
// whether an earlier view had a part in it.
func (v *Vault) DerivedAfresh(ctx context.Context, at string) (updated bool, err error) {
	p := HealthParams{StaleDays: 90, MinWords: 20, MaxTokens: 1 << 30, atParam: atParam{at}}
	got, w, err := v.healthOf(ctx, p)
	if err != nil {
		return false, err
	}
	updated = w.earlier(func(c *contents) bool { return c.checkup != nil }) != nil
	v.mu.Lock()
	views, relations := v.views, v.relations
	v.views, v.relations = nil, nil
	v.mu.Unlock()
	v.store.mu.Lock()
	clear(v.store.history)
	v.store.mu.Unlock()
	want, afresh, err := v.healthOf(ctx, p)
	if err != nil {
		return false, err
	}
	v.mu.Lock()
	v.views, v.relations = views, relations
	v.mu.Unlock()
	if got != want {
		return false, fmt.Errorf("health:\n%s\nwant:\n%s", got, want)
	}
	return updated, w.differs(afresh)
}

func (v *Vault) healthOf(ctx context.Context, p HealthParams) (string, *view, error) {
	r, err := v.Health(ctx, p)
	if err != nil {
		return "", nil, err
	}
	b, err := json.MarshalIndent(r, "", " ")
	if err != nil {
		return "", nil, err
	}
	w, err := v.read(ctx, p.At)
	return string(b), w, err
}

// differs says where w is not as the same view made from nothing.
func (w *view) differs(afresh *view) error {
	for name, pair := range map[string][2]any{
		"docs": {w.docs, afresh.docs}, "others": {w.others, afresh.others}, "problems": {w.problems, afresh.problems},
		"cards": {w.cards, afresh.cards}, "overlaps": {w.alike.by, afresh.alike.by}, "dates": {w.dated, afresh.dated},
		"names": {w.names.all(), afresh.names.all()}, "holdings": {w.held.all(), afresh.held.all()}, "counts": {w.checkup.counts, afresh.checkup.counts},
	} {
		if !reflect.DeepEqual(pair[0], pair[1]) {
			return fmt.Errorf("%s: %+v\nwant %+v", name, pair[0], pair[1])
		}
	}
	for i := range w.docs {
		if got, want := w.links.of(i), afresh.links.of(i); !reflect.DeepEqual(got, want) {
			return fmt.Errorf("links of %s: %+v\nwant %+v", w.docs[i].path, got, want)
		}
	}
	return nil
}

// all is what a table says, as one map.
func (t *table[K]) all() map[K][]docKey {
	all := map[K][]docKey{}
	for _, key := range t.keys() {
		all[key] = t.at(key)
	}
	return all
}
