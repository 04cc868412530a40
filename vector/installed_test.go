package vector_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kb/internal/models"
	"kb/vector"
)

// TestInstalled takes an encoder the whole way: installed, tried by two engines,
// opened with the one that is right.
func TestInstalled(t *testing.T) {
	for wrong, engine := range map[bool]string{false: "native", true: "hugot"} {
		src, store := t.TempDir(), &models.Store{Dir: t.TempDir()}
		for list := vector.TinyFiles(wrong); len(list) > 0; list = list[2:] {
			name := filepath.Join(src, filepath.FromSlash(list[0].(string)))
			if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(name, list[1].([]byte), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		r, err := store.Import(context.Background(), "tiny", src)
		if err != nil {
			t.Fatal(err)
		}
		if r.Engine != engine || r.Cosine == 0 || strings.Contains(r.Notice, "slow engine hugot is used") != wrong {
			t.Errorf("wrong %v: %+v", wrong, r)
		}
		e, err := vector.Open(filepath.Join(store.Dir, "tiny"), vector.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if got := vector.EngineOf(e); got != engine {
			t.Errorf("wrong %v: it is opened by %s", wrong, got)
		}
		e.Close()
		if again, err := store.Verify(context.Background(), "tiny"); err != nil || !again.OK || again.Engine != engine {
			t.Errorf("wrong %v: verify finds %+v, %v", wrong, again, err)
		}
	}
}
