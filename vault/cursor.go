package vault

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"
)

// cursor names where a list goes on. It holds the commit it was made at, so
// that the rest of a list is of the same view as its beginning.
func (w *view) cursor(offset int) string {
	if w.worktree || len(w.bases) != 1 {
		return "v" + w.fingerprint() + "." + strconv.Itoa(offset)
	}
	return w.bases[0].commit.String() + "." + strconv.Itoa(offset)
}

// fingerprint identifies a view that no single commit does.
func (w *view) fingerprint() string {
	sum := sha256.Sum256([]byte(baseKey(w.bases) + w.tree))
	return hex.EncodeToString(sum[:10])
}

// resumption is what a cursor says: which view to read, and where in its list to
// go on. The zero cursor begins at the beginning of the view that was asked for.
type resumption struct {
	at          string
	fingerprint string // of the view, where at does not pin it
	offset      int
}

// maxOffset is more than any list of a vault has elements.
const maxOffset = 1 << 30

// resume reads a cursor; at is the view that was asked for beside it.
func resume(cursor, at string) (resumption, error) {
	if cursor == "" {
		return resumption{at: at}, nil
	}
	id, n, ok := strings.Cut(cursor, ".")
	offset, err := strconv.Atoi(n)
	if !ok || err != nil || offset < 0 || offset > maxOffset || id == "" {
		return resumption{}, errorf(Usage, "cursor %q", clip(cursor, 80)).hint("a cursor is the next of the answer before")
	}
	if fingerprint, unpinned := strings.CutPrefix(id, "v"); unpinned {
		return resumption{at: at, fingerprint: fingerprint, offset: offset}, nil
	}
	return resumption{at: id, offset: offset}, nil
}

// check refuses a view that is not the one the cursor was made at.
func (s resumption) check(w *view) error {
	if s.fingerprint != "" && s.fingerprint != w.fingerprint() {
		return errorf(Stale, "the notes changed since the cursor was made").
			hint("start again without cursor, or pin the list with at")
	}
	return nil
}

// readFrom returns the view that a list goes on in, and where: the commit in the
// cursor if it has one, else what at means, which must not have changed since.
func (v *Vault) readFrom(ctx context.Context, cursor, at string) (*view, int, error) {
	s, err := resume(cursor, at)
	if err != nil {
		return nil, 0, err
	}
	w, err := v.read(ctx, s.at)
	if err != nil {
		return nil, 0, err
	}
	return w, s.offset, s.check(w)
}
