//go:build unix

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"kb/internal/vaulttest"
	"kb/vault"
)

// long reports whether the tests that take minutes are wanted.
func long() bool { return os.Getenv("KB_LONG") != "" }

// crowd is several processes that read one vault.
type crowd struct {
	*program
	t      *testing.T
	reads  []read
	total  int64 // calls there will be
	most   int64 // kills
	calls  atomic.Int64
	edits  atomic.Int64
	mu     sync.Mutex
	killed map[int]bool
	kills  int64
}

// read is a call, and its answer when the answer cannot change.
type read struct {
	op   *vault.Op
	args map[string]any
	want string
}

func bigVault(n int) string {
	var b strings.Builder
	words := strings.Fields("retry limit cache owner index commit branch merge token search vector phrase badger otter walrus seal heron")
	for i := range n {
		fmt.Fprintf(&b, "-- s%d/n%d.md --\n---\ntags: [t%d]\n---\n# Note %d\n", i%7, i, i%5, i)
		for k := range 30 {
			fmt.Fprintf(&b, "%s %s. ", words[(i*7+k*k)%len(words)], words[(i+3*k)%len(words)])
		}
		fmt.Fprintf(&b, "\n\n## Links\n[[n%d]] [[n%d]]\n", (i*3)%n, (i+1)%n)
	}
	return b.String() + "-- @commit 2024-01-01 notes --\n"
}

// Many processes read one vault while its notes change and the process that
// owns the derived data is killed again and again: no reader gets an error or a
// wrong answer, and nothing is left behind.
func TestManyProcesses(t *testing.T) {
	processes, each, kills, size := 4, 15, 3, 60
	if long() {
		processes, each, kills, size = 8, 200, 10, 800
	}
	dir := vaulttest.Repo(t, bigVault(size))
	c := &crowd{program: newProgram(t, dir), t: t, killed: map[int]bool{}, total: int64(processes * each), most: int64(kills)}
	c.prepare(vaulttest.Git(t, dir, "rev-parse", "HEAD"))
	start := time.Now()
	var wg sync.WaitGroup
	for i := range processes {
		wg.Go(func() {
			if i%2 == 0 {
				c.serveReads(i, each)
			} else {
				c.commandReads(i, each)
			}
		})
	}
	wg.Wait()
	t.Logf("%d processes, %d calls, %d kills, %d edits in %.1f s", processes, c.calls.Load(), c.kills, c.edits.Load(), time.Since(start).Seconds())
	if c.kills != c.most {
		t.Errorf("%d kills, want %d", c.kills, c.most)
	}
	c.check(c.reads[0], c.mustRun(t, commandLine(c.reads[0].op, c.reads[0].args)...))
	if out := c.mustRun(t, "check", "--json"); !strings.Contains(out, `"ok":true`) {
		t.Errorf("kb check: %s", out)
	}
	if pid := c.owner(); pid != 0 && syscall.Kill(pid, 0) == nil {
		t.Errorf("process %d is left", pid)
	}
}

// prepare makes the mixed reads, those of commit with the answers of a program
// that has nothing to do with the others.
func (c *crowd) prepare(commit string) {
	fresh := newProgram(c.t, c.dir)
	add := func(name string, args map[string]any) {
		op, _ := vault.FindOp(name)
		r := read{op: op, args: args}
		if args["at"] == commit {
			r.want = comparable(c.t, []byte(fresh.mustRun(c.t, commandLine(op, args)...)))
		}
		c.reads = append(c.reads, r)
	}
	add("search", map[string]any{"query": "badger limit", "at": commit})
	add("search", map[string]any{"query": "otter"})
	add("get_document", map[string]any{"path": "n7", "at": commit})
	add("kb_context", map[string]any{"path": []string{"s3/n3.md"}, "at": commit})
	add("search", map[string]any{"query": "heron.*seal", "mode": "regex", "at": commit})
	add("kb_query", map[string]any{"tag": []string{"t2"}, "sort": "-title", "at": commit})
	add("list_sections", map[string]any{})
	add("kb_brief", map[string]any{"query": "walrus phrase", "at": commit})
	add("kb_digest", map[string]any{})
	add("search", map[string]any{"query": "token -merge", "at": commit, "explain": true})
}

func (c *crowd) check(r read, answer string) {
	if r.want == "" {
		return
	}
	if got := comparable(c.t, []byte(answer)); got != r.want {
		c.t.Errorf("%s %v\ngot  %.600s\nwant %.600s", r.op.Name, r.args, got, r.want)
	}
}

