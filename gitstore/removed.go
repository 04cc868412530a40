package gitstore

import (
	"context"
	"fmt"
)

// Removed lists the regular files below dir that the first-parent history of a
// commit removed, the latest removal first. A file whose bytes went to another
// path was renamed, not removed. Old is the last version; paths are relative to
// dir. A file that came back is listed too.
func (r *Repo) Removed(ctx context.Context, id CommitID, dir string) ([]Change, error) {
	dir, err := cleanDir(dir)
	if err != nil {
		return nil, err
	}
	shallow, err := r.shallow()
	if err != nil {
		return nil, err
	}
	removed := []Change{}
	top, err := r.commitDir(id, dir)
	for err == nil {
		var c *graphCommit
		if c, err = r.node(id); err != nil || len(c.parents) == 0 || shallow[id] {
			break
		}
		var before oid
		if before, err = r.commitDir(c.parents[0], dir); err != nil {
			break
		}
		var changes []Change
		if changes, err = r.diffTrees(ctx, before, top); err != nil {
			break
		}
		for _, x := range changes {
			if x.Kind == Removed {
				removed = append(removed, x)
			}
		}
		id, top = c.parents[0], before
	}
	if err != nil {
		return nil, fmt.Errorf("find what was removed before %s: %w", id, err)
	}
	return removed, nil
}
