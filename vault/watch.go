package vault

import (
	"context"
	"path/filepath"
	"slices"

	"kb/internal/watch"
)

// Watch calls changed when the vault may have changed, until ctx ends. It is a
// hint: a change may be missed, and nothing may have changed.
func (s *Service) Watch(ctx context.Context, changed func()) {
	s.watch(ctx, true, changed)
}

// WatchBranches is Watch for what is committed.
func (s *Service) WatchBranches(ctx context.Context, changed func()) {
	s.watch(ctx, false, changed)
}

func (s *Service) watch(ctx context.Context, trees bool, changed func()) {
	var dirs []string
	for _, c := range s.cfg.Collections {
		r, err := openRepository(c.Path)
		if err != nil {
			continue
		}
		if trees && r.WorkTree() != "" {
			dirs = append(dirs, c.Path)
		}
		dirs = append(dirs, filepath.Join(r.CommonDir(), "refs", "heads"))
		r.Close()
	}
	slices.Sort(dirs)
	watch.Dirs(ctx, slices.Compact(dirs), changed)
}