// serveReads is a client of a stdio server. When its server was the owner and is
// killed, it starts another, as a host does.
func (c *crowd) serveReads(worker, n int) {
	s := c.start()
	if s == nil {
		return
	}
	for i := 0; c.goesOn(i, n); i++ {
		r := c.reads[(worker*3+i)%len(c.reads)]
		raw, err := s.call(r.op.Name, r.args)
		if errors.Is(err, errEnded) && c.wasKilled(s.cmd.Process.Pid) {
			_ = s.end() // killed
			if s = c.start(); s == nil {
				return
			}
			i--
			continue
		}
		c.done(worker, r, string(raw), err)
	}
	if err := s.end(); err != nil && !c.wasKilled(s.cmd.Process.Pid) {
		c.t.Errorf("kb mcp: %v", err)
	}
}

func (c *crowd) start() *session {
	for {
		s, err := c.serve()
		if err == nil {
			return s
		}
		if s == nil || !c.wasKilled(s.cmd.Process.Pid) {
			c.t.Errorf("start kb mcp: %v", err)
			return nil
		}
		_ = s.end() // killed
	}
}

// commandReads runs one command after the other.
func (c *crowd) commandReads(worker, n int) {
	for i := 0; c.goesOn(i, n); i++ {
		r := c.reads[(worker*3+i)%len(c.reads)]
		cmd := c.command(commandLine(r.op, r.args)...)
		var stderr strings.Builder
		cmd.Stderr = &stderr
		out, err := cmd.Output()
		if err != nil && c.wasKilled(cmd.Process.Pid) {
			i--
			continue
		}
		if err != nil {
			err = fmt.Errorf("%w: %s", err, stderr.String())
		}
		c.done(worker, r, string(out), err)
	}
}

// done looks at an answer; now and then it kills the owner or changes a note.
func (c *crowd) done(worker int, r read, answer string, err error) {
	if err != nil {
		c.t.Errorf("worker %d: %s %v: %v", worker, r.op.Name, r.args, err)
		return
	}
	c.check(r, answer)
	n := c.calls.Add(1)
	if n%5 == 0 {
		c.edit(n)
	}
	c.kill(min(c.most, n*c.most*5/(4*c.total))) // all kills are done before the last fifth of the calls
}

func (c *crowd) edit(n int64) {
	file := filepath.Join(c.dir, fmt.Sprintf("s%d", n%7), fmt.Sprintf("edit%d.md", n%11))
	if err := os.WriteFile(file, fmt.Appendf(nil, "# Edit %d\nan otter and a heron\n", n), 0o644); err != nil {
		c.t.Error(err)
	}
	c.edits.Add(1)
}

// kill ends the owner as a crash would, unless so many were killed already.
func (c *crowd) kill(due int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	pid := c.owner()
	if c.kills >= due || pid == 0 || c.killed[pid] {
		return
	}
	c.killed[pid] = true
	if syscall.Kill(pid, syscall.SIGKILL) == nil {
		c.kills++
	}
}

// goesOn reports whether a worker that was to make n calls makes another after i:
// where owners start slowly, it takes more calls to kill as many.
func (c *crowd) goesOn(i, n int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return i < n || i < 20*n && c.kills < c.most
}

// wasKilled waits for a kill that is under way.
func (c *crowd) wasKilled(pid int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.killed[pid]
}

// owner is the process that owns the derived data, 0 when there is none.
func (c *crowd) owner() int {
	files, _ := filepath.Glob(filepath.Join(c.cacheDir(), "*", "owner.json"))
	for _, f := range files {
		var b struct{ PID int }
		if raw, err := os.ReadFile(f); err == nil && json.Unmarshal(raw, &b) == nil {
			return b.PID
		}
	}
	return 0
}

// A process killed at any moment of indexing leaves nothing that makes a later
// answer wrong.
func TestKilledIndexing(t *testing.T) {
	times, size := 4, 300
	if long() {
		times, size = 50, 3000
	}
	dir := vaulttest.Repo(t, bigVault(size))
	fresh := newProgram(t, dir)
	start := time.Now()
	fresh.mustRun(t, "reindex")
	whole := time.Since(start)
	search := []string{"search", "badger limit -merge", "--explain"}
	want := fresh.mustRun(t, search...)
	rng := rand.New(rand.NewPCG(1, 2))
	p := newProgram(t, dir)
	unfinished := 0
	for i := range times {
		if i%3 == 0 { // else it goes on with what the killed one left
			if err := os.RemoveAll(p.cacheDir()); err != nil {
				t.Fatal(err)
			}
		}
		cmd := p.command("reindex", "--force")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		kill := time.AfterFunc(time.Duration(rng.Int64N(int64(whole))), func() { _ = cmd.Process.Kill() })
		if cmd.Wait() != nil {
			unfinished++
		}
		kill.Stop()
		if got := p.mustRun(t, search...); got != want {
			t.Fatalf("after kill %d:\ngot  %.500s\nwant %.500s", i, got, want)
		}
	}
	if out := p.mustRun(t, "check", "--json"); !strings.Contains(out, `"ok":true`) {
		t.Errorf("kb check: %s", out)
	}
	t.Logf("%d of %d runs were killed before they ended", unfinished, times)
}
