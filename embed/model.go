package embed

import (
	"context"
	"fmt"
	"sync"
	"time"

	"kb/vector"
)

// Idle is how long a model may be unused before it is unloaded.
const Idle = 5 * time.Minute

// queryCache is how many vectors of queries a model remembers.
const queryCache = 256

// Model is an embedding model that is loaded when it is first needed and
// unloaded when nobody needed it for a while. All who embed with the same
// model share one. It is safe for concurrent use.
type Model struct {
	open func() (vector.Embedder, error)
	idle time.Duration

	mu      sync.Mutex
	loaded  vector.Embedder // nil when it is not
	users   int             // calls that use loaded
	timer   *time.Timer
	print   string
	queries map[string][]float32
}

// NewModel returns a model that open loads. fingerprint is what the embedder's is
// known to be, so that it need not be loaded to say so, or "".
func NewModel(open func() (vector.Embedder, error), fingerprint string, idle time.Duration) *Model {
	return &Model{open: open, idle: idle, print: fingerprint, queries: map[string][]float32{}}
}

// Fingerprint names everything that vectors depend on; see [vector.Embedder].
func (m *Model) Fingerprint() (string, error) {
	m.mu.Lock()
	known := m.print
	m.mu.Unlock()
	if known != "" {
		return known, nil
	}
	e, err := m.acquire()
	if err != nil {
		return "", err
	}
	defer m.release()
	return e.Fingerprint(), nil
}

// acquire loads the model if need be and keeps it loaded until release.
func (m *Model) acquire() (vector.Embedder, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.loaded == nil {
		e, err := m.open()
		if err != nil {
			return nil, err
		}
		if print := e.Fingerprint(); m.print != "" && m.print != print {
			e.Close()
			return nil, fmt.Errorf("%w: its files changed while they were in use", vector.ErrModel)
		}
		m.loaded, m.print = e, e.Fingerprint()
	}
	m.users++
	if m.timer != nil {
		m.timer.Stop()
	}
	return m.loaded, nil
}

func (m *Model) release() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.users--; m.users == 0 {
		m.timer = time.AfterFunc(m.idle, func() { m.Unload() })
	}
}

// Unload frees the model unless it is in use, and reports whether it is free. It
// is loaded again when it is needed.
func (m *Model) Unload() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.timer != nil {
		m.timer.Stop()
	}
	if m.users == 0 && m.loaded != nil {
		m.loaded.Close() // it frees memory, which cannot fail
		m.loaded = nil
	}
	return m.loaded == nil
}

// Passages returns the vectors of texts that are to be found.
func (m *Model) Passages(ctx context.Context, texts []string) ([][]float32, error) {
	return m.embed(ctx, texts, vector.Passage)
}

// Query returns the vector of a text that looks for others.
func (m *Model) Query(ctx context.Context, text string) ([]float32, error) {
	m.mu.Lock()
	v, ok := m.queries[text]
	m.mu.Unlock()
	if ok {
		return v, nil
	}
	vectors, err := m.embed(ctx, []string{text}, vector.Query)
	if err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.queries) >= queryCache {
		clear(m.queries)
	}
	m.queries[text] = vectors[0]
	return vectors[0], nil
}

func (m *Model) embed(ctx context.Context, texts []string, kind vector.Kind) ([][]float32, error) {
	e, err := m.acquire()
	if err != nil {
		return nil, err
	}
	defer m.release()
	return e.Embed(ctx, texts, kind)
}
