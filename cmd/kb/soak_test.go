//go:build unix

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"kb/internal/vaulttest"
)

// soak is a vault in use for long, and what was seen of it.
type soak struct {
	*program
	t      *testing.T
	rng    *rand.Rand
	server *served
	client *sdk.ClientSession
	notes  []string // that were acknowledged
	seen   []holding
	kills  int
	again  int // writes that a killed owner had done, but not answered for
}

// holding is what the server, and the derived data, hold at a time.
type holding struct{ memory, open, goroutines, files float64 }

// For long - with KB_LONG 2,000 cycles, or $KB_SOAK of them - notes are edited,
// searched, drafted and merged, while git collects garbage and the owner is
// killed at any moment of a write: nothing that was acknowledged is lost, what
// the server holds does not grow, and a fresh index agrees. In the first half the
// owner is killed again and again; in the second it lives, so that what it holds
// can be compared.
func TestSoak(t *testing.T) {
	cycles, kill, collect := 14, 3, 5
	if long() {
		cycles, kill, collect = 2000, 10, 10
		if n, err := strconv.Atoi(os.Getenv("KB_SOAK")); err == nil {
			cycles = n
		}
	}
	s := &soak{program: newProgram(t, vaulttest.Repo(t, bigVault(30))), t: t, rng: rand.New(rand.NewPCG(1, 2))}
	s.start()
	for i := range cycles {
		s.edit(i)
		s.write(i, i < cycles/2 && i%kill == kill-1)
		s.merge(i)
		if i%collect == collect-1 {
			vaulttest.Git(t, s.dir, "gc", "--quiet", "--prune=now")
		}
		s.seen = append(s.seen, s.holds())
		if i%max(1, cycles/4) == cycles/4-1 {
			h := s.seen[i]
			t.Logf("after %d cycles: %.0f MB, %.0f open files, %.0f goroutines, %.0f files of derived data", i+1, h.memory/1e6, h.open, h.goroutines, h.files)
		}
	}
	t.Logf("%d cycles, %d kills, %d writes done but not answered", cycles, s.kills, s.again)
	s.isFlat()
	s.lostNothing()
	s.agreesWithFresh()
}

func (s *soak) start() {
	s.server = serve(s.t, s.program, "serve", "--http", "127.0.0.1:0", "--rate", "0")
	s.client = s.server.client("2026-07-28", nil)
}

// soakWord is a word that stands nowhere else.
func soakWord(i int) string {
	return "soak" + strings.Map(func(r rune) rune { return r - '0' + 'a' }, strconv.Itoa(100000+i))
}

// edit changes a note of the work tree: the next search finds what it says.
func (s *soak) edit(i int) {
	name := fmt.Sprintf("edits/e%d.md", i%7)
	vaulttest.Write(s.t, s.dir, name, fmt.Sprintf("# Edit %d\nAn otter and a heron: %s.\n", i, soakWord(i)))
	s.finds("edit", soakWord(i), name, "worktree")
}

// finds demands that a word is found in one note alone.
func (s *soak) finds(what, word, name, at string) {
	s.t.Helper()
	r, err := s.client.CallTool(context.Background(), &sdk.CallToolParams{Name: "search", Arguments: map[string]any{"query": "+" + word, "at": at}})
	if err != nil || r.IsError {
		s.t.Fatalf("%s: search %s: %v %+v", what, word, err, r)
	}
	var found struct{ Results []struct{ Path string } }
	structured(s.t, r, &found)
	if len(found.Results) != 1 || found.Results[0].Path != name {
		s.t.Fatalf("%s: search %s at %s found %v, not %s", what, word, at, found.Results, name)
	}
}

func structured(t *testing.T, r *sdk.CallToolResult, v any) {
	t.Helper()
	raw, err := json.Marshal(r.StructuredContent)
	must(t, err)
	must(t, json.Unmarshal(raw, v))
}

// write drafts a note. When the owner is killed meanwhile, the same call to its
// successor makes the note, or finds it made.
func (s *soak) write(i int, killed bool) {
	s.t.Helper()
	body := strings.Repeat("A sentence of several words about "+soakWord(i)+"s. ", 8)
	call := &sdk.CallToolParams{Name: "kb_write", Arguments: map[string]any{"title": "Note " + soakWord(i), "body": body,
		"directory": "notes", "tags": []string{"t"}, "draft": draftName(i), "key": draftName(i)}}
	if killed {
		s.kill(call)
	}
	r, err := s.client.CallTool(context.Background(), call)
	if err != nil || r.IsError {
		s.t.Fatalf("write %d: %v %+v", i, err, r)
	}
	var made struct {
		Path     string
		Repeated bool
	}
	structured(s.t, r, &made)
	if made.Repeated {
		s.again++
	}
	s.notes = append(s.notes, made.Path)
}

func draftName(i int) string { return fmt.Sprintf("draft-%d", i) }

