package vault

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"kb/note"
	"kb/vector"
)

// slowLetters is vector.Letters that counts what it embeds, and begins when it is
// told.
type slowLetters struct {
	vector.Letters
	begun func()
	mu    sync.Mutex
	texts map[string]int
}

func (s *slowLetters) Embed(ctx context.Context, texts []string, k vector.Kind) ([][]float32, error) {
	s.begun()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, t := range texts {
		s.texts[t]++
	}
	return s.Letters.Embed(ctx, texts, k)
}

// Two who search one model's vectors in different ways embed each text once, and
// have one model in memory.
func TestEmbeddedOnceForAll(t *testing.T) {
	dir, model := t.TempDir(), t.TempDir()
	if err := os.WriteFile(filepath.Join(model, "model.onnx"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := OpenStore(dir, t.Logf)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	opened := 0
	both := make(chan struct{}) // closed when the second waits, or embeds as well
	var calls sync.Mutex
	n := 0
	letters := &slowLetters{texts: map[string]int{}, begun: func() {
		calls.Lock()
		if n++; n == 2 {
			close(both)
		}
		calls.Unlock()
		<-both
	}}
	s.embedders.open = func(string, vector.Options) (vector.Embedder, error) {
		opened++
		return letters, nil
	}
	notes := map[note.ID][]byte{}
	for _, text := range []string{"# one\n", "# two\n", "# three\n"} {
		notes[note.Hash([]byte(text))] = []byte(text)
	}
	ids := slices.Collect(maps.Keys(notes))
	fetch := func(_ context.Context, ids []note.ID, fn func(note.ID, []byte, error) error) error {
		for _, id := range ids {
			if err := fn(id, notes[id], nil); err != nil {
				return err
			}
		}
		return nil
	}
	var all sync.WaitGroup
	for _, ann := range []string{"exact", "hnsw"} {
		x, why := s.embedders.index(&Config{Model: model, Vector: VectorConfig{ANN: ann}})
		if x == nil {
			t.Fatal(why)
		}
		waits := func(int, int) {
			calls.Lock()
			defer calls.Unlock()
			if n == 1 {
				n = 2
				close(both)
			}
		}
		all.Go(func() {
			if _, err := x.Sync(t.Context(), ids, fetch, waits); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	for text, n := range letters.texts {
		if n != 1 {
			t.Errorf("%q is embedded %d times", text, n)
		}
	}
	if opened != 1 || len(letters.texts) != 3 {
		t.Errorf("the model is loaded %d times, and has embedded %d texts", opened, len(letters.texts))
	}
}
