package watch

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// A change at any depth is told, also in a directory that is new.
func TestDirs(t *testing.T) {
	root := t.TempDir()
	for _, dir := range []string{"a/b", ".git/objects"} {
		must(t, os.MkdirAll(filepath.Join(root, filepath.FromSlash(dir)), 0o755))
	}
	ctx, cancel := context.WithCancel(context.Background())
	told, done := make(chan struct{}, 100), make(chan struct{})
	go func() {
		defer close(done)
		Dirs(ctx, []string{root, filepath.Join(root, "nowhere")}, func() { told <- struct{}{} })
	}()
	write := func(name string) {
		t.Helper()
		name = filepath.Join(root, filepath.FromSlash(name))
		must(t, os.MkdirAll(filepath.Dir(name), 0o755))
		must(t, os.WriteFile(name, []byte("x"), 0o644))
	}
	// A change is repeated until it is told: the watcher starts when it can, and a
	// directory is new for a moment.
	for _, name := range []string{"x.md", "a/b/y.md", "new/deep/z.md"} {
		tick := time.NewTicker(50 * time.Millisecond)
		for seen := false; !seen; {
			select {
			case <-told:
				seen = true
			case <-tick.C:
				write(name)
			}
		}
		tick.Stop()
	}
	cancel()
	<-done
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
