package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

const loadClients = 64

// loadKinds are the calls of the mix, with their part of it in percent. What a
// peer offers instead of a call may be less.
var loadKinds = []struct {
	name string
	part int
	kb   func(q question) (tool string, args map[string]any)
	peer func(q question) (tool string, args map[string]any)
}{
	{"search", 45, func(q question) (string, map[string]any) { return "search", map[string]any{"query": q.query} }, peerSearch},
	{"brief", 10, func(q question) (string, map[string]any) { return "kb_brief", map[string]any{"query": q.query} }, peerSearch},
	{"get_document", 20, func(q question) (string, map[string]any) { return "get_document", map[string]any{"path": q.path} },
		func(q question) (string, map[string]any) { return "read_note", map[string]any{"path": q.path} }},
	{"context", 12, func(q question) (string, map[string]any) {
		return "kb_context", map[string]any{"path": []string{q.path}}
	},
		func(q question) (string, map[string]any) {
			return "get_notes_info", map[string]any{"paths": []string{q.path}}
		}},
	{"digest", 8, func(question) (string, map[string]any) { return "kb_digest", map[string]any{} },
		func(question) (string, map[string]any) { return "get_vault_stats", map[string]any{} }},
	{"kb_write", 5, func(q question) (string, map[string]any) {
		return "kb_write", map[string]any{"title": "Load " + q.name, "body": "A note about " + q.query + ".", "tags": []string{"load"},
			"draft": q.draft, "key": q.name, "filename": q.name + ".md"}
	}, nil},
}

func peerSearch(q question) (string, map[string]any) {
	return "search_notes", map[string]any{"query": q.query, "limit": 10}
}

// question is what one call asks, or writes.
type question struct{ query, path, name, draft string }

// measureLoad has many clients ask kb serve, and the same reads of a peer.
func measureLoad(l *lab) (*table, error) {
	t := &table{}
	rfcs, err := l.rfcs()
	if err != nil {
		return t, err
	}
	dir := l.scratch("load") // drafts are written
	if err := l.git("", "clone", "--quiet", rfcs, dir); err != nil {
		return t, err
	}
	v := l.vault(dir)
	if _, _, err := v.reindex("HEAD"); err != nil {
		return t, err
	}
	x := &loading{l: l, dir: dir, kb: map[string]*sample{}, other: map[string]*sample{}, drafts: map[string]string{}}
	if err := x.questions(); err != nil {
		return t, err
	}
	s, err := v.serveHTTP(loadClients)
	if err != nil {
		return t, err
	}
	err = x.measure(t, s)
	if err := errors.Join(err, s.close()); err != nil {
		return t, err
	}
	lost, err := x.lost()
	if err != nil {
		return t, err
	}
	t.value(fmt.Sprintf("drafts: of %d acknowledged, missing in git", len(x.drafts)), plain, float64(lost), atMost(0))
	return t, nil
}

// loading is one run, and what it found.
type loading struct {
	l              *lab
	dir            string
	queries, paths []string

	mu     sync.Mutex
	kb     map[string]*sample // by kind of call
	other  map[string]*sample
	faults []error
	drafts map[string]string // path of a note that was acknowledged → its draft
	calls  int
}

func (x *loading) questions() (err error) {
	if x.queries, err = headingQueries(x.dir, queryCount); err != nil {
		return err
	}
	out, _, err := x.l.command(x.dir, "git", "ls-files", "text/*.md")
	x.paths = strings.Fields(out)
	return err
}

// measure has kb and the peer answer in turn, for as long as the run should last.
func (x *loading) measure(t *table, s *httpServer) error {
	var kb []caller
	for range loadClients {
		h, err := s.session()
		if err != nil {
			return err
		}
		kb = append(kb, h)
	}
	x.run(kb, x.l.loadFor/20, map[string]*sample{}, false) // warm
	p, err := x.peer(t)
	if err != nil {
		return err
	}
	const rounds = 2
	var took, peerTook time.Duration
	var held sample
	for range rounds {
		took += x.run(kb, x.l.loadFor/rounds, x.kb, false)
		now, err := s.memory()
		if err != nil {
			return err
		}
		held = append(held, now)
		if p != nil {
			peerTook += x.run(repeated(p), x.l.loadFor/rounds, x.other, true)
		}
	}
	x.report(t, took, peerTook)
	t.compare("memory of the server at the end", inBytes, held[rounds-1], "after half of it", held[0], atMost(1.2))
	if p != nil {
		t.compare("memory of the server at the end", inBytes, held[rounds-1], "mcpvault", p.memory(), nil)
		_ = p.close() // it need not end well
	}
	if len(x.faults) > 0 {
		return fmt.Errorf("%d calls failed, such as: %w", len(x.faults), x.faults[0])
	}
	return nil
}

