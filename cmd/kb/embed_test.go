//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"kb/cas"
	"kb/internal/vaulttest"
	"kb/vault"
)

// embeddable is a vault of n notes of several chunks, with a model beside it.
func embeddable(t *testing.T, n int) string {
	t.Helper()
	model := filepath.Join(t.TempDir(), "tiny")
	vaulttest.Model(t, model, 1, "badger otter", "limit index")
	var b strings.Builder
	fmt.Fprintf(&b, "-- kb.yaml --\nmodel: %s\ncollections: [{name: notes, path: .}]\n", model)
	words := strings.Fields("retry limit cache owner index commit branch merge badger otter walrus seal heron")
	for i := range n {
		fmt.Fprintf(&b, "-- s%d/n%d.md --\n# Note %d\n", i%7, i, i)
		for section := range 4 {
			fmt.Fprintf(&b, "\n## Part %d\n\n", section)
			for k := range 40 {
				fmt.Fprintf(&b, "%s %s. ", words[(i+section+k*k)%len(words)], words[(i*5+3*k)%len(words)])
			}
			b.WriteString("\n")
		}
	}
	return vaulttest.Repo(t, b.String()+"-- @commit 2024-01-01 notes --\n")
}

// embeddings counts the vectors that a program has stored, and reads its packs.
func (p *program) embeddings(t *testing.T) (n int, pack []byte) {
	t.Helper()
	stores, err := filepath.Glob(filepath.Join(p.cacheDir(), "*", "facts"))
	if err != nil || len(stores) != 1 {
		return 0, nil // killed before it made one
	}
	s, err := cas.Open(stores[0], t.Logf)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	recipes, err := s.Recipes()
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range recipes {
		n += r.Facts[cas.Vectors]
	}
	packs, _ := filepath.Glob(filepath.Join(p.cacheDir(), "*", "vec", "*", "*.pack"))
	if len(packs) > 0 {
		if pack, err = os.ReadFile(packs[len(packs)-1]); err != nil {
			t.Fatal(err)
		}
	}
	return n, pack
}

func (p *program) reindex(t *testing.T) (r vault.Reindexed) {
	t.Helper()
	if err := json.Unmarshal([]byte(p.mustRun(t, "reindex", "--json")), &r); err != nil {
		t.Fatal(err)
	}
	return r
}

// calm is what embedding a vault comes to when nobody disturbs it.
type calm struct {
	dir            string
	all            int // vectors
	pack           []byte
	begins, embeds time.Duration // until it begins to embed, and for that
}

func undisturbed(t *testing.T, dir string) calm {
	t.Helper()
	p := newProgram(t, dir)
	c := calm{dir: dir}
	timed := func(run func()) time.Duration {
		start := time.Now()
		run()
		return time.Since(start)
	}
	words := func() { p.mustRun(t, "search", "otter", "--mode", "text") }
	words() // indexes the text
	c.begins = timed(words)
	c.embeds = max(timed(func() { c.all = p.reindex(t).Embedded })-c.begins, 0) // the machine may have been busier before
	n, pack := p.embeddings(t)
	if n != c.all || pack == nil {
		t.Fatalf("undisturbed: %d embedded, %d stored, a pack of %d bytes", c.all, n, len(pack))
	}
	c.pack = pack
	return c
}

// A process that is killed while it embeds loses nothing that was stored: the
// next goes on, embeds none of it again, and the vectors are the same to the byte.
func TestKilledWhileEmbedding(t *testing.T) {
	notes, kills := 200, 2
	if long() {
		notes, kills = 1000, 20
	}
	c := undisturbed(t, embeddable(t, notes))
	var p *program
	life, step := c.begins+c.embeds/4, c.embeds/8+1
	before, during, attempts := c.all, 0, 0
	for ; during < kills && attempts < 10*kills; attempts++ {
		if before == c.all { // too late, or the first
			p, before = newProgram(t, c.dir), 0
			p.mustRun(t, "search", "otter", "--mode", "text")
		}
		cmd := p.command("reindex")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		kill := time.AfterFunc(life+rand.N(step), func() { cmd.Process.Kill() })
		_ = cmd.Wait() // killed
		kill.Stop()
		n, _ := p.embeddings(t)
		switch {
		case n < before:
			t.Errorf("kill %d: %d vectors are stored, %d were", attempts, n, before)
		case n == before:
			life += step
		case n == c.all:
			life -= step
		default:
			during++
		}
		before = n
	}
	t.Logf("%d kills, %d of them while embedding; %d of %d vectors stored before the last run", attempts, during, before, c.all)
	c.finish(t, p, before)
}

// finish embeds the rest and compares.
func (c calm) finish(t *testing.T, p *program, before int) {
	t.Helper()
	if r := p.reindex(t); r.Embedded != c.all-before {
		t.Errorf("the last run embedded %d, %d were missing", r.Embedded, c.all-before)
	}
	if n, pack := p.embeddings(t); n != c.all || !bytes.Equal(pack, c.pack) {
		t.Errorf("%d vectors, want %d; packs of %d and %d bytes", n, c.all, len(pack), len(c.pack))
	}
	if out := p.mustRun(t, "search", "otter", "--json"); !strings.Contains(out, `"mode":"hybrid"`) {
		t.Errorf("search: %.200s", out)
	}
	if out := p.mustRun(t, "check", "--json"); !strings.Contains(out, `"ok":true`) {
		t.Errorf("kb check: %s", out)
	}
}
