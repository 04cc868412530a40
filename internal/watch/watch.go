// Package watch tells when files may have changed. It is a hint and no more: a
// change may be told twice, late, or - where the system reports none, as on
// network file systems - only at the next of the regular looks that its caller
// takes.
package watch

import (
	"context"
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	"github.com/fsnotify/fsnotify"
)

// most is how many directories are watched: systems have limits, and what is
// beyond is found at the regular looks.
const most = 4096

// gather is how long a change is kept back: programs write several files at a
// time.
const gather = 100 * time.Millisecond

// Dirs calls changed when something below one of roots changes, until ctx ends.
// Directories that begin with a dot are left out unless they are a root
// themselves; new ones are watched too. Without a way to watch it does nothing.
func Dirs(ctx context.Context, roots []string, changed func()) {
	w, err := fsnotify.NewWatcher()
	if err != nil {
		return
	}
	defer w.Close()
	for _, root := range roots {
		add(w, root)
	}
	var tell <-chan time.Time // when there is something to tell
	happened := func() {
		if tell == nil {
			tell = time.After(gather)
		}
	}
	for {
		select {
		case <-ctx.Done():
			return
		case _, ok := <-w.Errors:
			if !ok {
				return
			}
			happened() // events were lost
		case e, ok := <-w.Events:
			if !ok {
				return
			}
			if e.Has(fsnotify.Create) {
				add(w, e.Name)
			}
			if e.Op != fsnotify.Chmod {
				happened()
			}
		case <-tell:
			tell = nil
			changed()
		}
	}
}

// add watches a directory and those below it. What is no directory is left out.
func add(w *fsnotify.Watcher, root string) {
	_ = filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil, len(w.WatchList()) >= most:
			return fs.SkipAll
		case !d.IsDir():
			return nil
		case name != root && strings.HasPrefix(d.Name(), "."):
			return fs.SkipDir
		}
		_ = w.Add(name) // gone again, or one too many
		return nil
	})
}