// peer starts the peer on a work tree without drafts; nil if there is none.
func (x *loading) peer(t *table) (*peer, error) {
	if x.l.peer == "" {
		t.note("**mcpvault left out:** -peer names its server.js (npm install --ignore-scripts @bitbonsai/mcpvault)")
		return nil, nil
	}
	script, err := filepath.Abs(x.l.peer)
	if err != nil {
		return nil, err
	}
	return x.l.startPeer(script, x.dir)
}

func repeated(p *peer) (all []caller) {
	for range loadClients {
		all = append(all, p)
	}
	return all
}

// run has all clients call until the time is over, and returns how long that was.
func (x *loading) run(clients []caller, d time.Duration, into map[string]*sample, isPeer bool) time.Duration {
	start := time.Now()
	var wg sync.WaitGroup
	for i, c := range clients {
		wg.Go(func() {
			rng := rand.New(rand.NewPCG(uint64(i), 1))
			for time.Since(start) < d && x.l.ctx.Err() == nil {
				x.one(c, i, rng, into, isPeer)
			}
		})
	}
	wg.Wait()
	return time.Since(start)
}

// one makes one call of the mix.
func (x *loading) one(c caller, client int, rng *rand.Rand, into map[string]*sample, isPeer bool) {
	kind, n := 0, rng.IntN(100)
	for n >= loadKinds[kind].part {
		n -= loadKinds[kind].part
		kind++
	}
	k := loadKinds[kind]
	ask := k.kb
	if isPeer {
		ask = k.peer
	}
	if ask == nil {
		return
	}
	x.mu.Lock()
	x.calls++
	q := question{x.queries[rng.IntN(len(x.queries))], x.paths[rng.IntN(len(x.paths))], fmt.Sprintf("load-%d", x.calls), fmt.Sprintf("load-%d", client)}
	x.mu.Unlock()
	tool, args := ask(q)
	start := time.Now()
	raw, err := c.call(tool, args)
	x.done(k.name, q, raw, err, time.Since(start), into)
}

func (x *loading) done(kind string, q question, raw json.RawMessage, err error, took time.Duration, into map[string]*sample) {
	var made struct{ Path string }
	if err == nil && kind == "kb_write" {
		err = json.Unmarshal(raw, &made)
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if err != nil {
		x.faults = append(x.faults, fmt.Errorf("%s: %w", kind, err))
		return
	}
	if kind == "kb_write" {
		x.drafts[made.Path] = q.draft
	}
	if into[kind] == nil {
		into[kind] = &sample{}
	}
	into[kind].add(took)
}

// report adds the figures of the calls.
func (x *loading) report(t *table, took, peerTook time.Duration) {
	var all, reads, other sample
	for _, k := range loadKinds {
		mine, others := x.of(x.kb, k.name), x.of(x.other, k.name)
		all = append(all, mine...)
		other = append(other, others...)
		if k.peer != nil {
			reads = append(reads, mine...)
		}
		t.compare(k.name+": p50", inSeconds, mine.median(), "mcpvault", others.median(), nil)
	}
	t.compare("reads: p50", inSeconds, reads.median(), "mcpvault", other.median(), nil)
	t.compare("reads: p99", inSeconds, reads.quantile(.99), "mcpvault", other.quantile(.99), nil)
	t.compare("reads a second", plain, float64(len(reads))/took.Seconds(), "mcpvault", ratio(float64(len(other)), peerTook.Seconds()), nil)
	t.value("all calls: p99", inSeconds, all.quantile(.99), nil)
	t.value(fmt.Sprintf("of %d calls, failed", len(all)+len(other)+len(x.faults)), plain, float64(len(x.faults)), atMost(0))
	t.note("%d clients with a session each over HTTP, %.0f s in all: %d calls, a twentieth of them kb_write. Latencies are with all clients at once.", loadClients, took.Seconds(), len(all))
	if len(other) > 0 {
		t.note("mcpvault: one process over stdio, %d calls under way at once, in turn with kb for as long: %d calls, no writes. search_notes for search and brief, read_note, get_notes_info for context, get_vault_stats for digest.", loadClients, len(other))
	}
}

func (x *loading) of(all map[string]*sample, kind string) sample {
	if s := all[kind]; s != nil {
		return *s
	}
	return nil
}

// lost is how many of the notes that were acknowledged are not in their draft.
func (x *loading) lost() (n int, err error) {
	there := map[string]bool{}
	for i := range loadClients {
		draft := fmt.Sprintf("load-%d", i)
		out, _, err := x.l.command(x.dir, "git", "ls-tree", "-r", "--name-only", "refs/heads/drafts/"+draft)
		if err != nil {
			continue // a client that wrote nothing
		}
		for path := range strings.Lines(out) {
			there[draft+":"+strings.TrimSpace(path)] = true
		}
	}
	for path, draft := range x.drafts {
		if !there[draft+":"+path] {
			n++
		}
	}
	return n, x.l.ctx.Err()
}
