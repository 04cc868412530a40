package embed

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"kb/cas"
	"kb/note"
)

// Attempts is how often a text that cannot be embedded is tried.
const Attempts = 3

// How many notes are read at once: to list their texts, and to embed them.
const (
	listBatch = 500
	readBatch = 64
)

// ErrBroken is wrapped by the error of a model that fails whatever it is given.
var ErrBroken = errors.New("the model fails")

// Sync embeds what ids lack, those first that come first, and returns how many
// texts it embedded. It is safe to repeat and to interrupt: what was reported
// is durable, and is not embedded again. Of several calls one embeds at a time;
// the others report how far it is. Blobs that cannot be read are left out.
// report may be nil.
func (x *Index) Sync(ctx context.Context, ids []note.ID, fetch Fetch, report func(done, total int)) (embedded int, err error) {
	if report == nil {
		report = func(int, int) {}
	}
	if err := x.wait(ctx, report); err != nil {
		return 0, err
	}
	defer func() { <-x.turn }()
	return x.sync(ctx, ids, fetch, report)
}

// sync is Sync for who has the turn.
func (x *Index) sync(ctx context.Context, ids []note.ID, fetch Fetch, report func(done, total int)) (embedded int, err error) {
	lists, err := x.list(ctx, ids, fetch)
	if err != nil {
		return 0, err
	}
	p, err := x.plan(ctx, ids, lists)
	if err != nil || p.total == 0 {
		return 0, err
	}
	p.fetch, p.report = fetch, report
	x.progress(0, p.total)
	defer x.progress(0, 0)
	err = p.run(ctx)
	return p.embedded, err
}

// Now returns the view of one note, given its bytes, embedding what it lacks if
// these are at most so many texts and nothing else is being embedded; otherwise
// nil.
func (x *Index) Now(ctx context.Context, src []byte, most int) (*View, error) {
	ids := []note.ID{note.Hash(src)}
	fetch := func(_ context.Context, _ []note.ID, fn func(note.ID, []byte, error) error) error {
		return fn(ids[0], src, nil)
	}
	if err := x.Read(ctx, ids, fetch); err != nil {
		return nil, err
	}
	v, c, err := x.View(ctx, ids)
	if v != nil || err != nil || c.Missing > most {
		return v, err
	}
	select {
	case x.turn <- struct{}{}:
		_, err = x.sync(ctx, ids, fetch, func(int, int) {})
		<-x.turn
	default:
	}
	if err == nil {
		v, _, err = x.View(ctx, ids)
	}
	return v, err
}

// Read finds out what is to be embedded of ids, without embedding any.
func (x *Index) Read(ctx context.Context, ids []note.ID, fetch Fetch) error {
	_, err := x.list(ctx, ids, fetch)
	return err
}

// wait waits for the turn to embed.
func (x *Index) wait(ctx context.Context, report func(done, total int)) error {
	ticks := time.NewTicker(200 * time.Millisecond)
	defer ticks.Stop()
	for {
		select {
		case x.turn <- struct{}{}:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		case <-ticks.C:
			x.mu.Lock()
			done, total := x.done, x.total
			x.mu.Unlock()
			if total > 0 {
				report(done, total)
			}
		}
	}
}

// progress tells those who wait how far the Sync at work is.
func (x *Index) progress(done, total int) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.done, x.total = done, total
}

// list returns the hashes of each blob's texts. Those that are not recorded are
// derived, and recorded.
func (x *Index) list(ctx context.Context, ids []note.ID, fetch Fetch) (map[note.ID][]cas.Hash, error) {
	lists, err := x.facts.Chunks(ctx, x.chunks, ids)
	if err != nil {
		return nil, err
	}
	var unknown []note.ID
	for _, id := range ids {
		if _, ok := lists[id]; !ok {
			unknown = append(unknown, id)
		}
	}
	for batch := range slices.Chunk(unknown, listBatch) {
		fresh := make(map[note.ID][]cas.Hash, len(batch))
		err := fetch(ctx, batch, func(id note.ID, src []byte, err error) error {
			x.setUnreadable(id, err != nil)
			if err == nil {
				fresh[id] = hashes(Texts(note.Parse(src)))
				lists[id] = fresh[id]
			}
			return ctx.Err()
		})
		if err != nil {
			return nil, err
		}
		if err := x.facts.PutChunks(x.chunks, fresh); err != nil {
			return nil, err
		}
		x.changes.Add(1)
	}
	return lists, nil
}

// setUnreadable remembers whether a blob could be read. One that cannot says
// nothing, and is tried again by the next Sync.
func (x *Index) setUnreadable(id note.ID, is bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if is {
		x.unreadable[id] = true
	} else {
		delete(x.unreadable, id)
	}
}

func (x *Index) isUnreadable(id note.ID) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.unreadable[id]
}