// kill kills the owner at some moment of a call, and starts another.
func (s *soak) kill(call *sdk.CallToolParams) {
	called := make(chan struct{})
	go func() {
		defer close(called)
		_, _ = s.client.CallTool(context.Background(), call) // it may succeed, or not
	}()
	select {
	case <-called:
	case <-time.After(time.Duration(s.rng.IntN(40)) * time.Millisecond):
	}
	s.server.kill()
	<-called
	s.kills++
	s.start()
}

// merge publishes the draft, and deletes what was published ten cycles ago: the
// vault stays small.
func (s *soak) merge(i int) {
	s.t.Helper()
	s.mustRun(s.t, "review", "merge", draftName(i))
	s.finds("merge", soakWord(i)+"s", s.notes[i], "main")
	if i < 10 {
		return
	}
	vaulttest.Git(s.t, s.dir, "rm", "--quiet", s.notes[i-10])
	vaulttest.Git(s.t, s.dir, "commit", "--quiet", "--message", "Delete an old note", "--", s.notes[i-10])
}

// holds looks at what is held now.
func (s *soak) holds() (h holding) {
	s.t.Helper()
	_, metrics := s.server.get("/metrics")
	for name, v := range map[string]*float64{"process_resident_memory_bytes ": &h.memory, "process_open_fds ": &h.open, "go_goroutines ": &h.goroutines} {
		if _, rest, ok := strings.Cut(metrics, "\n"+name); ok {
			*v, _ = strconv.ParseFloat(strings.Fields(rest)[0], 64)
		}
	}
	if h.goroutines == 0 {
		s.t.Fatalf("no goroutines in the metrics: %s", metrics)
	}
	err := filepath.WalkDir(s.cacheDir(), func(_ string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			h.files++
		}
		return nil // a file that went meanwhile
	})
	must(s.t, err)
	return h
}

// isFlat compares the first tenth of the cycles with the last: of all for the
// files, of those of the last server for the rest.
func (s *soak) isFlat() {
	lived := s.seen[len(s.seen)/2:]
	for _, c := range []struct {
		what          string
		of            []holding
		value         func(holding) float64
		factor, slack float64
	}{
		{"resident memory in MB", lived, func(h holding) float64 { return h.memory / 1e6 }, 1.5, 20},
		{"open files", lived, func(h holding) float64 { return h.open }, 1.2, 8},
		{"goroutines", lived, func(h holding) float64 { return h.goroutines }, 1.2, 8},
		{"files of derived data", s.seen, func(h holding) float64 { return h.files }, 1.5, 20},
	} {
		n := max(1, len(c.of)/10)
		first, last := middle(c.of[:n], c.value), middle(c.of[len(c.of)-n:], c.value)
		s.t.Logf("%s: %.0f, then %.0f", c.what, first, last)
		if most := first*c.factor + c.slack; last > most {
			s.t.Errorf("%s: %.0f in the first tenth, %.0f in the last, more than %.0f", c.what, first, last, most)
		}
	}
}

func middle(of []holding, value func(holding) float64) float64 {
	var all []float64
	for _, h := range of {
		all = append(all, value(h))
	}
	slices.Sort(all)
	return all[len(all)/2]
}

// lostNothing demands that every note that was acknowledged came to the branch,
// once.
func (s *soak) lostNothing() {
	vaulttest.Git(s.t, s.dir, "fsck", "--full", "--strict", "--no-dangling")
	added := map[string]int{}
	for name := range strings.Lines(vaulttest.Git(s.t, s.dir, "log", "--diff-filter=A", "--name-only", "--format=", "main")) {
		added[strings.TrimSpace(name)]++
	}
	for _, name := range s.notes {
		if added[name] != 1 {
			s.t.Errorf("%s was added to the branch %d times", name, added[name])
		}
	}
	if left := vaulttest.Git(s.t, s.dir, "for-each-ref", "refs/heads/drafts"); left != "" {
		s.t.Errorf("drafts are left: %s", left)
	}
}

// agreesWithFresh compares answers with those of a program that derived
// everything anew.
func (s *soak) agreesWithFresh() {
	fresh := newProgram(s.t, s.dir)
	for _, line := range [][]string{
		{"search", "otter heron"}, {"search", "sentence words", "--at", "main", "--explain"}, {"search", soakWord(len(s.notes) - 1)}, {"search", "heron.*soak", "--mode", "regex"},
		{"query", "--sort", "-title"}, {"list-sections"}, {"links"}, {"entities"},
	} {
		line = append(line, "--json")
		if got, want := comparable(s.t, []byte(s.mustRun(s.t, line...))), comparable(s.t, []byte(fresh.mustRun(s.t, line...))); got != want {
			s.t.Errorf("kb %s\ngot   %.600s\nfresh %.600s", strings.Join(line, " "), got, want)
		}
	}
	if out := s.mustRun(s.t, "check", "--json"); !strings.Contains(out, `"ok":true`) {
		s.t.Errorf("kb check: %s", out)
	}
}
