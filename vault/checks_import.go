package vault

import (
	"context"
	"errors"
	"strings"

	"kb/draft"
	"kb/gitstore"
	"kb/note"
)

// records reports notes whose record of an import is another than their branch and
// the draft's imports gave them: once it is merged, kb sync asks, compares and
// merges by it. What people set with kb is theirs to decide.
func (c *checker) records(ctx context.Context) error {
	changed := c.changedRecords()
	if len(changed) == 0 {
		return nil
	}
	byPeople, err := c.byPeople(ctx)
	if err != nil || byPeople {
		return err
	}
	sources := map[*collection]*provenance{}
	for _, e := range changed {
		if sources[e.col] == nil {
			if sources[e.col], err = c.provenance(ctx, e.col); err != nil {
				return err
			}
		}
		if err := c.record(ctx, sources[e.col], e); err != nil {
			return err
		}
	}
	return nil
}

func (c *checker) provenance(ctx context.Context, col *collection) (*provenance, error) {
	g, err := c.v.ground(ctx, col, c.tip, c.into)
	if err != nil {
		return nil, err
	}
	return g.provenance(ctx)
}

// record reports a note whose record is not the true one, and none that the branch
// had at its path: what was deleted may be brought back.
func (c *checker) record(ctx context.Context, p *provenance, e *proposedEdit) error {
	truth, _, err := p.record(ctx, e.path, e.newID)
	now := recordOf(e.note)
	if err != nil || now == truth {
		return err
	}
	back, err := c.hadRecord(ctx, e, now)
	if err == nil && !back {
		c.reportRecord(e, now, truth)
	}
	return err
}

// changedRecords are the edits that leave a note another record than it had.
func (c *checker) changedRecords() (list []*proposedEdit) {
	for _, e := range c.edits {
		if e.col == nil || e.note == nil {
			continue
		}
		var was importRecord
		if e.previous != nil {
			was = recordOf(e.previous)
		}
		if recordOf(e.note) != was {
			list = append(list, e)
		}
	}
	return list
}

// byPeople reports whether people made all of the draft with kb, or imported it.
func (c *checker) byPeople(ctx context.Context) (bool, error) {
	commits, err := c.repo.ownCommits(ctx, c.into, c.tip)
	for _, x := range commits {
		if !draft.Imported(x) && (draft.ByAgent(x) || draft.NameIn(x) == "") {
			return false, err
		}
	}
	return true, err
}

// hadRecord reports whether the branch had the note with that record before: it is
// brought back.
func (c *checker) hadRecord(ctx context.Context, e *proposedEdit, now importRecord) (bool, error) {
	versions, err := c.repo.Log(ctx, c.into, e.col.full(e.path), 100)
	if err != nil && !errors.Is(err, gitstore.ErrNotFound) {
		return false, errorf(Internal, "history of %s: %w", e.path, err)
	}
	for _, x := range versions {
		if x.Blob.IsZero() {
			continue
		}
		src, err := c.repo.Blob(x.Blob)
		if err != nil {
			return false, errorf(Internal, "read %s: %w", x.Blob, err)
		}
		if n, _ := note.Parse(src); recordOf(n) == now {
			return true, nil
		}
	}
	return false, nil
}

// reportRecord says what changes, and what would follow.
func (c *checker) reportRecord(e *proposedEdit, now, was importRecord) {
	key := now.differs(was)
	line, _ := fieldLine(e.note, key)
	what := "sets " + key + ", which kb add alone does"
	if asks := now.known(); asks != was.known() && strings.HasPrefix(asks, "http") {
		what = "has kb sync ask " + clip(oneLine(asks, 200), 200)
	}
	c.report(e, line, checkImport, "leave the properties of an import as they were: "+strings.Join(importFields, ", ")+", source", "%s", what)
}