// pass is one Sync at work.
type pass struct {
	x        *Index
	ids      []note.ID         // that lack vectors
	missing  map[cas.Hash]bool // texts that were not read yet
	fetch    Fetch
	report   func(done, total int)
	keys     []cas.Hash // texts that were read
	texts    []string
	size     int // of a batch
	done     int
	total    int
	embedded int
}

// A batch of texts is embedded, and made durable, at once. Its size is such that
// it takes a moment: little is lost when the process ends.
const (
	firstBatch = 16
	largeBatch = 1024
	shortBatch = 300 * time.Millisecond
	longBatch  = time.Second
)

// plan finds the texts that have neither a vector nor failed for good.
func (x *Index) plan(ctx context.Context, ids []note.ID, lists map[note.ID][]cas.Hash) (*pass, error) {
	var all []cas.Hash
	for _, id := range ids {
		all = append(all, lists[id]...)
	}
	missing, err := x.unsettled(ctx, all)
	if err != nil {
		return nil, err
	}
	p := &pass{x: x, missing: make(map[cas.Hash]bool, len(missing)), size: firstBatch, total: len(missing)}
	for _, h := range missing {
		p.missing[h] = true
	}
	for _, id := range ids {
		if slices.ContainsFunc(lists[id], func(h cas.Hash) bool { return p.missing[h] }) {
			p.ids = append(p.ids, id)
		}
	}
	return p, nil
}

// unsettled returns those of texts that have no vector and did not fail for good.
func (x *Index) unsettled(ctx context.Context, texts []cas.Hash) ([]cas.Hash, error) {
	missing, err := x.facts.MissingVectors(x.vectors, texts)
	if err != nil || len(missing) == 0 {
		return nil, err
	}
	failed, err := x.facts.Failures(ctx, x.vectors, missing)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(missing, func(h cas.Hash) bool { return failed[h].Attempts >= Attempts }), nil
}

func (p *pass) run(ctx context.Context) error {
	for batch := range slices.Chunk(p.ids, readBatch) {
		if err := p.read(ctx, batch); err != nil {
			return err
		}
		for len(p.keys) >= p.size {
			if err := p.embed(ctx, p.size); err != nil {
				return err
			}
		}
	}
	for len(p.keys) > 0 {
		if err := p.embed(ctx, min(p.size, len(p.keys))); err != nil {
			return err
		}
	}
	return nil
}

// read queues the missing texts of blobs, in the order of ids.
func (p *pass) read(ctx context.Context, ids []note.ID) error {
	texts := make(map[note.ID][]string, len(ids))
	err := p.fetch(ctx, ids, func(id note.ID, src []byte, err error) error {
		if err == nil {
			texts[id] = Texts(note.Parse(src))
		}
		return ctx.Err()
	})
	if err != nil {
		return err
	}
	for _, id := range ids {
		for _, t := range texts[id] {
			if h := hashOf(t); p.missing[h] {
				delete(p.missing, h)
				p.keys, p.texts = append(p.keys, h), append(p.texts, t)
			}
		}
	}
	return nil
}

// embed makes the vectors of the first n queued texts durable.
func (p *pass) embed(ctx context.Context, n int) error {
	start := time.Now()
	out, err := p.vectors(ctx, p.keys[:n], p.texts[:n])
	if err != nil {
		return err
	}
	if err := p.x.facts.PutVectors(p.x.vectors, out); err != nil {
		return err
	}
	p.keys, p.texts = p.keys[n:], p.texts[n:]
	p.embedded += len(out)
	p.done += n
	p.x.changes.Add(1)
	p.x.progress(p.done, p.total)
	p.report(p.done, p.total)
	switch took := time.Since(start); {
	case n == p.size && took < shortBatch:
		p.size = min(2*p.size, largeBatch)
	case took > longBatch:
		p.size = max(p.size/2, 1)
	}
	return nil
}

// vectors embeds texts together; when that fails, one by one.
func (p *pass) vectors(ctx context.Context, keys []cas.Hash, texts []string) (map[cas.Hash][]float32, error) {
	out := make(map[cas.Hash][]float32, len(keys))
	if vectors, err := p.x.model.Passages(ctx, texts); err == nil {
		for i, v := range vectors {
			out[keys[i]] = v
		}
		return out, nil
	}
	for i, key := range keys {
		v, err := p.alone(ctx, key, texts[i])
		if err != nil {
			return nil, err
		}
		if v != nil {
			out[key] = v
		}
	}
	return out, nil
}

// alone embeds one text, or records that it cannot be and returns nil. The
// error is one that has nothing to do with the text.
func (p *pass) alone(ctx context.Context, key cas.Hash, text string) ([]float32, error) {
	var reason error
	for range Attempts {
		vectors, err := p.x.model.Passages(ctx, []string{text})
		if err == nil {
			return vectors[0], nil
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		reason = err
	}
	if _, err := p.x.model.Passages(ctx, []string{"text"}); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrBroken, err)
	}
	return nil, p.x.facts.PutFailure(p.x.vectors, key, cas.Failure{Attempts: Attempts, Reason: reason.Error()})
}
