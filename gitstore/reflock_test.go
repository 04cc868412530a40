package gitstore

import (
	"os"
	"path/filepath"
	"testing"
)

// A lock that is there already is taken if it is the one that was to be made: the
// call that made it may have failed all the same.
func TestLockMadeByCallThatFailed(t *testing.T) {
	for name, mine := range map[string]bool{"mine": true, "another's": false} {
		dir := tempDir(t)
		l := &refLock{file: filepath.Join(dir, "main"), pending: filepath.Join(dir, "pending")}
		var err error
		if l.out, err = os.Create(l.pending); err != nil {
			t.Fatal(err)
		}
		defer l.out.Close()
		if mine {
			err = os.Link(l.pending, l.name())
		} else {
			err = os.WriteFile(l.name(), nil, 0o600)
		}
		if err != nil {
			t.Skip("no hard links here:", err)
		}
		if took, err := l.take(); took != mine || err != nil {
			t.Errorf("%s: taken %v, %v", name, took, err)
		}
	}
}
