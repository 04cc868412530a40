package vault

import "context"

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
