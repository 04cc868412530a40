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

// readFrom returns the view that a list goes on in, and where: the commit in the
// cursor if it has one, else what at means, which must not have changed since.
func (v *Vault) readFrom(ctx context.Context, cursor, at string) (*view, int, error) {
	id, offset, err := parseCursor(cursor)
	if err != nil {
		return nil, 0, err
	}
	unpinned := strings.HasPrefix(id, "v")
	if id != "" && !unpinned {
		at = id
	}
	w, err := v.read(ctx, at)
	if err != nil {
		return nil, 0, err
	}
	if unpinned && id[1:] != w.fingerprint() {
		return nil, 0, errorf(Stale, "the notes changed since the cursor was made").
			hint("start again without cursor, or pin the list with at")
	}
	return w, min(offset, len(w.docs)), nil
}

func parseCursor(c string) (id string, offset int, err error) {
	if c == "" {
		return "", 0, nil
	}
	id, n, ok := strings.Cut(c, ".")
	offset, convErr := strconv.Atoi(n)
	if !ok || convErr != nil || offset < 0 || id == "" {
		return "", 0, errorf(Usage, "cursor %q", clip(c, 80)).hint("a cursor is the next of the answer before")
	}
	return id, offset, nil
}
