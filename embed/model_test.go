package embed

import (
	"context"
	"errors"
	"testing"
	"time"

	"kb/vector"
)

// closing is vector.Letters that is told from another by its name.
type closing struct {
	vector.Letters
	print  string
	closed bool
	embeds int
}

func (c *closing) Fingerprint() string { return c.print }
func (c *closing) Close() error        { c.closed = true; return nil }
func (c *closing) Embed(ctx context.Context, texts []string, k vector.Kind) ([][]float32, error) {
	c.embeds += len(texts)
	return c.Letters.Embed(ctx, texts, k)
}

func TestModelIsLoadedWhenNeeded(t *testing.T) {
	loads := 0
	var e *closing
	open := func() (vector.Embedder, error) {
		loads++
		e = &closing{print: "letters/1"}
		return e, nil
	}
	m := NewModel(open, "letters/1", time.Hour)
	if print, err := m.Fingerprint(); print != "letters/1" || err != nil || loads != 0 {
		t.Errorf("Fingerprint = %q, %v, after %d loads", print, err, loads)
	}
	for range 3 {
		if _, err := m.Query(t.Context(), "words"); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := m.Passages(t.Context(), []string{"words", "more"}); err != nil || loads != 1 || e.embeds != 3 {
		t.Errorf("%d loads, %d texts embedded, %v; a query is embedded once", loads, e.embeds, err)
	}
	if _, err := m.acquire(); err != nil || m.Unload() || e.closed {
		t.Errorf("a model in use is unloaded (%v)", err)
	}
	m.release()
	if !m.Unload() || !e.closed {
		t.Error("a model that is not in use stays loaded")
	}
	if _, err := m.Passages(t.Context(), []string{"words"}); err != nil || loads != 2 {
		t.Errorf("%d loads, %v", loads, err)
	}
}

func TestModelIsUnloadedWhenIdle(t *testing.T) {
	freed := make(chan bool)
	m := NewModel(func() (vector.Embedder, error) { return idleEmbedder{freed: freed}, nil }, "", time.Nanosecond)
	if _, err := m.Query(t.Context(), "words"); err != nil {
		t.Fatal(err)
	}
	<-freed
}

type idleEmbedder struct {
	vector.Letters
	freed chan bool
}

func (e idleEmbedder) Close() error { close(e.freed); return nil }

func TestModelErrors(t *testing.T) {
	broken := errors.New("broken")
	m := NewModel(func() (vector.Embedder, error) { return nil, broken }, "", time.Hour)
	if _, err := m.Fingerprint(); !errors.Is(err, broken) {
		t.Errorf("Fingerprint: %v", err)
	}
	if _, err := m.Query(t.Context(), "words"); !errors.Is(err, broken) {
		t.Errorf("Query: %v", err)
	}
	other := &closing{print: "another"}
	m = NewModel(func() (vector.Embedder, error) { return other, nil }, "letters/1", time.Hour)
	if _, err := m.Query(t.Context(), "words"); !errors.Is(err, vector.ErrModel) || !other.closed {
		t.Errorf("a model that is not what it was: %v", err)
	}
}
